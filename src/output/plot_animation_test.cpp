#include "output/plot_animation.h"

#include <gif_lib.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "drift/plot.h"
#include "output/gif.h"
#include "output/pixels.h"
#include "output/plot_picture_testing.h"

namespace drift {
namespace {

using testing::HasSubstr;

// A GIF as a program shows it: frames laid over each other, pixels of the transparent colour left as they were.
struct ShownGif {
  std::size_t width = 0, height = 0;
  std::vector<std::vector<Rgb>> frames;
  int hundredths = 0;
  bool repeats = false;
};

ShownGif read_gif(const std::filesystem::path& path) {
  int error = 0;
  GifFileType* gif = DGifOpenFileName(path.c_str(), &error);
  ShownGif shown;
  EXPECT_NE(gif, nullptr);
  if (gif == nullptr || DGifSlurp(gif) != GIF_OK) return shown;
  shown.width = static_cast<std::size_t>(gif->SWidth), shown.height = static_cast<std::size_t>(gif->SHeight);
  std::vector<Rgb> canvas(shown.width * shown.height);
  for (int i = 0; i < gif->ImageCount; ++i) {
    GraphicsControlBlock control = {};
    EXPECT_EQ(DGifSavedExtensionToGCB(gif, i, &control), GIF_OK);
    shown.hundredths = control.DelayTime;
    const SavedImage& image = gif->SavedImages[i];
    for (int e = 0; i == 0 && e < image.ExtensionBlockCount; ++e) {
      const ExtensionBlock& block = image.ExtensionBlocks[e];
      if (block.Function == APPLICATION_EXT_FUNC_CODE)
        shown.repeats = std::string(reinterpret_cast<char*>(block.Bytes), 11) == "NETSCAPE2.0";
    }
    for (std::size_t p = 0; p < canvas.size(); ++p) {
      const GifByteType entry = image.RasterBits[p];
      const GifColorType& c = gif->SColorMap->Colors[entry];
      if (entry != control.TransparentColor) canvas[p] = {c.Red, c.Green, c.Blue};
    }
    shown.frames.push_back(canvas);
  }
  DGifCloseFile(gif, &error);
  return shown;
}

constexpr int kStep = 8;  // of ColourCounts: five bits of eight

Pixels gradient(std::size_t width, std::size_t height, std::uint8_t blue) {
  Pixels pixels = {.width = width, .height = height, .at = std::vector<Rgb>(width * height, Rgb{255, 255, 255})};
  for (std::size_t i = 0; i < 32; ++i) pixels.at[i] = {static_cast<std::uint8_t>(i * 4), 40, blue};
  return pixels;
}

TEST(GifWriter, KeepsColoursAndFrames) {
  const ScratchFolder scratch;
  const std::vector<Pixels> frames = {gradient(20, 10, 100), gradient(20, 10, 200)};
  ColourCounts counts;
  for (const Pixels& frame : frames) counts.add(frame);
  GifWriter writer(scratch / "a.gif", 20, 10, make_palette(counts, kGifColours), 5.0);
  for (const Pixels& frame : frames) writer.add(frame);
  writer.finish();
  const ShownGif gif = read_gif(scratch / "a.gif");
  ASSERT_EQ(gif.frames.size(), 2u);
  EXPECT_EQ(gif.hundredths, 20);
  EXPECT_TRUE(gif.repeats);
  for (std::size_t f = 0; f < 2; ++f) {
    for (std::size_t p = 0; p < frames[f].at.size(); ++p) {
      for (std::size_t a = 0; a < 3; ++a) ASSERT_NEAR(gif.frames[f][p][a], frames[f].at[p][a], kStep) << f << " " << p;
    }
  }
}

TEST(MakePalette, KeepsWhiteAndRareColours) {
  Pixels pixels = {.width = 100, .height = 100, .at = std::vector<Rgb>(10000, Rgb{255, 255, 255})};
  for (std::size_t i = 0; i < 9000; ++i)
    pixels.at[i] = {static_cast<std::uint8_t>(i % 250), static_cast<std::uint8_t>(i / 40), 90};
  pixels.at[9500] = {250, 0, 0};
  ColourCounts counts;
  counts.add(pixels);
  const Palette palette = make_palette(counts, 64);
  EXPECT_LE(palette.colours.size(), 64u);
  EXPECT_EQ(palette.colours[palette.entry[ColourCounts::index_of({255, 255, 255})]], (Rgb{255, 255, 255}));
  const Rgb red = palette.colours[palette.entry[ColourCounts::index_of({250, 0, 0})]];
  EXPECT_GT(red[0], 200);
  EXPECT_LT(red[2], 60);
}

TEST(ReadPpm, RefusesWhatIsCutShort) {
  const ScratchFolder scratch;
  write_bytes(scratch / "a.ppm", "P6\n# a comment\n2 1\n255\nabcdef");
  const Pixels pixels = read_ppm(scratch / "a.ppm");
  EXPECT_EQ(pixels.width, 2u);
  EXPECT_EQ(pixels.at[1], (Rgb{'d', 'e', 'f'}));
  for (const char* bytes : {"P6\n2 1\n255\nabc", "P5\n2 1\n255\nabcdef", "P6\n0 1\n255\n", "P6\n99999999 99999999\n255\n", ""}) {
    write_bytes(scratch / "a.ppm", bytes);
    EXPECT_THROW(read_ppm(scratch / "a.ppm"), Error) << bytes;
  }
}

class PlotAnimation : public testing::Test {
 protected:
  void SetUp() override {
    if (find_program("gmt").empty()) GTEST_SKIP() << "GMT is not installed: apt-get install gmt gmt-gshhg-low ghostscript";
    FieldHeader header = map_options(parse_grid("xy:0,0,40,30:1"), false);
    header.time_days = {25627.0, 25628.0, 25629.0};  // each one more than the one before: blue, white, red
    write_map_file(scratch_ / "map.nc", header, [](double, double) { return -1.0; });
  }

