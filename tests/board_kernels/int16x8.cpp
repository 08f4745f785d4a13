// SPDX-License-Identifier: Apache-2.0
// Cases of the kernels with TFLite's int16 arithmetic (16x8).
#include <cstring>

#include "kernels/conv2d/16x8/kernel.h"
#include "kernels/linear/16x8/kernel.h"
#include "kernels/matmul/16x8/kernel.h"
#include "runtime/instruction_set.h"
#include "tests/board_kernels/int16.h"

namespace deuteron {
namespace {

constexpr int32_t kMostFilters = 72;

struct Numbers {
  int64_t wide[kMostFilters];
  int32_t narrow[kMostFilters], multiplier[kMostFilters], shift[kMostFilters];
};

// narrow: multipliers of 31 bits, shifts to the left and to the right.
void fill_numbers(Random& r, bool narrow, int32_t filters, Numbers& to) {
  fill_sums(r, to.narrow, filters);
  if (narrow) return fill_scales(r, to.multiplier, to.shift, filters);
  for (int32_t o = 0; o < filters; ++o) {
    const auto high = static_cast<int64_t>(static_cast<int32_t>(r.next()));
    to.wide[o] = (high << 15 | r.between(0, 32767)) >> r.between(0, 30);
    to.multiplier[o] = r.between(0, 32767);
    to.shift[o] = r.one_in(4) ? r.between(1, 46) : r.between(20, 34);
  }
}

// More filters than channels now and then, groups, and depthwise layers, which have one channel a
// filter.
Conv2d16x8Args some_layer(Random& r) {
  const Axis h = some_axis(r, 5), w = some_axis(r, 8);
  const bool depthwise = r.one_in(2);
  const int32_t groups = depthwise ? r.between(2, 37) : r.one_in(3) ? r.between(2, 4) : 1;
  const int32_t channels = depthwise ? 1 : r.between(1, groups > 1 ? 9 : 40),
                filters = depthwise && !r.one_in(3) ? 1 : r.between(1, 2);
  const int32_t out = groups > 1 ? groups * filters : r.between(1, 17);
  Conv2d16x8Args a{r.between(1, 2),
                   h.in,
                   w.in,
                   groups * channels,
                   h.out,
                   w.out,
                   out,
                   h.kernel,
                   w.kernel,
                   channels,
                   h.stride,
                   w.stride,
                   h.pad,
                   w.pad,
                   h.dilation,
                   w.dilation,
                   0,
                   0};
  bounds_s16(r, &a.y_min, &a.y_max);
  return a;
}

}  // namespace

Outcome check_conv2d_16x8(uint32_t seed) {
  Random r(seed);
  const Conv2d16x8Args a = some_layer(r);
  const int16_t* x = some_steps(r, at_end_of_ram, a.n * a.in_h * a.in_w * a.in_c);
  const int32_t weights = a.out_c * a.kernel_h * a.kernel_w * a.kernel_c;
  int8_t* const weight = at_end_of_pool(static_cast<uint32_t>(weights));
  fill_bytes(r, weight, weights);
  const bool narrow = r.one_in(3), has_bias = !r.one_in(4);
  static Numbers n;
  fill_numbers(r, narrow, a.out_c, n);
  const int64_t* first = has_bias ? n.wide : nullptr;
  const uint32_t ys = static_cast<uint32_t>(a.n * a.out_h * a.out_w * a.out_c) * 2;
  const Guarded expected = guarded(0, ys), found = guarded(1, ys);
  Line line("@differs conv2d_16x8 ");
  line.number(seed)
      .text(narrow ? " narrow" : " wide")
      .text(" n,ih,iw,ic,oh,ow,oc,kh,kw,kc,sh,sw,ph,pw,dh,dw");
  const int32_t values[] = {a.n,     a.in_h,     a.in_w,       a.in_c,      a.out_h,    a.out_w,
                            a.out_c, a.kernel_h, a.kernel_w,   a.kernel_c,  a.stride_h, a.stride_w,
                            a.pad_h, a.pad_w,    a.dilation_h, a.dilation_w};
  for (const int32_t v : values) line.text(" ").signed_number(v);
  if constexpr (!kHasMve && !kHasDsp) return Outcome::not_served;
  if (narrow) conv2d_16x8_narrow(a, x, weight, n.narrow, n.multiplier, n.shift, steps_of(expected));
  else conv2d_16x8(a, x, weight, first, n.multiplier, n.shift, steps_of(expected));
  if constexpr (kHasMve) {
    if (narrow)
      conv2d_16x8_narrow_mve(a, x, weight, n.narrow, n.multiplier, n.shift, steps_of(found));
    else conv2d_16x8_mve(a, x, weight, first, n.multiplier, n.shift, steps_of(found));
  } else if constexpr (kHasDsp) {
    if (narrow)
      conv2d_16x8_narrow_dsp(a, x, weight, n.narrow, n.multiplier, n.shift, steps_of(found));
    else conv2d_16x8_dsp(a, x, weight, first, n.multiplier, n.shift, steps_of(found));
  }
  return compared(expected, found, ys, nullptr, line);
}

Outcome check_linear_16x8(uint32_t seed) {
  Random r(seed);
  Linear16x8Args a{r.between(1, 3), r.between(1, r.one_in(3) ? 700 : 40), r.between(1, 17), 0, 0};
  bounds_s16(r, &a.y_min, &a.y_max);
  const int16_t* x = some_steps(r, at_end_of_ram, a.rows * a.inputs);
  const int32_t weights = a.outputs * a.inputs;
  int8_t* const weight = at_end_of_pool(static_cast<uint32_t>(weights));
  fill_bytes(r, weight, weights);
  static Numbers n;
  fill_numbers(r, false, a.outputs, n);
  static int64_t scale[kMostFilters];
  for (int32_t o = 0; o < a.outputs; ++o) {
    const double s =
        (1 + static_cast<double>(r.next()) / 4294967296.0) / (int64_t{1} << r.between(0, 30));
    std::memcpy(&scale[o], &s, sizeof s);
  }
  const bool narrow = r.one_in(3);
  const uint32_t ys = static_cast<uint32_t>(a.rows * a.outputs) * 2;
  const Guarded expected = guarded(0, ys), found = guarded(1, ys);
  Line line("@differs linear_16x8 ");
  line.number(seed)
      .text(narrow ? " narrow" : " wide")
      .text(" rows,inputs,outputs ")
      .signed_number(a.rows)
      .text(" ")
      .signed_number(a.inputs);
  line.text(" ").signed_number(a.outputs);
  if constexpr (!kHasMve && !kHasDsp) return Outcome::not_served;
  if (narrow) linear_16x8_narrow(a, x, weight, n.narrow, scale, steps_of(expected));
  else linear_16x8(a, x, weight, n.wide, scale, steps_of(expected));
  if constexpr (kHasMve) {
    if (narrow) linear_16x8_narrow_mve(a, x, weight, n.narrow, scale, steps_of(found));
    else linear_16x8_mve(a, x, weight, n.wide, scale, steps_of(found));
  } else if constexpr (kHasDsp) {
    if (narrow) linear_16x8_narrow_dsp(a, x, weight, n.narrow, scale, steps_of(found));
    else linear_16x8_dsp(a, x, weight, n.wide, scale, steps_of(found));
  }
  return compared(expected, found, ys, nullptr, line);
}

Outcome check_matmul_16x8(uint32_t seed) {
  Random r(seed);
  Matmul16x8Args a{r.between(1, 3),
                   r.between(1, 9),
                   r.between(1, 12),
                   r.between(1, 40),
                   r.between(0, 32767),
                   r.between(1, 46),
                   0,
                   0};
  bounds_s16(r, &a.y_min, &a.y_max);
  const int16_t* x = some_steps(r, at_end_of_ram, a.batch * a.rows * a.inner);
  const int16_t* other = some_steps(r, at_end_of_pool, a.batch * a.columns * a.inner);
  const uint32_t ys = static_cast<uint32_t>(a.batch * a.rows * a.columns) * 2;
  const Guarded expected = guarded(0, ys), found = guarded(1, ys);
  Line line("@differs matmul_16x8 ");
  line.number(seed).text(" batch,rows,columns,inner");
  const int32_t values[] = {a.batch, a.rows, a.columns, a.inner};
  for (const int32_t v : values) line.text(" ").signed_number(v);
  if constexpr (!kHasMve && !kHasDsp) return Outcome::not_served;
  matmul_16x8(a, x, other, steps_of(expected));
  if constexpr (kHasMve) matmul_16x8_mve(a, x, other, steps_of(found));
  else if constexpr (kHasDsp) matmul_16x8_dsp(a, x, other, steps_of(found));
  return compared(expected, found, ys, nullptr, line);
}

}  // namespace deuteron
