// SPDX-License-Identifier: Apache-2.0
// Cases of the kernels that read weights of four bits: any bytes are such weights, so the bytes
// themselves are random.
#include <cstring>

#include "kernels/conv2d/packed_w4/kernel.h"
#include "kernels/image/window.h"
#include "runtime/instruction_set.h"
#include "tests/board_kernels/int16.h"

namespace deuteron {
namespace {

// Images of all kinds, pixels as they lie, and fully connected layers.
PackedConv2dArgs some_call(Random& r, Packing p) {
  Axis h = some_axis(r, 5), w = some_axis(r, 12);
  const int32_t kind = r.between(0, 3);
  if (kind == 0)
    h = {r.between(1, 4), 1, 1, 0, 1, 0}, h.out = h.in, w = {r.between(1, 9), 1, 1, 0, 1, 0},
    w.out = w.in;
  if (kind == 1) h = w = {1, 1, 1, 0, 1, 1};
  if (p == Packing::mve_4x16) w.dilation = 1;
  const int32_t channels = kind == 1 ? r.between(4, 400) : r.between(1, 50);
  PackedConv2dArgs a{kind == 1 ? 1 : r.between(1, 2),
                     h.in,
                     w.in,
                     channels,
                     h.out,
                     w.out,
                     r.between(4, 30),
                     h.kernel,
                     w.kernel,
                     h.stride,
                     w.stride,
                     h.pad,
                     w.pad,
                     h.dilation,
                     w.dilation,
                     a_zero(r),
                     a_zero(r),
                     false,
                     0,
                     0};
  set_dense_result(a);
  a.has_shifts = packed_conv2d_is_alone(a) && r.one_in(2);
  return a;
}

// Nibbles and factors of any kind, but no -128, and no more than the sums hold: multipliers and
// shifts as the compiler's.
template <Packing p>
void fill_tiles(Random& r, const PackedConv2dArgs& a, int8_t* packed, int32_t bytes) {
  const W4Tile t = w4_tile(p, a.length(), a.has_shifts);
  fill_bytes(r, packed, bytes);
  for (int8_t* tile = packed; tile < packed + bytes; tile += t.bytes) {
    for (int32_t i = t.factors; i < t.nibbles; ++i)
      tile[i] = static_cast<int8_t>(tile[i] & 0x77);  // 1..8
    for (int32_t i = 0; i < 4; ++i) {
      // As PackedNumbers of int8 stand: kernels/dense/packing.h.
      const int32_t first_at = p == Packing::mve_4x16 ? i * 4
                               : i % 2 == 0           ? i / 2 * 4
                                                      : 8 + i / 2 * 12;
      const int32_t multiplier_at =
          p == Packing::mve_4x16 ? 16 + i * 4 : 8 + i / 2 * 12 + (i % 2 == 0 ? 8 : 4);
      const int32_t first = r.between(-300000, 300000),
                    multiplier = static_cast<int32_t>(r.next() >> 2), shift = -r.between(0, 31);
      std::memcpy(tile + first_at, &first, 4);
      std::memcpy(tile + multiplier_at, &multiplier, 4);
      if (a.has_shifts) std::memcpy(tile + kTileNumbers + i * 4, &shift, 4);
    }
    // What fills up the last block or quad meets what lies behind a window.
    const int32_t rest = p == Packing::mve_4x16 ? a.length() % kPackedBlock : 0;
    for (int32_t i = rest; rest > 0 && i < kPackedBlock; ++i) {
      int8_t* const last = tile + t.bytes - 2 * kPackedBlock;
      last[i] = last[kPackedBlock + i] = static_cast<int8_t>(0x88);
    }
    const int32_t doubled = p == Packing::dsp_4x4 ? a.length() % kPackedQuad : 0;
    for (int32_t element = 0; doubled > 0 && element < kPackedQuad - doubled; ++element)
      for (int32_t i = 0; i < kPackedTile; ++i) {
        int8_t& both = tile[t.bytes - 8 + i / 2 * 4 + element / 2 * 2 + i % 2];
        both = static_cast<int8_t>(element % 2 == 1 ? (both & 0x0f) | 0x80 : (both & 0xf0) | 0x08);
      }
  }
}

template <Packing p>
Outcome run(uint32_t seed, void (*own)(const PackedConv2dArgs&, const int8_t*, const int8_t*, void*,
                                       int32_t, int8_t*)) {
  Random r(seed);
  const PackedConv2dArgs a = some_call(r, p);
  if (why_not_packed_conv2d(a, p) != nullptr || a.length() * a.out_c > 20000)
    return Outcome::not_served;
  const int32_t xs = a.n * a.in_h * a.in_w * a.in_c;
  const auto bytes = static_cast<int32_t>(w4_bytes(p, a.out_c, a.length(), a.has_shifts));
  const bool swap = r.one_in(2);
  int8_t* const x = (swap ? at_end_of_ram : at_end_of_pool)(static_cast<uint32_t>(xs));
  int8_t* const packed = (swap ? at_end_of_pool : at_end_of_ram)(static_cast<uint32_t>(bytes));
  fill_bytes(r, x, xs);
  fill_tiles<p>(r, a, packed, bytes);
  const auto least = static_cast<int32_t>(packed_conv2d_w4_least_scratch_bytes(a, p)),
             most = static_cast<int32_t>(packed_conv2d_w4_scratch_bytes(a, p));
  const int32_t room = (r.one_in(3) ? most : r.one_in(2) ? least : r.between(least, most)) / 4 * 4;
  const auto ys = static_cast<uint32_t>(a.n * a.out_h * a.out_w * a.out_c);
  const Guarded expected = guarded(0, ys), found = guarded(1, ys, r.between(0, 3));
  const Guarded for_portable = guarded(2, static_cast<uint32_t>(most)),
                scratch = guarded(3, static_cast<uint32_t>(room < least ? least : room));
  Line line("@differs packed_conv2d_w4 ");
  line.number(seed).text(" n,ih,iw,ic,oh,ow,oc,kh,kw,sh,sw,ph,pw,dh,dw,scratch");
  const int32_t values[] = {
      a.n,        a.in_h,       a.in_w,       a.in_c,
      a.out_h,    a.out_w,      a.out_c,      a.kernel_h,
      a.kernel_w, a.stride_h,   a.stride_w,   a.pad_h,
      a.pad_w,    a.dilation_h, a.dilation_w, static_cast<int32_t>(scratch.bytes)};
  for (const int32_t v : values) line.text(" ").signed_number(v);
  packed_conv2d_w4_s8<p>(a, x, packed, for_portable.data, most, expected.data);
  own(a, x, packed, scratch.data, static_cast<int32_t>(scratch.bytes), found.data);
  return compared(expected, found, ys, &scratch, line);
}

}  // namespace

Outcome check_packed_conv2d_w4(uint32_t seed) {
  if constexpr (kHasMve) return run<Packing::mve_4x16>(seed, packed_conv2d_w4_s8_mve);
  if constexpr (kHasDsp) return run<Packing::dsp_4x4>(seed, packed_conv2d_w4_s8_dsp);
  return Outcome::not_served;
}

}  // namespace deuteron