  static PlotOptions options() {
    return {.limits = std::array<double, 2>{-1.5, 1.5}, .colours = "polar", .width_cm = 6.0, .dpi = 50, .frames_per_second = 2.0};
  }

  ScratchFolder scratch_;
};

TEST_F(PlotAnimation, ShowsEveryTimeOnOneScale) {
  std::vector<double> shares;
  Control control;
  control.progress = [&](double share, const std::string&) { shares.push_back(share); };
  EXPECT_EQ(plot_map(scratch_ / "map.nc", scratch_ / "map.gif", options(), control).times, 3u);
  const ShownGif gif = read_gif(scratch_ / "map.gif");
  ASSERT_EQ(gif.frames.size(), 3u);
  EXPECT_EQ(gif.hundredths, 50);
  EXPECT_NEAR(static_cast<double>(gif.width), 6.0 / 2.54 * 50.0, 30.0) << "the page's margin is cut off";
  const auto more_red = [&](std::size_t frame) {
    const Rgb& middle = gif.frames[frame][gif.height / 3 * gif.width + gif.width / 2];
    return static_cast<int>(middle[0]) - static_cast<int>(middle[2]);
  };
  EXPECT_LT(more_red(0), -100);
  EXPECT_NEAR(more_red(1), 0, kStep);
  EXPECT_GT(more_red(2), 100);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_EQ(shares.back(), 1.0);
  EXPECT_EQ(scratch_.files(), 2u) << "nothing temporary is left";
}

TEST_F(PlotAnimation, StopsBetweenFramesAndLeavesNothing) {
  std::stop_source stop;
  Control control = {.stop = stop.get_token()};
  control.progress = [&](double, const std::string& what) {
    if (what == "frame 1 of 3") stop.request_stop();
  };
  EXPECT_THROW(plot_map(scratch_ / "map.nc", scratch_ / "map.gif", options(), control), Stopped);
  EXPECT_EQ(scratch_.files(), 1u);
}

TEST_F(PlotAnimation, IsAnMp4WhereFfmpegIs) {
  if (find_program("ffmpeg").empty()) {
    try {
      plot_map(scratch_ / "map.nc", scratch_ / "map.mp4", options());
      FAIL() << "there is no ffmpeg";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("apt-get install ffmpeg"));
    }
    EXPECT_EQ(scratch_.files(), 1u);
    return;
  }
  plot_map(scratch_ / "map.nc", scratch_ / "map.mp4", options());
  EXPECT_EQ(read_bytes(scratch_ / "map.mp4").substr(4, 4), "ftyp");
}

}  // namespace
}  // namespace drift
