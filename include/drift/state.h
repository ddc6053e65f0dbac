#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

// Everything a fitted method needs to predict: tensors, numbers and texts by name. A model file keeps it (src/fields).
//
// Reading a state is reading a file: whatever is missing, of another type or shape, or not finite is an Error that names it. The
// sizes of tensors come from the file itself, never from a number beside them.
class State {
 public:
  using Numbers = std::variant<std::vector<float>, std::vector<double>, std::vector<std::int64_t>>;
  struct Tensor {
    std::vector<std::size_t> shape;  // row-major
    Numbers numbers;
  };
  static constexpr std::size_t kAny = static_cast<std::size_t>(-1);  // an extent that is not checked

  // A name of letters, digits, '_' and '.', once each. Throws Error for a shape that does not fit, and for what is not finite.
  void put(const std::string& name, std::vector<std::size_t> shape, Numbers numbers);
  void put(const std::string& name, double number);
  void put(const std::string& name, std::string text);

  bool has(const std::string& name) const;  // a tensor of that name
  // Throws Error unless it is there, of this type and with these extents.
  template <class Real>
  std::span<const Real> tensor(const std::string& name, std::span<const std::size_t> shape) const;
  template <class Real>
  std::span<const Real> tensor(const std::string& name, std::initializer_list<std::size_t> shape) const {
    return tensor<Real>(name, std::span<const std::size_t>(shape.begin(), shape.size()));
  }
  const std::vector<std::size_t>& shape(const std::string& name, std::size_t dimensions) const;

  double number(const std::string& name, double low, double high) const;                // Throws Error unless it is in this range
  std::size_t count(const std::string& name, std::size_t low, std::size_t high) const;  // a whole number
  const std::string& text(const std::string& name) const;

  const std::map<std::string, Tensor>& tensors() const { return tensors_; }
  std::string metadata() const;  // numbers and texts as JSON
  // Throws Error when the text is not such JSON.
  void set_metadata(const std::string& json);

 private:
  std::map<std::string, Tensor> tensors_;
  std::map<std::string, double> numbers_;
  std::map<std::string, std::string> texts_;
};

extern template std::span<const float> State::tensor<float>(const std::string&, std::span<const std::size_t>) const;
extern template std::span<const double> State::tensor<double>(const std::string&, std::span<const std::size_t>) const;
extern template std::span<const std::int64_t> State::tensor<std::int64_t>(const std::string&, std::span<const std::size_t>) const;

}  // namespace drift
