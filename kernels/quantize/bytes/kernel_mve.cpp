// SPDX-License-Identifier: Apache-2.0
// With the M-profile Vector Extension: sixteen bytes are looked up by one gather. Where channels
// lie beside one another, eight, whose tables VIWDUP counts.
#include <arm_mve.h>

#include "kernels/quantize/bytes/kernel.h"

namespace deuteron {
namespace {

constexpr int32_t kMostTables = 256;  // 16 bits say which entry

void turn_upper_bits(int32_t count, const uint8_t* x, int8_t* y) {
  const uint8x16_t bit = vdupq_n_u8(0x80);
  for (int32_t i = count / 16; i > 0; --i, x += 16, y += 16)
    vstrbq_s8(y, vreinterpretq_s8_u8(veorq_u8(vldrbq_u8(x), bit)));
  if (const int32_t rest = count % 16; rest > 0) {
    const mve_pred16_t here = vctp8q(static_cast<uint32_t>(rest));
    vstrbq_p_s8(y, vreinterpretq_s8_u8(veorq_u8(vldrbq_z_u8(x, here), bit)), here);
  }
}

void look_up(int32_t count, const uint8_t* x, const int8_t* steps, int8_t* y) {
  for (int32_t i = count / 16; i > 0; --i, x += 16, y += 16)
    vstrbq_s8(y, vldrbq_gather_offset_s8(steps, vldrbq_u8(x)));
  if (const int32_t rest = count % 16; rest > 0) {
    const mve_pred16_t here = vctp8q(static_cast<uint32_t>(rest));
    vstrbq_p_s8(y, vldrbq_gather_offset_z_s8(steps, vldrbq_z_u8(x, here), here), here);
  }
}

void look_up_channels(int32_t count, int32_t channels, const uint8_t* x, const int8_t* table,
                      int8_t* y) {
  uint32_t channel = 0;
  for (; count > 0; count -= 8, x += 8, y += 8) {
    const mve_pred16_t here = vctp16q(static_cast<uint32_t>(count));
    const uint16x8_t of_channel =
        vshlq_n_u16(viwdupq_wb_u16(&channel, static_cast<uint32_t>(channels), 1), 8);
    vstrbq_p_s16(
        y, vldrbq_gather_offset_z_s16(table, vorrq_u16(of_channel, vldrbq_z_u16(x, here)), here),
        here);
  }
}

}  // namespace

void quantize_bytes_s8_mve(const QuantizeBytesArgs& args, const uint8_t* x, const int8_t* table,
                           int8_t* y) {
  const QuantizeBytesArgs a = args;  // for all the compiler knows, y might lie over the arguments
  if (a.channels == 0) return turn_upper_bits(a.count, x, y);
  if (a.run == 1 && a.channels > 1 && a.channels <= kMostTables)
    return look_up_channels(a.count, a.channels, x, table, y);
  for (int32_t i = 0, channel = 0; i < a.count;
       i += a.run, channel = channel + 1 < a.channels ? channel + 1 : 0)
    look_up(a.run, x + i, table + channel * kByteValues, y + i);
}

}  // namespace deuteron
