// SPDX-License-Identifier: Apache-2.0
// What the driver refuses and with which category and reason; handles, profile, debug buffer,
// timeout, clock gating.
#include <algorithm>

#include "npu/neutron/kernels/batch_matmul/call.h"
#include "npu/neutron/kernels/convolution/cost.h"
#include "npu/neutron/kernels/convolution_pool/call.h"
#include "npu/neutron/kernels/copy/call.h"
#include "npu/neutron/kernels/depthwise/call.h"
#include "npu/neutron/kernels/fetch/call.h"
#include "npu/neutron/kernels/fully_connected/call.h"
#include "npu/neutron/kernels/pad/call.h"
#include "npu/neutron/kernels/pairwise/call.h"
#include "npu/neutron/kernels/pool/cost.h"
#include "npu/neutron/kernels/prelu/call.h"
#include "npu/neutron/kernels/reduce/call.h"
#include "npu/neutron/kernels/rescale/call.h"
#include "npu/neutron/kernels/resize/call.h"
#include "npu/neutron/kernels/softmax/call.h"
#include "npu/neutron/kernels/table/call.h"
#include "npu/neutron/machine/cycles.h"
#include "npu/neutron/machine/kernel_table.h"
#include "npu/neutron/machine/test_model.h"

namespace deuteron::neutron {
namespace {

using test::Aligned;
using test::Bytes;
using test::Model;
using test::Outcome;
using test::Random;

// Clamp, then a 3x3 convolution of 4 channels into 6, then a maximum pool; scratch between them.
struct Small {
  Model model;
  ConvCall conv{};
  PoolCall pool{};
  Bytes x = Random(1).bytes(5 * 7 * 4);

