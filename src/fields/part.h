#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "drift/field_model.h"
#include "network/model_file.h"

namespace drift {

// A model is a list of parts: networks, a process, or another method. Every part answers the same questions, and predictions,
// derived layers, scores, files and words ask only those. The last part is the base: its variance, noise and lengthscales are the
// model's, and the parts before it are blended into its mean (fields/blended_point.h).

// Wanted besides the mean.
struct PartWants {
  bool spread = true;  // variances
  bool members = false;
  bool gradient = false;
  MatrixView<const float> around = {};  // [4 n, columns] further points, four to a row: two pairs
};

// At n rows, in the engine's units.
struct PartForecast {
  std::vector<double> mean = {};      // [n]
  std::vector<double> variance = {};  // [n] of the field, were the spread the same everywhere; empty: the part has none
  std::vector<double> local = {};     // [n] factor of the local spread on all variances, the noise's too; empty: one
  std::vector<double> noise = {};     // [n] variance of a new observation's error; empty: the model's, times the local factor
  std::vector<float> members = {};    // [n, members] if wanted
  std::vector<double> gradient = {};  // [n, columns] if wanted, of the mean

  // At `around`.
  std::vector<double> around_mean = {};          // [4 n]
  std::vector<double> difference_variance = {};  // [2 n] of the field's difference between a pair; empty: not known
};

// A part ready for many predictions, from several threads: the engine holds what it needs, and must outlive it.
struct PreparedPart {
  std::function<PartForecast(MatrixView<const float> rows, const PartWants& wants)> predict;
  std::size_t block = 4096;  // points between looks at the stop
};

struct PartWords {
  std::string kind, detail;     // "networks", "5"
  std::string noun;             // "a process"
  std::string text;             // as in "from 2,000 observations by ..."
  std::string references = {};  // publications
};

// It refers to its model.
struct Part {
  bool has_spread = true;
  std::string no_slope_sd = {};             // why slopes have no standard deviation, a clause; empty: they have one
  std::array<double, 2> lengthscales = {};  // along x and y (east and north), in the domain's unit; zeros: unknown
  double slope_share = 0.02;                // of a lengthscale: slopes are taken over so much
  std::optional<double> noise_sd = {};      // of an observation's own error, in the values' unit, if the part has settled it
  bool noise_at_points = false;             // its forecasts have the noise of each point
  std::function<PreparedPart(Engine& engine)> prepare = {};
  std::function<PartWords()> words = {};
  std::function<void(ModelParts& file)> save = {};  // besides the ensemble, which every file has; the model must outlive the file
};

std::vector<Part> parts_of(const FieldModel& model);
Part base_of(const FieldModel& model);

// The kinds of part, listed in part.cpp: a model's, if it has one, and from a file into a model whose domain, info and ensemble
// are known. Reading throws Error, beginning with the path; a file without such a part changes nothing.
std::optional<Part> networks_part(const FieldModel& model);
std::optional<Part> process_part(const FieldModel& model);
std::optional<Part> method_part(const FieldModel& model);
void read_networks(const SafetensorsFile& file, FieldModel& model);
void read_process(const SafetensorsFile& file, FieldModel& model);
void read_method(const SafetensorsFile& file, FieldModel& model);
void read_parts(const SafetensorsFile& file, FieldModel& model);

// Slopes towards east and north (x and y) and in time [n, 3] as gradients of the rows' coordinates [n, columns].
std::vector<double> along_coordinates(const Domain& domain, MatrixView<const float> rows, std::span<const double> slopes);

}  // namespace drift
