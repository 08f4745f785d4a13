// SPDX-License-Identifier: Apache-2.0
// The dialect has calls on images twice: with sizes [n, c, h, w], stored channels-last, and, with
// `_nhwc` in their names, with the sizes in the order of memory. The bytes are the same.
#pragma once
#include "kernels/common/prepare.h"

namespace deuteron {

// The first argument and the last are images.
template <Status (*prepare)(Call&, Prepared*)>
Status prepare_nhwc(Call& call, Prepared* prepared) {
  constexpr int kMost = 17;  // arguments of such a call
  const Value* args[kMost];
  Value images[2];
  Tensor seen[2];
  int32_t sizes[2][4];
  if (call.count > kMost) return bad_argument(kMost, "is one too many");
  for (int i = 0; i < call.count; ++i) args[i] = call.args[i];
  for (int k = 0; k < 2; ++k) {
    const int at = k == 0 ? 0 : call.count - 1;
    const Tensor& t = call.tensor(at);
    if (const char* why = why_not_dense(t, ScalarType::s8, 4)) return bad_argument(at, why);
    const int32_t last[4] = {t.sizes[0], t.sizes[3], t.sizes[1], t.sizes[2]};
    for (int d = 0; d < 4; ++d) sizes[k][d] = last[d];
    seen[k] = t;
    seen[k].sizes = sizes[k];
    seen[k].dim_order = kChannelsLast;
    images[k].kind = Kind::tensor;
    images[k].tensor = &seen[k];
    args[at] = &images[k];
  }
  Call same = call;
  same.args = args;
  return prepare(same, prepared);
}

}  // namespace deuteron
