#include "tune/next_point.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "math/minimise.h"
#include "tune/expected_improvement.h"
#include "tune/space.h"
#include "tune/streams.h"

namespace drift {
namespace {

constexpr Eigen::Index kRandomPlaces = 512;  // looked at all over the cube, and
constexpr Eigen::Index kNearPlaces = 64;     // near the best point so far
constexpr std::size_t kClimbs = 6;           // of these the best begin a gradient search
constexpr int kClimbEvaluations = 50;        // of the improvement in each
constexpr double kSamePlace = 1e-6;          // closer than this in every coordinate is the same point
constexpr double kSmallSpace = 2048.0;       // a finite space of so many points at most is gone through whole

double count_of_points(const SearchSpace& space) {
  double count = 1.0;
  for (const Setting& setting : space) count *= count_of_values(setting);
  return count;
}

// Every point of a finite space. [points, settings]
Eigen::MatrixXd all_places(const SearchSpace& space) {
  const auto count = static_cast<Eigen::Index>(count_of_points(space));
  Eigen::MatrixXd places(count, static_cast<Eigen::Index>(space.size()));
  for (Eigen::Index p = 0; p < count; ++p) {
    Eigen::Index rest = p;
    Point point(space.size());
    for (std::size_t i = 0; i < space.size(); ++i) {
      const auto values = static_cast<Eigen::Index>(count_of_values(space[i]));
      const double first = space[i].kind == SettingKind::choice ? 0.0 : space[i].low;
      point[i] = first + static_cast<double>(rest % values);
      rest /= values;
    }
    places.row(p) = to_cube(space, point).transpose();
  }
  return places;
}

// Random places all over the cube and near the best point, or all there are. [places, settings]
Eigen::MatrixXd candidates(const NextPointSearch& search) {
  if (count_of_points(search.space) <= kSmallSpace) return all_places(search.space);
  const auto d = static_cast<Eigen::Index>(search.space.size());
  RandomStream random = tuning_stream(search.seed, TuningStream::acquisition, search.number);
  Eigen::MatrixXd places(kRandomPlaces + kNearPlaces, d);
  for (Eigen::Index p = 0; p < places.rows(); ++p) {
    Eigen::VectorXd place(d);
    for (Eigen::Index i = 0; i < d; ++i) place[i] = random.uniform();
    if (p >= kRandomPlaces) {
      const double spread = std::pow(10.0, -1.0 - 2.0 * random.uniform());  // 0.1 to 0.001 of the cube
      for (Eigen::Index i = 0; i < d; ++i) {
        const bool is_choice = search.space[static_cast<std::size_t>(i)].kind == SettingKind::choice;
        if (!is_choice || random.uniform() < 0.8) {
          place[i] = search.best_place[i] + (is_choice ? 0.0 : spread * random.normal());
        }
      }
    }
    places.row(p) = snap(search.space, place).transpose();
  }
  return places;
}

struct Candidate {
  Eigen::VectorXd place;
  double improvement;  // log
};

double improvement_at(const NextPointSearch& search, const Eigen::VectorXd& place) {
  return log_expected_improvement(search.process, search.best, place).value;
}

// The gradient search from one place; choices stay as they are, whole numbers move as if they were real.
Candidate climb(const NextPointSearch& search, const Candidate& start) {
  const Eigen::Index d = start.place.size();
  Eigen::VectorXd low = Eigen::VectorXd::Zero(d);
  Eigen::VectorXd high = Eigen::VectorXd::Ones(d);
  bool can_move = false;
  for (Eigen::Index i = 0; i < d; ++i) {
    if (search.space[static_cast<std::size_t>(i)].kind == SettingKind::choice) {
      low[i] = high[i] = start.place[i];
    } else {
      can_move = true;
    }
  }
  if (!can_move) return start;
  const Differentiable cost = [&](const Eigen::VectorXd& place, Eigen::VectorXd& gradient) {
    const LogImprovement improvement = log_expected_improvement(search.process, search.best, place);
    gradient = -improvement.slope;
    return -improvement.value;
  };
  Candidate end{.place = snap(search.space, minimise(cost, start.place, low, high, kClimbEvaluations).place), .improvement = 0.0};
  end.improvement = improvement_at(search, end.place);
  return end.improvement > start.improvement ? end : start;
}

// Other values of one whole number or choice: all words, or steps of 1, 2, 4, ... either way.
std::vector<double> other_values(const Setting& setting, double value) {
  std::vector<double> values;
  if (setting.kind == SettingKind::choice) {
    for (std::size_t i = 0; i < setting.words.size(); ++i) values.push_back(static_cast<double>(i));
  } else {
    for (double step = 1.0; step <= setting.high - setting.low; step *= 2.0) {
      if (value - step >= setting.low) values.push_back(value - step);
      if (value + step <= setting.high) values.push_back(value + step);
    }
  }
  std::erase(values, value);
  return values;
}

// Changes one whole number or choice at a time for as long as that helps and the new point is not taken.
Candidate step(const NextPointSearch& search, Candidate at) {
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t i = 0; i < search.space.size(); ++i) {
      if (!is_discrete(search.space[i])) continue;
      const Point point = from_cube(search.space, at.place);
      for (const double value : other_values(search.space[i], point[i])) {
        Point other = from_cube(search.space, at.place);
        other[i] = value;
        Candidate next{.place = to_cube(search.space, other), .improvement = 0.0};
        next.improvement = improvement_at(search, next.place);
        if (next.improvement > at.improvement + 1e-9 && !is_taken(next.place, search.taken)) {
          at = std::move(next);
          moved = true;
        }
      }
    }
  }
  return at;
}

