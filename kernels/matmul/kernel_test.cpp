// SPDX-License-Identifier: Apache-2.0
// matmul_s8 and its binding against the reference, bit for bit; and what prepare() refuses.
#include "kernels/matmul/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/matmul/reference.h"

namespace deuteron {
namespace matmul_test {

struct Case {
  const char* name;
  MatmulArgs a;
};

TestCall call_of(const MatmulArgs& a, Random& random) {
  TestCall call(kQuantizedBatchMatmul);
  random.fill(call.tensor(ScalarType::s8, {a.batch, a.rows, a.inner}));
  call.integer(a.x_offset);
  random.fill(call.tensor(ScalarType::s8, {a.batch, a.columns, a.inner}));
  for (int32_t v : {a.other_offset, a.y_zero, a.multiplier, a.shift}) call.integer(v);
  call.tensor(ScalarType::u8, {0});
  call.tensor(ScalarType::s8, {a.batch, a.rows, a.columns});
  return call;
}

TEST(MatmulKernel, EqualsTheReference) {
  KernelCases cases;
  const Case table[] = {
      {"an instruction of a stock file", {2, 4, 5, 6, 41, 4, 41, 1109366862, -6}},
      {"one element", {1, 1, 1, 1, 0, 0, 0, 1073741824, 0}},
      {"more columns than a block", {3, 7, 67, 33, -128, 128, -128, 1500000000, -9}},
      {"2500 products", {2, 3, 5, 2500, 255, -255, 127, 2147483647, -14}},
      {"shift 30", {1, 9, 4, 1024, -7, 3, 9, 1999999999, 30}},
      {"no products", {5, 2, 3, 0, 7, 8, 21, 1073741824, -3}},
      {"no batch", {0, 2, 3, 4, 7, 8, 21, 1073741824, -3}},
  };
  uint32_t seed = 1;
  for (const auto& [name, a] : table)
    for (const int fill : {0, -128, 127}) {
      Random random(seed++);
      TestCall call = call_of(a, random);
      for (const int operand : {0, 2})
        if (fill != 0 && call.tensor_at(operand).numel > 0)
          std::memset(call.tensor_at(operand).data, fill,
                      static_cast<size_t>(call.tensor_at(operand).numel));
      cases.run(name + std::string(", fill ") + std::to_string(fill), call);
      std::vector<int8_t> expected(static_cast<size_t>(call.tensor_at(8).numel));
      matmul_reference(a, data_of<int8_t>(call.tensor_at(0)), data_of<int8_t>(call.tensor_at(2)),
                       expected.data());
      cases.expect(8, expected);
    }
}

TEST(MatmulKernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of({2, 4, 5, 6, 41, 4, 41, 1109366862, -6}, random);
  };
  expect_refusals(make,
                  {
                      {0, "must be stored in the order of its dimensions", order(0, {0, 2, 1})},
                      {0, "has the wrong rank", rank(0, 2)},
                      {0, "must be int8", type(0, ScalarType::s32)},
                      {2, "must be stored in the order of its dimensions", order(2, {0, 2, 1})},
                      {2, "has the wrong rank", rank(2, 2)},
                      {2, "must be int8", type(2, ScalarType::s32)},
                      {8, "must be stored in the order of its dimensions", order(8, {0, 2, 1})},
                      {8, "has the wrong rank", rank(8, 2)},
                      {8, "must be int8", type(8, ScalarType::s32)},
                      {2, "must have the batch and the inner extent of the first", size(2, 0, 1)},
                      {2, "must have the batch and the inner extent of the first", size(2, 2, 5)},
                      {8, "must have the rows of both operands", size(8, 1, 5)},
                      {8, "must have the rows of both operands", size(8, 2, 6)},
                      {1, "must be -255..255", number(1, 256)},
                      {3, "must be -255..255", number(3, -256)},
                      {4, "must be -128..127", number(4, 128)},
                      {5, "is out of range", number(5, int64_t{1} << 31)},
                      {6, "must be -31..30", number(6, 31)},
                  });
}

}  // namespace matmul_test
}  // namespace deuteron
