#pragma once

#include "drift/predict.h"
#include "drift/read_observations.h"
#include "verb_control.h"

// Prints a summary of the observations read and the reading's warnings.
void report_reading(const VerbControl& verb, const drift::Reading& reading);

// Points beyond the observations of a model, in time and in space: warnings that the field there is a guess. `remedy`: a clause.
void warn_of_times(const VerbControl& verb, double furthest_days);
void warn_of_far_points(const VerbControl& verb, const drift::FieldModel& model, const drift::FarPoints& far, std::size_t points,
                        const std::string& remedy = "");
