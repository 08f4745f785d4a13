// SPDX-License-Identifier: Apache-2.0
#include "ops/packed_conv2d/packing.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "ops/image/window.h"
#include "ops/integer/multiplier.h"
#include "ops/integer/requantize.h"
#include "ops/packed_conv2d/kernel.h"
#include "ops/packed_conv2d_shifts/kernel.h"
#include "ops/packed_conv_transpose2d/kernel.h"
#include "ops/packed_linear/kernel.h"

namespace deuteron {
namespace {

// What the plain kernels have in common.
struct Dense {
  PackedConv2dArgs a{};
  i64 x = 0;  // operand
  Face x_face, y_face;
  std::vector<int8_t> weight;  // [out_c,kernel_h,kernel_w,in_c]
  std::vector<i64> first;      // bias, and what the zero point of x adds
  std::vector<i32> multiplier, shift;
  std::vector<bool> is_constant;  // filters of make_constant(); empty: not yet known
  bool once = false;              // sums are rounded once: requantize_once()
  i64 y_min = 0, y_max = 0;
};

i64 integer(const PlainCall& c, int arg) { return c.call.args[arg].integer; }
const Face& face(const PlainCall& c, int arg) { return c.call.args[arg].face; }
// Null: none, or no constant.
const Constant* constant(const PlainCall& c, int arg) {
  const KernelArg& a = c.call.args[arg];
  return a.kind == KernelArg::Kind::input ? c.data[a.integer] : nullptr;
}
bool is_none(const PlainCall& c, int arg) { return c.call.args[arg].kind == KernelArg::Kind::none; }

i32 narrow(i64 v) {
  DEUTERON_CHECK(v >= INT32_MIN && v <= INT32_MAX, std::to_string(v));
  return static_cast<i32>(v);
}

void read_pair(const PlainCall& c, int arg, i32& h, i32& w) {
  const std::vector<i64>& pair = c.call.args[arg].integers;
  h = narrow(pair[0]), w = narrow(pair[1]);
}

// Extents of images, whose faces are n,c,h,w.
void read_images(const PlainCall& c, int x, int y, Dense& d) {
  d.x = integer(c, x), d.x_face = face(c, x), d.y_face = face(c, y);
  const Shape &from = d.x_face.sizes, &to = d.y_face.sizes;
  d.a.n = narrow(from[0]), d.a.in_c = narrow(from[1]), d.a.in_h = narrow(from[2]), d.a.in_w = narrow(from[3]);
  d.a.out_c = narrow(to[1]), d.a.out_h = narrow(to[2]), d.a.out_w = narrow(to[3]);
}

i64 sum_of_filter(const Dense& d, i64 filter, bool magnitudes) {
  i64 sum = 0;
  const i64 length = d.a.length();
  for (i64 e = 0; e < length; ++e) {
    const i64 w = d.weight[filter * length + e];
    sum += magnitudes ? std::abs(w) : w;
  }
  return sum;
}

// From `x_offset` on the convolutions have x_offset, y_zero, multipliers, shifts, y_min, y_max.
Result<Dense> with_numbers(const PlainCall& c, Dense d, int bias, int x_offset) {
  const Constant *sums = constant(c, bias), *multipliers = constant(c, x_offset + 2), *shifts = constant(c, x_offset + 3);
  if ((!is_none(c, bias) && !sums) || !multipliers || !shifts) return Refusal{"a bias or a scale is computed", "", "", ""};
  for (i64 o = 0; o < d.a.out_c; ++o)
    d.first.push_back((sums ? sums->as<i32>()[o] : 0) + integer(c, x_offset) * sum_of_filter(d, o, false));
  d.multiplier.assign(multipliers->as<i32>().begin(), multipliers->as<i32>().begin() + d.a.out_c);
  d.shift.assign(shifts->as<i32>().begin(), shifts->as<i32>().begin() + d.a.out_c);
  d.a.x_zero = narrow(-integer(c, x_offset)), d.a.y_zero = narrow(integer(c, x_offset + 1));
  d.y_min = integer(c, x_offset + 4), d.y_max = integer(c, x_offset + 5);
  return d;
}

// A scale of one filter as the packed kernels have it: no shift, and `more` added to its sums.
struct Unshifted {
  i32 multiplier = 0;
  i64 more = 0;
};

i32 step_of(i64 sum, i32 multiplier, i32 shift, i32 zero, bool once = false) {
  const auto v = static_cast<i32>(sum);
  return clamp_to(add_wrapping(once ? requantize_once(v, multiplier, shift) : requantize(v, multiplier, shift), zero), -128, 127);
}

// Whether both give the same int8 for every sum of low..high. Both never fall, so that the ends of each step say it.
bool same_steps(const Unshifted& u, i32 multiplier, i32 shift, i64 low, i64 high, i32 zero) {
  for (i64 v = low; v <= high;) {
    const i32 y = step_of(v, multiplier, shift, zero);
    i64 last = v, behind = high + 1;  // the last sum of this step: in last..behind-1
    while (behind - last > 1) {
      const i64 middle = last + (behind - last) / 2;
      (step_of(middle, multiplier, shift, zero) == y ? last : behind) = middle;
    }
    if (step_of(v + u.more, u.multiplier, 0, zero) != y || step_of(last + u.more, u.multiplier, 0, zero) != y) return false;
    v = last + 1;
  }
  return true;
}

// A filter that gives one int8 whatever it sees, as one with a scale next to nothing does: no weights, and a sum that gives it.
bool make_constant(Dense& d, i64 filter, i64 low, i64 high) {
  if (low < INT32_MIN || high > INT32_MAX) return false;
  const i32 y = step_of(low, d.multiplier[filter], d.shift[filter], d.a.y_zero, d.once);
  if (y != step_of(high, d.multiplier[filter], d.shift[filter], d.a.y_zero, d.once)) return false;
  const i64 length = d.a.length();
  std::fill_n(d.weight.begin() + filter * length, length, int8_t{0});
  d.first[filter] = (y - d.a.y_zero) * 256, d.multiplier[filter] = d.once ? 1 << 30 : 1 << 23, d.shift[filter] = d.once ? -7 : 0;
  return true;
}

// Scales below 2^-12 have a shift, and are rounded twice. Most are of channels that hardly ever change, where a plain multiplier gives the
// same steps; it is looked for beside the rounded one, and proved on all sums that the filter can have.
std::optional<Unshifted> without_shift(i32 multiplier, i32 shift, i64 low, i64 high, i32 zero) {
  constexpr i32 kReach = 3;
  if (shift == 0) return Unshifted{multiplier, 0};
  if (shift > 0) return std::nullopt;
  const i32 rounded = round_shift_right(multiplier, -shift);
  for (i32 m = std::max(rounded - kReach, 0); m <= rounded + kReach; ++m)
    for (i64 more = -kReach; more <= kReach; ++more)
      if (const Unshifted u{m, more}; same_steps(u, multiplier, shift, low, high, zero)) return u;
  return std::nullopt;
}

// Of a sum that is rounded once: a multiplier of fewer bits, likewise proved.
std::optional<Unshifted> without_shift_once(i32 multiplier, i32 shift, i64 low, i64 high, i32 zero) {
  const auto m = multiplier_rounding_once(std::ldexp(multiplier, shift - 31), {low, high}, -128 - zero, 127 - zero);
  return m && m->shift == 0 ? std::optional<Unshifted>({m->value, 0}) : std::nullopt;
}

// Scales lose their shifts.
std::optional<Refusal> make_unshifted(Dense& d, Packing p) {
  const i64 most = p == Packing::mve_4x16 ? INT32_MAX : (i64{1} << 30) - 1;
  for (i64 o = 0; o < d.a.out_c; ++o) {
    const i64 reach = 128 * sum_of_filter(d, o, true);
    const auto without = d.once ? without_shift_once : without_shift;
    const auto plain = without(d.multiplier[o], d.shift[o], d.first[o] - reach, d.first[o] + reach, d.a.y_zero);
    if (!plain) return Refusal{"a scale needs a shift", std::to_string(d.shift[o]), "0", ""};
    if (plain->multiplier > most) return Refusal{"a scale is too large", std::to_string(plain->multiplier), std::to_string(most), ""};
    d.multiplier[o] = plain->multiplier, d.shift[o] = 0, d.first[o] += plain->more;
  }
  return std::nullopt;
}

// Scales as the loops for many windows have them: all with a shift. Constant filters get one; a scale of a half or more has none.
std::optional<Refusal> make_all_shifted(Dense& d, Packing p) {
  for (i64 o = 0; o < d.a.out_c; ++o) {
    if (d.is_constant[o]) d.first[o] /= 64, d.multiplier[o] = 1 << 30, d.shift[o] = -1;
    if (d.shift[o] > -1) return Refusal{"a scale is a half or more, beside others that need shifts", std::to_string(d.shift[o]), "-1", ""};
    if (d.shift[o] < least_windows_shift(p))
      return Refusal{"a scale needs too large a shift", std::to_string(d.shift[o]), std::to_string(least_windows_shift(p)), ""};
  }
  d.a.has_shifts = true;
  return std::nullopt;
}

// What ops/packed_conv2d/kernel.h leaves to the compiler.
std::optional<Refusal> make_exact(Dense& d, Packing p) {
  constexpr i64 kMostSum = i64{1} << 30, kMostUpper = i64{1} << 23;
  if (d.a.x_zero < -128 || d.a.x_zero > 127) return Refusal{"the zero point of the input is no int8", "", "", ""};
  if (d.y_min != -128 || d.y_max != 127) return Refusal{"the result has bounds of its own", "", "", ""};
  if (p == Packing::dsp_4x4 && std::find(d.weight.begin(), d.weight.end(), -128) != d.weight.end())
    return Refusal{"a weight is too small for two in a halfword", "-128", "-127", ""};
  d.is_constant.assign(d.a.out_c, false);
  for (i64 o = 0; o < d.a.out_c; ++o) {
    if (d.multiplier[o] < 0) return Refusal{"a scale is negative", std::to_string(d.multiplier[o]), "0", ""};
    const i64 reach = 128 * sum_of_filter(d, o, true), sum = std::abs(d.first[o]) + reach;
    d.is_constant[o] = d.shift[o] <= 0 && make_constant(d, o, d.first[o] - reach, d.first[o] + reach);
    if (d.is_constant[o]) continue;
    if (sum >= kMostSum) return Refusal{"a sum may become too large", std::to_string(sum), std::to_string(kMostSum - 1), ""};
    if (p == Packing::dsp_4x4 && reach >= kMostUpper)
      return Refusal{"a filter's weights are too large for 24 bits", std::to_string(reach), std::to_string(kMostUpper - 1), ""};
  }
  Dense unshifted = d;
  const auto why = make_unshifted(unshifted, p);
  if (!why) {
    d = std::move(unshifted);
    return std::nullopt;
  }
  if (d.once && p == Packing::scalar_1x4) return why;  // its loops round twice
  // Only sums that are rounded once meet the filters row by row: windows two at a time are faster.
  const bool takes_shifts = p == Packing::scalar_1x4 || packed_conv2d_is_alone(d.a) || (d.once && packed_conv2d_is_rows(d.a));
  if (!takes_shifts && !d.once) return make_all_shifted(d, p);
  d.a.has_shifts = takes_shifts && *std::max_element(d.shift.begin(), d.shift.end()) <= (d.once ? -1 : 0);
  if (d.once)
    for (i32& shift : d.shift) shift = once_shift(shift);
  return d.a.has_shifts ? std::nullopt : why;
}

// Whether deuteron::packed_linear gives the bits of a call that make_exact() has seen to.
bool is_exact_behind_relu(const Dense& d, Packing p) {
  if (p == Packing::scalar_1x4 || d.a.x_zero != -128 || why_not_packed_linear(d.a, p)) return false;
  for (i64 o = 0; p == Packing::dsp_4x4 && o < d.a.out_c; ++o)
    if (255 * sum_of_filter(d, o, true) >= 1 << 23) return false;
  return true;
}

// The bytes of a call's weights; make_exact() has seen to them. behind: those of deuteron::packed_linear.
template <Packing p>
std::vector<int8_t> packed_weights(const Dense& d, bool behind = false) {
  const PackedConv2dArgs& a = d.a;
  const i32 length = a.length();
  std::vector<i32> first;
  for (i64 o = 0; o < a.out_c; ++o) first.push_back(narrow(d.first[o] + (behind ? a.x_zero * sum_of_filter(d, o, false) : 0)));
  // Element e of a window in the order of the packing.
  const auto weight = [&](i32 f, i32 e) {
    const i32 channel = e % a.in_c, tap = e / a.in_c;
    const i32 kh = p == Packing::mve_4x16 ? tap % a.kernel_h : tap / a.kernel_w,
              kw = p == Packing::mve_4x16 ? tap / a.kernel_h : tap % a.kernel_w;
    const int8_t w = d.weight[static_cast<size_t>(f) * length + (kh * a.kernel_w + kw) * a.in_c + channel];
    return behind ? behind_relu<p>(w) : w;
  };
  const i64 bytes = packed_bytes(p, a.out_c, length) + (a.has_shifts ? packed_shifts_bytes(p, a.out_c) : 0);
  std::vector<int8_t> packed(static_cast<size_t>(bytes));
  pack_weights<p>(a.out_c, length, first.data(), d.multiplier.data(), a.has_shifts ? d.shift.data() : nullptr, weight, packed.data());
  return packed;
}

template <Packing p>
Result<Lowered> pack(const PlainCall& c, Dense d, const char* overload) {
  const PackedConv2dArgs& a = d.a;
  PackedConv2dArgs steps = a;
  const char* why_not = why_not_packed_conv2d(a, p);
  if (!why_not) why_not = why_not_steps(steps, a.in_c, a.kernel_h);
  if (why_not) return Refusal{std::string("the call ") + why_not, "", "", ""};
  if (auto why = make_exact(d, p)) return *why;
  const bool behind = c.has_zeros && packed_conv2d_is_alone(d.a) && is_exact_behind_relu(d, p);
  std::vector<int8_t> packed = packed_weights<p>(d, behind);
  const auto bytes = static_cast<i64>(packed.size());
  const bool many_shifted = d.a.has_shifts && !d.once && !packed_conv2d_is_alone(d.a) && p != Packing::scalar_1x4;
  const char* const name = behind ? "deuteron::packed_linear" : many_shifted ? "deuteron::packed_conv2d_shifts" : "deuteron::packed_conv2d";
  CallBuilder call(name, c.data.size(), 1);
  call.overload(overload).in(d.x, d.x_face).constant(DType::s8, {bytes}, std::move(packed));
  call.integers({a.kernel_h, a.kernel_w}).integers({a.stride_h, a.stride_w}).integers({a.pad_h, a.pad_w});
  call.integers({a.dilation_h, a.dilation_w}).integer(a.x_zero).integer(a.y_zero);
  const i64 most = packed_conv2d_scratch_bytes(a, p);
  call.scratch(most, {packed_conv2d_least_scratch_bytes(a, p), most}).out(0, d.y_face);
  return call.done();
}

Result<Lowered> pack(const PlainCall& c, const Result<Dense>& d) {
  if (!d) return d.why;
#define DEUTERON_PACKING(name, set) \
  if (c.isa == set) return pack<Packing::name>(c, *d, #name);
  DEUTERON_PACKINGS(DEUTERON_PACKING)
#undef DEUTERON_PACKING
  DEUTERON_CHECK(false, std::string(name_of(c.isa)));
}

// A transposed convolution: its numbers, filters as they stand, [out_c,kernel_h,kernel_w,in_c], and the plain arguments.
template <Packing p>
Result<Lowered> pack_phases(const PlainCall& c, const Dense& d, const PackedConvTranspose2dArgs& a, const char* overload) {
  if (const char* why = why_not_packed_conv_transpose2d(a, p)) return Refusal{std::string("the call ") + why, "", "", ""};
  std::vector<int8_t> all;
  std::optional<Refusal> refusal;
  const auto pack_phase = [&](i32 ph, i32 pw) {
    const AxisPhase h = phase_of(ph, a.kernel_h, a.stride_h, a.pad_h, a.out_h), w = phase_of(pw, a.kernel_w, a.stride_w, a.pad_w, a.out_w);
    Dense part = d;
    part.a = packed_phase(a, h, w);
    part.weight.clear();
    for (i32 o = 0; o < a.out_c; ++o)
      for (i32 th = h.taps - 1; th >= 0; --th)
        for (i32 tw = w.taps - 1; tw >= 0; --tw) {
          const i64 kh = h.first_tap + th * a.stride_h, kw = w.first_tap + tw * a.stride_w;
          const auto tap = d.weight.begin() + ((i64{o} * a.kernel_h + kh) * a.kernel_w + kw) * a.in_c;
          part.weight.insert(part.weight.end(), tap, tap + a.in_c);
        }
    for (i32 o = 0; o < a.out_c; ++o) part.first[o] -= a.x_zero * sum_of_filter(part, o, false);
    if (auto why = make_exact(part, p)) refusal = why;
    else if (part.a.has_shifts) refusal = Refusal{"a scale needs a shift", "", "0", ""};
    if (refusal) return;
    const std::vector<int8_t> packed = packed_weights<p>(part);
    all.insert(all.end(), packed.begin(), packed.end());
  };
  for (i32 ph = 0; ph < a.stride_h && ph < a.out_h; ++ph)
    for (i32 pw = 0; pw < a.stride_w && pw < a.out_w && !refusal; ++pw) pack_phase(ph, pw);
  if (refusal) return *refusal;
  CallBuilder call("deuteron::packed_conv_transpose2d", c.data.size(), 1);
  const auto bytes = static_cast<i64>(all.size());
  call.overload(overload).in(d.x, d.x_face).constant(DType::s8, {bytes}, std::move(all));
  call.integers({a.kernel_h, a.kernel_w}).integers({a.stride_h, a.stride_w}).integers({a.pad_h, a.pad_w});
  call.integer(a.x_zero).integer(a.y_zero);
  const i64 most = packed_conv_transpose2d_scratch_bytes(a, p);
  call.scratch(most, {packed_conv_transpose2d_least_scratch_bytes(a, p), most}).out(0, d.y_face);
  return call.done();
}

}  // namespace

Result<Lowered> pack_conv_transpose2d(const PlainCall& c) {
  enum { kX, kWeight, kBias, kStride, kPadding, kOutputPadding, kDilation, kXOffset, kOut = 15 };
  if (c.isa == Isa::scalar) return Refusal{"there is no packing for this instruction set", "", "", kNoPacking};
  const Constant* weight = constant(c, kWeight);
  if (!weight) return Refusal{"the weight is computed", "", "", ""};
  const Shape& w = face(c, kWeight).sizes;
  Dense d;
  read_images(c, kX, kOut, d);
  d.a.kernel_h = narrow(w[1]), d.a.kernel_w = narrow(w[2]);
  read_pair(c, kStride, d.a.stride_h, d.a.stride_w);
  read_pair(c, kPadding, d.a.pad_h, d.a.pad_w);
  d.weight.assign(weight->as<int8_t>().begin(), weight->as<int8_t>().end());
  Result<Dense> known = with_numbers(c, std::move(d), kBias, kXOffset);
  if (!known) return known.why;
  Dense& k = *known.value;
  // Each phase adds what the zero point of x gives its own taps.
  for (i32 o = 0; o < k.a.out_c; ++o) k.first[o] += i64{k.a.x_zero} * sum_of_filter(k, o, false);
  const PackedConv2dArgs& n = k.a;
  const PackedConvTranspose2dArgs a{n.n,        n.in_h,     n.in_w,     n.in_c,  n.out_h, n.out_w,  n.out_c, n.kernel_h,
                                    n.kernel_w, n.stride_h, n.stride_w, n.pad_h, n.pad_w, n.x_zero, n.y_zero};
  return c.isa == Isa::mve ? pack_phases<Packing::mve_4x16>(c, k, a, "mve_4x16") : pack_phases<Packing::dsp_4x4>(c, k, a, "dsp_4x4");
}

Result<Lowered> pack_conv2d(const PlainCall& c) {
  enum { kX, kWeight, kBias, kStride, kPadding, kDilation, kXOffset, kOut = 13 };
  const Constant* weight = constant(c, kWeight);
  if (!weight) return Refusal{"the weight is computed", "", "", ""};
  const Shape& w = face(c, kWeight).sizes;
  Dense d;
  read_images(c, kX, kOut, d);
  if (w[3] != d.a.in_c) return Refusal{"the convolution has groups", "", "", ""};
  d.a.kernel_h = narrow(w[1]), d.a.kernel_w = narrow(w[2]);
  read_pair(c, kStride, d.a.stride_h, d.a.stride_w);
  read_pair(c, kPadding, d.a.pad_h, d.a.pad_w);
  read_pair(c, kDilation, d.a.dilation_h, d.a.dilation_w);
  d.weight.assign(weight->as<int8_t>().begin(), weight->as<int8_t>().end());
  return pack(c, with_numbers(c, std::move(d), kBias, kXOffset));
}

Result<Lowered> pack_depthwise_conv2d(const PlainCall& c) {
  enum { kX, kWeight, kBias, kStride, kPadding, kDilation, kMultiplier, kXOffset, kOut = 14 };
  const Constant* weight = constant(c, kWeight);
  if (!weight) return Refusal{"the weight is computed", "", "", ""};
  const Shape& w = face(c, kWeight).sizes;  // 1,kh,kw,oc
  Dense d;
  read_images(c, kX, kOut, d);
  if (d.a.in_c != 1) return Refusal{"the convolution is depthwise", "", "", kNoPacking};
  d.a.kernel_h = narrow(w[1]), d.a.kernel_w = narrow(w[2]);
  read_pair(c, kStride, d.a.stride_h, d.a.stride_w);
  read_pair(c, kPadding, d.a.pad_h, d.a.pad_w);
  read_pair(c, kDilation, d.a.dilation_h, d.a.dilation_w);
  const auto values = weight->as<int8_t>();
  for (i64 o = 0; o < w[3]; ++o)
    for (i64 t = 0; t < w[1] * w[2]; ++t) d.weight.push_back(values[t * w[3] + o]);
  return pack(c, with_numbers(c, std::move(d), kBias, kXOffset));
}

// Rows of a fully connected layer as pixels of an image.
static Dense dense_rows(const PlainCall& c, int x_arg, int weight_arg) {
  const i64 in = face(c, weight_arg).sizes[1], out = face(c, weight_arg).sizes[0];
  const Shape& x = face(c, x_arg).sizes;
  const i64 rows = numel(std::span(x).first(x.size() - 1));
  Dense d;
  d.x = integer(c, x_arg);
  d.x_face = channels_last_face({1, rows, 1, in}), d.y_face = channels_last_face({1, rows, 1, out});
  d.a.n = d.a.in_w = d.a.out_w = d.a.kernel_h = d.a.kernel_w = d.a.stride_h = d.a.stride_w = d.a.dilation_h = d.a.dilation_w = 1;
  d.a.in_h = d.a.out_h = narrow(rows), d.a.in_c = narrow(in), d.a.out_c = narrow(out);
  const auto weight = constant(c, weight_arg)->as<int8_t>();
  d.weight.assign(weight.begin(), weight.end());
  return d;
}

Result<Lowered> pack_linear(const PlainCall& c) {
  enum { kX, kWeight, kBias, kKernelSum, kXOffset, kWeightOffset, kYZero, kMultipliers, kShifts, kYMax, kYMin, kOut };
  const Constant *weight = constant(c, kWeight), *bias = constant(c, kBias), *sum = constant(c, kKernelSum);
  if (!weight || (!is_none(c, kBias) && !bias)) return Refusal{"the weight or the bias is computed", "", "", ""};
  if (integer(c, kWeightOffset) != 0) return Refusal{"the weight has a zero point", "", "", ""};
  Dense d = dense_rows(c, kX, kWeight);
  for (i64 o = 0; o < d.a.out_c; ++o)
    d.first.push_back(sum ? sum->as<i32>()[o] : (bias ? bias->as<i32>()[o] : 0) + integer(c, kXOffset) * sum_of_filter(d, o, false));
  d.multiplier.assign(d.a.out_c, narrow(c.call.args[kMultipliers].integers[0]));
  d.shift.assign(d.a.out_c, narrow(c.call.args[kShifts].integers[0]));
  d.a.x_zero = narrow(-integer(c, kXOffset)), d.a.y_zero = narrow(integer(c, kYZero));
  d.y_min = integer(c, kYMin), d.y_max = integer(c, kYMax);
  return pack(c, d);
}

// What stands before the sums has the zero point of x in it; nothing is padded with it.
Result<Lowered> pack_linear_once(const PlainCall& c) {
  enum { kX, kWeight, kFirst, kMultiplier, kShift, kYZero, kYMin, kYMax, kOut };
  if (!constant(c, kWeight)) return Refusal{"the weight is computed", "", "", ""};
  Dense d = dense_rows(c, kX, kWeight);
  const auto numbers = [&](int arg) { return constant(c, arg)->as<i32>(); };
  d.first.assign(numbers(kFirst).begin(), numbers(kFirst).end());
  d.multiplier.assign(numbers(kMultiplier).begin(), numbers(kMultiplier).end());
  d.shift.assign(numbers(kShift).begin(), numbers(kShift).end());
  d.once = true;
  d.a.y_zero = narrow(integer(c, kYZero)), d.y_min = integer(c, kYMin), d.y_max = integer(c, kYMax);
  return pack(c, d);
}

}  // namespace deuteron
