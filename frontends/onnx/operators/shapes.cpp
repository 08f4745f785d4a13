// SPDX-License-Identifier: Apache-2.0
// Operators that only say how elements are arranged: views, permutes, repetition.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/tensor/limits.h"
#include "frontends/onnx/operators/compose.h"
#include "frontends/onnx/operators/import_table.h"

namespace deuteron::onnx {

// 0 keeps an extent of the operand, -1 is what is left.
static void import_reshape(Call& c) {
  const Operand x = c.operand(0);
  Shape shape = c.has(1) ? c.integers_of(1, "shape") : c.integers("shape");
  if (!c.ok()) return;
  const Shape in = c.shape(x);
  for (size_t k = 0; k < shape.size(); ++k) {
    if (shape[k] != 0 || c.integer("allowzero", 0)) continue;
    c.require(k < in.size(), "keeps an extent that its operand does not have", std::to_string(k),
              std::to_string(in.size()), "onnx.reshape.shape");
    if (c.ok()) shape[k] = in[k];
  }
  c.result(view(c, x, shape, ""));
}

static void import_flatten(Call& c) {
  const Operand x = c.operand(0);
  const i64 rank = c.rank(x), given = c.integer("axis", 1), axis = given < 0 ? given + rank : given;
  c.require(!c.ok() || (axis >= 0 && axis <= rank), "axis is out of range", std::to_string(given),
            fmt::format("{}..{}", -rank, rank), "onnx.operand.axis");
  if (!c.ok()) return;
  const Shape shape = c.shape(x);
  const i64 rows =
      std::accumulate(shape.begin(), shape.begin() + axis, i64{1}, std::multiplies<>());
  c.result(view(c, x, {rows, -1}, ""));
}

static void import_squeeze(Call& c) {
  const Operand x = c.operand(0);
  const i64 rank = c.rank(x);
  const std::vector<i64> axes =
      c.axes(c.has(1) ? c.integers_of(1, "axes") : c.integers("axes"), rank);
  if (!c.ok()) return;
  if (axes.empty()) return c.result(c.torch("aten.squeeze.default", {{"self", x}}));
  const Shape shape = c.shape(x);
  for (const i64 axis : axes)
    c.require(shape[axis] == 1, "takes away an axis with more than one element",
              std::to_string(shape[axis]), "1", "onnx.squeeze.extent");
  c.result(c.torch("aten.squeeze.dims", {{"self", x}, {"dim", axes}}));
}

static void import_unsqueeze(Call& c) {
  const Operand x = c.operand(0);
  std::vector<i64> axes = c.has(1) ? c.integers_of(1, "axes") : c.integers("axes");
  const i64 rank = c.rank(x) + static_cast<i64>(axes.size());
  c.require(rank <= kMostAxes, "the result has too many axes", std::to_string(rank),
            std::to_string(kMostAxes), "onnx.result.rank");
  axes = c.axes(std::move(axes), rank);
  if (!c.ok()) return;
  std::sort(axes.begin(), axes.end());
  Shape shape = c.shape(x);
  for (const i64 axis : axes) shape.insert(shape.begin() + axis, 1);
  c.result(view(c, x, shape, ""));
}

static void import_transpose(Call& c) {
  const Operand x = c.operand(0);
  std::vector<i64> order = c.integers("perm");
  const i64 rank = c.rank(x);
  if (order.empty())
    for (i64 k = rank; k-- > 0;) order.push_back(k);
  c.result(permuted(c, x, order, ""));
}

// To the extents that the shape of the operand and the given one have in common.
static void import_expand(Call& c) {
  const Operand x = c.operand(0);
  const Shape shape = broadcast(c, c.shape(x), c.integers_of(1, "shape"));
  c.result(c.torch("aten.expand.default", {{"self", x}, {"size", shape}}));
}

static void import_tile(Call& c) {
  const Operand x = c.operand(0);
  const std::vector<i64> counts = c.integers_of(1, "counts");
  c.require(!c.ok() || static_cast<i64>(counts.size()) == c.rank(x),
            "does not have a count for each axis", std::to_string(counts.size()),
            std::to_string(c.rank(x)), "onnx.tile.count");
  c.result(c.torch("aten.repeat.default", {{"self", x}, {"repeats", counts}}));
}

// [n, c*b*b, h, w] becomes [n, c, h*b, w*b]: blocks come first among the channels (DCR), or last
// (CRD).
static void import_depth_to_space(Call& c) {
  const Operand x = c.operand(0);
  const i64 b = c.integer("blocksize", 0);
  const std::string mode = c.text("mode", "DCR");
  c.require(!c.ok() || mode == "DCR" || mode == "CRD", "has an unknown mode", mode, "DCR, CRD",
            "onnx.depth_to_space.mode");
  const Shape s = c.shape(x);
  c.require(!c.ok() || (s.size() == 4 && b >= 1 && b <= 1024 && s[1] % (b * b) == 0),
            "the channels do not divide by the blocks", to_text(s), std::to_string(b),
            "onnx.depth_to_space.channels");
  if (!c.ok()) return;
  if (mode == "CRD")
    return c.result(c.torch("aten.pixel_shuffle.default", {{"self", x}, {"upscale_factor", b}}));
  const i64 channels = s[1] / (b * b);
  const Operand parts = view(c, x, {s[0], b, b, channels, s[2], s[3]}, "parts");
  c.result(view(c, permuted(c, parts, {0, 3, 4, 1, 5, 2}, "moved"),
                {s[0], channels, s[2] * b, s[3] * b}, ""));
}

static void import_space_to_depth(Call& c) {
  const Operand x = c.operand(0);
  const i64 b = c.integer("blocksize", 0);
  const std::string mode = c.text("mode", "DCR");
  c.require(!c.ok() || mode == "DCR", "has a mode that is not supported", mode, "DCR",
            "onnx.space_to_depth.mode");
  const Shape s = c.shape(x);
  c.require(!c.ok() || (s.size() == 4 && b >= 1 && b <= 1024 && s[2] % b == 0 && s[3] % b == 0),
            "height and width do not divide by the blocks", to_text(s), std::to_string(b),
            "onnx.space_to_depth.extent");
  if (!c.ok()) return;
  const Operand parts = view(c, x, {s[0], s[1], s[2] / b, b, s[3] / b, b}, "parts");
  c.result(view(c, permuted(c, parts, {0, 3, 5, 1, 2, 4}, "moved"),
                {s[0], s[1] * b * b, s[2] / b, s[3] / b}, ""));
}

static constexpr ImportRow kShapesRows[] = {
    {"DepthToSpace", import_depth_to_space, {}, true},
    {"Expand", import_expand, {}, true},
    {"Flatten", import_flatten, {}, true},
    {"Reshape", import_reshape, {}, true},
    {"SpaceToDepth", import_space_to_depth, {}, true},
    {"Squeeze", import_squeeze, {}, true},
    {"Tile", import_tile, {}, true},
    {"Transpose", import_transpose, {}, true},
    {"Unsqueeze", import_unsqueeze, {}, true},
};
ImportRows shapes_rows() { return kShapesRows; }

}  // namespace deuteron::onnx
