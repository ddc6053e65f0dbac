// Another method as the only part. In a model file (network/model_file.h): metadata "method", its text and the numbers and texts
// of its state (drift/state.h) as JSON, and the state's tensors as "method.<name>", of F32, F64 or I64.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/json_fields.h"
#include "drift/error.h"
#include "drift/interpolator.h"
#include "drift/state.h"
#include "fields/part.h"
#include "process/place_finder.h"

namespace drift {
namespace {

constexpr const char* kMethodKey = "method";
constexpr const char* kPrefix = "method.";
constexpr const char* kFormatWithMethod = "6";

// Contents of the metadata.
struct MethodHeader {
  std::string text;   // the method's
  std::string state;  // its numbers and texts, JSON
  bool own_noise = false;
};

}  // namespace

template <class Self>
requires ConstOrNot<Self, MethodHeader>
void visit_fields(Self& self, auto&& field) {
  field("text", self.text);
  field("state", self.state);
  field("own_noise", self.own_noise);
}

namespace {

template <class Number>
std::vector<Number> read_numbers(const SafetensorsFile& file, const std::string& name, const TensorEntry& entry) {
  // As many as the file has bytes for: its header was checked against its size.
  std::vector<Number> numbers((entry.end - entry.begin) / sizeof(Number));
  file.read(name, entry.shape, std::span<Number>(numbers));
  return numbers;
}

State::Numbers numbers_of(const SafetensorsFile& file, const std::string& name, const TensorEntry& entry) {
  if (entry.dtype == "F32") return read_numbers<float>(file, name, entry);
  if (entry.dtype == "F64") return read_numbers<double>(file, name, entry);
  if (entry.dtype == "I64") return read_numbers<std::int64_t>(file, name, entry);
  file.fail(fmt::format("is corrupt: tensor \"{}\" is of {}", name, entry.dtype));
}

void add_method(ModelParts& file, const FieldModel& model) {
  State made;
  model.method->save(made);
  const State& state = file.keep(std::move(made));
  file.metadata.insert_or_assign(kMethodKey,
                                 write_json(MethodHeader{model.method_text, state.metadata(), model.method_noise}).dump());
  file.metadata.insert_or_assign("format_version", std::string(kFormatWithMethod));
  for (const auto& [name, tensor] : state.tensors()) {
    TensorSource source = {kPrefix + name, tensor.shape, std::span<const float>()};
    std::visit(
        [&](const auto& numbers) {
          source.data = std::span<const typename std::remove_cvref_t<decltype(numbers)>::value_type>(numbers);
        },
        tensor.numbers);
    file.tensors.push_back(std::move(source));
  }
}

// By central differences over a hundredth of the method's lengths each way (where it has none, of lengths that a map of the
// domain may show), so that it is the slope of the very mean that maps show.
std::vector<double> method_gradient(const FieldModel& model, MatrixView<const float> rows, const Workers& workers) {
  constexpr double kStep = 0.01, kSpaceLength = 0.1, kTimeLength = 0.5;
  const std::vector<double> lengths = model.method->lengthscales();
  const double space = kStep * (lengths.empty() ? kSpaceLength : std::clamp(lengths[0], 0.01, 10.0));
  const double time = kStep * (lengths.size() < 2 ? kTimeLength : std::clamp(lengths[1], 0.01, 10.0));
  const std::size_t n = rows.rows, directions = model.info.has_time ? 3 : 2;
  std::vector<float> points;
  std::vector<double> apart;
  for (std::size_t i = 0; i < n; ++i) {
    const LocalFrame frame(space_of(model.domain), model.info.has_time, rows.row(i), rows.cols);
    for (std::size_t d = 0; d < directions; ++d) {
      const double step = d < 2 ? space : time;
      const std::vector<float> up = frame.moved(d, step), down = frame.moved(d, -step);
      apart.push_back(frame(up.data()).at(d) - frame(down.data()).at(d));  // as single precision has it
      points.insert(points.end(), up.begin(), up.end());
      points.insert(points.end(), down.begin(), down.end());
    }
  }
  std::vector<double> mean(2 * n * directions), slopes(3 * n);
  model.method->predict({points.data(), mean.size(), rows.cols}, {.mean = mean}, workers);
  for (std::size_t k = 0; k < apart.size(); ++k)
    slopes[k / directions * 3 + k % directions] = (mean[2 * k] - mean[2 * k + 1]) / apart[k];
  return along_coordinates(model.domain, rows, slopes);
}

PartForecast forecast_by_method(const FieldModel& model, MatrixView<const float> rows, const PartWants& wants,
                                const Workers& workers) {
  const std::size_t n = rows.rows;
  std::vector<double> sd(n), total(n);
  PartForecast out = {.mean = std::vector<double>(n)};
  model.method->predict(rows, {.mean = out.mean, .sd_epistemic = sd, .sd_total = total}, workers);
  for (std::size_t i = 0; i < n; ++i) {
    out.variance.push_back(sd[i] * sd[i]);
    if (model.method_noise) out.noise.push_back(std::max(0.0, total[i] * total[i] - sd[i] * sd[i]));
  }
  out.around_mean.resize(wants.around.rows);
  if (!wants.around.empty()) model.method->predict(wants.around, {.mean = out.around_mean}, workers);
  if (wants.gradient) out.gradient = method_gradient(model, rows, workers);
  return out;
}

const MethodInfo& info_of(const std::string& method_text) {
  const std::string name = method_text.substr(0, method_text.find(':'));
  for (const MethodInfo& info : method_infos()) {
    if (info.name == name) return info;
  }
  throw Error(fmt::format("the model's method '{}' is not known", method_text));
}

}  // namespace

std::optional<Part> method_part(const FieldModel& model) {
  if (!model.method) return std::nullopt;
  Part part = {.no_slope_sd = fmt::format(
                   "the method {} gives its errors at single points, not how they vary together from one point to the next",
                   model.method_text),
               .noise_at_points = model.method_noise};
  const std::vector<double> lengths = model.method->lengthscales();
  if (!lengths.empty()) part.lengthscales.fill(lengthscale_from_engine(model.domain, lengths[0]));
  part.prepare = [&model](Engine& engine) -> PreparedPart {
    const Workers workers = {.threads = engine.host_threads(), .engine = &engine};
    return {[&model, workers](MatrixView<const float> rows, const PartWants& wants) {
      return forecast_by_method(model, rows, wants, workers);
    }};
  };
  part.words = [&model]() -> PartWords {
    const MethodInfo& info = info_of(model.method_text);
    return {"method", model.method_text, "the method " + model.method_text,
            fmt::format("{} ({}): {}", info.title, model.method_text, info.summary), info.source};
  };
  part.save = [&model](ModelParts& file) { add_method(file, model); };
  return part;
}

void read_method(const SafetensorsFile& file, FieldModel& model) {
  const auto found = file.metadata().find(kMethodKey);
  if (found == file.metadata().end()) return;
  try {
    const MethodHeader header = JsonReader("method").parse<MethodHeader>(found->second);
    State state;
    state.set_metadata(header.state);
    for (const auto& [name, entry] : file.tensors()) {
      if (name.starts_with(kPrefix))
        state.put(name.substr(std::string_view(kPrefix).size()), entry.shape, numbers_of(file, name, entry));
    }
    model.method = load_interpolator(header.text, state, model.domain);
    model.method_text = header.text;
    model.method_noise = header.own_noise;
  } catch (const std::exception& error) {  // a UsageError of a text that cannot be is the file's fault here
    const std::string what = error.what();
    if (what.starts_with(file.path().string())) throw Error(what);
    file.fail(fmt::format("is corrupt: {}", what));
  }
}

}  // namespace drift
