#pragma once

#include <string_view>
#include <vector>

#include "output/canvas.h"

namespace drift {

// A small font of single strokes, drawn for the labels of quick-look pictures. Units: capitals are seven high, y points up,
// the baseline is y = 0. Characters that the font does not have (it has ASCII letters, digits and some punctuation) become a box.

inline constexpr double kCapitalHeight = 7.0;

double text_width(std::string_view text);

// The strokes of a line of text that starts at x = 0, curves cut into straight pieces.
std::vector<Segment> text_segments(std::string_view text);

// Whether the font has the character.
bool has_glyph(char character);

}  // namespace drift
