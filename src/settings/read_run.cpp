#include <utility>

#include "data/condition.h"
#include "drift/error.h"
#include "drift/run_settings.h"

namespace drift {
namespace {

// By name, as observations know them: platforms are often a file's attribute, and no variable that a condition could ask for.
bool is_of_platform(const Condition& condition) {
  const bool in = condition.kind == Condition::Kind::in || condition.kind == Condition::Kind::not_in;
  return condition.name == "platform" && in && condition.of_text();
}

}  // namespace

Reading read_run(const RunSettings& settings, const Control& control) {
  const ReadOptions options = read_options(settings);
  const SplitSettings& split = settings.split;
  if (!split.test.empty() && !split.test_where.empty())
    throw UsageError("[split] test and test_where are two test sets; give one of them");
  const auto read = [&](const std::vector<std::string>& files, const ReadOptions& wanted) {
    return read_observations(files, wanted, control);
  };
  const auto with = [](Reading reading, Dataset data) {
    static_cast<Dataset&>(reading) = std::move(data);
    return reading;
  };
  if (split.test_where.empty()) {
    Reading reading = read(settings.data.files, options);
    return split.test.empty() ? reading : with(reading, with_test(reading, read(split.test, options)));
  }
  const Condition condition = parse_condition(split.test_where);
  if (is_of_platform(condition)) {
    Reading reading = read(settings.data.files, options);
    return with(reading, with_test_platforms(reading, condition.words, condition.kind == Condition::Kind::not_in));
  }
  ReadOptions training = options, test = options;
  training.without.push_back(split.test_where);
  test.where.push_back(split.test_where);
  Reading reading = read(settings.data.files, training);
  return with(reading, with_test(reading, read(settings.data.files, test)));
}

}  // namespace drift
