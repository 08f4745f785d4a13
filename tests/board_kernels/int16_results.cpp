// SPDX-License-Identifier: Apache-2.0
// Cases of the kernels that make int16 of int8.
#include <cstring>

#include "kernels/conv2d/s8_s16/kernel.h"
#include "kernels/depthwise_conv2d/s8_s16/kernel.h"
#include "runtime/instruction_set.h"
#include "tests/board_kernels/int16.h"

namespace deuteron {

Outcome check_conv2d_s8_s16(uint32_t seed) {
  Random r(seed);
  Axis h = some_axis(r, 6), w = some_axis(r, 14);
  const bool plain = r.one_in(3);  // pixels or rows of taps as they lie
  if (plain) h = {r.between(1, 4), 1, 1, 0, 1, 0}, h.out = h.in, w.pad = 0, w.dilation = 1;
  if (plain && r.one_in(2)) w.kernel = w.stride = 1;
  if (plain) w.in = w.kernel + r.between(0, 9), w.out = (w.in - w.kernel) / w.stride + 1;
  const bool alone = h.out == 1 && w.out == 1;
  PackedConv2dArgs layer{alone ? 1 : r.between(1, 2),
                         h.in,
                         w.in,
                         r.between(1, 40),
                         h.out,
                         w.out,
                         r.between(alone ? 1 : 4, 19),
                         h.kernel,
                         w.kernel,
                         h.stride,
                         w.stride,
                         h.pad,
                         w.pad,
                         h.dilation,
                         w.dilation,
                         a_zero(r),
                         0,
                         false,
                         0,
                         0};
  set_dense_result(layer);
  Conv2dS8S16Args a{layer, r.one_in(2) ? 0 : r.between(0, kS8S16MostShift), 0, 0};
  bounds_s16(r, &a.y_min, &a.y_max);
  if (why_not_packed_conv2d(layer, Packing::mve_4x16) != nullptr) return Outcome::not_served;
  const int32_t xs = layer.n * layer.in_h * layer.in_w * layer.in_c;
  int8_t* const x = at_end_of_ram(static_cast<uint32_t>(xs));
  fill_bytes(r, x, xs);
  const int32_t tile = static_cast<int32_t>(packed_tile_bytes(Packing::mve_4x16, layer.length())),
                bytes = packed_tiles(layer.out_c) * tile;
  int8_t* const packed = at_end_of_pool(static_cast<uint32_t>(bytes));
  fill_bytes(r, packed, bytes);
  const int32_t shift = r.between(0, 24), rest = layer.length() % kPackedBlock;
  for (int32_t t = 0; t < packed_tiles(layer.out_c); ++t)
    for (int32_t i = 0; i < kPackedTile; ++i) {
      int8_t* const last =
          packed + (t + 1) * tile - kTileNumbers - (kPackedTile - i) * kPackedBlock;
      if (rest > 0) std::memset(last + rest, 0, static_cast<size_t>(kPackedBlock - rest));
      const auto multiplier = static_cast<int32_t>((r.next() >> 1) >> shift);
      std::memcpy(packed + (t + 1) * tile - 16 + i * 4, &multiplier, 4);
    }
  const uint32_t ys = static_cast<uint32_t>(layer.n * layer.out_h * layer.out_w * layer.out_c) * 2;
  const Guarded expected = guarded(0, ys), found = guarded(1, ys);
  const Guarded scratch =
      guarded(2, static_cast<uint32_t>(packed_conv2d_scratch_bytes(layer, Packing::mve_4x16)));
  Line line("@differs conv2d_s8_s16 ");
  line.number(seed).text(" n,ih,iw,ic,oh,ow,oc,kh,kw,sh,sw,ph,pw,dh,dw");
  const int32_t values[] = {layer.n,        layer.in_h,       layer.in_w,      layer.in_c,
                            layer.out_h,    layer.out_w,      layer.out_c,     layer.kernel_h,
                            layer.kernel_w, layer.stride_h,   layer.stride_w,  layer.pad_h,
                            layer.pad_w,    layer.dilation_h, layer.dilation_w};
  for (const int32_t v : values) line.text(" ").signed_number(v);
  line.text(" shift ")
      .signed_number(a.shift)
      .text(" bounds ")
      .signed_number(a.y_min)
      .text(" ")
      .signed_number(a.y_max);
  if constexpr (!kHasMve && !kHasDsp) return Outcome::not_served;
  conv2d_s8_s16(a, x, packed, scratch.data, steps_of(expected));
  if constexpr (kHasMve) conv2d_s8_s16_mve(a, x, packed, scratch.data, steps_of(found));
  if constexpr (kHasDsp) conv2d_s8_s16_dsp(a, x, packed, scratch.data, steps_of(found));
  return compared(expected, found, ys, &scratch, line);
}

Outcome check_depthwise_conv2d_s8_s16(uint32_t seed) {
  Random r(seed);
  const Axis h = some_axis(r, 6), w = some_axis(r, 10);
  DepthwiseS8S16Args a{{r.between(1, 2), h.in, w.in, r.between(1, 37), h.out, w.out, h.kernel,
                        w.kernel, h.stride, w.stride, h.pad, w.pad, h.dilation, w.dilation, 0, 0},
                       a_zero(r)};
  bounds_s16(r, &a.layer.y_min, &a.layer.y_max);
  const int32_t xs = a.layer.n * a.layer.in_h * a.layer.in_w * a.layer.channels;
  int8_t* const x = at_end_of_ram(static_cast<uint32_t>(xs));
  fill_bytes(r, x, xs);
  const int16_t* weight =
      some_steps(r, at_end_of_pool, a.layer.kernel_h * a.layer.kernel_w * a.layer.channels);
  int32_t first[64], multiplier[64];
  fill_sums(r, first, a.layer.channels);
  const int32_t shift = r.between(0, 24);
  for (int32_t c = 0; c < a.layer.channels; ++c)
    multiplier[c] = static_cast<int32_t>((r.next() >> 1) >> shift);
  const uint32_t ys =
      static_cast<uint32_t>(a.layer.n * a.layer.out_h * a.layer.out_w * a.layer.channels) * 2;
  const Guarded expected = guarded(0, ys), found = guarded(1, ys, r.one_in(2) ? 2 : 0);
  Line line("@differs depthwise_conv2d_s8_s16 ");
  line.number(seed)
      .text(" ih,iw,c,oh,ow ")
      .signed_number(h.in)
      .text(" ")
      .signed_number(w.in)
      .text(" ")
      .signed_number(a.layer.channels);
  line.text(" ").signed_number(h.out).text(" ").signed_number(w.out);
  if constexpr (!kHasMve) return Outcome::not_served;
  depthwise_conv2d_s8_s16(a, x, weight, first, multiplier, steps_of(expected));
  if constexpr (kHasMve)
    depthwise_conv2d_s8_s16_mve(a, x, weight, first, multiplier, steps_of(found));
  return compared(expected, found, ys, nullptr, line);
}

}  // namespace deuteron
