// SPDX-License-Identifier: Apache-2.0
// Rewriting: a rule looks at a node and answers with a patch, a plain value; applying it refuses a
// change of type and keeps the origins.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace deuteron {

// What a rule wants instead of its root. New value k has the id g.values.size() + k.
struct Patch {
  struct NewValue {
    std::string
        name;  // empty: the name of the value that it replaces, else that of the root's result
    Type type;
    std::optional<Constant> constant;
  };
  std::vector<NewValue> values;
  std::vector<Node> nodes;  // in execution order; an empty origin is filled in by apply
  std::vector<std::pair<ValueId, ValueId>>
      replace;         // old, new: for all readers and graph outputs, not for the new nodes
  std::string reason;  // for Graph::folded, where an operator vanishes without a successor
};

struct CompileOptions;  // compile/options.h
struct Compilation;     // compile/compilation.h
struct Target;          // targets/target.h

// What a rule may ask for beside the graph, and how often rules may be applied.
struct RuleContext {
  const Target* target = nullptr;           // null: no rule of the set asks
  const CompileOptions* options = nullptr;  // the same
  // each rewrite takes one, and none is made at 0; null or negative: no limit
  i64* rewrites_left = nullptr;
  // what passes before have decided; null: the same as `target`
  const Compilation* decided = nullptr;
};

// A pure function, with or without the context; of one operator alone: kRule. `root` is a node that
// something reads. While `rewrite` is at work, node ids say nothing about the execution order and
// nodes that are gone are empty: follow the edges (Uses), do not walk g.nodes.
class Rule {
 public:
  using OfGraph = std::optional<Patch> (*)(const Graph&, const Uses&, NodeId root);
  using InContext = std::optional<Patch> (*)(const Graph&, const Uses&, NodeId root,
                                             const RuleContext&);
  constexpr Rule(OfGraph rule) : of_graph_(rule) {}
  constexpr Rule(InContext rule) : in_context_(rule) {}
  std::optional<Patch> operator()(const Graph& g, const Uses& uses, NodeId root,
                                  const RuleContext& context) const {
    return of_graph_ ? of_graph_(g, uses, root) : in_context_(g, uses, root, context);
  }

 private:
  OfGraph of_graph_ = nullptr;
  InContext in_context_ = nullptr;
};

// Puts the new nodes right before `root` (right after it when one of them reads a result of the
// root), redirects, and removes the nodes that die of it. A new node without an origin gets that of
// the nodes with the same operator and attributes that died: they have moved. The origins of the
// other nodes that died go to the other new nodes, to all of them; when there are none, to the
// moved ones. Nothing is lost: what has no new node at all goes to Graph::folded. CHECKs: same
// dtype, shape and quantization for each replaced value; everything made before it is read.
void apply(Graph& graph, Patch patch, NodeId root);

// Applies the rules, the first that matches at each node, until none matches anywhere; returns how
// many times one did. Rules that go on for ever end in a CHECK. Cost: a rewrite looks again at its
// neighbourhood only; a last sweep over all nodes proves the fixed point.
i64 rewrite(Graph& graph, std::span<const Rule> rules, const RuleContext& context);
inline i64 rewrite(Graph& graph, std::span<const Rule> rules, i64* rewrites_left) {
  return rewrite(graph, rules, {nullptr, nullptr, rewrites_left});
}

// Writes a patch in the order of the picture above the rule.
class PatchBuilder {
 public:
  PatchBuilder(const Graph& graph, NodeId root, std::string reason);

  ValueId constant(Type type, Constant data, std::string name = {});
  template <class T>
  ValueId constant(DType dtype, Shape shape, std::vector<T> data, std::string name = {}) {
    return constant(Type{dtype, std::move(shape), {}}, constant_of(std::move(data)),
                    std::move(name));
  }
  // A new node; dtype and shape of its result are inferred (CHECK), the quantization parameters are
  // `quant`.
  ValueId add(Op op, std::vector<ValueId> inputs, Quant quant = {}, std::string name = {});
  // A new node with several results, the first of which is returned; the others follow it.
  ValueId add_results(Op op, std::vector<ValueId> inputs, const std::vector<Quant>& quants,
                      const std::vector<std::string>& names);
  // A new node whose result has this type, without inference: for kernel calls.
  ValueId add_typed(Op op, std::vector<ValueId> inputs, Type type, std::string name = {});
  PatchBuilder& replace(ValueId old_value, ValueId new_value);
  // The root's (first) result becomes `new_value`.
  Patch replace_root(ValueId new_value);
  // The root's (first) result becomes that of one new node with the same quantization.
  Patch replace_root(Op op, std::vector<ValueId> inputs);
  Patch done() { return std::move(patch_); }

  const Type& type(ValueId v) const;  // of an old or a new value

 private:
  const Graph& graph_;
  NodeId root_;
  Patch patch_;
};

// The operator of a node if it is a T; null for another operator and for no node (-1).
template <class T>
const T* op_as(const Graph& g, NodeId n) {
  return n < 0 ? nullptr : std::get_if<T>(&g.nodes[n].op);
}

// A function of the root's operator, which it takes first, as a rule: nothing where the root has
// another.
template <auto of_one_operator>
struct RuleOfOne;
template <class T, class... Context,
          std::optional<Patch> (*rule)(const T&, const Graph&, const Uses&, NodeId, Context...)>
struct RuleOfOne<rule> {
  static std::optional<Patch> apply(const Graph& g, const Uses& uses, NodeId root,
                                    Context... context) {
    const T* op = op_as<T>(g, root);
    return op ? rule(*op, g, uses, root, context...) : std::nullopt;
  }
};
template <auto of_one_operator>
inline constexpr Rule kRule = RuleOfOne<of_one_operator>::apply;

// The node that makes `v` if it is a T, else -1.
template <class T>
NodeId producer_as(const Graph& g, const Uses& uses, ValueId v) {
  return op_as<T>(g, uses.producer[v]) ? uses.producer[v] : -1;
}

}  // namespace deuteron
