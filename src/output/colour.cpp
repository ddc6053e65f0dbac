// Colours through OKLab. Matrices: B. Ottosson, "A perceptual color space for image processing", 2020; transfer curve: sRGB
// (IEC 61966-2-1). A palette is a curve in OKLab given by a few stations of lightness, chroma and hue, walked at equal speed.

#include "output/colour.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

namespace drift {
namespace {

constexpr int kColours = 256;

struct Station {
  double lightness;
  double chroma;
  double hue_deg;  // goes on below 0 or beyond 360 where the curve does
};

// Indigo, blue, teal, green, pale yellow.
constexpr Station kField[] = {{0.26, 0.105, 285.0}, {0.40, 0.135, 262.0}, {0.55, 0.110, 230.0},
                              {0.68, 0.105, 185.0}, {0.81, 0.135, 140.0}, {0.96, 0.115, 104.0}};
// Near-white, sand, coral, wine, aubergine.
constexpr Station kSpread[] = {
    {0.975, 0.012, 95.0}, {0.86, 0.085, 75.0}, {0.70, 0.150, 42.0}, {0.50, 0.160, 15.0}, {0.26, 0.095, -20.0}};

double encode(double linear) { return linear <= 0.0031308 ? 12.92 * linear : 1.055 * std::pow(linear, 1.0 / 2.4) - 0.055; }
double decode(double encoded) { return encoded <= 0.04045 ? encoded / 12.92 : std::pow((encoded + 0.055) / 1.055, 2.4); }
double cube(double x) { return x * x * x; }

std::array<double, 3> linear_rgb(const OkLab& lab) {
  const double l = cube(lab.lightness + 0.3963377774 * lab.a + 0.2158037573 * lab.b);
  const double m = cube(lab.lightness - 0.1055613458 * lab.a - 0.0638541728 * lab.b);
  const double s = cube(lab.lightness - 0.0894841775 * lab.a - 1.2914855480 * lab.b);
  return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s, -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

bool can_be_shown(const OkLab& lab) {
  const auto rgb = linear_rgb(lab);
  return std::all_of(rgb.begin(), rgb.end(), [](double c) { return c >= 0.0 && c <= 1.0; });
}

// The curve at t in [0, 1]: stations joined by Catmull-Rom splines, less colourful where
// a screen cannot show it.
OkLab curve(std::span<const Station> stations, double t) {
  const double place = t * static_cast<double>(stations.size() - 1);
  const auto last = static_cast<std::ptrdiff_t>(stations.size()) - 1;
  const auto k = std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(place), last - 1);
  const double u = place - static_cast<double>(k);
  const auto blend = [&](auto field) {
    const auto at = [&](std::ptrdiff_t i) {
      return field(stations[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(i, 0, last))]);
    };
    double previous = at(k - 1), next = at(k + 2);
    if (k == 0) previous = 2.0 * at(0) - at(1);
    if (k == last - 1) next = 2.0 * at(last) - at(last - 1);
    const double from = at(k), to = at(k + 1);
    return from +
           0.5 * u *
               (to - previous + u * (2.0 * previous - 5.0 * from + 4.0 * to - next + u * (3.0 * (from - to) + next - previous)));
  };
  const double hue = blend([](const Station& s) { return s.hue_deg; }) * std::numbers::pi / 180.0;
  const double lightness = blend([](const Station& s) { return s.lightness; });
  const double chroma = blend([](const Station& s) { return s.chroma; });
  const auto with_chroma = [&](double c) { return OkLab{lightness, c * std::cos(hue), c * std::sin(hue)}; };
  if (can_be_shown(with_chroma(chroma))) return with_chroma(chroma);
  double shown = 0.0, too_much = chroma;
  for (int halving = 0; halving < 40; ++halving) {
    const double middle = 0.5 * (shown + too_much);
    (can_be_shown(with_chroma(middle)) ? shown : too_much) = middle;
  }
  return with_chroma(shown);
}

double distance(const OkLab& p, const OkLab& q) { return std::hypot(p.lightness - q.lightness, p.a - q.a, p.b - q.b); }

std::vector<Colour> walk(std::span<const Station> stations) {
  constexpr int kSteps = 4000;
  std::vector<OkLab> points;
  std::vector<double> walked;
  for (int i = 0; i <= kSteps; ++i) {
    points.push_back(curve(stations, static_cast<double>(i) / kSteps));
    walked.push_back(i == 0 ? 0.0 : walked.back() + distance(points[points.size() - 2], points.back()));
  }
  std::vector<Colour> colours;
  for (int i = 0; i < kColours; ++i) {
    const double goal = walked.back() * i / (kColours - 1);
    const auto after = std::lower_bound(walked.begin(), walked.end(), goal);
    colours.push_back(to_colour(points[static_cast<std::size_t>(after - walked.begin())]));
  }
  return colours;
}

}  // namespace

Colour to_colour(const OkLab& lab) {
  const auto rgb = linear_rgb(lab);
  Colour colour;
  for (std::size_t c = 0; c < 3; ++c) colour[c] = static_cast<float>(encode(std::clamp(rgb[c], 0.0, 1.0)));
  return colour;
}

OkLab to_oklab(const Colour& colour) {
  const double r = decode(colour[0]), g = decode(colour[1]), b = decode(colour[2]);
  const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s, 1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

const std::vector<Colour>& colours_of(Palette palette) {
  static const std::vector<Colour> field = walk(kField), spread = walk(kSpread);
  return palette == Palette::field ? field : spread;
}

Colour colour_at(const ColourScale& scale, double value) {
  const std::vector<Colour>& colours = colours_of(scale.palette);
  const double place = std::clamp((value - scale.low) / (scale.high - scale.low), 0.0, 1.0) * (kColours - 1);
  const auto below = std::min(static_cast<std::size_t>(place), static_cast<std::size_t>(kColours - 2));
  const auto share = static_cast<float>(place - static_cast<double>(below));
  Colour colour;
  for (std::size_t c = 0; c < 3; ++c) colour[c] = colours[below][c] + share * (colours[below + 1][c] - colours[below][c]);
  return colour;
}

}  // namespace drift
