// The shared library as another program sees it.

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "drift/domain.h"
#include "drift/error.h"
#include "drift/field_model.h"

TEST(SharedLibrary, ThrowsErrorsThatAreCaughtByTheirType) {
  EXPECT_THROW(drift::load_field_model("/nowhere/model.safetensors"), drift::Error);
  EXPECT_THROW(drift::choose_domain(drift::Observations{}), drift::UsageError);
  EXPECT_THROW(drift::choose_domain(drift::Observations{}), std::runtime_error);
}
