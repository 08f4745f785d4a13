// SPDX-License-Identifier: Apache-2.0
// deuteron::quantize_bytes: its arguments checked once, at load.
#include "kernels/common/kernels.h"
#include "kernels/common/row.h"
#include "kernels/quantize/bytes/kernel.h"

namespace deuteron {

DEUTERON_FIELDS(QuantizeBytesArgs, count, channels, run)

namespace {

enum { kX, kTable, kRun, kOut };
using Args = QuantizeBytesArgs;
constexpr Argument kRow[] = {input(Is::u8, DEUTERON_FIELD(count)), optional_tensor(),
                             number(Is::count, DEUTERON_FIELD(run)), output(Is::s8_like)};

Status prepare(Call& call, Prepared* prepared) {
  QuantizeBytesArgs a{};
  if (Status s = read_row(call, kRow, &a); !s.ok()) return s;
  const int8_t* steps = nullptr;
  if (const Tensor* table = call.optional_tensor(kTable)) {
    if (const char* why = why_not(Is::s8_matrix, *table, *table)) return bad_argument(kTable, why);
    if (table->sizes[1] != kByteValues || table->sizes[0] < 1)
      return bad_argument(kTable, "must have 256 entries for each channel");
    a.channels = table->sizes[0];
    if (a.count % (int64_t{a.channels} * a.run) != 0)
      return bad_argument(kRun, "must divide the input by channels");
    steps = static_cast<const int8_t*>(table->data);
  }
  const auto* from = static_cast<const uint8_t*>(call.tensor(kX).data);
  auto* to = static_cast<int8_t*>(call.tensor(kOut).data);
  return keep_fastest<quantize_bytes_s8, quantize_bytes_s8_mve>(call, prepared, a, from, steps, to);
}

}  // namespace

const Kernel kQuantizeBytes = kernel_by<kRow>("deuteron::quantize_bytes.out", prepare, kInPlace);

}  // namespace deuteron
