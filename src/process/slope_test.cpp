// The slope of a process's mean against differences of that mean, both in double precision: engines' rows are float32, whose
// steps are too coarse to tell a slope to six digits.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/random.h"
#include "process/place_finder.h"

namespace drift {
namespace {

constexpr double kDegree = std::numbers::pi / 180.0;

struct Tracks {
  std::vector<float> coordinates, values, error_variance;
  std::vector<std::int32_t> track;
  std::vector<std::uint8_t> platform;
  std::size_t columns = 3;

  PlaceData data() const {
    return {.coordinates = {coordinates.data(), values.size(), columns},
            .values = values,
            .error_variance = error_variance,
            .track = track,
            .platform = platform};
  }
};

// Straight tracks over a region some lengths wide, dense along themselves. On the sphere x and y are degrees about (lon, lat).
Tracks some_tracks(Space space, double lon = 0.0, double lat = 0.0) {
  RandomStream stream({.seed = 31, .purpose = Purpose::simulation});
  Tracks all;
  all.columns = space == Space::sphere ? 4 : 3;
  for (int track = 0; track < 14; ++track) {
    const double begin = 2.0 * stream.uniform() - 1.0, x0 = 2.0 * stream.uniform() - 1.0, slope = track % 2 == 0 ? 0.4 : -0.4;
    for (int i = 0; i < 60; ++i) {
      const double y = 2.0 * (i + stream.uniform()) / 60.0 - 1.0, x = x0 + slope * y, t = begin + 0.1 * y;
      std::vector<double> row = {x, y};
      if (space == Space::sphere) {
        const double a = (lon + 8.0 * x / std::cos(lat * kDegree)) * kDegree, b = (lat + 8.0 * y) * kDegree;
        row = {std::cos(b) * std::cos(a), std::cos(b) * std::sin(a), std::sin(b)};
      }
      for (const double c : row) all.coordinates.push_back(static_cast<float>(c));
      all.coordinates.push_back(static_cast<float>(t));
      all.values.push_back(static_cast<float>(std::sin(3.0 * x) + std::cos(2.0 * y) + 0.5 * t + 0.1 * stream.normal()));
      all.error_variance.push_back(static_cast<float>(0.01 * stream.uniform()));
      all.track.push_back(track);
      all.platform.push_back(static_cast<std::uint8_t>(track % 2));
    }
  }
  return all;
}

ProcessParameters parameters_of(double nu, double length) {
  return {.nu = nu,
          .length_x = 1.3 * length,
          .length_y = 0.8 * length,
          .shear = 0.3,
          .time_length = 0.9,
          .drift_x = 0.5,
          .drift_y = -0.3,
          .sill = 1.2,
          .nugget = 0.05,
          .track_variance = 0.1,
          .track_time = 0.1,
          .platform_variance = 0.05,
          .trend = {0.3, 0.0, 0.0},
          .by_latitude = {0.3, -0.2, 0.1, -0.1, 0.2, 0.3, 0.2, 0.1, -0.2, 0.4, -0.3, 0.2, -0.2, 0.1, 0.3}};
}

// A process reduced to its mean at one target.
class Mean {
 public:
  Mean(Space space, const ProcessParameters& parameters, const Tracks& tracks, double length, std::size_t neighbours,
       std::size_t far)
      : space_(space),
        parameters_(parameters),
        places_(gather_places(space, true, tracks.data(), {0.2 * length, 0.2 * parameters.time_length})),
        finder_(space, true, places_, search_parameters(parameters_), far),
        neighbours_(neighbours) {}

  double operator()(const EnginePosition& target) { return solved(target, Motion::none); }
  std::array<double, 3> slope(const EnginePosition& target, bool forget_fading = false) {
    solved(target, Motion::wanted);
    for (PlaceMotion& motion : near_.motion) {
      if (forget_fading) motion.error_variance = {};
    }
    return kriging_.slope(frame_motion(parameters_, space_, target));
  }
  std::size_t places_used() const { return near_.size(); }

 private:
  double solved(const EnginePosition& target, Motion motion) {
    finder_.find(target, neighbours_, {}, Edges::fading, motion, near_);
    here_ = at_target(parameters_, space_, target);
    kriging_.solve(here_, near_, Kriging::kField);
    return kriging_.rounded_mean();
  }

