// SPDX-License-Identifier: Apache-2.0
// Windows over images: average and maximum pooling, adaptive pooling.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/pt2/operators/image.h"
#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/kernel_result.h"
#include "ops/common/pooling.h"

namespace deuteron::pt2 {

static ValueId pooled(Call& c, ValueId x, Op op, std::string_view suffix = {}, i64 axes = 2) {
  const i64 rank = c.rank(x);
  return from_image(c, c.add(std::move(op), {to_image(c, x, axes)}, "out"), rank, suffix, axes);
}

// A missing or empty stride is the kernel's extent.
static HW stride_of(Call& c, HW kernel, i64 axes) {
  return c.has("stride") && !c.integers("stride").empty() ? window(c, "stride", 1, axes, 1)
                                                          : kernel;
}

static void check_padding(Call& c, HW kernel, HW pad) {
  c.require(pad.h * 2 <= kernel.h && pad.w * 2 <= kernel.w, "padding is more than half the kernel",
            fmt::format("{},{}", pad.h, pad.w), fmt::format("{},{}", kernel.h / 2, kernel.w / 2),
            "pt2.pool.padding");
}

static void avg_pool(Call& c, i64 axes) {
  const ValueId x = c.tensor("self");
  AvgPool2d op;
  op.kernel = window(c, "kernel_size", 1, axes, 1);
  op.stride = stride_of(c, op.kernel, axes);
  op.pad = window(c, "padding", 0, axes, 0);
  op.ceil_mode = c.boolean("ceil_mode");
  op.count_include_pad = c.boolean("count_include_pad");
  if (axes == 2 && c.has("divisor_override")) {
    op.divisor = c.integer("divisor_override");
    c.require(!c.ok() || (op.divisor > 0 && op.divisor <= kMaxElements),
              "divisor_override is out of range", std::to_string(op.divisor), "1..",
              "pt2.pool.divisor");
  }
  check_padding(c, op.kernel, op.pad);
  c.result(pooled(c, x, op, {}, axes));
}
static void import_avg_pool1d(Call& c) { avg_pool(c, 1); }
static void import_avg_pool2d(Call& c) { avg_pool(c, 2); }

// An operand as [n,c,h,w], for calls in the user's axes. A signal is an image one element wide.
// Empty after a refusal.
static Shape whole_image(Call& c, ValueId x, i64 axes) {
  const i64 rank = c.rank(x);
  require_image(c, x, axes);
  if (!c.ok()) return {};
  const Shape& s = c.shape(x);
  return {rank == axes + 2 ? s[0] : 1, s[rank - axes - 1], s[rank - axes],
          axes == 2 ? s[rank - 1] : 1};
}

// What is largest, and where it lies: the place in the image, row by row. One call of the portable
// kernel gives both.
static void max_pool_with_positions(Call& c, ValueId x, const MaxPool2d& op, i64 axes) {
  const Shape in = whole_image(c, x, axes);
  if (!c.ok()) return;
  Shape out = in;
  out[2] = pooled_extent(in[2], op.kernel.h, op.stride.h, op.pad.h, op.dilation.h, op.ceil_mode);
  out[3] = pooled_extent(in[3], op.kernel.w, op.stride.w, op.pad.w, op.dilation.w, op.ceil_mode);
  c.require(out[2] > 0 && out[3] > 0, "the kernel is larger than the padded image",
            to_text(Shape{op.kernel.h, op.kernel.w}), to_text(in), "pt2.max_pool2d.extent");
  const ValueId image = c.reshape(x, in, "image");
  if (!c.ok()) return;
  using K = KernelArg::Kind;
  const auto pair = [](HW hw) { return KernelArg{K::integers, 0, 0, {hw.h, hw.w}, {}}; };
  KernelCall call;
  call.name = "aten::max_pool2d_with_indices", call.overload = "out";
  call.args = {{K::input, 0, 0, {}, plain_face(in)},
               pair(op.kernel),
               pair(op.stride),
               pair(op.pad),
               pair(op.dilation),
               {K::boolean, op.ceil_mode, 0, {}, {}},
               {K::output, 0, 0, {}, plain_face(out)},
               {K::output, 1, 0, {}, plain_face(out)}};
  const std::vector<ValueId> results =
      c.add_call(std::move(call), {image}, {{DType::f32, out, {}}, {DType::s64, out, {}}});
  if (!c.ok()) return;
  Shape shape = c.shape(x);
  shape[c.rank(x) - axes] = out[2];
  if (axes == 2) shape.back() = out[3];
  for (size_t k = 0; k < 2; ++k) c.result(k, c.reshape(results[k], shape));
}

static void max_pool(Call& c, i64 axes) {
  const ValueId x = c.tensor("self");
  MaxPool2d op;
  op.kernel = window(c, "kernel_size", 1, axes, 1);
  op.stride = stride_of(c, op.kernel, axes);
  op.pad = window(c, "padding", 0, axes, 0);
  op.dilation = window(c, "dilation", 1, axes, 1);
  op.ceil_mode = c.boolean("ceil_mode");
  check_padding(c, op.kernel, op.pad);
  if (c.result_count() > 1 && c.is_read(1)) return max_pool_with_positions(c, x, op, axes);
  c.result(pooled(c, x, op, {}, axes));
}
static void import_max_pool1d(Call& c) { max_pool(c, 1); }
static void import_max_pool2d(Call& c) { max_pool(c, 2); }

// Elements go back to where they were largest; the rest is zero. A scatter into an image of zeros,
// row by row.
static void import_max_unpool2d(Call& c) {
  const ValueId x = c.tensor("self"), positions = c.any_tensor("indices");
  const HW size = c.pair("output_size", 1);
  const Shape in = whole_image(c, x, 2);
  c.require(!c.ok() || c.shape(positions) == c.shape(x), "the positions do not fit the elements",
            c.ok() ? to_text(c.shape(positions)) : "", c.ok() ? to_text(c.shape(x)) : "",
            "pt2.scatter.extent");
  c.require(!c.ok() || c.type(positions).dtype == DType::s64,
            "goes to positions that are not int64", "", "s64", "pt2.index.dtype");
  if (!c.ok()) return;
  const Shape rows{in[0], in[1], in[2] * in[3]};
  c.require(size.h <= kMaxElements / size.w, "the image is too large",
            fmt::format("{}, {}", size.h, size.w), std::to_string(kMaxElements), "pt2.image.size");
  if (!c.ok() || !c.may_make(in[0] * in[1] * size.h * size.w)) return;
  const Shape image{in[0], in[1], size.h * size.w};
  const ValueId zeros =
      c.constant("zeros", image, std::vector<float>(static_cast<size_t>(numel(image)), 0.0f));
  const ValueId from = c.reshape(x, rows, "elements"), to = c.reshape(positions, rows, "rows");
  const ValueId filled = kernel_result(c, "aten::scatter.src_out", {zeros, whole(2), to, from},
                                       {DType::f32, image, {}});
  if (!c.ok()) return;
  Shape shape = c.shape(x);
  shape.end()[-2] = size.h, shape.end()[-1] = size.w;
  c.result(c.reshape(filled, std::move(shape)));
}

// Window k of an adaptive pool over `in` elements reaches from first to last, last included.
struct AdaptiveWindow {
  i64 first, last;
};
static AdaptiveWindow adaptive_window(i64 k, i64 in, i64 out) {
  return {k * in / out, ((k + 1) * in + out - 1) / out - 1};
}

// The extents of an adaptive pool; those of a signal have width 1.
struct Adaptive {
  ValueId x;
  i64 rank;
  HW in, out;
  bool even() const { return in.h % out.h == 0 && in.w % out.w == 0; }
  HW window() const { return {in.h / out.h, in.w / out.w}; }
};
static Adaptive read_adaptive(Call& c, i64 axes) {
  Adaptive a{c.tensor("self"), 0, {1, 1}, window(c, "output_size", 1, axes, 1)};
  a.rank = c.rank(a.x);
  c.require(!c.ok() || a.rank == axes + 1 || a.rank == axes + 2,
            "works on images, [n,c,h,w] or [c,h,w], or on signals of one axis less",
            "rank " + std::to_string(a.rank), fmt::format("{}..{}", axes + 1, axes + 2),
            "pt2.image.rank");
  if (!c.ok()) return a;
  const Shape& s = c.shape(a.x);
  a.in = axes == 2 ? HW{s[a.rank - 2], s[a.rank - 1]} : HW{s[a.rank - 1], 1};
  return a;
}

// Windows of unequal size: a product with the matrix of their shares, [oh*ow, h*w].
static ValueId uneven_average(Call& c, const Adaptive& a, i64 axes) {
  std::vector<float> share(static_cast<size_t>(a.out.h * a.out.w * a.in.h * a.in.w), 0.0f);
  for (i64 oh = 0; oh < a.out.h; ++oh)
    for (i64 ow = 0; ow < a.out.w; ++ow) {
      const AdaptiveWindow rows = adaptive_window(oh, a.in.h, a.out.h),
                           columns = adaptive_window(ow, a.in.w, a.out.w);
      const i64 count = (rows.last - rows.first + 1) * (columns.last - columns.first + 1);
      for (i64 h = rows.first; h <= rows.last; ++h)
        for (i64 w = columns.first; w <= columns.last; ++w)
          share[static_cast<size_t>(((oh * a.out.w + ow) * a.in.h + h) * a.in.w + w)] =
              1.0f / static_cast<float>(count);
    }
  const i64 inner = a.in.h * a.in.w, outer = c.type(a.x).elements() / inner;
  const ValueId matrix = c.constant("shares", {1, a.out.h * a.out.w, inner}, std::move(share));
  const ValueId y = c.add(Matmul{}, {c.reshape(a.x, {1, outer, inner}, "in"), matrix}, "out");
  Shape out(c.shape(a.x).begin(), c.shape(a.x).end() - axes);
  out.push_back(a.out.h);
  if (axes == 2) out.push_back(a.out.w);
  return c.reshape(y, std::move(out));
}

static void adaptive_avg_pool(Call& c, i64 axes) {
  const Adaptive a = read_adaptive(c, axes);
  if (!c.ok()) return;
  c.require(a.even() || a.out.h * a.out.w * a.in.h * a.in.w <= i64{1} << 20,
            "averages over too many uneven windows",
            std::to_string(a.out.h * a.out.w * a.in.h * a.in.w), std::to_string(1 << 20),
            "pt2.pool.adaptive");
  if (!c.ok()) return;
  if (!a.even()) return c.result(uneven_average(c, a, axes));
  AvgPool2d op;
  op.kernel = op.stride = a.window();
  c.result(pooled(c, a.x, op, {}, axes));
}
static void import_adaptive_avg_pool1d(Call& c) { adaptive_avg_pool(c, 1); }
static void import_adaptive_avg_pool2d(Call& c) { adaptive_avg_pool(c, 2); }

// The elements that the windows along one axis see, every window made as long as the longest by
// repeating its last element.
static Axes padded_windows(i64 in, i64 out, i64* longest) {
  *longest = 0;
  for (i64 k = 0; k < out; ++k) {
    const AdaptiveWindow w = adaptive_window(k, in, out);
    *longest = std::max(*longest, w.last - w.first + 1);
  }
  Axes index;
  for (i64 k = 0; k < out; ++k) {
    const AdaptiveWindow w = adaptive_window(k, in, out);
    for (i64 at = 0; at < *longest; ++at) index.push_back(std::min(w.first + at, w.last));
  }
  return index;
}

static void adaptive_max_pool(Call& c, i64 axes) {
  const Adaptive a = read_adaptive(c, axes);
  if (!c.ok()) return;
  ValueId x = a.x;
  MaxPool2d op;
  op.kernel = a.window();
  if (!a.even()) {
    const i64 first_axis = a.rank - axes;
    x = c.add(Gather{first_axis, padded_windows(a.in.h, a.out.h, &op.kernel.h)}, {x}, "rows");
    const Axes columns = padded_windows(a.in.w, a.out.w, &op.kernel.w);
    if (axes == 2) x = c.add(Gather{first_axis + 1, columns}, {x}, "columns");
  }
  op.stride = op.kernel;
  c.result(pooled(c, x, op, {}, axes));
}
static void import_adaptive_max_pool1d(Call& c) { adaptive_max_pool(c, 1); }
static void import_adaptive_max_pool2d(Call& c) { adaptive_max_pool(c, 2); }

static constexpr ImportRow kPoolingRows[] = {
    {"aten._adaptive_avg_pool2d.default", import_adaptive_avg_pool2d},
    {"aten.adaptive_avg_pool1d.default", import_adaptive_avg_pool1d},
    {"aten.adaptive_avg_pool2d.default", import_adaptive_avg_pool2d},
    {"aten.adaptive_max_pool1d.default", import_adaptive_max_pool1d},
    {"aten.adaptive_max_pool2d.default", import_adaptive_max_pool2d},
    {"aten.avg_pool1d.default", import_avg_pool1d},
    {"aten.avg_pool2d.default", import_avg_pool2d},
    {"aten.max_pool1d.default", import_max_pool1d},
    {"aten.max_pool1d_with_indices.default", import_max_pool1d},
    {"aten.max_pool2d.default", import_max_pool2d},
    {"aten.max_pool2d_with_indices.default", import_max_pool2d},
    {"aten.max_unpool2d.default", import_max_unpool2d},
};
ImportRows pooling_rows() { return kPoolingRows; }

}  // namespace deuteron::pt2
