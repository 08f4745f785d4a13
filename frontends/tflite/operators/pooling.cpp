// SPDX-License-Identifier: Apache-2.0
// Pooling and resizing of images.
#include <fmt/format.h>

#include "frontends/tflite/operators/import_table.h"
#include "frontends/tflite/operators/window.h"

namespace deuteron::tflite {
namespace {

// The pools pad both sides alike and may cut the last window. Where SAME pads one element more
// behind: with stride 1 the windows begin one element earlier and the first one is left out; with a
// larger one the last window is cut.
struct Pooling {
  HW kernel, stride, pad, skipped, out;
};
Pooling read_pooling(Call& c, const Pool2DOptions& o, const Shape& x) {
  Side h{x[1], o.filter_height(), o.stride_h(), 1}, w{x[2], o.filter_width(), o.stride_w(), 1};
  pad_side(c, o.padding(), h);
  pad_side(c, o.padding(), w);
  const auto early = [](const Side& s) {
    return s.stride == 1 && s.after > s.before ? i64{1} : i64{0};
  };
  return {{h.kernel, w.kernel},
          {h.stride, w.stride},
          {h.before + early(h), w.before + early(w)},
          {early(h), early(w)},
          {h.out, w.out}};
}

ValueId skip(Call& c, ValueId y, const Pooling& p) {
  if (p.skipped == HW{}) return y;
  y = c.rounded(y);
  if (p.skipped.h > 0) y = c.add(Slice{1, p.skipped.h, p.out.h, 1}, {y}, "rows");
  if (p.skipped.w > 0) y = c.add(Slice{2, p.skipped.w, p.out.w, 1}, {y}, "columns");
  return y;
}

template <class Pool>
void finish_pool(Call& c, Pool op) {
  const auto* o = c.options<Pool2DOptions>();
  c.takes(1, 1);
  const ValueId x = c.real(0);
  c.require(c.rank(x) == 4, "works on an image of 4 axes", std::to_string(c.rank(x)), "4",
            "tflite.operand.rank");
  if (!c.ok()) return;
  const Pooling p = read_pooling(c, *o, c.shape(x));
  op.kernel = p.kernel, op.stride = p.stride, op.pad = p.pad;
  op.ceil_mode = o->padding() == Padding::SAME;
  c.result(activated(c, skip(c, c.add(op, {x}, "pooled"), p), o->fused_activation_function()));
}

void finish_resize(Call& c, i64 mode, bool align_corners, bool half_pixel) {
  c.takes(2, 2);
  const ValueId x = c.real(0);
  const std::vector<i64> size = c.integers(1);
  c.require(c.rank(x) == 4 && size.size() == 2,
            "works on an image of 4 axes and its new height and width",
            fmt::format("{}, {}", c.rank(x), size.size()), "4, 2", "tflite.operand.rank");
  c.require(!c.ok() || (size[0] >= 1 && size[1] >= 1 && size[0] <= 1 << 24 && size[1] <= 1 << 24),
            "resizes to extents out of range", to_text(size), fmt::format("1..{}", 1 << 24),
            "tflite.resize.size");
  if (!c.ok()) return;
  Resize2d op;
  op.mode = mode, op.size = {size[0], size[1]}, op.align_corners = align_corners,
  op.half_pixel = half_pixel;
  op.of_bytes = mode == Resize2d::kBilinear && c.is_bytes(0);
  c.result(c.add(op, {x}));
}

}  // namespace

static void import_average_pool_2d(Call& c) {
  AvgPool2d op;
  op.count_include_pad = false;
  op.halves_up = c.is_bytes(0);
  finish_pool(c, op);
}
// sqrt(mean of x * x), which TFLite has in float only.
static void import_l2_pool_2d(Call& c) {
  const auto* o = c.options<Pool2DOptions>();
  c.takes(1, 1);
  c.require(c.declared(0).quant.empty() && !c.is_quantized_result(),
            "works on steps, for which TFLite has no kernel",
            std::string(name_of(c.declared(0).dtype)), "FLOAT32", "tflite.l2_pool_2d.type");
  const ValueId x = c.real(0);
  c.require(c.rank(x) == 4, "works on an image of 4 axes", std::to_string(c.rank(x)), "4",
            "tflite.operand.rank");
  if (!c.ok()) return;
  const Pooling p = read_pooling(c, *o, c.shape(x));
  AvgPool2d op;
  op.count_include_pad = false;
  op.kernel = p.kernel, op.stride = p.stride, op.pad = p.pad;
  op.ceil_mode = o->padding() == Padding::SAME;
  const ValueId means =
      skip(c, c.add(op, {c.add(Unary{UnaryFn::pow, 2}, {x}, "squares")}, "means"), p);
  c.result(activated(c, c.add(Unary{UnaryFn::sqrt, 0}, {means}, "roots"),
                     o->fused_activation_function()));
}
static void import_max_pool_2d(Call& c) { finish_pool(c, MaxPool2d{}); }

static void import_resize_bilinear(Call& c) {
  if (const auto* o = c.options<ResizeBilinearOptions>())
    finish_resize(c, Resize2d::kBilinear, o->align_corners(), o->half_pixel_centers());
}
static void import_resize_nearest_neighbor(Call& c) {
  if (const auto* o = c.options<ResizeNearestNeighborOptions>())
    finish_resize(c, Resize2d::kNearest, o->align_corners(), o->half_pixel_centers());
}

static constexpr ImportRow kPoolingRows[] = {
    {BuiltinOperator::AVERAGE_POOL_2D, import_average_pool_2d, Int16::taken},
    {BuiltinOperator::L2_POOL_2D, import_l2_pool_2d},
    {BuiltinOperator::MAX_POOL_2D, import_max_pool_2d, Int16::taken},
    {BuiltinOperator::RESIZE_BILINEAR, import_resize_bilinear, Int16::taken},
    {BuiltinOperator::RESIZE_NEAREST_NEIGHBOR, import_resize_nearest_neighbor, Int16::taken},
};
ImportRows pooling_rows() { return kPoolingRows; }

}  // namespace deuteron::tflite
