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

Reading read_run(const RunSettings& settings) {
  const ReadOptions options = read_options(settings);
  const SplitSettings& split = settings.split;
  if (!split.test.empty() && !split.test_where.empty())
    throw UsageError("[split] test and test_where are two test sets; give one of them");
  if (!split.test.empty()) return with_test(read_observations(settings.data.files, options), read_observations(split.test, options));
  if (split.test_where.empty()) return read_observations(settings.data.files, options);
  const Condition condition = parse_condition(split.test_where);
  if (is_of_platform(condition)) {
    return with_test_platforms(read_observations(settings.data.files, options), condition.words,
                               condition.kind == Condition::Kind::not_in);
  }
  ReadOptions training = options, test = options;
  training.without.push_back(split.test_where);
  test.where.push_back(split.test_where);
  return with_test(read_observations(settings.data.files, training), read_observations(settings.data.files, test));
}

}  // namespace drift
