#pragma once

#include <string>
#include <vector>

#include "drift/tune_run.h"

// A study for people: trials, the best so far, which settings mattered.
std::string study_text(const drift::Study& study);
std::string study_json(const drift::Study& study);

// The best value so far by trial, for a picture; NaN before the first.
std::vector<double> progress_of(const drift::Study& study);

// One trial in a line; the best so far is marked.
std::string trial_line(const drift::Study& study, const drift::Trial& trial);
