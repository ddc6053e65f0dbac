// A network spec as JSON. The keys are the fields' names; enums are words.

#include "core/json_fields.h"
#include "drift/network_spec.h"

namespace drift {

constexpr auto enum_words(Space) {
  return std::array{EnumWord<Space>{"plane", Space::plane}, EnumWord<Space>{"sphere", Space::sphere}};
}

constexpr auto enum_words(Family) {
  return std::array{EnumWord<Family>{"matern", Family::matern},
                    EnumWord<Family>{"squared_exponential", Family::squared_exponential}};
}

constexpr auto enum_words(Frequencies) {
  return std::array{EnumWord<Frequencies>{"independent", Frequencies::independent},
                    EnumWord<Frequencies>{"orthogonal", Frequencies::orthogonal},
                    EnumWord<Frequencies>{"structured", Frequencies::structured}};
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

std::string to_json(const NetworkSpec& spec) {
  check(spec);  // JSON has no word for NaN: what could not be read back is not written
  return write_json(spec).dump();
}

NetworkSpec network_spec_from_json(const std::string& text) {
  NetworkSpec spec = JsonReader("network spec").parse<NetworkSpec>(text);
  check(spec);
  return spec;
}

}  // namespace drift
