#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

namespace drift::cpu {

// For tests: runs `body` once for every instruction set that this machine has and the code was compiled for.
template <class Body>
void for_every_instruction_set(const Body& body) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::GetChosenTarget().Update(target);
    body();
  }
  hwy::GetChosenTarget().DeInit();  // the next call chooses the best again
}

}  // namespace drift::cpu
