#include "engine/observation_checks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "drift/error.h"

namespace drift {
namespace {

struct Data {
  std::vector<float> coordinates = std::vector<float>(4 * 3, 0.5F);
  std::vector<float> values = std::vector<float>(4, 1.0F);
  std::vector<float> weights = std::vector<float>(4, 1.0F);

  TrainingSet set() const { return {{coordinates.data(), 4, 3}, {values.data(), 4, 1}, weights}; }
};

NetworkSpec plane() {
  NetworkSpec spec;
  spec.spatial.layers = 1;
  spec.temporal.layers = 1;
  return spec;
}

NetworkSpec sphere() {
  NetworkSpec spec;
  spec.space = Space::sphere;
  spec.space_coordinates = 3;
  spec.spatial.layers = 1;
  return spec;
}

std::string refusal(const NetworkSpec& spec, const Data& data) {
  try {
    check_observations(spec, data.set());
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(ObservationChecks, PassSoundObservationsWithAndWithoutWeights) {
  Data data;
  EXPECT_EQ(refusal(plane(), data), "");
  data.weights = {0, 0, 1e-3F, 0};
  EXPECT_EQ(refusal(plane(), data), "");
  data.weights.clear();
  EXPECT_EQ(refusal(plane(), data), "");
}

TEST(ObservationChecks, NameTheRowOfANumberThatIsNotFinite) {
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
    Data data;
    data.coordinates[2 * 3 + 1] = bad;
    EXPECT_NE(refusal(plane(), data).find("observation 2 (counted from 0): coordinate 1"), std::string::npos);
    data = {};
    data.values[3] = bad;
    EXPECT_NE(refusal(plane(), data).find("observation 3 (counted from 0): value 0"), std::string::npos);
    data = {};
    data.weights[1] = bad;
    EXPECT_NE(refusal(plane(), data).find("observation 1 (counted from 0): its weight"), std::string::npos);
  }
}

TEST(ObservationChecks, RefuseANegativeWeightAndWeightsThatAreAllZero) {
  Data data;
  data.weights[2] = -1e-6F;
  EXPECT_NE(refusal(plane(), data).find("observation 2"), std::string::npos);
  data.weights.assign(4, 0.0F);
  EXPECT_NE(refusal(plane(), data).find("weight 0"), std::string::npos);
}

TEST(ObservationChecks, WantUnitVectorsOnTheSphere) {
  Data data;
  data.coordinates = {1, 0, 0, 0, 1, 0, 0, 0.6F, 0.8F, 0, 0, -1};
  EXPECT_EQ(refusal(sphere(), data), "");
  data.coordinates[7] = 0.7F;
  EXPECT_NE(refusal(sphere(), data).find("observation 2"), std::string::npos);
}

}  // namespace
}  // namespace drift
