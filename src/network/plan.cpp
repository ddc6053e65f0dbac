#include "network/plan.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "drift/error.h"
#include "features/structured.h"

namespace drift {
namespace {

static_assert(sizeof(std::size_t) >= 8, "sizes of networks are counted in 64 bits");

constexpr std::size_t kAlignment = 16;                    // floats: one cache line
constexpr std::size_t kMaxFloats = std::size_t{1} << 33;  // 32 GiB: no flat array of one member grows beyond this

// Offsets of the tensors in one flat array.
class Layout {
 public:
  explicit Layout(const NetworkSpec& spec) : spec_(spec) {}

  // Returns the offset.
  std::size_t add(std::string name, std::vector<std::size_t> shape) {
    std::size_t size = 1;
    for (const std::size_t extent : shape) {
      if (extent != 0 && size > kMaxFloats / extent) refuse(name);
      size *= extent;
    }
    size = (size + kAlignment - 1) / kAlignment * kAlignment;
    if (size > kMaxFloats - end_) refuse(name);
    const std::size_t offset = end_;
    tensors_.push_back({std::move(name), std::move(shape), offset});
    end_ += size;
    return offset;
  }

  std::vector<TensorInfo> take_tensors() { return std::move(tensors_); }
  std::size_t size() const { return end_; }

 private:
  [[noreturn]] void refuse(const std::string& name) const {
    throw UsageError(fmt::format(
        "the network is too large: with {} a member needs more than 32 GiB; lower features ({}), {} ({}) or the layers", name,
        spec_.features, spec_.dense ? "width" : "bottleneck", spec_.dense ? spec_.dense->width : spec_.bottleneck));
  }

  const NetworkSpec& spec_;
  std::vector<TensorInfo> tensors_;
  std::size_t end_ = 0;
};

// Indices of a chain's hyperparameters, kNone where no layer uses them.
struct ChainHyperparameters {
  int lengthscale = kNone;               // of its first coordinate
  int hidden_lengthscale_first = kNone;  // the joint chain's first layer takes in more entries than its later ones
  int hidden_lengthscale = kNone;
  int amplitude = kNone;
  int hidden_amplitude = kNone;
};

const char* chain_name(ChainId chain) {
  switch (chain) {
    case ChainId::spatial:
      return "spatial";
    case ChainId::temporal:
      return "temporal";
    case ChainId::joint:
      return "joint";
    case ChainId::dense:
      break;
  }
  return "dense";
}

class PlanBuilder {
 public:
  explicit PlanBuilder(const NetworkSpec& spec) : spec_(spec), fixed_(spec), parameters_(spec) {}

  Plan build() {
    plan_.spec = spec_;
    plan_.coordinates = spec_.coordinates();
    if (spec_.dense) {
      add_dense_network(*spec_.dense);
    } else {
      add_chains();
    }
    plan_.hyper = plan_.hyperparameters.empty() ? parameters_.size() : parameters_.add("hyper", {plan_.hyperparameters.size()});
    plan_.fixed_size = fixed_.size();
    plan_.parameter_size = parameters_.size();
    plan_.fixed_tensors = fixed_.take_tensors();
    plan_.parameter_tensors = parameters_.take_tensors();
    return std::move(plan_);
  }

 private:
  void add_chains() {
    for (const ChainId chain : {ChainId::spatial, ChainId::temporal, ChainId::joint}) add_hyperparameters(chain);
    map_coordinates();
    for (const ChainId chain : {ChainId::spatial, ChainId::temporal, ChainId::joint}) {
      if (chain == ChainId::temporal && product()) continue;
      for (int position = 0; position < spec_of(chain).layers; ++position) add_layer(chain, position);
    }
    add_head();
  }

  void add_dense_network(const DenseSpec& dense) {
    plan_.unit_vector = on_sphere();
    plan_.coordinate_lengthscale.assign(static_cast<std::size_t>(plan_.coordinates), kNone);
    if (dense.input == DenseInput::fourier) add_fourier_hyperparameters();
    for (int position = 0; position <= dense.layers; ++position) add_dense_layer(dense, position);
  }

