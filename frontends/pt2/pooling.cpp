// Windows over images: average and maximum pooling, adaptive pooling, and means over height and width.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/pt2/image.h"
#include "frontends/pt2/import_table.h"

namespace deuteron::pt2 {

static ValueId pooled(Call& c, ValueId x, Op op, std::string_view suffix = {}) {
  const i64 rank = c.rank(x);
  return from_image(c, c.add(std::move(op), {to_image(c, x)}, "out"), rank, suffix);
}

// A missing or empty stride is the kernel's extent.
static HW stride_of(Call& c, HW kernel) { return c.has("stride") && !c.integers("stride").empty() ? c.pair("stride", 1) : kernel; }

static void check_padding(Call& c, HW kernel, HW pad) {
  c.require(pad.h * 2 <= kernel.h && pad.w * 2 <= kernel.w, "padding is more than half the kernel", fmt::format("{},{}", pad.h, pad.w),
            fmt::format("{},{}", kernel.h / 2, kernel.w / 2), "pt2.pool.padding");
}

void import_avg_pool2d(Call& c) {
  const ValueId x = c.tensor("self");
  AvgPool2d op;
  op.kernel = c.pair("kernel_size", 1);
  op.stride = stride_of(c, op.kernel);
  op.pad = c.pair("padding", 0);
  op.ceil_mode = c.boolean("ceil_mode");
  op.count_include_pad = c.boolean("count_include_pad");
  if (c.has("divisor_override")) {
    op.divisor = c.integer("divisor_override");
    c.require(!c.ok() || (op.divisor > 0 && op.divisor <= kMaxElements), "divisor_override is out of range", std::to_string(op.divisor),
              "1..", "pt2.pool.divisor");
  }
  check_padding(c, op.kernel, op.pad);
  c.result(pooled(c, x, op));
}

void import_max_pool2d(Call& c) {
  const ValueId x = c.tensor("self");
  MaxPool2d op;
  op.kernel = c.pair("kernel_size", 1);
  op.stride = stride_of(c, op.kernel);
  op.pad = c.pair("padding", 0);
  op.dilation = c.pair("dilation", 1);
  op.ceil_mode = c.boolean("ceil_mode");
  check_padding(c, op.kernel, op.pad);
  c.result(pooled(c, x, op));
}

// Windows of equal size where the output divides the input; others would overlap unevenly.
void import_adaptive_avg_pool2d(Call& c) {
  const ValueId x = c.tensor("self");
  const HW out = c.pair("output_size", 1);
  const i64 rank = c.rank(x);
  c.require(!c.ok() || rank == 3 || rank == 4, "works on images, [n,c,h,w] or [c,h,w]", "rank " + std::to_string(rank), "3..4",
            "pt2.image.rank");
  if (!c.ok()) return;
  const HW in{c.shape(x)[rank - 2], c.shape(x)[rank - 1]};
  c.require(in.h % out.h == 0 && in.w % out.w == 0, "the output does not divide the input evenly", fmt::format("{},{}", in.h, in.w),
            fmt::format("a multiple of {},{}", out.h, out.w), "pt2.pool.adaptive");
  AvgPool2d op;
  op.kernel = op.stride = {in.h / out.h, in.w / out.w};
  c.result(pooled(c, x, op));
}

void import_mean(Call& c) {
  const ValueId x = c.tensor("self");
  const i64 rank = c.rank(x);
  std::vector<i64> axes;
  if (c.has("dim")) axes = c.axes("dim", rank);
  if (c.has("dtype"))
    c.require(dtype_of_code(c.integer("dtype")) == DType::f32, "computes the mean in another dtype", "", "", "pt2.mean.dtype");
  const bool keeps_axes = c.boolean("keepdim");
  const bool is_image = rank == 4 && !axes.empty() && std::all_of(axes.begin(), axes.end(), [](i64 a) { return a >= 2; });
  c.require(!c.ok() || is_image, "a mean over other axes than height and width of an image [n,c,h,w] is not supported",
            fmt::format("axes {} of rank {}", to_text(axes), rank), "axes 2,3 of rank 4", "pt2.mean.axes");
  if (!c.ok()) return;
  const auto is_reduced = [&](i64 axis) { return std::find(axes.begin(), axes.end(), axis) != axes.end(); };
  const Shape in = c.shape(x);
  AvgPool2d op;
  op.kernel = op.stride = {is_reduced(2) ? in[2] : 1, is_reduced(3) ? in[3] : 1};
  ValueId y = pooled(c, x, op, keeps_axes ? "" : "mean");
  if (!keeps_axes) {
    Shape kept;
    for (i64 axis = 0; axis < rank; ++axis)
      if (!is_reduced(axis)) kept.push_back(in[axis]);
    y = c.reshape(y, std::move(kept));
  }
  c.result(y);
}

}  // namespace deuteron::pt2
