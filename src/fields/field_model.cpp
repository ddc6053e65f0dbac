#include "drift/field_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/json_fields.h"
#include "core/sha256.h"
#include "drift/error.h"
#include "fields/base64.h"
#include "fields/part.h"
#include "fields/sources.h"
#include "fields/training_sample.h"
#include "geo/number_limits.h"

namespace drift {
namespace {

constexpr const char* kDomainKey = "domain";
constexpr const char* kInfoKey = "field";
constexpr const char* kCellsKey = "cells";
constexpr const char* kSampleKey = "training_sample";  // base64; models of earlier versions have none
constexpr const char* kBitsKey = "cell_bits";          // base64; models of earlier versions have them in "cells"
constexpr const char* kSourcesKey = "sources";         // as sha256sum writes it; models of earlier versions have none
constexpr const char* kSettingsKey = "settings";
constexpr const char* kScoresKey = "scores";

// Cells in a file. The bits are text of their own, as they may be longer than JSON that is read in one piece.
struct StoredCells {
  int columns = 0, rows = 0;
  std::array<double, 4> extent = {};
  std::string bits;
};

}  // namespace

template <class Self>
requires ConstOrNot<Self, VariableInfo>
void visit_fields(Self& self, auto&& field) {
  field("name", self.name);
  field("long_name", self.long_name);
  field("standard_name", self.standard_name);
  field("unit", self.unit);
}

template <class Self>
requires ConstOrNot<Self, FieldInfo>
void visit_fields(Self& self, auto&& field) {
  field("value", self.value);
  field("has_time", self.has_time);
  field("calendar_time", self.calendar_time);
  field("first_time_days", self.first_time_days);
  field("last_time_days", self.last_time_days);
  field("extent", self.extent);
  field("noise_sd", self.noise_sd);
  field("spread_scale", self.spread_scale);
  field("conformal", self.conformal);
  field("training", self.training);
  field("provenance", if_any(self.provenance));
}

template <class Self>
requires ConstOrNot<Self, StoredCells>
void visit_fields(Self& self, auto&& field) {
  field("columns", self.columns);
  field("rows", self.rows);
  field("extent", self.extent);
  field("bits", self.bits);
}

namespace {

DataCells restored(const StoredCells& stored, const std::string& bits) {
  DataCells cells = {stored.columns, stored.rows, stored.extent, from_base64(stored.bits.empty() ? bits : stored.bits)};
  constexpr int kMost = 1 << 15;
  if (cells.columns < 1 || cells.rows < 1 || cells.columns > kMost || cells.rows > kMost ||
      cells.bits.size() != (static_cast<std::size_t>(cells.columns) * static_cast<std::size_t>(cells.rows) + 7) / 8) {
    throw Error(fmt::format("{} bytes of cells but {} by {} of them", cells.bits.size(), cells.columns, cells.rows));
  }
  return cells;
}

void check_info(const FieldInfo& info) {
  const auto limited = [](const char* name, double number, double least) {
    if (!(number >= least && number <= kLargestNumber)) throw Error(fmt::format("field: {} is {}", name, number));
  };
  limited("noise_sd", info.noise_sd, 0.0);
  limited("spread_scale", info.spread_scale, 1.0 / kLargestNumber);
  for (const double factor : info.conformal) limited("conformal", factor, -1.0);
  if (info.first_time_days > info.last_time_days) throw Error("field: the last time is before the first");
}

}  // namespace

void save_field_model(const std::filesystem::path& path, const FieldModel& model) {
  const StoredCells cells = {model.cells.columns, model.cells.rows, model.cells.extent, {}};
  const Metadata metadata = {{kDomainKey, to_json(model.domain)},
                             {kInfoKey, write_json(model.info).dump()},
                             {kCellsKey, write_json(cells).dump()},
                             {kBitsKey, to_base64(model.cells.bits)},
                             {kSourcesKey, sources_text(model.sources)},
                             {kSettingsKey, model.settings},
                             {kScoresKey, model.scores},
                             {kSampleKey, sample_text(model.training_sample)}};
  const auto parts = parts_of(model);
  if (parts.empty()) throw UsageError("the model cannot be saved: it has neither networks nor a process nor another method");
  ModelParts file = model_parts(model.ensemble, metadata);
  for (const Part& part : parts) part.save(file);
  write_safetensors(path, file.tensors, file.metadata);
}

FieldModel load_field_model(const std::filesystem::path& path) {
  Model stored = load_model(path);
  const auto entry = [&](const char* key) -> const std::string& {
    const auto found = stored.metadata.find(key);
    if (found == stored.metadata.end()) {
      throw Error(fmt::format("{}: holds networks but no '{}', so it is not a complete model; was it written by drift fit?",
                              path.string(), key));
    }
    return found->second;
  };
  FieldModel model;
  try {
    model.domain = domain_from_json(entry(kDomainKey));
    model.info = JsonReader("field").parse<FieldInfo>(entry(kInfoKey));
    const auto bits = stored.metadata.find(kBitsKey);
    model.cells = restored(JsonReader("cells").parse<StoredCells>(entry(kCellsKey)),
                           bits == stored.metadata.end() ? std::string() : bits->second);
    if (const auto sample = stored.metadata.find(kSampleKey); sample != stored.metadata.end())
      model.training_sample = sample_from_text(sample->second);
    if (const auto sources = stored.metadata.find(kSourcesKey); sources != stored.metadata.end())
      model.sources = sources_from_text(sources->second);
    check_info(model.info);
  } catch (const Error& error) {
    const std::string what = error.what();
    throw Error(what.starts_with(path.string()) ? what : fmt::format("{}: is corrupt: {}", path.string(), what));
  }
  model.settings = entry(kSettingsKey);
  model.scores = entry(kScoresKey);
  model.ensemble = std::move(stored.ensemble);
  const int coordinates = space_coordinates(model.domain) + (model.info.has_time ? 1 : 0);
  if (model.ensemble.spec.coordinates() != coordinates || model.ensemble.spec.outputs != 1) {
    throw Error(fmt::format("{}: is corrupt: its domain gives {} coordinates but its networks take {}", path.string(),
                            coordinates, model.ensemble.spec.coordinates()));
  }
  const SafetensorsFile file(path);
  read_parts(file, model);
  if (parts_of(model).empty()) file.fail("is corrupt: it holds neither networks nor a process nor another method");
  if (model.method && parts_of(model).size() > 1) file.fail("is corrupt: it holds another method beside networks or a process");
  model.sha256 = sha256_of_file(path);
  return model;
}

}  // namespace drift
