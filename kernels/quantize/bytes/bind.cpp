// SPDX-License-Identifier: Apache-2.0
// deuteron::quantize_bytes: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/prepare.h"
#include "kernels/quantize/bytes/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(QuantizeBytesArgs, count, channels, run)

namespace {

enum { kX, kTable, kRun, kOut };

Status prepare(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(kX), &y = call.tensor(kOut), *table = call.optional_tensor(kTable);
  if (x.type != ScalarType::u8) return bad_argument(kX, "must be uint8");
  if (y.type != ScalarType::s8) return bad_argument(kOut, "must be int8");
  if (!same_layout(x, y))
    return bad_argument(kOut, "must have the sizes and the order of the input");
  if (!lies_in(call.integer(kRun), 1, INT32_MAX)) return bad_argument(kRun, "is out of range");
  QuantizeBytesArgs a{x.numel, 0, static_cast<int32_t>(call.integer(kRun))};
  const int8_t* steps = nullptr;
  if (table != nullptr) {
    if (const char* why = why_not_dense(*table, ScalarType::s8, 2))
      return bad_argument(kTable, why);
    if (table->sizes[1] != kByteValues || table->sizes[0] < 1)
      return bad_argument(kTable, "must have 256 entries for each channel");
    a.channels = table->sizes[0];
    if (x.numel % (int64_t{a.channels} * a.run) != 0)
      return bad_argument(kRun, "must divide the input by channels");
    steps = static_cast<const int8_t*>(table->data);
  }
  const auto* from = static_cast<const uint8_t*>(x.data);
  auto* to = static_cast<int8_t*>(y.data);
  return keep_fastest<quantize_bytes_s8, quantize_bytes_s8_mve>(call, prepared, a, from, steps, to);
}

}  // namespace

const Kernel kQuantizeBytes = {"deuteron::quantize_bytes.out", "TtIO", prepare, true};

}  // namespace deuteron
