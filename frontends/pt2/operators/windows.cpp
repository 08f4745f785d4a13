// SPDX-License-Identifier: Apache-2.0
// Sliding blocks of an image as columns, and back: torch.nn.Unfold and torch.nn.Fold.
#include <fmt/format.h>

#include "frontends/pt2/operators/compose.h"
#include "frontends/pt2/operators/import_table.h"

namespace deuteron::pt2 {
namespace {

// of a block that overlaps others: the weight that adds them has the square of that
constexpr i64 kMostTaps = 1024;

// Blocks along one axis.
struct Blocks {
  i64 kernel, dilation, pad, stride;
  i64 span() const { return dilation * (kernel - 1) + 1; }
  i64 count(i64 extent) const { return (extent + 2 * pad - span()) / stride + 1; }
  bool fit(i64 extent) const { return extent + 2 * pad >= span(); }
};
struct BlockGrid {
  Blocks rows, columns;
};

BlockGrid read_blocks(Call& c) {
  const HW kernel = c.pair("kernel_size", 1), dilation = c.pair("dilation", 1),
           pad = c.pair("padding", 0), stride = c.pair("stride", 1);
  return {{kernel.h, dilation.h, pad.h, stride.h}, {kernel.w, dilation.w, pad.w, stride.w}};
}

void require_blocks(Call& c, const BlockGrid& b, i64 h, i64 w) {
  c.require(!c.ok() || (b.rows.fit(h) && b.columns.fit(w)), "the blocks are larger than the image",
            fmt::format("{},{}", b.rows.span(), b.columns.span()),
            fmt::format("{},{}", h + 2 * b.rows.pad, w + 2 * b.columns.pad), "pt2.unfold.size");
  c.require(!c.ok() || (b.rows.count(h) <= kMostPicked / b.rows.kernel &&
                        b.columns.count(w) <= kMostPicked / b.columns.kernel),
            "the blocks have too many elements along an axis",
            fmt::format("{}, {}", b.rows.kernel, b.columns.kernel), std::to_string(kMostPicked),
            "pt2.unfold.size");
}

// Element 0 of all blocks, element 1 of all blocks, and so on.
Axes elements_of_blocks(const Blocks& b, i64 padded) {
  Axes index;
  for (i64 k = 0; k < b.kernel; ++k)
    for (i64 o = 0; o < b.count(padded - 2 * b.pad); ++o)
      index.push_back(o * b.stride + k * b.dilation);
  return index;
}

}  // namespace

// [n,c,h,w] becomes [n, c*kh*kw, oh*ow]
static void import_im2col(Call& c) {
  const ValueId x = c.tensor("self");
  const BlockGrid b = read_blocks(c);
  const i64 rank = c.rank(x);
  c.require(!c.ok() || rank == 3 || rank == 4, "works on images, [n,c,h,w] or [c,h,w]",
            std::to_string(rank), "3..4", "pt2.image.rank");
  if (!c.ok()) return;
  const Shape s = c.shape(x);
  const i64 channels = s[rank - 3], n = rank == 4 ? s[0] : 1;
  require_blocks(c, b, s[rank - 2], s[rank - 1]);
  if (!c.ok()) return;
  ValueId y = c.reshape(x, {n, channels, s[rank - 2], s[rank - 1]}, "batch");
  if (b.rows.pad > 0 || b.columns.pad > 0) {
    Pad pad;
    pad.before = pad.after = {0, 0, b.rows.pad, b.columns.pad};
    y = c.add(std::move(pad), {y}, "padded");
  }
  if (!c.ok()) return;
  const i64 oh = b.rows.count(s[rank - 2]), ow = b.columns.count(s[rank - 1]);
  y = picked(c, y, 2, elements_of_blocks(b.rows, s[rank - 2] + 2 * b.rows.pad), "rows");
  y = picked(c, y, 3, elements_of_blocks(b.columns, s[rank - 1] + 2 * b.columns.pad), "columns");
  y = c.permute(c.reshape(y, {n * channels * b.rows.kernel, oh, b.columns.kernel, ow}, "blocks"),
                {0, 2, 1, 3}, "ordered");
  Shape out{channels * b.rows.kernel * b.columns.kernel, oh * ow};
  if (rank == 4) out.insert(out.begin(), n);
  c.result(c.reshape(y, std::move(out)));
}

// [n, c*kh*kw, oh*ow] becomes [n,c,h,w]: blocks are added where they overlap. That is a transposed
// convolution whose channel k reaches element k of the window only.
static void import_col2im(Call& c) {
  const ValueId x = c.tensor("self");
  const HW size = c.pair("output_size", 1);
  const BlockGrid b = read_blocks(c);
  const i64 rank = c.rank(x), kh = b.rows.kernel, kw = b.columns.kernel, taps = kh * kw;
  c.require(!c.ok() || rank == 2 || rank == 3, "works on columns, [n,c*kh*kw,l] or [c*kh*kw,l]",
            std::to_string(rank), "2..3", "pt2.fold.rank");
  require_blocks(c, b, size.h, size.w);
  if (!c.ok()) return;
  const i64 oh = b.rows.count(size.h), ow = b.columns.count(size.w),
            n = rank == 3 ? c.shape(x)[0] : 1;
  const i64 columns = c.shape(x)[rank - 2], channels = columns / taps;
  c.require(columns % taps == 0 && c.shape(x)[rank - 1] == oh * ow,
            "the columns do not make up the image", to_text(c.shape(x)),
            to_text(Shape{channels * taps, oh * ow}), "pt2.fold.columns");
  c.require(taps <= kMostTaps, "the blocks have too many elements", std::to_string(taps),
            std::to_string(kMostTaps), "pt2.fold.taps");
  if (!c.ok()) return;
  Shape out{channels, size.h, size.w};
  if (rank == 3) out.insert(out.begin(), n);
  const auto tiles = [](const Blocks& a, i64 extent, i64 count) {
    return a.stride == a.kernel && a.dilation == 1 && a.pad == 0 && count * a.kernel == extent;
  };
  if (tiles(b.rows, size.h, oh) && tiles(b.columns, size.w, ow)) {
    const ValueId rows =
        c.permute(c.reshape(x, {n * channels * kh, kw, oh, ow}, "blocks"), {0, 2, 3, 1}, "rows");
    const ValueId image = c.permute(c.reshape(rows, {n * channels, kh, oh, ow * kw}, "rows"),
                                    {0, 2, 1, 3}, "ordered");
    return c.result(c.reshape(image, std::move(out)));
  }
  std::vector<float> ones(static_cast<size_t>(taps * taps), 0.0f);
  for (i64 k = 0; k < taps; ++k) ones[static_cast<size_t>(k * taps + k)] = 1;
  ConvTranspose2d add;
  add.stride = {b.rows.stride, b.columns.stride};
  add.dilation = {b.rows.dilation, b.columns.dilation};
  add.pad = {b.rows.pad, b.columns.pad};
  add.output_pad = {size.h + 2 * b.rows.pad - b.rows.span() - (oh - 1) * b.rows.stride,
                    size.w + 2 * b.columns.pad - b.columns.span() - (ow - 1) * b.columns.stride};
  const ValueId image =
      c.permute(c.reshape(x, {n * channels, taps, oh, ow}, "blocks"), {0, 2, 3, 1}, "in");
  const ValueId weight = c.constant("places", {1, kh, kw, taps}, std::move(ones));
  c.result(c.reshape(c.add(add, {image, weight}, "sums"), std::move(out)));
}

static constexpr ImportRow kWindowsRows[] = {
    {"aten.col2im.default", import_col2im},
    {"aten.im2col.default", import_im2col},
};
ImportRows windows_rows() { return kWindowsRows; }

}  // namespace deuteron::pt2
