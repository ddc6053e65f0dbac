// A domain as JSON. The keys are the fields' names; lengths in the domain's unit, times in days.

#include "core/json_fields.h"
#include "drift/domain.h"

namespace drift {

template <class Self>
requires ConstOrNot<Self, Standard>
void visit_fields(Self& self, auto&& field) {
  field("mean", self.mean);
  field("sd", self.sd);
}

template <class Self>
requires ConstOrNot<Self, Domain>
void visit_fields(Self& self, auto&& field) {
  field("kind", self.kind);
  field("crs", self.crs);
  field("unit", self.unit);
  field("centre", self.centre);
  field("scale", self.scale);
  field("time", self.time);
  field("value", self.value);
}

std::string to_json(const Domain& domain) {
  check(domain);  // JSON has no word for NaN
  return write_json(domain).dump();
}

Domain domain_from_json(const std::string& text) {
  Domain domain = JsonReader("domain").parse<Domain>(text);
  check(domain);
  return domain;
}

}  // namespace drift
