// SPDX-License-Identifier: Apache-2.0
// conv2d_s8_s16 and its binding against the reference, bit for bit, over shapes whose extents all
// differ; and what prepare() refuses.
#include "kernels/conv2d/s8_s16/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/conv2d/s8_s16/reference.h"

namespace deuteron {
namespace conv2d_s8_s16_test {

constexpr int kOut = 11;

struct Case {
  const char* name;
  int32_t n, h, w, c, oc, kh, kw, oh, ow, sh = 1, sw = 1, ph = 0, pw = 0, dh = 1, dw = 1;
  int32_t x_zero = -3, shift = 0, low = -32768, high = 32767;
};

Conv2dS8S16Args args_of(const Case& k) {
  PackedConv2dArgs a{k.n,  k.h,  k.w,  k.c,  k.oh, k.ow,     k.oc, k.kh,  k.kw, k.sh,
                     k.sw, k.ph, k.pw, k.dh, k.dw, k.x_zero, 0,    false, 0,    0};
  set_dense_result(a);
  return {a, k.shift, k.low, k.high};
}

struct Filters {
  std::vector<int8_t> weight;  // [oc,kh,kw,c]
  std::vector<int32_t> bias, multiplier;
  std::vector<int8_t> packed(const Case& k) const {
    const int32_t length = k.kh * k.kw * k.c;
    std::vector<int32_t> first = bias;
    for (int32_t o = 0; o < k.oc; ++o)
      for (int32_t e = 0; e < length; ++e)
        first[static_cast<size_t>(o)] -= k.x_zero * weight[static_cast<size_t>(o * length + e)];
    const auto by_column = [&](int32_t o, int32_t e) {
      const int32_t tap = e / k.c;
      return weight[static_cast<size_t>(o * length + (tap % k.kh * k.kw + tap / k.kh) * k.c +
                                        e % k.c)];
    };
    std::vector<int8_t> bytes(static_cast<size_t>(packed_bytes(Packing::mve_4x16, k.oc, length)));
    pack_weights<Packing::mve_4x16>(k.oc, length, first.data(), multiplier.data(), nullptr,
                                    by_column, bytes.data());
    return bytes;
  }
};
Filters filters_of(const Case& k, Random& random) {
  Filters f;
  for (int32_t i = 0; i < k.oc * k.kh * k.kw * k.c; ++i) f.weight.push_back(random.s8());
  f.bias = random.list(k.oc, -300000, 300000);
  f.multiplier = random.list(k.oc, 0, 1 << 27);
  f.multiplier[0] = INT32_MAX;
  return f;
}

TestCall call_of(const Case& k, const Filters& filters, Random& random) {
  TestCall call(kConv2dS8S16);
  random.fill(call.image(k.n, k.h, k.w, k.c));
  const std::vector<int8_t> packed = filters.packed(k);
  Tensor& t = call.tensor(ScalarType::s8, {static_cast<int32_t>(packed.size())});
  std::memcpy(t.data, packed.data(), packed.size());
  t.constant = true;
  call.integers({k.kh, k.kw});
  call.integers({k.sh, k.sw});
  call.integers({k.ph, k.pw});
  call.integers({k.dh, k.dw});
  for (const int32_t v : {k.x_zero, k.shift, k.low, k.high}) call.integer(v);
  call.tensor(
      ScalarType::u8,
      {static_cast<int32_t>(packed_conv2d_scratch_bytes(args_of(k).layer, Packing::mve_4x16))});
  call.tensor(ScalarType::s16, {k.n, k.oc, k.oh, k.ow}, {0, 2, 3, 1});
  return call;
}

TEST(Conv2dS8S16Kernel, EqualsTheReference) {
  KernelCases cases;
  const Case table[] = {
      {"3x3, pads 1", 1, 6, 7, 3, 5, 3, 3, 6, 7, 1, 1, 1, 1},
      {"1x1 in one piece", 2, 5, 9, 16, 6, 1, 1, 5, 9},
      {"1x1 of odd channels", 1, 5, 3, 7, 9, 1, 1, 5, 3},
      {"1x1, stride", 1, 5, 9, 8, 4, 1, 1, 3, 5, 2, 2},
      {"a row of taps in one piece", 3, 1, 11, 5, 9, 1, 4, 1, 8},
      {"stride and dilated rows", 1, 11, 13, 5, 4, 3, 2, 4, 4, 2, 3, 1, 0, 2, 1},
      {"one window, eight filters and more", 1, 1, 1, 40, 13, 1, 1, 1, 1},
      {"one window, two filters", 1, 1, 1, 27, 2, 1, 1, 1, 1},
      {"one filter, padding all around", 1, 2, 3, 9, 4, 5, 5, 2, 3, 1, 1, 2, 2},
      {"relu", 1, 4, 5, 8, 8, 3, 3, 4, 5, 1, 1, 1, 1, 1, 1, -128, 0, 0, 32767},
      {"bounds and a shift", 1, 4, 5, 8, 8, 3, 3, 4, 5, 1, 1, 1, 1, 1, 1, 127, 4, -7000, 20000},
      {"sums that leave int32", 1, 2, 5, 8, 8, 1, 1, 2, 5, 1, 1, 0, 0, 1, 1, 5, 15},
      {"two blocks", 1, 3, 5, 4, 7, 2, 4, 3, 5, 1, 1, 1, 1},
      {"three blocks, one window",
       1,
       1,
       1,
       45,
       8,
       1,
       1,
       1,
       1,
       1,
       1,
       0,
       0,
       1,
       1,
       9,
       2,
       -3000,
       32767},
      {"four blocks", 1, 3, 4, 60, 5, 1, 1, 3, 4},
      {"many blocks", 1, 3, 4, 90, 7, 3, 3, 3, 4, 1, 1, 1, 1},
  };
  uint32_t seed = 1;
  for (const Case& k : table) {
    ASSERT_EQ(why_not_packed_conv2d(args_of(k).layer, Packing::mve_4x16), nullptr) << k.name;
    Random random(seed++);
    const Filters filters = filters_of(k, random);
    TestCall call = call_of(k, filters, random);
    cases.run(k.name, call);
    std::vector<int16_t> expected(static_cast<size_t>(k.n * k.oh * k.ow * k.oc));
    conv2d_s8_s16_reference(args_of(k), data_of<int8_t>(call.tensor_at(0)), filters.weight.data(),
                            filters.bias.data(), filters.multiplier.data(), expected.data());
    cases.expect(kOut, expected);
  }
}

TEST(Conv2dS8S16Kernel, Refuses) {
  const auto plain = [] {
    const Case k{"plain", 1, 6, 7, 3, 5, 3, 3, 6, 7, 1, 1, 1, 1};
    Random random(7);
    return call_of(k, filters_of(k, random), random);
  };
  expect_refusals(plain, {
                             {0, "must be int8", type(0, ScalarType::s16)},
                             {1, "must have the bytes that its packing takes", elements(1, 5)},
                             {6, "must be -128..127", number(6, 128)},
                             {7, "must be 0..15", number(7, 16)},
                             {7, "must be 0..15", number(7, -1)},
                             {8, "must be -32768..32767", number(8, -32769)},
                             {9, "must be activation_min..32767", number(9, -32769)},
                             {10, "must be uint8", type(10, ScalarType::s8)},
                             {10, "must hold the windows", elements(10, 20)},
                             {kOut, "must be int16", type(kOut, ScalarType::s8)},
                             {kOut, "must have the batch of the input", size(kOut, 0, 3)},
                             {1, "has fewer than 4 filters", size(kOut, 1, 3)},
                         });
}

}  // namespace conv2d_s8_s16_test
}  // namespace deuteron
