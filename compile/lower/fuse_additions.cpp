// SPDX-License-Identifier: Apache-2.0
// A convolution whose result nothing but an addition reads becomes one call with it. Its result is
// written over the addition's other operand, so that two tensors are alive where there were three:
// the peak of a residual network.
//   c = deuteron::packed_conv2d(x)   y = deuteron::linear_add(c, other)     becomes     y =
//   deuteron::packed_conv2d_add(x, other)
// and packed_conv2d_shifts becomes packed_conv2d_add_shifts.
// Such a call needs scratch for rows of c. Where that makes the program larger, as where `other` is
// read again, the two calls stay.
#include <algorithm>
#include <iterator>

#include "compile/lower/call_node.h"
#include "compile/lower/fit_scratch.h"
#include "compile/pass.h"
#include "compile/plan/homes.h"
#include "compile/plan/plan_memory.h"
#include "ops/conv2d/add_form.h"
#include "ops/conv2d/packed_call.h"
#include "ops/families.h"

namespace deuteron {
namespace {

// The addition of node `add`, one operand of which is the result of node `convolution`.
struct Pair {
  NodeId convolution = -1, add = -1;
  ValueId other = -1;
  bool is_first = false;
};

// Of a call with packed weights that may get an addition; null: no such call.
const PackedDense* packed_numbers(const Graph& g, NodeId n) {
  const auto* packed = n < 0 ? nullptr : numbers_of<PackedDense>(call_of(g.nodes[n].op));
  return packed && takes_addition(*packed) ? packed : nullptr;
}
const LinearForm* addition_of(const Graph& g, NodeId n) {
  return numbers_of<LinearForm>(call_of(g.nodes[n].op));
}

// The convolution that is computed last, so that the other operand is there.
std::optional<Pair> pair_of(const Graph& g, const Uses& uses, const Homes& homes, NodeId add) {
  const Node& node = g.nodes[add];
  Pair found;
  for (const bool is_first : {true, false}) {
    const ValueId c = node.inputs[is_first ? 0 : 1], other = node.inputs[is_first ? 1 : 0];
    const NodeId n = uses.producer[c];
    if (c == other || g.is_constant(other) || !packed_numbers(g, n) || !uses.has_single_reader(c))
      continue;
    if (g.type(c).shape != g.type(other).shape || uses.producer[other] > n) continue;
    if (homes.of(g.nodes[n].inputs[0]).root != homes.of(other).root)
      found = {n, add, other, is_first};
  }
  return found.convolution < 0 ? std::nullopt : std::optional(found);
}

std::optional<Graph> fused(const Graph& g, const Pair& pair) {
  const Node &conv = g.nodes[pair.convolution], &add = g.nodes[pair.add];
  const auto numbers =
      with_addition(*packed_numbers(g, pair.convolution), *addition_of(g, pair.add), pair.is_first);
  if (!numbers) return std::nullopt;
  Lowered lowered = packed_call(*numbers, 3, std::nullopt);
  lowered.call.macs = call_of(conv.op)->macs;
  Node both{conv.op, {conv.inputs[0], conv.inputs[1], pair.other}, add.outputs, {}};
  std::set_union(conv.origin.begin(), conv.origin.end(), add.origin.begin(), add.origin.end(),
                 std::back_inserter(both.origin));
  Graph result = g;
  result.nodes[pair.convolution] = call_node(result, both, std::move(lowered));
  result.nodes.erase(result.nodes.begin() + pair.add);
  return result;
}

i64 most_alive(Graph g) {
  shrink_scratch(g);
  const std::vector<i64> alive = bytes_alive(g);
  return alive.empty() ? 0 : *std::max_element(alive.begin(), alive.end());
}

}  // namespace

void fuse_additions(PassContext& pass) {
  Graph& g = pass.graph;
  i64 least = most_alive(g);
  Uses uses(g);
  Homes homes(g);
  for (NodeId n = static_cast<NodeId>(g.nodes.size()) - 1; n >= 0; --n) {
    if (!addition_of(g, n)) continue;
    const std::optional<Pair> pair = pair_of(g, uses, homes, n);
    std::optional<Graph> with = pair ? fused(g, *pair) : std::nullopt;
    if (!with) continue;
    const i64 most = most_alive(*with);
    if (most > least) continue;
    g = *std::move(with), least = most;
    uses = Uses(g), homes = Homes(g);
  }
}

}  // namespace deuteron
