// lookup_s8 on every value and in place; and what prepare() refuses.
#include "ops/unary/kernel.h"

#include "ops/kernels.h"
#include "ops/test_call.h"
#include "ops/unary/reference.h"

namespace deuteron {
namespace {

TestCall call_of(Random& random) {
  TestCall call(kQuantizedActivation);
  Tensor& x = call.tensor(ScalarType::s8, {1, 3, 5, 67}, {0, 2, 3, 1});
  for (int32_t i = 0; i < x.numel; ++i) data_of<int8_t>(x)[i] = static_cast<int8_t>(i % 256 - 128);
  Tensor& table = call.tensor(ScalarType::s8, {256});
  random.fill(table);
  table.constant = true;
  call.tensor(ScalarType::s8, {1, 3, 5, 67}, {0, 2, 3, 1});
  return call;
}

TEST(LookupKernel, EqualsTheReferenceAlsoInPlace) {
  EXPECT_TRUE(kQuantizedActivation.in_place);
  for (const bool in_place : {false, true}) {
    Random random(1);
    TestCall call = call_of(random);
    std::vector<int8_t> expected(1005);
    lookup_reference(1005, data_of<int8_t>(call.tensor_at(1)), data_of<int8_t>(call.tensor_at(0)), expected.data());
    if (in_place) call.tensor_at(2).data = call.tensor_at(0).data;
    call.run();
    EXPECT_EQ(contents<int8_t>(call.tensor_at(2)), expected);
  }
}

TEST(LookupKernel, Refuses) {
  const auto refused = [](auto spoil) {
    Random random(2);
    TestCall call = call_of(random);
    spoil(call);
    return call.refused();
  };
  EXPECT_EQ(refused([](TestCall&) {}), -1);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(0).type = ScalarType::u8; }), 0);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(1).numel = 255; }), 1);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(1).type = ScalarType::s16; }), 1);
  EXPECT_EQ(refused([](TestCall& c) { c.tensor_at(2).type = ScalarType::s16; }), 2);
  EXPECT_EQ(refused([](TestCall& c) { c.sizes_at(2)[3] = 66; }), 2);
  uint8_t planes[] = {0, 1, 2, 3};
  EXPECT_EQ(refused([&](TestCall& c) { c.tensor_at(2).dim_order = planes; }), 2);
}

}  // namespace
}  // namespace deuteron
