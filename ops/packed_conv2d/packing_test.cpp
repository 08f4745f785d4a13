// SPDX-License-Identifier: Apache-2.0
// A packed call gives the bits of the plain one: random convolutions, with scales of all kinds, run both ways.
#include "ops/packed_conv2d/packing.h"

#include <gtest/gtest.h>

#include <random>

#include "ops/dense/packing.h"
#include "ops/packed_conv2d/test_result.h"

namespace deuteron {
namespace {

struct Random {
  std::mt19937 bits;
  i64 in(i64 low, i64 high) { return low + static_cast<i64>(bits() % static_cast<uint32_t>(high - low + 1)); }
};

struct Made {
  Lowered call;
  Type x, y;
};

// A call of cortex_m::quantized_conv2d whose constants are all new ones: operand 0 is x. scales: 0 without shifts, 1 with one shift, 2 next
// to nothing, 3 of a fully connected layer, 4 of a convolution as TFLite has them, with constant filters among them.
Made made(Random& r, i64 scales) {
  const bool alone = scales == 3;  // a fully connected layer, with shifts of some bits
  const i64 h = alone ? 1 : r.in(1, 6), w = alone ? 1 : r.in(1, 7), c = r.in(alone ? 4 : 1, alone ? 200 : 20), oc = r.in(4, 11);
  const i64 kh = alone ? 1 : r.in(1, 3), kw = alone ? 1 : r.in(1, 3);
  std::vector<int8_t> weight(static_cast<size_t>(oc * kh * kw * c));
  for (int8_t& v : weight) v = static_cast<int8_t>(r.in(-127, 127));
  std::vector<i32> bias(oc), multiplier(oc), shift(oc);
  for (i64 o = 0; o < oc; ++o) {
    bias[o] = static_cast<i32>(r.in(0, 3) == 0 ? r.in(-500000000, 500000000) : r.in(-60000, 60000));
    const bool shifted = scales >= 2 || (scales == 1 && o == 0);
    multiplier[o] = static_cast<i32>(shifted ? r.in(1 << 30, INT32_MAX) : r.in(0, 1 << 24));
    shift[o] = static_cast<i32>(!shifted ? 0 : scales == 1 ? -r.in(11, 16) : scales == 2 ? -r.in(16, 31) : -r.in(scales == 4 ? 5 : 11, 14));
    if (scales == 4 && r.in(0, 9) == 0) shift[o] = -31;
    if (scales == 4 && r.in(0, 9) == 0) std::fill_n(weight.begin() + o * kh * kw * c, kh * kw * c, int8_t{0});
  }
  Made m{{}, {DType::s8, {1, h, w, c}, {}}, {DType::s8, {1, h, w, oc}, {}}};
  CallBuilder call("cortex_m::quantized_conv2d", 1, 1);
  call.in(0, channels_last_face(m.x.shape))
      .constant(DType::s8, {oc, kh, kw, c}, std::move(weight))
      .constant(DType::s32, {oc}, std::move(bias));
  call.integers({1, 1}).integers({(kh - 1) / 2, (kw - 1) / 2}).integers({1, 1}).integer(r.in(-127, 128));
  call.integer(r.in(0, 1) ? -128 : r.in(-128, 127));
  call.constant(DType::s32, {oc}, std::move(multiplier)).constant(DType::s32, {oc}, std::move(shift)).integer(-128).integer(127);
  call.scratch(0).out(0, channels_last_face(m.y.shape));
  m.call = call.done();
  return m;
}

// The packed forms of a call, of each instruction set where there are such, whose bits are those of the plain one.
// `has_zeros`: x ends with them.
std::vector<Lowered> packed_alike(Random& r, const Made& m, Result<Lowered> (*pack)(const PlainCall&), bool has_zeros = false) {
  std::vector<const Constant*> data{nullptr};
  for (const NewConstant& c : m.call.constants) data.push_back(&c.data);
  std::vector<int8_t> x(static_cast<size_t>(m.x.elements()));
  for (int8_t& v : x) v = static_cast<int8_t>(r.in(0, 7) == 0 ? (r.in(0, 1) ? 127 : -128) : r.in(-128, 127));
  if (has_zeros) std::fill(x.begin() + r.in(0, static_cast<i64>(x.size())), x.end(), int8_t{-128});
  std::vector<Lowered> all;
  for (const Isa isa : {Isa::mve, Isa::dsp, Isa::scalar}) {
    const Result<Lowered> p = pack({m.call.call, data, isa, has_zeros});
    if (!p) continue;
    // Its operands are those of the plain call and then its own constants.
    Lowered packed = *p;
    for (KernelArg& arg : packed.call.args)
      if (arg.kind == KernelArg::Kind::input && arg.integer > 0) arg.integer -= static_cast<i64>(data.size()) - 1;
    EXPECT_EQ(result_of(m.call, m.x, m.y, x), result_of(packed, m.x, m.y, x)) << name_of(isa);
    all.push_back(std::move(packed));
  }
  return all;
}

// A call of deuteron::linear_once: operand 0 is x. `wide`: so many steps that a multiplier without a shift will hardly do.
Made made_once(Random& r, bool wide) {
  const i64 rows = r.in(1, 3), inputs = r.in(4, wide ? 200 : 20), outputs = r.in(4, 11);
  std::vector<int8_t> weight(static_cast<size_t>(outputs * inputs));
  for (int8_t& v : weight) v = static_cast<int8_t>(r.in(-127, 127));
  std::vector<i32> first(outputs), multiplier(outputs), shift(outputs);
  for (i64 o = 0; o < outputs; ++o) {
    first[o] = static_cast<i32>(r.in(0, 5) == 0 ? r.in(-400000000, 400000000) : r.in(-60000, 60000));
    multiplier[o] = static_cast<i32>(r.in(1 << 30, INT32_MAX)), shift[o] = static_cast<i32>(wide ? -r.in(10, 14) : -r.in(4, 31));
  }
  Made m{{}, {DType::s8, {rows, inputs}, {}}, {DType::s8, {rows, outputs}, {}}};
  CallBuilder call("deuteron::linear_once", 1, 1);
  call.in(0, plain_face(m.x.shape)).constant(DType::s8, {outputs, inputs}, std::move(weight));
  call.constant(DType::s32, {outputs}, std::move(first)).constant(DType::s32, {outputs}, std::move(multiplier));
  call.constant(DType::s32, {outputs}, std::move(shift)).integer(r.in(-128, 127)).integer(-128).integer(127);
  m.call = call.out(0, plain_face(m.y.shape)).done();
  return m;
}

// A call of cortex_m::quantized_transpose_conv2d without shifts.
Made made_transposed(Random& r) {
  const i64 h = r.in(1, 5), w = r.in(1, 6), c = r.in(1, 20), oc = r.in(4, 9), sh = r.in(1, 3), sw = r.in(1, 3);
  const i64 kh = r.in(1, 5), kw = r.in(1, 5), ph = r.in(0, (kh - 1) / 2), pw = r.in(0, (kw - 1) / 2);
  const i64 more_h = r.in(0, sh - 1), more_w = r.in(0, sw - 1);
  const i64 oh = (h - 1) * sh - 2 * ph + kh + more_h, ow = (w - 1) * sw - 2 * pw + kw + more_w;
  std::vector<int8_t> weight(static_cast<size_t>(oc * kh * kw * c));
  for (int8_t& v : weight) v = static_cast<int8_t>(r.in(-127, 127));
  std::vector<i32> bias(oc), multiplier(oc), shift(oc, 0);
  for (i64 o = 0; o < oc; ++o) bias[o] = static_cast<i32>(r.in(-60000, 60000)), multiplier[o] = static_cast<i32>(r.in(0, 1 << 24));
  Made m{{}, {DType::s8, {2, h, w, c}, {}}, {DType::s8, {2, oh, ow, oc}, {}}};
  CallBuilder call("cortex_m::quantized_transpose_conv2d", 1, 1);
  call.in(0, channels_last_face(m.x.shape)).constant(DType::s8, {oc, kh, kw, c}, std::move(weight));
  call.constant(DType::s32, {oc}, std::move(bias)).integers({sh, sw}).integers({ph, pw}).integers({more_h, more_w}).integers({1, 1});
  call.integer(r.in(-127, 128)).integer(r.in(-128, 127));
  call.constant(DType::s32, {oc}, std::move(multiplier)).constant(DType::s32, {oc}, std::move(shift)).integer(-128).integer(127);
  call.scratch(0).scratch(0).out(0, channels_last_face(m.y.shape));
  m.call = call.done();
  return m;
}

TEST(Packing, KeepsEveryBitWhateverTheScales) {
  Random r{std::mt19937(20262)};
  int packed_calls[5] = {}, shifted = 0;
  for (int i = 0; i < 1000; ++i) {
    const i64 scales = i % 5;
    const Made m = made(r, scales);
    for (const Lowered& packed : packed_alike(r, m, pack_conv2d))
      ++packed_calls[scales], shifted += packed.call.name == "deuteron::packed_conv2d_shifts";
  }
  EXPECT_GE(packed_calls[0], 100);  // without shifts
  EXPECT_GE(packed_calls[1], 10);   // with one filter for which a plain multiplier does
  EXPECT_GE(packed_calls[2], 100);  // scales next to nothing: constant filters
  EXPECT_EQ(packed_calls[3], 600);  // fully connected layers, whatever their shifts: in every packing
  EXPECT_GE(packed_calls[4], 200);  // convolutions with shifts
  EXPECT_GE(shifted, 150);
}

TEST(Packing, KeepsEveryBitBehindARelu) {
  constexpr int kXOffset = 6;
  Random r{std::mt19937(35)};
  int behind = 0, others = 0;
  for (int i = 0; i < 400; ++i) {
    Made m = made(r, 3);
    m.call.call.args[kXOffset].integer = i % 8 == 0 ? 127 : 128;
    for (const Lowered& packed : packed_alike(r, m, pack_conv2d, true)) {
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
    CallBuilder call("cortex_m::quantized_conv2d", 1, 1);
    const Shape x{1, 1, 1, kInputs}, y{1, 1, 1, kOutputs};
    call.in(0, channels_last_face(x)).constant(DType::s8, {kOutputs, 1, 1, kInputs}, std::vector<int8_t>(kInputs * kOutputs, weight));
    call.constant(DType::s32, {kOutputs}, std::vector<i32>(kOutputs, 5)).integers({1, 1}).integers({0, 0}).integers({1, 1});
    call.integer(128).integer(-128).constant(DType::s32, {kOutputs}, std::vector<i32>(kOutputs, 1 << 14));
    call.constant(DType::s32, {kOutputs}, std::vector<i32>(kOutputs, 0)).integer(-128).integer(127);
    call.scratch(0).out(0, channels_last_face(y));
    const Lowered plain = call.done();
    std::vector<const Constant*> data{nullptr};
    for (const NewConstant& c : plain.constants) data.push_back(&c.data);
    return pack_conv2d({plain.call, data, isa, true}).value->call.name;
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
    for (const Lowered& packed : packed_alike(r, m, pack_linear_once)) {
      const i64 bytes = packed.constants[0].type.elements();
      const bool plain = bytes == packed_bytes(Packing::mve_4x16, static_cast<int32_t>(outputs), m.x.shape[1]) ||
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
    packed_calls += static_cast<int>(packed_alike(r, m, pack_conv_transpose2d).size());
  }
  EXPECT_GE(packed_calls, 200);
}

TEST(Packing, SaysWhyATransposedConvolutionStaysPlain) {
  Random r{std::mt19937(1)};
  Made m;
  std::vector<const Constant*> data;
  do {  // the first that is packed as it is
    m = made_transposed(r), data = {nullptr};
    for (const NewConstant& c : m.call.constants) data.push_back(&c.data);
  } while (!pack_conv_transpose2d({m.call.call, data, Isa::mve}));
  EXPECT_EQ(pack_conv_transpose2d({m.call.call, data, Isa::scalar}).why.what, "there is no packing for this instruction set");
  m.call.call.args[11].integer = -5;
  EXPECT_EQ(pack_conv_transpose2d({m.call.call, data, Isa::mve}).why.what, "the result has bounds of its own");
  m.call.call.args[3].integers = {9, 1};
  EXPECT_EQ(pack_conv_transpose2d({m.call.call, data, Isa::mve}).why.what, "the call has a stride of more than 8");
}

TEST(Packing, SaysWhyACallStaysPlain) {
  Random r{std::mt19937(1)};
  Made m = made(r, 0);
  std::vector<const Constant*> data{nullptr};
  for (const NewConstant& c : m.call.constants) data.push_back(&c.data);
  m.call.call.args[10].integer = -5;
  EXPECT_EQ(pack_conv2d({m.call.call, data, Isa::mve}).why.what, "the result has bounds of its own");
  data[1] = nullptr;
  EXPECT_EQ(pack_conv2d({m.call.call, data, Isa::mve}).why.what, "the weight is computed");
}

}  // namespace
}  // namespace deuteron
