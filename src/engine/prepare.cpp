#include "drift/engine.h"
#include "engine/shapes.h"

namespace drift {
namespace {

// On the CPU the weights are where they are used, and reading them once more costs nothing.
class CallingPredictor final : public Predictor {
 public:
  CallingPredictor(Engine& engine, const Ensemble& ensemble) : engine_(engine), ensemble_(ensemble) {}

  void predict(MatrixView<const float> coordinates, const PredictionViews& out) override {
    engine_.predict(ensemble_, coordinates, out);
  }
  void input_gradient(MatrixView<const float> coordinates, MatrixView<float> gradient) override {
    engine_.input_gradient(ensemble_, coordinates, gradient);
  }
  void head_inputs(MatrixView<const float> coordinates, MatrixView<float> inputs) override {
    const std::size_t each = check_all_head_shapes(ensemble_, coordinates, inputs);
    for (std::size_t member = 0; member < ensemble_.members.size(); ++member)
      engine_.head_inputs(ensemble_, member, coordinates, inputs.middle_cols(member * each, each));
  }

 private:
  Engine& engine_;
  const Ensemble& ensemble_;
};

}  // namespace

std::unique_ptr<Predictor> Engine::prepare(const Ensemble& ensemble) {
  check_ensemble(ensemble);
  return std::make_unique<CallingPredictor>(*this, ensemble);
}

}  // namespace drift
