#include <cmath>
#include <span>

#include "drift/engine.h"
#include "drift/field_model.h"
#include "drift/predict.h"
#include "target.h"

namespace drift::fuzz {
namespace {

const FuzzTarget target("model", [](std::string_view input) {
  const InputFile input_file(as_safetensors(input));
  const FieldModel model = load_field_model(input_file.path());
  require(!model.ensemble.members.empty() || model.process || model.method, "a loaded model predicts");
  if (!model.domain.crs.empty()) return;  // a plane may lie elsewhere
  static const auto engine = make_cpu_engine({.threads = 1});
  const double x = 5.0, y = 7.0, time_days = 20000.0;
  const std::span<const double> time = model.info.has_time ? std::span(&time_days, 1) : std::span<const double>();
  const FieldPrediction said = predict_field(*engine, model, {&x, 1}, {&y, 1}, time);
  for (const std::vector<double>* numbers : {&said.mean, &said.sd_epistemic, &said.sd_total}) {
    for (const double number : *numbers) require(std::isfinite(number), "a prediction is a number");
  }
});

}  // namespace
}  // namespace drift::fuzz
