// SPDX-License-Identifier: Apache-2.0
// A program: values, nodes in execution order, and where each node comes from. A Graph is a plain
// value; edges are integer ids.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/tensor/constant.h"
#include "base/tensor/type.h"
#include "ops/all.h"

namespace deuteron {

using NodeId = i32;

// An operator of the user's model, as the front end met it. Graph::sources holds them; everything
// later refers to them by index.
struct SourceOp {
  std::string name;    // the node's name in the model: "conv2d_1"
  std::string target;  // "aten.conv2d.default"
  std::string module;  // "backbone.7.conv", empty when the model does not say
  std::string stack;   // the user's stack trace, empty when the model does not say
  // Why it is several operators here, where its form of one does not do: "its weight is computed,
  // so .."; else empty.
  std::string in_parts = {};
};

// Ids of the user's operators that a node computes (a part of), sorted, without duplicates.
using Origin = std::vector<i32>;
Origin merge(const Origin&, const Origin&);

// Without the quantize and dequantize operators that a quantizer put around the user's own; all of
// it when there is nothing else.
struct Graph;
Origin users_own(const Graph&, const Origin&);

// Not `Value`: that is an argument of a kernel in runtime/kernel.h.
struct GraphValue {
  std::string name;
  Type type;
  std::optional<Constant> constant;
};

struct Node {
  Op op;
  std::vector<ValueId> inputs;  // optional operands at the end are left out
  std::vector<ValueId> outputs;
  Origin origin;
};

// A graph input or output. `order[k]` is the user's axis that lies at storage position k (a dim
// order); the user's own shape has extent value.shape[k] at axis order[k]. An image that the user
// calls [n,c,h,w] and the graph keeps as [n,h,w,c] has order 0,2,3,1.
struct Port {
  ValueId value;
  std::string name;
  Axes order;
  // The port of the user's model, where that is int8 or int16 steps: the reader has put a quantize
  // or dequantize beside it.
  std::optional<Type> steps = {};
};
Shape logical_shape(const Port&, const Shape& storage);

// A value that lives from one call to the next. The graph reads it as an input and makes its new
// value as an output: of the S states of a graph, state k is inputs[inputs.size() - S + k] and
// outputs[outputs.size() - S + k], two ports of one type, order and name.
struct State {
  Type type;  // of `initial`: shape as the ports store it; the model's dtype, whatever the ports
              // become by quantization
  Constant initial;  // what the first call reads
  i32 source = -1;   // the operator that writes the state; -1: it has no name in the model
};

// A user's operator that has no node any more, and why ("identity", "folded into conv2d").
struct Folded {
  Origin origin;
  std::string reason;
};

// Whose integers the results of int8 operators are: ours (docs/numerics.md), or those of TFLite's
// reference kernels, as the model asks.
enum class Numerics : u8 { own, tflite };

struct Graph {
  std::string name;  // the model's file name, for messages
  Numerics numerics = Numerics::own;
  std::vector<GraphValue> values;
  std::vector<Node> nodes;
  std::vector<Port> inputs, outputs;  // the user's, then those of the states
  std::vector<State> states;
  std::vector<SourceOp> sources;
  std::vector<Folded> folded;

  ValueId add_value(std::string value_name, Type type,
                    std::optional<Constant> constant = std::nullopt);
  // Appends a node with new values for its outputs, named after `value_name`; returns the first
  // output.
  ValueId add_node(Op op, std::vector<ValueId> node_inputs, std::vector<Type> types,
                   std::string value_name, Origin origin);

  const Type& type(ValueId v) const { return values[v].type; }
  bool is_constant(ValueId v) const { return values[v].constant.has_value(); }
  TypeView types(std::span<const ValueId> ids, std::vector<const Type*>& storage) const;

  std::span<const Port> user_inputs() const {
    return std::span(inputs).first(inputs.size() - states.size());
  }
  std::span<const Port> user_outputs() const {
    return std::span(outputs).first(outputs.size() - states.size());
  }
  std::span<const Port> state_inputs() const { return std::span(inputs).last(states.size()); }
  std::span<const Port> state_outputs() const { return std::span(outputs).last(states.size()); }
};

// Who makes and who reads each value. Valid until the graph changes.
struct Uses {
  explicit Uses(const Graph& g);
  std::vector<NodeId> producer;              // -1: input or constant
  std::vector<std::vector<NodeId>> readers;  // one entry for each use
  std::vector<i32> output_uses;              // as a graph output
  bool has_single_reader(ValueId v) const { return readers[v].size() == 1 && output_uses[v] == 0; }
};

// "conv2d `backbone.7.conv` (source op 41)": how messages name a node.
std::string describe(const Graph&, const Node&);

// Multiply-adds of a node; 0 where the operator has none.
i64 macs_of(const Graph&, const Node&);
i64 macs_of(const Graph&);

// Removes nodes whose outputs nobody reads and values that nobody refers to; renumbers. What is
// removed without having been replaced is recorded in `folded` with `reason`.
void remove_dead(Graph&, const std::string& reason);

// Removes values that no node and no port refers to; renumbers.
void drop_unreferenced_values(Graph&);

}  // namespace deuteron
