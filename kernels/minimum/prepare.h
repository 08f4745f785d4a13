// SPDX-License-Identifier: Apache-2.0
// What the checks of cortex_m::minimum and cortex_m::maximum have in common; defined in bind.cpp.
#pragma once
#include "kernels/common/row.h"
#include "kernels/minimum/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(ExtremumArgs, rank, extent, x_step, other_step)

enum { kExtremumX, kExtremumOther, kExtremumOut };

inline constexpr Argument kExtremumRow[] = {input(Is::s8), input(Is::s8), output(Is::s8)};
inline constexpr Argument kExtremumRowS16[] = {input(Is::s16), input(Is::s16), output(Is::s16)};

// Fills `args`, unless there are no elements.
Status read_extremum(const Call& call, ExtremumArgs& args);

// What prepare() of both does, with the kernels of one of them.
template <const auto& row, auto... kernels>
Status prepare_extremum(Call& call, Prepared* prepared) {
  ExtremumArgs a{};
  if (Status s = read_row(call, row, nullptr); !s.ok()) return s;
  if (Status s = read_extremum(call, a); !s.ok()) return s;
  if (call.tensor(kExtremumOut).numel == 0) return keep_nothing(prepared);
  return keep_row<row, kernels...>(call, prepared, a);
}

}  // namespace deuteron
