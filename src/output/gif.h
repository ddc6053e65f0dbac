#pragma once

#include <filesystem>
#include <memory>

#include "output/pixels.h"

namespace drift {

inline constexpr std::size_t kGifColours = 255;  // and one for pixels that stay as they were

// An animated GIF that repeats for ever, by giflib. Of each frame only what has changed is stored.
class GifWriter {
 public:
  // Throws Error with the path where the file cannot be written; likewise below.
  GifWriter(const std::filesystem::path& path, std::size_t width, std::size_t height, Palette palette, double frames_per_second);
  ~GifWriter();
  GifWriter(const GifWriter&) = delete;
  GifWriter& operator=(const GifWriter&) = delete;

  void add(const Pixels& frame);
  void finish();

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace drift