  // One lengthscale for each coordinate or for all spatial ones, one for time, one amplitude.
  void add_fourier_hyperparameters() {
    const bool space = spec_.spatial.layers > 0;
    if (space) {
      const int first = static_cast<int>(plan_.hyperparameters.size());
      const std::vector<double>& lengthscales = spec_.spatial.lengthscales;
      for (std::size_t i = 0; i < lengthscales.size(); ++i) {
        add_hyperparameter(fmt::format("spatial.lengthscale.{}", i), lengthscales[i], true);
      }
      for (int i = 0; i < spec_.space_coordinates; ++i) {
        plan_.coordinate_lengthscale[static_cast<std::size_t>(i)] = first + (lengthscales.size() == 1 ? 0 : i);
      }
    }
    if (spec_.temporal.layers > 0) {
      plan_.coordinate_lengthscale.back() = add_hyperparameter("temporal.lengthscale.0", spec_.temporal.lengthscales[0], true);
    }
    hyper_of(ChainId::spatial).amplitude = add_hyperparameter("spatial.amplitude", spec_.spatial.amplitude, false);
  }

  void add_dense_layer(const DenseSpec& dense, int position) {
    const bool first = position == 0, last = position == dense.layers;
    LayerPlan layer = {};
    layer.name = fmt::format("dense.{}", position);
    layer.chain = ChainId::dense;
    layer.position = position;
    layer.amplitude = layer.sphere_amplitude = layer.sphere_lengthscale = layer.hidden_lengthscale = kNone;
    layer.covariance = layer.sphere_covariance = spec_.spatial.covariance;
    if (first) {
      const bool fourier = dense.input == DenseInput::fourier;
      layer.kind = fourier ? FeatureKind::random : FeatureKind::coordinates;
      layer.coordinates = plan_.coordinates;
      layer.features = fourier ? spec_.features : plan_.coordinates;
      layer.amplitude = hyper_of(ChainId::spatial).amplitude;
    } else {
      const bool sine = dense.activation == Activation::sine;
      layer.kind = sine ? FeatureKind::sine : FeatureKind::relu;
      layer.hidden = layer.features = dense.width;
      if (sine) layer.omega = position == 1 ? dense.omega : dense.hidden_omega;
    }
    layer.outputs = last ? spec_.outputs : dense.width;
    layer.next = last ? kOutput : position + 1;
    layer.bias = dense.bias;
    layer.divisor = 1.0;
    add_tensors(layer);
    plan_.layers.push_back(std::move(layer));
  }

  const ChainSpec& spec_of(ChainId chain) const {
    return chain == ChainId::spatial ? spec_.spatial : chain == ChainId::temporal ? spec_.temporal : spec_.joint;
  }
  ChainHyperparameters& hyper_of(ChainId chain) { return hyper_[static_cast<std::size_t>(chain)]; }
  bool product() const { return spec_.coupling == Coupling::product; }
  bool two_chains() const { return spec_.spatial.layers > 0 && spec_.temporal.layers > 0 && !product(); }
  bool on_sphere() const { return spec_.space == Space::sphere && spec_.spatial.layers > 0; }

  int add_hyperparameter(std::string name, double value, bool is_lengthscale) {
    plan_.hyperparameters.push_back({std::move(name), value, is_lengthscale});
    return static_cast<int>(plan_.hyperparameters.size()) - 1;
  }

  // Bottleneck entries that a layer takes in.
  int hidden_entries(ChainId chain, int position) const {
    if (position > 0) return spec_.bottleneck;
    return chain == ChainId::joint ? 2 * spec_.bottleneck : 0;
  }

  int add_hidden_lengthscale(const std::string& name, ChainId chain, int position) {
    const double unit = std::sqrt(static_cast<double>(hidden_entries(chain, position)));
    return add_hyperparameter(name + ".hidden_lengthscale", spec_of(chain).hidden_lengthscale * unit, true);
  }

