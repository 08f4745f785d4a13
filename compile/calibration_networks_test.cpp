// SPDX-License-Identifier: Apache-2.0
// That the calls which calibrate-target times are of every kernel, or that somebody says why not.
#include "compile/calibration_networks.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "compile/cost/cpu_cost.h"
#include "compile/cost/loop_work.h"
#include "ops/families.h"
#include "runtime/kernel.h"
#include "targets/target.h"

namespace deuteron {
namespace {

constexpr int kEnough = 6;  // calls that a line is fitted to: compile/cost/fit_cost.cpp

struct NotMeasured {
  const char* why;
  std::vector<std::string> kernels;
};
// Their lines are scaled by what others took.
const std::vector<NotMeasured>& not_measured() {
  static const std::vector<NotMeasured> list = {
      {"only a TFLite file has them, and the set is text",
       {"deuteron::add_16x8",
        "deuteron::compared_16x8",
        "deuteron::conv2d_16x8",
        "deuteron::div_16x8",
        "deuteron::conv_transpose2d_16x8",
        "deuteron::linear_16x8",
        "deuteron::matmul_16x8",
        "deuteron::mul_16x8",
        "deuteron::prod_16x8",
        "deuteron::rescale_16x8",
        "deuteron::shifted_add_16x8",
        "deuteron::sigmoid_16x8",
        "deuteron::softmax_16x8",
        "deuteron::sqrt_16x8",
        "deuteron::sum_16x8",
        "deuteron::rescale_s32",
        "deuteron::avg_pool2d_halves_up",
        "deuteron::l2_normalize",
        "deuteron::linear_once",
        "deuteron::resize2d_bytes",
        "deuteron::sequence_lstm",
        "deuteron::softmax_s8_wide",
        "deuteron::svdf",
        "deuteron::svdf_bytes"}},
      {"only stock programs have images in that order",
       {"cortex_m::quantized_conv2d_nhwc", "cortex_m::quantized_depthwise_conv2d_nhwc",
        "cortex_m::quantized_transpose_conv2d_nhwc", "cortex_m::quantized_avg_pool2d_nhwc",
        "cortex_m::quantized_max_pool2d_nhwc"}},
      {"between inputs or outputs and a network, or layers of two widths: one pass over elements",
       {"deuteron::quantize_bytes", "deuteron::quantize_channels", "deuteron::dequantize_channels",
        "deuteron::requantize_s8", "deuteron::requantize_s16", "deuteron::copy"}},
      {"of layers of two widths, as those of one",
       {"deuteron::conv2d_s8_s16", "deuteron::depthwise_conv2d_s8_s16"}},
      {"of streams alone", {"deuteron::shift_in"}},
      {"as the same without shifts",
       {"deuteron::packed_conv2d_shifts", "deuteron::packed_conv2d_add_shifts"}},
  };
  return list;
}

std::string without_overload(std::string_view name) {
  return std::string(name.substr(0, name.rfind('.')));
}

struct Counted {
  std::map<std::string, int> kernels, loops;
};
Counted counted(const char* core) {
  Diagnostics d;
  Counted all;
  const Target target = find_target(core, d).value();
  for (const CalibrationNetwork& network : calibration_networks()) {
    if (!is_for(network, target)) continue;
    const std::optional<Compilation> c = compile_network(network, target, d);
    if (!c) {
      for (const Diagnostic& e : d.list()) ADD_FAILURE() << format_diagnostic(e);
      return all;
    }
    for (const Node& node : c->graph.nodes) {
      const auto* call = call_of(node.op);
      if (!call) continue;
      all.kernels[call->name]++;
      if (const auto loops = loop_work(c->graph, node, target.isa)) all.loops[loops->kernel]++;
    }
  }
  return all;
}

TEST(CalibrationNetworks, CallEveryKernel) {
  std::map<std::string, int> most;
  for (const char* core : {"cortex-m3", "cortex-m4", "cortex-m55"}) {
    const Counted all = counted(core);
    for (const auto& [kernel, calls] : all.kernels) most[kernel] = std::max(most[kernel], calls);
    for (const char* family :
         {"aten@pairs", "aten@binary", "aten::where@elements", "aten::_to_copy@elements",
          "aten::cumsum@lines", "aten::topk@heap", "aten::gather@indexes", "aten::scatter@indexes",
          "aten::max_pool2d_with_indices@positions"})
      EXPECT_TRUE(all.loops.contains(family)) << core << ": " << family;
    for (const auto& [line, calls] : all.loops)
      EXPECT_GE(calls, kEnough) << core << ": " << line << " is fitted to too few calls";
  }
  std::set<std::string> excused;
  for (const NotMeasured& group : not_measured())
    for (const std::string& kernel : group.kernels) {
      excused.insert(kernel);
      EXPECT_LT(most[kernel], kEnough) << kernel << " is measured after all";
    }
  for (int32_t k = 0; k < kAllKernels.count; k++) {
    const std::string name = without_overload(kAllKernels.kernels[k]->name);
    // portable kernels without a family have one line, which all calls scale
    const bool is_portable = name.starts_with("aten::") || name.starts_with("dim_order_ops::");
    if (is_portable || excused.contains(name)) continue;
    EXPECT_GE(most[name], kEnough) << name << " has no line of targets/calibration.txt";
  }
}

}  // namespace
}  // namespace deuteron
