#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace drift {

using Rgb = std::array<std::uint8_t, 3>;

struct Pixels {
  std::size_t width = 0, height = 0;
  std::vector<Rgb> at = {};  // [height, width], the top row first
};

// A binary PPM file with a byte per colour. Throws Error with the path.
Pixels read_ppm(const std::filesystem::path& path);

// Columns left to right - 1, rows top to bottom - 1.
struct PixelBox {
  std::size_t left = 0, top = 0, right = 0, bottom = 0;

  std::size_t width() const { return right - left; }
  std::size_t height() const { return bottom - top; }
  void include(const PixelBox& other);
};

// Bounds of the pixels that are not white, with a margin of a few pixels.
PixelBox inked(const Pixels& pixels);
Pixels cropped(const Pixels& pixels, const PixelBox& box);

// Counts of colours, to five bits of each of red, green and blue.
class ColourCounts {
 public:
  static constexpr int kBits = 5;

  ColourCounts() : counts_(std::size_t{1} << 3u * kBits) {}
  void add(const Pixels& pixels);
  static std::size_t index_of(const Rgb& colour);
  static Rgb colour_of(std::size_t index);
  const std::vector<std::uint64_t>& counts() const { return counts_; }

 private:
  std::vector<std::uint64_t> counts_;
};

// At most `most` colours for all that were counted, white among them: boxes of the colour cube are cut in two, those that are
// long and full first (after Heckbert 1982).
struct Palette {
  std::vector<Rgb> colours;
  std::vector<std::uint8_t> entry;  // for each index of ColourCounts
};
Palette make_palette(const ColourCounts& counts, std::size_t most);

}  // namespace drift
