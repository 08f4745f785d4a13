// SPDX-License-Identifier: Apache-2.0
// cortex_m::quantized_activation: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare.h"
#include "kernels/unary/kernel.h"

namespace deuteron {
namespace {

enum { kX, kTable, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &table = call.tensor(kTable), &y = call.tensor(kOut);
  if (x.type != ScalarType::s8) return bad_argument(kX, "must be int8");
  if (y.type != ScalarType::s8) return bad_argument(kOut, "must be int8");
  if (table.type != ScalarType::s8 || table.numel != 256)
    return bad_argument(kTable, "must have 256 int8 entries");
  if (!same_layout(x, y))
    return bad_argument(kOut, "must have the sizes and the order of the input");
  return keep_fastest<lookup_s8, lookup_s8_mve>(
      call, prepared, x.numel, static_cast<const int8_t*>(table.data),
      static_cast<const int8_t*>(x.data), static_cast<int8_t*>(y.data));
}

}  // namespace

const Kernel kQuantizedActivation = {"cortex_m::quantized_activation.out", "TTO", prepare, true};

}  // namespace deuteron
