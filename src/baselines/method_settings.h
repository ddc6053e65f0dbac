#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drift/enum_words.h"
#include "drift/interpolator.h"

namespace drift {

// A method's settings as its text gives them, "inducing=1000,epochs=5", read by name with a default and a range. What is out of
// range or does not read is a UsageError that names method and option; so is a name that the method does not have.
class MethodSettings {
 public:
  MethodSettings(const MethodInfo& method, const std::string& text);

  const std::string& method() const { return method_; }
  bool has(const std::string& name) const { return texts_.contains(name); }
  const std::map<std::string, std::string>& texts() const { return texts_; }  // those given, by name
  double number(const std::string& name, double fallback, double low, double high) const;
  std::optional<double> number(const std::string& name, double low, double high) const;  // none where it is not given
  std::size_t count(const std::string& name, std::size_t fallback, std::size_t low, std::size_t high) const;
  std::string word(const std::string& name, const std::string& fallback, const std::vector<std::string>& choices) const;
  template <EnumWithWords E>
  E word(const std::string& name, E fallback) const {
    const std::vector<std::string_view> words = words_of<E>();
    return *from_word<E>(word(name, std::string(word_of(fallback)), {words.begin(), words.end()}));
  }
  bool either(const char* one, const char* other, const std::string& name, bool fallback) const;  // true: one
  bool truth(const std::string& name, bool fallback) const { return either("yes", "no", name, fallback); }

 private:
  std::string method_;
  std::map<std::string, std::string> texts_;
};

// "squared or huber", "gaussian, student or huber": for an option's help.
std::string words_text(const std::vector<std::string_view>& words);
template <EnumWithWords E>
std::string words_text() {
  return words_text(words_of<E>());
}

}  // namespace drift
