// SPDX-License-Identifier: Apache-2.0
// minimum_s8, maximum_s8 and their bindings against the reference over every mixture of layouts and
// broadcasts; and refusals.
#include "kernels/minimum/kernel.h"

#include "kernels/common/kernel_test.h"
#include "kernels/common/kernels.h"
#include "kernels/minimum/reference.h"

namespace deuteron {
namespace minimum_test {

std::vector<uint8_t> dense(size_t rank) {
  std::vector<uint8_t> order(rank);
  std::iota(order.begin(), order.end(), uint8_t{0});
  return order;
}

TestCall call_of(const Kernel& kernel, const LayoutReference& x, const LayoutReference& other,
                 const LayoutReference& y, Random& random) {
  TestCall call(kernel);
  random.fill(call.tensor(ScalarType::s8, x.sizes, x.order));
  random.fill(call.tensor(ScalarType::s8, other.sizes, other.order));
  call.tensor(ScalarType::s8, y.sizes, y.order);
  return call;
}

void check(KernelCases& cases, const LayoutReference& x, const LayoutReference& other,
           const LayoutReference& y, uint32_t seed) {
  using testing::PrintToString;
  const auto text = [](const LayoutReference& l) {
    return PrintToString(l.sizes) + PrintToString(l.order);
  };
  const std::string name = text(x) + " " + text(other) + " " + text(y);
  for (const bool most : {false, true}) {
    Random random(seed);
    TestCall call = call_of(most ? kMaximum : kMinimum, x, other, y, random);
    cases.run(name, call);
    std::vector<int8_t> expected(static_cast<size_t>(call.tensor_at(2).numel));
    extremum_reference(most, x, data_of<int8_t>(call.tensor_at(0)), other,
                       data_of<int8_t>(call.tensor_at(1)), y, expected.data());
    cases.expect(2, expected);
  }
}

TEST(ExtremumKernel, EqualsTheReference) {
  KernelCases cases;
  const std::vector<uint8_t> nchw{0, 1, 2, 3}, nhwc{0, 2, 3, 1};
  const std::vector<int32_t> image{2, 3, 4, 5};
  uint32_t seed = 1;
  for (const auto& y : {nchw, nhwc})
    for (const auto& a : {nchw, nhwc})
      for (const auto& b : {nchw, nhwc}) {
        check(cases, {image, a}, {image, b}, {image, y}, seed++);
        check(cases, {image, a}, {{1, 3, 1, 1}, b}, {image, y}, seed++);
        check(cases, {{2, 1, 4, 1}, a}, {{1, 3, 1, 5}, b}, {image, y}, seed++);
        check(cases, {{1, 1, 1, 1}, a}, {image, b}, {image, y}, seed++);
        check(cases, {image, a}, {{}, {}}, {image, y}, seed++);
        check(cases, {{}, {}}, {image, b}, {image, y}, seed++);
        check(cases, {{4, 1}, {0, 1}}, {image, b}, {image, y}, seed++);
        check(cases, {{5}, {0}}, {image, b}, {image, y}, seed++);
      }
  check(cases, {{7}, {0}}, {{7}, {0}}, {{7}, {0}}, seed++);
  check(cases, {{}, {}}, {{}, {}}, {{}, {}}, seed++);
  check(cases, {{3, 1}, {0, 1}}, {{1, 4}, {1, 0}}, {{3, 4}, {1, 0}}, seed++);
  check(cases, {{2, 3, 1, 2, 5, 2}, dense(6)}, {{3, 4, 1, 5, 1}, dense(5)},
        {{2, 3, 4, 2, 5, 2}, dense(6)}, seed++);
  check(cases, {{0, 3}, {0, 1}}, {{1, 3}, {0, 1}}, {{0, 3}, {0, 1}}, seed++);
}

TEST(ExtremumKernel, EqualsTheReferenceOnRandomLayouts) {
  KernelCases cases;
  Random random(20255);
  for (uint32_t i = 0; i < 500; ++i) {
    const auto layout = [&](std::vector<int32_t> sizes) {
      std::vector<uint8_t> order = dense(sizes.size());
      std::shuffle(order.begin(), order.end(), random.engine);
      return LayoutReference{sizes, order};
    };
    const size_t rank = static_cast<size_t>(random.in(0, 5));
    std::vector<int32_t> y = random.list(static_cast<int32_t>(rank), 1, 5), a = y, b = y;
    for (size_t k = 0; k < rank; ++k)
      if (const int32_t which = random.in(0, 4); which == 0) a[k] = 1;
      else if (which == 1) b[k] = 1;
    if (rank > 0 && random.in(0, 3) == 0) {
      const ptrdiff_t cut = random.in(0, static_cast<int32_t>(rank));
      b.erase(b.begin(), b.begin() + cut);
      std::copy(y.begin(), y.begin() + cut, a.begin());
    }
    check(cases, layout(a), layout(b), layout(y), i);
  }
}

TEST(ExtremumKernel, WorksInPlaceOnlyElementForElement) {
  KernelCases cases;
  EXPECT_TRUE(kMinimum.in_place && kMaximum.in_place);
  const LayoutReference last{{2, 3, 4, 5}, {0, 2, 3, 1}}, planes{{2, 3, 4, 5}, {0, 1, 2, 3}};
  for (const int place : {0, 1}) {
    Random random(3);
    TestCall call = call_of(kMinimum, last, last, last, random);
    std::vector<int8_t> expected(120);
    extremum_reference(false, last, data_of<int8_t>(call.tensor_at(0)), last,
                       data_of<int8_t>(call.tensor_at(1)), last, expected.data());
    call.tensor_at(2).data = call.tensor_at(place).data;
    cases.run("in place of argument " + std::to_string(place), call);
    cases.expect(2, expected);
    TestCall turned = call_of(kMinimum, planes, planes, last, random);
    turned.tensor_at(2).data = turned.tensor_at(place).data;
    EXPECT_EQ(turned.refused(), 2);
  }
}

TEST(ExtremumKernel, Refuses) {
  const auto make = [] {
    Random random(7);
    return call_of(kMaximum, {{2, 3}, {0, 1}}, {{1, 3}, {0, 1}}, {{2, 3}, {0, 1}}, random);
  };
  expect_refusals(make, {
                            {0, "must be int8", type(0, ScalarType::u8)},
                            {1, "must be int8", type(1, ScalarType::f32)},
                            {2, "must be int8", type(2, ScalarType::s16)},
                            {0, "must broadcast to the output", size(0, 1, 4)},
                            {1, "must broadcast to the output", size(1, 0, 3)},
                            {0, "must broadcast to the output", rank(2, 1)},
                            {2, "must have the extents of one operand or the other",
                             size(0, 0, 1)},  // nobody has the second row
                        });
  // In place of what lies otherwise, down to two elements.
  for (const int operand : {0, 1}) {
    Random random(8);
    TestCall call = call_of(kMinimum, {{operand == 0 ? 1 : 2}, {0}}, {{operand == 1 ? 1 : 2}, {0}},
                            {{2}, {0}}, random);
    call.tensor_at(2).data = call.tensor_at(operand).data;
    EXPECT_EQ(call.refused(), 2) << operand;
    call.tensor_at(2).data = call.tensor_at(1 - operand).data;
    EXPECT_EQ(call.refused(), -1) << operand;
  }
}

}  // namespace minimum_test
}  // namespace deuteron
