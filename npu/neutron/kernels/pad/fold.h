// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "npu/neutron/converter/fuse.h"

namespace deuteron::neutron {

// pad -> `s`   becomes   `s` with that padding. `window`: of `s`; `outside`: what it takes for what
// lies outside of x. Refused when images or channels are padded, and when the pad's value is
// another. `must_see`: and when a window would see nothing else.
bool fold_pad(Model& m, const TensorUses& uses, Operation& s, Window& window, i32 outside,
              bool must_see = false);

}  // namespace deuteron::neutron