  Space space_;
  ProcessParameters parameters_, here_;
  Places places_;
  PlaceFinder finder_;
  std::size_t neighbours_;
  Neighbourhood near_;
  Kriging kriging_;
};

// A step along x (east), y (north) or t.
EnginePosition moved(Space space, const EnginePosition& from, std::size_t direction, double step) {
  EnginePosition to = from;
  if (space == Space::plane || direction == 2) {
    to.at(direction == 2 && space == Space::sphere ? 3 : direction) += step;
    return to;
  }
  const double lon = std::atan2(from[1], from[0]), lat = std::asin(from[2]);
  const std::array<double, 3> east = {-std::sin(lon), std::cos(lon), 0.0};
  const std::array<double, 3> north = {-std::sin(lat) * std::cos(lon), -std::sin(lat) * std::sin(lon), std::cos(lat)};
  for (std::size_t d = 0; d < 3; ++d) {
    to.at(d) = std::cos(step) * from.at(d) + std::sin(step) * (direction == 0 ? east : north).at(d);
  }
  return to;
}

// Central differences with Richardson's extrapolation: an error of step^4.
double difference(Mean& mean, Space space, const EnginePosition& at, std::size_t direction, double step) {
  const auto central = [&](double h) {
    return (mean(moved(space, at, direction, h)) - mean(moved(space, at, direction, -h))) / (2.0 * h);
  };
  return (4.0 * central(0.5 * step) - central(step)) / 3.0;
}

struct Case {
  const char* name;
  Space space;
  double nu, lon, lat;
  bool lasting = false;  // a second structure
  std::size_t far = 0;   // neighbours of the thinning
};

class Slope : public testing::TestWithParam<Case> {
 protected:
  // Errors of a claimed slope at random targets, relative to the largest slope of their direction: the median and the largest.
  // Both cells and edges are small enough that targets have opened, half drawn-together and fading neighbours.
  struct Errors {
    double median, most;
  };
  template <class Claim>
  Errors errors(const Claim& claim) {
    const Case& c = GetParam();
    const double unit = c.space == Space::sphere ? 8.0 * kDegree : 1.0, length = 0.6 * unit;
    ProcessParameters parameters = parameters_of(c.nu, length);
    if (c.lasting) parameters.second_share = 0.4, parameters.second_length = 1.6, parameters.second_time = 5.0;
    Mean mean(c.space, parameters, some_tracks(c.space, c.lon, c.lat), length, 40, c.far);
    RandomStream stream({.seed = 32, .purpose = Purpose::simulation});
    std::vector<double> all;
    for (std::size_t i = 0; i < 60; ++i) {
      const double x = 1.6 * stream.uniform() - 0.8, y = 1.6 * stream.uniform() - 0.8, t = stream.uniform() - 0.5;
      EnginePosition at = {x, y, t, 0.0};
      if (c.space == Space::sphere) {
        const double a = (c.lon + 8.0 * x / std::cos(c.lat * kDegree)) * kDegree, b = (c.lat + 8.0 * y) * kDegree;
        at = {std::cos(b) * std::cos(a), std::cos(b) * std::sin(a), std::sin(b), t};
      }
      const std::array<double, 3> slope = claim(mean, at);
      for (std::size_t d = 0; d < 3; ++d) {
        const double scale = d < 2 ? length : parameters.time_length;
        all.push_back(scale * std::abs(slope.at(d) - difference(mean, c.space, at, d, 1e-6 * scale)));
      }
      opened_ = opened_ || mean.places_used() > 40;
    }
    std::sort(all.begin(), all.end());
    return {all[all.size() / 2], all.back()};
  }

  bool opened_ = false;
};

// Slopes per length are of order one; differences of a mean with 14 digits over 1e-6 of a length have some 1e-7 of rounding,
// times the condition of a covariance whose places are drawn together.
TEST_P(Slope, IsThatOfTheMean) {
  const Errors found = errors([](Mean& mean, const EnginePosition& at) { return mean.slope(at); });
  EXPECT_TRUE(opened_) << "no group was opened";
  EXPECT_LT(found.median, 1e-6);
  EXPECT_LT(found.most, 1e-4);
}

TEST_P(Slope, CheckRejectsOneOfNeighboursThatDoNotFade) {
  const Errors found = errors([](Mean& mean, const EnginePosition& at) { return mean.slope(at, true); });
  EXPECT_GT(found.median, 1e-5);
  EXPECT_GT(found.most, 1e-3);
}

// A thousandth of a length to the east.
TEST_P(Slope, CheckRejectsThatOfAPointNearby) {
  const double step = 1e-3 * (GetParam().space == Space::sphere ? 8.0 * kDegree : 1.0);
  const Errors found =
      errors([&](Mean& mean, const EnginePosition& at) { return mean.slope(moved(GetParam().space, at, 0, step)); });
  EXPECT_GT(found.median, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(
    Process, Slope,
    testing::Values(Case{"plane_nu_1_2", Space::plane, 0.5, 0.0, 0.0}, Case{"plane_nu_3_2", Space::plane, 1.5, 0.0, 0.0},
                    Case{"plane_nu_5_2", Space::plane, 2.5, 0.0, 0.0}, Case{"tropics_nu_1_2", Space::sphere, 0.5, 170.0, 5.0},
                    Case{"arctic_nu_1_2", Space::sphere, 0.5, 30.0, 72.0}, Case{"arctic_nu_3_2", Space::sphere, 1.5, 30.0, 72.0},
                    Case{"near_pole_nu_3_2", Space::sphere, 1.5, 30.0, 82.0},
                    Case{"plane_nu_1_2_lasting", Space::plane, 0.5, 0.0, 0.0, true},
                    Case{"arctic_nu_3_2_lasting", Space::sphere, 1.5, 30.0, 72.0, true},
                    Case{"plane_nu_3_2_far", Space::plane, 1.5, 0.0, 0.0, false, 12},
                    Case{"arctic_nu_1_2_far", Space::sphere, 0.5, 30.0, 72.0, false, 12}),
    [](const auto& c) { return std::string(c.param.name); });

}  // namespace
}  // namespace drift
