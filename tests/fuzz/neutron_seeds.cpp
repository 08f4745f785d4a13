// SPDX-License-Identifier: Apache-2.0
// Writes one small microcode for every kernel of the Neutron machine model into the folder on the
// command line: seeds for neutron_fuzz.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "npu/neutron/kernels/batch_matmul/call.h"
#include "npu/neutron/kernels/convolution_add/call.h"
#include "npu/neutron/kernels/convolution_pool/call.h"
#include "npu/neutron/kernels/copy/call.h"
#include "npu/neutron/kernels/depthwise/call.h"
#include "npu/neutron/kernels/fetch/call.h"
#include "npu/neutron/kernels/fully_connected/call.h"
#include "npu/neutron/kernels/pad/call.h"
#include "npu/neutron/kernels/pairwise/call.h"
#include "npu/neutron/kernels/pool/call.h"
#include "npu/neutron/kernels/prelu/call.h"
#include "npu/neutron/kernels/reduce/call.h"
#include "npu/neutron/kernels/rescale/call.h"
#include "npu/neutron/kernels/resize/call.h"
#include "npu/neutron/kernels/softmax/call.h"
#include "npu/neutron/kernels/table/call.h"
#include "npu/neutron/machine/test_machine.h"

namespace {

using namespace deuteron::neutron;

// `profiles`: payload version 1, which leaves records of every call.
std::vector<uint32_t> microcode_of(Kind kind, const std::vector<int32_t>& call, bool profiles) {
  constexpr uint32_t kIo = 4 * kHeaderWords, kMachineAt = kIo + 8,
                     kCalls = kMachineAt + sizeof(Machine);
  std::vector<uint32_t> words(kCalls / 4 + 2 + call.size());
  words[kMagicWord] = kMagic, words[kTagWord] = kFormatTag, words[kCallsWord] = 1;
  words[kMachineOffsetWord] = kMachineAt, words[kCallsOffsetWord] = kCalls,
  words[kIoOffsetWord] = kIo;
  words[kMicrocodeBytesWord] = static_cast<uint32_t>(4 * words.size());
  const bool fetches = kind == Kind::kMemCpy;
  words[kWeightsBytesWord] = 2048, words[kScratchBytesWord] = 256,
  words[kPayloadVersionWord] = profiles;
  if (profiles) {
    words[kProfileBytesWordV1] = 2 * kProfileRecordBytes,
    words[kDebugBytesWordV1] = static_cast<uint32_t>(debug_bytes_of(1));
    words[kSramBytesWordV1] = fetches ? 512 : 0;
    words[kInputsWordV1] = words[kOutputsWordV1] = 1;
  } else {
    words[kSramBytesWordV0] = fetches ? 512 : 0;
    words[kInputsWordV0] = words[kOutputsWordV0] = 1;
  }
  words[kIo / 4] = words[kIo / 4 + 1] = 1024;
  const Machine machine = n3_64();
  std::memcpy(words.data() + kMachineAt / 4, &machine, sizeof machine);
  words[kCalls / 4] = static_cast<uint32_t>(kind);
  words[kCalls / 4 + 1] = static_cast<uint32_t>(call.size() + 2);
  std::memcpy(words.data() + kCalls / 4 + 2, call.data(), 4 * call.size());
  return words;
}

template <class Call>
void write(const char* folder, Kind kind, const Call& call) {
  std::vector<int32_t> words(sizeof call / 4);
  std::memcpy(words.data(), &call, sizeof call);
  for (const bool profiles : {false, true}) {
    const std::vector<uint32_t> microcode = microcode_of(kind, words, profiles);
    const std::string path =
        std::string(folder) + "/" + name_of(kind) + (profiles ? ".profiled" : "");
    if (FILE* file = std::fopen(path.c_str(), "wb")) {
      std::fwrite(microcode.data(), 4, microcode.size(), file);
      std::fclose(file);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const Operand in = operand(Region::kInput), out = operand(Region::kOutput),
                weights = operand(Region::kWeights), params = operand(Region::kWeights, 1024),
                sram = operand(Region::kSramWeights);
  const ConvCall standard{in, out, weights, params, 2, 5, 4, 3, 4, 3,  2,    1,  2,
                          1,  1,   1,       0,      5, 3, 5, 6, 3, -2, -128, 127};
  const ConvCall pointwise{in, out, weights, params, 2, 5, 4,  9,  9, 1,  1,    2,  1,
                           1,  1,   0,       0,      3, 4, 11, 11, 3, -2, -128, 127};
  for (const Kind kind :
       {Kind::kConv2DStandardV1, Kind::kConv2DStandardV2, Kind::kConv2DTransposed})
    write(argv[1], kind, standard);
  write(argv[1], Kind::kConv2DPointwise, pointwise);
  write(argv[1], Kind::kConv2DStandardV1Pool, ConvPoolCall{standard, 2, 3, 0, -120, 127});
  write(argv[1], Kind::kConv2DStandardV2Pool, ConvPoolCall{standard, 5, 1, 1, -128, 100});
  write(argv[1], Kind::kConv2DPointwisePool, ConvPoolCall{pointwise, 1, 2, 1, -128, 127});
  write(argv[1], Kind::kConv2DAdd,
        ConvAddCall{standard, in, static_cast<int32_t>(Kind::kConv2DStandardV1), 7, 20, 1, 1 << 30,
                    -1, 2, 1 << 30, 0, 3, 1 << 30, -18, -128, 127});
  for (const Kind kind :
       {Kind::kConv2DDepthwiseV1, Kind::kConv2DDepthwiseV2, Kind::kConv2DDepthwiseDense})
    write(argv[1], kind, DepthwiseCall{in, out, weights, params, 2, 5, 4, 5,  6, 2,  3,    3,  1,
                                       2,  1,   1,       1,      1, 5, 2, 10, 3, -2, -128, 127});
  write(argv[1], Kind::kFullyConnected,
        FullyConnectedCall{in, out, weights, params, 3, 17, 9, 3, -2, -128, 127});
  write(argv[1], Kind::kBatchMatMul,
        MatMulCall{in, in, out, 2, 3, 5, 7, 15, 5, 1, 35, 1, 5, 3, 4, -2, 1 << 30, -9, -128, 127});
  for (const Kind kind : {Kind::kMaxPool, Kind::kAvgPool})
    write(argv[1], kind,
          PoolCall{in, out, 2, 5, 4, 7, 8, 3, 2, 2, 1, 1, 1, 1, 0, 3, 3, 9, -128, 127});
  for (const Kind kind : {Kind::kGlobalAvgPool, Kind::kReduceMean, Kind::kReduceSum,
                          Kind::kReduceMax, Kind::kReduceMin})
    write(argv[1], kind,
          ReduceCall{in, out, {1, 2, 3, 4, 5, 3}, 0b010100, 3, -2, 1 << 30, -3, -128, 127});
  write(argv[1], Kind::kSoftmax, SoftmaxCall{in, out, 5, 10, 1717986918, 22, -248});
  for (const Kind kind : {Kind::kAdd, Kind::kSub, Kind::kMul, Kind::kMaximum, Kind::kMinimum})
    write(argv[1], kind,
          PairCall{in,
                   in,
                   out,
                   {1, 2, 3, 1, 4, 5},
                   {0, 60, 20, 0, 5, 1},
                   {0, 0, 5, 0, 0, 1},
                   20,
                   1,
                   1 << 30,
                   -1,
                   2,
                   1 << 30,
                   -1,
                   3,
                   1 << 30,
                   -18,
                   -128,
                   127});
  write(argv[1], Kind::kPrelu,
        PreluCall{in,
                  weights,
                  out,
                  {1, 1, 2, 3, 4, 5},
                  {0, 0, 0, 0, 0, 1},
                  1,
                  2,
                  3,
                  1 << 30,
                  0,
                  1 << 30,
                  -6,
                  -128,
                  127});
  write(argv[1], Kind::kGlobalBiasScale, RescaleCall{in, out, 100, 1, 2, 1 << 30, 1, 0, 127});
  write(argv[1], Kind::kTable, TableCall{in, out, weights, 100});
  write(argv[1], Kind::kPad,
        PadCall{in, out, {1, 1, 2, 3, 4, 5}, {0, 0, 1, 0, 1, 2}, {0, 0, 0, 1, 0, 1}, 7});
  for (const Kind kind : {Kind::kSlice, Kind::kStridedSliceConcat, Kind::kTransposeCHW})
    write(argv[1], kind,
          CopyCall{in, out, {1, 1, 2, 3, 4, 5}, {0, 0, 60, 1, 15, 3}, {0, 0, 60, 20, 5, 1}});
  for (const Kind kind : {Kind::kResizeNearest, Kind::kResizeBilinear})
    write(argv[1], kind, ResizeCall{in, out, 2, 3, 4, 5, 6, 7, 0, 1});
  write(argv[1], Kind::kMemCpy, MemCpyCall{weights, sram, 500, 1});
  return 0;
}