// Rows of `places`, the best first.
std::vector<Eigen::Index> ranked(const Eigen::VectorXd& improvement) {
  std::vector<Eigen::Index> order(static_cast<std::size_t>(improvement.size()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Eigen::Index a, Eigen::Index b) { return improvement[a] > improvement[b]; });
  return order;
}

}  // namespace

bool is_taken(const Eigen::VectorXd& place, const std::vector<Eigen::VectorXd>& taken) {
  return std::any_of(taken.begin(), taken.end(),
                     [&](const Eigen::VectorXd& other) { return (place - other).cwiseAbs().maxCoeff() < kSamePlace; });
}

std::optional<Eigen::VectorXd> next_point(const NextPointSearch& search) {
  const Eigen::MatrixXd places = candidates(search);
  const Eigen::VectorXd improvement = log_expected_improvement(search.process, search.best, places);
  std::optional<Candidate> best;
  std::size_t climbed = 0;
  for (const Eigen::Index row : ranked(improvement)) {
    const Candidate start{.place = places.row(row).transpose(), .improvement = improvement[row]};
    if (climbed >= kClimbs) {  // only looked at further where all that was climbed to is taken
      if (best) break;
      if (!is_taken(start.place, search.taken)) best = start;
      continue;
    }
    ++climbed;
    const Candidate end = step(search, climb(search, start));
    const Candidate& candidate = is_taken(end.place, search.taken) ? start : end;
    if (is_taken(candidate.place, search.taken)) continue;
    if (!best || candidate.improvement > best->improvement) best = candidate;
  }
  if (!best) return std::nullopt;
  return best->place;
}

std::optional<Eigen::VectorXd> random_point(const SearchSpace& space, const std::vector<Eigen::VectorXd>& taken,
                                            std::uint64_t seed, std::uint32_t number) {
  RandomStream random = tuning_stream(seed, TuningStream::acquisition, number, 1);
  for (Eigen::Index attempt = 0; attempt < kRandomPlaces; ++attempt) {
    Eigen::VectorXd place(static_cast<Eigen::Index>(space.size()));
    for (double& unit : place) unit = random.uniform();
    place = snap(space, place);
    if (!is_taken(place, taken)) return place;
  }
  if (count_of_points(space) <= kSmallSpace) {
    const Eigen::MatrixXd places = all_places(space);
    for (Eigen::Index row = 0; row < places.rows(); ++row) {
      if (!is_taken(places.row(row).transpose(), taken)) return places.row(row).transpose();
    }
  }
  return std::nullopt;
}

}  // namespace drift
