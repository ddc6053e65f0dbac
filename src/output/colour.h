#pragma once

#include <array>
#include <vector>

#include "drift/quick_look.h"

namespace drift {

// Red, green, blue as a PNG file holds them (sRGB), each 0 to 1.
using Colour = std::array<float, 3>;

// Lightness and the two opponent axes of OKLab (Ottosson 2020), in which equal distances look about equally different.
struct OkLab {
  double lightness;  // 0 black, 1 white
  double a;          // green to red
  double b;          // blue to yellow
};

Colour to_colour(const OkLab& lab);  // clipped to what sRGB can show
OkLab to_oklab(const Colour& colour);

// 256 colours in equal steps of OKLab with strictly monotone lightness: read right in grey, too.
const std::vector<Colour>& colours_of(Palette palette);

// The colour of a value; `value` is a number.
Colour colour_at(const ColourScale& scale, double value);

}  // namespace drift
