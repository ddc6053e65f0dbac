// The built-in truth. With W a sum of random plane waves through three-dimensional space, read off on the unit sphere,
//   W(s, t) = sqrt(2 / sum a_j^2) sum_j a_j cos(2 pi (k_j . s + f_j t + phase_j)),     variance 1,
// k_j in uniform directions with wavelengths log-uniform in a band (so W is isotropic on the sphere) and a_j proportional to the
// wavelength (long waves are stronger, as in the sea), the raw field is
//   0.8 W_basin + 0.7 m_middle W_middle + 0.35 m_fine W_fine + sum of three ridges,
//   basin 1800-6000 km, middle 150-700 km, fine 35-250 km,
//   m = 1 / (1 + exp(-4 W_mask)),  masks of 1500-4000 km: patches of strong structure and calm between them.
// A ridge is a Gaussian cross-section some 20 km wide along an arc of a small circle, fading out towards its ends.
// Frequencies f_j ~ N(0, 2) / (2 pi D) give W_basin, W_middle and W_fine the correlation exp(-t^2 / D^2) in time, D =
// evolution_days, and random phases make them stationary. The masks keep their shape, as the regions of strong eddies do (were
// they to evolve too, the products would decorrelate sooner than D), and each ridge's height is multiplied by a W(t) of its own.
// A velocity rotates the whole: the value at (s, t) is that of the unmoved field at s rotated back by t days.

#include "drift/synthetic_field.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/blocks.h"
#include "core/degree.h"
#include "core/random.h"
#include "drift/error.h"

