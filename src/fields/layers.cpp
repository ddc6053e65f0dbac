#include "fields/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "drift/error.h"
#include "fields/gradient_scale.h"
#include "fields/variable_name.h"

namespace drift {

int digits_worth_keeping(const Standard& value) {
  constexpr double kFinest = 5.0, kLeast = 7.0, kMost = 17.0;
  const double most = std::abs(value.mean) + 4.0 * value.sd;
  return static_cast<int>(std::clamp(kFinest + std::ceil(std::log10(most / value.sd)), kLeast, kMost));
}

LayerMaker::LayerMaker(const FieldModel& model, const PredictWants& wants)
    : unit_(model.info.value.unit),
      digits_(digits_worth_keeping(model.domain.value)),
      members_(wants.members ? model.ensemble.members.size() : 0) {
  if (wants.gradient_scale && !wants.gradient)
    throw UsageError("a gradient scale goes with a gradient: ask for the gradient too, or leave its scale out");
  const VariableInfo& value = model.info.value;
  const std::string name = variable_name(model.info.value);
  const std::string what = value.long_name.empty() ? name : value.long_name;
  FieldLayer mean = {.info = {name, what, value.standard_name, unit_}, .digits = digits_};
  const bool interval = model.info.is_conformal() && model.info.conformal[2] > 0.0;
  if (model.has_spread()) mean.ancillary = {name + "_uncertainty", name + "_total_uncertainty"};
  if (interval) mean.ancillary.insert(mean.ancillary.end(), {name + "_lower90", name + "_upper90"});
  add(mean, [](const FieldPrediction& p, std::size_t i, double) { return p.mean[i]; });
  if (model.has_spread()) {
    add({.info = {name + "_uncertainty", what + ": standard deviation of the field",
                  value.standard_name.empty() ? "" : value.standard_name + " standard_error", unit_},
         .comment = "Epistemic: uncertainty of the field itself, without the noise of observations."},
        [](const FieldPrediction& p, std::size_t i, double) { return p.sd_epistemic[i]; });
    add({.info = {name + "_total_uncertainty", what + ": standard deviation of a new observation", "", unit_},
         .comment = fmt::format("The field's standard deviation with an observation's noise of {:g} added in quadrature.",
                                model.info.noise_sd)},
        [](const FieldPrediction& p, std::size_t i, double) { return p.sd_total[i]; });
  }
  if (interval) add_interval(model, name, what);
  if (wants.gradient) add_gradient(model, gradient_scale(model, wants), name, what);
  if (members_ > 0)
    layers_.push_back({.info = {name + "_members", what + ": the ensemble's members", value.standard_name, unit_},
                       .members = members_,
                       .digits = digits_});
}

void LayerMaker::each(const FieldPrediction& prediction, std::span<const double> lat_deg, const Take& take) const {
  const std::size_t n = prediction.mean.size();
  std::vector<double> numbers(n);
  for (std::size_t layer = 0; layer < sources_.size(); ++layer) {
    for (std::size_t i = 0; i < n; ++i) numbers[i] = sources_[layer](prediction, i, lat_deg[i]);
    take(layer, 0, numbers);
  }
  for (std::size_t member = 0; member < members_; ++member)
    take(sources_.size(), member, std::span(prediction.members).subspan(member * n, n));
}

void LayerMaker::add(FieldLayer layer, Source source) {
  layers_.push_back(std::move(layer));
  sources_.push_back(std::move(source));
}

// The 90 % interval that held on forecasts of unseen observations.
void LayerMaker::add_interval(const FieldModel& model, const std::string& name, const std::string& what) {
  const double factor = model.info.conformal[2];
  const std::string comment =
      "Split conformal: nine of ten new observations lie between lower90 and upper90 if they are like those held out.";
  add({.info = {name + "_lower90", what + ": lower end of the 90 % interval of a new observation", "", unit_},
       .comment = comment,
       .digits = digits_},
      [factor](const FieldPrediction& p, std::size_t i, double) { return p.mean[i] - factor * p.sd_total[i]; });
  add({.info = {name + "_upper90", what + ": upper end of the 90 % interval of a new observation", "", unit_},
       .comment = comment,
       .digits = digits_},
      [factor](const FieldPrediction& p, std::size_t i, double) { return p.mean[i] + factor * p.sd_total[i]; });
}

void LayerMaker::add_slope(FieldLayer layer, Source slope, Source sd) {
  const VariableInfo info = layer.info;
  if (!over_.empty()) layer.comment = fmt::format("From the difference of the field {}, half of it to either side.", over_);
  if (has_slope_sd_) layer.ancillary = {info.name + "_uncertainty"};
  add(std::move(layer), std::move(slope));
  if (!has_slope_sd_) return;
  add({.info = {info.name + "_uncertainty", info.long_name + ": standard deviation",
                info.standard_name.empty() ? "" : info.standard_name + " standard_error", info.unit},
       .comment = fmt::format("Of the field's own difference {}; over less it is larger.", over_)},
      std::move(sd));
}

void LayerMaker::add_gradient(const FieldModel& model, double scale, const std::string& name, const std::string& what) {
  const bool plane = model.domain.kind == DomainKind::xy;
  const std::string per = unit_.empty() ? std::string() : fmt::format("{} {}-1", unit_, model.domain.unit);
  if (scale > 0.0) over_ = fmt::format("over {:.3g} {}", scale, model.domain.unit);
  has_slope_sd_ = has_slope_sd(model, scale);
  lacks_.sd = why_no_slope_sd(model, scale);
  add_slope(
      {.info = {name + (plane ? "_gradient_x" : "_gradient_east"), what + (plane ? ": gradient along x" : ": eastward gradient"),
                "", per}},
      [](const FieldPrediction& p, std::size_t i, double) { return p.gradient[i].east; },
      [](const FieldPrediction& p, std::size_t i, double) { return p.gradient_sd[i].east; });
  add_slope(
      {.info = {name + (plane ? "_gradient_y" : "_gradient_north"),
                what + (plane ? ": gradient along y" : ": northward gradient"), "", per}},
      [](const FieldPrediction& p, std::size_t i, double) { return p.gradient[i].north; },
      [](const FieldPrediction& p, std::size_t i, double) { return p.gradient_sd[i].north; });
  if (plane) {
    lacks_.currents = "the model is defined on plain x and y, without latitudes";
    return;
  }
  add_currents(sea_surface_height(model.info.value));
}

void LayerMaker::add_currents(const SeaSurfaceHeight& height) {
  lacks_.currents = height.why_none;
  if (height.kind == SeaSurfaceHeight::Kind::none) return;
  const bool anomaly = height.kind == SeaSurfaceHeight::Kind::anomaly;
  const auto layer = [&](bool east) -> FieldLayer {
    const char* const direction = east ? "eastward" : "northward";
    return {.info = {fmt::format("{}gos{}", east ? 'u' : 'v', anomaly ? "a" : ""),
                     anomaly ? fmt::format("Geostrophic velocity anomaly, {}", direction)
                             : fmt::format("Absolute geostrophic velocity, {}", direction),
                     fmt::format("surface_geostrophic_{}_sea_water_velocity{}", direction,
                                 anomaly ? "_assuming_mean_sea_level_for_geoid" : ""),
                     "m s-1"}};
  };
  const auto velocity = [factor = height.metres](const GroundGradient& slope, double lat_deg) {
    return geostrophic_velocity(lat_deg, factor * slope.east, factor * slope.north);
  };
  add_slope(
      layer(true), [velocity](const FieldPrediction& p, std::size_t i, double lat) { return velocity(p.gradient[i], lat).east; },
      [velocity](const FieldPrediction& p, std::size_t i, double lat) { return std::abs(velocity(p.gradient_sd[i], lat).east); });
  add_slope(
      layer(false),
      [velocity](const FieldPrediction& p, std::size_t i, double lat) { return velocity(p.gradient[i], lat).north; },
      [velocity](const FieldPrediction& p, std::size_t i, double lat) {
        return std::abs(velocity(p.gradient_sd[i], lat).north);
      });
}

}  // namespace drift
