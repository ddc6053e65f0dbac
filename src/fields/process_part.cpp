// The process as a part. In a model file (network/model_file.h): metadata "process", its parameters and weight as JSON, and
// tensors
//   "process.coordinates" [places, columns], "process.value", ".error_variance", ".count", ".track", ".platform", ".group"
//   [places], and "process.surprise" [groups] where the spread is local
// Tracks are numbered anew, so that float32 holds them.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/json_fields.h"
#include "drift/error.h"
#include "fields/part.h"
#include "fields/process_info.h"
#include "process/process.h"

namespace drift {
namespace {

constexpr const char* kProcessKey = "process";
constexpr const char* kFormatWithProcess = "9";
constexpr std::size_t kMostNeighbours = 1000;

// Contents of the metadata.
struct ProcessHeader {
  ProcessParameters parameters;
  std::size_t places = 0, neighbours = 0, far_neighbours = 0;
  double spread_prior = 0.0;  // 0: the spread is the same everywhere, and there is no tensor of surprises
  BlendWeight weight;
};

}  // namespace

template <class Self>
requires ConstOrNot<Self, ProcessParameters>
void visit_fields(Self& self, auto&& field) {
  field("nu", self.nu);
  field("length_x", self.length_x);
  field("length_y", self.length_y);
  field("shear", self.shear);
  field("time_length", self.time_length);
  field("drift_x", self.drift_x);
  field("drift_y", self.drift_y);
  field("sill", self.sill);
  field("fine_share", self.second_share);  // names of before there were lasting structures
  field("fine_length", self.second_length);
  field("second_time", if_any(self.second_time));
  field("nugget", self.nugget);
  field("track_variance", self.track_variance);
  field("track_time", self.track_time);
  field("platform_variance", self.platform_variance);
  field("trend", self.trend);
  field("by_latitude", self.by_latitude);
}

template <class Self>
requires ConstOrNot<Self, ProcessHeader>
void visit_fields(Self& self, auto&& field) {
  field("parameters", self.parameters);
  field("places", self.places);
  field("neighbours", self.neighbours);
  field("far_neighbours", if_any(self.far_neighbours));
  field("spread_prior", self.spread_prior);
  field("weight", self.weight.process);
  field("reach", self.weight.reach);
}

namespace {

void check(const SafetensorsFile& file, const ProcessHeader& header) {
  const ProcessParameters& p = header.parameters;
  const auto positive = [](double number) { return number > 0.0 && std::isfinite(number); };
  const auto not_negative = [](double number) { return number >= 0.0 && std::isfinite(number); };
  const bool good = (p.nu == 0.5 || p.nu == 1.5 || p.nu == 2.5) && positive(p.length_x) && positive(p.length_y) &&
                    std::isfinite(p.shear) && not_negative(p.second_share) && p.second_share <= 1.0 &&
                    positive(p.second_length) && not_negative(p.second_time) && positive(p.time_length) &&
                    std::isfinite(p.drift_x) && std::isfinite(p.drift_y) && positive(p.sill) && positive(p.nugget) &&
                    not_negative(p.track_variance) && positive(p.track_time) && not_negative(p.platform_variance) &&
                    std::all_of(p.by_latitude.begin(), p.by_latitude.end(), [](double c) { return std::abs(c) <= 10.0; }) &&
                    header.places > 0 && header.neighbours > 0 && header.neighbours <= kMostNeighbours &&
                    header.far_neighbours <= kMostNeighbours && header.weight.process >= 0.0 && header.weight.process <= 1.0 &&
                    positive(header.weight.reach) && not_negative(header.spread_prior);
  if (!good) file.fail("is corrupt: a parameter of its process is out of range");
}

std::vector<float> read_numbers(const SafetensorsFile& file, const std::string& name, std::vector<std::size_t> shape) {
  std::size_t count = 1;
  for (const std::size_t extent : shape) count *= extent;
  file.expect(name, shape);  // before anything large is allocated
  std::vector<float> numbers(count);
  file.read(name, shape, numbers);
  if (!std::all_of(numbers.begin(), numbers.end(), [](float number) { return std::isfinite(number); })) {
    file.fail(fmt::format("is corrupt: an entry of tensor \"{}\" is not a finite number", name));
  }
  return numbers;
}

std::vector<std::int32_t> read_whole(const SafetensorsFile& file, const std::string& name, std::size_t places) {
  std::vector<std::int32_t> out;
  for (const float number : read_numbers(file, name, {places})) {
    if (number < -1.0F || number > 16777216.0F || number != std::floor(number)) {
      file.fail(fmt::format("is corrupt: an entry of tensor \"{}\" is {}, not a whole number", name, number));
    }
    out.push_back(static_cast<std::int32_t>(number));
  }
  return out;
}

Places read_places(const SafetensorsFile& file, Space space, std::size_t count, std::size_t columns) {
  Places places;
  places.columns = columns;
  places.coordinates = read_numbers(file, "process.coordinates", {count, columns});
  places.value = read_numbers(file, "process.value", {count});
  places.error_variance = read_numbers(file, "process.error_variance", {count});
  places.count = read_numbers(file, "process.count", {count});
  places.track = read_whole(file, "process.track", count);
  places.platform = read_whole(file, "process.platform", count);
  places.group = read_whole(file, "process.group", count);
  places.fold.assign(count, kNoFold);
  for (std::size_t i = 0; i < count; ++i) {
    const float* row = places.rows().row(i);
    const bool on_sphere = space != Space::sphere || std::abs(std::hypot(row[0], row[1], row[2]) - 1.0F) < 1e-3F;
    const std::int32_t last = i == 0 ? -1 : places.group[i - 1];
    const bool in_order = places.group[i] == last + 1 || (i > 0 && places.group[i] == last);
    if (!on_sphere || !in_order || places.count[i] < 1.0F || places.error_variance[i] < 0.0F) {
      file.fail(fmt::format("is corrupt: place {} of its process is out of range", i));
    }
  }
  return places;
}

void add_process(ModelParts& file, const Process& process, const BlendWeight& weight) {
  const Places& places = process.places();
  const LocalSpread& spread = process.local_spread();
  const std::size_t n = places.size();
  const ProcessHeader header = {process.parameters(), n, process.neighbours(), process.far_neighbours(), spread.prior, weight};
  std::map<std::int32_t, std::int32_t> numbers;
  std::vector<float> track;
  for (const std::int32_t old : places.track) {
    if (old >= 0) numbers.emplace(old, static_cast<std::int32_t>(numbers.size()));
    track.push_back(old >= 0 ? static_cast<float>(numbers.at(old)) : -1.0F);
  }
  const auto as_floats = [](const auto& whole) { return std::vector<float>(whole.begin(), whole.end()); };
  file.metadata.insert_or_assign(kProcessKey, write_json(header).dump());
  file.metadata.insert_or_assign("format_version", std::string(kFormatWithProcess));
  file.tensors.push_back({"process.coordinates", {n, places.columns}, places.coordinates});
  file.tensors.push_back({"process.value", {n}, places.value});
  file.tensors.push_back({"process.error_variance", {n}, places.error_variance});
  file.tensors.push_back({"process.count", {n}, places.count});
  file.tensors.push_back({"process.track", {n}, file.keep(std::move(track))});
  file.tensors.push_back({"process.platform", {n}, file.keep(as_floats(places.platform))});
  file.tensors.push_back({"process.group", {n}, file.keep(as_floats(places.group))});
  if (spread.prior > 0.0) file.tensors.push_back({"process.surprise", {spread.surprise.size()}, spread.surprise});
}

PartForecast krige(const FieldModel& model, MatrixView<const float> rows, const PartWants& wants, int threads) {
  const std::size_t n = rows.rows;
  PartForecast out = {.mean = std::vector<double>(n), .variance = std::vector<double>(n), .local = std::vector<double>(n)};
  out.around_mean.resize(wants.around.rows), out.difference_variance.resize(wants.around.rows / 2);
  std::vector<double> slopes(wants.gradient ? 3 * n : 0);
  model.process->predict(rows,
                         {.mean = out.mean,
                          .variance = out.variance,
                          .gradient = wants.gradient ? MatrixView<double>(slopes.data(), n, 3) : MatrixView<double>(),
                          .local = out.local,
                          .around = wants.around,
                          .around_mean = out.around_mean,
                          .difference_variance = out.difference_variance},
                         threads);
  if (wants.gradient) out.gradient = along_coordinates(model.domain, rows, slopes);
  return out;
}

}  // namespace

// Slopes are taken over a quarter of a lengthscale: it takes 3 % from a wave two lengthscales long and more from what no track
// resolves.
std::optional<Part> process_part(const FieldModel& model) {
  if (!model.process) return std::nullopt;
  const ProcessInfo info = info_of(*model.process, model.domain);
  Part part = {.lengthscales = {info.lengthscale_x, info.lengthscale_y},
               .slope_share = 0.25,
               .noise_sd = sd_from_engine(model.domain, std::sqrt(model.process->observation_variance())),
               .noise_at_points = true};
  part.prepare = [&model](Engine& engine) -> PreparedPart {
    return {[&model, threads = engine.host_threads()](MatrixView<const float> rows, const PartWants& wants) {
      return krige(model, rows, wants, threads);
    }};
  };
  part.words = []() -> PartWords { return {"process", "kriging in a moving frame", "a process", "kriging in a moving frame"}; };
  part.save = [&model](ModelParts& file) { add_process(file, *model.process, model.weight); };
  return part;
}

void read_process(const SafetensorsFile& file, FieldModel& model) {
  const auto found = file.metadata().find(kProcessKey);
  if (found == file.metadata().end()) return;
  ProcessHeader header;
  try {
    header = JsonReader("process").parse<ProcessHeader>(found->second);
  } catch (const Error& error) {
    file.fail(fmt::format("is corrupt: {}", error.what()));
  }
  check(file, header);
  const Space space = space_of(model.domain);
  Places places = read_places(file, space, header.places, static_cast<std::size_t>(model.ensemble.spec.coordinates()));
  const std::size_t groups = static_cast<std::size_t>(places.group.back()) + 1;
  auto process = std::make_shared<Process>(space, model.info.has_time, header.parameters, std::move(places), header.neighbours,
                                           header.far_neighbours);
  if (header.spread_prior > 0.0)
    process->set_local_spread({read_numbers(file, "process.surprise", {groups}), header.spread_prior});
  model.process = std::move(process);
  model.weight = header.weight;
}

}  // namespace drift
