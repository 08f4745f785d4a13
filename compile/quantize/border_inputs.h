// SPDX-License-Identifier: Apache-2.0
// The part of scale_borders() for what is computed of float inputs
// (compile/quantize/border_scales.h): it may stay in float up to a value of which each channel then
// has steps of its own.
#pragma once
#include <optional>
#include <vector>

#include "compile/quantize/border_scales.h"
#include "compile/quantize/channel_sizes.h"

namespace deuteron {

// Elements of what is moved or goes through a function in float: such a function takes some hundred
// cycles each.
inline constexpr i64 kMaxInFloat = 16384;

// Lines behind a value that may be float, as far as each value has one reader.
struct Chain {
  ValueId from, end;             // may be the same
  ChannelLine line;              // from -> end
  std::vector<double> rounding;  // the coarsest steps on the way to the end, which is not rounded
                                 // yet, by channel of the line
  Origin origin;
  NodeId first;  // reads `from`; -1: nothing does
};

// Without those that nothing reads: where something is computed in float, the int8 form of it may
// have no readers left.
Uses live_uses(const Graph& graph);

class BorderInputs {
 public:
  BorderInputs(const Graph& graph, const SeenRanges& seen, const FloatPorts& ports);

  // What moves, sums, products and functions of each element make of float inputs alone, and these.
  bool may_be_float(ValueId v) const { return may_be_float_[v]; }
  // Where lines may begin: all of these but the lines themselves. What others are made of comes
  // later.
  const std::vector<ValueId>& sources() const { return sources_; }

  Chain empty_chain(ValueId v, NodeId first) const;
  Chain lines_from(ValueId x, NodeId first) const;
  std::optional<Chain> chain_to(ValueId v) const;

 private:
  bool computes_in_float(const Node& node) const;
  bool is_line(const Node& node) const;
  bool extend(Chain& chain, const Node& node) const;
  std::vector<double> rounding_of(ValueId v) const;
  std::vector<double> rounding_of_two(const Node& node) const;
  std::vector<Interval> ranges_of(ValueId v, size_t channels) const;

  const Graph& g_;
  const SeenRanges& seen_;
  const Uses uses_;
  std::vector<bool> may_be_float_;
  std::vector<ValueId> sources_;
};

// The end of the chain, its channels of these sizes, from before node `at` on. What makes the
// chain's first value is computed once more, in float: what else reads it may be int8.
ValueId sized_end(Graph& graph, const Chain& chain, const ChannelSizes& sizes, NodeId at);

}  // namespace deuteron
