// SPDX-License-Identifier: Apache-2.0
// Cases of the kernels that work on int16.
#include <cstring>

#include "kernels/add/s16/kernel.h"
#include "kernels/avg_pool2d/s16/kernel.h"
#include "kernels/conv2d/s16/kernel.h"
#include "kernels/depthwise_conv2d/s16/kernel.h"
#include "kernels/quantize/kernel.h"
#include "kernels/requantize/kernel.h"
#include "runtime/instruction_set.h"
#include "tests/board_kernels/int16.h"

namespace deuteron {
Outcome check_conv2d_s16(uint32_t seed) {
  Random r(seed);
  Axis h = some_axis(r, 6), w = some_axis(r, 14);
  const bool plain = r.one_in(3);  // pixels or rows of taps as they lie
  if (plain) h = {r.between(1, 4), 1, 1, 0, 1, 0}, h.out = h.in, w.pad = 0, w.dilation = 1;
  if (plain && r.one_in(2)) w.kernel = w.stride = 1;
  if (plain) w.in = w.kernel + r.between(0, 9), w.out = (w.in - w.kernel) / w.stride + 1;
  Conv2dS16Args a{r.between(1, 2),
                  h.in,
                  w.in,
                  plain ? 8 * r.between(1, 9) : r.between(1, 20),
                  h.out,
                  w.out,
                  r.between(1, 19),
                  h.kernel,
                  w.kernel,
                  h.stride,
                  w.stride,
                  h.pad,
                  w.pad,
                  h.dilation,
                  w.dilation,
                  0,
                  0};
  bounds_s16(r, &a.y_min, &a.y_max);
  const int32_t bytes = static_cast<int32_t>(packed_s16_bytes(a.out_c, a.length())),
                tile = packed_s16_tile_bytes(a.length());
  const int16_t* x = some_steps(r, at_end_of_ram, a.n * a.in_h * a.in_w * a.in_c);
  int8_t* packed = at_end_of_pool(static_cast<uint32_t>(bytes));
  fill_bytes(r, packed, bytes);
  const int32_t shift = r.between(0, 24);
  for (int32_t t = 0; t < packed_tiles(a.out_c); ++t)
    for (int32_t i = 0; i < kPackedTile; ++i) {
      const auto multiplier = static_cast<int32_t>((r.next() >> 1) >> shift);
      std::memcpy(packed + (t + 1) * tile - 16 + i * 4, &multiplier, 4);
    }
  const uint32_t ys = static_cast<uint32_t>(a.n * a.out_h * a.out_w * a.out_c) * 2;
  const Guarded expected = guarded(0, ys), found = guarded(1, ys);
  const Guarded scratch = guarded(2, static_cast<uint32_t>(conv2d_s16_scratch_bytes(a)));
  Line line("@differs conv2d_s16 ");
  line.number(seed).text(" n,ih,iw,ic,oh,ow,oc,kh,kw,sh,sw,ph,pw,dh,dw");
  const int32_t values[] = {a.n,        a.in_h,  a.in_w,     a.in_c,       a.out_h,
                            a.out_w,    a.out_c, a.kernel_h, a.kernel_w,   a.stride_h,
                            a.stride_w, a.pad_h, a.pad_w,    a.dilation_h, a.dilation_w};
  for (const int32_t v : values) line.text(" ").signed_number(v);
  if constexpr (!kHasMve && !kHasDsp) return Outcome::not_served;
  conv2d_s16(a, x, packed, scratch.data, steps_of(expected));
  if constexpr (kHasMve) conv2d_s16_mve(a, x, packed, scratch.data, steps_of(found));
  if constexpr (kHasDsp) conv2d_s16_dsp(a, x, packed, scratch.data, steps_of(found));
  return compared(expected, found, ys, &scratch, line);
}

Outcome check_depthwise_conv2d_s16(uint32_t seed) {
  Random r(seed);
  const Axis h = some_axis(r, 6), w = some_axis(r, 10);
  DepthwiseS16Args a{r.between(1, 2), h.in,       w.in,     r.between(1, 37),
                     h.out,           w.out,      h.kernel, w.kernel,
                     h.stride,        w.stride,   h.pad,    w.pad,
                     h.dilation,      w.dilation, 0,        0};
  bounds_s16(r, &a.y_min, &a.y_max);
  const int16_t* x = some_steps(r, at_end_of_ram, a.n * a.in_h * a.in_w * a.channels);
  const int16_t* weight = some_steps(r, at_end_of_pool, a.kernel_h * a.kernel_w * a.channels);
  int32_t first[64], multiplier[64];
  fill_sums(r, first, a.channels);
  const int32_t shift = r.between(0, 24);
  for (int32_t c = 0; c < a.channels; ++c)
    multiplier[c] = static_cast<int32_t>((r.next() >> 1) >> shift);
  const uint32_t ys = static_cast<uint32_t>(a.n * a.out_h * a.out_w * a.channels) * 2;
  const Guarded expected = guarded(0, ys), found = guarded(1, ys, r.one_in(2) ? 2 : 0);
  Line line("@differs depthwise_conv2d_s16 ");
  line.number(seed)
      .text(" ih,iw,c,oh,ow ")
      .signed_number(a.in_h)
      .text(" ")
      .signed_number(a.in_w)
      .text(" ")
      .signed_number(a.channels);
  line.text(" ").signed_number(a.out_h).text(" ").signed_number(a.out_w);
  if constexpr (!kHasMve && !kHasDsp) return Outcome::not_served;
  depthwise_conv2d_s16(a, x, weight, first, multiplier, steps_of(expected));
  if constexpr (kHasMve) depthwise_conv2d_s16_mve(a, x, weight, first, multiplier, steps_of(found));
  if constexpr (kHasDsp) depthwise_conv2d_s16_dsp(a, x, weight, first, multiplier, steps_of(found));
  return compared(expected, found, ys, nullptr, line);
}

Outcome check_add_s16(uint32_t seed) {
  Random r(seed);
  AddS16Args a{r.between(1, 70), 0, 0, 0, 0, 0};
  do {
    a.x_factor = r.between(-65535, 65535), a.other_factor = r.between(-65535, 65535),
    a.shift = r.between(1, 30);
  } while (why_not_add_s16(a.x_factor, a.other_factor, a.shift) != nullptr);
  bounds_s16(r, &a.y_min, &a.y_max);
  const int16_t *x = some_steps(r, at_end_of_pool, a.count),
                *other = some_steps(r, at_end_of_ram, a.count);
  const uint32_t ys = static_cast<uint32_t>(a.count) * 2;
  const Guarded expected = guarded(0, ys), found = guarded(1, ys);
  Line line("@differs add_s16 ");
  line.number(seed).text(" count ").signed_number(a.count);
  if constexpr (!kHasMve) return Outcome::not_served;
  add_s16(a, x, other, steps_of(expected));
  if constexpr (kHasMve) {
    const bool in_place = r.one_in(3);
    if (in_place) std::memcpy(found.data, x, ys);
    add_s16_mve(a, in_place ? steps_of(found) : x, other, steps_of(found));
  }
  return compared(expected, found, ys, nullptr, line);
}

Outcome check_avg_pool2d_s16(uint32_t seed) {
  Random r(seed);
  const Axis h = some_axis(r, 6), w = some_axis(r, 6);
  const AvgPool2dS16Args a{r.between(1, 2),
                           h.in,
                           w.in,
                           r.between(1, 21),
                           (h.in + 2 * h.pad - h.kernel) / h.stride + 1,
                           (w.in + 2 * w.pad - w.kernel) / w.stride + 1,
                           h.kernel,
                           w.kernel,
                           h.stride,
                           w.stride,
                           h.pad,
                           w.pad};
  const int16_t* x = some_steps(r, at_end_of_pool, a.n * a.in_h * a.in_w * a.channels);
  const uint32_t ys = static_cast<uint32_t>(a.n * a.out_h * a.out_w * a.channels) * 2;
  const Guarded expected = guarded(0, ys), found = guarded(1, ys);
  Line line("@differs avg_pool2d_s16 ");
  line.number(seed).text(" c ").signed_number(a.channels);
  if constexpr (!kHasMve) return Outcome::not_served;
  avg_pool2d_s16(a, x, steps_of(expected));
  if constexpr (kHasMve) avg_pool2d_s16_mve(a, x, steps_of(found));
  return compared(expected, found, ys, nullptr, line);
}

Outcome check_quantize_s16(uint32_t seed) {
  Random r(seed);
  const int32_t count = r.between(1, 70);
  auto* x = reinterpret_cast<float*>(at_end_of_pool(static_cast<uint32_t>(count) * 4));
  for (int32_t i = 0; i < count; ++i) {
    const uint32_t bits = r.next();
    x[i] = static_cast<float>(r.between(-80000, 80000)) * (r.one_in(2) ? 0.5f : 0.37f);
    if (r.one_in(4)) std::memcpy(&x[i], &bits, 4);  // any float
  }
  const QuantizeArgs a{count, r.one_in(2) ? 1.0f : 3.7f, r.one_in(2) ? 0 : r.between(-32768, 32767),
                       r.one_in(2) ? 0 : -32768, 32767};
  const uint32_t ys = static_cast<uint32_t>(count) * 2;
  const Guarded expected = guarded(0, ys), found = guarded(1, ys);
  Line line("@differs quantize_s16 ");
  line.number(seed).text(" count ").signed_number(count);
  if constexpr (!kHasMveFloat) return Outcome::not_served;
  quantize_s16(a, x, steps_of(expected));
  if constexpr (kHasMveFloat) quantize_s16_mve(a, x, steps_of(found));
  return compared(expected, found, ys, nullptr, line);
}

Outcome check_requantize(uint32_t seed) {
  Random r(seed);
  const bool to_int8 = r.one_in(2);
  RequantizeArgs a{r.between(1, 70),
                   to_int8 ? 0 : r.between(-128, 127),
                   r.between(0, 32767),
                   r.between(-15, 15),
                   to_int8 ? r.between(-128, 127) : 0,
                   0,
                   0};
  bounds_s16(r, &a.y_min, &a.y_max);
  if (to_int8) a.y_min = r.between(-128, 127), a.y_max = r.between(a.y_min, 127);
  const int16_t* wide = some_steps(r, at_end_of_pool, a.count);
  const auto* narrow = reinterpret_cast<const int8_t*>(wide);
  const uint32_t ys = static_cast<uint32_t>(a.count) * (to_int8 ? 1 : 2);
  const Guarded expected = guarded(0, ys), found = guarded(1, ys);
  Line line("@differs requantize ");
  line.number(seed).text(" count ").signed_number(a.count).text(" shift ").signed_number(a.shift);
  if constexpr (!kHasMve) return Outcome::not_served;
  if (to_int8) requantize_s8(a, wide, expected.data);
  else requantize_s16(a, narrow, steps_of(expected));
  if constexpr (kHasMve) {
    if (to_int8) requantize_s8_mve(a, wide, found.data);
    else requantize_s16_mve(a, narrow, steps_of(found));
  }
  return compared(expected, found, ys, nullptr, line);
}

}  // namespace deuteron
