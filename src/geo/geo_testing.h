#pragma once

#include <string>
#include <utility>

#include "drift/error.h"

namespace drift {

// What `work` throws, if it is a Failure (UsageError is an Error too).
template <class Failure, class Work>
std::string message_of(Work&& work) {
  try {
    std::forward<Work>(work)();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "nothing was thrown";
}

}  // namespace drift
