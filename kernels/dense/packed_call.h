// SPDX-License-Identifier: Apache-2.0
// What the calls on packed weights have in common when they are checked at load.
#pragma once
#include "kernels/common/prepare.h"
#include "kernels/dense/packing.h"

namespace deuteron {

// The refusal of a core whose kernels read another packing, or none.
inline Status wrong_packing(int argument, Packing p) {
  Status s = bad_argument(
      argument, isa_of(p) == Isa::mve
                    ? "is packed for the M-profile Vector Extension, which this core lacks"
                    : "is packed for another instruction set than this core's kernels have");
  s.code = Code::wrong_isa;
  return s;
}

}  // namespace deuteron
