// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "npu/neutron/kernels/pad/call.h"
#include "npu/neutron/machine/test_tensors.h"

namespace deuteron::neutron {
namespace {

using namespace test;

TEST(NeutronPad, PadOfEveryAxis) {
  struct Case {
    const char* name;
    Extents extent, before, after;
  };
  const Case cases[] = {
      {"height and width", {1, 1, 1, 3, 5, 7}, {0, 0, 0, 1, 2, 0}, {0, 0, 0, 2, 0, 0}},
      {"outer axes and channels", {1, 1, 2, 3, 5, 7}, {0, 1, 0, 0, 0, 3}, {1, 0, 0, 0, 4, 1}},
      {"one channel becomes three", {1, 1, 1, 1, 4, 1}, {0, 0, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 1}},
      {"one channel of two pixels becomes three",
       {1, 1, 1, 1, 2, 1},
       {0, 0, 0, 0, 0, 1},
       {0, 0, 0, 0, 0, 1}},
      {"every axis", {2, 3, 1, 2, 1, 3}, {1, 0, 2, 0, 1, 0}, {0, 1, 1, 0, 0, 2}},
      {"nothing", {1, 1, 1, 1, 1, 5}, {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}},
  };
  for (const Case& k : cases) {
    SCOPED_TRACE(k.name);
    Extents whole{};
    for (size_t i = 0; i < kMaxRank; ++i) whole[i] = k.before[i] + k.extent[i] + k.after[i];
    PadCall a{};
    std::copy(k.extent.begin(), k.extent.end(), a.extent);
    std::copy(k.before.begin(), k.before.end(), a.before);
    std::copy(k.after.begin(), k.after.end(), a.after);
    a.value = -77;
    Model model;
    a.x = model.input(product(k.extent)), a.y = model.output(product(whole));
    model.call(Kind::kPad, a);
    const Bytes x = Random(4).bytes(product(k.extent));
    Bytes want(z(product(whole)), -77);
    for (int32_t i = 0; i < product(k.extent); ++i) {
      Extents index = index_of_flat(i, k.extent);
      for (size_t axis = 0; axis < kMaxRank; ++axis) index[axis] += k.before[axis];
      want[z(dot(index, dense(whole)))] = x[z(i)];
    }
    test::expect_same(test::result_of(model, {x}), want);
  }
}

}  // namespace
}  // namespace deuteron::neutron
