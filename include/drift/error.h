#pragma once

#include <stdexcept>

#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

// Something went wrong that a user can act on. The message says what, where (file, line, key, member, step) and what to do.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// An invalid request: a wrong option, setting or shape. The command exits with status 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace drift
