// SPDX-License-Identifier: Apache-2.0
// svdf_s8 and its binding against the reference, bit for bit: batches, ranks, one step of memory,
// sums at the ends of int16; and refusals.
#include "kernels/svdf/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/svdf/reference.h"

namespace deuteron {
namespace svdf_test {

struct Case {
  const char* name;
  SvdfArgs a;
  bool has_bias;
};

// State: int16_t or int8_t.
template <class State>
TestCall call_of(const Case& k, uint32_t seed) {
  constexpr bool kBytes = sizeof(State) == 1;
  constexpr ScalarType kType = kBytes ? ScalarType::s8 : ScalarType::s16;
  Random random(seed);
  const SvdfArgs& a = k.a;
  TestCall call(kBytes ? kSvdfBytes : kSvdf);
  random.fill(call.tensor(ScalarType::s8, {a.batch, a.inputs}));
  random.fill(call.tensor(ScalarType::s8, {a.filters, a.inputs}));
  const auto fill = [&](const Tensor& t) {
    auto* to = static_cast<State*>(t.data);
    for (const int32_t v :
         random.list(t.numel, std::numeric_limits<State>::min(), std::numeric_limits<State>::max()))
      *to++ = static_cast<State>(v);
  };
  fill(call.tensor(kType, {a.filters, a.memory}));
  if (k.has_bias) {
    auto* to = static_cast<int32_t*>(call.tensor(ScalarType::s32, {a.units}).data);
    for (const int32_t v : random.list(a.units, -1000000, 1000000)) *to++ = v;
  } else {
    call.none();
  }
  fill(call.tensor(kType, {a.batch, a.filters * a.memory}));
  for (const int32_t v :
       {a.x_zero, a.feature_multiplier, a.feature_shift, a.y_zero, a.y_multiplier, a.y_shift})
    call.integer(v);
  if (kBytes) call.integer(a.state_zero);
  call.tensor(ScalarType::s8, {a.batch, a.units});
  call.tensor(kType, {a.batch, a.filters * a.memory});
  return call;
}

const Case kCases[] = {
    {"one of everything", {1, 1, 1, 1, 1, 0, 1073741824, 0, 0, 1073741824, -20, 0}, true},
    {"rank 2 without a bias", {1, 7, 6, 5, 3, -3, 1500000000, -4, 11, 1200000000, -21, 0}, false},
    {"rank 4, two of a batch", {2, 9, 8, 3, 2, 17, 1900000000, 2, -90, 1800000000, -19, 0}, true},
    {"a memory of one step", {3, 5, 4, 1, 4, 127, 1073741824, -2, -128, 2000000000, -16, 0}, true},
    {"features beyond int16", {1, 40, 4, 3, 2, -128, 2147483647, 6, 0, 1600000000, -24, 0}, true},
    {"a long memory", {1, 3, 2, 61, 1, 5, 1234567891, -1, 3, 1700000000, -22, 0}, true},
    {"multipliers of nothing", {1, 3, 2, 4, 2, 5, 0, 0, 9, 0, 0, 0}, true},
};
// Features that pass the end of int8 with the zero point, and features that do not.
const Case kCasesOfBytes[] = {
    {"one of everything", {1, 1, 1, 1, 1, 0, 1073741824, -8, 0, 1073741824, -12, 0}, true},
    {"rank 2 without a bias", {1, 7, 6, 5, 3, -3, 1500000000, -9, 11, 1200000000, -10, 23}, false},
    {"rank 4, two of a batch",
     {2, 9, 8, 3, 2, 17, 1900000000, -8, -90, 1800000000, -11, -128},
     true},
    {"a memory of one step", {3, 5, 4, 1, 4, 127, 1073741824, -9, -128, 2000000000, -8, 127}, true},
    {"features beyond int8", {1, 40, 4, 3, 2, -128, 2147483647, 6, 0, 1600000000, -12, -50}, true},
    {"a long memory", {1, 3, 2, 61, 1, 5, 1234567891, -8, 3, 1700000000, -11, 10}, true},
    {"multipliers of nothing", {1, 3, 2, 4, 2, 5, 0, 0, 9, 0, 0, 37}, true},
};

template <class State, size_t count>
void check(const Case (&all)[count], int out) {
  KernelCases cases;
  uint32_t seed = 1;
  for (const Case& k : all) {
    TestCall call = call_of<State>(k, seed++);
    std::vector<int8_t> y(static_cast<size_t>(call.tensor_at(out).numel));
    std::vector<State> next(static_cast<size_t>(call.tensor_at(out + 1).numel));
    svdf_reference(k.a, data_of<int8_t>(call.tensor_at(0)), data_of<int8_t>(call.tensor_at(1)),
                   data_of<State>(call.tensor_at(2)),
                   k.has_bias ? data_of<int32_t>(call.tensor_at(3)) : nullptr,
                   data_of<State>(call.tensor_at(4)), y.data(), next.data());
    cases.run(k.name, call);
    cases.expect(out, y);
    cases.expect(out + 1, next);
  }
}

TEST(SvdfKernel, EqualsTheReference) { check<int16_t>(kCases, 11); }
TEST(SvdfBytesKernel, EqualsTheReference) { check<int8_t>(kCasesOfBytes, 12); }

// With one input more a sum of steps as far apart as they can be would leave int32.
TEST(SvdfKernel, TakesAsManyInputsAsItSays) {
  const SvdfArgs a{1, kMostSvdfInputs, 1, 1, 1, 127, 1073741824, -15, 0, 1073741824, -29, 0};
  const std::vector<int8_t> x(static_cast<size_t>(a.inputs), -128), weight(x.size(), -128);
  const int16_t time = 32767, before = 0;
  int8_t y = 0, wanted = 0;
  int16_t next = 0, next_wanted = 0;
  svdf_s8(a, x.data(), weight.data(), &time, nullptr, &before, &y, &next);
  svdf_reference(a, x.data(), weight.data(), &time, nullptr, &before, &wanted, &next_wanted);
  EXPECT_EQ(next, next_wanted);
  EXPECT_EQ(y, wanted);
  EXPECT_GT(int64_t{kMostSvdfInputs + 1} * 255 * 128, INT32_MAX) << "the limit could be higher";
}

TEST(SvdfKernel, Refuses) {
  const auto make = [] { return call_of<int16_t>(kCases[2], 9); };
  expect_refusals(make, {
                            {0, "has the wrong dtype", type(0, ScalarType::u8)},
                            {0, "has the wrong rank", rank(0, 1)},
                            {1, "must have a column for each input", size(1, 1, 8)},
                            {2, "has the wrong dtype", type(2, ScalarType::s8)},
                            {2, "must have a row for each row of the other weight", size(2, 0, 7)},
                            {3, "must be int32", type(3, ScalarType::s8)},
                            {3, "must have one entry for each output channel", elements(3, 1)},
                            {4, "must have memory for each filter", size(4, 1, 23)},
                            {4, "must have memory for each filter", size(4, 0, 1)},
                            {5, "must be int8", number(5, 128)},
                            {6, "is out of range", number(6, INT32_MIN)},
                            {7, "must be -31..30", number(7, 31)},
                            {8, "must be int8", number(8, -129)},
                            {9, "is out of range", number(9, INT32_MIN)},
                            {10, "must be -31..30", number(10, -32)},
                            {11, "must have the batch of the input", size(11, 0, 1)},
                            {12, "must have the sizes of the state", size(12, 1, 23)},
                        });
}

TEST(SvdfKernel, StaysInsideItsTensorsWhateverTheArguments) {
  expect_inside(kSvdf,
                "x8:2,5 x8:6,5 x16:6,3 x32:3 x16:2,18 i:4 i:1500000000 i:-3 i:9 i:1500000000 i:-20 "
                "x8:2,3 x16:2,18");
}

TEST(SvdfBytesKernel, Refuses) {
  const auto make = [] { return call_of<int8_t>(kCasesOfBytes[2], 9); };
  expect_refusals(make, {
                            {2, "has the wrong dtype", type(2, ScalarType::s16)},
                            {4, "has the wrong dtype", type(4, ScalarType::s16)},
                            {10, "must be -31..30", number(10, -32)},
                            {11, "must be int8", number(11, 128)},
                            {12, "must have the batch of the input", size(12, 0, 1)},
                            {13, "must have the sizes of the state", size(13, 1, 23)},
                        });
}

TEST(SvdfBytesKernel, StaysInsideItsTensorsWhateverTheArguments) {
  expect_inside(kSvdfBytes,
                "x8:2,5 x8:6,5 x8:6,3 x32:3 x8:2,18 i:4 i:1500000000 i:-9 i:9 i:1500000000 i:-12 "
                "i:-7 x8:2,3 x8:2,18");
}

}  // namespace svdf_test
}  // namespace deuteron
