// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_activation: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/unary/kernel.h"

namespace deuteron {

namespace {

enum { kX, kTable, kOut };
constexpr Argument kRow[] = {input(Is::s8), input(Is::s8), output(Is::s8_like)};

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &table = call.tensor(kTable);
  if (Status s = read_row(call, kRow, nullptr); !s.ok()) return s;
  if (table.numel != 256) return bad_argument(kTable, "must have 256 int8 entries");
  return keep_fastest<lookup_s8, lookup_s8_mve>(
      call, prepared, x.numel, static_cast<const int8_t*>(table.data),
      static_cast<const int8_t*>(x.data), static_cast<int8_t*>(call.tensor(kOut).data));
}

}  // namespace

const Kernel kQuantizedActivation =
    kernel_by<kRow>("cortex_m::quantized_activation.out", prepare, kInPlace);

}  // namespace deuteron