namespace drift {
namespace {

constexpr std::size_t kPointsTogether = 256;  // points evaluated together: their sums stay in the nearest cache

// Sets of waves, each with numbers of its own.
constexpr int kBasin = 0, kMiddle = 1, kFine = 2, kMiddleMask = 3, kFineMask = 4, kRidges = 5, kRidgeLives = 6;
constexpr int kRidgeCount = 3;
constexpr int kLifeWaves = 16;  // of each ridge's height in time

// cos(2 pi turns) for |turns| < 2^50, error below 1e-11. No branches, no calls: the compiler makes vectors of it.
inline double cos_turns(double turns) {
  constexpr double kRounder = 0x1.8p52;  // adding and taking it away rounds to a whole number
  const double rest = turns - ((turns + kRounder) - kRounder);
  const double y = 2.0 * std::numbers::pi * (0.25 - std::abs(rest));  // cos(2 pi rest) = sin(y), |y| <= pi/2: Taylor to y^15
  const double y2 = y * y;
  double p = -1.0 / 1307674368000.0;
  p = p * y2 + 1.0 / 6227020800.0;
  p = p * y2 - 1.0 / 39916800.0;
  p = p * y2 + 1.0 / 362880.0;
  p = p * y2 - 1.0 / 5040.0;
  p = p * y2 + 1.0 / 120.0;
  p = p * y2 - 1.0 / 6.0;
  return y + y * y2 * p;
}

double dot(const UnitVector& a, const UnitVector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

double angle_between(const UnitVector& a, const UnitVector& b) { return std::acos(std::clamp(dot(a, b), -1.0, 1.0)); }

UnitVector uniform_direction(RandomStream& stream) {
  const double z = 2.0 * stream.uniform() - 1.0, angle = 2.0 * std::numbers::pi * stream.uniform(), r = std::sqrt(1.0 - z * z);
  return {r * std::cos(angle), r * std::sin(angle), z};
}

double between(RandomStream& stream, double low, double high) { return low + (high - low) * stream.uniform(); }

RandomStream stream_for(const SyntheticFieldOptions& options, int set, int index) {
  return RandomStream({.seed = options.seed, .layer = static_cast<std::uint16_t>(set), .purpose = Purpose::simulation},
                      static_cast<std::uint32_t>(index));
}

double draw_turns_per_day(RandomStream& stream, double evolution_days) {
  return stream.normal() * std::numbers::sqrt2 / (2.0 * std::numbers::pi * evolution_days);
}

void check(const SyntheticFieldOptions& options) {
  const auto require = [](bool good, const char* option, double value, const char* range) {
    if (!good) throw UsageError(fmt::format("synthetic field: {} is {}; it must be {}", option, value, range));
  };
  const FieldVelocity& velocity = options.velocity;
  require(options.evolution_days >= 0.0 && std::isfinite(options.evolution_days), "evolution_days", options.evolution_days,
          "zero or more");
  for (const double speed : {velocity.east_km_per_day, velocity.north_km_per_day}) {
    require(std::isfinite(speed), "velocity", speed, "finite, in km per day");
  }
  require(std::isfinite(velocity.at.lon_deg), "the velocity's longitude", velocity.at.lon_deg, "finite");
  require(std::abs(velocity.at.lat_deg) < 90.0, "the velocity's latitude", velocity.at.lat_deg, "between -90 and 90");
}

// Radians per day about the three axes: the velocity at a point s is (rotation x s) times the Earth's radius.
UnitVector rotation_per_day(const FieldVelocity& velocity) {
  const UnitVector east = unit_vector({velocity.at.lon_deg + 90.0, 0.0});
  const double turn_north = velocity.north_km_per_day / kEarthRadiusKm,
               turn_east = velocity.east_km_per_day / (kEarthRadiusKm * std::cos(velocity.at.lat_deg * kDegree));
  return {-turn_north * east[0], -turn_north * east[1], turn_east};
}

}  // namespace

// Rodrigues' formula.
UnitVector FieldVelocity::carry(const UnitVector& point, double days) const {
  if (still()) return point;
  const UnitVector turn = rotation_per_day(*this);
  const double rate = std::sqrt(dot(turn, turn));
  const UnitVector axis = {turn[0] / rate, turn[1] / rate, turn[2] / rate};
  const double angle = rate * days, c = std::cos(angle), s = std::sin(angle), along = (1.0 - c) * dot(axis, point);
  return {c * point[0] + s * (axis[1] * point[2] - axis[2] * point[1]) + along * axis[0],
          c * point[1] + s * (axis[2] * point[0] - axis[0] * point[2]) + along * axis[1],
          c * point[2] + s * (axis[0] * point[1] - axis[1] * point[0]) + along * axis[2]};
}

struct SyntheticField::Block {
  std::size_t count;
  double x[kPointsTogether], y[kPointsTogether], z[kPointsTogether], time[kPointsTogether];
};

SyntheticField::SyntheticField(const SyntheticFieldOptions& options) {
  check(options);
  SyntheticFieldOptions lasting = options;
  lasting.evolution_days = 0.0;
  basin_ = draw_waves(options, kBasin, 24, 1800.0, 6000.0);
  middle_ = draw_waves(options, kMiddle, 96, 150.0, 700.0);
  fine_ = draw_waves(options, kFine, 160, 35.0, 250.0);
  middle_mask_ = draw_waves(lasting, kMiddleMask, 16, 1500.0, 4000.0);
  fine_mask_ = draw_waves(lasting, kFineMask, 16, 1500.0, 4000.0);
  for (int i = 0; i < kRidgeCount; ++i) ridges_.push_back(draw_ridge(options, i));
  standardise(options.evolution_days);
  velocity_ = options.velocity;  // from here on: a velocity carries the standardised field
}

SyntheticField::Waves SyntheticField::draw_waves(const SyntheticFieldOptions& options, int set, int count, double shortest_km,
                                                 double longest_km) {
  Waves waves;
  double power = 0.0;
  for (int i = 0; i < count; ++i) {
    RandomStream stream = stream_for(options, set, i);
    const UnitVector direction = uniform_direction(stream);
    const double wavelength_km = shortest_km * std::pow(longest_km / shortest_km, stream.uniform());
    const double turns = kEarthRadiusKm / wavelength_km;
    Wave wave = {.turns = {direction[0] * turns, direction[1] * turns, direction[2] * turns},
                 .turns_per_day = 0.0,
                 .phase = stream.uniform(),
                 .amplitude = wavelength_km};
    if (options.evolution_days > 0.0) wave.turns_per_day = draw_turns_per_day(stream, options.evolution_days);
    power += wave.amplitude * wave.amplitude;
    waves.push_back(wave);
  }
  for (Wave& wave : waves) wave.amplitude *= std::sqrt(2.0 / power);
  return waves;
}

// Ridges lie a third of the way round the pole from each other.
SyntheticField::Ridge SyntheticField::draw_ridge(const SyntheticFieldOptions& options, int index) {
  RandomStream stream = stream_for(options, kRidges, index);
  const Position middle = {120.0 * index + between(stream, -40.0, 40.0), between(stream, 71.0, 82.0)};
  Ridge ridge;
  ridge.middle = unit_vector(middle);
  ridge.radius = between(stream, 20.0, 60.0) * kDegree;
  ridge.width = between(stream, 16.0, 24.0) / kEarthRadiusKm;
  ridge.half_length = between(stream, 500.0, 900.0) / kEarthRadiusKm;
  ridge.height = (stream.uniform() < 0.3 ? -1.0 : 1.0) * between(stream, 1.2, 1.8);
  // The axis lies `radius` away from the middle, in a random direction of the compass.
  const double bearing = 2.0 * std::numbers::pi * stream.uniform();
  const UnitVector north = unit_vector({middle.lon_deg + 180.0, 90.0 - middle.lat_deg}),
                   east = unit_vector({middle.lon_deg + 90.0, 0.0});
  for (int c = 0; c < 3; ++c) {
    const double away = std::cos(bearing) * north[c] + std::sin(bearing) * east[c];
    ridge.axis[c] = std::cos(ridge.radius) * ridge.middle[c] + std::sin(ridge.radius) * away;
  }
  for (int i = 0; options.evolution_days > 0.0 && i < kLifeWaves; ++i) {
    RandomStream life = stream_for(options, kRidgeLives + index, i);
    const double turns_per_day = draw_turns_per_day(life, options.evolution_days);
    ridge.life.push_back(
        {.turns = {}, .turns_per_day = turns_per_day, .phase = life.uniform(), .amplitude = std::sqrt(2.0 / kLifeWaves)});
  }
  return ridge;
}

double SyntheticField::ridges_at(const UnitVector& point, double time_days) const {
  double sum = 0.0;
  for (const Ridge& ridge : ridges_) {
    const double along = angle_between(point, ridge.middle) / ridge.half_length;
    const double across = (angle_between(point, ridge.axis) - ridge.radius) / ridge.width;
    const double exponent = 0.5 * across * across + along * along * along * along;
    if (!(exponent < 40.0)) continue;
    double height = ridge.height;
    if (!ridge.life.empty()) {
      double life = 0.0;
      for (const Wave& wave : ridge.life) life += wave.amplitude * cos_turns(wave.turns_per_day * time_days + wave.phase);
      height *= life;
    }
    sum += height * std::exp(-exponent);
  }
  return sum;
}

void SyntheticField::add_waves(const Waves& waves, const Block& block, double* sum) {
  // Whole vectors, also at the end of the points, so that a value does not depend on its neighbours' number.
  const std::size_t count = (block.count + 7) / 8 * 8;
  std::fill_n(sum, count, 0.0);
  for (const Wave& wave : waves) {
    for (std::size_t i = 0; i < count; ++i) {
      sum[i] += wave.amplitude * cos_turns(wave.turns[0] * block.x[i] + wave.turns[1] * block.y[i] + wave.turns[2] * block.z[i] +
                                           wave.turns_per_day * block.time[i] + wave.phase);
    }
  }
}

void SyntheticField::evaluate_block(const Block& block, double* values) const {
  double basin[kPointsTogether], middle[kPointsTogether], fine[kPointsTogether], middle_mask[kPointsTogether],
      fine_mask[kPointsTogether];
  add_waves(basin_, block, basin);
  add_waves(middle_, block, middle);
  add_waves(fine_, block, fine);
  add_waves(middle_mask_, block, middle_mask);
  add_waves(fine_mask_, block, fine_mask);
  const auto patch = [](double mask) { return 1.0 / (1.0 + std::exp(-4.0 * mask)); };
  for (std::size_t i = 0; i < block.count; ++i) {
    const double raw = 0.8 * basin[i] + 0.7 * patch(middle_mask[i]) * middle[i] + 0.35 * patch(fine_mask[i]) * fine[i] +
                       ridges_at({block.x[i], block.y[i], block.z[i]}, block.time[i]);
    values[i] = (raw - offset_) * scale_;
  }
}

void SyntheticField::evaluate(std::span<const UnitVector> points, std::span<const double> time_days,
                              std::span<double> values) const {
  if (points.size() != values.size() || (!time_days.empty() && time_days.size() != points.size())) {
    throw UsageError(fmt::format("synthetic field: {} points but {} times and room for {} values", points.size(),
                                 time_days.size(), values.size()));
  }
  Block block = {};
  for_blocks(points.size(), kPointsTogether, [&](std::size_t first, std::size_t count) {
    block.count = count;
    for (std::size_t i = 0; i < block.count; ++i) {
      const double time = time_days.empty() ? 0.0 : time_days[first + i];
      const UnitVector point = velocity_.carry(points[first + i], -time);
      block.x[i] = point[0];
      block.y[i] = point[1];
      block.z[i] = point[2];
      block.time[i] = time;
    }
    evaluate_block(block, values.data() + first);
  });
}

double SyntheticField::operator()(const UnitVector& point, double time_days) const {
  double value;
  evaluate({&point, 1}, {&time_days, 1}, {&value, 1});
  return value;
}

// Mean and variance over 62-88 N, from points spread evenly over that ring (a Fibonacci lattice), all at time zero. A field that
// evolves has other waves in the ring every few evolution_days, so that its points are spread over many of those too.
void SyntheticField::standardise(double evolution_days) {
  constexpr std::size_t kPoints = 20000;
  constexpr double kEvolutions = 1000.0;
  const double golden_angle = std::numbers::pi * (3.0 - std::sqrt(5.0));
  const double low = std::sin(62.0 * kDegree), high = std::sin(88.0 * kDegree);
  std::vector<UnitVector> points(kPoints);
  std::vector<double> times(kPoints);
  for (std::size_t i = 0; i < kPoints; ++i) {
    const double z = low + (high - low) * (static_cast<double>(i) + 0.5) / kPoints, r = std::sqrt(1.0 - z * z);
    const double angle = golden_angle * static_cast<double>(i);
    points[i] = {r * std::cos(angle), r * std::sin(angle), z};
    times[i] = evolution_days * kEvolutions * std::fmod(std::numbers::sqrt2 * static_cast<double>(i), 1.0);
  }
  std::vector<double> values(kPoints);
  evaluate(points, times, values);
  double sum = 0.0, squares = 0.0;
  for (double value : values) sum += value;
  const double mean = sum / kPoints;
  for (double value : values) squares += (value - mean) * (value - mean);
  offset_ = mean;
  scale_ = 1.0 / std::sqrt(squares / kPoints);
}

}  // namespace drift
