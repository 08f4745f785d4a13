// SPDX-License-Identifier: Apache-2.0
// Positions of the largest elements that MaxPool gives, and MaxUnpool, which puts elements back
// there. torch counts positions within an image, row by row; ONNX within the whole tensor, in
// MaxPool also column by column.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/onnx/operators/compose.h"
#include "frontends/onnx/operators/import_table.h"
#include "frontends/onnx/operators/positions_of_largest.h"

namespace deuteron::onnx {
namespace {

// Operators on int64, which are kernels of their own.
Operand on_integers(Call& c, std::string_view target, const Operand& x, Arg other,
                    const Shape& shape, std::string_view suffix) {
  return c.torch_as(target, {{"self", x}, {"other", std::move(other)}}, DType::s64, shape, suffix);
}

// Position h * width + w becomes w * height + h.
Operand by_columns(Call& c, const Operand& at, i64 height, i64 width) {
  const Shape shape = c.shape(at);
  const Operand column = on_integers(c, "aten.remainder.Scalar", at, width, shape, "column");
  const Operand wide = c.known("width", {DType::s64, {1}, {}}, std::vector<i64>{width});
  const Operand row = on_integers(c, "aten.floor_divide.default", at, wide, shape, "row");
  return on_integers(c, "aten.add.Tensor",
                     on_integers(c, "aten.mul.Scalar", column, height, shape, "columns"), row,
                     shape, "by_columns");
}

// Within the whole tensor `in`, [n,c,..].
Operand in_tensor(Call& c, const Operand& at, const Shape& in) {
  const Shape shape = c.shape(at);
  const i64 images = in[0] * in[1], inner = numel(in) / images;
  if (images == 1 || !c.may_make(images)) return at;
  std::vector<i64> first;
  for (i64 k = 0; k < images; ++k) first.push_back(k * inner);
  Shape column(in.size(), 1);
  column[0] = in[0], column[1] = in[1];
  return on_integers(c, "aten.add.Tensor", at, c.known("images", {DType::s64, column, {}}, first),
                     shape, "positions");
}

}  // namespace

void finish_max_pool_with_positions(Call& c, const Operand& x, const Window& w, bool ceil_mode) {
  const Shape in = c.shape(x);
  const size_t axes = w.kernel.size();
  const i64 order = c.integer("storage_order", 0);
  c.require(axes <= 2,
            "gives the positions of the largest elements of volumes, which is not supported",
            std::to_string(axes), "1, 2", "onnx.pool.indices");
  c.require(order == 0 || order == 1, "counts positions in an unknown order", std::to_string(order),
            "0, 1", "onnx.pool.indices");
  bool fits = w.is_even();
  for (size_t k = 0; k < axes; ++k) fits = fits && 2 * w.before[k] <= w.kernel[k];
  c.require(fits,
            "gives the positions of the largest elements, and pads both sides by other amounts or "
            "by more than half of its window",
            to_text(w.before) + " and " + to_text(w.after), to_text(w.kernel), "onnx.pool.indices");
  if (!c.ok()) return;
  Shape out{in[0], in[1]};
  for (size_t k = 0; k < axes; ++k) out.push_back(extent_after(in[k + 2], w, k, ceil_mode));
  const std::vector<Operand> y = c.torch_all_as(
      axes == 1 ? "aten.max_pool1d_with_indices.default" : "aten.max_pool2d_with_indices.default",
      {{"self", x},
       {"stride", w.stride},
       {"kernel_size", w.kernel},
       {"dilation", w.dilation},
       {"padding", w.before},
       {"ceil_mode", ceil_mode}},
      {{DType::f32, out, {}}, {DType::s64, out, {}}});
  if (!c.ok()) return;
  const Operand at = order == 1 && axes == 2 ? by_columns(c, y[1], in[2], in[3]) : y[1];
  if (c.wants(0)) c.result(0, y[0]);
  c.result(1, in_tensor(c, at, in));
}

// Into an image of zeros; one of `output_shape` has more or fewer rows and columns behind.
static void import_max_unpool(Call& c) {
  const Operand x = c.operand(0), given = c.operand(1);
  const Shape in = c.shape(x);
  c.need_attribute("kernel_shape");
  const std::vector<i64> kernel = c.integers("kernel_shape");
  const size_t axes = kernel.size();
  c.require(!c.ok() || ((axes == 1 || axes == 2) && in.size() == axes + 2),
            "puts elements back into other tensors than signals and images", to_text(in),
            "3, 4 axes", "onnx.window.rank");
  if (!c.ok()) return;
  for (const i64 k : kernel)
    c.require(k >= 1 && k <= kMostStep, "has a kernel out of range", std::to_string(k),
              fmt::format("1..{}", kMostStep), "onnx.window.range");
  const std::vector<i64> stride = window_list(c, "strides", axes, 1, 1),
                         pads = window_list(c, "pads", 2 * axes, 0, 0);
  if (!c.ok()) return;
  Shape image{in[0], in[1]};
  for (size_t k = 0; k < axes; ++k) {
    image.push_back((in[k + 2] - 1) * stride[k] - pads[k] - pads[k + axes] + kernel[k]);
    c.require(image.back() >= 1 && image.back() <= pt2::kMaxElements, "has an extent out of range",
              std::to_string(image.back()), "1..", "onnx.window.range");
  }
  Shape wanted = image;
  if (c.has(2)) wanted = c.integers_of(2, "output shape");
  bool fits = wanted.size() == image.size();
  for (size_t k = 0; fits && k < image.size(); ++k)
    fits = k < 2 ? wanted[k] == image[k] : wanted[k] >= 1 && wanted[k] <= pt2::kMaxElements;
  c.require(!c.ok() || fits, "has an output shape that does not fit", to_text(wanted),
            to_text(image), "onnx.window.range");
  if (!c.ok()) return;
  const Shape shape = c.shape(given);
  c.require(shape == in, "has positions that do not fit the elements", to_text(shape), to_text(in),
            "onnx.window.range");
  if (!c.ok()) return;
  const Shape flat{in[0], in[1], in[2], axes == 2 ? in[3] : 1};
  const i64 width = axes == 2 ? image[3] : 1;
  const Operand at = on_integers(c, "aten.remainder.Scalar", as_integers(c, given),
                                 image[2] * width, shape, "places");
  const auto as_image = [&](const Operand& v, const char* suffix) {
    return axes == 2 ? v
                     : c.torch_as("aten.view.default", {{"self", v}, {"size", flat}}, c.dtype(v),
                                  flat, suffix);
  };
  const bool whole = wanted == image;
  Operand y = c.torch("aten.max_unpool2d.default",
                      {{"self", as_image(x, "image")},
                       {"indices", as_image(at, "places")},
                       {"output_size", std::vector<i64>{image[2], width}}},
                      whole && axes == 2 ? "" : "placed");
  if (axes == 1) y = view(c, y, image, whole ? "" : "signal");
  std::vector<i64> behind;
  for (size_t k = 2; k < image.size(); ++k) behind.push_back(wanted[k] - image[k]);
  c.result(whole ? y : padded(c, y, std::vector<i64>(axes, 0), behind, 0, ""));
}

static constexpr ImportRow kUnpoolingRows[] = {
    {"MaxUnpool", import_max_unpool},
};
ImportRows unpooling_rows() { return kUnpoolingRows; }

}  // namespace deuteron::onnx
