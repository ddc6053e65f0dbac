#include "geo/polygons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "drift/error.h"

namespace drift {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<int> inside(const std::vector<Polygon>& polygons, const std::vector<std::array<double, 2>>& points,
                        bool geographic = true) {
  std::vector<double> x, y;
  for (const auto& [lon, lat] : points) x.push_back(lon), y.push_back(lat);
  const std::vector<char> kept = within(polygons, x, y, geographic);
  return {kept.begin(), kept.end()};
}

constexpr const char* kSquareWithHole =
    R"({"type": "Polygon", "coordinates": [[[0,0],[10,0],[10,10],[0,10],[0,0]], [[4,4],[6,4],[6,6],[4,6],[4,4]]]})";

TEST(Polygons, ContainWhatLiesWithinTheirRingsButNotInHoles) {
  const auto square = parse_polygons(kSquareWithHole);
  EXPECT_THAT(inside(square, {{1, 1}, {5, 5}, {11, 5}, {5, -1}, {9.999, 9.999}, {361, 1}, {-359, 1}, {NAN, 1}}),
              ElementsAre(1, 0, 0, 0, 1, 1, 1, 0));
  EXPECT_THAT(inside(square, {{361, 1}}, false), ElementsAre(0)) << "a plane has no turns";
}

TEST(Polygons, ComeFromFeaturesCollectionsAndSegments) {
  const std::string feature =
      R"({"type": "Feature", "properties": {"name": "x"}, "geometry": )" + std::string(kSquareWithHole) + "}";
  const std::string other = R"({"type": "Feature", "geometry": {"type": "GeometryCollection", "geometries": [
      {"type": "Point", "coordinates": [1, 2]}, {"type": "MultiPolygon", "coordinates": [[[[170,60],[190,60],[190,70],[170,70]]]]}]}})";
  const auto both = parse_polygons(R"({"type": "FeatureCollection", "features": [)" + feature + "," + other + "]}");
  EXPECT_THAT(inside(both, {{1, 1}, {175, 65}, {-175, 65}, {-165, 65}}), ElementsAre(1, 1, 1, 0));
  const auto segments = parse_polygons("# a comment\n> first\n0 0\n10\t0\n10,10\n0 10\n>\n20 0 7\n30 0 7\n25 10 7\n");
  EXPECT_THAT(inside(segments, {{5, 5}, {25, 5}, {15, 5}}), ElementsAre(1, 1, 0));
}

// Against the definition: the sum of the angles under which the edges are seen is a turn inside and nothing outside.
TEST(Polygons, AgreeWithTheWindingOfManyCorners) {
  std::vector<Polygon::Point> star;
  for (int i = 0; i < 400; ++i) {
    const double angle = 2.0 * M_PI * i / 400.0, reach = i % 2 == 0 ? 10.0 : 4.0 + 3.0 * std::sin(0.1 * i);
    star.push_back({reach * std::cos(angle), reach * std::sin(angle)});
  }
  const Polygon polygon({star});
  int within_it = 0;
  for (double x = -11.05; x < 11.0; x += 0.7) {
    for (double y = -11.03; y < 11.0; y += 0.7) {
      double turned = 0.0;
      for (std::size_t i = 0; i < star.size(); ++i) {
        const auto &a = star[i], &b = star[(i + 1) % star.size()];
        const double ax = a[0] - x, ay = a[1] - y, bx = b[0] - x, by = b[1] - y;
        turned += std::atan2(ax * by - ay * bx, ax * bx + ay * by);
      }
      EXPECT_EQ(polygon.contains(x, y), std::abs(turned) > M_PI) << x << " " << y;
      within_it += polygon.contains(x, y) ? 1 : 0;
    }
  }
  EXPECT_GT(within_it, 100);
}

TEST(Polygons, SayWhatIsWrong) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      parse_polygons(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_THAT(message(""), HasSubstr("has no polygons"));
  EXPECT_THAT(message(R"({"type": "Point", "coordinates": [1, 2]})"), HasSubstr("has no polygons"));
  EXPECT_THAT(message("{\"type\": "), HasSubstr("is no JSON"));
  EXPECT_THAT(message(R"({"type": "Polygon"})"), HasSubstr("no 'coordinates'"));
  EXPECT_THAT(message(R"({"type": "Polygon", "coordinates": [[[0,0],[1,"a"],[1,1]]]})"), HasSubstr("two numbers"));
  EXPECT_THAT(message(R"({"type": "Polygon", "coordinates": [[[0,0],[1,1]]]})"), HasSubstr("encloses nothing"));
  EXPECT_THAT(message("> a\n1 2\n3 four\n"), HasSubstr("line 3 does not hold two numbers"));
  try {
    read_polygons("nowhere.geojson");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("nowhere.geojson: cannot be read"));
  }
}

}  // namespace
}  // namespace drift
