// SPDX-License-Identifier: Apache-2.0
// The plan of post-training quantization is asked for, and told by the names of the imported graph.
// A value keeps its name through the passes; one that is gone was inside an operator now, unless
// its numbers were only moved: then they are still those of what they came from.
#include "compile/precision/annotations.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "compile/compilation.h"
#include "compile/options.h"
#include "compile/pipeline.h"
#include "compile/place/npu_support.h"
#include "compile/quantize/quantization_clusters.h"
#include "ops/families.h"
#include "targets/target.h"

namespace deuteron {
namespace {

class Annotator {
 public:
  Annotator(const Graph& model, const Graph& graph, const QuantizeOptions& options,
            Diagnostics& diagnostics)
      : model_(model),
        g_(graph),
        options_(options),
        uses_(graph),
        plan_(plan_quantization(graph, options, diagnostics)) {
    for (ValueId v = 0; v < static_cast<ValueId>(g_.values.size()); ++v)
      value_of_.emplace(g_.values[v].name, v);
  }

  Annotations run() {
    find_results();
    find_values();
    for (size_t n = 0; n < g_.nodes.size(); ++n) {
      if (plan_.quantized[n]) find_constants(n);
      if (plan_.quantized[n]) find_parts(g_.nodes[n]);
      else find_float(g_.nodes[n]);
    }
    for (const Folded& f : model_.folded)
      for (const i32 s : f.origin) result_.identities.push_back(model_.sources[s].name);
    return std::move(result_);
  }

 private:
  // Parameters that the operator says hold for the whole cluster only where all of its numbers are
  // those of such an operator.
  std::optional<QuantSpec> fixed_of(const Cluster& cluster) const {
    for (const ValueId v : cluster.members) {
      const NodeId n = uses_.producer[v];
      const bool follows = n >= 0 && passes_numbers_on(g_.nodes[n].op);
      if (!follows &&
          !(plan_.fixed[v] && plan_.fixed[v]->fixed_scale == cluster.fixed->fixed_scale))
        return std::nullopt;
    }
    return cluster.fixed;
  }

  void add_value(const std::string& name, ValueId v) {
    const Cluster& cluster = plan_.clusters[plan_.cluster_of[v]];
    named_clusters_.insert(plan_.cluster_of[v]);
    AnnotatedValue row{name, plan_.cluster_of[v], cluster.dtype, cluster.symmetric, plan_.fixed[v]};
    if (!row.fixed && cluster.fixed) row.fixed = fixed_of(cluster);
    result_.values.push_back(std::move(row));
  }

  // What a node computes is the result of the last of the user's operators that are in it; before
  // that, there are parts of that operator.
  void find_results() {
    for (size_t n = 0; n < g_.nodes.size(); ++n) {
      const Node& node = g_.nodes[n];
      if (node.outputs.size() == 1 && !is_movement(node.op) && !node.origin.empty())
        result_of_[node.origin.back()] = node.outputs[0];
    }
  }

  void find_values() {
    std::vector<ValueId> now(model_.values.size(), -1);  // what each imported value is now
    const auto by_name = [&](ValueId v) {
      const auto known = value_of_.find(model_.values[v].name);
      return known == value_of_.end() ? -1 : known->second;
    };
    const auto found = [&](ValueId v, ValueId is) {
      now[v] = is;
      if (is >= 0 && plan_.cluster_of[is] >= 0) add_value(model_.values[v].name, is);
    };
    for (const Port& port : model_.inputs) found(port.value, by_name(port.value));
    for (const Node& node : model_.nodes) {
      const auto result =
          node.origin.empty() ? result_of_.end() : result_of_.find(node.origin.back());
      for (const ValueId v : node.outputs)
        if (is_movement(node.op))
          found(v,
                now[node.inputs[0]] >= 0 || !absorbs(node) ? now[node.inputs[0]] : result->second);
        else
          found(v, node.outputs.size() > 1      ? by_name(v)
                   : result == result_of_.end() ? -1
                                                : result->second);
    }
  }
  // An operator in front of a movement may have taken it up.
  bool absorbs(const Node& movement) const {
    return !movement.origin.empty() && result_of_.contains(movement.origin.back());
  }

  std::string reader_of(const Node& node) const {
    return node.origin.empty() ? "" : model_.sources[node.origin[0]].name;
  }

  void find_constants(size_t n) {
    const Node& node = g_.nodes[n];
    const std::span<const QuantSpec> specs = quant_specs(g_, node, options_, plan_.precision[n]);
    if (specs.empty()) return;  // a number_call()
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      const QuantSpec& spec = operand_spec(specs, k);
      if (!g_.is_constant(node.inputs[k]) ||
          (spec.gran != Gran::per_channel && spec.gran != Gran::per_tensor))
        continue;
      AnnotatedConstant row{g_.values[node.inputs[k]].name,
                            reader_of(node),
                            spec.dtype,
                            -128,
                            127,
                            -1,
                            spec.symmetric};
      if (spec.gran == Gran::per_channel) {
        row.symmetric = true, row.low = options_.weight_low;
        row.axis = weight_axis(node, spec, options_);
      }
      result_.constants.push_back(std::move(row));
    }
  }

  // Its results have parameters that no value of the model has.
  void find_parts(const Node& node) {
    if (is_movement(node.op) || node.origin.empty() || node.outputs.size() > 1) return;
    const i32 cluster = plan_.cluster_of[node.outputs[0]];
    if (cluster < 0 || named_clusters_.contains(cluster)) return;
    const SourceOp& source = model_.sources[node.origin.back()];
    if (parts_.insert(node.origin.back()).second) result_.in_parts.push_back(source.name);
  }

  void find_float(const Node& node) {
    if (is_quantize_or_dequantize(node.op) || node.origin.empty()) return;
    const bool is_float = std::any_of(node.outputs.begin(), node.outputs.end(),
                                      [&](ValueId v) { return g_.type(v).dtype == DType::f32; });
    if (is_float && floats_.insert(node.origin.back()).second)
      result_.in_float.push_back(model_.sources[node.origin.back()]);
  }

  const Graph &model_, &g_;
  const QuantizeOptions& options_;
  Uses uses_;
  QuantizationPlan plan_;
  std::map<i32, ValueId> result_of_;  // by source
  std::map<std::string, ValueId> value_of_;
  std::set<i32> parts_, floats_, named_clusters_;
  Annotations result_;
};

}  // namespace

Annotations annotations_for(const Graph& model, const Target& target, const CompileOptions& options,
                            Diagnostics& diagnostics) {
  for (const Node& node : model.nodes)
    if (is_quantize_or_dequantize(node.op)) return {{}, {}, {}, {}, {}, true};
  Compilation compilation;
  compilation.graph = model;
  i64 rewrites = std::numeric_limits<i64>::max();
  const Samples none;
  PassContext context{compilation.graph, target,      none,     options,
                      compilation,       diagnostics, &rewrites};
  // Up to where a quantized model's own parameters are taken: forms for the NPU have values that
  // they would not give.
  if (!run_passes(context, "fold-constants", "fuse-again")) return {};
  QuantizeOptions quantize = options.quantize;
  if (target.npu)
    quantize.runs_on_npu = [&](const Graph& g, const Node& node) {
      return npu_takes(g, node, target, options.npu);
    };
  return Annotator(model, compilation.graph, quantize, diagnostics).run();
}

}  // namespace deuteron
