// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/operators/window.h"

#include <fmt/format.h>

#include <algorithm>

namespace deuteron::onnx {

bool Window::has_padding() const {
  const auto some = [](i64 v) { return v != 0; };
  return std::any_of(before.begin(), before.end(), some) ||
         std::any_of(after.begin(), after.end(), some);
}

std::vector<i64> window_list(Call& c, std::string_view name, size_t count, i64 otherwise,
                             i64 lowest) {
  std::vector<i64> list = c.integers(name);
  if (list.empty()) list.assign(count, otherwise);
  c.require(!c.ok() || list.size() == count,
            fmt::format("attribute `{}` does not have an entry for each axis of the window", name),
            std::to_string(list.size()), std::to_string(count), "onnx.window.count");
  for (const i64 v : list)
    c.require(!c.ok() || (v >= lowest && v <= kMostStep),
              fmt::format("attribute `{}` is out of range", name), std::to_string(v),
              fmt::format("{}..{}", lowest, kMostStep), "onnx.window.range");
  list.resize(count, otherwise);
  return list;
}

i64 extent_after(i64 extent, const Window& w, size_t k, bool ceil_mode) {
  const i64 span = (w.kernel[k] - 1) * w.dilation[k] + 1,
            room = extent + w.before[k] + w.after[k] - span;
  if (room < 0) return 0;
  i64 out = room / w.stride[k] + 1;
  // One more window where the last one is cut, if it begins before the padding behind.
  if (ceil_mode && room % w.stride[k] != 0 && out * w.stride[k] < extent + w.before[k]) ++out;
  return out;
}

Window read_window(Call& c, const Shape& x, std::vector<i64> kernel, bool ceil_mode) {
  Window w;
  if (kernel.empty()) c.need_attribute("kernel_shape"), kernel = c.integers("kernel_shape");
  const size_t axes = kernel.size();
  c.require(!c.ok() || (axes >= 1 && x.size() == axes + 2),
            "has a window of another number of axes than its operand", std::to_string(axes),
            std::to_string(std::max<i64>(static_cast<i64>(x.size()) - 2, 0)), "onnx.window.rank");
  c.require(!c.ok() || axes <= 3, "works on windows of four axes or more", std::to_string(axes),
            "1, 2, 3", "onnx.window.rank");
  w.kernel = kernel;
  for (const i64 v : kernel)
    c.require(!c.ok() || (v >= 1 && v <= kMostStep), "has a kernel out of range", std::to_string(v),
              fmt::format("1..{}", kMostStep), "onnx.window.range");
  if (const std::vector<i64> said = c.integers("kernel_shape"); !said.empty())
    c.require(!c.ok() || said == kernel, "attribute `kernel_shape` differs from the weight",
              to_text(said), to_text(kernel), "onnx.window.kernel");
  w.stride = window_list(c, "strides", axes, 1, 1);
  w.dilation = window_list(c, "dilations", axes, 1, 1);
  const std::vector<i64> pads = window_list(c, "pads", 2 * axes, 0, 0);
  w.before.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(axes));
  w.after.assign(pads.begin() + static_cast<std::ptrdiff_t>(axes), pads.end());
  const std::string mode = c.text("auto_pad", "NOTSET");
  c.require(!c.ok() || mode == "NOTSET" || mode == "VALID" || mode == "SAME_UPPER" ||
                mode == "SAME_LOWER",
            "attribute `auto_pad` has an unknown value", mode,
            "NOTSET, VALID, SAME_UPPER, SAME_LOWER", "onnx.window.auto_pad");
  if (!c.ok()) return w;
  if (mode != "NOTSET") w.before.assign(axes, 0), w.after.assign(axes, 0);
  // SAME: as many windows as strides fit; the odd element goes behind (UPPER) or in front (LOWER).
  for (size_t k = 0; k < axes && mode.starts_with("SAME"); ++k) {
    const i64 out = (x[k + 2] + w.stride[k] - 1) / w.stride[k];
    const i64 total = std::max<i64>(
        0, (out - 1) * w.stride[k] + (w.kernel[k] - 1) * w.dilation[k] + 1 - x[k + 2]);
    w.before[k] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
    w.after[k] = total - w.before[k];
  }
  for (size_t k = 0; k < axes; ++k)
    c.require(extent_after(x[k + 2], w, k, ceil_mode) >= 1,
              "has a window that is larger than its operand", to_text(w.kernel), to_text(x),
              "onnx.window.extent");
  return w;
}

Operand padded(Call& c, const Operand& x, const std::vector<i64>& before,
               const std::vector<i64>& after, double value, std::string_view suffix) {
  return c.torch("aten.constant_pad_nd.default",
                 {{"self", x}, {"pad", torch_padding(before, after)}, {"value", value}}, suffix);
}

std::vector<i64> torch_padding(const std::vector<i64>& before, const std::vector<i64>& after) {
  std::vector<i64> pairs;
  for (size_t k = before.size(); k-- > 0;) pairs.push_back(before[k]), pairs.push_back(after[k]);
  return pairs;
}

}  // namespace deuteron::onnx
