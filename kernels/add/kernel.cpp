// SPDX-License-Identifier: Apache-2.0
// Portable addition.
#include "kernels/add/kernel.h"

#include "kernels/common/host_clones.h"

#include "kernels/integer/requantize.h"

namespace deuteron {

DEUTERON_HOST_CLONES void add_s8(const AddArgs& a, const int8_t* x, const int8_t* other,
                                 int8_t* y) {
  for (int32_t done = 0; done < a.count; done += a.period)
    for (int32_t i = 0; i < a.period; ++i) {
      const int32_t u =
          aligned_term(x[done + i], a.x.zero, kPairLeftShift, a.x.multiplier, a.x.shift);
      const int32_t v =
          aligned_term(other[i], a.other.zero, kPairLeftShift, a.other.multiplier, a.other.shift);
      y[done + i] = requantize_to_s8(static_cast<uint32_t>(u) + static_cast<uint32_t>(v),
                                     a.y.multiplier, a.y.shift, a.y.zero, a.y_min, a.y_max);
    }
}

}  // namespace deuteron
