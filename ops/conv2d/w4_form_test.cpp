// SPDX-License-Identifier: Apache-2.0
// A call with weights of four bits gives the bits of the packed one, in both packings; weights that
// are no such numbers keep theirs.
#include "ops/conv2d/w4_form.h"

#include <gtest/gtest.h>

#include <random>

#include "kernels/conv2d/packed/test_result.h"
#include "ops/conv2d/packing.h"
#include "ops/conv2d/test_made.h"

namespace deuteron {
namespace {

// A convolution whose weights are products of -8..7 and a factor for each 16 channels of a tap.
Made made(Random& r) {
  const i64 h = r.in(1, 6), w = r.in(1, 7), c = 16 * r.in(1, 3), oc = r.in(4, 11), kh = r.in(1, 3),
            kw = r.in(1, 3);
  std::vector<int8_t> weight(static_cast<size_t>(oc * kh * kw * c));
  for (size_t first = 0; first < weight.size(); first += 16) {
    const i64 factor = r.in(1, 16);
    for (size_t k = first; k < first + 16; ++k)
      weight[k] = static_cast<int8_t>(r.in(factor == 16 ? -7 : -8, 7) * factor);
  }
  std::vector<i32> bias(oc), multiplier(oc), shift(oc);
  for (i64 o = 0; o < oc; ++o)
    bias[o] = static_cast<i32>(r.in(-60000, 60000)),
    multiplier[o] = static_cast<i32>(r.in(0, 1 << 22));
  Made m{{}, {DType::s8, {1, h, w, c}, {}}, {DType::s8, {1, h, w, oc}, {}}, {}};
  const i64 ph = (kh - 1) / 2, pw = (kw - 1) / 2, x_offset = r.in(-127, 128),
            y_zero = r.in(-128, 127);
  m.numbers = dense_numbers(m.x.shape, {oc, kh, kw, c}, m.y.shape);
  m.numbers.set_window({1, 1}, {ph, pw}, {1, 1});
  m.numbers.weight = constant_of(weight), m.numbers.bias = bias, m.numbers.range = {-128, 127};
  for (i64 o = 0; o < oc; ++o) m.numbers.multipliers.push_back({multiplier[o], shift[o]});
  m.numbers.a.x_zero = static_cast<i32>(-x_offset), m.numbers.a.y_zero = static_cast<i32>(y_zero);
  CallBuilder call("cortex_m::quantized_conv2d", 1, 1);
  call.in(0, channels_last_face(m.x.shape))
      .constant(DType::s8, {oc, kh, kw, c}, std::move(weight))
      .constant(DType::s32, {oc}, std::move(bias));
  call.integers({1, 1}).integers({ph, pw}).integers({1, 1}).integer(x_offset).integer(y_zero);
  call.constant(DType::s32, {oc}, std::move(multiplier))
      .constant(DType::s32, {oc}, std::move(shift))
      .integer(-128)
      .integer(127);
  call.scratch(0).out(0, channels_last_face(m.y.shape));
  m.call = call.done();
  return m;
}

TEST(W4Form, KeepsTheBits) {
  Random r{std::mt19937(7)};
  for (int i = 0; i < 60; ++i) {
    const Made m = made(r);
    std::vector<int8_t> x(static_cast<size_t>(m.x.elements()));
    for (int8_t& v : x) v = static_cast<int8_t>(r.in(-128, 127));
    const std::vector<int8_t> expected = result_of(m.call, m.x, m.y, x);
    for (const Isa isa : {Isa::mve, Isa::dsp}) {
      const Result<Lowered> int8 = pack_layer(m.numbers, {isa, 1}),
                            w4 = pack_layer(m.numbers, {isa, 1, false, true});
      ASSERT_TRUE(int8) << int8.why.what;
      ASSERT_TRUE(w4) << w4.why.what;
      EXPECT_EQ(w4->call.name, "deuteron::packed_conv2d_w4");
      EXPECT_LT(w4->constants[0].type.bytes() * 10,
                int8->constants[0].type.bytes() * 8);  // numbers of a tile stay as they are
      EXPECT_EQ(result_of(*w4, m.x, m.y, x), expected) << i;
    }
  }
}

// One weight that no factor of its run divides.
TEST(W4Form, RefusesOtherWeights) {
  Random r{std::mt19937(8)};
  DenseNumbers n = made(r).numbers;
  std::vector<int8_t> weight(n.weight.as<int8_t>().begin(), n.weight.as<int8_t>().end());
  weight[3] = 127, weight[4] = 1;
  n.weight = constant_of(std::move(weight));
  for (const Isa isa : {Isa::mve, Isa::dsp})
    EXPECT_EQ(pack_layer(n, {isa, 1, false, true})->call.name, "deuteron::packed_conv2d");
}

}  // namespace
}  // namespace deuteron
