// SPDX-License-Identifier: Apache-2.0
// The cycle model: small calls counted by hand, and the one published measurement.
#include "npu/neutron/machine/cycles.h"

#include "npu/neutron/kernels/convolution/cost.h"
#include "npu/neutron/kernels/convolution_pool/cost.h"
#include "npu/neutron/kernels/copy/cost.h"
#include "npu/neutron/kernels/depthwise/cost.h"
#include "npu/neutron/kernels/fetch/cost.h"
#include "npu/neutron/machine/test_machine.h"
#include "npu/neutron/machine/test_mobilenet_v1.h"
#include "npu/neutron/machine/test_model.h"

namespace deuteron::neutron {
namespace {

// Figures that are easy to count with.
Machine simple() {
  Machine m = n3_64();
  m.accumulators = 4, m.sram_bytes_q8 = 16 * 256, m.fetch_bytes_q8 = 128, m.setup_cycles = 100,
  m.tile_cycles = 10, m.depthwise_lanes = 1;
  m.vector_elements_q8 = 8 * 256, m.softmax_cycles_q8 = 512, m.fetch_setup_cycles = 7;
  return m;
}

ConvCall conv(int32_t h, int32_t w, int32_t c, int32_t kernel, int32_t out_h, int32_t out_w,
              int32_t out_c) {
  ConvCall a{};
  a.n = 1, a.h = h, a.w = w, a.c = a.x_pitch = c, a.kernel_h = a.kernel_w = kernel,
  a.stride_h = a.stride_w = a.dilation_h = a.dilation_w = 1;
  a.out_h = out_h, a.out_w = out_w, a.out_c = a.y_pitch = out_c;
  return a;
}

TEST(NeutronCycles, ConvolutionByHand) {
  // 5 rows of 6 results, 2 tiles a row; 9 channels are 2 groups of 8; 3*3 taps of 2 blocks of 8
  // channels are 18 steps.
  const Cost cost = cost_of(simple(), Kind::kConv2DStandardV1, conv(7, 8, 12, 3, 5, 6, 9));
  EXPECT_EQ(cost.compute, 5 * 6 * 2 * 18 + 5 * 2 * 2 * 10);
  EXPECT_EQ(cost.weights, 5 * 2 * 2 * (18 * 64 + 8 * kParamBytes) / 16);
  EXPECT_EQ(cost.activations, (5 * 6 * (2 * 18 * 8 + 9) + 15) / 16);
  EXPECT_EQ(cost.setup, 100);
  EXPECT_EQ(cost.fetch, 0);
  EXPECT_EQ(cost.macs, 5 * 6 * 9 * 12 * 9);
  EXPECT_EQ(cost.total(),
            100 + cost.weights + cost.activations);  // 4 accumulators reuse the weights too little
  EXPECT_EQ(cost.bound(), Bound::kWeights);
}

TEST(NeutronCycles, LanesOverTheRowSaveStepsWhereChannelsAreFew) {
  const ConvCall a = conv(9, 9, 3, 3, 7, 7, 8);
  EXPECT_EQ(cost_of(simple(), Kind::kConv2DStandardV1, a).compute, 7 * 7 * 9 + 7 * 2 * 10);
  EXPECT_EQ(cost_of(simple(), Kind::kConv2DStandardV2, a).compute,
            7 * 7 * 3 * 2 + 7 * 2 * 10);  // 3 rows of 9 products are 2 steps each
}

TEST(NeutronCycles, APoolBehindAConvolutionSavesStoresAndASetUp) {
  const ConvCall a = conv(7, 8, 12, 3, 5, 6, 9);
  const Cost pooled =
      cost_of(simple(), Kind::kConv2DStandardV1Pool, ConvPoolCall{a, 2, 2, 0, -128, 127});
  const Cost alone = cost_of(simple(), Kind::kConv2DStandardV1,
                             conv(7, 8, 12, 3, 4, 6, 9));  // the fifth row fills no window
  EXPECT_EQ(pooled.compute, alone.compute);
  EXPECT_EQ(pooled.weights, alone.weights);
  EXPECT_EQ(pooled.macs, alone.macs);
  EXPECT_EQ(pooled.setup, 100);
  EXPECT_EQ(alone.activations - pooled.activations, (4 * 6 * 9 - 2 * 3 * 9 + 15) / 16);
}

TEST(NeutronCycles, DepthwiseUsesOneLaneOfAUnit) {
  DepthwiseCall a{};
  a.n = 1, a.h = 4, a.w = 6, a.c = a.x_pitch = 10, a.multiplier = 1, a.kernel_h = a.kernel_w = 3,
  a.stride_h = a.stride_w = 1;
  a.dilation_h = a.dilation_w = 1, a.out_h = 4, a.out_w = 6, a.y_pitch = 10;
  const Cost rows = cost_of(simple(), Kind::kConv2DDepthwiseV1, a),
             line = cost_of(simple(), Kind::kConv2DDepthwiseDense, a);
  EXPECT_EQ(rows.compute, 4 * 6 * 2 * 9 + 4 * 2 * 2 * 10);
  EXPECT_EQ(line.compute, 4 * 6 * 2 * 9 + 6 * 2 * 10);
  EXPECT_EQ(rows.activations, 4 * 2 * 8 * (6 * (3 + 1) + 6) / 16);
  EXPECT_EQ(line.activations, 2 * 8 * 24 * (9 + 1) / 16);
  EXPECT_EQ(rows.macs, 4 * 6 * 9 * 10);
}

TEST(NeutronCycles, FetchesAreTheCpusTime) {
  const Cost cost = cost_of(simple(), Kind::kMemCpy, MemCpyCall{{}, {}, 1000, 0});
  EXPECT_EQ(cost.total(), 7 + 2000);
  EXPECT_EQ(cost.bound(), Bound::kFetch);
}

TEST(NeutronCycles, ATransposeCostsAnAccessForEachElementThatItScatters) {
  CopyCall a{{}, {}, {1, 1, 1, 1, 32, 24}, {0, 0, 0, 0, 1, 32}, {0, 0, 0, 0, 24, 1}};
  EXPECT_EQ(cost_of(simple(), Kind::kTransposeCHW, a).activations, 32 * 24 + 32 * 24 / 16);
  a.x_stride[4] = 24, a.x_stride[5] = 1;  // a plain copy
  EXPECT_EQ(cost_of(simple(), Kind::kSlice, a).activations, 2 * 32 * 24 / 16);
}

TEST(NeutronCycles, EncodedCallsCountTheSame) {
  const ConvCall a = conv(7, 8, 12, 3, 5, 6, 9);
  EXPECT_EQ(cost_of(n3_64(), Kind::kConv2DStandardV1, static_cast<const void*>(&a)).total(),
            cost_of(n3_64(), Kind::kConv2DStandardV1, a).total());
  EXPECT_EQ(cost_of(n3_64(), Kind::kProfileDump, static_cast<const void*>(&a)).total(), 0);
}

// 53.376 ms at 324 MHz with the weights in external flash. `fetch_bytes_q8` is fitted to this
// figure, so that it holds by construction: the test keeps a change of the model from losing it.
TEST(NeutronCycles, MobileNetV1AgainstThePublishedMeasurement) {
  const Machine machine = n3_64();
  const MobileNetV1 net = mobilenet_v1_calls(machine);
  int64_t total = 0, macs = 0, kernels = 0;
  for (const NamedCall& call : net.calls) {
    const Cost cost = cost_of(machine, call.kind, call.words.data());
    total += cost.total();
    macs += cost.macs;
    kernels += call.kind != Kind::kMemCpy;
  }
  constexpr double kMeasured = 53.376e-3;
  EXPECT_NEAR(static_cast<double>(total) / machine.clock_hz, kMeasured, 0.15 * kMeasured);
  EXPECT_EQ(macs, 568741376);
  EXPECT_EQ(kernels, 30);
  // What the vendor's converter prints as its minimum of SRAM weight scratch: the packing of
  // weights and parameters is as dense as its.
  EXPECT_EQ(net.sram_bytes, 1082368);
}

TEST(NeutronCycles, MobileNetV1IsAccepted) {
  const MobileNetV1 net = mobilenet_v1_calls(n3_64());
  test::Model model;
  model.input(224 * 224 * 3);
  model.output(1001);
  model.scratch_bytes = MobileNetV1::kScratchBytes;
  model.sram_bytes = 2 * (1048576 + 12288);
  model.weights.resize(static_cast<size_t>(net.weight_bytes));
  for (const NamedCall& call : net.calls) {
    model.calls.insert(model.calls.end(), {static_cast<int32_t>(call.kind),
                                           static_cast<int32_t>(call.words.size() + 2)});
    model.calls.insert(model.calls.end(), call.words.begin(), call.words.end());
    ++model.number_of_calls;
  }
  const NeutronError e = model.prepare(model.encode());
  EXPECT_EQ(e, kNeutronOk) << "call " << call_of(e) << ": " << text_of(reason_of(e));
}

}  // namespace
}  // namespace deuteron::neutron
