// add_s8 and its binding against the reference, bit for bit: all pairs of values, both kinds of operands, in place; and refusals.
#include "ops/add/kernel.h"

#include "ops/add/reference.h"
#include "ops/kernels.h"
#include "ops/test_call.h"

namespace deuteron {
namespace {

constexpr AddArgs kSettings[] = {
    {0, 0, {-128, 1118190138, -2}, {31, 1073741824, 0}, {14, 2051533446, -19}, -128, 127},  // an instruction of a stock file
    {0, 0, {5, 1073741824, 0}, {-7, -1395186471, -1}, {0, 1234567890, -18}, -128, 127},     // a subtraction
    {0, 0, {127, 2147483647, 0}, {-128, 1073741824, 0}, {-128, 1500000000, -20}, -100, 90},
    {0, 0, {-128, 2147483647, 30}, {127, 2147483647, 3}, {127, 2147483647, 30}, -128, 127},  // sums that wrap
    {0, 0, {0, 0, 0}, {0, 1073741824, -31}, {-1, 1073741824, -31}, -128, 127},
};

TestCall call_of(const AddArgs& a, const std::vector<int32_t>& x, const std::vector<int32_t>& other, const std::vector<int32_t>& out,
                 const std::vector<uint8_t>& order, Random& random) {
  TestCall call(kQuantizedAdd);
  const auto operand = [&](const std::vector<int32_t>& sizes, const Rescale& r) {
    random.fill(call.tensor(ScalarType::s8, sizes, order));
    for (int32_t v : {r.zero, r.multiplier, r.shift}) call.integer(v);
  };
  operand(x, a.x);
  operand(other, a.other);
  for (int32_t v : {a.y.zero, a.y.multiplier, a.y.shift, a.y_min, a.y_max}) call.integer(v);
  call.tensor(ScalarType::s8, out, order);
  return call;
}

TEST(AddKernel, EqualsTheReferenceOnEveryPairOfValues) {
  for (AddArgs a : kSettings) {
    Random random(1);
    TestCall call = call_of(a, {256, 256}, {256, 256}, {256, 256}, {}, random);
    for (int i = 0; i < 65536; ++i) {
      data_of<int8_t>(call.tensor_at(0))[i] = static_cast<int8_t>(i / 256 - 128);
      data_of<int8_t>(call.tensor_at(4))[i] = static_cast<int8_t>(i % 256 - 128);
    }
    call.run();
    a.count = a.period = 65536;
    std::vector<int8_t> expected(65536);
    add_reference(a, data_of<int8_t>(call.tensor_at(0)), data_of<int8_t>(call.tensor_at(4)), expected.data());
    EXPECT_EQ(contents<int8_t>(call.tensor_at(13)), expected);
  }
}

TEST(AddKernel, RepeatsAValueForEachChannel) {
  for (AddArgs a : kSettings)
    for (const bool first_is_short : {false, true}) {
      Random random(2);
      const std::vector<int32_t> image{3, 5, 2, 7}, channels{1, 5, 1, 1};
      TestCall call = call_of(a, first_is_short ? channels : image, first_is_short ? image : channels, image, {0, 2, 3, 1}, random);
      call.run();
      a.count = 210, a.period = 5;
      AddArgs turned = a;
      if (first_is_short) std::swap(turned.x, turned.other);
      std::vector<int8_t> expected(210);
      add_reference(turned, data_of<int8_t>(call.tensor_at(first_is_short ? 4 : 0)),
                    data_of<int8_t>(call.tensor_at(first_is_short ? 0 : 4)), expected.data());
      EXPECT_EQ(contents<int8_t>(call.tensor_at(13)), expected);
    }
}

TEST(AddKernel, WorksInPlaceOfEitherOperand) {
  EXPECT_TRUE(kQuantizedAdd.in_place);
  for (const int place : {0, 4}) {
    Random random(3);
    AddArgs a = kSettings[0];
    TestCall call = call_of(a, {3, 67}, {3, 67}, {3, 67}, {}, random);
    a.count = a.period = 201;
    std::vector<int8_t> expected(201);
    add_reference(a, data_of<int8_t>(call.tensor_at(0)), data_of<int8_t>(call.tensor_at(4)), expected.data());
    call.tensor_at(13).data = call.tensor_at(place).data;
    call.run();
    EXPECT_EQ(contents<int8_t>(call.tensor_at(13)), expected);
  }
}

TEST(AddKernel, Refuses) {
  const std::vector<int32_t> image{2, 5, 3, 4};
  const auto refused = [&](const std::vector<int32_t>& x, const std::vector<int32_t>& other, const std::vector<int32_t>& out, auto spoil,
                           const std::vector<uint8_t>& order = {0, 2, 3, 1}) {
    Random random(4);
    TestCall call = call_of(kSettings[0], x, other, out, order, random);
    spoil(call);
    return call.refused();
  };
  const auto nothing = [](TestCall&) {};
  EXPECT_EQ(refused(image, image, image, nothing), -1);
  EXPECT_EQ(refused(image, {1, 5, 1, 1}, image, nothing), -1);
  EXPECT_EQ(refused(image, {1, 5, 1, 1}, image, nothing, {0, 1, 2, 3}), 4);  // the channel is not innermost
  EXPECT_EQ(refused(image, {1, 4, 1, 1}, image, nothing), 4);
  EXPECT_EQ(refused(image, {1, 1, 1, 1}, image, nothing), 4);
  EXPECT_EQ(refused(image, {2, 5, 1, 1}, image, nothing), 4);
  EXPECT_EQ(refused(image, image, {2, 5, 4, 3}, nothing), 13);
  EXPECT_EQ(refused(image, {1, 5, 1, 1}, {1, 5, 1, 1}, nothing), 13);
  uint8_t planes[] = {0, 1, 2, 3};
  EXPECT_EQ(refused(image, image, image, [&](TestCall& c) { c.tensor_at(4).dim_order = planes; }), 4);
  EXPECT_EQ(refused(image, image, image, [&](TestCall& c) { c.tensor_at(13).dim_order = planes; }), 13);
  EXPECT_EQ(refused(image, image, image, [](TestCall& c) { c.tensor_at(0).type = ScalarType::s16; }), 0);
  EXPECT_EQ(refused(image, image, image, [](TestCall& c) { c.tensor_at(4).type = ScalarType::u8; }), 4);
  EXPECT_EQ(refused(image, image, image, [](TestCall& c) { c.tensor_at(13).type = ScalarType::f32; }), 13);
  for (const int zero : {1, 5, 8}) EXPECT_EQ(refused(image, image, image, [&](TestCall& c) { c.argument(zero).integer = 128; }), zero);
  for (const int m : {2, 6, 9}) EXPECT_EQ(refused(image, image, image, [&](TestCall& c) { c.argument(m).integer = int64_t{1} << 31; }), m);
  for (const int s : {3, 7, 10}) EXPECT_EQ(refused(image, image, image, [&](TestCall& c) { c.argument(s).integer = 31; }), s);
  EXPECT_EQ(refused(image, image, image, [](TestCall& c) { c.argument(11).integer = -129; }), 11);
  EXPECT_EQ(refused(image, image, image, [](TestCall& c) { c.argument(12).integer = 300; }), 12);
}

}  // namespace
}  // namespace deuteron
