// SPDX-License-Identifier: Apache-2.0
// Weights that are quantized by blocks along an axis: they are numbers here, which the compiler
// quantizes in its own way.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/onnx/operators/compose.h"
#include "frontends/onnx/operators/import_table.h"
#include "frontends/onnx/operators/layers.h"
#include "frontends/onnx/operators/steps.h"

namespace deuteron::onnx {

Operand dequantized_blocks(Call& c, const Operand& q, i64 block) {
  const auto steps = c.known_integers(q);
  const Operand given = c.operand(1);
  const auto scales = c.known_numbers(given);
  const auto zeros = c.has(2) ? c.known_integers(c.operand(2)) : std::vector<i64>();
  c.require(!c.ok() || (steps && scales && zeros),
            "is quantized by blocks, and its steps, scales or zero points are computed", "", "",
            "onnx.quantize.block");
  const Shape shape = c.shape(q), blocks = c.shape(given);
  const i64 axis = c.axis(c.integer("axis", 1), c.rank(q));
  if (!c.ok()) return {};
  Shape wanted = shape;
  wanted[axis] = block > 0 ? (shape[axis] + block - 1) / block : -1;
  c.require(blocks == wanted && (zeros->empty() || zeros->size() == scales->size()),
            "has scales or zero points that do not fit its blocks", to_text(blocks),
            to_text(wanted), "onnx.quantize.block");
  if (!c.ok() || !c.may_make(numel(shape))) return {};
  i64 inner = 1;
  for (size_t k = static_cast<size_t>(axis) + 1; k < shape.size(); ++k) inner *= shape[k];
  std::vector<float> numbers(steps->size());
  for (size_t k = 0; k < numbers.size(); ++k) {
    const i64 at = static_cast<i64>(k) / inner, row = at / shape[axis], in_row = at % shape[axis];
    const auto b = static_cast<size_t>((row * wanted[axis] + in_row / block) * inner +
                                       static_cast<i64>(k) % inner);
    const i64 zero = zeros->empty() ? 0 : (*zeros)[b];
    numbers[k] = static_cast<float>((*steps)[k] - zero) * (*scales)[b];
  }
  return c.numbers("", shape, std::move(numbers));
}

namespace {

// Numbers of `bits` bits that lie in bytes, the first one low.
i64 packed_at(const std::vector<i64>& bytes, i64 row_bytes, i64 row, i64 k, i64 bits) {
  const i64 byte = row * row_bytes + k * bits / 8;
  return (bytes[static_cast<size_t>(byte)] >> (k * bits % 8)) & ((i64{1} << bits) - 1);
}

}  // namespace

// x [.., k] times the transpose of a weight [n, k], whose rows lie in blocks.
static void import_matmul_of_bits(Call& c) {
  const i64 in = c.integer("K", 0), out = c.integer("N", 0), bits = c.integer("bits", 4),
            block = c.integer("block_size", 0);
  const bool is_known_form = (bits == 2 || bits == 4 || bits == 8) && block >= 16 &&
                             block <= 1 << 16 && in >= 1 && in <= 1 << 20 && out >= 1 &&
                             out <= 1 << 20;
  c.require(is_known_form, "has blocks of another form",
            fmt::format("{} bits, {} of {} x {}", bits, block, out, in),
            "2, 4 or 8 bits, 16 or more", "onnx.quantize.block");
  c.require(!c.has(4), "has rows in an order of their own", "g_idx", "none", "onnx.quantize.block");
  const auto data = c.known_integers(c.operand(1));
  const auto scales = c.known_numbers(c.operand(2));
  const i64 blocks = is_known_form ? (in + block - 1) / block : 1, row_bytes = block * bits / 8,
            zero_bytes = (blocks * bits + 7) / 8;
  const Operand z = c.has(3) ? c.operand(3) : Operand{};
  const auto zeros = z ? c.known_integers(z) : std::vector<i64>();
  c.require(!c.ok() || (data && scales && zeros && std::ssize(*data) == out * blocks * row_bytes &&
                        std::ssize(*scales) == out * blocks &&
                        (zeros->empty() || std::ssize(*zeros) == out * zero_bytes)),
            "has weights, scales or zero points that are computed, no integers, or of another size",
            "", "", "onnx.quantize.block");
  if (!c.ok() || !c.may_make(out * in)) return;
  std::vector<float> weight;
  weight.reserve(static_cast<size_t>(out * in));
  for (i64 n = 0; n < out; ++n)
    for (i64 k = 0; k < in; ++k) {
      const i64 b = n * blocks + k / block,
                zero = zeros->empty() ? i64{1} << (bits - 1)
                                      : packed_at(*zeros, zero_bytes, n, k / block, bits),
                step = packed_at(*data, row_bytes, b, k % block, bits);
      weight.push_back(static_cast<float>(step - zero) * (*scales)[static_cast<size_t>(b)]);
    }
  const Operand w = c.numbers("weight", {out, in}, std::move(weight));
  c.result(fully_connected(c, c.operand(0), w, c.has(5) ? c.operand(5) : Operand{}, ""));
}

static constexpr ImportRow kBlocksRows[] = {
    {"MatMulNBits", import_matmul_of_bits, kMicrosoft},
};
ImportRows blocks_rows() { return kBlocksRows; }

}  // namespace deuteron::onnx
