// SPDX-License-Identifier: Apache-2.0
// Blocks of an image become channels or batches, and back.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "frontends/tflite/operators/import_table.h"
#include "frontends/tflite/operators/parts.h"
#include "ops/families.h"

namespace deuteron::tflite {
namespace {

void finish_blocks(Call& c, i64 block, bool to_space) {
  c.takes(1, 1);
  const ValueId x = c.real(0);
  c.require(c.rank(x) == 4, "works on an image of 4 axes", std::to_string(c.rank(x)), "4",
            "tflite.operand.rank");
  if (!c.ok()) return;
  const Shape s = c.shape(x);
  const bool fits =
      block >= 1 && block <= 1 << 12 &&
      (to_space ? s[3] % (block * block) == 0 : s[1] % block == 0 && s[2] % block == 0);
  c.require(fits, "has blocks that do not fit the image", std::to_string(block), to_text(s),
            "tflite.blocks.size");
  if (!c.ok()) return;
  if (to_space) {
    const ValueId split =
        c.reshape(x, {s[0], s[1], s[2], block, block, s[3] / (block * block)}, "blocks");
    return c.result(c.reshape(c.permute(split, {0, 1, 3, 2, 4, 5}, "moved"),
                              {s[0], s[1] * block, s[2] * block, s[3] / (block * block)}));
  }
  const ValueId split =
      c.reshape(x, {s[0], s[1] / block, block, s[2] / block, block, s[3]}, "blocks");
  c.result(c.reshape(c.permute(split, {0, 1, 3, 2, 4, 5}, "moved"),
                     {s[0], s[1] / block, s[2] / block, s[3] * block * block}));
}

constexpr i64 kMostBlock = 1 << 12;

// How many elements of an axis go to different batches, and what is put around it before, or cut
// off behind.
using BlockAxis = BatchedImage::Side;
std::vector<BlockAxis> read_block_axes(Call& c, ValueId x) {
  const std::vector<i64> block = c.integers(1), margins = c.integers(2);
  c.require(c.rank(x) == 3 || c.rank(x) == 4, "works on an image of 3 or 4 axes",
            std::to_string(c.rank(x)), "3, 4", "tflite.operand.rank");
  c.require(!c.ok() || (!block.empty() && static_cast<i64>(block.size()) < c.rank(x) &&
                        margins.size() == 2 * block.size()),
            "has blocks and margins for another number of axes",
            fmt::format("{}, {}", block.size(), margins.size()),
            fmt::format("1..{}, twice as many", c.rank(x) - 1), "tflite.batches.axes");
  std::vector<BlockAxis> axes;
  for (size_t k = 0; c.ok() && k < block.size(); ++k) {
    const BlockAxis a{block[k], margins[2 * k], margins[2 * k + 1]};
    c.require(a.block >= 1 && a.block <= kMostBlock && std::min(a.before, a.after) >= 0 &&
                  std::max(a.before, a.after) <= 1 << 24,
              "has a block or a margin out of range",
              fmt::format("{}, {}, {}", a.block, a.before, a.after),
              fmt::format("1..{}, 0..{}", kMostBlock, 1 << 24), "tflite.batches.range");
    axes.push_back(a);
  }
  return axes;
}

i64 batches_of(const std::vector<BlockAxis>& axes) {
  i64 product = 1;
  for (const BlockAxis& a : axes) product = std::min<i64>(product * a.block, kMostElements);
  return product;
}

const BatchedImage* batched_image(Call& c, ValueId v) {
  const auto found = std::ranges::lower_bound(c.batched(), v, {}, &BatchedImage::value);
  return found == c.batched().end() || found->value != v ? nullptr : &*found;
}

// What v has been made of by a reshape and by rounding to the same steps.
ValueId source_of(Call& c, ValueId v, const Quant& quant) {
  constexpr int kMostNodes = 8;  // a reshape and two roundings are 5
  for (int k = 0; k < kMostNodes; ++k) {
    const Node* node = batched_image(c, v) ? nullptr : c.maker(v);
    if (!node) break;
    const auto* quantize = std::get_if<Quantize>(&node->op);
    if (facts_of(node->op).values != Values::same && !(quantize && quantize->quant == quant)) break;
    v = node->inputs[0];
  }
  return v;
}

// Which side of the image [n, h, w, c] the first one of what it stands for is: that itself, or a
// line [n, .., c].
std::optional<size_t> first_side(const Shape& image, const Shape& batched) {
  if (image == batched) return 0;
  if (batched.size() != 3 || batched[1] == 1) return std::nullopt;
  for (const size_t one : {0, 1}) {
    Shape expanded = batched;
    expanded.insert(expanded.begin() + 1 + static_cast<i64>(one), 1);
    if (image == expanded) return 1 - one;
  }
  return std::nullopt;
}

// SPACE_TO_BATCH_ND, a convolution of stride 1, BATCH_TO_SPACE_ND   becomes   a dilated convolution
// Refused where it would cut off more than is padded. Every result is the same sum of the same
// products.
ValueId dilated_convolution(Call& c, ValueId x, const std::vector<BlockAxis>& cut) {
  const Quant& quant = c.declared(0).quant;
  if (quant != c.declared_result(0).quant) return -1;
  const ValueId y = source_of(c, x, quant);
  const Node* layer = c.maker(y);
  const auto* found = layer ? std::get_if<Conv2d>(&layer->op) : nullptr;
  if (!found || found->stride != HW{1, 1}) return -1;
  const ValueId operand = layer->inputs[0];
  const Node* steps = c.maker(operand);
  const Quant& before =
      steps && is_dequantize(steps->op) ? c.type(steps->inputs[0]).quant : Quant{};
  const BatchedImage* batched = batched_image(c, source_of(c, operand, before));
  if (!batched || batched->quant != before || batched->sides.size() != cut.size()) return -1;
  const std::optional<size_t> side = first_side(c.shape(operand), c.shape(batched->value));
  if (!side || first_side(c.shape(y), c.shape(x)) != side) return -1;
  Conv2d op = *found;
  for (size_t k = 0; k < cut.size(); ++k) {
    const BlockAxis &in = batched->sides[k], &out = cut[k];
    i64 HW::*const axis = k + *side == 0 ? &HW::h : &HW::w;
    op.pad_before.*axis = op.pad_before.*axis * in.block + in.before - out.before;
    op.pad_after.*axis = op.pad_after.*axis * in.block + in.after - out.after;
    op.dilation.*axis *= in.block;
    if (in.block != out.block || op.pad_before.*axis < 0 || op.pad_after.*axis < 0) return -1;
  }
  std::vector<ValueId> inputs = layer->inputs;
  const ValueId image = batched->image, value = batched->value;
  const bool is_line = c.rank(image) == 3;  // an axis of 1 stands beside it
  const i64 one = *side == 0 ? 2 : 1;
  Shape wide = c.shape(image);
  if (is_line) wide.insert(wide.begin() + one, 1);
  inputs[0] = c.reshape(image, std::move(wide), "image");
  const ValueId dilated = c.add_for(op, std::move(inputs), {y, value}, "dilated");
  if (!is_line || !c.ok()) return dilated;
  Shape line = c.shape(dilated);
  line.erase(line.begin() + one);
  return c.reshape(c.rounded(dilated), std::move(line), "line");
}

}  // namespace

// [n, h, w, ..] is padded, seen as [n, h/b, b, w/b, b, ..], and the blocks' positions become the
// outer part of the batch.
static void import_space_to_batch_nd(Call& c) {
  c.takes(3, 3);
  const ValueId image = c.in(0);
  ValueId x = image;
  const std::vector<BlockAxis> axes = read_block_axes(c, x);
  if (!c.ok()) return;
  const size_t rank = c.shape(x).size(), count = axes.size();
  Pad pad{Axes(rank, 0), Axes(rank, 0)};
  for (size_t k = 0; k < count; ++k)
    pad.before[k + 1] = axes[k].before, pad.after[k + 1] = axes[k].after;
  if (pad != Pad{Axes(rank, 0), Axes(rank, 0)}) x = c.add(pad, {x}, "padded");
  if (!c.ok()) return;
  const Shape s = c.shape(x);
  Shape split{s[0]}, to{s[0] * batches_of(axes)};
  Axes order;
  for (size_t k = 0; k < count; ++k) {
    c.require(s[k + 1] % axes[k].block == 0, "has blocks that do not fit the padded image",
              std::to_string(axes[k].block), fmt::format("a divisor of {}", s[k + 1]),
              "tflite.batches.extent");
    if (!c.ok()) return;
    split.insert(split.end(), {s[k + 1] / axes[k].block, axes[k].block});
    to.push_back(s[k + 1] / axes[k].block);
    order.push_back(static_cast<i64>(2 * k + 2));
  }
  order.push_back(0);
  for (size_t k = 0; k < count; ++k) order.push_back(static_cast<i64>(2 * k + 1));
  for (size_t k = count + 1; k < rank; ++k)
    split.push_back(s[k]), to.push_back(s[k]), order.push_back(static_cast<i64>(k + count));
  x = c.reshape(c.permute(c.reshape(x, std::move(split), "blocks"), std::move(order), "moved"),
                std::move(to));
  if (x != image && c.declared(0).quant == c.declared_result(0).quant)
    c.batched().push_back({image, x, c.declared(0).quant, axes});
  c.result(x);
}

// The way back: the outer part of the batch goes into the image, which is cut.
static void import_batch_to_space_nd(Call& c) {
  c.takes(3, 3);
  ValueId x = c.in(0);
  const std::vector<BlockAxis> axes = read_block_axes(c, x);
  if (!c.ok()) return;
  const Shape s = c.shape(x);
  const size_t rank = s.size(), count = axes.size();
  c.require(s[0] % batches_of(axes) == 0, "has blocks that do not fit the batch",
            std::to_string(batches_of(axes)), fmt::format("a divisor of {}", s[0]),
            "tflite.batches.extent");
  if (!c.ok()) return;
  if (const ValueId y = dilated_convolution(c, x, axes); y >= 0) return c.result(y);
  Shape split, whole{s[0] / batches_of(axes)};
  for (const BlockAxis& a : axes) split.push_back(a.block);
  split.push_back(whole[0]);
  Axes order{static_cast<i64>(count)};
  for (size_t k = 0; k < count; ++k) {
    split.push_back(s[k + 1]);
    whole.push_back(s[k + 1] * axes[k].block);
    order.insert(order.end(), {static_cast<i64>(count + 1 + k), static_cast<i64>(k)});
  }
  for (size_t k = count + 1; k < rank; ++k)
    split.push_back(s[k]), whole.push_back(s[k]), order.push_back(static_cast<i64>(k + count));
  x = c.reshape(c.permute(c.reshape(x, std::move(split), "blocks"), std::move(order), "moved"),
                std::move(whole), "whole");
  for (size_t k = 0; c.ok() && k < count; ++k) {
    const i64 extent = c.shape(x)[k + 1], left = extent - axes[k].before - axes[k].after;
    c.require(left >= 1, "cuts off all of the image",
              fmt::format("{}, {}", axes[k].before, axes[k].after),
              fmt::format("less than {} in all", extent), "tflite.batches.extent");
    x = part(c, x, static_cast<i64>(k) + 1, axes[k].before, left, 1, fmt::format("axis{}", k + 1));
  }
  c.result(x);
}

static void import_depth_to_space(Call& c) {
  if (const auto* o = c.options<DepthToSpaceOptions>()) finish_blocks(c, o->block_size(), true);
}
static void import_space_to_depth(Call& c) {
  if (const auto* o = c.options<SpaceToDepthOptions>()) finish_blocks(c, o->block_size(), false);
}

static constexpr ImportRow kBlocksRows[] = {
    {BuiltinOperator::BATCH_TO_SPACE_ND, import_batch_to_space_nd, Int16::taken},
    {BuiltinOperator::DEPTH_TO_SPACE, import_depth_to_space, Int16::taken},
    {BuiltinOperator::SPACE_TO_BATCH_ND, import_space_to_batch_nd, Int16::taken},
    {BuiltinOperator::SPACE_TO_DEPTH, import_space_to_depth, Int16::taken},
};
ImportRows blocks_rows() { return kBlocksRows; }

}  // namespace deuteron::tflite
