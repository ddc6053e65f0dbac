#include "gp/svgp_train.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "drift/error.h"
#include "gp/svgp_adam.h"
#include "gp/svgp_natural.h"
#include "math/eigen_index.h"
#include "train/batches.h"
#include "train/schedule.h"

namespace drift::gp {
namespace {

// Fills the observations of a step.
class Batches {
 public:
  Batches(const GpData& data, const SvgpSettings& settings, double mean)
      : data_(data), order_(size(), std::min(settings.batch, size()), settings.seed, 0), mean_(mean) {}

  std::uint64_t steps_per_epoch() const { return order_.steps_per_epoch(); }
  void fill(std::uint64_t step, DeepBatch& batch) {
    const std::size_t n = order_.size_of(step);
    rows_.resize(n);
    order_.indices(step, 0, rows_);
    batch.x.resize(data_.points.rows(), index(n));
    batch.y.resize(index(n));
    batch.known.resize(data_.known_variance.size() > 0 ? index(n) : 0);
    batch.all_over_batch = static_cast<double>(size()) / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) {
      const Eigen::Index row = index(rows_[i]);
      batch.x.col(index(i)) = data_.points.col(row);
      batch.y[index(i)] = data_.values[row] - mean_;
      if (batch.known.size() > 0) batch.known[index(i)] = data_.known_variance[row];
    }
  }

 private:
  std::size_t size() const { return static_cast<std::size_t>(data_.size()); }

  const GpData& data_;
  BatchOrder order_;
  std::vector<std::uint64_t> rows_;
  double mean_;
};

template <class Real>
class Trainer {
 public:
  Trainer(const GpData& data, const SvgpSettings& settings, const Control& control, SvgpStart<Real>& start)
      : settings_(settings),
        control_(control),
        start_(start),
        observations_(static_cast<std::size_t>(data.size())),
        steps_(svgp_steps(settings, observations_)),
        batches_(data, settings, start.mean),
        model_(start.spec, settings.threads),
        gradient_(start.parameters.zero()),
        adam_(start.spec, start.parameters,
              {.last_posterior = !settings.natural.value_or(false),
               .inducing = settings.train_inducing,
               .threads = settings.threads}) {
    if (settings.natural.value_or(false)) natural_.emplace(start.parameters.layers.back());
    recipe_.schedule = settings.cosine ? Schedule::cosine : Schedule::constant;
    exact_ = settings.batch >= observations_ && settings.likelihood.kind == LikelihoodKind::gaussian && settings.layers == 1;
  }

  SvgpOutcome run() {
    SvgpOutcome out;
    if (!natural_) warm_start();
    const std::uint64_t tail = steps_ - (steps_ + 9) / 10;
    double bounds = 0.0;
    for (std::uint64_t step = 0; step < steps_; ++step) {
      control_.check_stop("training was stopped");
      const double bound = take(step);
      if (step >= tail) bounds += bound / static_cast<double>(steps_ - tail);
      out.steps = step + 1;
      if (control_.progress && (step % 8 == 7 || step + 1 == steps_)) {
        control_.progress(static_cast<double>(step + 1) / static_cast<double>(steps_),
                          fmt::format("step {} of {}, bound {:.3f}", step + 1, steps_, bound));
      }
    }
    if (natural_) settle();
    out.bound_per_observation = bounds;
    out.jitter = model_.jitter();
    return out;
  }

 private:
  // Adam begins at the posterior of the first batches, which natural steps give: from the prior it takes a thousand steps to come
  // as far. Step k of K with the share 1/k makes the precision I + H_1 + ... + H_K, H_k that of batch k.
  void warm_start() {
    const std::uint64_t batches = std::min<std::uint64_t>(kWarmBatches, batches_.steps_per_epoch());
    NaturalSteps steps(start_.parameters.layers.back());
    for (std::uint64_t k = 0; k < batches; ++k) {
      control_.check_stop("training was stopped");
      batches_.fill(k, batch_);
      batch_.all_over_batch = static_cast<double>(batches);
      evaluate(k, settings_.rate, {});
      steps.template step<Real>(model_.last_layer(), 1.0 / static_cast<double>(k + 1), start_.parameters.layers.back(),
                                settings_.threads, at(k));
    }
  }

