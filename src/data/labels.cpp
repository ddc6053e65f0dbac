#include "data/labels.h"

namespace drift {

std::size_t Labels::number_of(std::string_view label) {
  if (last_ < labels_.size() && labels_[last_] == label) return last_;
  const auto found = numbers_.find(label);
  if (found != numbers_.end()) return last_ = found->second;
  last_ = labels_.size();
  labels_.emplace_back(label);
  numbers_.emplace(label, last_);
  return last_;
}

void Labels::clear() {
  numbers_.clear();
  labels_.clear();
}

}  // namespace drift
