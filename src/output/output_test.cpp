#include <gtest/gtest.h>
#include <png.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <string>

#include "drift/error.h"
#include "drift/quick_look.h"
#include "output/canvas.h"
#include "output/colour.h"
#include "output/stroke_font.h"
#include "output/ticks.h"

namespace drift {
namespace {

constexpr Colour kWhite = {1.0f, 1.0f, 1.0f}, kBlack = {0.0f, 0.0f, 0.0f};

double distance(const OkLab& p, const OkLab& q) { return std::hypot(p.lightness - q.lightness, p.a - q.a, p.b - q.b); }

TEST(OkLab, TakesBlackAndWhiteToTheEndsOfLightness) {
  EXPECT_NEAR(to_oklab(kBlack).lightness, 0.0, 1e-6);
  EXPECT_NEAR(to_oklab(kWhite).lightness, 1.0, 1e-6);
  EXPECT_NEAR(std::hypot(to_oklab(kWhite).a, to_oklab(kWhite).b), 0.0, 1e-5);
}

TEST(OkLab, GoesThereAndBack) {
  for (const Colour& colour : {Colour{0.2f, 0.5f, 0.9f}, Colour{0.9f, 0.1f, 0.05f}, Colour{0.01f, 0.99f, 0.5f}}) {
    const Colour back = to_colour(to_oklab(colour));
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(back[c], colour[c], 1e-4);
  }
}

TEST(Palettes, GoThroughLightnessOneWayInEqualSteps) {
  for (Palette palette : {Palette::field, Palette::spread}) {
    const auto& colours = colours_of(palette);
    ASSERT_EQ(colours.size(), 256u);
    const double direction = palette == Palette::field ? 1.0 : -1.0;
    double total = 0.0, shortest = 1.0, longest = 0.0;
    for (std::size_t i = 1; i < colours.size(); ++i) {
      const OkLab before = to_oklab(colours[i - 1]), here = to_oklab(colours[i]);
      EXPECT_GT(direction * (here.lightness - before.lightness), 0.0) << i;
      const double step = distance(before, here);
      total += step, shortest = std::min(shortest, step), longest = std::max(longest, step);
    }
    EXPECT_GT(shortest, 0.85 * total / 255) << "steps differ";
    EXPECT_LT(longest, 1.15 * total / 255) << "steps differ";
  }
}

TEST(ColourScale, ClampsToItsEnds) {
  const ColourScale scale = {Palette::field, 2.0, 4.0};
  EXPECT_EQ(colour_at(scale, -50.0), colours_of(Palette::field).front());
  EXPECT_EQ(colour_at(scale, 50.0), colours_of(Palette::field).back());
  EXPECT_NE(colour_at(scale, 3.0), colour_at(scale, 3.1));
}

TEST(NiceTicks, AreRoundNumbersInsideTheRange) {
  const auto labels = [](double low, double high, int most) {
    std::string joined;
    for (const Tick& tick : nice_ticks(low, high, most)) joined += tick.label + " ";
    return joined;
  };
  EXPECT_EQ(labels(-2.0, 2.0, 5), "-2 -1 0 1 2 ");
  EXPECT_EQ(labels(0.0, 0.31, 5), "0.0 0.1 0.2 0.3 ");
  EXPECT_EQ(labels(0.0, 0.04, 5), "0.00 0.01 0.02 0.03 0.04 ");
  EXPECT_EQ(labels(-2.7, 2.7, 5), "-2 -1 0 1 2 ");
  EXPECT_EQ(labels(-2.7, 2.7, 4), "-2 0 2 ");
  EXPECT_EQ(labels(0.0, 12000.0, 4), "0 5000 10000 ");
}

TEST(StrokeFont, HasWhatLabelsAreMadeOf) {
  for (char c : std::string("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .,:-+=/%()"))
    EXPECT_TRUE(has_glyph(c)) << c;
  EXPECT_FALSE(has_glyph('~'));
  EXPECT_GT(text_segments("~").size(), 0u) << "a missing character shows as a box";
  EXPECT_GT(text_width("mm"), text_width("ii"));
}

TEST(StrokeFont, DrawsEveryLetterDifferently) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.,:-+=/%()";
  const auto drawing = [](char c) {
    std::string lines;
    for (const Segment& s : text_segments(std::string(1, c))) {
      lines += std::to_string(s.from.x) + std::to_string(s.from.y) + std::to_string(s.to.x) + std::to_string(s.to.y);
    }
    return lines;
  };
  for (char a : letters) {
    EXPECT_FALSE(drawing(a).empty()) << a;
    for (char b : letters) EXPECT_TRUE(a == b || drawing(a) != drawing(b)) << a << b;
  }
}

TEST(Canvas, CoversAsMuchAsALineIsWide) {
  Canvas canvas(60, 40, kWhite);
  const Segment line = {{10.3, 20.7}, {50.3, 20.7}};
  canvas.stroke({&line, 1}, 3.0, kBlack);
  double column = 0.0;  // ink in one column across the line
  for (int y = 0; y < 40; ++y) column += 1.0 - canvas.at(30, y)[0];
  EXPECT_NEAR(column, 3.0, 1e-5);
  EXPECT_EQ(canvas.at(2, 20), kWhite);
}

TEST(Canvas, LaysAColourOnOnceWhereLinesCross) {
  Canvas canvas(40, 40, kWhite);
  const Segment cross[] = {{{5, 20}, {35, 20}}, {{20, 5}, {20, 35}}};
  canvas.stroke(cross, 4.0, kBlack, 0.5);
  EXPECT_NEAR(canvas.at(20, 20)[0], 0.5f, 1e-6);
}

TEST(Canvas, IgnoresWhatLiesOutside) {
  Canvas canvas(20, 20, kWhite);
  const Segment away = {{-50, -50}, {-10, -30}};
  canvas.stroke({&away, 1}, 4.0, kBlack);
  canvas.blend(-1, 3, kBlack, 1.0);
  canvas.circle({100, 100}, 10, 2, kBlack);
  for (int y = 0; y < 20; ++y) {
    for (int x = 0; x < 20; ++x) EXPECT_EQ(canvas.at(x, y), kWhite);
  }
}

class QuickLookFile : public ::testing::Test {
 protected:
  ~QuickLookFile() override { std::filesystem::remove(path_); }

