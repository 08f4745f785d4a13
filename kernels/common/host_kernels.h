// SPDX-License-Identifier: Apache-2.0
// The forms of one kernel for the vectors of a host's processor.
#pragma once
#include <cstdint>

namespace deuteron {

// Those that this processor has, best first; none where it has no AVX2, or is no x86-64.
template <class Kernel>
struct HostKernels {
  Kernel kernel[2];
  int32_t count;
};

}  // namespace deuteron
