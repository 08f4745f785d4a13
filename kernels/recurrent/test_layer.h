// SPDX-License-Identifier: Apache-2.0
// Layers of random numbers for the tests of the recurrent kernels.
#pragma once
#include <vector>

#include "kernels/common/kernel_test.h"
#include "kernels/recurrent/kernel.h"

namespace deuteron {

struct TestLayer {
  int32_t steps, batch, inputs, units, directions;
  bool batch_first, reverse, sequence, initial;
  int32_t y_zero = -5, y_multiplier = 1500000000, y_shift = -22;
  int32_t most_bias = 3000, shift = 31, multiplier = 0;  // multiplier 0: random ones
  ScalarType type = ScalarType::s8;                      // or s16

  size_t result_bytes() const { return static_cast<size_t>(steps) * batch * directions * units; }
  size_t state_bytes() const { return static_cast<size_t>(directions) * batch * units; }

  // The arguments that all three have in common.
  void begin(TestCall& call, int32_t gates, Random& random) const {
    const int32_t rows = gates * units, kinds = initial ? 2 : 1;
    if (batch_first) random.fill(call.tensor(type, {batch, steps, inputs}));
    else random.fill(call.tensor(type, {steps, batch, inputs}));
    if (initial) random.fill(call.tensor(type, {directions, batch, units}));
    else call.none();
    random.fill(call.tensor(type, {directions, rows, inputs}));
    random.fill(call.tensor(type, {directions, rows, units}));
    const auto words = [&](int32_t count, int32_t low, int32_t high) {
      call.constants(random.list(count, low, high));
    };
    words(directions * rows, -most_bias, most_bias);
    words(directions * kinds * rows, -most_bias, most_bias);
    const bool wide = type == ScalarType::s16;
    const int32_t low = multiplier ? multiplier
                        : wide     ? 100
                                   : 100000,
                  high = multiplier ? multiplier
                         : wide     ? 65535
                                    : 2000000000;
    words(directions * rows, low, high);
    words(directions * kinds * rows, low, high);
    words(directions * rows, shift, shift);
    for (const bool b : {batch_first, reverse, sequence}) call.boolean(b);
    for (const int32_t v : {y_zero, y_multiplier, y_shift}) call.integer(v);
  }
  void results(TestCall& call) const {
    if (!sequence)
      call.tensor(ScalarType::u8, {2 * units * static_cast<int32_t>(element_bytes(type))});
    else if (batch_first) call.tensor(type, {batch, steps, directions * units});
    else call.tensor(type, {steps, batch, directions * units});
    call.tensor(type, {directions, batch, units});
  }
  // For the reference, without results.
  template <class Step = int8_t>
  RecurrentArgsOf<Step> args(TestCall& call) const {
    const auto words = [&](int at) { return data_of<int32_t>(call.tensor_at(at)); };
    const auto bytes = [&](int at) { return data_of<Step>(call.tensor_at(at)); };
    return {steps,       batch,    inputs,   units,    directions,
            batch_first, reverse,  sequence, y_zero,   y_multiplier,
            y_shift,     bytes(2), bytes(3), words(4), words(5),
            words(6),    words(7), words(8), bytes(0), initial ? bytes(1) : nullptr,
            nullptr,     nullptr};
  }
};

// The same layer on int16.
inline TestLayer on_int16(TestLayer layer) {
  layer.type = ScalarType::s16, layer.y_zero = 0, layer.y_shift = -14, layer.shift = 33;
  return layer;
}

inline const std::vector<TestLayer>& test_layers() {
  static const std::vector<TestLayer> layers = {
      {7, 2, 5, 3, 2, false, false, true, true},    {7, 2, 5, 3, 2, true, false, true, false},
      {4, 3, 2, 6, 1, true, false, true, true},     {4, 3, 2, 6, 1, false, true, true, false},
      {9, 1, 33, 17, 1, false, false, false, true}, {6, 2, 4, 5, 2, true, true, false, false},
      {1, 1, 1, 1, 1, false, false, true, false},   {1, 4, 3, 2, 2, true, false, false, true}};
  return layers;
}

// `make` makes a call of test_layers()[0]; y is argument y_at.
inline void expect_common_refusals(const std::function<TestCall()>& make, int y_at) {
  const auto refused = [&](auto spoil) {
    TestCall call = make();
    spoil(call);
    return call.refused();
  };
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(0).type = ScalarType::u8; }), 0);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(0).rank = 2; }), 0);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(1)[1] += 1; }), 1);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(2)[2] += 1; }), 2);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(3)[1] += 1; }), 3);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(3)[0] = 3; }), 3);
  for (const int at : {4, 5, 6, 7, 8})
    EXPECT_EQ(refused([at](TestCall& c) { c.tensor_at(at).numel -= 1; }), at);
  for (const int at : {4, 5, 6, 7, 8})
    EXPECT_EQ(refused([at](TestCall& c) { c.tensor_at(at).constant = false; }), at);
  for (const int at : {4, 5})
    EXPECT_EQ(refused([at](TestCall& c) { *data_of<int32_t>(c.tensor_at(at)) = (1 << 30) + 1; }),
              at);
  for (const int at : {6, 7, 8})
    EXPECT_EQ(refused([at](TestCall& c) { *data_of<int32_t>(c.tensor_at(at)) = -1; }), at);
  EXPECT_EQ(refused([](TestCall& c) { *data_of<int32_t>(c.tensor_at(8)) = 61; }), 8);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(12).integer = 128; }), 12);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(13).integer = INT32_MIN; }), 13);
  EXPECT_EQ(refused([](TestCall& c) { c.argument(14).integer = 1; }), 14);
  EXPECT_EQ(refused([y_at](TestCall& c) { c.sizes_at(y_at)[0] += 1; }), y_at);
  EXPECT_EQ(refused([y_at](TestCall& c) {
              c.argument(11).boolean = false;
              c.tensor_at(y_at).numel = 5;
            }),
            y_at);
  EXPECT_EQ(refused([y_at](TestCall& c) { c.sizes_at(y_at + 1)[2] += 1; }), y_at + 1);
}

}  // namespace deuteron
