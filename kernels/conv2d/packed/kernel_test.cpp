// SPDX-License-Identifier: Apache-2.0
// deuteron::packed_conv2d and its binding against the reference of conv2d, bit for bit, in every
// packing; and what prepare() refuses.
#include "kernels/conv2d/packed/kernel.h"

#include <cstdlib>
#include <memory>

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/conv2d/packed/kernel_host.h"
#include "kernels/conv2d/packed/test_cases.h"
#include "kernels/conv2d/reference.h"

namespace deuteron {
namespace packed_conv2d_test {

using Case = PackedCase;
using Filters = PackedFilters;

template <Packing p>
constexpr const Kernel& kKernel = p == Packing::mve_4x16  ? kPackedConv2dMve4x16
                                  : p == Packing::dsp_4x4 ? kPackedConv2dDsp4x4
                                                          : kPackedConv2dScalar1x4;

template <Packing p>
Filters filters_for(const Case& k, Random& random) {
  const int32_t most = p != Packing::mve_4x16 && !k.has_shifts ? (1 << 30) - 1 : INT32_MAX;
  return filters_of(k, random, most, p == Packing::dsp_4x4);
}

template <Packing p>
TestCall call_of(const Case& k, const std::vector<int8_t>& packed, Random& random) {
  TestCall call = begin_packed_call(kKernel<p>, k, packed, random);
  call.tensor(ScalarType::u8, {static_cast<int32_t>(packed_conv2d_scratch_bytes(args_of(k), p))});
  call.image(k.n, k.oh, k.ow, k.oc);
  return call;
}

template <Packing p>
void check(KernelCases& cases, const Case& k, uint32_t seed) {
  if (why_not_packed_conv2d(args_of(k), p) || (k.once && p == Packing::scalar_1x4)) return;
  Random random(seed);
  const Filters f = filters_for<p>(k, random);
  TestCall call = call_of<p>(k, packed_of<p>(k, f), random);
  const std::string name = line(k.name,
                                {k.n, k.h, k.w, k.c, k.oc, k.kh, k.kw, k.oh, k.ow, k.sh, k.sw, k.ph,
                                 k.pw, k.dh, k.dw, k.x_zero, k.y_zero},
                                seed);
  cases.run(name + " in packing " + std::to_string(static_cast<int>(p)), call);
  cases.expect(9, expected_of(k, f, data_of<int8_t>(call.tensor_at(0))));
}

TEST(PackedConv2dKernel, EqualsTheReference) {
  KernelCases mve, dsp, scalar;
  uint32_t seed = 1;
  for (const Case& k : kPackedCases) {
    check<Packing::mve_4x16>(mve, k, seed);
    check<Packing::dsp_4x4>(dsp, k, seed);
    check<Packing::scalar_1x4>(scalar, k, seed++);
  }
}

TEST(PackedConv2dKernel, ShiftsTheResultsOfRows) {
  KernelCases mve, dsp, scalar;
  uint32_t seed = 1;
  for (const int32_t length : {4, 16, 17, 30, 64, 77})
    for (const int32_t filters : {1, 4, 5, 8, 9, 12, 13, 19})
      for (const int32_t way : {0, 1, 2, 3}) {
        const bool once = way % 2 == 1;
        const int32_t rows = way < 2 ? 1 : 3;
        Case k{once ? "rows, rounded once" : "rows with shifts",
               1,
               rows,
               1,
               length,
               filters,
               1,
               1,
               rows,
               1};
        k.has_shifts = true, k.once = once;
        check<Packing::mve_4x16>(mve, k, seed);
        check<Packing::dsp_4x4>(dsp, k, seed);
        check<Packing::scalar_1x4>(scalar, k, seed++);
      }
}

TEST(PackedConv2dKernel, EqualsTheReferenceOnRandomShapes) {
  KernelCases mve, dsp, scalar;
  Random random(20261);
  for (uint32_t i = 0; i < 300; ++i) {
    Case k{};
    k.name = "random";
    k.n = random.in(1, 3), k.h = random.in(1, 12), k.w = random.in(1, 12), k.c = random.in(1, 40),
    k.oc = random.in(1, 19);
    k.kh = random.in(1, 5), k.kw = random.in(1, 5), k.sh = random.in(1, 3), k.sw = random.in(1, 3),
    k.ph = random.in(0, 4), k.pw = random.in(0, 4), k.dh = random.in(1, 3), k.dw = random.in(1, 3);
    k.oh = random.in(1, (k.h - 1 + k.ph) / k.sh + 1),
    k.ow = random.in(1, (k.w - 1 + k.pw) / k.sw + 1);
    k.x_zero = random.in(-128, 127), k.y_zero = random.in(-128, 127);
    check<Packing::mve_4x16>(mve, k, 1000 + i);
    check<Packing::dsp_4x4>(dsp, k, 1000 + i);
    check<Packing::scalar_1x4>(scalar, k, 1000 + i);
  }
}

// Weights in a host's order end where memory does; so do its results.
template <Packing p>
void check_host_forms(const Case& k, uint32_t seed, int* served) {
  if (why_not_packed_windows(args_of(k), p)) return;
  Random random(seed);
  const Filters f = filters_for<p>(k, random);
  const std::vector<int8_t> packed = packed_of<p>(k, f);
  std::vector<int8_t> x;
  for (int32_t i = 0; i < k.n * k.h * k.w * k.c; ++i) x.push_back(random.s8());
  const std::vector<int8_t> expected = expected_of(k, f, x.data());
  for (int32_t i = 0; i < host_dot_forms().count; ++i) {
    const HostDotForm& form = host_dot_forms().kernel[i];
    std::vector<int8_t> found(expected.size()), again(expected.size());
    ASSERT_TRUE(packed_conv2d_s8_host<p>(args_of(k), x.data(), packed.data(), form, found.data()))
        << k.name;
    ASSERT_EQ(found, expected) << k.name << ": form " << i << " of the host, seed " << seed;
    const auto bytes = static_cast<size_t>(packed_conv2d_host_bytes(args_of(k), form));
    const std::unique_ptr<void, decltype(&std::free)> room(std::aligned_alloc(64, bytes),
                                                           &std::free);
    run_packed_conv2d(order_packed_conv2d<p>(args_of(k), form, packed.data(), room.get()), x.data(),
                      again.data());
    ASSERT_EQ(again, expected) << k.name << ": form " << i
                               << " of the host with ordered weights, seed " << seed;
    ++*served;
  }
}

// What the edges of a panel, of a group of windows, of a band and of the rooms on the stack divide.
constexpr Case kHostCases[] = {
    {"one panel and one window", 1, 1, 1, 16, 16, 1, 1, 1, 1},
    {"a panel and a filter", 1, 3, 3, 4, 17, 1, 1, 3, 3},
    {"two panels", 1, 2, 4, 5, 32, 1, 1, 2, 4},
    {"two panels and a filter", 1, 1, 7, 6, 33, 1, 1, 1, 7},
    {"three panels but a filter, fifteen windows", 1, 3, 5, 7, 47, 1, 1, 3, 5},
    {"sixteen windows, a step of one element", 1, 4, 4, 1, 20, 2, 2, 4, 4},
    {"seventeen windows", 1, 1, 17, 9, 8, 1, 1, 1, 17},
    {"more windows than a list has", 1, 17, 31, 4, 7, 1, 1, 17, 31},
    {"several bands", 2, 41, 43, 24, 9, 3, 3, 41, 43, 1, 1, 1, 1},
    {"several bands, stride 2", 1, 61, 63, 24, 5, 3, 2, 31, 32, 2, 2, 1, 0},
    {"rows for which there is no room at once", 1, 4, 3001, 24, 5, 3, 3, 4, 3001, 1, 1, 1, 1},
    {"rows for which there is no room at once, stride 3", 1, 3, 4001, 20, 5, 3, 2, 1, 1333, 3, 3, 0,
     0, 1, 1},
    {"rows for which there is no room at once, dilated", 1, 5, 2001, 32, 4, 2, 2, 2, 1999, 1, 1, 0,
     0, 3, 2},
    {"filters for which there is no room at once", 1, 3, 3, 260, 130, 3, 3, 2, 1},
    {"a stride of more than the image", 1, 3, 5, 4, 5, 1, 1, 1, 1, 1 << 20, 1 << 20},
};

// Not only the form that the program takes.
TEST(PackedConv2dKernel, IsTheSameWithAllFormsOfAHost) {
  if (host_dot_forms().count == 0) GTEST_SKIP() << "left out: this processor has no AVX2";
  uint32_t seed = 2000;
  int served = 0;
  const auto check_both = [&](Case k) {
    check_host_forms<Packing::mve_4x16>(k, seed, &served);
    check_host_forms<Packing::dsp_4x4>(k, seed, &served);
    check_host_forms<Packing::scalar_1x4>(k, seed++, &served);
    k.has_shifts = true;
    check_host_forms<Packing::mve_4x16>(k, seed, &served);
    check_host_forms<Packing::dsp_4x4>(k, seed, &served);
    check_host_forms<Packing::scalar_1x4>(k, seed++, &served);
  };
  for (const Case& k : kPackedCases) check_both(k);
  for (const Case& k : kHostCases) check_both(k);
  Random random(20262);
  for (uint32_t i = 0; i < 300; ++i) {
    Case k{};
    k.name = "random";
    k.n = random.in(1, 3), k.h = random.in(1, 12), k.w = random.in(1, 12), k.c = random.in(1, 70),
    k.oc = random.in(1, 70);
    k.kh = random.in(1, 4), k.kw = random.in(1, 4), k.sh = random.in(1, 3), k.ph = random.in(0, 3),
    k.pw = random.in(0, 3);
    k.sw = random.in(1, 3), k.dh = random.in(1, 3), k.dw = random.in(1, 3);
    k.oh = random.in(1, (k.h - 1 + k.ph) / k.sh + 1),
    k.ow = random.in(1, (k.w - 1 + k.pw) / k.sw + 1);
    k.x_zero = random.in(-128, 127), k.y_zero = random.in(-128, 127);
    check_both(k);
  }
  for (const int32_t length : {4, 17, 64})
    for (const int32_t filters : {4, 9, 33}) {
      Case once{"rows, rounded once", 1, 3, 1, length, filters, 1, 1, 3, 1};
      once.has_shifts = once.once = true;
      check_host_forms<Packing::mve_4x16>(once, seed, &served);
      check_host_forms<Packing::dsp_4x4>(once, seed++, &served);
    }
  EXPECT_GT(served, 1000);
}

// Every byte of every weight comes back from where it was packed.
TEST(Packing, GivesBackEveryWeight) {
  for (const int32_t length : {4, 5, 15, 16, 17, 64, 77}) {
    const int32_t filters = 6;
    const std::vector<int32_t> first = {1, -2, 3, -4, 5, -6},
                               multiplier = {9, 8, 7, 6, 5, (1 << 30) - 1};
    const auto weight = [&](int32_t f, int32_t e) {
      return static_cast<int8_t>((f * 131 + e * 37) % 255 - 127);
    };
    const auto holds = [&]<Packing p>() {
      std::vector<int8_t> packed(static_cast<size_t>(packed_bytes(p, filters, length)));
      pack_weights<p>(filters, length, first.data(), multiplier.data(), nullptr, weight,
                      packed.data());
      constexpr int32_t tile_filters = packed_tile(p);
      for (int32_t t = 0; t < packed_tiles(filters, tile_filters); ++t)
        for (int32_t i = 0; i < tile_filters; ++i) {
          const int8_t* tile = packed.data() + t * packed_tile_bytes(p, length);
          const int32_t f = first_of_tile(filters, t, tile_filters) + i;
          for (int32_t e = 0; e < length; ++e)
            ASSERT_EQ(packed_weight<p>(tile, length, i, e), weight(f, e))
                << length << " " << f << " " << e;
          EXPECT_EQ(packed_numbers<p>(tile, length, i).first, first[static_cast<size_t>(f)]);
          const int32_t stands =
              multiplier[static_cast<size_t>(f)] * (p == Packing::mve_4x16 ? 1 : 2);
          EXPECT_EQ(packed_numbers<p>(tile, length, i).multiplier, stands);
        }
    };
    holds.operator()<Packing::mve_4x16>();
    holds.operator()<Packing::dsp_4x4>();
    holds.operator()<Packing::scalar_1x4>();
  }
}

// A window that the stack has no room for needs room in the scratch.
TEST(PackedConv2dKernel, NeedsRoomForALongWindow) {
  const Case k{"", 1, 4, 5, 130, 6, 3, 3, 4, 5, 1, 1, 1, 1};
  const auto least =
      static_cast<int32_t>(packed_conv2d_least_scratch_bytes(args_of(k), Packing::mve_4x16));
  EXPECT_EQ(least, 3 * 3 * 130 + 16);
  const auto make = [&] {
    Random random(7);
    return call_of<Packing::mve_4x16>(
        k, packed_of<Packing::mve_4x16>(k, filters_of(k, random, 1 << 29)), random);
  };
  expect_refusals(make, {{8, "must hold the windows", elements(8, least - 1)}});
}

// The kernel's own count of the bytes of columns, in 32 bits, is the planner's: also where a row of
// columns has more than 2^31 bytes.
TEST(PackedConv2dKernel, CountsColumnsAsThePlannerDoes) {
  std::vector<Case> cases(std::begin(kPackedCases), std::end(kPackedCases));
  cases.push_back({"the widest rows", 1, 1, 1 << 28, 8, 4, 1000, 130, 1, 1 << 28, 1, 1, 0, 64});
  int checked = 0;
  for (const Case& k : cases) {
    const PackedConv2dArgs a = args_of(k);
    EXPECT_EQ(packed_conv2d_is_in_one_piece<int32_t>(a), packed_conv2d_is_in_one_piece(a))
        << k.name;
    if (packed_conv2d_is_in_one_piece(a)) continue;
    EXPECT_EQ(packed_conv2d_columns_bytes(a), packed_conv2d_scratch_bytes(a, Packing::mve_4x16))
        << k.name;
    ++checked;
  }
  EXPECT_GT(checked, 10);
}

TEST(PackedConv2dKernel, RefusesWhatWouldLeaveATensor) {
  const Case k{"", 2, 6, 7, 4, 6, 3, 3, 6, 7, 1, 1, 1, 1};
  const auto make = [&] {
    Random random(7);
    const Filters f = filters_of(k, random, 1 << 29);
    return call_of<Packing::mve_4x16>(k, packed_of<Packing::mve_4x16>(k, f), random);
  };
  const int32_t with_shifts = static_cast<int32_t>(packed_bytes(Packing::mve_4x16, 6, 36) +
                                                   packed_shifts_bytes(Packing::mve_4x16, 6));
  expect_refusals(make,
                  {
                      {0, "must be stored channels-last", order(0, {0, 1, 2, 3})},
                      {9, "must be stored channels-last", order(9, {0, 1, 2, 3})},
                      {0, "must be int8", type(0, ScalarType::u8)},
                      {9, "must have rank 4", rank(9, 3)},
                      {0, "must have a channel", size(0, 1, 0)},
                      {9, "must have the batch of the input", size(9, 0, 1)},
                      {1, "must be int8", type(1, ScalarType::s32)},
                      {1, "must be 4-aligned", misaligned(1, 2)},
                      {1, "must have the bytes that its packing takes", elements(1, 447)},
                      {1, "has shifts and windows that are no rows of x", elements(1, with_shifts)},
                      {1, "must have the bytes that its packing takes", size(9, 1, 9)},
                      {1, "has fewer than 4 filters", size(9, 1, 3)},
                      {1, "has dilated columns", item(5, 1, 2)},
                      {2, "must have two numbers", items(2, 1)},
                      {2, "is out of range", item(2, 0, 0)},
                      {2, "has too many elements", item(2, 0, 1 << 28)},
                      {3, "is out of range", item(3, 1, int64_t{1} << 40)},
                      {4, "is out of range", item(4, 1, -1)},
                      {9, "has more windows than the input has places", item(3, 0, 3)},
                      {6, "must be -128..127", number(6, 128)},
                      {7, "must be -128..127", number(7, -129)},
                      {8, "must be uint8", type(8, ScalarType::s8)},
                      {8, "must be 4-aligned", misaligned(8, 2)},
                  });
}

// Also with other bytes than a compiler writes: all of them come from the test's generator.
TEST(PackedConv2dKernel, StaysInsideItsTensorsWhateverTheArguments) {
  expect_inside(
      kPackedConv2dMve4x16,
      "x8:2,4,6,7:0231 x8c:448 l:3,3 l:1,1 l:1,1 l:1,1 i:-12 i:11 xu:192 x8:2,6,6,7:0231");
  expect_inside(
      kPackedConv2dDsp4x4,
      "x8:2,4,6,7:0231 x8c:352 l:3,3 l:1,1 l:1,1 l:1,1 i:-12 i:11 xu:144 x8:2,6,6,7:0231");
  expect_inside(
      kPackedConv2dScalar1x4,
      "x8:2,4,6,7:0231 x8c:264 l:3,3 l:1,1 l:1,1 l:1,1 i:-12 i:11 xu:288 x8:2,6,6,7:0231");
}

}  // namespace packed_conv2d_test
}  // namespace deuteron
