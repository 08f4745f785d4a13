// SPDX-License-Identifier: Apache-2.0
// conv_transpose2d_16x8, wide and narrow, and its binding against a reference that scatters, bit
// for bit; and refusals.
#include "kernels/conv_transpose2d/16x8/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/common/test_steps.h"
#include "kernels/conv2d/16x8/test_layer.h"
#include "kernels/conv_transpose2d/reference.h"

namespace deuteron {
namespace conv_transpose2d_16x8_test {

struct Case {
  const char* name;
  bool narrow, has_bias;
  ConvTranspose2d16x8Args
      a;  // n, in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w, stride, pad, y_min, y_max
};
const Case kCases[] = {
    {"3x2, stride 2", false, true, {1, 3, 4, 5, 7, 8, 3, 3, 2, 2, 2, 0, 0, -32768, 32767}},
    {"padded, no bias", false, false, {2, 4, 3, 2, 7, 5, 4, 3, 3, 2, 2, 1, 1, 0, 20000}},
    {"narrow", true, true, {1, 3, 5, 4, 3, 5, 2, 1, 1, 1, 1, 0, 0, -32768, 32767}},
    {"stride beyond the kernel",
     false,
     true,
     {1, 2, 3, 3, 6, 9, 1, 1, 2, 3, 3, 0, 0, -32768, 32767}},
    {"output padding", true, true, {1, 2, 2, 1, 5, 4, 2, 2, 2, 3, 2, 0, 0, -32768, 32767}},
};

TestCall call_of(const Case& k, Random& random) {
  const ConvTranspose2d16x8Args& a = k.a;
  TestCall call(kConvTranspose2d16x8);
  add_int16(call, random, {a.n, a.in_c, a.in_h, a.in_w}, {0, 2, 3, 1});
  add_constant(call, ScalarType::s8,
               any_int8(random, int64_t{a.out_c} * a.kernel_h * a.kernel_w * a.in_c),
               {a.out_c, a.kernel_h, a.kernel_w, a.in_c});
  if (!k.has_bias) call.none();
  else if (k.narrow)
    add_constant(call, ScalarType::s32, random.list(a.out_c, -2000000000, 2000000000));
  else add_constant(call, ScalarType::s64, any_int64(random, a.out_c, int64_t{1} << 40));
  add_constant(call, ScalarType::s32,
               random.list(a.out_c, k.narrow ? 1 << 30 : 16384, k.narrow ? INT32_MAX : 32767));
  add_constant(call, ScalarType::s32, random.list(a.out_c, k.narrow ? -14 : 20, k.narrow ? 0 : 40));
  call.integers({a.stride_h, a.stride_w});
  call.integers({a.pad_h, a.pad_w});
  call.integer(a.y_min);
  call.integer(a.y_max);
  call.tensor(ScalarType::s16, {a.n, a.out_c, a.out_h, a.out_w}, {0, 2, 3, 1});
  return call;
}

std::vector<int16_t> expected_of(const Case& k, TestCall& call) {
  const ConvTranspose2d16x8Args& a = k.a;
  const auto* x = data_of<int16_t>(call.tensor_at(0));
  const std::vector<int64_t> sums = scattered_sums(a, data_of<int8_t>(call.tensor_at(1)),
                                                   [&](int64_t at) { return int64_t{x[at]}; });
  std::vector<int16_t> y;
  for (size_t i = 0; i < sums.size(); ++i)
    y.push_back(
        layer_16x8_reference(call, sums[i], i % static_cast<size_t>(a.out_c), a.y_min, a.y_max));
  return y;
}

TEST(ConvTranspose2d16x8Kernel, EqualsTheReference) {
  KernelCases cases;
  uint32_t seed = 1;
  for (const Case& k : kCases) {
    Random random(seed++);
    TestCall call = call_of(k, random);
    cases.run(k.name, call);
    cases.expect(9, expected_of(k, call));
  }
}

TEST(ConvTranspose2d16x8Kernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of(kCases[0], random);
  };
  expect_refusals(make,
                  {
                      {0, "must be int16", type(0, ScalarType::s8)},
                      {1, "must be int8", type(1, ScalarType::s16)},
                      {1, "must have one filter for each output channel", size(1, 0, 2)},
                      {1, "must have the channels of the input", size(1, 3, 4)},
                      {9, "must have the batch of the input", size(9, 0, 2)},
                      {9, "must have the extents that the input, the kernel and the padding give",
                       size(9, 2, 6)},
                      {3, "must be a constant", not_constant(3)},
                      {4, "has a value out of range", entry(4, 0, 0)},
                      {5, "is out of range", item(5, 0, 0)},
                      {7, "must be -32768..32767", number(7, -32769)},
                  });
}

TEST(ConvTranspose2d16x8Kernel, StaysInsideItsTensors) {
  expect_inside(kConvTranspose2d16x8,
                "x16:1,5,3,4:0231 x8c:3,3,2,5 x64c:3 x32pc:3 x32pc:3 l:2,2 l:0,0 i:-32768 i:32767 "
                "x16:1,3,7,8:0231");
}

}  // namespace conv_transpose2d_16x8_test
}  // namespace deuteron
