// SPDX-License-Identifier: Apache-2.0
// deuteron::packed_conv2d_shifts and its binding against the reference of conv2d, bit for bit, in
// every packing; and what prepare() refuses.
#include "kernels/conv2d/packed_shifts/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/conv2d/packed/test_cases.h"

namespace deuteron {
namespace packed_conv2d_shifts_test {

template <Packing p>
constexpr const Kernel& kKernel =
    p == Packing::mve_4x16 ? kPackedConv2dShiftsMve4x16 : kPackedConv2dShiftsDsp4x4;

// Scales as TFLite has them: multipliers of 31 bits. The shifts are those of one call: some bits
// apart.
template <Packing p>
PackedFilters shifted_filters_of(const PackedCase& k, Random& random) {
  PackedFilters f = filters_of(k, random, INT32_MAX, p == Packing::dsp_4x4);
  const int32_t least = random.in(least_windows_shift(p), -1);
  f.multiplier = random.list(k.oc, 1 << 30, INT32_MAX),
  f.shift = random.list(k.oc, least, std::min(least + 6, -1));
  return f;
}

template <Packing p>
TestCall call_of(const PackedCase& k, const PackedFilters& f, Random& random) {
  TestCall call = begin_packed_call(kKernel<p>, k, packed_of<p>(k, f), random);
  call.tensor(ScalarType::u8, {static_cast<int32_t>(packed_conv2d_scratch_bytes(args_of(k), p))});
  call.image(k.n, k.oh, k.ow, k.oc);
  return call;
}

template <Packing p>
void check(KernelCases& cases, PackedCase k, uint32_t seed, int* served) {
  k.has_shifts = true;
  if (why_not_packed_windows(args_of(k), p)) return;
  Random random(seed);
  if (seed % 2 == 0) k.y_zero = -128;
  const PackedFilters f = shifted_filters_of<p>(k, random);
  TestCall call = call_of<p>(k, f, random);
  const std::string name = line(k.name,
                                {k.n, k.h, k.w, k.c, k.oc, k.kh, k.kw, k.oh, k.ow, k.sh, k.sw, k.ph,
                                 k.pw, k.dh, k.dw, k.x_zero, k.y_zero},
                                seed);
  cases.run(name + " in packing " + std::to_string(static_cast<int>(p)), call);
  cases.expect(9, expected_of(k, f, data_of<int8_t>(call.tensor_at(0))));
  ++*served;
}

TEST(PackedConv2dShiftsKernel, EqualsTheReference) {
  KernelCases mve, dsp;
  uint32_t seed = 1;
  int served = 0;
  for (const PackedCase& k : kPackedCases)
    for (int i = 0; i < 4; ++i) {
      check<Packing::mve_4x16>(mve, k, seed, &served);
      check<Packing::dsp_4x4>(dsp, k, seed++, &served);
    }
  EXPECT_GT(served, 160);
}

TEST(PackedConv2dShiftsKernel, EqualsTheReferenceOnRandomShapes) {
  KernelCases mve, dsp;
  Random random(20265);
  int served = 0;
  for (uint32_t i = 0; i < 300; ++i) {
    PackedCase k{};
    k.name = "random";
    k.n = random.in(1, 3), k.h = random.in(1, 12), k.w = random.in(1, 12), k.c = random.in(1, 40),
    k.oc = random.in(1, 40);
    k.kh = random.in(1, 5), k.kw = random.in(1, 5), k.sh = random.in(1, 3), k.sw = random.in(1, 3),
    k.ph = random.in(0, 4), k.pw = random.in(0, 4), k.dh = random.in(1, 3), k.dw = random.in(1, 3);
    k.oh = random.in(1, (k.h - 1 + k.ph) / k.sh + 1),
    k.ow = random.in(1, (k.w - 1 + k.pw) / k.sw + 1);
    k.x_zero = random.in(-128, 127), k.y_zero = random.in(-128, 127);
    check<Packing::mve_4x16>(mve, k, 1000 + i, &served);
    check<Packing::dsp_4x4>(dsp, k, 1000 + i, &served);
  }
  EXPECT_GT(served, 250);
}

TEST(PackedConv2dShiftsKernel, Refuses) {
  PackedCase k{"", 2, 6, 7, 4, 6, 3, 3, 6, 7, 1, 1, 1, 1};
  k.has_shifts = true;
  const auto make = [&] {
    Random random(7);
    return call_of<Packing::mve_4x16>(k, shifted_filters_of<Packing::mve_4x16>(k, random), random);
  };
  const auto without = static_cast<int32_t>(packed_bytes(Packing::mve_4x16, 6, 36));
  expect_refusals(make, {
                            {1, "must have the bytes that its packing takes", elements(1, without)},
                            {1, "must be 4-aligned", misaligned(1, 2)},
                            {1, "has fewer than 4 filters", size(9, 1, 3)},
                            {1, "has dilated columns", item(5, 1, 2)},
                            {8, "must be uint8", type(8, ScalarType::s8)},
                        });
}

// Also with other bytes than a compiler writes: all of them come from the test's generator.
TEST(PackedConv2dShiftsKernel, StaysInsideItsTensorsWhateverTheArguments) {
  expect_inside(
      kPackedConv2dShiftsMve4x16,
      "x8:2,4,6,7:0231 x8c:480 l:3,3 l:1,1 l:1,1 l:1,1 i:-12 i:11 xu:192 x8:2,6,6,7:0231");
  expect_inside(
      kPackedConv2dShiftsDsp4x4,
      "x8:2,4,6,7:0231 x8c:384 l:3,3 l:1,1 l:1,1 l:1,1 i:-12 i:11 xu:144 x8:2,6,6,7:0231");
}

}  // namespace packed_conv2d_shifts_test
}  // namespace deuteron
