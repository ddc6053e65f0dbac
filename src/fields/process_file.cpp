#include "fields/process_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/json_fields.h"
#include "drift/error.h"

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

}  // namespace

ProcessTensors::ProcessTensors(const Process& process, const BlendWeight& weight)
    : places_(process.places()), spread_(process.local_spread()) {
  const ProcessHeader header = {process.parameters(),         places_.size(), process.neighbours(), process.far_neighbours(),
                                process.local_spread().prior, weight};
  metadata_ = write_json(header).dump();
  std::map<std::int32_t, std::int32_t> numbers;
  for (const std::int32_t track : places_.track) {
    if (track >= 0) numbers.emplace(track, static_cast<std::int32_t>(numbers.size()));
    track_.push_back(track >= 0 ? static_cast<float>(numbers.at(track)) : -1.0F);
  }
  platform_.assign(places_.platform.begin(), places_.platform.end());
  group_.assign(places_.group.begin(), places_.group.end());
}

void ProcessTensors::add_to(ModelParts& parts) const {
  const std::size_t n = places_.size();
  parts.metadata.insert_or_assign(kProcessKey, metadata_);
  parts.metadata.insert_or_assign("format_version", std::string(kFormatWithProcess));
  parts.tensors.push_back({"process.coordinates", {n, places_.columns}, places_.coordinates});
  parts.tensors.push_back({"process.value", {n}, places_.value});
  parts.tensors.push_back({"process.error_variance", {n}, places_.error_variance});
  parts.tensors.push_back({"process.count", {n}, places_.count});
  parts.tensors.push_back({"process.track", {n}, track_});
  parts.tensors.push_back({"process.platform", {n}, platform_});
  parts.tensors.push_back({"process.group", {n}, group_});
  if (spread_.prior > 0.0) parts.tensors.push_back({"process.surprise", {spread_.surprise.size()}, spread_.surprise});
}

StoredProcess read_process(const SafetensorsFile& file, Space space, bool has_time, std::size_t columns) {
  const auto found = file.metadata().find(kProcessKey);
  if (found == file.metadata().end()) return {};
  ProcessHeader header;
  try {
    header = JsonReader("process").parse<ProcessHeader>(found->second);
  } catch (const Error& error) {
    file.fail(fmt::format("is corrupt: {}", error.what()));
  }
  check(file, header);
  Places places = read_places(file, space, header.places, columns);
  const std::size_t groups = static_cast<std::size_t>(places.group.back()) + 1;
  auto process =
      std::make_shared<Process>(space, has_time, header.parameters, std::move(places), header.neighbours, header.far_neighbours);
  if (header.spread_prior > 0.0)
    process->set_local_spread({read_numbers(file, "process.surprise", {groups}), header.spread_prior});
  return {std::move(process), header.weight};
}

}  // namespace drift
