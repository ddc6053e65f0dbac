// A network spec as JSON. The keys are the fields' names; enums are words. Only dense networks have the key "dense", and only
// those of product coupling "coupling", so that what was written before there were any is still read, and the others are still
// written so.

#include "core/json_fields.h"
#include "drift/network_spec.h"

namespace drift {

constexpr auto enum_words(Space) {
  return std::array{EnumWord<Space>{"plane", Space::plane}, EnumWord<Space>{"sphere", Space::sphere}};
}

constexpr auto enum_words(Activation) {
  return std::array{EnumWord<Activation>{"relu", Activation::relu}, EnumWord<Activation>{"sine", Activation::sine}};
}

constexpr auto enum_words(DenseInput) {
  return std::array{EnumWord<DenseInput>{"coordinates", DenseInput::coordinates},
                    EnumWord<DenseInput>{"fourier", DenseInput::fourier}};
}

template <class Self>
requires ConstOrNot<Self, Covariance>
void visit_fields(Self& self, auto&& field) {
  field("family", self.family);
  field("nu", self.nu);
}

template <class Self>
requires ConstOrNot<Self, ChainSpec>
void visit_fields(Self& self, auto&& field) {
  field("layers", self.layers);
  field("covariance", self.covariance);
  field("hidden_covariance", self.hidden_covariance);
  field("lengthscales", self.lengthscales);
  field("hidden_lengthscale", self.hidden_lengthscale);
  field("amplitude", self.amplitude);
  field("hidden_amplitude", self.hidden_amplitude);
}

template <class Self>
requires ConstOrNot<Self, NetworkSpec>
void visit_fields(Self& self, auto&& field) {
  field("space", self.space);
  field("space_coordinates", self.space_coordinates);
  field("spatial", self.spatial);
  field("temporal", self.temporal);
  field("joint", self.joint);
  field("features", self.features);
  field("bottleneck", self.bottleneck);
  field("outputs", self.outputs);
  field("skip", self.skip);
  field("frequencies", self.frequencies);
  field("head_scale", self.head_scale);
  field("sphere_tail_mass", self.sphere_tail_mass);
  field("sphere_max_degree", self.sphere_max_degree);
}

template <class Self>
requires ConstOrNot<Self, DenseSpec>
void visit_fields(Self& self, auto&& field) {
  field("layers", self.layers);
  field("width", self.width);
  field("activation", self.activation);
  field("omega", self.omega);
  field("hidden_omega", self.hidden_omega);
  field("input", self.input);
  field("bias", self.bias);
}

// A spec with its coupling, as one object.
struct CoupledNetwork {
  NetworkSpec spec;
};

template <class Self>
requires ConstOrNot<Self, CoupledNetwork>
void visit_fields(Self& self, auto&& field) {
  visit_fields(self.spec, field);
  field("coupling", self.spec.coupling);
}

// A spec whose `dense` is there, as one object.
struct DenseNetwork {
  NetworkSpec spec;
  DenseSpec dense;
};

template <class Self>
requires ConstOrNot<Self, DenseNetwork>
void visit_fields(Self& self, auto&& field) {
  visit_fields(self.spec, field);
  field("dense", self.dense);
}

namespace {

// True if the text has the key at its top; the reader will find what is wrong with it otherwise.
bool has_key(const std::string& text, const std::string& key) {
  if (text.find("\"" + key + "\"") == std::string::npos) return false;
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  return json.is_object() && json.contains(key);
}

}  // namespace

std::string to_json(const NetworkSpec& spec) {
  check(spec);  // JSON has no word for NaN: what could not be read back is not written
  if (spec.dense) return write_json(DenseNetwork{spec, *spec.dense}).dump();
  if (spec.coupling != Coupling::additive) return write_json(CoupledNetwork{spec}).dump();
  return write_json(spec).dump();
}

NetworkSpec network_spec_from_json(const std::string& text) {
  const JsonReader reader("network spec");
  NetworkSpec spec;
  if (has_key(text, "dense")) {
    DenseNetwork network = reader.parse<DenseNetwork>(text);
    spec = std::move(network.spec);
    spec.dense = network.dense;
  } else if (has_key(text, "coupling")) {
    spec = reader.parse<CoupledNetwork>(text).spec;
  } else {
    spec = reader.parse<NetworkSpec>(text);
  }
  check(spec);
  return spec;
}

}  // namespace drift
