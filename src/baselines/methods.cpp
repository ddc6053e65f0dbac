#include "baselines/methods.h"

#include <fmt/format.h>

#include <algorithm>

#include "drift/did_you_mean.h"
#include "drift/error.h"

namespace drift {
namespace {

const std::vector<Method>& methods() {
  static const std::vector<Method> all = {
      exact_gp_method(),     nearest_gp_method(),      local_experts_method(), svgp_method(),           deep_gp_method(),
      relu_network_method(), fourier_network_method(), siren_method(),         neural_process_method(),
  };
  return all;
}

}  // namespace

const std::vector<MethodInfo>& method_infos() {
  static const std::vector<MethodInfo> infos = [] {
    std::vector<MethodInfo> out;
    for (const Method& method : methods()) out.push_back(method.info);
    return out;
  }();
  return infos;
}

void Interpolator::save(State&) const { throw UsageError("this method cannot be saved"); }
void Interpolator::restore(const State&, const Domain&) { throw UsageError("this method cannot be restored"); }

std::unique_ptr<Interpolator> load_interpolator(const std::string& text, const State& state, const Domain& domain) {
  std::unique_ptr<Interpolator> method = make_interpolator(text, domain);
  method->restore(state, domain);
  return method;
}

std::unique_ptr<Interpolator> make_interpolator(const std::string& text, const Domain& domain) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string name = text.substr(0, colon);
  std::vector<std::string> names;
  for (const Method& method : methods()) {
    if (method.info.name == name) {
      return method.make(MethodSettings(method.info, colon < text.size() ? text.substr(colon + 1) : ""), domain);
    }
    names.push_back(method.info.name);
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  throw UsageError(fmt::format("there is no method '{}'{}", name, did_you_mean(name, known)));
}

}  // namespace drift
