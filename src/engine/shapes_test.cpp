// Every public entry of an engine refuses an ensemble whose arrays do not match its spec, before a kernel reads them.

#include "engine/shapes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "drift/error.h"
#include "engine/cpu/engine_testing.h"
#include "network/plan.h"

namespace drift {
namespace {

using namespace engine_testing;

struct Entry {
  const char* name;
  std::function<void(Ensemble&, const TrainingSet&)> call;
};

// advance, advance_together, predict, input_gradient and head_inputs of the CPU's engine, on three points.
std::vector<Entry> entries() {
  const auto advance = [](Ensemble& ensemble, const TrainingSet& data) {
    TrainingState state;
    make_cpu_engine({.threads = 1})->advance(ensemble, state, data, default_recipe(), 1, {});
  };
  const auto together = [](Ensemble& ensemble, const TrainingSet& data) {
    const std::vector<TrainingRun> runs = {{.ensemble = &ensemble, .state = nullptr, .recipe = default_recipe()}};
    const auto failures = make_cpu_engine({.threads = 1})->advance_together(runs, data, 1, {});
    if (!failures.front().empty()) throw UsageError(failures.front());
  };
  const auto predict = [](Ensemble& ensemble, const TrainingSet& data) {
    std::vector<float> mean(data.values.rows);
    make_cpu_engine({.threads = 1})
        ->predict(ensemble, data.coordinates, {.mean = {mean.data(), mean.size(), 1}, .variance = {}, .members = {}});
  };
  const auto gradient = [](Ensemble& ensemble, const TrainingSet& data) {
    std::vector<float> slopes(data.coordinates.rows * data.coordinates.cols);
    make_cpu_engine({.threads = 1})
        ->input_gradient(ensemble, data.coordinates, {slopes.data(), data.coordinates.rows, data.coordinates.cols});
  };
  const auto head = [](Ensemble& ensemble, const TrainingSet& data) {
    const std::size_t columns = head_input_count(ensemble.spec);
    std::vector<float> inputs(data.coordinates.rows * columns);
    make_cpu_engine({.threads = 1})->head_inputs(ensemble, 0, data.coordinates, {inputs.data(), data.coordinates.rows, columns});
  };
  return {{"advance", advance},
          {"advance_together", together},
          {"predict", predict},
          {"input_gradient", gradient},
          {"head_inputs", head}};
}

std::string refusal(const Entry& entry, Ensemble& ensemble, const TrainingSet& data) {
  try {
    entry.call(ensemble, data);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

struct Fault {
  const char* words;
  std::function<void(Ensemble&)> spoil;
};

TEST(EngineEntries, RefuseAnEnsembleWhoseArraysDoNotMatchItsSpec) {
  const Observations observations(Space::plane, 3);
  const std::size_t hyper = make_plan(small_spec()).hyper;
  const std::vector<Fault> faults = {
      {"member 1 of the ensemble has 0 fixed numbers", [](Ensemble& e) { e.members[1].fixed.clear(); }},
      {"fixed numbers but its spec wants", [](Ensemble& e) { e.spec.features *= 64; }},
      {"parameters but its spec wants", [](Ensemble& e) { e.members[0].parameters.pop_back(); }},
      {"parameters but its spec wants", [](Ensemble& e) { e.members[0].parameters.push_back(0.0F); }},
      {"log sds of its weights", [](Ensemble& e) { e.members[1].log_sd.assign(e.members[1].parameters.size(), -3.0F); }},
      {"log sds of its weights but its spec wants",
       [](Ensemble& e) {
         for (Member& member : e.members) member.log_sd.assign(5, -3.0F);
       }},
      {"must be finite and greater than 0", [&](Ensemble& e) { e.members[0].parameters[hyper] = std::nanf(""); }},
      {"must be finite and greater than 0", [&](Ensemble& e) { e.members[0].parameters[hyper] = 1e9F; }},
      {"must be finite and greater than 0", [&](Ensemble& e) { e.members[0].parameters[hyper] = -1e9F; }},
      {"no members", [](Ensemble& e) { e.members.clear(); }},
  };
  const Ensemble sound = draw_ensemble(small_spec(), 1, 2);
  for (const Entry& entry : entries()) {
    Ensemble copy = sound;
    EXPECT_EQ(refusal(entry, copy, observations.set()), "") << entry.name;
    for (const Fault& fault : faults) {
      Ensemble spoilt = sound;
      fault.spoil(spoilt);
      EXPECT_NE(refusal(entry, spoilt, observations.set()).find(fault.words), std::string::npos) << entry.name << fault.words;
    }
  }
}

TEST(EngineEntries, RefuseADegreeBeyondTheSpectrum) {
  const Observations observations(Space::sphere, 3);
  NetworkSpec spec = small_spec(Space::sphere);
  spec.coupling = Coupling::additive;  // whose features of the sphere have degrees
  for (const float degree : {-1.0F, 1e6F, std::nanf("")}) {
    Ensemble ensemble = draw_ensemble(spec, 1, 2);
    ensemble.members[0].fixed[make_plan(spec).layers.front().degrees] = degree;
    for (const Entry& entry : entries()) {
      EXPECT_NE(refusal(entry, ensemble, observations.set()).find("degree"), std::string::npos) << entry.name << degree;
    }
  }
}

TEST(EngineEntries, PredictOnTheSphereAtUnitVectorsAlone) {
  Observations observations(Space::sphere, 3);
  Ensemble ensemble = draw_ensemble(small_spec(Space::sphere), 1, 2);
  const auto at = [&](float x, float y, float z) {
    std::copy_n(std::vector<float>{x, y, z}.begin(), 3, observations.coordinates.begin() + 4);
    std::string all;
    for (const Entry& entry : entries()) {
      if (std::string(entry.name).starts_with("advance")) continue;  // train() looks at its observations once
      const std::string why = refusal(entry, ensemble, observations.set());
      all += why.empty() ? "" : why.substr(0, why.find(" (")) + why.substr(why.find(" has length"), 20) + ";";
    }
    return all;
  };
  EXPECT_EQ(at(0.6F, 0.0F, 0.8F), "");
  EXPECT_EQ(at(0.6003F, 0.0F, 0.8F), "");  // more than float32's rounding
  const std::string refused = at(5.0F, 5.0F, 5.0F);
  EXPECT_EQ(refused, "point 1 has length 8.660254;point 1 has length 8.660254;point 1 has length 8.660254;");
  EXPECT_NE(at(0.0F, 0.0F, 0.0F), "");
  EXPECT_NE(at(std::nanf(""), 0.0F, 1.0F), "");
}

TEST(EngineEntries, RefuseABatchTooLargeToCount) {
  const Observations observations(Space::plane, 3);
  Ensemble ensemble = draw_ensemble(small_spec(), 1, 1);
  TrainingState state;
  Recipe recipe = default_recipe();
  recipe.batch = std::numeric_limits<std::size_t>::max() - 7;  // once it never returned
  EXPECT_THROW(make_cpu_engine({.threads = 1})->advance(ensemble, state, observations.set(), recipe, 1, {}), UsageError);
  recipe.batch = std::size_t{1} << 30;  // all observations
  recipe.epochs = 1.0;
  EXPECT_NO_THROW(make_cpu_engine({.threads = 1})->advance(ensemble, state, observations.set(), recipe, 1, {}));
}

}  // namespace
}  // namespace drift
