// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "npu/neutron/kernels/pairwise/call.h"
#include "npu/neutron/kernels/rescale/call.h"
#include "npu/neutron/machine/test_tensors.h"

namespace deuteron::neutron {
namespace {

using namespace test;

struct Broadcast {
  const char* name;
  Extents x, other;
};
constexpr Broadcast kBroadcasts[] = {
    {"equal shapes", {1, 1, 1, 3, 5, 7}, {1, 1, 1, 3, 5, 7}},
    {"a number", {1, 1, 2, 3, 5, 7}, {1, 1, 1, 1, 1, 1}},
    {"a number for each channel", {1, 1, 2, 3, 5, 7}, {1, 1, 1, 1, 1, 7}},
    {"both repeat", {1, 1, 1, 1, 1, 7}, {1, 3, 2, 1, 5, 1}},
    {"axes repeat in turn", {2, 1, 3, 1, 5, 2}, {1, 4, 1, 3, 1, 2}},
    {"x has the channels only", {1, 1, 2, 1, 1, 9}, {1, 1, 2, 4, 3, 9}},
    {"x has all but the channels", {1, 1, 2, 4, 3, 1}, {1, 1, 2, 4, 3, 9}},
    {"one element", {1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}},
};

int8_t pair_reference(Kind kind, const PairCall& a, int32_t x, int32_t other) {
  const int64_t low = a.y_min, high = a.y_max;
  if (kind == Kind::kMaximum) return clamped(std::max(x, other), low, high);
  if (kind == Kind::kMinimum) return clamped(std::min(x, other), low, high);
  const int64_t u = x - a.x_zero, v = other - a.other_zero;
  if (kind == Kind::kMul)
    return clamped(a.y_zero + requantize_reference(u * v, a.y_multiplier, a.y_shift), low, high);
  const int64_t p = requantize_reference(u << a.left_shift, a.x_multiplier, a.x_shift);
  const int64_t q = requantize_reference(v << a.left_shift, a.other_multiplier, a.other_shift);
  return clamped(a.y_zero + requantize_reference(kind == Kind::kSub ? p - q : p + q, a.y_multiplier,
                                                 a.y_shift),
                 low, high);
}

TEST(NeutronPairwise, PairsBroadcastAsInNumPy) {
  uint32_t seed = 500;
  for (const Kind kind : {Kind::kAdd, Kind::kSub, Kind::kMul, Kind::kMaximum, Kind::kMinimum})
    for (const auto& [name, x_extent, other_extent] : kBroadcasts) {
      SCOPED_TRACE(testing::Message() << name_of(kind) << ": " << name);
      Random random(seed++);
      PairCall a{};
      Extents extent{};
      for (size_t i = 0; i < kMaxRank; ++i) extent[i] = std::max(x_extent[i], other_extent[i]);
      const Extents x_stride = strides_of(x_extent), other_stride = strides_of(other_extent);
      std::copy(extent.begin(), extent.end(), a.extent);
      std::copy(x_stride.begin(), x_stride.end(), a.x_stride);
      std::copy(other_stride.begin(), other_stride.end(), a.other_stride);
      a.left_shift = 20;
      a.x_zero = random.in(-128, 127), a.x_multiplier = random.multiplier(),
      a.x_shift = random.in(-3, 0);
      a.other_zero = random.in(-128, 127), a.other_multiplier = random.multiplier(),
      a.other_shift = random.in(-3, 0);
      a.y_zero = random.in(-30, 30), a.y_multiplier = random.multiplier(),
      a.y_shift = kind == Kind::kMul ? random.in(-8, -5) : random.in(-19, -17);
      a.y_min = -121, a.y_max = 117;
      Model model;
      const int32_t count = product(extent);
      const Bytes x = random.bytes(product(x_extent)), other = random.bytes(product(other_extent));
      a.x = model.input(product(x_extent)), a.other = model.input(product(other_extent)),
      a.y = model.output(count);
      model.call(kind, a);
      Bytes want;
      for (int32_t i = 0; i < count; ++i)
        want.push_back(pair_reference(kind, a, x[offset(i, extent, x_stride)],
                                      other[offset(i, extent, other_stride)]));
      test::expect_same(test::result_of(model, {x, other}), want);
    }
}

TEST(NeutronPairwise, AddOverItsOperandInScratch) {
  Model model;
  model.scratch_bytes = 64;
  const Bytes x = Random(3).bytes(40);
  const Operand in = model.input(40), out = model.output(40), at = operand(Region::kScratch, 16);
  RescaleCall same{in, at, 40, 0, 0, 1 << 30, 1, -128, 127};
  model.call(Kind::kGlobalBiasScale, same);
  PairCall a{};
  for (int32_t& e : a.extent) e = 1;
  a.extent[5] = 40, a.x_stride[5] = a.other_stride[5] = 1, a.y_min = -128, a.y_max = 127;
  a.x = at, a.other = in, a.y = at;
  model.call(Kind::kMaximum, a);
  same.x = at, same.y = out;
  model.call(Kind::kGlobalBiasScale, same);
  test::expect_same(test::result_of(model, {x}), x);
}

}  // namespace
}  // namespace deuteron::neutron
