// SPDX-License-Identifier: Apache-2.0
// The parts of loop_work(): kernels by what their loops go over. What the counts of each line mean
// stands beside it. LoopWork::kernel is without the kernel's own name here.
#pragma once
#include <algorithm>
#include <optional>
#include <string>

#include "compile/cost/loop_work.h"
#include "ops/families.h"
#include "ops/kernel_call/numbers.h"

namespace deuteron {

inline constexpr i64 kVector = 16;  // bytes, and elements of a block that MVE takes at once

inline i64 up(i64 n, i64 to) { return (n + to - 1) / to * to; }
inline i64 parts(i64 n, i64 of) { return (n + of - 1) / std::max<i64>(of, 1); }

// Bytes of scratch of a call; 0: it has none.
inline i64 scratch_of(const Graph& g, const Node& node) {
  const Type& last = g.type(node.outputs.back());
  return last.dtype == DType::u8 ? last.bytes() : 0;
}

// Others take longer to become bytes.
inline bool has_int8_bounds(const DenseNumbers& n) {
  return n.range.low == -128 && n.range.high == 127;
}

// Convolutions with packed weights.
std::optional<LoopWork> packed_work(const Graph& g, const Node& node, const PackedDense& n);
// One whose windows lie side by side, or are copied.
LoopWork packed_windows_work(const PackedDense& n, i64 scratch);
std::optional<LoopWork> packed_transposed_work(const Graph& g, const Node& node);
// Convolutions and fully connected layers as they are in the file.
std::optional<LoopWork> plain_work(const Graph& g, const Node& node, const DenseNumbers& n,
                                   Isa isa);
// Products of activations.
LoopWork product_work(const MatmulArgs& a, Isa isa);
// Windows of each channel.
std::optional<LoopWork> depthwise_work(const Graph& g, const Node& node, Isa isa);
std::optional<LoopWork> transposed_work(const Graph& g, const Node& node);
std::optional<LoopWork> pool_work(const Graph& g, const Node& node, Isa isa);
// What only moves elements.
std::optional<LoopWork> permute_work(const Node& node, Isa isa);
std::optional<LoopWork> pad_work(const Node& node, Isa isa);
std::optional<LoopWork> copies_work(const Graph& g, const Node& node, Isa isa);
std::optional<LoopWork> picked_work(const Graph& g, const Node& node, Isa isa);
// Portable kernels.
std::optional<LoopWork> portable_work(const Graph& g, const Node& node);

}  // namespace deuteron
