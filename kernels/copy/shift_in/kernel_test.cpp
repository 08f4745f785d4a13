// SPDX-License-Identifier: Apache-2.0
// The call deuteron::shift_in against its formula, apart and in place; and refusals.
#include "kernels/copy/shift_in/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"

namespace deuteron {
namespace shift_in_test {

using Sizes = std::vector<int32_t>;
enum { kX, kFresh, kDim, kY };

TestCall call_of(const Sizes& sizes, int dim, int32_t fresh, Random& random) {
  TestCall call(kShiftIn);
  random.fill(call.tensor(ScalarType::s8, sizes));
  Sizes part = sizes;
  part[static_cast<size_t>(dim)] = fresh;
  random.fill(call.tensor(ScalarType::s8, part));
  call.integer(dim);
  call.tensor(ScalarType::s8, sizes);
  return call;
}

std::vector<int8_t> expected(TestCall& call, int dim) {
  const Tensor &x = call.tensor_at(kX), &fresh = call.tensor_at(kFresh);
  int32_t inner = 1;
  for (int k = dim + 1; k < x.rank; ++k) inner *= x.sizes[k];
  const int32_t length = x.sizes[dim], kept = length - fresh.sizes[dim];
  std::vector<int8_t> y(static_cast<size_t>(x.numel));
  for (int32_t at = 0; at < x.numel; ++at) {
    const int32_t i = at % inner, k = at / inner % length, o = at / inner / length;
    const int8_t* from = static_cast<const int8_t*>(k < kept ? x.data : fresh.data);
    y[static_cast<size_t>(at)] = k < kept ? from[(o * length + k + fresh.sizes[dim]) * inner + i]
                                          : from[(o * fresh.sizes[dim] + k - kept) * inner + i];
  }
  return y;
}

TEST(ShiftInKernel, EqualsItsFormulaApartAndInPlace) {
  KernelCases cases;
  uint32_t seed = 1;
  for (const Sizes& sizes : {Sizes{9}, {64, 1}, {6, 17, 5}, {1, 6, 64, 32}, {2, 3, 1, 40}})
    for (int dim = 0; dim < static_cast<int>(sizes.size()); ++dim)
      for (const int32_t fresh : {1, 2, 3, 16, 40}) {
        if (fresh > sizes[static_cast<size_t>(dim)]) continue;
        Random random(seed++);
        TestCall call = call_of(sizes, dim, fresh, random);
        const std::vector<int8_t> y = expected(call, dim);
        const std::string name = "case " + std::to_string(seed);
        cases.run(name, call);
        cases.expect(kY, y);
        call.tensor_at(kY).data = call.tensor_at(kX).data;
        cases.run(name + " in place", call);
        cases.expect(kY, y);
      }
}

TEST(ShiftInKernel, Refuses) {
  const auto make = [] {
    Random random(4);
    return call_of({3, 8, 5}, 1, 2, random);
  };
  const char* const kPart = "must be a part of the input along the dimension";
  const char* const kLike = "must have the type, sizes and order of the input";
  expect_refusals(make,
                  {
                      {kX, "must be stored in the order of its dimensions", order(kX, {0, 2, 1})},
                      {kDim, "is no dimension of the input", number(kDim, 3)},
                      {kDim, "is no dimension of the input", number(kDim, -1)},
                      {kY, kLike, type(kY, ScalarType::s16)},
                      {kY, kLike, size(kY, 1, 7)},
                      {kFresh, kPart, type(kFresh, ScalarType::u8)},
                      {kFresh, kPart, rank(kFresh, 2)},
                      {kFresh, kPart, size(kFresh, 0, 2)},
                      {kFresh, kPart, order(kFresh, {0, 2, 1})},
                      {kFresh, kPart, number(kDim, 2)},
                  });
}

TEST(ShiftInKernel, StaysInsideItsTensors) {
  expect_inside(kShiftIn, "x8:3,8,5 x8:3,2,5 i:1 x8:3,8,5");
}

}  // namespace shift_in_test
}  // namespace deuteron
