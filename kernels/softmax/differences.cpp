// SPDX-License-Identifier: Apache-2.0
#include "kernels/softmax/differences.h"

namespace deuteron {

bool keeps_differences(const SoftmaxArgs& a, int32_t range, int diff_min, Status* why) {
  const int64_t largest = a.diff_min > -range ? -a.diff_min : range;
  return largest << a.shift <= int64_t{1} << 31 ||
         refuse(why, diff_min, "must keep differences within int32");
}

}  // namespace deuteron
