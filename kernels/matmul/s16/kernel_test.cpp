// SPDX-License-Identifier: Apache-2.0
// matmul_s16 and its binding against the reference, bit for bit; and refusals.
#include "kernels/matmul/s16/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/matmul/s16/reference.h"

namespace deuteron {
namespace matmul_s16_test {

// batch, rows, columns, inner, first, multiplier, shift, bounds
const MatmulS16Args kTable[] = {
    {2, 4, 5, 6, 3, 1109366862, 6, -32768, 32767},
    {1, 1, 1, 1, 0, 1073741824, 0, -32768, 32767},
    {3, 7, 13, 33, 6, 1500000000, 9, -100, 20000},
    {2, 3, 5, 2500, 12, 2147483647, 14, -32768, 32767},
    {1, 9, 4, 1024, 10, 1999999999, 30, 0, 32767},
    {1, 2, 3, 0, 0, 1073741824, 3, -32768, 32767},
};

// `fill`: every number, but 0: any.
TestCall call_of(const MatmulS16Args& a, int fill, Random& random) {
  TestCall call(kMatmulS16);
  for (const int32_t rows : {a.rows, a.columns}) {
    Tensor& t = call.tensor(ScalarType::s16, {a.batch, rows, a.inner});
    auto* to = static_cast<int16_t*>(t.data);
    for (const int32_t v : random.list(t.numel, -32768, 32767))
      *to++ = static_cast<int16_t>(fill != 0 ? fill : v);
  }
  for (const int32_t v : {a.first, a.multiplier, a.shift, a.y_min, a.y_max}) call.integer(v);
  call.tensor(ScalarType::s16, {a.batch, a.rows, a.columns});
  return call;
}

TEST(MatmulS16Kernel, EqualsTheReference) {
  KernelCases cases;
  uint32_t seed = 1;
  for (const MatmulS16Args& a : kTable)
    for (const int fill : {0, -32768, 32767}) {
      Random random(seed++);
      TestCall call = call_of(a, fill, random);
      cases.run(std::to_string(a.inner) + " products, fill " + std::to_string(fill), call);
      const auto *x = data_of<int16_t>(call.tensor_at(0)),
                 *other = data_of<int16_t>(call.tensor_at(1));
      std::vector<int16_t> expected;
      for (int32_t b = 0; b < a.batch; ++b)
        for (int32_t m = 0; m < a.rows; ++m)
          for (int32_t n = 0; n < a.columns; ++n) {
            int64_t sum = 0;
            for (int32_t k = 0; k < a.inner; ++k)
              sum += int64_t{x[(b * a.rows + m) * a.inner + k]} *
                     other[(b * a.columns + n) * a.inner + k];
            expected.push_back(matmul_s16_reference(a, sum));
          }
      cases.expect(7, expected);
    }
}

TEST(MatmulS16Kernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of(kTable[0], 0, random);
  };
  expect_refusals(make,
                  {
                      {0, "must be int16", type(0, ScalarType::s8)},
                      {1, "has the wrong rank", rank(1, 2)},
                      {7, "must be stored in the order of its dimensions", order(7, {0, 2, 1})},
                      {1, "must have the batch and the inner extent of the first", size(1, 2, 5)},
                      {7, "must have the rows of both operands", size(7, 1, 5)},
                      {2, "must be 0..30", number(2, 31)},
                      {2, "lets the sum leave int32", number(2, 2)},
                      {3, "is out of range", number(3, -1)},
                      {4, "must be 0..30", number(4, 31)},
                      {5, "must be -32768..32767", number(5, -40000)},
                  });
}

TEST(MatmulS16Kernel, StaysInsideItsTensors) {
  expect_inside(kMatmulS16, "x16:2,3,5 x16:2,4,5 i:4 i:2000000000 i:7 i:-32768 i:32767 x16:2,3,4");
}

}  // namespace matmul_s16_test
}  // namespace deuteron
