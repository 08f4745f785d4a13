// SPDX-License-Identifier: Apache-2.0
// Portable matrix product.
#include "kernels/common/host_clones.h"
#include "kernels/matmul/by_linear.h"

namespace deuteron {

DEUTERON_HOST_CLONES void matmul_s8(const MatmulArgs& a, const int8_t* x, const int8_t* other,
                                    int8_t* y) {
  matmul_by<linear_s8>(a, x, other, y);
}

}  // namespace deuteron
