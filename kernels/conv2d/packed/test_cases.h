// SPDX-License-Identifier: Apache-2.0
// Convolutions for the tests of the kernels on packed weights: shapes, weights and scales of each,
// and how they are packed.
#pragma once
#include <algorithm>
#include <vector>

#include "kernels/common/test_call.h"
#include "kernels/conv2d/packed/kernel.h"
#include "kernels/conv2d/reference.h"
#include "kernels/linear/once/reference.h"

namespace deuteron {

struct PackedCase {
  const char* name;
  int32_t n, h, w, c, oc, kh, kw, oh, ow, sh = 1, sw = 1, ph = 0, pw = 0, dh = 1, dw = 1;
  int32_t x_zero = -3, y_zero = 7;
  bool has_shifts = false, once = false;
  bool behind_relu = false;  // of packed_linear
};

inline PackedConv2dArgs args_of(const PackedCase& k) {
  return {k.n,  k.h,  k.w,  k.c,  k.oh, k.ow,     k.oc,     k.kh,         k.kw, k.sh,
          k.sw, k.ph, k.pw, k.dh, k.dw, k.x_zero, k.y_zero, k.has_shifts, k.oc, k.ow * k.oc};
}

struct PackedFilters {
  std::vector<int8_t> weight;  // [oc,kh,kw,c]
  std::vector<int32_t> bias, multiplier, shift;
};
// `few_least`: -128 once in a filter at most, as two filters go into halfwords.
inline PackedFilters filters_of(const PackedCase& k, Random& random, int32_t most_multiplier,
                                bool few_least = false) {
  PackedFilters f;
  const int32_t length = k.kh * k.kw * k.c;
  for (int32_t i = 0; i < k.oc * length; ++i)
    f.weight.push_back(std::max<int8_t>(random.s8(), few_least ? -127 : -128));
  for (int32_t o = 0; few_least && o < k.oc; ++o)
    f.weight[static_cast<size_t>(o * length + random.in(0, length - 1))] = -128;
  f.bias = random.list(k.oc, -300000, 300000), f.shift.assign(static_cast<size_t>(k.oc), 0);
  f.multiplier = random.list(k.oc, 0,
                             k.has_shifts      ? INT32_MAX
                             : random.in(0, 1) ? most_multiplier
                                               : 1 << 22);
  if (k.has_shifts) f.shift = random.list(k.oc, -31, k.once ? -1 : 0);
  return f;
}

// Biases, with what the zero point of the input adds to every sum.
inline std::vector<int32_t> first_of(const PackedCase& k, const PackedFilters& f) {
  const int32_t length = k.kh * k.kw * k.c;
  std::vector<int32_t> first = f.bias;
  for (int32_t o = 0; o < k.oc; ++o)
    for (int32_t e = 0; e < length; ++e)
      first[static_cast<size_t>(o)] -= k.x_zero * f.weight[static_cast<size_t>(o * length + e)];
  return first;
}

// What the plain convolution gives, or the layer that rounds once.
inline std::vector<int8_t> expected_of(const PackedCase& k, const PackedFilters& f,
                                       const int8_t* x) {
  const Conv2dArgs a{k.n,           k.h,  k.w,       k.c,      k.oh, k.ow, k.oc,
                     k.kh,          k.kw, k.c,       k.sh,     k.sw, k.ph, k.pw,
                     k.dh,          k.dw, -k.x_zero, k.y_zero, -128, 127,  f.multiplier.data(),
                     f.shift.data()};
  std::vector<int8_t> y(static_cast<size_t>(k.n * k.oh * k.ow * k.oc));
  if (k.once) {
    const LinearOnceArgs once{k.n * k.oh * k.ow, k.c, k.oc, k.y_zero, -128, 127};
    linear_once_reference(once, x, f.weight.data(), first_of(k, f).data(), f.multiplier.data(),
                          f.shift.data(), y.data());
    return y;
  }
  conv2d_reference(a, x, f.weight.data(), f.bias.data(), y.data());
  return y;
}

template <Packing p>
std::vector<int8_t> packed_of(const PackedCase& k, const PackedFilters& f) {
  const PackedConv2dArgs a = args_of(k);
  const int32_t length = a.length();
  const std::vector<int32_t> first = k.behind_relu ? f.bias : first_of(k, f);
  std::vector<int32_t> shift = f.shift;
  for (int32_t& v : shift) v = k.once ? once_shift(v) : v;
  const auto weight = [&](int32_t o, int32_t e) {
    const int32_t tap = e / k.c, kh = p == Packing::mve_4x16 ? tap % k.kh : tap / k.kw,
                  kw = p == Packing::mve_4x16 ? tap / k.kh : tap % k.kw;
    const int8_t w = f.weight[static_cast<size_t>(o * length + (kh * k.kw + kw) * k.c + e % k.c)];
    return k.behind_relu ? behind_relu<p>(w) : w;
  };
  std::vector<int8_t> packed(static_cast<size_t>(
      packed_bytes(p, k.oc, length) + (k.has_shifts ? packed_shifts_bytes(p, k.oc) : 0)));
  EXPECT_TRUE(pack_weights<p>(k.oc, length, first.data(), f.multiplier.data(),
                              k.has_shifts ? shift.data() : nullptr, weight, packed.data()));
  return packed;
}

// The arguments that all calls on packed weights begin with.
inline TestCall begin_packed_call(const Kernel& kernel, const PackedCase& k,
                                  const std::vector<int8_t>& packed, Random& random) {
  TestCall call(kernel);
  random.fill(call.image(k.n, k.h, k.w, k.c));
  Tensor& t = call.tensor(ScalarType::s8, {static_cast<int32_t>(packed.size())});
  std::memcpy(t.data, packed.data(), packed.size());
  t.constant = true;
  call.integers({k.kh, k.kw});
  call.integers({k.sh, k.sw});
  call.integers({k.ph, k.pw});
  call.integers({k.dh, k.dw});
  call.integer(k.x_zero);
  call.integer(k.y_zero);
  return call;
}

inline constexpr PackedCase kPackedCases[] = {
    {"3x3, pads 1", 1, 6, 7, 3, 5, 3, 3, 6, 7, 1, 1, 1, 1},
    {"3x3 of whole blocks", 1, 6, 7, 16, 8, 3, 3, 6, 7, 1, 1, 1, 1},
    {"3x3, stride 2", 1, 9, 11, 8, 6, 3, 3, 5, 6, 2, 2, 1, 1},
    {"1x1", 2, 5, 9, 7, 6, 1, 1, 5, 9},
    {"1x1 of two blocks, three, four", 1, 3, 5, 32, 12, 1, 1, 3, 5},
    {"1x1 of three blocks", 1, 3, 5, 48, 12, 1, 1, 3, 5},
    {"1x1 of four and a rest", 1, 3, 5, 65, 9, 1, 1, 3, 5},
    {"1x1, stride", 1, 5, 9, 8, 4, 1, 1, 3, 5, 2, 2},
    {"1xN", 3, 1, 11, 4, 9, 1, 5, 1, 11, 1, 1, 0, 2},
    {"1xN inside", 1, 1, 12, 5, 7, 1, 3, 1, 5, 1, 2},
    {"10x4 over one channel, stride 2", 1, 49, 10, 1, 64, 10, 4, 25, 5, 2, 2, 4, 1},
    {"dilated rows", 1, 11, 9, 5, 4, 3, 2, 7, 8, 1, 1, 0, 0, 2, 1},
    {"a row whose taps are apart", 1, 1, 23, 20, 5, 1, 3, 1, 23, 1, 1, 0, 4, 1, 4},
    {"two phases of three windows", 1, 1, 9, 4, 4, 1, 2, 1, 6, 1, 1, 0, 0, 1, 2},
    {"windows outside of a short row", 1, 1, 2, 5, 6, 1, 3, 1, 9, 1, 1, 0, 9, 1, 5},
    {"dilated columns", 1, 9, 11, 8, 4, 2, 3, 8, 7, 1, 1, 0, 0, 1, 2},
    {"padding on one side", 1, 8, 8, 3, 4, 3, 3, 4, 4, 2, 2, 0, 0},
    {"a fully connected layer", 1, 1, 1, 640, 128, 1, 1, 1, 1},
    {"of odd extents", 1, 1, 1, 77, 13, 1, 1, 1, 1},
    {"of two outputs", 1, 1, 1, 256, 2, 1, 1, 1, 1},
    {"of five rows", 1, 5, 1, 30, 10, 1, 1, 5, 1},
    {"the largest zero points", 1, 6, 7, 4, 5, 3, 3, 6, 7, 1, 1, 1, 1, 1, 1, 127, -128},
    {"the least", 1, 6, 7, 4, 5, 3, 3, 6, 7, 1, 1, 1, 1, 1, 1, -128, 127},
    {"rows of nine", 2, 9, 11, 3, 8, 3, 3, 9, 11, 1, 1, 1, 1},
    {"rows of nine, stride 2", 1, 13, 9, 3, 9, 3, 3, 6, 4, 2, 2},
    {"rows of nine of one channel", 1, 7, 14, 1, 5, 3, 9, 5, 6},
    {"rows of nine, dilated rows", 1, 11, 9, 3, 4, 3, 3, 7, 7, 1, 1, 0, 0, 2, 1},
};

}  // namespace deuteron
