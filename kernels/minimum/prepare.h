// SPDX-License-Identifier: Apache-2.0
// What the checks of cortex_m::minimum and cortex_m::maximum have in common; defined in bind.cpp.
#pragma once
#include "kernels/common/prepare.h"
#include "kernels/minimum/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(ExtremumArgs, rank, extent, x_step, other_step)

enum { kExtremumX, kExtremumOther, kExtremumOut };

// Fills `args`, unless there are no elements.
Status read_extremum(const Call& call, ExtremumArgs& args);
Status read_extremum_layouts(const Call& call, ExtremumArgs& args);  // types are the caller's

// What prepare() of both does, with the kernels of one of them.
template <auto portable, auto scalar, auto dsp, auto mve>
Status prepare_extremum(Call& call, Prepared* prepared) {
  ExtremumArgs a{};
  if (Status s = read_extremum(call, a); !s.ok()) return s;
  if (call.tensor(kExtremumOut).numel == 0) return keep_nothing(prepared);
  const auto* x = static_cast<const int8_t*>(call.tensor(kExtremumX).data);
  const auto* other = static_cast<const int8_t*>(call.tensor(kExtremumOther).data);
  auto* y = static_cast<int8_t*>(call.tensor(kExtremumOut).data);
  return keep_fastest<portable, mve, dsp, scalar>(call, prepared, a, x, other, y);
}

}  // namespace deuteron
