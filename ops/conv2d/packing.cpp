// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/packing.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "kernels/conv2d/packed_shifts/kernel.h"
#include "kernels/conv_transpose2d/packed/kernel.h"
#include "kernels/image/window.h"
#include "kernels/integer/requantize.h"
#include "kernels/linear/packed/kernel.h"
#include "ops/common/multiplier.h"
#include "ops/conv2d/packed_call.h"
#include "ops/conv2d/w4_form.h"

namespace deuteron {
namespace {

// A layer on its way to a packed one.
struct Dense {
  PackedConv2dArgs a{};
  Constant weight;         // [out_c,kernel_h,kernel_w,in_c]: large, so never copied
  std::vector<i64> first;  // bias, and what the zero point of x adds
  std::vector<Multiplier> multipliers;
  // Filters of make_constant(), whose weights count as 0; empty: not yet known.
  std::vector<bool> is_constant;
  bool once = false;  // sums are rounded once: requantize_once()
  StepRange range{};
};

i32 narrow(i64 v) {
  DEUTERON_CHECK(v >= INT32_MIN && v <= INT32_MAX, std::to_string(v));
  return static_cast<i32>(v);
}

i64 sum_of_filter(const Dense& d, i64 filter, bool magnitudes) {
  i64 sum = 0;
  if (!d.is_constant.empty() && d.is_constant[static_cast<size_t>(filter)]) return sum;
  const auto length = static_cast<size_t>(d.a.length());
  const auto weights = d.weight.as<int8_t>().subspan(static_cast<size_t>(filter) * length, length);
  for (const int8_t w : weights) sum += magnitudes ? std::abs(w) : w;
  return sum;
}

// An image of one column and one of one row are the same bytes, and loops run along rows: but for
// taps that are apart in windows that are not side by side, for which a column has a loop.
PackedConv2dArgs along_an_axis(PackedConv2dArgs a) {
  const bool is_column = a.in_w == 1 && a.out_w == 1 && a.kernel_w == 1 && a.pad_w == 0;
  const bool is_row = a.in_h == 1 && a.out_h == 1 && a.kernel_h == 1 && a.pad_h == 0;
  const bool turns = is_row ? a.dilation_w > 1 && (a.stride_w > 1 || a.n > 1)
                            : is_column && (a.dilation_h == 1 || (a.stride_h == 1 && a.n == 1));
  if (!turns || packed_conv2d_is_rows(a)) return a;
  std::swap(a.in_h, a.in_w), std::swap(a.out_h, a.out_w), std::swap(a.kernel_h, a.kernel_w);
  std::swap(a.stride_h, a.stride_w), std::swap(a.pad_h, a.pad_w);
  std::swap(a.dilation_h, a.dilation_w);
  return a;
}

Dense dense_of(const DenseNumbers& n) {
  Dense d{n.is_transposed ? n.a : along_an_axis(n.a),
          n.weight,
          {n.bias.begin(), n.bias.end()},
          n.multipliers,
          {},
          n.rounds_once,
          n.range};
  d.first.resize(static_cast<size_t>(n.a.out_c));
  return d;
}

// A scale of one filter as the packed kernels have it: no shift, and `more` added to its sums.
struct Unshifted {
  i32 multiplier = 0;
  i64 more = 0;
};

i32 step_of(i64 sum, const Multiplier& m, i32 zero, bool once = false) {
  const auto v = static_cast<i32>(sum);
  return clamp_to(
      add_wrapping(once ? requantize_once(v, m.value, m.shift) : requantize(v, m.value, m.shift),
                   zero),
      -128, 127);
}

// Whether both give the same int8 for every sum of low..high. Both never fall, so that the ends of
// each step say it.
bool same_steps(const Unshifted& u, const Multiplier& m, i64 low, i64 high, i32 zero) {
  for (i64 v = low; v <= high;) {
    const i32 y = step_of(v, m, zero);
    i64 last = v, behind = high + 1;  // the last sum of this step: in last..behind-1
    while (behind - last > 1) {
      const i64 middle = last + (behind - last) / 2;
      (step_of(middle, m, zero) == y ? last : behind) = middle;
    }
    const Multiplier plain{u.multiplier, 0};
    if (step_of(v + u.more, plain, zero) != y || step_of(last + u.more, plain, zero) != y)
      return false;
    v = last + 1;
  }
  return true;
}

// A filter that gives one int8 whatever it sees, as one with a scale next to nothing does: a sum
// that gives it without any weights.
bool make_constant(Dense& d, i64 filter, i64 low, i64 high) {
  if (low < INT32_MIN || high > INT32_MAX) return false;
  const i32 y = step_of(low, d.multipliers[filter], d.a.y_zero, d.once);
  if (y != step_of(high, d.multipliers[filter], d.a.y_zero, d.once)) return false;
  d.first[filter] = (y - d.a.y_zero) * 256;
  d.multipliers[filter] = d.once ? Multiplier{1 << 30, -7} : Multiplier{1 << 23, 0};
  return true;
}

// Scales below 2^-12 have a shift, and are rounded twice. Most are of channels that hardly ever
// change, where a plain multiplier gives the same steps; it is looked for beside the rounded one,
// and proved on all sums that the filter can have.
std::optional<Unshifted> without_shift(const Multiplier& from, i64 low, i64 high, i32 zero) {
  constexpr i32 kReach = 3;
  if (from.shift == 0) return Unshifted{from.value, 0};
  if (from.shift > 0) return std::nullopt;
  const i32 rounded = round_shift_right(from.value, -from.shift);
  for (i32 m = std::max(rounded - kReach, 0); m <= rounded + kReach; ++m)
    for (i64 more = -kReach; more <= kReach; ++more)
      if (const Unshifted u{m, more}; same_steps(u, from, low, high, zero)) return u;
  return std::nullopt;
}

// Of a sum that is rounded once: a multiplier of fewer bits, likewise proved.
std::optional<Unshifted> without_shift_once(const Multiplier& from, i64 low, i64 high, i32 zero) {
  const auto m = multiplier_rounding_once(std::ldexp(from.value, from.shift - 31), {low, high},
                                          -128 - zero, 127 - zero);
  return m && m->shift == 0 ? std::optional<Unshifted>({m->value, 0}) : std::nullopt;
}

// Scales lose their shifts.
std::optional<Refusal> make_unshifted(Dense& d, Packing p) {
  const i64 most = p == Packing::mve_4x16 ? INT32_MAX : (i64{1} << 30) - 1;
  for (i64 o = 0; o < d.a.out_c; ++o) {
    const i64 reach = 128 * sum_of_filter(d, o, true);
    const auto without = d.once ? without_shift_once : without_shift;
    const auto plain =
        without(d.multipliers[o], d.first[o] - reach, d.first[o] + reach, d.a.y_zero);
    if (!plain)
      return Refusal{"a scale needs a shift", std::to_string(d.multipliers[o].shift), "0", ""};
    if (plain->multiplier > most)
      return Refusal{"a scale is too large", std::to_string(plain->multiplier),
                     std::to_string(most), ""};
    d.multipliers[o] = {plain->multiplier, 0}, d.first[o] += plain->more;
  }
  return std::nullopt;
}

// Scales as the loops for many windows have them: all with a shift. Constant filters get one; a
// scale of a half or more has none.
std::optional<Refusal> make_all_shifted(Dense& d, Packing p) {
  for (i64 o = 0; o < d.a.out_c; ++o) {
    if (d.is_constant[o]) d.first[o] /= 64, d.multipliers[o] = {1 << 30, -1};
    const i32 shift = d.multipliers[o].shift;
    if (shift > -1)
      return Refusal{"a scale is a half or more, beside others that need shifts",
                     std::to_string(shift), "-1", ""};
    if (shift < least_windows_shift(p))
      return Refusal{"a scale needs too large a shift", std::to_string(shift),
                     std::to_string(least_windows_shift(p)), ""};
  }
  d.a.has_shifts = true;
  return std::nullopt;
}

// What kernels/conv2d/packed/kernel.h leaves to the compiler.
std::optional<Refusal> make_exact(Dense& d, Packing p) {
  constexpr i64 kMostSum = i64{1} << 30, kMostUpper = i64{1} << 23;
  if (d.a.x_zero < -128 || d.a.x_zero > 127)
    return Refusal{"the zero point of the input is no int8", "", "", ""};
  if (d.range != StepRange{-128, 127})
    return Refusal{"the result has bounds of its own", "", "", ""};
  d.is_constant.assign(d.a.out_c, false);
  for (i64 o = 0; o < d.a.out_c; ++o) {
    const Multiplier& m = d.multipliers[o];
    if (m.value < 0) return Refusal{"a scale is negative", std::to_string(m.value), "0", ""};
    const i64 reach = 128 * sum_of_filter(d, o, true), sum = std::abs(d.first[o]) + reach;
    d.is_constant[o] = m.shift <= 0 && make_constant(d, o, d.first[o] - reach, d.first[o] + reach);
    if (d.is_constant[o]) continue;
    if (sum >= kMostSum)
      return Refusal{"a sum may become too large", std::to_string(sum),
                     std::to_string(kMostSum - 1), ""};
    if (p == Packing::dsp_4x4 && reach >= kMostUpper)
      return Refusal{"a filter's weights are too large for 24 bits", std::to_string(reach),
                     std::to_string(kMostUpper - 1), ""};
  }
  Dense unshifted = d;
  const auto why = make_unshifted(unshifted, p);
  if (!why) {
    d = std::move(unshifted);
    return std::nullopt;
  }
  if (d.once && p == Packing::scalar_1x4) return why;  // its loops round twice
  // Only sums that are rounded once meet the filters row by row: windows two at a time are faster.
  const bool takes_shifts = p == Packing::scalar_1x4 || packed_conv2d_is_alone(d.a) ||
                            (d.once && packed_conv2d_is_rows(d.a));
  if (!takes_shifts && !d.once) return make_all_shifted(d, p);
  const auto most_shifted = std::ranges::max_element(d.multipliers, {}, &Multiplier::shift);
  d.a.has_shifts = takes_shifts && most_shifted->shift <= (d.once ? -1 : 0);
  if (d.once)
    for (Multiplier& m : d.multipliers) m.shift = once_shift(m.shift);
  return d.a.has_shifts ? std::nullopt : why;
}

// Whether deuteron::packed_linear gives the bits of a call that make_exact() has seen to.
bool is_exact_behind_relu(const Dense& d, Packing p) {
  if (p == Packing::scalar_1x4 || d.a.x_zero != -128 || why_not_packed_linear(d.a, p)) return false;
  for (i64 o = 0; p == Packing::dsp_4x4 && o < d.a.out_c; ++o)
    if (255 * sum_of_filter(d, o, true) >= 1 << 23) return false;
  return true;
}

// The bytes of a call's weights; make_exact() has seen to them. behind: those of
// deuteron::packed_linear.
template <Packing p>
Result<std::vector<int8_t>> packed_weights(const Dense& d, bool behind = false) {
  const PackedConv2dArgs& a = d.a;
  const i32 length = a.length();
  std::vector<i32> first, values, shifts;
  for (i64 o = 0; o < a.out_c; ++o) {
    first.push_back(narrow(d.first[o] + (behind ? a.x_zero * sum_of_filter(d, o, false) : 0)));
    values.push_back(d.multipliers[o].value), shifts.push_back(d.multipliers[o].shift);
  }
  const auto weights = d.weight.as<int8_t>();
  // Element e of a window in the order of the packing.
  const auto weight = [&](i32 f, i32 e) {
    const i32 channel = e % a.in_c, tap = e / a.in_c;
    const i32 kh = p == Packing::mve_4x16 ? tap % a.kernel_h : tap / a.kernel_w,
              kw = p == Packing::mve_4x16 ? tap / a.kernel_h : tap % a.kernel_w;
    if (d.is_constant[static_cast<size_t>(f)]) return behind ? behind_relu<p>(0) : int8_t{0};
    const i32 at = (kh * a.kernel_w + kw) * a.in_c + channel;
    const int8_t w = weights[static_cast<size_t>(f) * length + at];
    return behind ? behind_relu<p>(w) : w;
  };
  const i64 bytes =
      packed_bytes(p, a.out_c, length) + (a.has_shifts ? packed_shifts_bytes(p, a.out_c) : 0);
  std::vector<int8_t> packed(static_cast<size_t>(bytes));
  if (!pack_weights<p>(a.out_c, length, first.data(), values.data(),
                       a.has_shifts ? shifts.data() : nullptr, weight, packed.data()))
    return Refusal{"the weights of two filters do not go into halfwords", "-128", "-127", ""};
  return packed;
}

template <Packing p>
Result<Lowered> pack(const DenseNumbers& n, const PackFor& to) {
  Dense d = dense_of(n);
  for (i64 o = 0; o < n.a.out_c; ++o) d.first[o] -= n.a.x_zero * sum_of_filter(d, o, false);
  PackedConv2dArgs steps = d.a;
  const char* why_not = why_not_packed_conv2d(d.a, p);
  if (!why_not) why_not = why_not_steps(steps, d.a.in_c, d.a.kernel_h);
  if (why_not) return Refusal{std::string("the call ") + why_not, "", "", ""};
  if (auto why = make_exact(d, p)) return *why;
  using enum PackedDense::Form;
  const bool is_alone = packed_conv2d_is_alone(d.a),
             behind = to.has_zeros && is_alone && is_exact_behind_relu(d, p);
  const bool many_shifted = d.a.has_shifts && !d.once && !is_alone && p != Packing::scalar_1x4;
  PackedDense packed{d.a, p, behind ? behind_relu : many_shifted ? all_shifts : plain, 0, {}};
  Result<std::vector<int8_t>> weights = packed_weights<p>(d, behind);
  if (!weights) return weights.why;
  if (to.may_be_four_bits && packed.form == plain)
    if (auto w4 = four_bit_weights(d.a, p, *weights)) packed.form = four_bits, weights = *w4;
  return packed_call(packed, to.operands, *std::move(weights.value));
}

// A transposed convolution, whose phases are packed one behind the other.
template <Packing p>
Result<Lowered> pack_phases(const DenseNumbers& n, const PackFor& to) {
  auto a = window_args<PackedConvTranspose2dArgs>(n);
  a.x_zero = n.a.x_zero, a.y_zero = n.a.y_zero;
  if (const char* why = why_not_packed_conv_transpose2d(a, p))
    return Refusal{std::string("the call ") + why, "", "", ""};
  const Dense d = dense_of(n);
  std::vector<int8_t> all;
  std::optional<Refusal> refusal;
  const auto pack_phase = [&](i32 ph, i32 pw) {
    const AxisPhase h = phase_of(ph, a.kernel_h, a.stride_h, a.pad_h, a.out_h),
                    w = phase_of(pw, a.kernel_w, a.stride_w, a.pad_w, a.out_w);
    Dense part = d;
    part.a = packed_phase(a, h, w);
    std::vector<int8_t> weight;
    for (i32 o = 0; o < a.out_c; ++o)
      for (i32 th = h.taps - 1; th >= 0; --th)
        for (i32 tw = w.taps - 1; tw >= 0; --tw) {
          const i64 kh = h.first_tap + th * a.stride_h, kw = w.first_tap + tw * a.stride_w;
          const auto tap = d.weight.as<int8_t>().begin() +
                           ((i64{o} * a.kernel_h + kh) * a.kernel_w + kw) * a.in_c;
          weight.insert(weight.end(), tap, tap + a.in_c);
        }
    part.weight = constant_of(std::move(weight));
    for (i32 o = 0; o < a.out_c; ++o) part.first[o] -= a.x_zero * sum_of_filter(part, o, false);
    if (auto why = make_exact(part, p)) refusal = why;
    else if (part.a.has_shifts) refusal = Refusal{"a scale needs a shift", "", "0", ""};
    if (refusal) return;
    const Result<std::vector<int8_t>> packed = packed_weights<p>(part);
    if (packed) all.insert(all.end(), packed->begin(), packed->end());
    else refusal = packed.why;
  };
  for (i32 ph = 0; ph < a.stride_h && ph < a.out_h; ++ph)
    for (i32 pw = 0; pw < a.stride_w && pw < a.out_w && !refusal; ++pw) pack_phase(ph, pw);
  if (refusal) return *refusal;
  CallBuilder call("deuteron::packed_conv_transpose2d", to.operands, 1);
  const auto bytes = static_cast<i64>(all.size());
  call.overload(std::string(name_of(p)))
      .in(0, channels_last_face({a.n, a.in_h, a.in_w, a.in_c}))
      .constant(DType::s8, {bytes}, std::move(all));
  call.integers({a.kernel_h, a.kernel_w})
      .integers({a.stride_h, a.stride_w})
      .integers({a.pad_h, a.pad_w});
  call.integer(a.x_zero).integer(a.y_zero);
  const i64 most = packed_conv_transpose2d_scratch_bytes(a, p);
  call.scratch(most, {packed_conv_transpose2d_least_scratch_bytes(a, p), most});
  return call.out(0, channels_last_face({a.n, a.out_h, a.out_w, a.out_c})).done();
}

template <Packing p>
Result<Lowered> pack_as(const DenseNumbers& n, const PackFor& to) {
  if constexpr (p != Packing::scalar_1x4)
    if (n.is_transposed) return pack_phases<p>(n, to);
  return pack<p>(n, to);
}

}  // namespace

Result<Lowered> pack_layer(const DenseNumbers& n, const PackFor& to) {
  if (n.is_transposed && to.isa == Isa::scalar)
    return Refusal{"there is no packing for this instruction set", "", "", kNoPacking};
  if (n.filter_c != n.a.in_c)
    return n.is_depthwise() ? Refusal{"the convolution is depthwise", "", "", kNoPacking}
                            : Refusal{"the convolution has groups", "", "", ""};
#define DEUTERON_PACKING(name, set) \
  if (to.isa == set) return pack_as<Packing::name>(n, to);
  DEUTERON_PACKINGS(DEUTERON_PACKING)
#undef DEUTERON_PACKING
  DEUTERON_CHECK(false, std::string(name_of(to.isa)));
}

}  // namespace deuteron
