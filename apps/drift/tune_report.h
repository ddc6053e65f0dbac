#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "drift/tune_run.h"

// A study for people: trials, the best so far, which settings mattered.
std::string study_text(const drift::Study& study);
std::string study_json(const drift::Study& study);

// The best value so far by trial, for a picture; NaN before the first.
std::vector<double> progress_of(const drift::Study& study);

// Runs the search, a line a trial where `talk` is set. Throws Error, saying how to go on, when it was stopped.
drift::TuneResult search_with_progress(const drift::FitPlan& plan, const drift::Reading& reading,
                                       const std::filesystem::path& study, bool talk);
