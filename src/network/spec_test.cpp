#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>

#include "drift/error.h"
#include "drift/network_spec.h"

namespace drift {
namespace {

NetworkSpec plane_and_time() {
  NetworkSpec spec = default_spec(Space::plane, 2, true);
  spec.coupling = Coupling::additive;
  return spec;
}
NetworkSpec sphere_and_time() {
  NetworkSpec spec = default_spec(Space::sphere, 3, true);
  spec.coupling = Coupling::additive;
  return spec;
}

// The message of the UsageError that check() throws on the changed spec; empty when it does not throw.
std::string refusal(NetworkSpec spec, const std::function<void(NetworkSpec&)>& change) {
  change(spec);
  try {
    check(spec);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::string json_refusal(const std::string& text) {
  try {
    network_spec_from_json(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t found = text.find(what);
  EXPECT_NE(found, std::string::npos) << what << " is not in " << text;
  return found == std::string::npos ? text : text.replace(found, what.size(), by);
}

TEST(DefaultSpec, HasTheSettingsThatTrialsFoundGood) {
  const NetworkSpec plane = default_spec(Space::plane, 2, true);
  EXPECT_EQ(plane.spatial.layers, 4);
  EXPECT_EQ(plane.temporal.layers, 1);
  EXPECT_EQ(plane.joint.layers, 0);
  EXPECT_EQ(plane.features, 1000);
  EXPECT_EQ(plane.bottleneck, 128);
  EXPECT_TRUE(plane.skip);
  EXPECT_EQ(plane.frequencies, Frequencies::structured);
  EXPECT_EQ(plane.head_scale, 0.0);
  EXPECT_EQ(plane.spatial.lengthscales, std::vector{0.1});
  EXPECT_EQ(plane.temporal.lengthscales, std::vector{1.0});
  for (const ChainSpec& chain : {plane.spatial, plane.temporal}) {
    EXPECT_EQ(chain.covariance, (Covariance{Family::matern, 1.5}));
    EXPECT_EQ(chain.hidden_covariance, (Covariance{Family::matern, 1.5}));
    EXPECT_EQ(chain.hidden_lengthscale, 1.0);
    EXPECT_EQ(chain.amplitude, 1.0);
    EXPECT_EQ(chain.hidden_amplitude, 1.0);
  }
  EXPECT_EQ(plane.coordinates(), 3);
  EXPECT_EQ(plane.coupling, Coupling::product);

  const NetworkSpec sphere = default_spec(Space::sphere, 3, false);
  EXPECT_EQ(sphere.spatial.layers, 4);
  EXPECT_EQ(sphere.spatial.lengthscales, std::vector{0.05});
  EXPECT_EQ(sphere.temporal.layers, 0);
  EXPECT_EQ(sphere.coordinates(), 3);
  EXPECT_EQ(sphere.coupling, Coupling::additive) << "without time there is nothing to couple";
}

TEST(DefaultSpec, RefusesCoordinatesThatTheSpaceDoesNotHave) {
  EXPECT_THROW(default_spec(Space::sphere, 2, true), UsageError);
  EXPECT_THROW(default_spec(Space::plane, 0, true), UsageError);
}

TEST(PaperSpec, IsExperimentOne) {
  const NetworkSpec spec = paper_spec(2.0, 3.0, 0.5);
  EXPECT_EQ(spec.spatial.layers, 4);
  EXPECT_EQ(spec.temporal.layers, 1);
  EXPECT_EQ(spec.frequencies, Frequencies::independent);
  EXPECT_EQ(spec.head_scale, 1.0);
  EXPECT_EQ(spec.coupling, Coupling::additive);
  EXPECT_TRUE(spec.skip);
  EXPECT_THROW(paper_spec(-1.0, 1.0, 1.0), UsageError);
}

TEST(CheckSpec, AcceptsTheLimitsThemselves) {
  EXPECT_EQ(refusal(plane_and_time(), [](NetworkSpec& s) { s.features = 1'000'000; }), "");
  EXPECT_EQ(refusal(plane_and_time(),
                    [](NetworkSpec& s) {
                      s.bottleneck = 100'000;
                      s.frequencies = Frequencies::orthogonal;
                    }),
            "");
  EXPECT_EQ(refusal(plane_and_time(), [](NetworkSpec& s) { s.spatial.layers = 1000; }), "");
  EXPECT_EQ(refusal(plane_and_time(), [](NetworkSpec& s) { s.joint.layers = 3; }), "");
  EXPECT_EQ(refusal(plane_and_time(), [](NetworkSpec& s) { s.spatial.lengthscales = {0.1, 0.4}; }), "");
  EXPECT_EQ(refusal(sphere_and_time(), [](NetworkSpec& s) { s.spatial.lengthscales = {std::numbers::pi}; }), "");
  EXPECT_EQ(refusal(default_spec(Space::sphere, 3, true), [](NetworkSpec& s) { s.spatial.lengthscales = {10.0}; }), "")
      << "chords may have any lengthscale";
}

TEST(CheckSpec, NamesTheFieldItsValueAndWhatIsAllowed) {
  const NetworkSpec plane = plane_and_time();
  const NetworkSpec sphere = sphere_and_time(), product = default_spec(Space::plane, 2, true);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const struct {
    NetworkSpec spec;
    std::function<void(NetworkSpec&)> change;
    std::string message;
  } cases[] = {
      {plane,
       [](NetworkSpec& s) {
         s.spatial.lengthscales = {1.0, 1.0, 1.0};
       },
       "spatial.lengthscales has 3 entries but space_coordinates is 2: give one, or one for each coordinate"},
      {plane, [](NetworkSpec& s) { s.spatial.lengthscales.clear(); },
       "spatial.lengthscales has 0 entries but space_coordinates is 2: give one, or one for each coordinate"},
      {plane,
       [](NetworkSpec& s) {
         s.temporal.lengthscales = {1.0, 2.0};
       },
       "temporal.lengthscales has 2 entries but time is one coordinate: give one"},
      {sphere, [](NetworkSpec& s) { s.space_coordinates = 2; },
       "space_coordinates is 2 but must be 3 on the sphere: a unit vector"},
      {sphere,
       [](NetworkSpec& s) {
         s.spatial.lengthscales = {0.1, 0.1, 0.1};
       },
       "spatial.lengthscales has 3 entries but the sphere has one lengthscale"},
      {sphere, [](NetworkSpec& s) { s.spatial.lengthscales = {4.0}; },
       "spatial.lengthscales[0] is 4 but on the sphere must be at most pi: radians of arc"},
      {plane, [](NetworkSpec& s) { s.spatial.layers = s.temporal.layers = 0; },
       "spatial.layers and temporal.layers are both 0 but a network needs at least one chain: give one of them layers"},
      {plane, [](NetworkSpec& s) { s.joint.layers = 2, s.temporal.layers = 0; },
       "joint.layers is 2 but temporal.layers is 0: joint layers need both chains"},
      {plane, [](NetworkSpec& s) { s.joint.layers = 1, s.spatial.layers = 0; },
       "joint.layers is 1 but spatial.layers is 0: joint layers need both chains"},
      {product, [](NetworkSpec& s) { s.spatial.layers = 0; },
       "coupling is product but spatial.layers is 0: without space there is nothing to couple; use additive"},
      {product, [](NetworkSpec& s) { s.temporal.layers = 0; },
       "coupling is product but temporal.layers is 0: time enters the spatial chain, and 1 says that there is time; without it "
       "use additive"},
      {product, [](NetworkSpec& s) { s.temporal.layers = 2; },
       "coupling is product but temporal.layers is 2: time enters the spatial chain, and 1 says that there is time; without it "
       "use additive"},
      {product, [](NetworkSpec& s) { s.joint.layers = 1; },
       "coupling is product but joint.layers is 1: all layers see both space and time; make it 0 and give the spatial chain more "
       "layers"},
      {dense_spec(Space::plane, 2, true, {}), [](NetworkSpec& s) { s.coupling = Coupling::product; },
       "coupling is product but a dense network always sees all coordinates together: leave it additive"},
      {plane, [](NetworkSpec& s) { s.features = 0; }, "features is 0 but must be between 1 and 1000000"},
      {plane, [](NetworkSpec& s) { s.features = 1'000'001; }, "features is 1000001 but must be between 1 and 1000000"},
      {plane, [](NetworkSpec& s) { s.bottleneck = 100'001; }, "bottleneck is 100001 but must be between 1 and 100000"},
      {plane, [](NetworkSpec& s) { s.outputs = -1; }, "outputs is -1 but must be between 1 and 10000"},
      {plane, [](NetworkSpec& s) { s.temporal.layers = 1001; }, "temporal.layers is 1001 but must be between 0 and 1000"},
      {plane, [](NetworkSpec& s) { s.spatial.layers = -1; }, "spatial.layers is -1 but must be between 0 and 1000"},
      {plane, [](NetworkSpec& s) { s.space_coordinates = 0; }, "space_coordinates is 0 but must be between 1 and 1000"},
      {plane,
       [=](NetworkSpec& s) {
         s.spatial.lengthscales = {1.0, nan};
       },
       "spatial.lengthscales[1] is nan but must be between 1e-09 and 1000000000"},
      {plane, [=](NetworkSpec& s) { s.temporal.hidden_lengthscale = infinity; },
       "temporal.hidden_lengthscale is inf but must be between 1e-09 and 1000000000"},
      {plane, [](NetworkSpec& s) { s.joint.hidden_amplitude = 0.0; },
       "joint.hidden_amplitude is 0 but must be between 1e-09 and 1000000000"},
      {plane, [](NetworkSpec& s) { s.spatial.amplitude = -2.0; },
       "spatial.amplitude is -2 but must be between 1e-09 and 1000000000"},
      {plane, [](NetworkSpec& s) { s.spatial.hidden_covariance.nu = 0.0; },
       "spatial.hidden_covariance.nu is 0 but must be between 0.001 and 1000000"},
      {plane, [](NetworkSpec& s) { s.temporal.covariance.nu = 1e7; },
       "temporal.covariance.nu is 10000000 but must be between 0.001 and 1000000"},
      {plane, [](NetworkSpec& s) { s.bottleneck = 2049; },
       "bottleneck is 2049 but structured frequencies take at most 2048: lower it, or use orthogonal ones"},
      {plane, [=](NetworkSpec& s) { s.head_scale = nan; },
       "head_scale is nan but must be 0 (1/sqrt of the head's inputs) or between 1e-09 and 1000000000"},
      {plane, [](NetworkSpec& s) { s.sphere_tail_mass = 0.0; }, "sphere_tail_mass is 0 but must be between 1e-12 and 0.5"},
      {plane, [](NetworkSpec& s) { s.sphere_max_degree = 10'001; }, "sphere_max_degree is 10001 but must be between 1 and 10000"},
  };
  for (const auto& [spec, change, message] : cases) EXPECT_EQ(refusal(spec, change), message);
}

TEST(SpecJson, ComesBackTheSameFieldByField) {
  NetworkSpec spec;
  spec.space = Space::sphere;
  spec.space_coordinates = 3;
  spec.spatial = {2, {Family::squared_exponential, 2.5}, {Family::matern, 0.5}, {0.1}, 0.7, 1.0 / 3.0, 1e-5};
  spec.temporal = {3, {Family::matern, 0.75}, {Family::squared_exponential, 1.25}, {std::numbers::pi}, 0.3, 1.1, 1.2};
  spec.joint = {1, {Family::matern, 3.5}, {Family::matern, 4.5}, {1.0, 2.0, 3.0}, 0.4, 1.3, 1.4};
  spec.features = 17;
  spec.bottleneck = 5;
  spec.outputs = 3;
  spec.skip = false;
  spec.frequencies = Frequencies::independent;
  spec.head_scale = 0.1 + 0.2;
  spec.sphere_tail_mass = 0.01;
  spec.sphere_max_degree = 99;
  EXPECT_EQ(network_spec_from_json(to_json(spec)), spec);
  EXPECT_EQ(network_spec_from_json(to_json(paper_spec(0.3, 0.7, 0.11))), paper_spec(0.3, 0.7, 0.11));
}

TEST(SpecJson, HasTheCouplingOnlyWhereItIsNotAdditive) {
  const NetworkSpec product = default_spec(Space::sphere, 3, true);
  EXPECT_EQ(network_spec_from_json(to_json(product)), product);
  EXPECT_EQ(to_json(plane_and_time()).find("coupling"), std::string::npos);
  // What was written before there was a coupling.
  const std::string older = replaced(to_json(product), ",\"coupling\":\"product\"", "");
  EXPECT_EQ(network_spec_from_json(older), sphere_and_time());
  EXPECT_EQ(json_refusal(replaced(to_json(product), "\"coupling\":\"product\"", "\"coupling\":\"sum\"")),
            "network spec: \"coupling\" must be one of \"additive\", \"product\" but is \"sum\"");
}

TEST(SpecJson, WritesEnumsAsWords) {
  const std::string text = to_json(default_spec(Space::sphere, 3, true));
  for (const char* word : {"\"space\":\"sphere\"", "\"family\":\"matern\"", "\"frequencies\":\"structured\""}) {
    EXPECT_NE(text.find(word), std::string::npos) << text;
  }
}

TEST(SpecJson, DoesNotWriteWhatCouldNotBeReadBack) {
  NetworkSpec spec = plane_and_time();
  spec.joint.amplitude = std::numeric_limits<double>::quiet_NaN();  // of a chain that the network does not even have
  EXPECT_THROW(to_json(spec), UsageError);
}

TEST(SpecJson, NamesTheNearestKeyForAnUnknownOne) {
  const std::string good = to_json(plane_and_time());
  EXPECT_EQ(json_refusal(replaced(good, "\"features\"", "\"featurs\"")),
            "network spec: unknown key \"featurs\"; did you mean 'features'?");
  EXPECT_EQ(json_refusal(replaced(good, "\"hidden_lengthscale\"", "\"hiden_lenghtscale\"")),
            "network spec: unknown key \"spatial.hiden_lenghtscale\"; did you mean 'hidden_lengthscale'?");
  EXPECT_EQ(json_refusal(replaced(good, "\"nu\"", "\"mu\"")),
            "network spec: unknown key \"spatial.covariance.mu\"; did you mean 'nu'?");
}

TEST(SpecJson, SaysWhatIsWrongWithAValue) {
  const std::string good = to_json(plane_and_time());
  const auto with = [&](const std::string& what, const std::string& by) { return json_refusal(replaced(good, what, by)); };
  EXPECT_EQ(with("\"features\":1000", "\"features\":\"many\""),
            "network spec: \"features\" must be a whole number but is \"many\"");
  EXPECT_EQ(with("\"features\":1000", "\"features\":10.5"), "network spec: \"features\" must be a whole number but is 10.5");
  EXPECT_EQ(with("\"features\":1000", "\"features\":99999999999"),
            "network spec: \"features\" must be a whole number of ordinary size but is 99999999999");
  EXPECT_EQ(with("\"features\":1000", "\"features\":-99999999999"),
            "network spec: \"features\" must be a whole number of ordinary size but is -99999999999");
  EXPECT_EQ(with("\"skip\":true", "\"skip\":1"), "network spec: \"skip\" must be true or false but is 1");
  EXPECT_EQ(with("\"space\":\"plane\"", "\"space\":\"torus\""),
            "network spec: \"space\" must be one of \"plane\", \"sphere\" but is \"torus\"");
  EXPECT_EQ(with("\"lengthscales\":[0.1]", "\"lengthscales\":0.1"),
            "network spec: \"spatial.lengthscales\" must be an array of numbers but is 0.1");
  EXPECT_EQ(with("\"lengthscales\":[0.1]", "\"lengthscales\":[0.1,null]"),
            "network spec: \"spatial.lengthscales[1]\" must be a number but is null");
  EXPECT_EQ(with("\"nu\":1.5", "\"nu\":[]"), "network spec: \"spatial.covariance.nu\" must be a number but is an array");
  EXPECT_EQ(with("\"outputs\":1,", ""), "network spec: key \"outputs\" is missing");
  EXPECT_EQ(with("\"outputs\":1,", "\"outputs\":0,"), "outputs is 0 but must be between 1 and 10000");
  EXPECT_EQ(json_refusal("[]"), "network spec: the text must be an object but is an array");
  EXPECT_EQ(json_refusal("{\"space\":"), "network spec: the text is not valid JSON, or is cut short");
  EXPECT_EQ(json_refusal("{\"space\":\"\xff\"}"), "network spec: the text is not valid JSON, or is cut short");
}

TEST(SpecJson, IsNotBroughtDownByDeepNestingOrLength) {
  const std::string good = to_json(plane_and_time());
  const std::size_t depth = 100'000;
  const std::string nested = std::string(depth, '[') + std::string(depth, ']');
  EXPECT_EQ(json_refusal(replaced(good, "\"features\":1000", "\"features\":" + nested)),
            "network spec: the JSON is nested more than 16 deep");
  EXPECT_EQ(json_refusal(std::string(300'000, ' ')), "network spec: the text has 300000 bytes but at most 262144 are read");
  const std::string long_key(100'000, 'x');
  EXPECT_LT(json_refusal(replaced(good, "\"features\"", "\"" + long_key + "\"")).size(), 300u);
}

}  // namespace
}  // namespace drift
