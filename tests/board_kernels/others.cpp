// SPDX-License-Identifier: Apache-2.0
// Cases of the kernels that do not multiply matrices.
#include <cstring>

#include "kernels/add/kernel.h"
#include "kernels/avg_pool2d/kernel.h"
#include "kernels/dequantize/kernel.h"
#include "kernels/image/window.h"
#include "kernels/linear/once/kernel.h"
#include "kernels/linear/packed_add/kernel.h"
#include "kernels/max_pool2d/kernel.h"
#include "kernels/minimum/kernel.h"
#include "kernels/mul/kernel.h"
#include "kernels/quantize/bytes/kernel.h"
#include "kernels/quantize/kernel.h"
#include "kernels/reduce/kernel.h"
#include "runtime/instruction_set.h"
#include "tests/board_kernels/case.h"

namespace deuteron {
namespace {

// Two operands, the second one repeated, and where the result goes: in a third of the cases over
// the first.
struct Pair {
  int32_t count, period;
  int8_t *x, *other;
  Guarded expected, found;
};
Pair some_pair(Random& r) {
  Pair p{};
  p.period = r.between(1, r.one_in(2) ? 24 : 300);
  p.count = r.one_in(2) ? p.period : p.period * r.between(1, 6);
  const uint32_t count = static_cast<uint32_t>(p.count);
  p.x = at_end_of_pool(count), p.other = at_end_of_ram(static_cast<uint32_t>(p.period));
  fill_bytes(r, p.x, p.count);
  fill_bytes(r, p.other, p.period);
  p.expected = guarded(0, count);
  p.found = guarded(1, count, r.between(0, 3));
  return p;
}
// The operand that the kernel under test reads: the output's own bytes when it works in place.
const int8_t* operand(Random& r, const Pair& p) {
  if (!r.one_in(3)) return p.x;
  std::memcpy(p.found.data, p.x, static_cast<uint32_t>(p.count));
  return p.found.data;
}

}  // namespace

Outcome check_add(uint32_t seed) {
  Random r(seed);
  const Pair p = some_pair(r);
  AddArgs a{};
  a.count = p.count, a.period = p.period;
  Rescale* const rescales[] = {&a.x, &a.other, &a.y};
  for (Rescale* s : rescales) {
    s->zero = a_zero(r);
    fill_scales(r, &s->multiplier, &s->shift, 1);
  }
  if (!r.one_in(4)) a.y.shift = -r.between(1, 20);
  bounds(r, &a.y_min, &a.y_max);
  Line line("@differs add ");
  line.number(seed).text(" count,period ").signed_number(a.count).text(" ").signed_number(a.period);
  if constexpr (kHasMve) {
    if (why_not_add_mve(a)) return Outcome::not_served;
    add_s8(a, p.x, p.other, p.expected.data);
    add_s8_mve(a, operand(r, p), p.other, p.found.data);
    return compared(p.expected, p.found, static_cast<uint32_t>(a.count), nullptr, line);
  }
  if constexpr (kHasDsp) {
    if (why_not_add_dsp(a)) return Outcome::not_served;
    add_s8(a, p.x, p.other, p.expected.data);
    add_s8_dsp(a, operand(r, p), p.other, p.found.data);
    return compared(p.expected, p.found, static_cast<uint32_t>(a.count), nullptr, line);
  }
  if constexpr (kHasScalar) {
    if (why_not_add_scalar(a)) return Outcome::not_served;
    add_s8(a, p.x, p.other, p.expected.data);
    add_s8_scalar(a, operand(r, p), p.other, p.found.data);
    return compared(p.expected, p.found, static_cast<uint32_t>(a.count), nullptr, line);
  }
  return Outcome::not_served;
}

Outcome check_linear_once(uint32_t seed) {
  Random r(seed);
  LinearOnceArgs a{};
  constexpr int32_t kMost = 40;
  a.rows = r.between(1, 4), a.outputs = r.between(1, kMost);
  a.inputs = r.one_in(10) ? r.between(1000, 2500) : r.between(1, 200);
  a.y_zero = a_zero(r);
  bounds(r, &a.y_min, &a.y_max);
  static int32_t first[kMost], multiplier[kMost], shift[kMost];
  fill_sums(r, first, a.outputs);
  fill_scales(r, multiplier, shift, a.outputs);
  const auto [x, weight] = some_layer(r, a.rows * a.inputs, a.outputs * a.inputs);
  const uint32_t ys = static_cast<uint32_t>(a.rows * a.outputs);
  const Guarded expected = guarded(0, ys), found = guarded(1, ys, r.between(0, 3));
  Line line("@differs linear_once ");
  line.number(seed).text(" rows,inputs,outputs,yz,lo,hi");
  for (const int32_t v : {a.rows, a.inputs, a.outputs, a.y_zero, a.y_min, a.y_max})
    line.text(" ").signed_number(v);
  if constexpr (!kHasMve && !kHasDsp) return Outcome::not_served;
  linear_once_s8(a, x, weight, first, multiplier, shift, expected.data);
  if constexpr (kHasMve) linear_once_s8_mve(a, x, weight, first, multiplier, shift, found.data);
  else if constexpr (kHasDsp)
    linear_once_s8_dsp(a, x, weight, first, multiplier, shift, found.data);
  return compared(expected, found, ys, nullptr, line);
}

Outcome check_linear_add(uint32_t seed) {
  Random r(seed);
  const Pair p = some_pair(r);
  const auto number = [&](int32_t right) { return static_cast<int32_t>(r.next()) >> right; };
  const int32_t right = r.one_in(4) ? 0 : 9;  // sums that wrap, and others
  const LinearAddArgs a{p.count, p.period, number(right), number(right),
                        number(right == 0 ? 0 : 2)};
  Line line("@differs linear_add ");
  line.number(seed).text(" count,period ").signed_number(a.count).text(" ").signed_number(a.period);
  const bool is_q21 = r.one_in(2);
  (is_q21 ? linear_add_q21_s8 : linear_add_s8)(a, p.x, p.other, p.expected.data);
  const int8_t* const x = operand(r, p);
  if constexpr (kHasMve)
    (is_q21 ? linear_add_q21_s8_mve : linear_add_s8_mve)(a, x, p.other, p.found.data);
  else if constexpr (kHasDsp)
    (is_q21 ? linear_add_q21_s8_dsp : linear_add_s8_dsp)(a, x, p.other, p.found.data);
  else if constexpr (kHasScalar)
    (is_q21 ? linear_add_q21_s8_scalar : linear_add_s8_scalar)(a, x, p.other, p.found.data);
  else return Outcome::not_served;
  return compared(p.expected, p.found, static_cast<uint32_t>(a.count), nullptr, line);
}

Outcome check_mul(uint32_t seed) {
  Random r(seed);
  const Pair p = some_pair(r);
  MulArgs a{};
  a.count = p.count, a.period = p.period;
  a.x_zero = r.one_in(4) ? r.between(-32768, 32767) : a_zero(r);
  a.other_zero = r.one_in(4) ? r.between(-32768, 32767) : a_zero(r);
  a.y_zero = r.one_in(4) ? r.between(-32768, 32767) : a_zero(r);
  fill_scales(r, &a.multiplier, &a.shift, 1);
  Line line("@differs mul ");
  line.number(seed).text(" count,period ").signed_number(a.count).text(" ").signed_number(a.period);
  if constexpr (kHasMve) {
    if (why_not_mul_mve(a)) return Outcome::not_served;
    mul_s8(a, p.x, p.other, p.expected.data);
    mul_s8_mve(a, operand(r, p), p.other, p.found.data);
    return compared(p.expected, p.found, static_cast<uint32_t>(a.count), nullptr, line);
  }
  if constexpr (kHasDsp || kHasScalar) {
    if (why_not_mul_words(a)) return Outcome::not_served;
    mul_s8(a, p.x, p.other, p.expected.data);
    if constexpr (kHasDsp) mul_s8_dsp(a, operand(r, p), p.other, p.found.data);
    if constexpr (kHasScalar) mul_s8_scalar(a, operand(r, p), p.other, p.found.data);
    return compared(p.expected, p.found, static_cast<uint32_t>(a.count), nullptr, line);
  }
  return Outcome::not_served;
}

namespace {

template <class Args>
void some_pool(Random& r, Args& a) {
  const int32_t most = r.one_in(10) ? 40 : 6;
  a.n = r.one_in(5) ? 2 : 1;
  a.channels = r.between(1, 40);
  a.in_h = r.between(1, most + 4), a.in_w = r.between(1, most + 4);
  a.kernel_h = r.between(1, most), a.kernel_w = r.between(1, most);
  a.stride_h = r.between(1, 3), a.stride_w = r.between(1, 3);
  a.pad_h = r.between(0, a.kernel_h - 1), a.pad_w = r.between(0, a.kernel_w - 1);
}
int32_t windows(int32_t in, int32_t reach, int32_t stride, int32_t pad) {
  return (in + 2 * pad - reach) / stride + 1;
}

}  // namespace

Outcome check_avg_pool2d(uint32_t seed) {
  Random r(seed);
  AvgPool2dArgs a{};
  do {
    some_pool(r, a);
    if (r.one_in(20))
      a.in_w = a.kernel_w = r.between(250, 600), a.channels = r.between(1, 9),
      a.in_h = a.kernel_h = 1, a.pad_w = a.pad_h = 0;
  } while (a.in_h + 2 * a.pad_h < a.kernel_h || a.in_w + 2 * a.pad_w < a.kernel_w);
  a.out_h = windows(a.in_h, a.kernel_h, a.stride_h, a.pad_h),
  a.out_w = windows(a.in_w, a.kernel_w, a.stride_w, a.pad_w);
  a.base = r.one_in(2) ? kBytesBase : 0;
  const uint32_t xs = static_cast<uint32_t>(a.n * a.in_h * a.in_w * a.channels),
                 ys = static_cast<uint32_t>(a.n * a.out_h * a.out_w * a.channels);
  int8_t* x = at_end_of_pool(xs);
  fill_bytes(r, x, static_cast<int32_t>(xs));
  const Guarded expected = guarded(0, ys), found = guarded(1, ys, r.between(0, 3));
  Line line("@differs avg_pool2d ");
  const int32_t values[] = {a.n,     a.in_h,     a.in_w,     a.channels, a.out_h,
                            a.out_w, a.kernel_h, a.kernel_w, a.stride_h, a.stride_w,
                            a.pad_h, a.pad_w,    a.base};
  line.number(seed).text(" n,ih,iw,c,oh,ow,kh,kw,sh,sw,ph,pw,base");
  for (const int32_t v : values) line.text(" ").signed_number(v);
  if constexpr (kHasMve) {
    avg_pool2d_s8(a, x, expected.data);
    avg_pool2d_s8_mve(a, x, found.data);
    return compared(expected, found, ys, nullptr, line);
  }
  if constexpr (kHasDsp || kHasScalar) {
    avg_pool2d_s8(a, x, expected.data);
    if constexpr (kHasDsp) avg_pool2d_s8_dsp(a, x, found.data);
    if constexpr (kHasScalar) avg_pool2d_s8_scalar(a, x, found.data);
    return compared(expected, found, ys, nullptr, line);
  }
  return Outcome::not_served;
}

Outcome check_sum(uint32_t seed) {
  Random r(seed);
  SumArgs a{};
  a.outer = r.between(1, 3), a.inner = r.one_in(4) ? 1 : r.between(1, 70);
  a.slice = r.one_in(10) ? r.between(250, 600) : r.between(1, 40);
  a.x_zero = r.between(-128, 127), a.y_zero = r.between(-128, 127);
  fill_scales(r, &a.multiplier, &a.shift, 1);
  a.low = r.one_in(3) ? r.between(-128, 0) : -128, a.high = r.one_in(3) ? r.between(0, 127) : 127;
  const uint32_t xs = static_cast<uint32_t>(a.outer * a.slice * a.inner),
                 ys = static_cast<uint32_t>(a.outer * a.inner);
  int8_t* x = at_end_of_pool(xs);
  fill_bytes(r, x, static_cast<int32_t>(xs));
  const Guarded expected = guarded(0, ys), found = guarded(1, ys, r.between(0, 3));
  Line line("@differs sum ");
  line.number(seed)
      .text(" outer,slice,inner ")
      .signed_number(a.outer)
      .text(" ")
      .signed_number(a.slice)
      .text(" ")
      .signed_number(a.inner);
  if constexpr (kHasMve) {
    if (why_not_sum_mve(a)) return Outcome::not_served;
    sum_s8(a, x, expected.data);
    sum_s8_mve(a, x, found.data);
    return compared(expected, found, ys, nullptr, line);
  }
  if constexpr (kHasDsp || kHasScalar) {
    sum_s8(a, x, expected.data);
    if constexpr (kHasDsp) sum_s8_dsp(a, x, found.data);
    if constexpr (kHasScalar) sum_s8_scalar(a, x, found.data);
    return compared(expected, found, ys, nullptr, line);
  }
  return Outcome::not_served;
}

Outcome check_max_pool2d(uint32_t seed) {
  Random r(seed);
  MaxPool2dArgs a{};
  do {
    some_pool(r, a);
    a.dilation_h = r.one_in(3) ? 2 : 1, a.dilation_w = r.one_in(3) ? 2 : 1;
    const int32_t reach_h = (a.kernel_h - 1) * a.dilation_h + 1,
                  reach_w = (a.kernel_w - 1) * a.dilation_w + 1;
    a.out_h = a.in_h + 2 * a.pad_h < reach_h ? 0 : windows(a.in_h, reach_h, a.stride_h, a.pad_h);
    a.out_w = a.in_w + 2 * a.pad_w < reach_w ? 0 : windows(a.in_w, reach_w, a.stride_w, a.pad_w);
  } while (a.out_h < 1 || a.out_w < 1);
  bounds(r, &a.y_min, &a.y_max);
  const uint32_t xs = static_cast<uint32_t>(a.n * a.in_h * a.in_w * a.channels),
                 ys = static_cast<uint32_t>(a.n * a.out_h * a.out_w * a.channels);
  int8_t* x = at_end_of_pool(xs);
  fill_bytes(r, x, static_cast<int32_t>(xs));
  const Guarded expected = guarded(0, ys), found = guarded(1, ys, r.between(0, 3));
  Line line("@differs max_pool2d ");
  const int32_t values[] = {a.n,          a.in_h,       a.in_w,     a.channels, a.out_h, a.out_w,
                            a.kernel_h,   a.kernel_w,   a.stride_h, a.stride_w, a.pad_h, a.pad_w,
                            a.dilation_h, a.dilation_w, a.y_min,    a.y_max};
  line.number(seed).text(" n,ih,iw,c,oh,ow,kh,kw,sh,sw,ph,pw,dh,dw,lo,hi");
  for (const int32_t v : values) line.text(" ").signed_number(v);
  if constexpr (kHasMve) {
    max_pool2d_s8(a, x, expected.data);
    max_pool2d_s8_mve(a, x, found.data);
    return compared(expected, found, ys, nullptr, line);
  }
  if constexpr (kHasDsp || kHasScalar) {
    max_pool2d_s8(a, x, expected.data);
    if constexpr (kHasDsp) max_pool2d_s8_dsp(a, x, found.data);
    if constexpr (kHasScalar) max_pool2d_s8_scalar(a, x, found.data);
    return compared(expected, found, ys, nullptr, line);
  }
  return Outcome::not_served;
}

Outcome check_quantize(uint32_t seed) {
  Random r(seed);
  QuantizeArgs a{};
  a.count = r.one_in(4) ? kQuantizeBlock * r.between(1, 12) : r.between(1, 200);
  const uint32_t count = static_cast<uint32_t>(a.count);
  float* x = reinterpret_cast<float*>(at_end_of_pool(4 * count));
  a.reciprocal = r.one_in(4) ? 1.0f : static_cast<float>(r.between(1, 100000)) / 1000.0f;
  a.zero = a_zero(r);
  bounds(r, &a.low, &a.high);
  for (int32_t i = 0; i < a.count; ++i) {
    uint32_t bits = r.next();
    const int32_t way = r.between(0, 9);
    if (way == 0) std::memcpy(x + i, &bits, 4);  // any float: NaN and infinity too
    else
      x[i] = static_cast<float>(r.between(-400, 400)) /
             (way < 5 ? 2.0f : 7.0f);  // halves, which go to even numbers
  }
  const Guarded expected = guarded(0, count), found = guarded(1, count, r.between(0, 3));
  Line line("@differs quantize ");
  line.number(seed)
      .text(" count,zero,low,high ")
      .signed_number(a.count)
      .text(" ")
      .signed_number(a.zero)
      .text(" ");
  line.signed_number(a.low).text(" ").signed_number(a.high);
  if constexpr (kHasMveFloat) {
    quantize_s8_as_mve(a, x, expected.data);
    const bool in_place = r.one_in(3);
    const auto run =
        a.count % kQuantizeBlock == 0 && r.one_in(2) ? quantize_s8_mve_blocks : quantize_s8_mve;
    run(a, x, in_place ? reinterpret_cast<int8_t*>(x) : found.data);
    if (in_place) std::memcpy(found.data, x, count);
    return compared(expected, found, count, nullptr, line);
  }
  if constexpr (kHasDspFloat) {
    quantize_s8(a, x, expected.data);
    const bool in_place = r.one_in(3);
    quantize_s8_dsp(a, x, in_place ? reinterpret_cast<int8_t*>(x) : found.data);
    if (in_place) std::memcpy(found.data, x, count);
    return compared(expected, found, count, nullptr, line);
  }
  if constexpr (kHasSoftFloat) {
    quantize_s8(a, x, expected.data);
    const bool in_place = r.one_in(3);
    quantize_s8_scalar(a, x, in_place ? reinterpret_cast<int8_t*>(x) : found.data);
    if (in_place) std::memcpy(found.data, x, count);
    return compared(expected, found, count, nullptr, line);
  }
  return Outcome::not_served;
}

Outcome check_dequantize(uint32_t seed) {
  Random r(seed);
  DequantizeArgs a{};
  a.count = r.between(1, 200);
  a.scale = static_cast<float>(r.between(-100000, 100000)) / 777.0f;
  a.zero = a_zero(r);
  const uint32_t count = static_cast<uint32_t>(a.count);
  int8_t* x = at_end_of_pool(count);
  fill_bytes(r, x, a.count);
  const Guarded expected = guarded(0, 4 * count), found = guarded(1, 4 * count);
  Line line("@differs dequantize ");
  line.number(seed).text(" count,zero ").signed_number(a.count).text(" ").signed_number(a.zero);
  if constexpr (kHasMveFloat) {
    dequantize_s8(a, x, reinterpret_cast<float*>(expected.data));
    dequantize_s8_mve(a, x, reinterpret_cast<float*>(found.data));
    return compared(expected, found, 4 * count, nullptr, line);
  }
  if constexpr (kHasDspFloat) {
    dequantize_s8(a, x, reinterpret_cast<float*>(expected.data));
    dequantize_s8_dsp(a, x, reinterpret_cast<float*>(found.data));
    return compared(expected, found, 4 * count, nullptr, line);
  }
  if constexpr (kHasSoftFloat) {
    if (r.one_in(2)) {  // any scale that is a number
      const uint32_t bits = r.next();
      std::memcpy(&a.scale, &bits, sizeof bits);
      if ((bits >> 23 & 0xff) == 0xff) return Outcome::not_served;
    }
    dequantize_s8(a, x, reinterpret_cast<float*>(expected.data));
    dequantize_s8_scalar(a, x, reinterpret_cast<float*>(found.data));
    return compared(expected, found, 4 * count, nullptr, line);
  }
  return Outcome::not_served;
}

namespace {

using Extremum = void (*)(const ExtremumArgs&, const int8_t*, const int8_t*, int8_t*);

[[maybe_unused]] Outcome check_extremum(uint32_t seed, const char* name, Extremum portable,
                                        Extremum own) {
  Random r(seed);
  ExtremumArgs a{};
  a.rank = r.between(1, 3);
  int32_t count = 1, xs = 1, others = 1;
  Line line("@differs ");
  line.text(name).text(" ").number(seed).text(" extent,x_step,other_step");
  for (int32_t k = a.rank - 1; k >= 0; --k) {
    a.extent[k] = r.one_in(3) ? r.between(1, 70) : r.between(1, 9);
    const int32_t way = r.between(0, 3);  // 0: x is broadcast, 1: the other one is
    a.x_step[k] = way == 0 ? 0 : xs, a.other_step[k] = way == 1 ? 0 : others;
    if (way != 0) xs *= a.extent[k];
    if (way != 1) others *= a.extent[k];
    count *= a.extent[k];
    line.text(" ")
        .signed_number(a.extent[k])
        .text(",")
        .signed_number(a.x_step[k])
        .text(",")
        .signed_number(a.other_step[k]);
  }
  if (count > 1 << 17) return Outcome::not_served;  // more than there is room for
  if (a.rank == 2 && r.one_in(4)) {                 // x is stored in the other order
    a.x_step[0] = 1, a.x_step[1] = a.extent[0];
    xs = count;
  }
  int8_t *x = at_end_of_pool(static_cast<uint32_t>(xs)),
         *other = at_end_of_ram(static_cast<uint32_t>(others));
  fill_bytes(r, x, xs);
  fill_bytes(r, other, others);
  const uint32_t ys = static_cast<uint32_t>(count);
  const Guarded expected = guarded(0, ys), found = guarded(1, ys, r.between(0, 3));
  portable(a, x, other, expected.data);
  own(a, x, other, found.data);
  return compared(expected, found, ys, nullptr, line);
}

}  // namespace

Outcome check_minimum(uint32_t seed) {
  if constexpr (kHasMve) return check_extremum(seed, "minimum", minimum_s8, minimum_s8_mve);
  if constexpr (kHasDsp) return check_extremum(seed, "minimum", minimum_s8, minimum_s8_dsp);
  if constexpr (kHasScalar) return check_extremum(seed, "minimum", minimum_s8, minimum_s8_scalar);
  return Outcome::not_served;
}
Outcome check_maximum(uint32_t seed) {
  if constexpr (kHasMve) return check_extremum(seed, "maximum", maximum_s8, maximum_s8_mve);
  if constexpr (kHasDsp) return check_extremum(seed, "maximum", maximum_s8, maximum_s8_dsp);
  if constexpr (kHasScalar) return check_extremum(seed, "maximum", maximum_s8, maximum_s8_scalar);
  return Outcome::not_served;
}

Outcome check_quantize_bytes(uint32_t seed) {
  Random r(seed);
  QuantizeBytesArgs a{0, r.between(0, 5), r.one_in(2) ? 1 : r.between(1, 60)};
  a.count = r.between(1, 60) * (a.channels > 0 ? a.channels * a.run : 1);
  const int32_t entries = a.channels * kByteValues;
  int8_t *bytes = at_end_of_pool(static_cast<uint32_t>(a.count)),
         *table = at_end_of_ram(static_cast<uint32_t>(entries));
  fill_bytes(r, bytes, a.count);
  fill_bytes(r, table, entries);
  const auto* x = reinterpret_cast<const uint8_t*>(bytes);
  const auto count = static_cast<uint32_t>(a.count);
  const Guarded expected = guarded(0, count), found = guarded(1, count);
  Line line("@differs quantize_bytes ");
  line.number(seed)
      .text(" count,channels,run ")
      .signed_number(a.count)
      .text(" ")
      .signed_number(a.channels)
      .text(" ")
      .signed_number(a.run);
  if constexpr (!kHasMve) return Outcome::not_served;
  quantize_bytes_s8(a, x, table, expected.data);
  if constexpr (kHasMve) quantize_bytes_s8_mve(a, x, table, found.data);
  return compared(expected, found, count, nullptr, line);
}

}  // namespace deuteron
