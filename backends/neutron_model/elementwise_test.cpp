// Pairs, rectifiers, rescaling, tables and softmax against their definitions.
#include <algorithm>
#include <array>

#include "backends/neutron_model/test_model.h"
#include "ops/integer/requantize_reference.h"
#include "ops/softmax/reference.h"

namespace deuteron::neutron {
namespace {

using test::Bytes;
using test::Model;
using test::Random;

using Extents = std::array<int32_t, kMaxRank>;

int8_t clamped(int64_t v, int64_t low, int64_t high) { return static_cast<int8_t>(std::clamp(v, low, high)); }

// NumPy's strides of a tensor of these extents over extents that it is broadcast to.
Extents strides_of(const Extents& own) {
  Extents strides{};
  int32_t step = 1;
  for (int i = kMaxRank - 1; i >= 0; --i) {
    const auto at = static_cast<size_t>(i);
    strides[at] = own[at] == 1 ? 0 : step;
    step *= own[at];
  }
  return strides;
}
int32_t product(const Extents& e) {
  int32_t p = 1;
  for (const int32_t v : e) p *= v;
  return p;
}
// The offset of index `flat` of `extent`, by strides.
size_t offset(int32_t flat, const Extents& extent, const Extents& stride) {
  int32_t at = 0;
  for (size_t i = kMaxRank; i-- > 0;) {
    at += flat % extent[i] * stride[i];
    flat /= extent[i];
  }
  return static_cast<size_t>(at);
}

const std::array<std::array<Extents, 2>, 8> kPairs = {{
    {{{1, 1, 1, 3, 5, 7}, {1, 1, 1, 3, 5, 7}}},
    {{{1, 1, 2, 3, 5, 7}, {1, 1, 1, 1, 1, 1}}},
    {{{1, 1, 2, 3, 5, 7}, {1, 1, 1, 1, 1, 7}}},
    {{{1, 1, 1, 1, 1, 7}, {1, 3, 2, 1, 5, 1}}},
    {{{2, 1, 3, 1, 5, 2}, {1, 4, 1, 3, 1, 2}}},
    {{{1, 1, 2, 1, 1, 9}, {1, 1, 2, 4, 3, 9}}},
    {{{1, 1, 2, 4, 3, 1}, {1, 1, 2, 4, 3, 9}}},
    {{{1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1}}},
}};

int8_t pair_reference(Kind kind, const PairCall& a, int32_t x, int32_t other) {
  const int64_t low = a.y_min, high = a.y_max;
  if (kind == Kind::kMaximum) return clamped(std::max(x, other), low, high);
  if (kind == Kind::kMinimum) return clamped(std::min(x, other), low, high);
  const int64_t u = x - a.x_zero, v = other - a.other_zero;
  if (kind == Kind::kMul) return clamped(a.y_zero + requantize_reference(u * v, a.y_multiplier, a.y_shift), low, high);
  const int64_t p = requantize_reference(u << a.left_shift, a.x_multiplier, a.x_shift);
  const int64_t q = requantize_reference(v << a.left_shift, a.other_multiplier, a.other_shift);
  return clamped(a.y_zero + requantize_reference(kind == Kind::kSub ? p - q : p + q, a.y_multiplier, a.y_shift), low, high);
}

TEST(NeutronElementWise, PairsBroadcastAsInNumPy) {
  uint32_t seed = 500;
  for (const Kind kind : {Kind::kAdd, Kind::kSub, Kind::kMul, Kind::kMaximum, Kind::kMinimum})
    for (const auto& [x_extent, other_extent] : kPairs) {
      SCOPED_TRACE(testing::Message() << name_of(kind) << " case " << seed);
      Random random(seed++);
      PairCall a{};
      Extents extent{};
      for (size_t i = 0; i < kMaxRank; ++i) extent[i] = std::max(x_extent[i], other_extent[i]);
      const Extents x_stride = strides_of(x_extent), other_stride = strides_of(other_extent);
      std::copy(extent.begin(), extent.end(), a.extent);
      std::copy(x_stride.begin(), x_stride.end(), a.x_stride);
      std::copy(other_stride.begin(), other_stride.end(), a.other_stride);
      a.left_shift = 20;
      a.x_zero = random.in(-128, 127), a.x_multiplier = random.multiplier(), a.x_shift = random.in(-3, 0);
      a.other_zero = random.in(-128, 127), a.other_multiplier = random.multiplier(), a.other_shift = random.in(-3, 0);
      a.y_zero = random.in(-30, 30), a.y_multiplier = random.multiplier(),
      a.y_shift = kind == Kind::kMul ? random.in(-8, -5) : random.in(-19, -17);
      a.y_min = -121, a.y_max = 117;
      Model model;
      const int32_t count = product(extent);
      const Bytes x = random.bytes(product(x_extent)), other = random.bytes(product(other_extent));
      a.x = model.input(product(x_extent)), a.other = model.input(product(other_extent)), a.y = model.output(count);
      model.call(kind, a);
      Bytes want;
      for (int32_t i = 0; i < count; ++i)
        want.push_back(pair_reference(kind, a, x[offset(i, extent, x_stride)], other[offset(i, extent, other_stride)]));
      test::expect_same(test::result_of(model, {x, other}), want);
    }
}

TEST(NeutronElementWise, AddOverItsOperandInScratch) {
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

TEST(NeutronElementWise, PreluWithASlopeForEachChannelAndEachElement) {
  for (const Extents& alpha_extent :
       {Extents{1, 1, 1, 1, 1, 6}, Extents{1, 1, 2, 3, 5, 6}, Extents{1, 1, 1, 1, 1, 1}, Extents{1, 1, 1, 3, 1, 6}}) {
    Random random(600);
    const Extents extent = {1, 1, 2, 3, 5, 6}, alpha_stride = strides_of(alpha_extent), dense = strides_of(extent);
    PreluCall a{};
    std::copy(extent.begin(), extent.end(), a.extent);
    std::copy(alpha_stride.begin(), alpha_stride.end(), a.alpha_stride);
    a.x_zero = -17, a.alpha_zero = 5, a.y_zero = 9, a.positive_multiplier = random.multiplier(), a.positive_shift = 1;
    a.negative_multiplier = random.multiplier(), a.negative_shift = -6, a.y_min = -128, a.y_max = 125;
    Model model;
    const Bytes x = random.bytes(180), alpha = random.bytes(product(alpha_extent));
    a.x = model.input(180), a.alpha = model.constant(alpha), a.y = model.output(180);
    model.call(Kind::kPrelu, a);
    Bytes want;
    for (int32_t i = 0; i < 180; ++i) {
      const int64_t v = x[offset(i, extent, dense)] + 17, slope = alpha[offset(i, extent, alpha_stride)] - 5;
      const int64_t y =
          v >= 0 ? requantize_reference(v, a.positive_multiplier, 1) : requantize_reference(v * slope, a.negative_multiplier, -6);
      want.push_back(clamped(y + 9, -128, 125));
    }
    test::expect_same(test::result_of(model, {x}), want);
  }
}

Bytes all_bytes() {
  Bytes all;
  for (int v = -128; v < 128; ++v) all.push_back(static_cast<int8_t>(v));
  return all;
}

TEST(NeutronElementWise, RescaleOfEveryValue) {
  for (const int shift : {-9, -1, 0, 3, 30}) {
    Model model;
    RescaleCall a{model.input(256), model.output(256), 256, 33, -70, 1879048192, shift, -70, 99};
    model.call(Kind::kGlobalBiasScale, a);
    Bytes want;
    for (int v = -128; v < 128; ++v) want.push_back(clamped(requantize_reference(v - 33, a.multiplier, shift) - 70, -70, 99));
    test::expect_same(test::result_of(model, {all_bytes()}), want);
  }
}

TEST(NeutronElementWise, TableOfEveryValue) {
  Model model;
  const Bytes table = Random(8).bytes(256);
  TableCall a{model.input(256), model.output(256), model.constant(table), 256};
  model.call(Kind::kTable, a);
  test::expect_same(test::result_of(model, {all_bytes()}), table);
}

TEST(NeutronElementWise, Softmax) {
  for (const auto& [rows, columns] : {std::array{1, 10}, {5, 3}, {3, 257}, {7, 1}}) {
    Random random(static_cast<uint32_t>(rows));
    Model model;
    SoftmaxCall a{model.input(rows * columns), model.output(rows * columns), rows, columns, 1717986918, 22, -248};
    model.call(Kind::kSoftmax, a);
    const Bytes x = random.bytes(rows * columns);
    Bytes want(x.size());
    softmax_reference({rows, columns, a.multiplier, a.shift, a.diff_min}, x.data(), want.data());
    test::expect_same(test::result_of(model, {x}), want);
  }
}

}  // namespace
}  // namespace deuteron::neutron
