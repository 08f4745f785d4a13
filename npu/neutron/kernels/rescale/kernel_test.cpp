// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/kernels/rescale/call.h"
#include "npu/neutron/machine/test_tensors.h"

namespace deuteron::neutron {
namespace {

using namespace test;

TEST(NeutronRescale, RescaleOfEveryValue) {
  for (const int shift : {-9, -1, 0, 3, 30}) {
    Model model;
    RescaleCall a{model.input(256), model.output(256), 256, 33, -70, 1879048192, shift, -70, 99};
    model.call(Kind::kGlobalBiasScale, a);
    Bytes want;
    for (int v = -128; v < 128; ++v)
      want.push_back(clamped(requantize_reference(v - 33, a.multiplier, shift) - 70, -70, 99));
    test::expect_same(test::result_of(model, {all_bytes()}), want);
  }
}

}  // namespace
}  // namespace deuteron::neutron
