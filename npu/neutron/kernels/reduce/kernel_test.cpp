// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "npu/neutron/kernels/reduce/call.h"
#include "npu/neutron/machine/test_tensors.h"

namespace deuteron::neutron {
namespace {

using namespace test;

TEST(NeutronReduce, OverEverySetOfAxes) {
  const Extents extent = {2, 3, 1, 4, 5, 3};
  for (const Kind kind : {Kind::kReduceMean, Kind::kReduceSum, Kind::kGlobalAvgPool,
                          Kind::kReduceMax, Kind::kReduceMin})
    for (int32_t axes = 0; axes < 64; ++axes)
      for (const int32_t multiplier : {0, 1717986918}) {
        if (multiplier == 0 && kind != Kind::kReduceMax && kind != Kind::kReduceMin) continue;
        ReduceCall a{};
        std::copy(extent.begin(), extent.end(), a.extent);
        a.axes = axes, a.x_zero = -9, a.y_zero = 12, a.multiplier = multiplier, a.shift = -2,
        a.y_min = -125, a.y_max = 122;
        Extents kept{};
        for (size_t i = 0; i < kMaxRank; ++i) kept[i] = (axes >> i & 1) != 0 ? 1 : extent[i];
        Model model;
        a.x = model.input(product(extent)), a.y = model.output(product(kept));
        model.call(kind, a);
        const Bytes x = Random(6).bytes(product(extent));
        std::vector<std::vector<int>> groups(z(product(kept)));
        for (int32_t i = 0; i < product(extent); ++i) {
          Extents index = index_of_flat(i, extent);
          for (size_t k = 0; k < kMaxRank; ++k) index[k] = (axes >> k & 1) != 0 ? 0 : index[k];
          groups[z(dot(index, dense(kept)))].push_back(x[z(i)]);
        }
        Bytes want;
        for (const std::vector<int>& g : groups) {
          int64_t v = kind == Kind::kReduceMax ? *std::max_element(g.begin(), g.end()) + 9
                                               : *std::min_element(g.begin(), g.end()) + 9;
          if (kind != Kind::kReduceMax && kind != Kind::kReduceMin) {
            v = 0;
            for (const int e : g) v += e + 9;
          }
          const int64_t y = multiplier == 0 ? v - 9 : requantize_reference(v, multiplier, -2) + 12;
          want.push_back(static_cast<int8_t>(std::clamp<int64_t>(y, -125, 122)));
        }
        SCOPED_TRACE(testing::Message() << name_of(kind) << " axes " << axes);
        test::expect_same(test::result_of(model, {x}), want);
      }
}

}  // namespace
}  // namespace deuteron::neutron
