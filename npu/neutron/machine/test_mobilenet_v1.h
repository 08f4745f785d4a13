// SPDX-License-Identifier: Apache-2.0
// MobileNetV1 1.0 at 224x224, int8, 1001 classes, as calls of the machine: the network of the one
// published measurement of this NPU (docs/neutron-machine.md). Constants are fetched to SRAM before
// each kernel, as in that measurement. Host only, for a test and a bench.
#pragma once
#include <cstring>
#include <string>
#include <vector>

#include "npu/neutron/kernels/convolution/cost.h"
#include "npu/neutron/kernels/depthwise/cost.h"
#include "npu/neutron/kernels/fetch/call.h"
#include "npu/neutron/kernels/fully_connected/call.h"
#include "npu/neutron/kernels/reduce/call.h"
#include "npu/neutron/kernels/softmax/call.h"
#include "npu/neutron/machine/cycles.h"

namespace deuteron::neutron {

struct NamedCall {
  std::string layer;
  Kind kind;
  std::vector<int32_t> words;  // the structure
};

struct MobileNetV1 {
  std::vector<NamedCall> calls;
  int64_t weight_bytes = 0, sram_bytes = 0;  // sram: of the largest pair of depthwise and pointwise
  static constexpr int32_t kMapBytes = 112 * 112 * 64;
  static constexpr int64_t kScratchBytes = 2 * int64_t{kMapBytes};
};

namespace mobilenet_v1 {

struct Builder {
  MobileNetV1 net;
  int32_t maps = 0;
  int64_t before = 0;

  template <class Call>
  void add(const std::string& layer, Kind kind, const Call& call) {
    std::vector<int32_t> words(sizeof call / 4);
    std::memcpy(words.data(), &call, sizeof call);
    net.calls.push_back({layer, kind, words});
  }
  // Maps lie in two halves of the scratch in turn.
  Operand here() const {
    return maps == 0 ? operand(Region::kInput)
                     : operand(Region::kScratch, maps % 2 * MobileNetV1::kMapBytes);
  }
  Operand next() { return operand(Region::kScratch, ++maps % 2 * MobileNetV1::kMapBytes); }

  struct Constants {
    Operand weights, params;
  };
  // Weights and parameters of a kernel, one behind the other, to one of two places in turn.
  Constants fetch(const std::string& layer, int64_t weight_bytes, int64_t channels) {
    const int64_t params_at = round_up_to(weight_bytes, 16), bytes = params_at + 12 * channels,
                  limit = 1048576 + 12288;
    const auto to = static_cast<int32_t>(maps % 2 == 0 ? 0 : limit);
    add(layer, Kind::kMemCpy,
        MemCpyCall{operand(Region::kWeights, static_cast<int32_t>(net.weight_bytes)),
                   operand(Region::kSramWeights, to), static_cast<int32_t>(bytes), 0});
    net.weight_bytes += round_up_to(bytes, 16);
    net.sram_bytes = before + bytes > net.sram_bytes ? before + bytes : net.sram_bytes;
    before = bytes;
    return {operand(Region::kSramWeights, to),
            operand(Region::kSramWeights, static_cast<int32_t>(to + params_at))};
  }

  void conv(const std::string& layer, Kind kind, int32_t h, int32_t c, int32_t out_c,
            int32_t kernel, int32_t stride) {
    ConvCall a{};
    a.n = 1, a.h = a.w = h, a.c = a.x_pitch = c, a.kernel_h = a.kernel_w = kernel,
    a.stride_h = a.stride_w = stride;
    a.dilation_h = a.dilation_w = 1, a.out_h = a.out_w = h / stride, a.out_c = a.y_pitch = out_c,
    a.y_min = -128, a.y_max = 127;
    const Constants constants = fetch(layer, conv_weight_bytes(kind, a), out_c);
    a.weights = constants.weights, a.params = constants.params, a.x = here(), a.y = next();
    add(layer, kind, a);
    before = 0;
  }
  void depthwise(const std::string& layer, const Machine& machine, int32_t h, int32_t c,
                 int32_t stride) {
    DepthwiseCall a{};
    a.n = 1, a.h = a.w = h, a.c = a.x_pitch = a.y_pitch = c, a.multiplier = 1,
    a.kernel_h = a.kernel_w = 3, a.stride_h = a.stride_w = stride;
    a.dilation_h = a.dilation_w = 1, a.out_h = a.out_w = h / stride, a.y_min = -128, a.y_max = 127;
    a.pad_top = a.pad_left = stride == 1 ? 1 : 0;  // TFLite's SAME
    const Constants constants = fetch(layer, depthwise_weight_bytes(a), c);
    a.weights = constants.weights, a.params = constants.params, a.x = here(), a.y = next();
    const Kind rows = Kind::kConv2DDepthwiseV1, line = Kind::kConv2DDepthwiseDense;
    add(layer, cost_of(machine, line, a).total() < cost_of(machine, rows, a).total() ? line : rows,
        a);
  }
};

}  // namespace mobilenet_v1

inline MobileNetV1 mobilenet_v1_calls(const Machine& machine) {
  mobilenet_v1::Builder b;
  b.conv("conv 1", Kind::kConv2DStandardV2, 224, 3, 32, 3, 2);
  constexpr int32_t kChannels[] = {64,  128, 128, 256, 256,  512, 512,
                                   512, 512, 512, 512, 1024, 1024};
  constexpr int32_t kStrides[] = {1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1};
  int32_t h = 112, c = 32;
  for (int i = 0; i < 13; ++i) {
    b.depthwise("depthwise " + std::to_string(i + 1), machine, h, c, kStrides[i]);
    h /= kStrides[i];
    b.conv("pointwise " + std::to_string(i + 1), Kind::kConv2DPointwise, h, c, kChannels[i], 1, 1);
    c = kChannels[i];
  }
  ReduceCall mean{b.here(), {}, {1, 1, 1, 7, 7, 1024}, 0b011000, 0, 0, 1402438301, -5,
                  -128,     127};  // 2^31 / 49 * 2^5, rounded
  mean.y = b.next();
  b.add("mean", Kind::kGlobalAvgPool, mean);
  FullyConnectedCall classes{};
  classes.rows = 1, classes.in = 1024, classes.out = 1001, classes.y_min = -128,
  classes.y_max = 127;
  const auto constants = b.fetch("classes", fully_connected_weight_bytes(classes), 1001);
  classes.weights = constants.weights, classes.params = constants.params, classes.x = b.here(),
  classes.y = b.next();
  b.add("classes", Kind::kFullyConnected, classes);
  b.add("softmax", Kind::kSoftmax,
        SoftmaxCall{b.here(), operand(Region::kOutput), 1, 1001, 1717986918, 22, -248});
  return b.net;
}

}  // namespace deuteron::neutron
