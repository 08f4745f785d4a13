// SPDX-License-Identifier: Apache-2.0
// Blocks of an image that are added where they overlap.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/onnx/operators/compose.h"
#include "frontends/onnx/operators/import_table.h"
#include "frontends/onnx/operators/window.h"

namespace deuteron::onnx {

static std::vector<i64> extents_of(Call& c, size_t operand, std::string_view what, i64 most) {
  std::vector<i64> list = c.integers_of(operand, what);
  c.require(!c.ok() || list.size() == 2, "folds blocks of other tensors than images",
            std::to_string(list.size()), "2", "onnx.fold.rank");
  for (const i64 v : list)
    c.require(!c.ok() || (v >= 1 && v <= most), fmt::format("has a {} out of range", what),
              std::to_string(v), fmt::format("1..{}", most), "onnx.window.range");
  list.resize(2, 1);
  return list;
}

// torch pads both sides alike: else the padding becomes part of the image, and is cut off.
static void import_col2im(Call& c) {
  const Operand x = c.operand(0);
  const std::vector<i64> image = extents_of(c, 1, "shape of the image", pt2::kMaxElements);
  const std::vector<i64> kernel = extents_of(c, 2, "shape of the blocks", kMostStep);
  const std::vector<i64> stride = window_list(c, "strides", 2, 1, 1),
                         dilation = window_list(c, "dilations", 2, 1, 1);
  const std::vector<i64> pads = window_list(c, "pads", 4, 0, 0);
  c.require(!c.ok() || c.rank(x) == 3, "takes blocks [n, c * elements, blocks]",
            std::to_string(c.rank(x)), "3", "onnx.fold.rank");
  if (!c.ok()) return;
  const bool even = pads[0] == pads[2] && pads[1] == pads[3];
  std::vector<i64> size = image, padding(2, 0);
  for (size_t k = 0; k < 2; ++k)
    if (even) padding[k] = pads[k];
    else size[k] += pads[k] + pads[k + 2];
  Operand y = c.torch("aten.col2im.default",
                      {{"self", x},
                       {"output_size", size},
                       {"stride", stride},
                       {"kernel_size", kernel},
                       {"padding", padding},
                       {"dilation", dilation}},
                      even ? "" : "whole");
  for (i64 k = 0; k < 2 && !even; ++k) {
    const i64 first = pads[static_cast<size_t>(k)];
    y = sliced(c, y, k + 2, first, first + image[static_cast<size_t>(k)], 1, k == 1 ? "" : "rows");
  }
  c.result(y);
}

static constexpr ImportRow kFoldingRows[] = {
    {"Col2Im", import_col2im},
};
ImportRows folding_rows() { return kFoldingRows; }

}  // namespace deuteron::onnx
