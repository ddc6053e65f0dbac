// Every method, saved and restored: the same predictions to the last bit, and a clear error for a state that was tampered with.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <optional>

#include "baselines/gp_adapter_testing.h"
#include "drift/error.h"
#include "drift/state.h"

namespace drift {
namespace {

constexpr std::array kTexts = {
    "exact:subset=100",
    "nngp:subset=100",
    "nngp:subset=100,nu=0.5,mean=local,neighbours=12",
    "experts:spacing=3500,inducing=0,max_observations=60,nu=1.5",
    "experts:spacing=4000,inducing=40",
    "svgp:inducing=30,steps=20,epochs=1",
    "dgp:inducing=20,steps=10,epochs=1,width=2,draws=4",
    "mlp:width=16,layers=2,steps=20,epochs=1,members=2",
    "ffn:width=16,layers=1,steps=20,epochs=1,members=2",
    "siren:width=16,layers=2,steps=20,epochs=1,members=2",
    "cnp:width=16,depth=2,steps=20,epochs=1",
};

// With folds and known errors, so that all of a state is there.
struct Observed {
  SimulatedField field;
  std::vector<float> errors;
  std::vector<std::uint8_t> folds;

  explicit Observed(bool sphere) : field(sphere, 700, 50) {
    for (std::size_t i = 0; i < 700; ++i) {
      errors.push_back(0.05F + 0.001F * static_cast<float>(i % 5));
      folds.push_back(static_cast<std::uint8_t>(i % 3));
    }
  }
  InterpolatorData data() const {
    InterpolatorData out = field.data();
    out.noise_sd = errors;
    out.fold = folds;
    out.fold_count = 3;
    return out;
  }
};

State saved(const Interpolator& method) {
  State state;
  method.save(state);
  return state;
}

TEST(SavedMethods, PredictTheSameBits) {
  for (const bool sphere : {false, true}) {
    const Observed observed(sphere);
    const Domain domain = observed.field.domain();
    for (const char* text : kTexts) {
      SCOPED_TRACE(std::string(text) + (sphere ? " on the sphere" : " on the plane"));
      const auto method = make_interpolator(text, domain);
      method->fit(observed.data(), {.seed = 5, .threads = 2});
      State state = saved(*method);
      // As a file does it: metadata as text.
      State read;
      for (const auto& [name, tensor] : state.tensors()) read.put(name, tensor.shape, tensor.numbers);
      read.set_metadata(state.metadata());
      const auto back = load_interpolator(text, read, domain);
      const Forecast before(*method, observed.field.points()), after(*back, observed.field.points());
      EXPECT_EQ(before.mean, after.mean);
      EXPECT_EQ(before.sd_epistemic, after.sd_epistemic);
      EXPECT_EQ(before.sd_total, after.sd_total);
      EXPECT_EQ(method->findings(domain), back->findings(domain));
      EXPECT_EQ(method->lengthscales(), back->lengthscales());
      EXPECT_EQ(saved(*back).metadata(), state.metadata());
    }
  }
}

// What is left of a state after `spoil` has been at every tensor and number of it in turn is refused with an Error: no crash, no
// exception of another kind, no method that seems whole.
void expect_refused(const char* text, const State& state, const Domain& domain,
                    const std::function<std::optional<State::Tensor>(State::Tensor)>& spoil) {
  for (const auto& [spoilt, unused] : state.tensors()) {
    State read;
    for (const auto& [name, tensor] : state.tensors()) {
      const auto kept = name == spoilt ? spoil(tensor) : std::optional(tensor);
      if (kept) read.put(name, kept->shape, kept->numbers);
    }
    read.set_metadata(state.metadata());
    if (spoilt == "known_variance" && !read.has("known_variance")) continue;  // a method without known errors
    EXPECT_THROW(load_interpolator(text, read, domain), Error) << text << ": " << spoilt;
  }
}

TEST(SavedMethods, RefuseStatesThatAreNotTheirs) {
  const Observed observed(true);
  const Domain domain = observed.field.domain();
  for (const char* text : kTexts) {
    const auto method = make_interpolator(text, domain);
    method->fit(observed.data(), {.seed = 5, .threads = 2});
    const State state = saved(*method);
    expect_refused(text, state, domain, [](const State::Tensor&) { return std::nullopt; });
    expect_refused(text, state, domain, [](const State::Tensor& tensor) {  // cut to nothing
      State::Tensor out = tensor;
      out.shape.assign(out.shape.size(), 0);
      std::visit([](auto& numbers) { numbers.clear(); }, out.numbers);
      return std::optional(out);
    });
    expect_refused(text, state, domain, [](State::Tensor tensor) {  // another type
      const std::size_t count = std::visit([](const auto& numbers) { return numbers.size(); }, tensor.numbers);
      if (std::holds_alternative<std::vector<float>>(tensor.numbers))
        tensor.numbers = std::vector<double>(count);
      else
        tensor.numbers = std::vector<float>(count);
      return std::optional(tensor);
    });
    State empty;
    EXPECT_THROW(load_interpolator(text, empty, domain), Error) << text;
    EXPECT_THROW(load_interpolator(text, state, observed.field.sphere ? xy_domain("km") : sphere_domain()), Error) << text;
  }
}

TEST(SavedMethods, RefuseNumbersThatCannotBe) {
  const Observed observed(true);
  const Domain domain = observed.field.domain();
  const auto fitted = [&](const char* text) {
    const auto method = make_interpolator(text, domain);
    method->fit(observed.data(), {.seed = 5, .threads = 2});
    return saved(*method);
  };
  const auto refused = [&](const char* text, State state, const std::string& number, double value) {
    state.put(number, value);
    EXPECT_THROW(load_interpolator(text, state, domain), Error) << text << ": " << number << " = " << value;
  };
  const State nngp = fitted("nngp:subset=100");
  refused("nngp", nngp, "neighbours", 1e18);
  refused("nngp", nngp, "neighbours", 0.0);
  refused("nngp", nngp, "nu", 1.7);
  refused("nngp", nngp, "parameters.noise", 1e6);
  refused("nngp", nngp, "seed", -1.0);
  const State experts = fitted("experts:spacing=4000,inducing=40");
  refused("experts:spacing=4000,inducing=40", experts, "spacing", 0.0);
  State outside;
  for (const auto& [name, tensor] : experts.tensors()) {
    State::Tensor changed = tensor;
    if (name == "rows") std::get<std::vector<std::int64_t>>(changed.numbers)[3] = 700;
    outside.put(name, changed.shape, changed.numbers);
  }
  outside.set_metadata(experts.metadata());
  EXPECT_THROW(load_interpolator("experts:spacing=4000,inducing=40", outside, domain), Error);
}

TEST(State, RefusesWhatDoesNotFit) {
  State state;
  EXPECT_THROW(state.put("a", {2, 3}, std::vector<float>(5)), Error);
  EXPECT_THROW(state.put("a", {1}, std::vector<double>{NAN}), Error);
  EXPECT_THROW(state.put("a", INFINITY), Error);
  state.put("a", {2, 3}, std::vector<float>(6));
  EXPECT_THROW(state.put("a", {1}, std::vector<float>(1)), Error);
  EXPECT_EQ(state.tensor<float>("a", {State::kAny, 3}).size(), 6u);
  EXPECT_THROW(state.tensor<float>("a", {3, 2}), Error);
  EXPECT_THROW(state.tensor<double>("a", {2, 3}), Error);
  EXPECT_THROW(state.tensor<float>("b", {2, 3}), Error);
  for (const char* text : {"", "{}", "[1]", R"({"numbers": {"x": "y"}, "texts": {}})", R"({"numbers": {}, "texts": {"x": 1}})"})
    EXPECT_THROW(state.set_metadata(text), Error) << text;
  state.set_metadata(R"({"numbers": {"x": 0.1}, "texts": {"y": "z"}})");
  EXPECT_EQ(state.number("x", 0.0, 1.0), 0.1);
  EXPECT_THROW(state.count("x", 0, 1), Error);
  EXPECT_EQ(state.text("y"), "z");
}

}  // namespace
}  // namespace drift