  // A picture of one panel whose left half is low and right half is high.
  static QuickLook two_halves() {
    QuickLook picture = {.radius_km = 1000.0, .width = 400};
    PolarPanel panel = {.title = "Halves", .scale = {Palette::field, 0.0, 1.0}, .grid = {.size = 101, .spacing_km = 25.0}};
    for (std::size_t i = 0; i < 101 * 101; ++i) panel.grid.values.push_back(i % 101 < 50 ? 0.0 : 1.0);
    picture.panels.push_back(panel);
    return picture;
  }

  std::vector<std::uint8_t> read(unsigned& width, unsigned& height) const {
    png_image image = {};
    image.version = PNG_IMAGE_VERSION;
    EXPECT_TRUE(png_image_begin_read_from_file(&image, path_.c_str())) << image.message;
    image.format = PNG_FORMAT_RGB;
    std::vector<std::uint8_t> bytes(PNG_IMAGE_SIZE(image));
    EXPECT_TRUE(png_image_finish_read(&image, nullptr, bytes.data(), 0, nullptr)) << image.message;
    width = image.width, height = image.height;
    return bytes;
  }

  std::filesystem::path path_ = std::filesystem::path(::testing::TempDir()) / "drift_quick_look_test.png";
};

TEST_F(QuickLookFile, PutsTheGridsValuesWhereTheyBelong) {
  write_quick_look(path_, two_halves());
  unsigned width = 0, height = 0;
  const auto bytes = read(width, height);
  ASSERT_EQ(width, 400u);
  ASSERT_GT(height, 400u);
  const auto pixel = [&](unsigned x, unsigned y) {
    const std::uint8_t* p = bytes.data() + 3 * (y * width + x);
    return Colour{p[0] / 255.0f, p[1] / 255.0f, p[2] / 255.0f};
  };
  const Colour low = colours_of(Palette::field).front(), high = colours_of(Palette::field).back();
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(pixel(110, 190)[c], low[c], 0.01) << "left of the pole";
    EXPECT_NEAR(pixel(290, 190)[c], high[c], 0.01) << "right of the pole";
    EXPECT_EQ(pixel(2, 2)[c], 1.0f) << "white outside the map";
  }
}

TEST_F(QuickLookFile, ShowsPointsInTheirColoursOnAGreyGround) {
  QuickLook picture = two_halves();
  picture.panels[0].grid = {};
  picture.panels[0].points = {{-500.0}, {300.0}, {0.0}};
  write_quick_look(path_, picture);
  unsigned width = 0, height = 0;
  const auto bytes = read(width, height);
  int dark = 0;
  for (std::size_t y = 40; y < 200; ++y) {
    for (std::size_t x = 40; x < 190; ++x) dark += bytes[3 * (y * width + x) + 1] < 150 ? 1 : 0;
  }
  EXPECT_GE(dark, 1) << "the point's dark colour is in the upper left quarter";
  EXPECT_LE(dark, 4) << "and nothing else is dark there";
}

TEST_F(QuickLookFile, SaysWhatIsWrong) {
  QuickLook picture = two_halves();
  picture.panels[0].grid.values.pop_back();
  EXPECT_THROW(write_quick_look(path_, picture), UsageError);
  picture = two_halves();
  picture.panels[0].points = {{1.0}, {}, {1.0}};
  EXPECT_THROW(write_quick_look(path_, picture), UsageError);
  picture = two_halves();
  picture.panels[0].scale.high = picture.panels[0].scale.low;
  EXPECT_THROW(write_quick_look(path_, picture), UsageError);
  EXPECT_THROW(write_quick_look(path_, QuickLook{.radius_km = 1.0}), UsageError);
  try {
    write_quick_look("/no/such/folder/map.png", two_halves());
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("/no/such/folder/map.png"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace drift