  void add_hyperparameters(ChainId chain) {
    const ChainSpec& settings = spec_of(chain);
    if (settings.layers == 0) return;
    const std::string name = chain_name(chain);
    ChainHyperparameters& hyper = hyper_of(chain);
    if (chain == ChainId::joint) {
      hyper.hidden_lengthscale_first = add_hidden_lengthscale("joint.0", chain, 0);
    } else {
      hyper.lengthscale = static_cast<int>(plan_.hyperparameters.size());
      for (std::size_t i = 0; i < settings.lengthscales.size(); ++i) {
        add_hyperparameter(fmt::format("{}.lengthscale.{}", name, i), settings.lengthscales[i], true);
      }
    }
    if (chain == ChainId::temporal && product()) return;
    if (settings.layers > 1) hyper.hidden_lengthscale = add_hidden_lengthscale(name, chain, 1);
    if (chain != ChainId::joint) hyper.amplitude = add_hyperparameter(name + ".amplitude", settings.amplitude, false);
    if (chain == ChainId::joint || settings.layers > 1) {
      hyper.hidden_amplitude = add_hyperparameter(name + ".hidden_amplitude", settings.hidden_amplitude, false);
    }
  }

  void map_coordinates() {
    plan_.coordinate_lengthscale.assign(static_cast<std::size_t>(plan_.coordinates), kNone);
    plan_.unit_vector = on_sphere() && product();
    if (spec_.spatial.layers > 0 && (!on_sphere() || plan_.unit_vector)) {
      const bool one_for_all = spec_.spatial.lengthscales.size() == 1;
      for (int i = 0; i < spec_.space_coordinates; ++i) {
        plan_.coordinate_lengthscale[static_cast<std::size_t>(i)] =
            hyper_of(ChainId::spatial).lengthscale + (one_for_all ? 0 : i);
      }
    }
    if (spec_.temporal.layers > 0) plan_.coordinate_lengthscale.back() = hyper_of(ChainId::temporal).lengthscale;
  }

  // The coordinates that the layer sees, through its Fourier features and through its spherical ones.
  void connect_coordinates(LayerPlan& layer) const {
    const bool sees_coordinates = spec_.skip || layer.hidden == 0;
    if (!sees_coordinates) return;
    const bool sees_space = layer.chain != ChainId::temporal;
    const bool sees_time = layer.chain != ChainId::spatial || product();
    const int space_coordinates = spec_.spatial.layers > 0 ? spec_.space_coordinates : 0;
    layer.sphere = sees_space && on_sphere() && !product();
    layer.separate_time = product();
    const bool sees_plane = sees_space && !layer.sphere;
    layer.first_coordinate = sees_plane ? 0 : sees_time ? space_coordinates : 0;
    layer.coordinates = (sees_plane ? space_coordinates : 0) + (sees_time ? 1 : 0);
  }

  // Destination and width of the layer's output.
  void connect_output(LayerPlan& layer) const {
    const int index = static_cast<int>(plan_.layers.size());
    layer.outputs = spec_.bottleneck;
    if (layer.position + 1 < spec_of(layer.chain).layers) {
      layer.next = index + 1;
    } else if (layer.chain == ChainId::joint || !two_chains()) {
      layer.next = kOutput;
      layer.outputs = spec_.outputs;
    } else {
      layer.next = spec_.joint.layers > 0 ? spec_.spatial.layers + spec_.temporal.layers : kHead;
      layer.next_column = layer.chain == ChainId::temporal ? spec_.bottleneck : 0;
    }
  }

  void choose_hyperparameters(LayerPlan& layer) {
    const ChainHyperparameters& hyper = hyper_of(layer.chain);
    layer.amplitude = layer.sphere_amplitude = layer.sphere_lengthscale = layer.hidden_lengthscale = kNone;
    if (layer.planar()) layer.amplitude = layer.hidden > 0 ? hyper.hidden_amplitude : hyper.amplitude;
    if (layer.hidden > 0) {
      const bool first = layer.position == 0;
      layer.hidden_lengthscale = first ? hyper.hidden_lengthscale_first : hyper.hidden_lengthscale;
    }
    if (layer.sphere) {
      layer.sphere_amplitude = hyper_of(ChainId::spatial).amplitude;
      layer.sphere_lengthscale = hyper_of(ChainId::spatial).lengthscale;
    }
  }

