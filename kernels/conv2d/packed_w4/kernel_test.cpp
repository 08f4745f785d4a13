// SPDX-License-Identifier: Apache-2.0
// deuteron::packed_conv2d_w4 and its binding against the reference of conv2d with the int8 weights
// that its nibbles stand for, bit for bit, in every packing, with all its scratch and with the
// least; and what prepare() refuses.
#include "kernels/conv2d/packed_w4/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/common/test_spoiled_calls.h"
#include "kernels/conv2d/packed/test_cases.h"
#include "kernels/conv2d/packed_w4/unpack.h"
#include "kernels/conv2d/reference.h"

namespace deuteron {
namespace packed_conv2d_w4_test {

enum { kPackedArgument = 1, kScratch = 8, kOut = 9 };

template <Packing p>
constexpr const Kernel& kKernel =
    p == Packing::mve_4x16 ? kPackedConv2dW4Mve4x16 : kPackedConv2dW4Dsp4x4;

// Weights as nibbles and factors, by filter in the order of the packing, and the same in int8 as
// [oc,kh,kw,c].
struct W4Filters {
  PackedFilters int8;
  std::vector<int32_t> nibble, factor;
};

template <Packing p>
W4Filters w4_filters_of(const PackedCase& k, Random& random) {
  W4Filters f{filters_of(k, random, p == Packing::dsp_4x4 ? (1 << 30) - 1 : INT32_MAX), {}, {}};
  const int32_t length = args_of(k).length(), runs = (length + kRun - 1) / kRun;
  f.factor = random.list(k.oc * runs, 1, kMostFactor);
  for (int32_t o = 0; o < k.oc; ++o)
    for (int32_t e = 0; e < length; ++e) {
      const int32_t factor = f.factor[static_cast<size_t>(o * runs + e / kRun)];
      // -128 is no weight of dsp_4x4
      const int32_t nibble = random.in(factor == kMostFactor ? 1 : 0, 15);
      const int32_t tap = e / k.c, kh = p == Packing::mve_4x16 ? tap % k.kh : tap / k.kw,
                    kw = p == Packing::mve_4x16 ? tap / k.kh : tap % k.kw;
      f.nibble.push_back(nibble);
      f.int8.weight[static_cast<size_t>(o * length + (kh * k.kw + kw) * k.c + e % k.c)] =
          static_cast<int8_t>((nibble - kMiddle) * factor);
    }
  return f;
}

// From the tiles of int8: their numbers.
template <Packing p>
std::vector<int8_t> w4_packed_of(const PackedCase& k, const W4Filters& f) {
  const int32_t length = args_of(k).length(), runs = (length + kRun - 1) / kRun,
                tiles = packed_tiles(k.oc);
  const W4Tile t = w4_tile(p, length, k.has_shifts);
  const std::vector<int8_t> int8 = packed_of<p>(k, f.int8);
  std::vector<int8_t> packed(static_cast<size_t>(w4_bytes(p, k.oc, length, k.has_shifts)), 0);
  for (int32_t tile = 0; tile < tiles; ++tile) {
    int8_t* const to = packed.data() + tile * t.bytes;
    const int8_t* const from = int8.data() + tile * packed_tile_bytes(p, length);
    const int32_t first = p == Packing::dsp_4x4 ? 8 : 0;
    std::memcpy(to, from, static_cast<size_t>(first));
    std::memcpy(to + first, from + first + t.weights_bytes, static_cast<size_t>(32 - first));
    if (k.has_shifts)
      std::memcpy(to + 32, int8.data() + packed_bytes(p, k.oc, length) + tile * 16, 16);
    std::memset(to + t.nibbles, 0x88, static_cast<size_t>(t.weights_bytes / 2));
    for (int32_t i = 0; i < kPackedTile && i < k.oc; ++i)
      for (int32_t e = 0; e < length; ++e) {
        const int32_t o = first_of_tile(k.oc, tile) + i;
        const NibblePlace at = nibble_place<p>(length, i, e);
        int8_t& both = to[t.nibbles + at.byte];
        const int32_t nibble = f.nibble[static_cast<size_t>(o * length + e)];
        both = static_cast<int8_t>(at.is_high ? (both & 15) | nibble << 4 : (both & 0xf0) | nibble);
        int8_t& factors = to[t.factors + e / kRun * 2 + i / 2];
        if (e % kRun == 0)
          factors = static_cast<int8_t>(
              factors | (f.factor[static_cast<size_t>(o * runs + e / kRun)] - 1) << (i % 2 * 4));
      }
  }
  return packed;
}

template <Packing p>
TestCall call_of(const PackedCase& k, const std::vector<int8_t>& packed, int64_t scratch,
                 Random& random) {
  TestCall call = begin_packed_call(kKernel<p>, k, packed, random);
  call.tensor(ScalarType::u8, {static_cast<int32_t>(scratch)});
  call.image(k.n, k.oh, k.ow, k.oc);
  return call;
}

template <Packing p>
void check(KernelCases& cases, const PackedCase& k, uint32_t seed, int* served) {
  if (why_not_packed_conv2d(args_of(k), p)) return;
  Random random(seed);
  const W4Filters f = w4_filters_of<p>(k, random);
  const int64_t least = packed_conv2d_w4_least_scratch_bytes(args_of(k), p),
                most = packed_conv2d_w4_scratch_bytes(args_of(k), p);
  const int64_t scratch = seed % 3 == 0   ? most
                          : seed % 3 == 1 ? least
                                          : least + (most - least) * random.in(0, 15) / 16;
  TestCall call = call_of<p>(k, w4_packed_of<p>(k, f), scratch, random);
  const std::string name = line(
      k.name,
      {k.n, k.h, k.w, k.c, k.oc, k.kh, k.kw, k.oh, k.ow, k.sh, k.sw, k.ph, k.pw, k.dh, k.dw}, seed);
  cases.run(name + " in packing " + std::to_string(static_cast<int>(p)), call);
  const std::vector<int8_t> expected = expected_of(k, f.int8, data_of<int8_t>(call.tensor_at(0)));
  cases.expect(kOut, expected);
  // The portable kernel: a host takes its own, which unpacks all weights when it loads a program.
  std::vector<int8_t> room(static_cast<size_t>(scratch)), found(expected.size());
  packed_conv2d_w4_s8<p>(args_of(k), data_of<int8_t>(call.tensor_at(0)),
                         data_of<int8_t>(call.tensor_at(kPackedArgument)), room.data(),
                         static_cast<int32_t>(scratch), found.data());
  ASSERT_EQ(found, expected) << name << ", " << scratch << " bytes of scratch";
  ++*served;
}

TEST(PackedConv2dW4Kernel, EqualsTheReference) {
  KernelCases mve, dsp;
  uint32_t seed = 1;
  int served = 0;
  for (const PackedCase& k : kPackedCases)
    for (int i = 0; i < 3; ++i) {
      check<Packing::mve_4x16>(mve, k, seed, &served);
      check<Packing::dsp_4x4>(dsp, k, seed++, &served);
    }
  EXPECT_GT(served, 120);
}

TEST(PackedConv2dW4Kernel, ShiftsTheResultsOfOneWindow) {
  KernelCases mve, dsp;
  uint32_t seed = 1;
  int served = 0;
  for (const int32_t length : {4, 16, 17, 30, 64, 77})
    for (const int32_t filters : {1, 4, 5, 8, 9, 12, 13, 19}) {
      PackedCase k{"one window with shifts", 1, 1, 1, length, filters, 1, 1, 1, 1};
      k.has_shifts = true;
      check<Packing::mve_4x16>(mve, k, seed, &served);
      check<Packing::dsp_4x4>(dsp, k, seed++, &served);
    }
  EXPECT_GT(served, 80);
}

TEST(PackedConv2dW4Kernel, EqualsTheReferenceOnRandomShapes) {
  KernelCases mve, dsp;
  Random random(20264);
  int served = 0;
  for (uint32_t i = 0; i < 300; ++i) {
    PackedCase k{};
    k.name = "random";
    k.n = random.in(1, 3), k.h = random.in(1, 12), k.w = random.in(1, 12), k.c = random.in(1, 70),
    k.oc = random.in(1, 40);
    k.kh = random.in(1, 4), k.kw = random.in(1, 4), k.sh = random.in(1, 3), k.sw = random.in(1, 3),
    k.ph = random.in(0, 3), k.pw = random.in(0, 3), k.dh = random.in(1, 3), k.dw = random.in(1, 2);
    if (i % 4 == 0) k.kh = k.kw = 1, k.ph = k.pw = 0;
    k.oh = random.in(1, (k.h - 1 + k.ph) / k.sh + 1),
    k.ow = random.in(1, (k.w - 1 + k.pw) / k.sw + 1);
    k.x_zero = random.in(-128, 127), k.y_zero = random.in(-128, 127);
    check<Packing::mve_4x16>(mve, k, 1000 + i, &served);
    check<Packing::dsp_4x4>(dsp, k, 1000 + i, &served);
  }
  EXPECT_GT(served, 300);
}

// A tile as it stands in tiles.h: 16 elements of four filters.
TEST(W4Tiles, HasItsBytesWhereTheFormatSays) {
  EXPECT_EQ(w4_bytes(Packing::mve_4x16, 4, 16, false), 32 + 4 + 32);
  EXPECT_EQ(w4_bytes(Packing::mve_4x16, 6, 33, true), 2 * (48 + 8 + 96));
  EXPECT_EQ(w4_bytes(Packing::dsp_4x4, 4, 20, false), 32 + 4 + 40);
  std::vector<int8_t> tile(68, static_cast<int8_t>(0x88));
  tile[32] = 0x10, tile[33] = static_cast<int8_t>(0xf2);  // factors 1, 2, 3, 16
  tile[36] = 0x70;  // element 0 of filter 0: 0 - 8; of filter 1: 7 - 8
  // element 5 of filter 2: 9 - 8; of filter 3: 15 - 8
  tile[36 + 16 + 5] = static_cast<int8_t>(0xf9);
  std::vector<int8_t> weights(64), expected(64, 0);
  unpack_weights<Packing::mve_4x16>(w4_tile(Packing::mve_4x16, 16, false), 16, tile.data(),
                                    weights.data());
  expected[0] = -8, expected[16] = -2, expected[32 + 5] = 3, expected[48 + 5] = 112;
  EXPECT_EQ(weights, expected);
}

constexpr PackedCase kSmall{"", 2, 6, 7, 4, 6, 3, 3, 6, 7, 1, 1, 1, 1};

TestCall small_call() {
  constexpr Packing p = Packing::mve_4x16;
  Random random(7);
  return call_of<p>(kSmall, w4_packed_of<p>(kSmall, w4_filters_of<p>(kSmall, random)),
                    packed_conv2d_w4_least_scratch_bytes(args_of(kSmall), p), random);
}

TEST(PackedConv2dW4Kernel, RefusesWhatWouldLeaveATensor) {
  const int32_t bytes = small_call().tensor_at(kPackedArgument).numel,
                least = small_call().tensor_at(kScratch).numel;
  ASSERT_EQ(bytes, 2 * (32 + 8 + 96));
  ASSERT_EQ(least, 3 * 64 + 32);
  const auto with_shifts = static_cast<int32_t>(w4_bytes(Packing::mve_4x16, 6, 36, true));
  expect_refusals(
      small_call,
      {
          {kPackedArgument, "must have the bytes that its packing takes",
           elements(kPackedArgument, bytes - 1)},
          {kPackedArgument, "must have the bytes that its packing takes",
           elements(kPackedArgument, 448)},
          {kPackedArgument, "has shifts and windows that are no rows of x",
           elements(kPackedArgument, with_shifts)},
          {kPackedArgument, "must have the bytes that its packing takes", size(kOut, 1, 9)},
          {kPackedArgument, "must be 4-aligned", misaligned(kPackedArgument, 2)},
          {kScratch, "must hold a tile and the windows", elements(kScratch, least - 1)},
          {kScratch, "must be 4-aligned", misaligned(kScratch, 2)},
      });
}

// Also with other bytes than a compiler writes: all of them come from the test's generator.
TEST(PackedConv2dW4Kernel, StaysInsideItsTensorsWhateverTheArguments) {
  expect_inside(
      kPackedConv2dW4Mve4x16,
      "x8:2,4,6,7:0231 x8c:272 l:3,3 l:1,1 l:1,1 l:1,1 i:-12 i:11 xu:416 x8:2,6,6,7:0231");
  expect_inside(
      kPackedConv2dW4Dsp4x4,
      "x8:2,4,6,7:0231 x8c:224 l:3,3 l:1,1 l:1,1 l:1,1 i:-12 i:11 xu:320 x8:2,6,6,7:0231");
}

}  // namespace packed_conv2d_w4_test
}  // namespace deuteron
