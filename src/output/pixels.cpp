#include "output/pixels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "drift/error.h"

namespace drift {
namespace {

constexpr std::size_t kMargin = 6;  // pixels

// Colours of one entry of the palette.
struct Cut {
  std::vector<std::size_t> indices;
  std::uint64_t weight = 0;
  std::size_t axis = 0;  // the widest of red, green and blue
  int low = 0, width = 0;

  Cut(std::vector<std::size_t> of, const std::vector<std::uint64_t>& counts) : indices(std::move(of)) {
    for (const std::size_t i : indices) weight += counts[i];
    for (std::size_t a = 0; a < 3; ++a) {
      const auto [least, most] = std::minmax_element(indices.begin(), indices.end(), [&](std::size_t p, std::size_t q) {
        return ColourCounts::colour_of(p)[a] < ColourCounts::colour_of(q)[a];
      });
      const int wide = ColourCounts::colour_of(*most)[a] - ColourCounts::colour_of(*least)[a];
      if (wide > width) axis = a, width = wide, low = ColourCounts::colour_of(*least)[a];
    }
  }
  // Rare colours count too: a thin line or a small patch is still to be seen.
  double worth() const { return width * std::sqrt(static_cast<double>(weight)); }
};

// In the middle of its longest side: at the median, a rare colour would stay with common ones.
std::array<Cut, 2> halves(const Cut& cut, const std::vector<std::uint64_t>& counts) {
  std::array<std::vector<std::size_t>, 2> sides;
  for (const std::size_t i : cut.indices) {
    sides[2 * ColourCounts::colour_of(i)[cut.axis] > 2 * cut.low + cut.width ? 1 : 0].push_back(i);
  }
  return {Cut(sides[0], counts), Cut(sides[1], counts)};
}

Rgb mean_of(const Cut& cut, const std::vector<std::uint64_t>& counts) {
  std::array<double, 3> sum = {};
  for (const std::size_t i : cut.indices) {
    for (std::size_t a = 0; a < 3; ++a) sum[a] += static_cast<double>(counts[i]) * ColourCounts::colour_of(i)[a];
  }
  Rgb colour;
  for (std::size_t a = 0; a < 3; ++a) colour[a] = static_cast<std::uint8_t>(sum[a] / static_cast<double>(cut.weight) + 0.5);
  return colour;
}

}  // namespace

Pixels read_ppm(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string magic;
  std::size_t greatest = 0;
  Pixels pixels;
  file >> magic;
  // Ghostscript's comment lines begin with '#'.
  const auto number = [&](std::size_t& value) {
    while ((file >> std::ws).peek() == '#') file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    file >> value;
  };
  number(pixels.width), number(pixels.height), number(greatest);
  file.get();
  constexpr std::size_t kLongest = 100'000;
  if (!file || magic != "P6" || greatest != 255 || pixels.width - 1 >= kLongest || pixels.height - 1 >= kLongest)
    throw Error(fmt::format("{}: GMT drew no picture of pixels", path.string()));
  pixels.at.resize(pixels.width * pixels.height);
  file.read(reinterpret_cast<char*>(pixels.at.data()), static_cast<std::streamsize>(pixels.at.size() * sizeof(Rgb)));
  if (!file) throw Error(fmt::format("{}: the picture is cut short", path.string()));
  return pixels;
}

void PixelBox::include(const PixelBox& other) {
  if (other.width() == 0) return;
  if (width() == 0) *this = other;
  left = std::min(left, other.left), top = std::min(top, other.top);
  right = std::max(right, other.right), bottom = std::max(bottom, other.bottom);
}

PixelBox inked(const Pixels& pixels) {
  PixelBox box;
  for (std::size_t y = 0; y < pixels.height; ++y) {
    for (std::size_t x = 0; x < pixels.width; ++x) {
      if (pixels.at[y * pixels.width + x] != Rgb{255, 255, 255}) box.include({x, y, x + 1, y + 1});
    }
  }
  if (box.width() == 0) return {0, 0, pixels.width, pixels.height};
  return {box.left - std::min(box.left, kMargin), box.top - std::min(box.top, kMargin),
          std::min(box.right + kMargin, pixels.width), std::min(box.bottom + kMargin, pixels.height)};
}

Pixels cropped(const Pixels& pixels, const PixelBox& box) {
  Pixels part = {.width = box.width(), .height = box.height()};
  part.at.reserve(part.width * part.height);
  for (std::size_t y = box.top; y < box.bottom; ++y) {
    const auto row = pixels.at.begin() + static_cast<std::ptrdiff_t>(y * pixels.width);
    part.at.insert(part.at.end(), row + static_cast<std::ptrdiff_t>(box.left), row + static_cast<std::ptrdiff_t>(box.right));
  }
  return part;
}

void ColourCounts::add(const Pixels& pixels) {
  for (const Rgb& colour : pixels.at) ++counts_[index_of(colour)];
}

std::size_t ColourCounts::index_of(const Rgb& colour) {
  std::size_t index = 0;
  for (const std::uint8_t part : colour) index = index << kBits | static_cast<std::size_t>(part) >> (8 - kBits);
  return index;
}

// Stretched so that white stays white.
Rgb ColourCounts::colour_of(std::size_t index) {
  constexpr std::size_t kGreatest = (1u << kBits) - 1;
  Rgb colour;
  for (std::size_t a = 3; a-- > 0; index >>= kBits) colour[a] = static_cast<std::uint8_t>((index & kGreatest) * 255 / kGreatest);
  return colour;
}

Palette make_palette(const ColourCounts& counts, std::size_t most) {
  const std::vector<std::uint64_t>& count = counts.counts();
  const std::size_t white = count.size() - 1;  // an entry of its own, for the page
  std::vector<std::size_t> present;
  for (std::size_t i = 0; i < white; ++i) {
    if (count[i] > 0) present.push_back(i);
  }
  std::vector<Cut> cuts;
  if (!present.empty()) cuts.emplace_back(present, count);
  while (!cuts.empty() && cuts.size() + 1 < most) {
    const auto worst =
        std::max_element(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) { return a.worth() < b.worth(); });
    if (worst->indices.size() < 2) break;
    auto [low, high] = halves(*worst, count);
    *worst = std::move(low);
    cuts.push_back(std::move(high));
  }
  Palette palette = {.colours = {Rgb{255, 255, 255}}, .entry = std::vector<std::uint8_t>(count.size(), 0)};
  for (const Cut& cut : cuts) {
    for (const std::size_t i : cut.indices) palette.entry[i] = static_cast<std::uint8_t>(palette.colours.size());
    palette.colours.push_back(mean_of(cut, count));
  }
  return palette;
}

}  // namespace drift
