// SPDX-License-Identifier: Apache-2.0
// deuteron::packed_linear and its binding against the reference of conv2d, bit for bit, in every
// packing, on rows that end with zeros; and what prepare() refuses.
#include "kernels/linear/packed/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/conv2d/packed/test_cases.h"

namespace deuteron {
namespace packed_linear_test {

template <Packing p>
constexpr const Kernel& kKernel =
    p == Packing::mve_4x16 ? kPackedLinearMve4x16 : kPackedLinearDsp4x4;

PackedCase rows_of(int32_t rows, int32_t in, int32_t out) {
  PackedCase k{"rows", 1, rows, 1, in, out, 1, 1, rows, 1};
  k.x_zero = -128, k.behind_relu = true;
  return k;
}

template <Packing p>
TestCall call_of(const PackedCase& k, const PackedFilters& f, Random& random) {
  TestCall call = begin_packed_call(kKernel<p>, k, packed_of<p>(k, f), random);
  call.tensor(ScalarType::u8, {static_cast<int32_t>(packed_conv2d_scratch_bytes(args_of(k), p))});
  call.image(k.n, k.oh, k.ow, k.oc);
  return call;
}

// Zeros from element `active` on, and others in the middle.
void put_zeros(const PackedCase& k, int32_t active, Random& random, int8_t* x) {
  for (int32_t row = 0; row < k.h; ++row, x += k.c)
    for (int32_t e = 0; e < k.c; ++e)
      if (e >= active || random.in(0, 3) == 0) x[e] = -128;
}

template <Packing p>
void check(KernelCases& cases, const PackedCase& k, int32_t active, uint32_t seed, int* served) {
  if (why_not_packed_linear(args_of(k), p)) return;
  Random random(seed);
  const PackedFilters f =
      filters_of(k, random, p == Packing::dsp_4x4 && !k.has_shifts ? (1 << 30) - 1 : INT32_MAX,
                 p == Packing::dsp_4x4);
  TestCall call = call_of<p>(k, f, random);
  put_zeros(k, active, random, data_of<int8_t>(call.tensor_at(0)));
  cases.run(line(k.name, {k.h, k.c, k.oc, active, k.y_zero, k.has_shifts, k.once}, seed), call);
  cases.expect(9, expected_of(k, f, data_of<int8_t>(call.tensor_at(0))));
  ++*served;
}

TEST(PackedLinearKernel, EqualsTheReference) {
  KernelCases mve, dsp;
  uint32_t seed = 1;
  int served = 0;
  for (const auto& [in, out] :
       {std::pair{128, 128}, {4, 4}, {7, 5}, {8, 128}, {16, 9}, {17, 8}, {33, 3}, {250, 12}})
    for (const int32_t rows : {1, 3})
      for (const int32_t active : {0, 1, in / 3, in / 2 + 1, in - 1, in})
        for (const int shifts : {0, 1, 2}) {
          PackedCase k = rows_of(rows, in, out);
          k.has_shifts = shifts > 0, k.once = shifts == 2;
          check<Packing::mve_4x16>(mve, k, active, seed, &served);
          check<Packing::dsp_4x4>(dsp, k, active, seed++, &served);
        }
  EXPECT_GT(served, 500);
}

TEST(PackedLinearKernel, EqualsTheReferenceOnRandomShapes) {
  KernelCases mve, dsp;
  Random random(2027);
  int served = 0;
  for (uint32_t i = 0; i < 300; ++i) {
    PackedCase k =
        rows_of(random.in(0, 2) == 0 ? random.in(2, 5) : 1, random.in(1, 250), random.in(1, 40));
    k.has_shifts = random.in(0, 1) == 0, k.y_zero = random.in(-128, 127);
    const int32_t active = random.in(0, k.c);
    check<Packing::mve_4x16>(mve, k, active, 1000 + i, &served);
    check<Packing::dsp_4x4>(dsp, k, active, 1000 + i, &served);
  }
  EXPECT_GT(served, 450);
}

TEST(PackedLinearKernel, Refuses) {
  const PackedCase k = rows_of(2, 36, 6);
  const auto make = [&] {
    Random random(7);
    return call_of<Packing::mve_4x16>(k, filters_of(k, random, INT32_MAX), random);
  };
  expect_refusals(make, {
                            {1, "has another zero point of x than -128", number(6, -127)},
                            {1, "must have the bytes that its packing takes", elements(1, 500)},
                            {1, "must be 4-aligned", misaligned(1, 2)},
                            {1, "has windows that are no rows of x", item(4, 0, 1)},
                            {8, "must be uint8", type(8, ScalarType::s8)},
                        });
}

// Also with other bytes than a compiler writes: all of them come from the test's generator.
TEST(PackedLinearKernel, StaysInsideItsTensorsWhateverTheArguments) {
  expect_inside(
      kPackedLinearMve4x16,
      "x8:1,36,2,1:0231 x8c:448 l:1,1 l:1,1 l:0,0 l:1,1 i:-128 i:11 xu:0 x8:1,6,2,1:0231");
  expect_inside(
      kPackedLinearDsp4x4,
      "x8:1,36,2,1:0231 x8c:352 l:1,1 l:1,1 l:0,0 l:1,1 i:-128 i:11 xu:144 x8:1,6,2,1:0231");
}

}  // namespace packed_linear_test
}  // namespace deuteron
