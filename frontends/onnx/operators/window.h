// SPDX-License-Identifier: Apache-2.0
// The windows of convolutions and pools: kernel, strides, dilations and padding, with `auto_pad`
// worked out.
#pragma once
#include "frontends/onnx/call/call.h"

namespace deuteron::onnx {

// One entry for each axis of the window, in the model's order.
struct Window {
  std::vector<i64> kernel, stride, dilation, before, after;
  bool is_even() const { return before == after; }  // as much padding on one side as on the other
  bool has_padding() const;
};

// of kernels, strides, dilations and padding: products of two stay within 64 bits
inline constexpr i64 kMostStep = 1 << 24;

// An attribute with an entry for each axis of the window (for paddings two), each at least
// `lowest`; left out: all are `otherwise`.
std::vector<i64> window_list(Call& c, std::string_view name, size_t count, i64 otherwise,
                             i64 lowest);

// `x` is the operand's shape, [n,c,..]; `kernel` that of a weight, or empty: the attribute says.
Window read_window(Call& c, const Shape& x, std::vector<i64> kernel, bool ceil_mode = false);

i64 extent_after(i64 extent, const Window& w, size_t k,
                 bool ceil_mode);  // what the window makes of axis k

// With elements of one value around; one entry for each of the last axes.
Operand padded(Call& c, const Operand& x, const std::vector<i64>& before,
               const std::vector<i64>& after, double value, std::string_view suffix);

// Padding in the order of torch's `pad`: pairs from the last axis on.
std::vector<i64> torch_padding(const std::vector<i64>& before, const std::vector<i64>& after);

}  // namespace deuteron::onnx