  void add_tensors(LayerPlan& layer) {
    const auto add = [&](Layout& layout, const char* what, std::vector<std::size_t> shape) {
      return layout.add(fmt::format("{}.{}", layer.name, what), std::move(shape));
    };
    const auto rows = [](int count) { return static_cast<std::size_t>(count); };
    if (layer.kind == FeatureKind::random) add_fixed(layer, add);
    layer.bottleneck = add(parameters_, "bottleneck", {rows(layer.matrix_rows()), rows(layer.outputs)});
  }

  // Fixed tensors of random features.
  void add_fixed(LayerPlan& layer, const auto& add) {
    const std::size_t features = static_cast<std::size_t>(layer.features);
    const auto rows = [](int count) { return static_cast<std::size_t>(count); };
    if (layer.structured) {
      const std::size_t n = hadamard_size(rows(layer.hidden));
      const std::size_t blocks = hadamard_blocks(rows(layer.hidden), features);
      layer.hidden_signs = add(fixed_, "hidden_signs", {3 * blocks, n});
      layer.hidden_lengths = add(fixed_, "hidden_lengths", {blocks * n});
    } else if (layer.hidden > 0) {
      layer.hidden_frequencies = add(fixed_, "hidden_frequencies", {rows(layer.hidden), features});
    }
    if (layer.coordinates > 0) {
      layer.coordinate_frequencies = add(fixed_, "coordinate_frequencies", {rows(layer.coordinates), features});
    }
    if (layer.planar()) layer.phases = add(fixed_, "phases", {features});
    if (layer.sphere) {
      layer.degrees = add(fixed_, "degrees", {features});
      layer.poles = add(fixed_, "poles", {3, features});
    }
  }

  void add_layer(ChainId chain, int position) {
    LayerPlan layer = {};
    layer.name = fmt::format("{}.{}", chain_name(chain), position);
    layer.chain = chain;
    layer.position = position;
    layer.kind = FeatureKind::random;
    layer.hidden = hidden_entries(chain, position);
    layer.structured = layer.hidden > 0 && spec_.frequencies == Frequencies::structured;
    layer.features = spec_.features;
    layer.divisor = std::sqrt(static_cast<double>(spec_.features));
    layer.covariance = layer.hidden > 0 ? spec_of(chain).hidden_covariance : spec_of(chain).covariance;
    layer.sphere_covariance = spec_.spatial.covariance;
    layer.time_covariance = spec_.temporal.covariance;
    connect_coordinates(layer);
    connect_output(layer);
    choose_hyperparameters(layer);
    add_tensors(layer);
    plan_.layers.push_back(std::move(layer));
  }

  void add_head() {
    plan_.has_head = two_chains() && spec_.joint.layers == 0;
    if (!plan_.has_head) return;
    plan_.head_inputs = 2 * spec_.bottleneck;
    plan_.head = parameters_.add("head", {static_cast<std::size_t>(plan_.head_inputs), static_cast<std::size_t>(spec_.outputs)});
    plan_.head_scale = spec_.head_scale > 0.0 ? spec_.head_scale : 1.0 / std::sqrt(static_cast<double>(plan_.head_inputs));
  }

  const NetworkSpec& spec_;
  Plan plan_ = {};
  Layout fixed_;
  Layout parameters_;
  ChainHyperparameters hyper_[3];
};

}  // namespace

std::size_t TensorInfo::size() const {
  std::size_t product = 1;
  for (const std::size_t extent : shape) product *= extent;
  return product;
}

int Plan::inputs_of(int next) const {
  if (next == kHead) return head_inputs;
  if (next == kOutput) return spec.outputs;
  return layers.at(static_cast<std::size_t>(next)).hidden;
}

Plan make_plan(const NetworkSpec& spec) {
  check(spec);
  return PlanBuilder(spec).build();
}

}  // namespace drift
