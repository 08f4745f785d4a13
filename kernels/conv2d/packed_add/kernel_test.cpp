// SPDX-License-Identifier: Apache-2.0
// deuteron::packed_conv2d_add and its binding against the references of conv2d and of the addition,
// bit for bit, in every packing, with all its scratch and with the least, in place and not; and
// what prepare() refuses.
#include "kernels/conv2d/packed_add/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/conv2d/packed/test_cases.h"
#include "kernels/conv2d/reference.h"

namespace deuteron {
namespace packed_conv2d_add_test {

enum { kPackedArgument = 1, kOther = 8, kScratch = 12, kOut = 13 };

template <Packing p>
const Kernel& kernel_of(bool has_shifts) {
  if (p == Packing::mve_4x16)
    return has_shifts ? kPackedConv2dAddShiftsMve4x16 : kPackedConv2dAddMve4x16;
  if (p == Packing::scalar_1x4) return kPackedConv2dAddScalar1x4;
  return has_shifts ? kPackedConv2dAddShiftsDsp4x4 : kPackedConv2dAddDsp4x4;
}

template <Packing p>
TestCall call_of(const PackedCase& k, const LinearAddArgs& sum, const std::vector<int8_t>& packed,
                 int64_t scratch, Random& random) {
  TestCall call = begin_packed_call(kernel_of<p>(k.has_shifts), k, packed, random);
  random.fill(call.image(k.n, k.oh, k.ow, k.oc));
  for (const int32_t v : {sum.x_factor, sum.other_factor, sum.first}) call.integer(v);
  call.tensor(ScalarType::u8, {static_cast<int32_t>(scratch)});
  call.image(k.n, k.oh, k.ow, k.oc);
  return call;
}

bool is_served(const PackedCase& k, Packing p) {
  return !why_not_packed_windows(args_of(k), p) && !why_not_added_rows(args_of(k));
}

// What the two operators give, by their formulas.
std::vector<int8_t> expected_of(const PackedCase& k, const PackedFilters& f,
                                const LinearAddArgs& sum, TestCall& call) {
  std::vector<int8_t> y = expected_of(k, f, data_of<int8_t>(call.tensor_at(0)));
  const int8_t* other = data_of<int8_t>(call.tensor_at(kOther));
  for (int8_t& v : y) {
    const int64_t exact =
        int64_t{v} * sum.x_factor + int64_t{*other++} * sum.other_factor + sum.first;
    v = static_cast<int8_t>(
        std::clamp<int64_t>(static_cast<int32_t>(static_cast<uint32_t>(exact)) >>
                                (k.has_shifts ? kLinearAddQ21Right : kLinearAddRight),
                            -128, 127));
  }
  return y;
}

template <Packing p>
void check_case(KernelCases& cases, const PackedCase& k, uint32_t seed, int* served) {
  if (!is_served(k, p)) return;
  Random random(seed);
  const PackedFilters f = filters_of(k, random, p == Packing::mve_4x16 ? INT32_MAX : (1 << 30) - 1,
                                     p == Packing::dsp_4x4);
  const LinearAddArgs sum{0, 0, random.in(-1500000, 1500000), random.in(-1500000, 1500000),
                          random.in(-90000000, 90000000)};
  const int64_t least = packed_conv2d_add_least_scratch_bytes(args_of(k), p),
                most = packed_conv2d_add_scratch_bytes(args_of(k), p);
  const int64_t scratch = seed % 3 == 0 ? most : seed % 3 == 1 ? least : (least + most) / 2;
  TestCall call = call_of<p>(k, sum, packed_of<p>(k, f), scratch, random);
  const std::vector<int8_t> expected = expected_of(k, f, sum, call);
  if (seed % 2 == 0) call.tensor_at(kOut).data = call.tensor_at(kOther).data;
  cases.run(
      line(k.name,
           {k.n, k.h, k.w, k.c, k.oc, k.kh, k.kw, k.oh, k.ow, k.sh, k.sw, k.ph, k.pw, k.dh, k.dw},
           seed),
      call);
  cases.expect(kOut, expected);
  ++*served;
}

// Without shifts and with them: two operators.
template <Packing p>
void check(KernelCases& cases, PackedCase k, uint32_t seed, int* served) {
  check_case<p>(cases, k, seed, served);
  k.has_shifts = true;
  check_case<p>(cases, k, seed, served);
}

TEST(PackedConv2dAddKernel, EqualsTheReferences) {
  KernelCases mve, dsp, scalar;
  uint32_t seed = 1;
  int served = 0;
  for (const PackedCase& k : kPackedCases) {
    check<Packing::mve_4x16>(mve, k, seed, &served);
    check<Packing::dsp_4x4>(dsp, k, seed, &served);
    check_case<Packing::scalar_1x4>(scalar, k, seed++, &served);
  }
  EXPECT_GT(served, 60);
}

// Rows of more bytes than lie in the scratch at once, and several of them.
TEST(PackedConv2dAddKernel, EqualsTheReferencesOnRandomShapes) {
  KernelCases mve, dsp, scalar;
  Random random(20263);
  int served = 0;
  for (uint32_t i = 0; i < 300; ++i) {
    PackedCase k{};
    k.name = "random";
    k.n = random.in(1, 2), k.h = random.in(1, 14), k.w = random.in(1, 14), k.c = random.in(1, 40);
    k.oc = i % 10 == 0 ? random.in(100, 300) : random.in(4, 40);
    k.kh = random.in(1, 5), k.kw = random.in(1, 4), k.sh = random.in(1, 3), k.sw = random.in(1, 3),
    k.ph = random.in(0, 4), k.pw = random.in(0, 3), k.dh = random.in(1, 3), k.dw = random.in(1, 2);
    k.oh = random.in(1, (k.h - 1 + k.ph) / k.sh + 1),
    k.ow = random.in(1, (k.w - 1 + k.pw) / k.sw + 1);
    k.x_zero = random.in(-128, 127), k.y_zero = random.in(-128, 127);
    check<Packing::mve_4x16>(mve, k, 1000 + i, &served);
    check<Packing::dsp_4x4>(dsp, k, 1000 + i, &served);
    check_case<Packing::scalar_1x4>(scalar, k, 1000 + i, &served);
  }
  EXPECT_GT(served, 600);
}

constexpr PackedCase kSmall{"", 2, 6, 7, 4, 6, 3, 3, 6, 7, 1, 1, 1, 1};

TestCall small_call() {
  constexpr Packing p = Packing::mve_4x16;
  Random random(7);
  const PackedFilters f = filters_of(kSmall, random, 1 << 29);
  return call_of<p>(kSmall, {0, 0, 639146, 1934525, -30602907}, packed_of<p>(kSmall, f),
                    packed_conv2d_add_least_scratch_bytes(args_of(kSmall), p), random);
}

TEST(PackedConv2dAddKernel, RefusesWhatWouldLeaveATensor) {
  const int32_t least = small_call().tensor_at(kScratch).numel;
  const auto in_place_of_input = [](TestCall& call) {
    call.tensor_at(kOut).data = call.tensor_at(0).data;
  };
  expect_refusals(
      small_call,
      {
          {kOther, "must be int8", type(kOther, ScalarType::u8)},
          {kOther, "must be stored channels-last", order(kOther, {0, 1, 2, 3})},
          {kOther, "must have the shape of the result", size(kOther, 2, 5)},
          {9, "is out of range", number(9, int64_t{1} << 31)},
          {10, "is out of range", number(10, -(int64_t{1} << 31) - 1)},
          {11, "is out of range", number(11, int64_t{1} << 40)},
          {kScratch, "must hold a row and the windows", elements(kScratch, least - 1)},
          {kPackedArgument, "must have the bytes that its packing takes", elements(1, 447)},
          {kOut, "must lie apart from the input", in_place_of_input},
      });
}

// Rows of windows that see padding alone have no row of the input to begin at.
TEST(PackedConv2dAddKernel, RefusesRowsBelowTheInput) {
  PackedCase k{"", 1, 3, 4, 4, 4, 2, 2, 6, 3, 1, 1, 2, 0};
  EXPECT_STREQ(why_not_packed_conv2d_add(args_of(k)),
               "has rows of windows that lie below the input");
  k.oh = 5;
  EXPECT_EQ(why_not_packed_conv2d_add(args_of(k)), nullptr);
}

// Also with other bytes than a compiler writes: all of them come from the test's generator.
TEST(PackedConv2dAddKernel, StaysInsideItsTensorsWhateverTheArguments) {
  expect_inside(kPackedConv2dAddMve4x16,
                "x8:2,4,6,7:0231 x8c:448 l:3,3 l:1,1 l:1,1 l:1,1 i:-12 i:11 x8:2,6,6,7:0231 "
                "i:639146 i:1934525 i:-30602907 xu:448 "
                "x8:2,6,6,7:0231");
  expect_inside(kPackedConv2dAddDsp4x4,
                "x8:2,4,6,7:0231 x8c:352 l:3,3 l:1,1 l:1,1 l:1,1 i:-12 i:11 x8:2,6,6,7:0231 "
                "i:639146 i:1934525 i:-30602907 xu:448 "
                "x8:2,6,6,7:0231");
  expect_inside(kPackedConv2dAddShiftsMve4x16,
                "x8:2,4,6,7:0231 x8c:480 l:3,3 l:1,1 l:1,1 l:1,1 i:-12 i:11 x8:2,6,6,7:0231 "
                "i:639146 i:1934525 i:-30602907 xu:448 "
                "x8:2,6,6,7:0231");
  expect_inside(kPackedConv2dAddShiftsDsp4x4,
                "x8:2,4,6,7:0231 x8c:384 l:3,3 l:1,1 l:1,1 l:1,1 i:-12 i:11 x8:2,6,6,7:0231 "
                "i:639146 i:1934525 i:-30602907 xu:448 "
                "x8:2,6,6,7:0231");
  expect_inside(kPackedConv2dAddScalar1x4,
                "x8:2,4,6,7:0231 x8c:264 l:3,3 l:1,1 l:1,1 l:1,1 i:-12 i:11 x8:2,6,6,7:0231 "
                "i:639146 i:1934525 i:-30602907 xu:544 "
                "x8:2,6,6,7:0231");
}

}  // namespace packed_conv2d_add_test
}  // namespace deuteron