  // The loss; errors say at which step.
  double evaluate(std::uint64_t step, double rate, const typename DeepModel<Real>::Wanted& wanted) {
    try {
      return model_.evaluate(start_.parameters, batch_, {settings_.seed, static_cast<std::uint32_t>(step)}, wanted);
    } catch (const Error& error) {
      throw Error(fmt::format("{} with rate {:g}: {}", at(step), rate, error.what()));
    }
  }

  // One step; returns the bound an observation before it.
  double take(std::uint64_t step) {
    const double multiplier = rate_multiplier(recipe_, step, steps_);
    batches_.fill(step, batch_);
    const double loss =
        evaluate(step, settings_.rate * multiplier, {.gradient = &gradient_, .last_root = !natural_, .quick = !natural_});
    const double rate = settings_.rate * multiplier;
    for (std::size_t k = 0; k < settings_.lengthscales.size(); ++k) {
      KernelParameters& kernel = gradient_.layers.front().kernel;
      if (settings_.lengthscales[k] && index(k) + 1 < kernel.size()) kernel[index(k)] = 0.0;
    }
    if (!std::isfinite(loss) || !gradient_.layers.front().kernel.allFinite() || !std::isfinite(gradient_.log_scale)) {
      throw Error(fmt::format("method {}: the loss is not finite at step {} with rate {:g}; ask for a lower rate, {}:rate={:g}",
                              settings_.method, step + 1, rate, settings_.method, settings_.rate / 10.0));
    }
    if (natural_) {
      // A few small steps first, as Salimbeni et al. advise where one step is not the answer.
      const double size =
          exact_ ? 1.0 : settings_.natural_rate * multiplier * std::min(1.0, (static_cast<double>(step) + 1.0) / 10.0);
      natural_->template step<Real>(model_.last_layer(), std::max(size, 1e-4), start_.parameters.layers.back(), settings_.threads,
                                    at(step));
    }
    adam_.step(gradient_, rate, start_.parameters);
    return -loss / static_cast<double>(observations_);
  }

  // The posterior's optimum for the final hyperparameters, if a step sees everything.
  void settle() {
    if (!exact_) return;
    evaluate(steps_, 0.0, {});
    natural_->template step<Real>(model_.last_layer(), 1.0, start_.parameters.layers.back(), settings_.threads, at(steps_));
  }

  std::string at(std::uint64_t step) const { return fmt::format("method {}, step {}", settings_.method, step + 1); }

  static constexpr std::uint64_t kWarmBatches = 16;

  const SvgpSettings& settings_;
  const Control& control_;
  SvgpStart<Real>& start_;
  std::size_t observations_;
  std::uint64_t steps_;
  Batches batches_;
  DeepModel<Real> model_;
  DeepParameters<Real> gradient_;
  DeepAdam<Real> adam_;
  std::optional<NaturalSteps> natural_;
  Recipe recipe_;
  DeepBatch batch_;
  bool exact_ = false;
};

}  // namespace

std::uint64_t svgp_steps(const SvgpSettings& settings, std::size_t observations) {
  const BatchOrder order(observations, std::min(settings.batch, observations), settings.seed, 0);
  const double asked = std::ceil(settings.epochs * static_cast<double>(order.steps_per_epoch()));
  return std::max(static_cast<std::uint64_t>(asked), static_cast<std::uint64_t>(settings.least_steps));
}

template <class Real>
SvgpOutcome train_svgp(const GpData& data, const SvgpSettings& settings, const Control& control, SvgpStart<Real>& start) {
  return Trainer<Real>(data, settings, control, start).run();
}

template SvgpOutcome train_svgp(const GpData&, const SvgpSettings&, const Control&, SvgpStart<float>&);
template SvgpOutcome train_svgp(const GpData&, const SvgpSettings&, const Control&, SvgpStart<double>&);

}  // namespace drift::gp
