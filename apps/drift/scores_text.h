#pragma once

#include <string>

#include "drift/score.h"

// A few lines for people, each with what it means.
std::string scores_text(const drift::Scores& scores, const std::string& unit);
