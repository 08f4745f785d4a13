// SPDX-License-Identifier: Apache-2.0
// Convolutions over one to three axes, plain and transposed.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/onnx/operators/compose.h"
#include "frontends/onnx/operators/import_table.h"
#include "frontends/onnx/operators/layers.h"
#include "frontends/onnx/operators/window.h"

namespace deuteron::onnx {
namespace {

std::vector<i64> kernel_of(Call& c, const Operand& weight) {
  const Shape shape = c.shape(weight);
  c.require(!c.ok() || shape.size() >= 3, "has a weight of too few axes",
            std::to_string(shape.size()), "3", "onnx.window.rank");
  return c.ok() ? std::vector<i64>(shape.begin() + 2, shape.end()) : std::vector<i64>{1, 1};
}

Operand optional_bias(Call& c, size_t k) { return c.has(k) ? c.operand(k) : Operand{}; }

Args convolution_args(const Operand& x, const Operand& weight, const Operand& bias,
                      const std::vector<i64>& stride, const std::vector<i64>& dilation,
                      i64 groups) {
  Args args{{"input", x},
            {"weight", weight},
            {"stride", stride},
            {"dilation", dilation},
            {"groups", groups}};
  args.emplace_back("bias", bias ? Arg(bias) : Arg::none());
  return args;
}

Operand with_padding(Call& c, Args args, const std::vector<i64>& padding, std::string_view suffix) {
  args.emplace_back("padding", padding);
  args.emplace_back("output_padding", std::vector<i64>(padding.size(), 0));
  args.emplace_back("transposed", false);
  return c.torch("aten.convolution.default", std::move(args), suffix);
}

// Where the padding is uneven it is an operator of its own, which becomes part of the convolution
// later.
Operand padded_evenly(Call& c, const Operand& x, Window& w) {
  if (!c.ok() || w.is_even()) return x;
  const Operand y = padded(c, x, w.before, w.after, 0, "padded");
  w.before.assign(w.before.size(), 0);
  w.after = w.before;
  return y;
}

// How far the result of a transposed convolution is cut, in front and behind, and what is added
// behind.
struct Cut {
  std::vector<i64> before, after, more;
};
Cut read_cut(Call& c, const Window& w, const Shape& x) {
  const size_t axes = w.kernel.size();
  Cut cut{w.before, w.after, c.integers("output_padding")};
  if (cut.more.empty()) cut.more.assign(axes, 0);
  const std::vector<i64> wanted = c.integers("output_shape");
  const std::string mode = c.text("auto_pad", "NOTSET");
  const bool same = mode.starts_with("SAME");
  c.require(!c.ok() || (cut.more.size() == axes && (wanted.empty() || wanted.size() == axes)),
            "does not have an entry of output_padding or output_shape for each axis",
            std::to_string(cut.more.size()), std::to_string(axes), "onnx.window.count");
  if (!c.ok() || (wanted.empty() && !same)) return cut;
  for (size_t k = 0; k < axes; ++k) {
    const i64 out = wanted.empty() ? x[k + 2] * w.stride[k] : wanted[k];
    const i64 whole =
        w.stride[k] * (x[k + 2] - 1) + cut.more[k] + (w.kernel[k] - 1) * w.dilation[k] + 1;
    c.require(out >= 1 && out <= pt2::kMaxElements, "has an output_shape out of range",
              std::to_string(out), "1..", "onnx.window.range");
    const i64 total = whole - out;
    cut.before[k] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
    if (total < 0) cut.before[k] = 0;
    cut.after[k] = total - cut.before[k];
  }
  return cut;
}

}  // namespace

Operand convolved(Call& c, const Operand& x, const Operand& weight, const Operand& bias,
                  std::string_view suffix) {
  Window w = read_window(c, c.shape(x), kernel_of(c, weight));
  const Operand in = padded_evenly(c, x, w);
  return with_padding(
      c, convolution_args(in, weight, bias, w.stride, w.dilation, c.integer("group", 1)), w.before,
      suffix);
}

Operand convolved_inside(Call& c, const Operand& x, const Operand& weight, const Operand& bias,
                         const std::vector<i64>& stride, const std::vector<i64>& dilation,
                         i64 groups, std::string_view suffix) {
  return with_padding(c, convolution_args(x, weight, bias, stride, dilation, groups),
                      std::vector<i64>(stride.size(), 0), suffix);
}

static void import_conv(Call& c) {
  c.result(convolved(c, c.operand(0), c.operand(1), optional_bias(c, 2), ""));
}

// Cut alike on both sides it is torch's; else it is cut in front by padding and sliced behind, or
// padded.
static void import_conv_transpose(Call& c) {
  const Operand x = c.operand(0), weight = c.operand(1), bias = optional_bias(c, 2);
  // A transposed window may reach beyond its operand.
  Window w;
  const std::vector<i64> kernel = kernel_of(c, weight);
  const Shape in = c.shape(x);
  Shape room = in;
  for (size_t k = 2; k < room.size() && k < kernel.size() + 2; ++k) room[k] = i64{1} << 50;
  w = read_window(c, room, kernel);
  const Cut cut = read_cut(c, w, in);
  if (!c.ok()) return;
  const size_t axes = kernel.size();
  std::vector<i64> pad(axes), more(axes), behind(axes, 0);
  for (size_t k = 0; k < axes; ++k) {
    // torch cuts `pad` on both sides and adds `more`, less than a stride, behind.
    pad[k] = std::max<i64>(std::min(cut.before[k], cut.after[k]), 0);
    const i64 missing = pad[k] - cut.after[k] + cut.more[k];
    more[k] = std::clamp<i64>(missing, 0, std::max(w.stride[k], w.dilation[k]) - 1);
    behind[k] = missing - more[k];
  }
  Args args = convolution_args(x, weight, bias, w.stride, w.dilation, c.integer("group", 1));
  args.emplace_back("padding", pad);
  args.emplace_back("output_padding", more);
  args.emplace_back("transposed", true);
  std::vector<i64> front(axes);
  for (size_t k = 0; k < axes; ++k) front[k] = pad[k] - std::max<i64>(cut.before[k], 0);
  const bool whole = std::all_of(front.begin(), front.end(), [](i64 v) { return v == 0; }) &&
                     std::all_of(behind.begin(), behind.end(), [](i64 v) { return v == 0; });
  const Operand y = c.torch("aten.convolution.default", std::move(args), whole ? "" : "whole");
  // Without a bias what lies beyond the last window is zero; with one it is the bias, which a pad
  // does not know.
  const bool grows = std::any_of(behind.begin(), behind.end(), [](i64 v) { return v > 0; });
  c.require(!grows || !bias, "is padded behind by more than a stride, with a bias", to_text(behind),
            "0", "onnx.window.output_padding");
  c.result(whole ? y : padded(c, y, front, behind, 0, ""));
}

static constexpr ImportRow kConvolutionRows[] = {
    {"Conv", import_conv},
    {"ConvTranspose", import_conv_transpose},
};
ImportRows convolution_rows() { return kConvolutionRows; }

}  // namespace deuteron::onnx