  Small() {
    model.scratch_bytes = 512;
    const Operand in = model.input(140), out = model.output(2 * 3 * 6);
    const Operand first = operand(Region::kScratch), second = operand(Region::kScratch, 144);
    model.call(Kind::kGlobalBiasScale, RescaleCall{in, first, 140, 0, 0, 1 << 30, 1, 0, 127});
    conv.x = first, conv.y = second, conv.weights = model.constant(Bytes(8 * 9 * 8, 3));
    conv.params = model.params({1, 1 << 30, -4, 2, 1 << 30, -4, 3, 1 << 30, -4, 4, 1 << 30, -4, 5,
                                1 << 30, -4, 6, 1 << 30, -4});
    conv.n = 1, conv.h = 5, conv.w = 7, conv.c = conv.x_pitch = 4,
    conv.kernel_h = conv.kernel_w = 3;
    conv.stride_h = conv.stride_w = conv.dilation_h = conv.dilation_w = 1,
    conv.pad_top = conv.pad_left = 1;
    conv.out_h = 5, conv.out_w = 7, conv.out_c = conv.y_pitch = 6, conv.y_min = -128,
    conv.y_max = 127;
    model.call(Kind::kConv2DStandardV1, conv);
    pool.x = second, pool.y = out, pool.n = 1, pool.h = 5, pool.w = 7,
    pool.c = pool.x_pitch = pool.y_pitch = 6;
    pool.kernel_h = pool.kernel_w = pool.stride_h = pool.stride_w = 2,
    pool.dilation_h = pool.dilation_w = 1;
    pool.out_h = 2, pool.out_w = 3, pool.y_min = -128, pool.y_max = 127;
    model.call(Kind::kMaxPool, pool);
  }
};

void expect_refused(NeutronError e, int32_t category, Reason reason, int32_t call) {
  EXPECT_EQ(e & 7, kNeutronComponentDriver);
  EXPECT_EQ(category_of(e), category) << text_of(reason_of(e));
  EXPECT_EQ(reason_of(e), reason) << text_of(reason_of(e));
  EXPECT_EQ(call_of(e), call);
  EXPECT_GT(e, 0);
}

TEST(NeutronDriver, RunsTheSmallModel) {
  const Outcome outcome = Small().model.run({Small().x});
  EXPECT_EQ(outcome.prepared, kNeutronOk) << text_of(reason_of(outcome.prepared));
  EXPECT_EQ(outcome.ran, kNeutronOk);
}

TEST(NeutronDriver, RefusesABadHeader) {
  const std::vector<uint32_t> good = Small().model.encode();
  struct Case {
    int word;
    uint32_t value;
    int32_t category;
    Reason reason;
  };
  const auto size = static_cast<uint32_t>(4 * good.size());
  const Case cases[] = {
      {kMagicWord, 0x64434D6F, kNeutronBadMicrocode, Reason::kMagic},
      {kTagWord, 0, kNeutronBadMicrocode, Reason::kTag},
      {kTagWord, kFormatTag + (1u << 24), kNeutronBadMicrocode, Reason::kTag},
      {kPayloadVersionWord, 2, kNeutronBadMicrocode, Reason::kPayloadVersion},
      {kMicrocodeBytesWord, size - 4, kNeutronBadMicrocode, Reason::kCallWords},
      {kMicrocodeBytesWord, size - 2, kNeutronBadMicrocode, Reason::kMicrocodeBytes},
      {kMicrocodeBytesWord, 60, kNeutronBadMicrocode, Reason::kMicrocodeBytes},
      {kMicrocodeBytesWord, 64, kNeutronBadMicrocode, Reason::kIoTable},
      {kMicrocodeBytesWord, 0x80000000, kNeutronBadMicrocode, Reason::kMicrocodeBytes},
      {kKernelsBytesWord, 16, kNeutronUnsupported, Reason::kKernelsBytes},
      {kWeightsBytesWord, 0xFFFFFFFF, kNeutronBadMicrocode, Reason::kSectionBytes},
      {kWeightsBytesWord, 575, kNeutronBadMicrocode, Reason::kOperandRange},
      {kScratchBytesWord, 0x80000000, kNeutronBadMicrocode, Reason::kSectionBytes},
      {kSramBytesWordV0, 0x80000000, kNeutronBadMicrocode, Reason::kSectionBytes},
      {kInputsWordV0, 0xFFFFFFFF, kNeutronBadMicrocode, Reason::kIoTable},
      {kOutputsWordV0, 60000, kNeutronBadMicrocode, Reason::kIoTable},
      {kIoOffsetWord, 60, kNeutronBadMicrocode, Reason::kIoTable},
      {kIoOffsetWord, 66, kNeutronBadMicrocode, Reason::kIoTable},
      {kIoOffsetWord, 0xFFFFFFFC, kNeutronBadMicrocode, Reason::kIoTable},
      {kMachineOffsetWord, 70, kNeutronBadMicrocode, Reason::kMachine},
      {kMachineOffsetWord, size - 60, kNeutronBadMicrocode, Reason::kMachine},
      {kCallsOffsetWord, 0xFFFFFFFC, kNeutronBadMicrocode, Reason::kCallWords},
      {kCallsOffsetWord, 0, kNeutronBadMicrocode, Reason::kCallWords},
      {kCallsWord, 0xFFFFFFFF, kNeutronBadMicrocode, Reason::kCallWords},
      {kCallsWord, 2, kNeutronBadMicrocode, Reason::kCallWords},
  };
  for (const Case& k : cases) {
    SCOPED_TRACE(testing::Message() << "word " << k.word << " = " << k.value);
    std::vector<uint32_t> words = good;
    words[static_cast<size_t>(k.word)] = k.value;
    const NeutronError e = Small().model.prepare(words);
    expect_refused(e, k.category, k.reason, call_of(e));
  }
  std::vector<uint32_t> more = good;
  more[kCallsWord] = 4;
  expect_refused(Small().model.prepare(more), kNeutronBadMicrocode, Reason::kCallWords, 4);
}

TEST(NeutronDriver, RefusesAnotherMachine) {
  const auto refuse = [](int32_t category, auto change) {
    Small small;
    change(small.model.machine);
    expect_refused(small.model.prepare(small.model.encode()), category, Reason::kMachine, 0);
  };
  refuse(kNeutronUnknownArchitecture, [](Machine& m) { m.units = 16; });
  refuse(kNeutronUnknownArchitecture, [](Machine& m) { m.lanes = 4; });
  refuse(kNeutronBadMicrocode, [](Machine& m) { m.clock_hz = 0; });
  refuse(kNeutronBadMicrocode, [](Machine& m) { m.sram_bytes_q8 = 0; });
  refuse(kNeutronBadMicrocode, [](Machine& m) { m.fetch_bytes_q8 = -1; });
  refuse(kNeutronBadMicrocode, [](Machine& m) { m.accumulators = 0; });
  refuse(kNeutronBadMicrocode, [](Machine& m) { m.depthwise_lanes = 9; });
  refuse(kNeutronBadMicrocode, [](Machine& m) { m.vector_elements_q8 = 0; });
  refuse(kNeutronBadMicrocode, [](Machine& m) { m.setup_cycles = -1; });
}

TEST(NeutronDriver, RefusesABadIoTableAndBadBuffers) {
  Small small;
  small.model.output_bytes[0] = -4;
  expect_refused(small.model.prepare(small.model.encode()), kNeutronBadMicrocode, Reason::kIoTable,
                 0);
  small.model.output_bytes[0] = 35;
  expect_refused(small.model.prepare(small.model.encode()), kNeutronBadMicrocode,
                 Reason::kOperandRange, 3);
  small.model.output_bytes[0] = 36;
  small.model.profiles = small.model.debugs = true;
  std::vector<uint32_t> words = small.model.encode();
  EXPECT_EQ(small.model.prepare(words), kNeutronOk);
  words[kProfileBytesWordV1] |= 0x80000000;  // has a meaning of its own
  EXPECT_EQ(small.model.prepare(words), kNeutronOk);
  words[kProfileBytesWordV1] -= 16;
  expect_refused(small.model.prepare(words), kNeutronBadMicrocode, Reason::kProfileBytes, 0);
  words[kProfileBytesWordV1] = 0, words[kDebugBytesWordV1] += 4;
  expect_refused(small.model.prepare(words), kNeutronBadMicrocode, Reason::kDebugBytes, 0);
}

TEST(NeutronDriver, RefusesBadCallHeads) {
  Small small;
  const size_t at = small.model.encode()[kCallsOffsetWord] / 4;
  const auto refuse = [&](size_t word, uint32_t value, int32_t category, Reason reason) {
    std::vector<uint32_t> words = small.model.encode();
    words[at + word] = value;
    expect_refused(small.model.prepare(words), category, reason, 1);
  };
  refuse(0, 0, kNeutronUnsupported, Reason::kCallKind);
  refuse(0, static_cast<uint32_t>(kKinds), kNeutronUnsupported, Reason::kCallKind);
  refuse(0, 0x80000000, kNeutronUnsupported, Reason::kCallKind);
  refuse(1, 0, kNeutronBadMicrocode, Reason::kCallWords);
  refuse(1, 0xFFFFFFFF, kNeutronBadMicrocode, Reason::kCallWords);
  refuse(1, 100000, kNeutronBadMicrocode, Reason::kCallWords);
  refuse(0, static_cast<uint32_t>(Kind::kTable), kNeutronBadMicrocode, Reason::kCallWords);
}

// The second call of the small model, changed.
template <class Change>
void refuse_conv(Reason reason, Change change) {
  Small small;
  Model& model = small.model;
  ConvCall conv = small.conv;
  change(conv, model);
  model.call(Kind::kConv2DStandardV1, conv);
  expect_refused(model.prepare(model.encode()), kNeutronBadMicrocode, reason, 4);
}

TEST(NeutronDriver, RefusesAConvolutionThatLeavesItsMemoriesOrLimits) {
  refuse_conv(Reason::kOperandRegion, [](ConvCall& a, Model&) { a.x.place = 0; });
  refuse_conv(Reason::kOperandRegion, [](ConvCall& a, Model&) { a.x.place = 77; });
  refuse_conv(Reason::kOperandRegion,
              [](ConvCall& a, Model&) { a.x = operand(Region::kInput, 0, 1); });
  refuse_conv(Reason::kOperandRegion,
              [](ConvCall& a, Model&) { a.x = operand(Region::kInput, 0, -1); });
  refuse_conv(Reason::kOperandRegion, [](ConvCall& a, Model&) { a.y = operand(Region::kInput); });
  refuse_conv(Reason::kOperandRegion, [](ConvCall& a, Model&) { a.y = operand(Region::kWeights); });
  refuse_conv(Reason::kOperandRegion,
              [](ConvCall& a, Model&) { a.y = operand(Region::kScratch, 0, 1); });
  refuse_conv(Reason::kOperandRegion,
              [](ConvCall& a, Model&) { a.weights = operand(Region::kScratch); });
  refuse_conv(Reason::kOperandRegion, [](ConvCall&, Model& m) {
    m.sram_bytes = 16;
    m.calls.clear();
    m.number_of_calls = 0;
    for (int i = 0; i < 3; ++i)
      m.call(Kind::kGlobalBiasScale,
             RescaleCall{operand(Region::kInput), operand(Region::kScratch), 1, 0, 0, 0, 0, 0, 0});
  });
  refuse_conv(Reason::kOperandRange, [](ConvCall& a, Model&) { a.x.offset = -1; });
  refuse_conv(Reason::kOperandRange, [](ConvCall& a, Model&) { a.x.offset = 512 - 139; });
  refuse_conv(Reason::kOperandRange, [](ConvCall& a, Model&) { a.x.offset = INT32_MAX; });
  refuse_conv(Reason::kOperandRange, [](ConvCall& a, Model&) { a.y.offset = 512 - 209; });
  refuse_conv(Reason::kOperandRange, [](ConvCall& a, Model&) { a.weights.offset = 80; });
  refuse_conv(Reason::kOperandRange, [](ConvCall& a, Model&) { a.params.offset += 4; });
  refuse_conv(Reason::kOverlap, [](ConvCall& a, Model&) { a.y.offset = 139; });
  refuse_conv(Reason::kExtent, [](ConvCall& a, Model&) { a.n = 0; });
  refuse_conv(Reason::kExtent, [](ConvCall& a, Model&) { a.h = -5; });
  refuse_conv(Reason::kExtent, [](ConvCall& a, Model&) { a.w = (1 << 18) + 1; });
  refuse_conv(Reason::kExtent, [](ConvCall& a, Model&) { a.n = a.h = a.w = 1 << 18; });
  refuse_conv(Reason::kExtent, [](ConvCall& a, Model&) { a.c = 0; });
  refuse_conv(Reason::kExtent, [](ConvCall& a, Model&) { a.x_pitch = 3; });
  refuse_conv(Reason::kExtent, [](ConvCall& a, Model&) { a.x_pitch = INT32_MAX; });
  refuse_conv(Reason::kExtent, [](ConvCall& a, Model&) { a.out_c = INT32_MAX; });
  refuse_conv(Reason::kExtent, [](ConvCall& a, Model&) { a.y_pitch = 5; });
  refuse_conv(Reason::kWindow, [](ConvCall& a, Model&) { a.kernel_h = 0; });
  refuse_conv(Reason::kWindow, [](ConvCall& a, Model&) { a.kernel_w = 4097; });
  refuse_conv(Reason::kWindow, [](ConvCall& a, Model&) { a.stride_h = 0; });
  refuse_conv(Reason::kWindow, [](ConvCall& a, Model&) { a.stride_w = 4097; });
  refuse_conv(Reason::kWindow, [](ConvCall& a, Model&) { a.dilation_h = -1; });
  refuse_conv(Reason::kWindow, [](ConvCall& a, Model&) { a.pad_left = INT32_MIN; });
  refuse_conv(Reason::kQuantization, [](ConvCall& a, Model&) { a.x_zero = 128; });
  refuse_conv(Reason::kQuantization, [](ConvCall& a, Model&) { a.y_zero = -129; });
  refuse_conv(Reason::kQuantization, [](ConvCall& a, Model&) { a.y_min = 4, a.y_max = 3; });
  refuse_conv(Reason::kSum, [](ConvCall& a, Model&) { a.kernel_h = a.kernel_w = 4096; });
  refuse_conv(Reason::kSum, [](ConvCall& a, Model&) {
    a.kernel_h = 8192 / 4, a.kernel_w = 4;
  });  // 65536 products
}

template <class Call>
void refuse(Kind kind, Call a, Reason reason) {
  SCOPED_TRACE(name_of(kind));
  Model model;
  model.scratch_bytes = 4096;
  model.sram_bytes = 1024;
  model.input(4096);
  model.output(4096);
  model.call(kind, a);
  expect_refused(model.prepare(model.encode()), kNeutronBadMicrocode, reason, 1);
}

const Operand kIn = operand(Region::kInput), kOut = operand(Region::kOutput),
              kSram = operand(Region::kSramWeights);

TEST(NeutronDriver, RefusesBadCallsOfTheOtherKinds) {
  DepthwiseCall depthwise{kIn, kOut, kSram, operand(Region::kSramWeights, 512),
                          1,   4,    4,     8,
                          8,   1,    3,     3,
                          1,   1,    1,     1,
                          0,   0,    2,     2,
                          8,   0,    0,     -128,
                          127};
  depthwise.multiplier = 1 << 30;
  refuse(Kind::kConv2DDepthwiseV1, depthwise, Reason::kExtent);
  depthwise.multiplier = 1, depthwise.kernel_h = 4096, depthwise.kernel_w = 2;
  refuse(Kind::kConv2DDepthwiseDense, depthwise, Reason::kSum);
  refuse(Kind::kFullyConnected, FullyConnectedCall{kIn, kOut, kSram, kSram, 0, 8, 1, 0, 0, 0, 0},
         Reason::kExtent);
  refuse(Kind::kBatchMatMul,
         MatMulCall{kIn, kIn, kOut, 1, 1, 32769, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
         Reason::kSum);
  refuse(Kind::kBatchMatMul,
         MatMulCall{kIn, kIn, kOut, 2, 3, 4, 5, 12, 4, -1, 20, 5, 1, 0, 0, 0, 0, 0, 0, 0},
         Reason::kExtent);
  refuse(Kind::kBatchMatMul, MatMulCall{kIn, kIn, kOut, 2, 3, 4, 5, 12, INT32_MAX, INT32_MAX,
                                        20,  5,   1,    0, 0, 0, 0, 0,  0,         0},
         Reason::kExtent);
  refuse(Kind::kBatchMatMul,
         MatMulCall{kIn, kIn, kOut, 2, 3, 4, 5, 12, 4, 1, 20, 5, 1, 0, 0, 0, 0, 31, 0, 0},
         Reason::kQuantization);
  refuse(Kind::kBatchMatMul,
         MatMulCall{kIn, kIn, kOut, 2, 3, 4, 5, 4085, 4, 1, 20, 5, 1, 0, 0, 0, 0, 0, 0, 0},
         Reason::kOperandRange);
  PoolCall pool{kIn, kOut, 1, 4, 4, 8, 8, 2, 2, 2, 2, 1, 1, 0, 0, 3, 2, 8, -128, 127};
  refuse(Kind::kMaxPool, pool, Reason::kWindow);  // the third row of windows lies outside
  pool.out_h = 2;
  PoolCall wide = pool;
  wide.kernel_w = 4097, wide.dilation_w = 2;
  refuse(Kind::kMaxPool, wide, Reason::kWindow);
  pool.pad_top = 2;
  refuse(Kind::kAvgPool, pool, Reason::kWindow);
  pool.pad_top = 0, pool.dilation_w = 2;
  refuse(Kind::kAvgPool, pool, Reason::kWindow);
  ConvPoolCall pooled{{kIn, kOut, kSram, operand(Region::kSramWeights, 512),
                       1,   4,    4,     8,
                       8,   1,    1,     1,
                       1,   1,    1,     0,
                       0,   4,    4,     8,
                       8,   0,    0,     -128,
                       127},
                      2,
                      2,
                      0,
                      -128,
                      127};
  pooled.pool_h = 0;
  refuse(Kind::kConv2DPointwisePool, pooled, Reason::kWindow);
  pooled.pool_h = 5;
  refuse(Kind::kConv2DStandardV1Pool, pooled, Reason::kWindow);
  pooled.pool_h = 2, pooled.average = 2;
  refuse(Kind::kConv2DPointwisePool, pooled, Reason::kWindow);
  pooled.average = 1, pooled.pool_min = 5, pooled.pool_max = 4;
  refuse(Kind::kConv2DStandardV2Pool, pooled, Reason::kQuantization);
  pooled.pool_min = -128, pooled.conv.c = 65536, pooled.conv.x_pitch = 65536;
  refuse(Kind::kConv2DPointwisePool, pooled, Reason::kSum);
  refuse(Kind::kReduceSum, ReduceCall{kIn, kOut, {1, 1, 1, 1, 4, 4}, 64, 0, 0, 0, 0, 0, 0},
         Reason::kExtent);
  refuse(Kind::kReduceSum,
         ReduceCall{kIn, kOut, {1, 1, 1, 1, 1 << 12, 1 << 12}, 48, 0, 0, 0, 0, 0, 0}, Reason::kSum);
  refuse(Kind::kReduceSum,
         ReduceCall{kIn, kOut, {1, 1, 1, 1, 1 << 12, 1 << 11}, 48, 0, 0, 0, 0, 0, 0},
         Reason::kOperandRange);  // as many as may be summed
  refuse(Kind::kReduceMax, ReduceCall{kIn, kOut, {1, 1, 1, 1, 4, 1025}, 48, 0, 0, 0, 0, 0, 0},
         Reason::kOperandRange);
  refuse(Kind::kSoftmax, SoftmaxCall{kIn, kOut, 2, 8, 1 << 30, 32, -1}, Reason::kQuantization);
  refuse(Kind::kSoftmax, SoftmaxCall{kIn, kOut, 2, 8, 1 << 30, 24, -255}, Reason::kQuantization);
  refuse(Kind::kSoftmax, SoftmaxCall{kIn, kOut, 2, 8, 1 << 30, 22, 1}, Reason::kQuantization);
  PairCall pair{kIn,
                kIn,
                kOut,
                {1, 1, 1, 1, 4, 8},
                {0, 0, 0, 0, 8, 1},
                {0, 0, 0, 0, 8, 1},
                23,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0};
  refuse(Kind::kAdd, pair, Reason::kQuantization);
  pair.left_shift = 20, pair.other_stride[4] = 1365;
  refuse(Kind::kSub, pair, Reason::kOperandRange);
  pair.other_stride[4] = -8;
  refuse(Kind::kMul, pair, Reason::kExtent);
  pair.other_stride[4] = 8, pair.x = operand(Region::kScratch),
  pair.y = operand(Region::kScratch, 1);
  refuse(Kind::kMaximum, pair, Reason::kOverlap);
  pair.y = operand(Region::kScratch), pair.x_stride[4] = 9;
  refuse(Kind::kMinimum, pair, Reason::kOverlap);
  refuse(Kind::kPrelu,
         PreluCall{
             kIn, kIn, kOut, {1, 1, 1, 1, 4, 8}, {0, 0, 0, 0, 8, 1}, 0, 0, 0, 0, -32, 0, 0, 0, 0},
         Reason::kQuantization);
  refuse(Kind::kGlobalBiasScale, RescaleCall{kIn, kOut, -1, 0, 0, 0, 0, 0, 0}, Reason::kExtent);
  refuse(Kind::kTable, TableCall{kIn, kOut, operand(Region::kSramWeights, 769), 4},
         Reason::kOperandRange);
  refuse(Kind::kTable, TableCall{kIn, kOut, kIn, 4}, Reason::kOperandRegion);
  refuse(Kind::kPad,
         PadCall{kIn, kOut, {1, 1, 1, 1, 4, 8}, {0, 0, 0, 0, -1, 0}, {0, 0, 0, 0, 1, 0}, 0},
         Reason::kExtent);
  refuse(Kind::kPad,
         PadCall{kIn,
                 kOut,
                 {1, 1, 1, 1, 4, 8},
                 {0, 0, 0, INT32_MAX, INT32_MAX, INT32_MAX},
                 {0, 0, 0, 0, 1, 0},
                 0},
         Reason::kExtent);
  refuse(Kind::kPad, PadCall{kIn, kOut, {1, 1, 1, 1, 4, 8}, {0, 0, 0, 0, 600, 0}, {}, 0},
         Reason::kOperandRange);
  refuse(Kind::kSlice,
         CopyCall{kIn, kOut, {1, 1, 1, 1, 4, 8}, {0, 0, 0, 0, 8, 1}, {0, 0, 0, 0, 0, 1}},
         Reason::kExtent);
  refuse(Kind::kTransposeCHW,
         CopyCall{kIn, kOut, {1, 1, 1, 1, 65, 64}, {0, 0, 0, 0, 1, 65}, {0, 0, 0, 0, 64, 1}},
         Reason::kOperandRange);
  refuse(Kind::kResizeNearest, ResizeCall{kIn, kOut, 1, 2, 2, 4, 4, 4, 1, 1}, Reason::kWindow);
  refuse(Kind::kResizeBilinear, ResizeCall{kIn, kOut, 1, 2, 2, 4, 1 << 19, 1, 0, 0},
         Reason::kExtent);
  refuse(Kind::kMemCpy, MemCpyCall{operand(Region::kWeights), kSram, 1, 0},
         Reason::kOperandRange);  // there are no weights
  refuse(Kind::kMemCpy, MemCpyCall{kIn, kSram, 4, 0}, Reason::kOperandRegion);
  refuse(Kind::kMemCpy, MemCpyCall{operand(Region::kWeights), kOut, 0, 0}, Reason::kOperandRegion);
}

TEST(NeutronDriver, ProfileRecordsSumToTheTotal) {
  Small small;
  small.model.profiles = small.model.debugs = true;
  const Outcome outcome = small.model.run({small.x});
  ASSERT_EQ(outcome.ran, kNeutronOk);
  ASSERT_EQ(outcome.profile.size(), 64u);
  const Kind kinds[] = {Kind::kGlobalBiasScale, Kind::kConv2DStandardV1, Kind::kMaxPool,
                        Kind::kProfileDump};
  const int64_t conv = cost_of(small.model.machine, Kind::kConv2DStandardV1, small.conv).total();
  uint32_t now = 0;
  for (int i = 0; i < 4; ++i) {
    uint32_t start, stop;
    const auto* record = reinterpret_cast<const uint8_t*>(outcome.profile.data()) + 16 * i;
    std::memcpy(&start, record + 4, 4);
    std::memcpy(&stop, record + 12, 4);
    EXPECT_EQ(record[9], i < 3 ? 6 : 0);  // op code of the stop event
    EXPECT_EQ(record[2], static_cast<int>(kinds[i]));
    EXPECT_EQ(record[10], static_cast<int>(kinds[i]));
    EXPECT_EQ(start, now);
    if (i == 1) { EXPECT_EQ(stop - start, conv); }
    now = stop;
  }
  int64_t total = 0, cycles[3];
  std::memcpy(cycles, outcome.debug.data() + 64, sizeof cycles);
  for (const int64_t c : cycles) total += c;
  EXPECT_EQ(total, now);
  EXPECT_EQ(cycles[1], conv);
  EXPECT_EQ(cycles[2], cost_of(small.model.machine, Kind::kMaxPool, small.pool).total());
}

TEST(NeutronDriver, TimesOutByTheModelledClock) {
  Small small;
  small.model.machine.clock_hz = 1000;  // three kernels of 2000 cycles for the set-up alone
  small.model.timeout_seconds = 60;
  EXPECT_EQ(small.model.run({small.x}).ran, kNeutronOk);
  small.model.timeout_seconds = 3;
  const NeutronError e = small.model.run({small.x}).ran;
  EXPECT_EQ(category_of(e), kNeutronTimeout);
  EXPECT_EQ(call_of(e), 2);
  small.model.timeout_seconds = 0;  // no limit
  EXPECT_EQ(small.model.run({small.x}).ran, kNeutronOk);
}

class Prepared : public testing::Test {
 protected:
  Small small;
  std::vector<uint32_t> words = small.model.encode();
  Aligned microcode{words.data(), 4 * words.size()},
      weights{small.model.weights.data(), small.model.weights.size()}, scratch{512};
  Bytes y = Bytes(36);
  NeutronModelConfig config = {microcode.data(), weights.data(), nullptr, 60};
  const void* inputs[1] = {small.x.data()};
  void* outputs[4] = {y.data(), scratch.data(), nullptr, nullptr};
  NeutronDataConfig data = {inputs, outputs, nullptr, nullptr};
  std::vector<void*> context = std::vector<void*>(neutronGetModelContextSize() / sizeof(void*) + 1);
  NeutronModelHandle handle = context.data();
};

TEST_F(Prepared, HandlesAreChecked) {
  EXPECT_EQ(category_of(neutronRunBlocking(nullptr, &data)), kNeutronBadHandle);
  EXPECT_EQ(category_of(neutronRunBlocking(handle, &data)), kNeutronBadHandle);
  EXPECT_EQ(category_of(neutronModelUnprepare(handle)), kNeutronBadHandle);
  ASSERT_EQ(neutronModelPrepare(&config, &handle), kNeutronOk);
  EXPECT_EQ(handle, context.data());
  EXPECT_EQ(neutronRunBlocking(handle, &data), kNeutronOk);
  EXPECT_EQ(neutronModelUnprepare(handle), kNeutronOk);
  EXPECT_EQ(category_of(neutronModelUnprepare(handle)), kNeutronBadHandle);
  EXPECT_EQ(category_of(neutronRunBlocking(handle, &data)), kNeutronBadHandle);
}

TEST_F(Prepared, BringsMemoryOfItsOwnOnAComputer) {
  handle = nullptr;
  ASSERT_EQ(neutronModelPrepare(&config, &handle), kNeutronOk);
  ASSERT_NE(handle, nullptr);
  EXPECT_EQ(neutronRunBlocking(handle, &data), kNeutronOk);
  EXPECT_EQ(neutronModelUnprepare(handle), kNeutronOk);
}

TEST_F(Prepared, PointersAreChecked) {
  const auto refused = [](NeutronError e, Reason reason) {
    return category_of(e) == kNeutronInvalidArgument && reason_of(e) == reason;
  };
  EXPECT_TRUE(refused(neutronModelPrepare(nullptr, &handle), Reason::kNullPointer));
  EXPECT_TRUE(refused(neutronModelPrepare(&config, nullptr), Reason::kNullPointer));
  config.microcode = nullptr;
  EXPECT_TRUE(refused(neutronModelPrepare(&config, &handle), Reason::kNullPointer));
  config.microcode = microcode.data() + 8;
  EXPECT_TRUE(refused(neutronModelPrepare(&config, &handle), Reason::kMisaligned));
  config = {microcode.data(), weights.data() + 4, nullptr, 60};
  EXPECT_TRUE(refused(neutronModelPrepare(&config, &handle), Reason::kMisaligned));
  config.weights = nullptr;
  EXPECT_TRUE(refused(neutronModelPrepare(&config, &handle), Reason::kNullPointer));
  config.weights = weights.data();
  handle = reinterpret_cast<char*>(context.data()) + 1;
  EXPECT_TRUE(refused(neutronModelPrepare(&config, &handle), Reason::kMisaligned));
  handle = context.data();
  ASSERT_EQ(neutronModelPrepare(&config, &handle), kNeutronOk);
  EXPECT_TRUE(refused(neutronRunBlocking(handle, nullptr), Reason::kNullPointer));
  for (void** pointer : {&outputs[0], &outputs[1], const_cast<void**>(&inputs[0])}) {
    void* const before = *pointer;
    *pointer = nullptr;
    EXPECT_TRUE(refused(neutronRunBlocking(handle, &data), Reason::kNullPointer));
    *pointer = before;
  }
  EXPECT_EQ(neutronRunBlocking(handle, &data), kNeutronOk);
  EXPECT_EQ(neutronModelUnprepare(handle), kNeutronOk);
}

TEST_F(Prepared, RunsOnlyWhenTheClockIsOn) {
  ASSERT_EQ(neutronModelPrepare(&config, &handle), kNeutronOk);
  ASSERT_EQ(neutronSuspend(), kNeutronOk);
  EXPECT_EQ(category_of(neutronRunBlocking(handle, &data)), kNeutronGeneric);
  EXPECT_NE(neutronRunBlocking(handle, &data), kNeutronOk);
  ASSERT_EQ(neutronResume(), kNeutronOk);
  EXPECT_EQ(neutronRunBlocking(handle, &data), kNeutronOk);
  EXPECT_EQ(neutronModelUnprepare(handle), kNeutronOk);
}

// Any single word changed to any of some values: refused, or harmless.
TEST(NeutronDriver, NoChangedWordIsHarmful) {
  Small small;
  const std::vector<uint32_t> good = small.model.encode();
  int runs = 0;
  for (size_t word = 0; word < good.size(); ++word)
    for (const uint32_t value :
         {0u, 1u, 2u, 3u, 5u, 7u, 255u, 4096u, 65535u, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFFu}) {
      std::vector<uint32_t> words = good;
      words[word] = value;
      if (word == kMicrocodeBytesWord && value > 4 * good.size())
        continue;  // the caller proves that the payload holds it
      Aligned microcode(words.data(), 4 * words.size()),
          weights(small.model.weights.data(), small.model.weights.size()), scratch(512);
      std::vector<void*> context(neutronGetModelContextSize() / sizeof(void*) + 1);
      const NeutronModelConfig config = {microcode.data(), weights.data(), nullptr, 60};
      NeutronModelHandle handle = context.data();
      if (word == kWeightsBytesWord || word == kScratchBytesWord)
        continue;  // sizes of what the caller brings
      if (neutronModelPrepare(&config, &handle) != kNeutronOk) continue;
      const auto* io = words.data() + words[kIoOffsetWord] / 4;
      if (io[0] > 140 || io[1] > 36) continue;
      Bytes y(36), profile(1024), debug(1024), sram(5000);
      const void* inputs[] = {small.x.data()};
      void* outputs[] = {y.data(), scratch.data(), profile.data(), debug.data()};
      const NeutronDataConfig data = {inputs, outputs, nullptr, sram.data()};
      if (words[kInputsWordV0] != 1 || words[kOutputsWordV0] != 1 ||
          words[kPayloadVersionWord] != 0)
        continue;
      neutronRunBlocking(handle, &data);
      ++runs;
    }
  EXPECT_GT(runs, 200);
}

}  // namespace
}  // namespace deuteron::neutron
