#include <fmt/format.h>

#include "drift/grouped.h"
#include "fields/model_words.h"
#include "fields/part.h"
#include "uncertainty/last_layer_file.h"

namespace drift {
namespace {

constexpr const char* kNetworksPaper =
    "W. Chen, A. Mahmood, M. Tsamados, S. Takao, Deep random features for scalable interpolation of spatiotemporal data, "
    "ICLR 2025";

// Points predicted between looks at the stop: enough to fill a GPU; half a second of ten networks of the default size on two
// cores.
constexpr std::size_t kGpuBlock = 65536, kCpuBlock = 8192;

// The variance of a difference is that between the members' differences, as the field's is that between the members, and that
// within them where the last layers have a posterior.
void add_around(Predictor& networks, const FieldModel& model, int threads, const PartWants& wants, PartForecast& out) {
  const MatrixView<const float> around = wants.around;
  const std::size_t members = model.ensemble.members.size();
  const bool between = wants.spread && members > 1;
  std::vector<float> mean(around.rows), each(between ? around.rows * members : 0);
  PredictionViews views;
  views.mean = MatrixView<float>(mean.data(), around.rows, 1);
  if (between) views.members = MatrixView<float>(each.data(), around.rows, members);
  networks.predict(around, views);
  out.around_mean.assign(mean.begin(), mean.end());
  out.difference_variance.assign(wants.spread ? around.rows / 2 : 0, 0.0);
  for (std::size_t pair = 0; between && pair < around.rows / 2; ++pair) {
    const double difference = out.around_mean[2 * pair + 1] - out.around_mean[2 * pair];
    double square = 0.0;
    for (std::size_t m = 0; m < members; ++m) {
      const double own =
          static_cast<double>(each[(2 * pair + 1) * members + m]) - static_cast<double>(each[2 * pair * members + m]);
      square += (own - difference) * (own - difference);
    }
    out.difference_variance[pair] = square / static_cast<double>(members - 1);
  }
  if (wants.spread && !model.last_layers.empty())
    add_last_layer_differences(networks, model.ensemble, model.last_layers, around, out.difference_variance, threads);
}

PartForecast predict_networks(Predictor& networks, const FieldModel& model, int threads, MatrixView<const float> rows,
                              const PartWants& wants) {
  const std::size_t n = rows.rows, members = model.ensemble.members.size();
  PartForecast out;
  std::vector<float> mean(n), variance(wants.spread ? n : 0), gradient(wants.gradient ? n * rows.cols : 0);
  out.members.resize(wants.members ? n * members : 0);
  PredictionViews views;
  views.mean = MatrixView<float>(mean.data(), n, 1);
  if (wants.spread) views.variance = MatrixView<float>(variance.data(), n, 1);
  if (wants.members) views.members = MatrixView<float>(out.members.data(), n, members);
  if (model.last_layers.empty())
    networks.predict(rows, views);
  else
    predict_last_layer(networks, model.ensemble, model.last_layers, rows, views, threads);
  if (wants.gradient) networks.input_gradient(rows, MatrixView<float>(gradient.data(), n, rows.cols));
  out.mean.assign(mean.begin(), mean.end());
  out.variance.assign(variance.begin(), variance.end());
  out.gradient.assign(gradient.begin(), gradient.end());
  if (!wants.around.empty()) add_around(networks, model, threads, wants, out);
  return out;
}

// A draw of weights or of a dropout mask is a member.
std::string networks_text(const FieldModel& model) {
  const std::size_t members = model.ensemble.members.size();
  const char* networks = members == 1 ? "deep random-feature network" : "deep random-feature networks";
  const auto settings = settings_of(model);
  switch (settings ? settings->uncertainty.method : UncertaintyMethod::ensemble) {
    case UncertaintyMethod::variational:
      return fmt::format("{} draws from deep random-feature networks with variational weights", members);
    case UncertaintyMethod::dropout:
      return fmt::format("{} draws from deep random-feature networks with dropout", members);
    case UncertaintyMethod::last_layer:
      return fmt::format("{} {} with last-layer posteriors", members, networks);
    case UncertaintyMethod::ensemble:
      break;
  }
  return members == 1 ? fmt::format("a {}", networks) : fmt::format("an ensemble of {} {}", members, networks);
}

}  // namespace

// The mean is smooth, but finer than the first layer's lengthscale: slopes over a fiftieth of it are nearly those of the mean.
std::optional<Part> networks_part(const FieldModel& model) {
  const std::size_t members = model.ensemble.members.size();
  if (members == 0) return std::nullopt;
  Part part = {.has_spread = members > 1 || !model.last_layers.empty()};
  if (!part.has_spread) part.no_slope_sd = "the model is a single network, which has no spread";
  const std::vector<double>& lengths = model.ensemble.spec.spatial.lengthscales;
  if (!lengths.empty()) part.lengthscales.fill(lengthscale_from_engine(model.domain, lengths[0]));
  part.prepare = [&model, spread = part.has_spread](Engine& engine) -> PreparedPart {
    const std::shared_ptr<Predictor> networks = engine.prepare(model.ensemble);
    return {[&model, &engine, networks, spread](MatrixView<const float> rows, PartWants wants) {
              wants.spread = wants.spread && spread;
              return predict_networks(*networks, model, engine.host_threads(), rows, wants);
            },
            engine.name() == "cuda" ? kGpuBlock : kCpuBlock};
  };
  part.words = [&model, members]() -> PartWords {
    return {"networks", grouped(static_cast<double>(members)), "networks", networks_text(model), kNetworksPaper};
  };
  part.save = [&model](ModelParts& file) {
    if (!model.last_layers.empty()) add_last_layers(file, model.ensemble, model.last_layers);
  };
  return part;
}

void read_networks(const SafetensorsFile& file, FieldModel& model) {
  if (!model.ensemble.members.empty()) model.last_layers = load_last_layers(file.path(), model.ensemble);
}

}  // namespace drift
