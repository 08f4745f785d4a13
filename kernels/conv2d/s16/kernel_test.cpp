// SPDX-License-Identifier: Apache-2.0
// conv2d_s16 and its binding against the reference, bit for bit, over shapes whose extents all
// differ; and what prepare() refuses.
#include "kernels/conv2d/s16/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/conv2d/s16/reference.h"

namespace deuteron {
namespace conv2d_s16_test {

constexpr uint8_t kRows[] = {0, 1, 2, 3};

struct Case {
  const char* name;
  int32_t n, h, w, c, oc, kh, kw, oh, ow, sh = 1, sw = 1, ph = 0, pw = 0, dh = 1, dw = 1;
  int32_t low = -32768, high = 32767;
};

Conv2dS16Args args_of(const Case& k) {
  return {k.n,  k.h,  k.w,  k.c,  k.oh, k.ow, k.oc,  k.kh,  k.kw,
          k.sh, k.sw, k.ph, k.pw, k.dh, k.dw, k.low, k.high};
}

// Plain weights and what there is for each filter; and both as the kernel reads them.
struct Filters {
  std::vector<int16_t> weight;
  std::vector<int32_t> first, multiplier;
  std::vector<int8_t> packed(const Conv2dS16Args& a) const {
    std::vector<int8_t> bytes(static_cast<size_t>(packed_s16_bytes(a.out_c, a.length())));
    for (int32_t t = 0; t < packed_tiles(a.out_c); ++t) {
      int8_t* const tile = bytes.data() + t * packed_s16_tile_bytes(a.length());
      int8_t* const numbers = tile + s16_blocks(a.length()) * 64;
      for (int32_t i = 0; i < 4 && first_of_tile(a.out_c, t) + i < a.out_c; ++i) {
        const size_t o = static_cast<size_t>(first_of_tile(a.out_c, t) + i);
        size_t from = o * static_cast<size_t>(a.kernel_h * a.kernel_w * a.in_c);
        for (int32_t kh = 0; kh < a.kernel_h; ++kh)
          for (int32_t kw = 0; kw < a.kernel_w; ++kw)
            for (int32_t c = 0; c < a.in_c; ++c) {
              const int32_t e = kw * a.column() + kh * a.in_c + c;
              std::memcpy(tile + (e / 8 * 32 + i * 8 + e % 8) * 2, &weight[from++], 2);
            }
        std::memcpy(numbers + i * 4, &first[o], 4);
        std::memcpy(numbers + 16 + i * 4, &multiplier[o], 4);
      }
    }
    return bytes;
  }
};

std::vector<int16_t> steps(Random& random, int64_t count) {
  std::vector<int16_t> v;
  for (const int32_t x : random.list(static_cast<int32_t>(count), -32768, 32767))
    v.push_back(static_cast<int16_t>(x));
  return v;
}

TestCall call_of(const Case& k, const Filters& filters, Random& random) {
  TestCall call(kConv2dS16);
  const Conv2dS16Args a = args_of(k);
  Tensor& x = call.tensor(ScalarType::s16, {k.n, k.c, k.h, k.w}, {0, 2, 3, 1});
  const std::vector<int16_t> values = steps(random, x.numel);
  if (x.numel > 0) std::memcpy(x.data, values.data(), values.size() * 2);
  const std::vector<int8_t> packed = filters.packed(a);
  Tensor& weights = call.tensor(ScalarType::s8, {static_cast<int32_t>(packed.size())});
  std::memcpy(weights.data, packed.data(), packed.size());
  weights.constant = true;
  call.integers({k.kh, k.kw});
  call.integers({k.sh, k.sw});
  call.integers({k.ph, k.pw});
  call.integers({k.dh, k.dw});
  call.integer(k.low);
  call.integer(k.high);
  call.tensor(ScalarType::u8, {static_cast<int32_t>(conv2d_s16_scratch_bytes(a))});
  call.tensor(ScalarType::s16, {k.n, k.oc, k.oh, k.ow}, {0, 2, 3, 1});
  return call;
}

Filters filters_of(const Case& k, Random& random) {
  Filters f;
  f.weight = steps(random, int64_t{k.oc} * k.kh * k.kw * k.c);
  f.first = random.list(k.oc, -2000000000, 2000000000);
  f.multiplier = random.list(k.oc, 0, 200000);
  f.multiplier[0] = INT32_MAX;
  return f;
}

TEST(Conv2dS16Kernel, EqualsTheReference) {
  KernelCases cases;
  const Case table[] = {
      {"3x3, pads 1", 1, 6, 7, 3, 5, 3, 3, 6, 7, 1, 1, 1, 1},
      {"1x1 in one piece", 2, 5, 9, 16, 6, 1, 1, 5, 9},
      {"1x1 of odd channels", 1, 5, 3, 7, 9, 1, 1, 5, 3},
      {"1x1, stride", 1, 5, 9, 8, 3, 1, 1, 3, 5, 2, 2},
      {"a row of taps in one piece", 3, 1, 11, 4, 9, 1, 4, 1, 8},
      {"stride and dilation", 1, 11, 13, 5, 4, 3, 2, 4, 4, 2, 3, 1, 0, 2, 2},
      {"one window, eight filters and more", 1, 1, 1, 40, 13, 1, 1, 1, 1},
      {"one window, two filters", 1, 1, 1, 24, 2, 1, 1, 1, 1},
      {"one filter, padding all around", 1, 2, 3, 9, 1, 5, 5, 2, 3, 1, 1, 2, 2},
      {"bounds", 1, 4, 5, 8, 8, 3, 3, 4, 5, 1, 1, 1, 1, 1, 1, 0, 20000},
      {"many blocks", 1, 3, 4, 90, 7, 3, 3, 3, 4, 1, 1, 1, 1},
  };
  uint32_t seed = 1;
  for (const Case& k : table) {
    Random random(seed++);
    const Filters filters = filters_of(k, random);
    TestCall call = call_of(k, filters, random);
    cases.run(k.name, call);
    std::vector<int16_t> expected(static_cast<size_t>(k.n * k.oh * k.ow * k.oc));
    conv2d_s16_reference(args_of(k), data_of<int16_t>(call.tensor_at(0)), filters.weight.data(),
                         filters.first.data(), filters.multiplier.data(), expected.data());
    cases.expect(9, expected);
  }
}

// A column of 9 elements is filled up to 10, a filter of 30 to 32: weights there are 0, but a file
// may have others.
TEST(Conv2dS16Kernel, WhatTheScratchHeldMakesNoDifference) {
  const Case k{"3x3", 1, 6, 7, 3, 5, 3, 3, 6, 7, 1, 1, 1, 1};
  std::vector<uint8_t> results[2];
  for (const int held : {0, 0xA5}) {
    Random random(7);
    TestCall call = call_of(k, filters_of(k, random), random);
    Tensor &packed = call.tensor_at(1), &scratch = call.tensor_at(8), &y = call.tensor_at(9);
    std::memset(packed.data, 1, static_cast<size_t>(packed.numel) - kTileNumbers);
    std::memset(scratch.data, held, static_cast<size_t>(scratch.numel));
    ASSERT_EQ(call.refused(), -1);
    call.run();
    const auto* bytes = static_cast<const uint8_t*>(y.data);
    results[held != 0].assign(bytes, bytes + size_t{2} * static_cast<size_t>(y.numel));
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST(Conv2dS16Kernel, RefusesWhatItsContractExcludes) {
  struct Spoiled {
    int argument;
    const char* why;
    void (*spoil)(TestCall&);
  };
  const Spoiled table[] = {
      {0, "int8 image", [](TestCall& c) { c.tensor_at(0).type = ScalarType::s8; }},
      {9, "channels first", [](TestCall& c) { c.tensor_at(9).dim_order = kRows; }},
      {9, "another batch", [](TestCall& c) { c.sizes_at(9)[0] = 3; }},
      {1, "a tile too few", [](TestCall& c) { c.tensor_at(1).numel -= 1, c.sizes_at(1)[0] -= 1; }},
      {2, "one number for a window", [](TestCall& c) { c.argument(2).list.count = 1; }},
      {6, "a bound that is no int16", [](TestCall& c) { c.argument(6).integer = -32769; }},
      {7, "bounds turned round", [](TestCall& c) { c.argument(7).integer = -32769; }},
      {8, "scratch for fewer windows", [](TestCall& c) { c.tensor_at(8).numel /= 2; }},
      {9, "more windows than places", [](TestCall& c) { c.sizes_at(9)[2] = 60; }},
  };
  const Case plain{"plain", 1, 6, 7, 3, 5, 3, 3, 6, 7, 1, 1, 1, 1};
  for (const Spoiled& s : table) {
    Random random(7);
    const Filters filters = filters_of(plain, random);
    TestCall call = call_of(plain, filters, random);
    s.spoil(call);
    EXPECT_EQ(call.refused(), s.argument) << s.why;
  }
}

}  // namespace conv2d_s16_test
}  // namespace deuteron
