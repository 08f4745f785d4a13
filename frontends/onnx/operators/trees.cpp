// SPDX-License-Identifier: Apache-2.0
// Ensembles of decision trees. A node is a row of tables: the feature that it looks at, its bound,
// and the nodes behind it; a leaf leads to itself and has a row of weights. All trees go down a
// level together, as many levels as the deepest has, in float: nothing is rounded to steps, and a
// feature just above its bound stays there.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "frontends/onnx/operators/classical.h"
#include "frontends/onnx/operators/compose.h"
#include "frontends/onnx/operators/import_table.h"

namespace deuteron::onnx {
namespace {

constexpr i64 kMostLevels = 64, kMostTableElements = i64{1} << 22;

struct Tables {
  std::vector<i64> feature, yes, no, roots;
  std::vector<float> bound, weights;  // weights: [nodes, targets]
  i64 targets = 1, levels = 0;
  TwoClasses two = TwoClasses::no;
  bool picks_yes = false, above = false;  // what is looked for: x > bound or x < bound, and whether
                                          // that is the condition or its contrary
  i64 nodes() const { return static_cast<i64>(feature.size()); }
};

using Id = std::pair<i64, i64>;  // tree, node

// The attributes that say what trees there are, as long as each other.
struct Listed {
  std::vector<i64> tree, node, feature, yes, no;
  std::vector<float> bound;
  std::vector<std::string> mode;
  std::map<Id, i64> at;  // where a node stands in these lists
};

Listed read_nodes(Call& c) {
  Listed l{c.integers("nodes_treeids"),      c.integers("nodes_nodeids"),
           c.integers("nodes_featureids"),   c.integers("nodes_truenodeids"),
           c.integers("nodes_falsenodeids"), numbers_listed(c, "nodes_values"),
           texts_listed(c, "nodes_modes"),   {}};
  const size_t n = l.tree.size();
  c.require(
      !c.ok() || (n >= 1 && l.node.size() == n && l.feature.size() == n && l.yes.size() == n &&
                  l.no.size() == n && l.bound.size() == n && l.mode.size() == n),
      "has lists of nodes that differ in length, or none in float32", std::to_string(n),
      std::to_string(l.node.size()), "onnx.trees.nodes");
  const std::vector<i64> missing = c.integers("nodes_missing_value_tracks_true");
  c.require(std::ranges::all_of(missing, [](i64 v) { return v == 0; }),
            "has nodes where a missing value counts as true", "1", "0", "onnx.trees.missing");
  for (size_t k = 0; c.ok() && k < n; ++k)
    c.require(l.at.emplace(Id{l.tree[k], l.node[k]}, static_cast<i64>(k)).second,
              "has a node twice", fmt::format("tree {}, node {}", l.tree[k], l.node[k]), "once",
              "onnx.trees.nodes");
  return l;
}

// One kind of comparison for all trees, which is what training makes.
void read_mode(Call& c, const Listed& l, Tables& t) {
  std::set<std::string> modes(l.mode.begin(), l.mode.end());
  modes.erase("LEAF");
  const std::string mode = modes.empty() ? "BRANCH_LEQ" : *modes.begin();
  c.require(modes.size() <= 1 && (mode == "BRANCH_LEQ" || mode == "BRANCH_LT" ||
                                  mode == "BRANCH_GT" || mode == "BRANCH_GTE"),
            "compares in several ways, or in one that is not supported",
            fmt::format("{}", modes.size() > 1 ? "several" : mode),
            "one of BRANCH_LEQ, BRANCH_LT, BRANCH_GT, BRANCH_GTE", "onnx.trees.mode");
  t.picks_yes = mode == "BRANCH_LT" || mode == "BRANCH_GT";
  t.above = mode == "BRANCH_GT" || mode == "BRANCH_LEQ";
}

void read_tables(Call& c, const Listed& l, i64 features, Tables& t) {
  std::vector<bool> has_parent(l.tree.size(), false);
  for (size_t k = 0; c.ok() && k < l.tree.size(); ++k) {
    const bool is_leaf = l.mode[k] == "LEAF";
    const auto behind = [&](i64 node) {
      if (is_leaf) return static_cast<i64>(k);
      const auto it = l.at.find({l.tree[k], node});
      c.require(it != l.at.end() && !has_parent[static_cast<size_t>(it->second)] &&
                    it->second != static_cast<i64>(k),
                "has a node that is missing, or is reached twice", std::to_string(node), "once",
                "onnx.trees.nodes");
      if (!c.ok()) return i64{0};
      has_parent[static_cast<size_t>(it->second)] = true;
      return it->second;
    };
    c.require(is_leaf || (l.feature[k] >= 0 && l.feature[k] < features),
              "looks at a feature that is not there", std::to_string(l.feature[k]),
              std::to_string(features), "onnx.trees.feature");
    c.require(is_leaf || std::isfinite(l.bound[k]), "has a bound that is not finite",
              std::to_string(l.bound[k]), "a number", "onnx.trees.nodes");
    t.feature.push_back(is_leaf ? 0 : l.feature[k]);
    t.bound.push_back(is_leaf ? 0 : l.bound[k]);
    t.yes.push_back(behind(l.yes[k]));
    t.no.push_back(behind(l.no[k]));
  }
  if (!c.ok()) return;
  // From the roots down, level by level: every node has one parent, so this ends.
  std::vector<i64> level;
  for (i64 k = 0; k < t.nodes(); ++k)
    if (!has_parent[static_cast<size_t>(k)]) t.roots.push_back(k);
  c.require(!t.roots.empty(), "has trees without a root", "0", "1", "onnx.trees.nodes");
  level = t.roots;
  for (;; ++t.levels) {
    std::vector<i64> next;
    for (const i64 k : level)
      if (t.yes[static_cast<size_t>(k)] != k)
        next.push_back(t.yes[static_cast<size_t>(k)]), next.push_back(t.no[static_cast<size_t>(k)]);
    if (next.empty()) break;
    level = std::move(next);
  }
  c.require(t.levels <= kMostLevels, "has trees of too many levels", std::to_string(t.levels),
            std::to_string(kMostLevels), "onnx.trees.nodes");
}

// `kind`: "target" or "class". A tree with one leaf for what is added to all.
void read_weights(Call& c, const Listed& l, const std::string& kind, Tables& t, double share) {
  const std::vector<i64> tree = c.integers(kind + "_treeids"), node = c.integers(kind + "_nodeids"),
                         id = c.integers(kind + "_ids");
  const std::vector<float> weight = numbers_listed(c, kind + "_weights"),
                           base = numbers_listed(c, "base_values");
  c.require(!c.ok() || (tree.size() == weight.size() && node.size() == weight.size() &&
                        id.size() == weight.size()),
            "has lists of weights that differ in length, or none in float32",
            std::to_string(weight.size()), std::to_string(tree.size()), "onnx.trees.weights");
  // Of two classes of which one has weights it is that one's.
  const bool fits = t.two == TwoClasses::no ? static_cast<i64>(base.size()) == t.targets
                                            : t.two != TwoClasses::both && base.size() == 1;
  c.require(!c.ok() || base.empty() || fits, "has base values that do not fit its targets",
            std::to_string(base.size()),
            t.two == TwoClasses::no     ? std::to_string(t.targets)
            : t.two == TwoClasses::both ? "none"
                                        : "1",
            "onnx.trees.weights");
  c.require(!c.ok() || (t.targets >= 1 && (t.nodes() + 1) * t.targets <= kMostTableElements),
            "has tables of too many elements", fmt::format("{} x {}", t.nodes() + 1, t.targets),
            std::to_string(kMostTableElements), "onnx.trees.weights");
  if (!c.ok()) return;
  t.weights.assign(static_cast<size_t>(t.nodes() * t.targets), 0.0f);
  for (size_t k = 0; k < weight.size() && c.ok(); ++k) {
    const auto it = l.at.find({tree[k], node[k]});
    c.require(it != l.at.end() && id[k] >= 0 && id[k] < t.targets && std::isfinite(weight[k]),
              "has a weight of no leaf or no target",
              fmt::format("tree {}, node {}, id {}", tree[k], node[k], id[k]),
              fmt::format("a node, id 0..{}", t.targets - 1), "onnx.trees.weights");
    if (c.ok())
      t.weights[static_cast<size_t>(it->second * t.targets + id[k])] +=
          static_cast<float>(weight[k] * share);
  }
  if (base.empty() || !c.ok()) return;
  t.roots.push_back(t.nodes());
  t.yes.push_back(t.nodes()), t.no.push_back(t.nodes()), t.bound.push_back(0),
      t.feature.push_back(0);
  t.weights.insert(t.weights.end(), base.begin(), base.end());
  t.weights.resize(static_cast<size_t>(t.nodes() * t.targets), 0.0f);
}

// Down all trees at once: [n, trees] positions of nodes. Tables have a row for each row of
// features, as gather wants it: nothing is reshaped, which would round it.
Operand leaves(Call& c, const Operand& x, const Tables& t) {
  const i64 n = c.shape(x)[0], trees = static_cast<i64>(t.roots.size());
  c.require(n * t.nodes() <= kMostTableElements, "has tables of too many elements",
            fmt::format("{} x {}", n, t.nodes()), std::to_string(kMostTableElements),
            "onnx.trees.weights");
  if (!c.ok()) return {};
  const Shape shape{n, trees}, table_shape{n, t.nodes()};
  const auto for_each_row = [n](const auto& one) {
    auto all = one;
    all.clear();
    for (i64 k = 0; k < n; ++k) all.insert(all.end(), one.begin(), one.end());
    return all;
  };
  const auto table = [&](const char* name, const std::vector<i64>& v) {
    return c.known(name, {DType::s32, table_shape, {}}, for_each_row(v));
  };
  const Operand feature = table("features", t.feature), yes = table("yes", t.yes),
                no = table("no", t.no);
  const Operand bound = c.numbers("bounds", table_shape, for_each_row(t.bound));
  Operand at = c.known("roots", {DType::s32, shape, {}}, for_each_row(t.roots));
  for (i64 level = 0; level < t.levels && c.ok(); ++level) {
    const auto name = [level](const char* what) { return fmt::format("level{}_{}", level, what); };
    const auto of = [&](const Operand& from, const Operand& which, const char* what) {
      return c.kernel("aten.gather.default", along(from, 1, which, true), c.dtype(from), shape,
                      name(what));
    };
    const Operand value = of(x, of(feature, at, "feature"), "value"),
                  limit = of(bound, at, "bound");
    // A difference in float is 0 where both are equal, and has the right sign elsewhere.
    const Operand apart = c.kernel("aten.sub.Tensor", {{"self", value}, {"other", limit}},
                                   DType::f32, shape, name("apart"));
    const char* side = t.above ? "min" : "max";
    const Operand beyond = c.kernel("aten.clamp.default", {{"self", apart}, {side, 0.0}},
                                    DType::f32, shape, name("beyond"));
    const Operand found = converted(c, beyond, DType::b8, name("found"));
    const Operand one = of(t.picks_yes ? yes : no, at, "one"),
                  other = of(t.picks_yes ? no : yes, at, "other");
    at = chosen(c, found, one, other, shape, fmt::format("level{}", level));
  }
  return at;
}

// Scores [n, targets] of trees whose weights are those of `kind`.
Operand scores_of(Call& c, const std::string& kind, Tables& t) {
  const Operand given = c.operand(0);
  c.require(!c.ok() || c.rank(given) == 2, "takes rows of features",
            c.ok() ? to_text(c.shape(given)) : "", "[n, features]", "onnx.features.rank");
  const Operand x = feature_rows(c, given);
  c.require(
      !c.has_attribute("nodes_values_as_tensor") && !c.has_attribute(kind + "_weights_as_tensor"),
      "has bounds or weights in double", "nodes_values_as_tensor", "nodes_values, in float32",
      "onnx.trees.double");
  const std::string aggregate = c.text("aggregate_function", "SUM");
  c.require(aggregate == "SUM" || aggregate == "AVERAGE",
            "joins its trees in a way that is not supported", aggregate, "SUM, AVERAGE",
            "onnx.trees.aggregate");
  const Listed l = read_nodes(c);
  if (!c.ok()) return {};
  read_mode(c, l, t);
  if (!c.ok()) return {};
  read_tables(c, l, c.shape(x)[1], t);
  if (!c.ok()) return {};
  read_weights(c, l, kind, t, aggregate == "AVERAGE" ? 1 / static_cast<double>(t.roots.size()) : 1);
  if (!c.ok()) return {};
  const Operand at = leaves(c, x, t);
  if (!c.ok()) return {};
  const i64 n = c.shape(x)[0], trees = static_cast<i64>(t.roots.size());
  const Operand weights = c.numbers("weights", {t.nodes(), t.targets}, t.weights);
  const Operand rows = looked_up(c, weights, at, {n, trees, t.targets}, "rows", true);
  return c.kernel("aten.sum.dim_IntList", over_axes(rows, {1}, false), DType::f32, {n, t.targets},
                  "sums");
}

}  // namespace

static void import_tree_regressor(Call& c) {
  Tables t;
  t.targets = c.integer("n_targets", 1);
  c.result(transformed(c, scores_of(c, "target", t), ""));
}

// Two labels: weights of the first class alone are the second one's score s. ONNX Runtime completes
// it to 1 - s and s where all weights are positive, else to the transforms of -s and s.
static void import_tree_classifier(Call& c) {
  Tables t;
  const size_t labels = std::max(c.integers("classlabels_int64s").size(),
                                 texts_listed(c, "classlabels_strings").size());
  c.require(!c.ok() || labels >= 2, "has no labels to choose from", std::to_string(labels), "2",
            "onnx.classes.labels");
  const std::vector<i64> all = c.integers("class_ids");
  const std::vector<float> weights = numbers_listed(c, "class_weights");
  const std::set<i64> ids(all.begin(), all.end());
  const bool positive = std::ranges::all_of(weights, [](float w) { return w >= 0; });
  t.targets = static_cast<i64>(labels);
  if (labels == 2)
    t.two = ids != std::set<i64>{0} ? TwoClasses::both
            : positive              ? TwoClasses::one_less
                                    : TwoClasses::negative;
  const Operand scores = scores_of(c, "class", t);
  const bool has_one = t.two == TwoClasses::one_less || t.two == TwoClasses::negative;
  finish_classes(c, has_one ? sliced(c, scores, 1, 0, 1, 1, "score") : scores, t.two,
                 positive && ids.size() == 1 ? 0.5 : 0);
}

static constexpr ImportRow kTreesRows[] = {
    {"TreeEnsembleClassifier", import_tree_classifier, kClassical},
    {"TreeEnsembleRegressor", import_tree_regressor, kClassical},
};
ImportRows trees_rows() { return kTreesRows; }

}  // namespace deuteron::onnx
