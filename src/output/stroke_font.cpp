#include "output/stroke_font.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace drift {
namespace {

struct Glyph {
  char character;
  std::string_view path;  // M x y: start here; L x y: a line; Q cx cy x y: a parabola with control point (cx, cy)
};

constexpr Glyph kGlyphs[] = {
    {'0', "M2 0 Q4 0 4 3.5 Q4 7 2 7 Q0 7 0 3.5 Q0 0 2 0"},
    {'1', "M0.6 5.6 L2.4 7 L2.4 0"},
    {'2', "M0.2 5.2 Q0.3 7 2 7 Q3.9 7 3.9 5.2 Q3.9 3.9 2.4 2.5 L0 0 L4 0"},
    {'3', "M0.2 5.6 Q0.6 7 2 7 Q3.7 7 3.7 5.3 Q3.7 3.7 1.6 3.7 Q4 3.7 4 1.9 Q4 0 2 0 Q0.4 0 0 1.4"},
    {'4', "M3 0 L3 7 L0 2 L4.2 2"},
    {'5', "M3.7 7 L0.6 7 L0.3 3.7 Q1 4.5 2 4.5 Q4 4.5 4 2.3 Q4 0 2 0 Q0.4 0 0 1.3"},
    {'6', "M3.6 6.2 Q3.1 7 2.2 7 Q0 7 0 3 Q0 0 2 0 Q4 0 4 2.2 Q4 4.3 2.1 4.3 Q0.5 4.3 0 2.6"},
    {'7', "M0 7 L4 7 L1.4 0"},
    {'8', "M2 3.8 Q0.3 3.8 0.3 5.4 Q0.3 7 2 7 Q3.7 7 3.7 5.4 Q3.7 3.8 2 3.8 Q0 3.8 0 1.9 Q0 0 2 0 Q4 0 4 1.9 Q4 3.8 2 3.8"},
    {'9', "M0.4 0.8 Q0.9 0 1.8 0 Q4 0 4 4 Q4 7 2 7 Q0 7 0 4.8 Q0 2.7 1.9 2.7 Q3.5 2.7 4 4.4"},
    {'A', "M0 0 L2.5 7 L5 0 M0.85 2.4 L4.15 2.4"},
    {'B', "M0 0 L0 7 L2.2 7 Q4 7 4 5.3 Q4 3.7 2.2 3.7 L0 3.7 M2.2 3.7 Q4.4 3.7 4.4 1.9 Q4.4 0 2.2 0 L0 0"},
    {'C', "M4.6 5.4 Q4 7 2.6 7 Q0 7 0 3.5 Q0 0 2.6 0 Q4 0 4.6 1.6"},
    {'D', "M0 0 L0 7 L1.8 7 Q4.7 7 4.7 3.5 Q4.7 0 1.8 0 L0 0"},
    {'E', "M4 7 L0 7 L0 0 L4 0 M0 3.7 L3.5 3.7"},
    {'F', "M4 7 L0 7 L0 0 M0 3.6 L3.4 3.6"},
    {'G', "M4.6 5.5 Q4 7 2.6 7 Q0 7 0 3.5 Q0 0 2.6 0 Q4.7 0 4.7 3.2 L2.8 3.2"},
    {'H', "M0 0 L0 7 M4.6 0 L4.6 7 M0 3.7 L4.6 3.7"},
    {'I', "M0 0 L0 7"},
    {'J', "M2.8 7 L2.8 1.8 Q2.8 0 1.3 0 Q0.1 0 0 1.4"},
    {'K', "M0 0 L0 7 M4.3 7 L0 2.7 M1.6 4.2 L4.5 0"},
    {'L', "M0 7 L0 0 L3.7 0"},
    {'M', "M0 0 L0 7 L2.8 1.5 L5.6 7 L5.6 0"},
    {'N', "M0 0 L0 7 L4.6 0 L4.6 7"},
    {'O', "M2.7 0 Q5.4 0 5.4 3.5 Q5.4 7 2.7 7 Q0 7 0 3.5 Q0 0 2.7 0"},
    {'P', "M0 0 L0 7 L2.2 7 Q4.3 7 4.3 5.1 Q4.3 3.2 2.2 3.2 L0 3.2"},
    {'Q', "M2.7 0 Q5.4 0 5.4 3.5 Q5.4 7 2.7 7 Q0 7 0 3.5 Q0 0 2.7 0 M3.4 1.6 L5.2 -0.4"},
    {'R', "M0 0 L0 7 L2.2 7 Q4.3 7 4.3 5.1 Q4.3 3.2 2.2 3.2 L0 3.2 M2.2 3.2 L4.4 0"},
    {'S', "M4 5.7 Q3.6 7 2.2 7 Q0.3 7 0.3 5.3 Q0.3 3.9 2.2 3.5 Q4.3 3.1 4.3 1.7 Q4.3 0 2.2 0 Q0.5 0 0 1.4"},
    {'T', "M0 7 L4.8 7 M2.4 7 L2.4 0"},
    {'U', "M0 7 L0 2.4 Q0 0 2.3 0 Q4.6 0 4.6 2.4 L4.6 7"},
    {'V', "M0 7 L2.5 0 L5 7"},
    {'W', "M0 7 L1.8 0 L3.6 6.4 L5.4 0 L7.2 7"},
    {'X', "M0 7 L4.4 0 M4.4 7 L0 0"},
    {'Y', "M0 7 L2.3 3.4 L4.6 7 M2.3 3.4 L2.3 0"},
    {'Z', "M0 7 L4.3 7 L0 0 L4.4 0"},
    {'a', "M3.6 5 L3.6 0 M3.6 2.5 Q3.6 5 1.8 5 Q0 5 0 2.5 Q0 0 1.8 0 Q3.6 0 3.6 2.5"},
    {'b', "M0 7 L0 0 M0 2.5 Q0 5 1.9 5 Q3.8 5 3.8 2.5 Q3.8 0 1.9 0 Q0 0 0 2.5"},
    {'c', "M3.4 4.1 Q2.9 5 1.9 5 Q0 5 0 2.5 Q0 0 1.9 0 Q2.9 0 3.4 0.9"},
    {'d', "M3.6 7 L3.6 0 M3.6 2.5 Q3.6 5 1.8 5 Q0 5 0 2.5 Q0 0 1.8 0 Q3.6 0 3.6 2.5"},
    {'e', "M0.1 2.6 L3.7 2.6 Q3.7 5 1.9 5 Q0 5 0 2.5 Q0 0 1.9 0 Q3 0 3.5 0.9"},
    {'f', "M2.5 6.9 Q1 7.2 1 5.6 L1 0 M0 4.8 L2.2 4.8"},
    {'g', "M3.6 5 L3.6 -0.3 Q3.6 -2 1.8 -2 Q0.7 -2 0.2 -1.4 M3.6 2.5 Q3.6 5 1.8 5 Q0 5 0 2.5 Q0 0 1.8 0 Q3.6 0 3.6 2.5"},
    {'h', "M0 7 L0 0 M0 3 Q0.2 5 1.9 5 Q3.5 5 3.5 3 L3.5 0"},
    {'i', "M0 5 L0 0 M0 6.8 L0 6.9"},
    {'j', "M1 5 L1 -0.8 Q1 -2 -0.3 -1.9 M1 6.8 L1 6.9"},
    {'k', "M0 7 L0 0 M3.2 5 L0 1.9 M1.3 3.1 L3.4 0"},
    {'l', "M0 7 L0 0"},
    {'m', "M0 5 L0 0 M0 3 Q0.1 5 1.5 5 Q2.8 5 2.8 3.2 L2.8 0 M2.8 3 Q2.9 5 4.3 5 Q5.6 5 5.6 3.2 L5.6 0"},
    {'n', "M0 5 L0 0 M0 3 Q0.2 5 1.9 5 Q3.5 5 3.5 3 L3.5 0"},
    {'o', "M1.9 0 Q3.8 0 3.8 2.5 Q3.8 5 1.9 5 Q0 5 0 2.5 Q0 0 1.9 0"},
    {'p', "M0 5 L0 -2 M0 2.5 Q0 5 1.9 5 Q3.8 5 3.8 2.5 Q3.8 0 1.9 0 Q0 0 0 2.5"},
    {'q', "M3.6 5 L3.6 -2 M3.6 2.5 Q3.6 5 1.8 5 Q0 5 0 2.5 Q0 0 1.8 0 Q3.6 0 3.6 2.5"},
    {'r', "M0 5 L0 0 M0 2.8 Q0.2 5 2.2 4.9"},
    {'s', "M3.1 4.2 Q2.7 5 1.7 5 Q0.2 5 0.2 3.8 Q0.2 2.8 1.7 2.5 Q3.3 2.2 3.3 1.3 Q3.3 0 1.7 0 Q0.5 0 0 0.8"},
    {'t', "M1 6.5 L1 1.2 Q1 -0.1 2.4 0.1 M0 4.9 L2.3 4.9"},
    {'u', "M0 5 L0 2 Q0 0 1.7 0 Q3.4 0 3.5 2 M3.5 5 L3.5 0"},
    {'v', "M0 5 L1.8 0 L3.6 5"},
    {'w', "M0 5 L1.3 0 L2.7 4.6 L4.1 0 L5.4 5"},
    {'x', "M0 5 L3.4 0 M3.4 5 L0 0"},
    {'y', "M0 5 L1.8 0 M3.6 5 L1.5 -0.9 Q1 -2 0 -1.9"},
    {'z', "M0 5 L3.3 5 L0 0 L3.4 0"},
    {'.', "M0.2 0 L0.2 0.1"},
    {',', "M0.5 0.2 L0.1 -1.3"},
    {':', "M0.2 0 L0.2 0.1 M0.2 4 L0.2 4.1"},
    {'-', "M0 2.9 L2.8 2.9"},
    {'+', "M0 3 L3.6 3 M1.8 1.2 L1.8 4.8"},
    {'=', "M0 2.1 L3.6 2.1 M0 4 L3.6 4"},
    {'/', "M0 -0.8 L2.6 7.6"},
    {'%',
     "M1.2 7 Q2.4 7 2.4 5.6 Q2.4 4.2 1.2 4.2 Q0 4.2 0 5.6 Q0 7 1.2 7 M5.2 7 L1.6 0 "
     "M5.6 2.8 Q6.8 2.8 6.8 1.4 Q6.8 0 5.6 0 Q4.4 0 4.4 1.4 Q4.4 2.8 5.6 2.8"},
    {'(', "M1.6 8 Q0 6 0 3.2 Q0 0.4 1.6 -1.6"},
    {')', "M0 8 Q1.6 6 1.6 3.2 Q1.6 0.4 0 -1.6"},
};
constexpr std::string_view kBox = "M0 0 L4 0 L4 7 L0 7 L0 0";
constexpr double kSpace = 3.0;    // width of a blank
constexpr double kBetween = 1.7;  // room between letters
constexpr int kPieces = 8;        // straight pieces a parabola is cut into

const Glyph* find_glyph(char character) {
  const auto* found =
      std::find_if(std::begin(kGlyphs), std::end(kGlyphs), [&](const Glyph& g) { return g.character == character; });
  return found == std::end(kGlyphs) ? nullptr : found;
}

double take_number(std::string_view& path) {
  while (!path.empty() && path.front() == ' ') path.remove_prefix(1);
  double number = 0.0;
  const auto [end, error] = std::from_chars(path.data(), path.data() + path.size(), number);
  path.remove_prefix(static_cast<std::size_t>(end - path.data()));
  return number;
}

std::vector<Segment> path_segments(std::string_view path) {
  std::vector<Segment> segments;
  Point at = {0.0, 0.0};
  while (!path.empty()) {
    const char command = path.front();
    path.remove_prefix(1);
    if (command == ' ') continue;
    Point control = at;
    if (command == 'Q') control.x = take_number(path), control.y = take_number(path);
    Point to;
    to.x = take_number(path), to.y = take_number(path);
    if (command == 'L') segments.push_back({at, to});
    if (command == 'Q') {
      const Point from = at;
      for (int piece = 1; piece <= kPieces; ++piece) {
        const double t = static_cast<double>(piece) / kPieces, s = 1.0 - t;
        const Point next = {s * s * from.x + 2.0 * s * t * control.x + t * t * to.x,
                            s * s * from.y + 2.0 * s * t * control.y + t * t * to.y};
        segments.push_back({at, next});
        at = next;
      }
    }
    at = to;
  }
  return segments;
}

struct DrawnGlyph {
  std::vector<Segment> segments;
  double width = 0.0;
};

DrawnGlyph draw_glyph(char character) {
  if (character == ' ') return {{}, kSpace - kBetween};
  const Glyph* glyph = find_glyph(character);
  DrawnGlyph drawn = {path_segments(glyph != nullptr ? glyph->path : kBox)};
  for (const Segment& s : drawn.segments) drawn.width = std::max({drawn.width, s.from.x, s.to.x});
  return drawn;
}

// Every character's strokes, drawn once.
const DrawnGlyph& drawn(char character) {
  static const std::array<DrawnGlyph, 256> all = [] {
    std::array<DrawnGlyph, 256> glyphs;
    for (std::size_t i = 0; i < glyphs.size(); ++i) glyphs[i] = draw_glyph(static_cast<char>(i));
    return glyphs;
  }();
  return all[static_cast<unsigned char>(character)];
}

}  // namespace

bool has_glyph(char character) { return character == ' ' || find_glyph(character) != nullptr; }

double text_width(std::string_view text) {
  double width = text.empty() ? 0.0 : -kBetween;
  for (char character : text) width += drawn(character).width + kBetween;
  return width;
}

std::vector<Segment> text_segments(std::string_view text) {
  std::vector<Segment> segments;
  double x = 0.0;
  for (char character : text) {
    for (Segment s : drawn(character).segments) segments.push_back({{s.from.x + x, s.from.y}, {s.to.x + x, s.to.y}});
    x += drawn(character).width + kBetween;
  }
  return segments;
}

}  // namespace drift
