// SPDX-License-Identifier: Apache-2.0
// A packed call gives the bits of the plain one: random convolutions, with scales of all kinds, run
// both ways.
#include "ops/conv2d/packing.h"

#include <gtest/gtest.h>

#include <random>

#include "kernels/conv2d/packed/test_result.h"
#include "kernels/dense/packing.h"
#include "ops/conv2d/test_made.h"

namespace deuteron {
namespace {

// The numbers of a plain call whose weight and bias are its first constants; `multipliers`: where
// its scales stand among them.
DenseNumbers numbers_of(const Lowered& call, const Shape& x, const Shape& y, size_t multipliers) {
  const auto list = [&](size_t k) { return call.constants[k].data.as<i32>(); };
  DenseNumbers n = dense_numbers(x, call.constants[0].type.shape, y);
  n.weight = call.constants[0].data;
  n.bias.assign(list(1).begin(), list(1).end());
  for (size_t o = 0; o < n.bias.size(); ++o)
    n.multipliers.push_back({list(multipliers)[o], list(multipliers + 1)[o]});
  n.range = {-128, 127};
  return n;
}

// Weights of -127..127, and one of -128 in each filter.
std::vector<int8_t> weights_of(Random& r, i64 filters, i64 length) {
  std::vector<int8_t> weight(static_cast<size_t>(filters * length));
  for (int8_t& v : weight) v = static_cast<int8_t>(r.in(-127, 127));
  for (i64 o = 0; o < filters; ++o) weight[o * length + r.in(0, length - 1)] = -128;
  return weight;
}

// A call of cortex_m::quantized_conv2d whose constants are all new ones: operand 0 is x. scales: 0
// without shifts, 1 with one shift, 2 next to nothing, 3 of a fully connected layer, 4 of a
// convolution as TFLite has them, with constant filters among them.
Made made(Random& r, i64 scales, std::optional<i64> fixed_x_offset = {}) {
  const bool alone = scales == 3;  // a fully connected layer, with shifts of some bits
  const i64 h = alone ? 1 : r.in(1, 6), w = alone ? 1 : r.in(1, 7),
            c = r.in(alone ? 4 : 1, alone ? 200 : 20), oc = r.in(4, 11);
  const i64 kh = alone ? 1 : r.in(1, 3), kw = alone ? 1 : r.in(1, 3);
  std::vector<int8_t> weight = weights_of(r, oc, kh * kw * c);
  std::vector<i32> bias(oc), multiplier(oc), shift(oc);
  for (i64 o = 0; o < oc; ++o) {
    bias[o] = static_cast<i32>(r.in(0, 3) == 0 ? r.in(-500000000, 500000000) : r.in(-60000, 60000));
    const bool shifted = scales >= 2 || (scales == 1 && o == 0);
    multiplier[o] = static_cast<i32>(shifted ? r.in(1 << 30, INT32_MAX) : r.in(0, 1 << 24));
    shift[o] = static_cast<i32>(!shifted      ? 0
                                : scales == 1 ? -r.in(11, 16)
                                : scales == 2 ? -r.in(16, 31)
                                              : -r.in(scales == 4 ? 5 : 11, 14));
    if (scales == 4 && r.in(0, 9) == 0) shift[o] = -31;
    if (scales == 4 && r.in(0, 9) == 0)
      std::fill_n(weight.begin() + o * kh * kw * c, kh * kw * c, int8_t{0});
  }
  Made m{{}, {DType::s8, {1, h, w, c}, {}}, {DType::s8, {1, h, w, oc}, {}}, {}};
  CallBuilder call("cortex_m::quantized_conv2d", 1, 1);
  call.in(0, channels_last_face(m.x.shape))
      .constant(DType::s8, {oc, kh, kw, c}, std::move(weight))
      .constant(DType::s32, {oc}, std::move(bias));
  const HW pad{(kh - 1) / 2, (kw - 1) / 2};
  const i64 x_offset = fixed_x_offset ? *fixed_x_offset : r.in(-127, 128),
            y_zero = r.in(0, 1) ? -128 : r.in(-128, 127);
  call.integers({1, 1}).integers({pad.h, pad.w}).integers({1, 1}).integer(x_offset).integer(y_zero);
  call.constant(DType::s32, {oc}, std::move(multiplier))
      .constant(DType::s32, {oc}, std::move(shift))
      .integer(-128)
      .integer(127);
  call.scratch(0).out(0, channels_last_face(m.y.shape));
  m.call = call.done();
  m.numbers = numbers_of(m.call, m.x.shape, m.y.shape, 2);
  m.numbers.set_window({1, 1}, pad, {1, 1});
  m.numbers.a.x_zero = static_cast<i32>(-x_offset), m.numbers.a.y_zero = static_cast<i32>(y_zero);
  return m;
}

// The packed forms of a call, of each instruction set where there are such, whose bits are those of
// the plain one. `has_zeros`: x ends with them.
std::vector<Lowered> packed_alike(Random& r, const Made& m, bool has_zeros = false) {
  std::vector<int8_t> x(static_cast<size_t>(m.x.elements()));
  for (int8_t& v : x)
    v = static_cast<int8_t>(r.in(0, 7) == 0 ? (r.in(0, 1) ? 127 : -128) : r.in(-128, 127));
  if (has_zeros) std::fill(x.begin() + r.in(0, static_cast<i64>(x.size())), x.end(), int8_t{-128});
  std::vector<Lowered> all;
  for (const Isa isa : {Isa::mve, Isa::dsp, Isa::scalar}) {
    const Result<Lowered> packed = pack_layer(m.numbers, {isa, 1, has_zeros});
    if (!packed) continue;
    EXPECT_EQ(result_of(m.call, m.x, m.y, x), result_of(*packed, m.x, m.y, x)) << name_of(isa);
    all.push_back(*packed);
  }
  return all;
}

// A call of deuteron::linear_once: operand 0 is x. `wide`: so many steps that a multiplier without
// a shift will hardly do.
Made made_once(Random& r, bool wide) {
  const i64 rows = r.in(1, 3), inputs = r.in(4, wide ? 200 : 20), outputs = r.in(4, 11);
  std::vector<int8_t> weight = weights_of(r, outputs, inputs);
  std::vector<i32> first(outputs), multiplier(outputs), shift(outputs);
  for (i64 o = 0; o < outputs; ++o) {
    first[o] =
        static_cast<i32>(r.in(0, 5) == 0 ? r.in(-400000000, 400000000) : r.in(-60000, 60000));
    multiplier[o] = static_cast<i32>(r.in(1 << 30, INT32_MAX)),
    shift[o] = static_cast<i32>(wide ? -r.in(10, 14) : -r.in(4, 31));
  }
  Made m{{}, {DType::s8, {rows, inputs}, {}}, {DType::s8, {rows, outputs}, {}}, {}};
  CallBuilder call("deuteron::linear_once", 1, 1);
  call.in(0, plain_face(m.x.shape)).constant(DType::s8, {outputs, inputs}, std::move(weight));
  call.constant(DType::s32, {outputs}, std::move(first))
      .constant(DType::s32, {outputs}, std::move(multiplier));
  const i64 y_zero = r.in(-128, 127);
  call.constant(DType::s32, {outputs}, std::move(shift)).integer(y_zero).integer(-128).integer(127);
  m.call = call.out(0, plain_face(m.y.shape)).done();
  m.call.constants[0].type.shape = {outputs, 1, 1, inputs};
  m.numbers = numbers_of(m.call, {1, rows, 1, inputs}, {1, rows, 1, outputs}, 2);
  m.call.constants[0].type.shape = {outputs, inputs};
  m.numbers.rounds_once = true;
  m.numbers.a.y_zero = static_cast<i32>(y_zero);
  return m;
}

// A call of cortex_m::quantized_transpose_conv2d without shifts.
Made made_transposed(Random& r) {
  const i64 h = r.in(1, 5), w = r.in(1, 6), c = r.in(1, 20), oc = r.in(4, 9), sh = r.in(1, 3),
            sw = r.in(1, 3);
  const i64 kh = r.in(1, 5), kw = r.in(1, 5), ph = r.in(0, (kh - 1) / 2),
            pw = r.in(0, (kw - 1) / 2);
  const i64 more_h = r.in(0, sh - 1), more_w = r.in(0, sw - 1);
  const i64 oh = (h - 1) * sh - 2 * ph + kh + more_h, ow = (w - 1) * sw - 2 * pw + kw + more_w;
  std::vector<int8_t> weight = weights_of(r, oc, kh * kw * c);
  std::vector<i32> bias(oc), multiplier(oc), shift(oc, 0);
  for (i64 o = 0; o < oc; ++o)
    bias[o] = static_cast<i32>(r.in(-60000, 60000)),
    multiplier[o] = static_cast<i32>(r.in(0, 1 << 24));
  Made m{{}, {DType::s8, {2, h, w, c}, {}}, {DType::s8, {2, oh, ow, oc}, {}}, {}};
  CallBuilder call("cortex_m::quantized_transpose_conv2d", 1, 1);
  call.in(0, channels_last_face(m.x.shape)).constant(DType::s8, {oc, kh, kw, c}, std::move(weight));
  call.constant(DType::s32, {oc}, std::move(bias))
      .integers({sh, sw})
      .integers({ph, pw})
      .integers({more_h, more_w})
      .integers({1, 1});
  const i64 x_offset = r.in(-127, 128), y_zero = r.in(-128, 127);
  call.integer(x_offset).integer(y_zero);
  call.constant(DType::s32, {oc}, std::move(multiplier))
      .constant(DType::s32, {oc}, std::move(shift))
      .integer(-128)
      .integer(127);
  call.scratch(0).scratch(0).out(0, channels_last_face(m.y.shape));
  m.call = call.done();
  m.numbers = numbers_of(m.call, m.x.shape, m.y.shape, 2);
  m.numbers.set_window({sh, sw}, {ph, pw}, {1, 1});
  m.numbers.a.x_zero = static_cast<i32>(-x_offset), m.numbers.a.y_zero = static_cast<i32>(y_zero);
  m.numbers.is_transposed = true;
  return m;
}

TEST(Packing, KeepsEveryBitWhateverTheScales) {
  Random r{std::mt19937(20262)};
  int packed_calls[5] = {}, shifted = 0;
  for (int i = 0; i < 1000; ++i) {
    const i64 scales = i % 5;
    const Made m = made(r, scales);
    for (const Lowered& packed : packed_alike(r, m))
      ++packed_calls[scales], shifted += packed.call.name == "deuteron::packed_conv2d_shifts";
  }
  EXPECT_GE(packed_calls[0], 100);  // without shifts
  EXPECT_GE(packed_calls[1], 10);   // with one filter for which a plain multiplier does
  EXPECT_GE(packed_calls[2], 100);  // scales next to nothing: constant filters
  EXPECT_EQ(packed_calls[3],
            600);  // fully connected layers, whatever their shifts: in every packing
  EXPECT_GE(packed_calls[4], 200);  // convolutions with shifts
  EXPECT_GE(shifted, 150);
}

TEST(Packing, KeepsEveryBitBehindARelu) {
  Random r{std::mt19937(35)};
  int behind = 0, others = 0;
  for (int i = 0; i < 400; ++i) {
    const Made m = made(r, 3, i % 8 == 0 ? 127 : 128);
    for (const Lowered& packed : packed_alike(r, m, true)) {
      const bool is_linear = packed.call.name == "deuteron::packed_linear";
      ++(is_linear ? behind : others);
      EXPECT_FALSE(is_linear && i % 8 == 0) << "another zero point";
    }
  }
  EXPECT_GE(behind, 600);
  EXPECT_GE(others, 100);
}

// Where 255 times a filter's weights leave 24 bits, while 128 times do not.
TEST(Packing, LeavesLongFiltersOfDspToTheOtherKernel) {
  constexpr i64 kInputs = 400, kOutputs = 4;
  const auto called = [&](int8_t weight, Isa isa) {
    DenseNumbers n =
        dense_numbers({1, 1, 1, kInputs}, {kOutputs, 1, 1, kInputs}, {1, 1, 1, kOutputs});
    n.weight = constant_of(std::vector<int8_t>(kInputs * kOutputs, weight));
    n.bias.assign(kOutputs, 5), n.multipliers.assign(kOutputs, {1 << 14, 0}), n.range = {-128, 127};
    n.a.x_zero = n.a.y_zero = -128;
    return pack_layer(n, {isa, 1, true}).value->call.name;
  };
  EXPECT_EQ(called(82, Isa::dsp), "deuteron::packed_linear");  // 255 * 400 * 82 < 2^23
  EXPECT_EQ(called(83, Isa::dsp), "deuteron::packed_conv2d");
  EXPECT_EQ(called(83, Isa::mve), "deuteron::packed_linear");
}

TEST(Packing, KeepsEveryBitOfLayersThatRoundOnce) {
  Random r{std::mt19937(11)};
  int with_shifts = 0, without = 0;
  for (int i = 0; i < 600; ++i) {
    const Made m = made_once(r, i % 2 == 0);
    const i64 outputs = m.y.shape[1];
    for (const Lowered& packed : packed_alike(r, m)) {
      const i64 bytes = packed.constants[0].type.elements();
      const bool plain =
          bytes == packed_bytes(Packing::mve_4x16, static_cast<int32_t>(outputs), m.x.shape[1]) ||
          bytes == packed_bytes(Packing::dsp_4x4, static_cast<int32_t>(outputs), m.x.shape[1]);
      ++(plain ? without : with_shifts);
    }
  }
  EXPECT_GT(with_shifts, 300);
  EXPECT_GT(without, 100);
}

TEST(Packing, KeepsEveryBitOfTransposedConvolutions) {
  Random r{std::mt19937(7)};
  int packed_calls = 0;
  for (int i = 0; i < 300; ++i) {
    const Made m = made_transposed(r);
    packed_calls += static_cast<int>(packed_alike(r, m).size());
  }
  EXPECT_GE(packed_calls, 200);
}

TEST(Packing, SaysWhyATransposedConvolutionStaysPlain) {
  Random r{std::mt19937(1)};
  DenseNumbers n;
  do n = made_transposed(r).numbers;  // the first that is packed as it is
  while (!pack_layer(n, {Isa::mve, 1}));
  EXPECT_EQ(pack_layer(n, {Isa::scalar, 1}).why.what,
            "there is no packing for this instruction set");
  n.range.low = -5;
  EXPECT_EQ(pack_layer(n, {Isa::mve, 1}).why.what, "the result has bounds of its own");
  n.a.stride_h = 9;
  EXPECT_EQ(pack_layer(n, {Isa::mve, 1}).why.what, "the call has a stride of more than 8");
}

// -128 beside a weight below zero and beside another: no sign of either filter makes halfwords.
TEST(Packing, SaysThatWeightsDoNotGoIntoHalfwords) {
  Random r{std::mt19937(1)};
  DenseNumbers n;
  do n = made(r, 0).numbers;
  while (n.a.length() < 3);
  n.multipliers.assign(n.bias.size(), {1 << 20, 0}), n.bias.assign(n.bias.size(), 0);
  std::vector<int8_t> weight(n.weight.as<int8_t>().begin(), n.weight.as<int8_t>().end());
  const auto length = weight.size() / static_cast<size_t>(n.a.out_c);
  std::fill(weight.begin(), weight.end(), int8_t{0});
  weight[0] = weight[2] = -128, weight[1] = 1;
  weight[length] = weight[length + 1] = weight[length + 2] = -128;
  n.weight = constant_of(weight);
  EXPECT_TRUE(pack_layer(n, {Isa::mve, 1}));
  EXPECT_EQ(pack_layer(n, {Isa::dsp, 1}).why.what,
            "the weights of two filters do not go into halfwords");
}

TEST(Packing, SaysWhyACallStaysPlain) {
  Random r{std::mt19937(1)};
  DenseNumbers n = made(r, 0).numbers;
  n.range.low = -5;
  EXPECT_EQ(pack_layer(n, {Isa::mve, 1}).why.what, "the result has bounds of its own");
  n.a.in_c *= 2, n.a.n = 1;
  EXPECT_EQ(pack_layer(n, {Isa::mve, 1}).why.what,
            n.filter_c == 1 ? "the convolution is depthwise" : "the convolution has groups");
}

}  // namespace
}  // namespace deuteron
