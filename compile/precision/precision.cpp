// SPDX-License-Identifier: Apache-2.0
#include "compile/precision/precision.h"

#include <fmt/format.h>

#include <algorithm>

#include "compile/named_nodes.h"
#include "compile/options.h"
#include "compile/quantize/int4_weights.h"
#include "compile/quantize/quantization_clusters.h"
#include "ops/families.h"
#include "ops/int16.h"
#include "targets/target.h"

namespace deuteron {

// Null: nobody names the node.
static const NamedLayer* named_layer(const PassContext& pass, const Graph& g, const Node& node) {
  const std::vector<NamedLayer>& layers = pass.options.layers;
  const auto last = std::find_if(layers.rbegin(), layers.rend(),
                                 [&](const NamedLayer& l) { return is_named(g, node, l.name); });
  return last == layers.rend() ? nullptr : &*last;
}

static bool has_int16_form(const Node& node) { return !int16_quant_specs(node.op).empty(); }

LayerPrecision precision_of(const PassContext& pass, const Graph& g, const Node& node) {
  const NamedLayer* layer = named_layer(pass, g, node);
  if (!layer)
    return pass.options.precision == NetworkPrecision::int16 ? LayerPrecision::int16
                                                             : LayerPrecision::int8;
  if (layer->precision == NamedPrecision::in_float) return LayerPrecision::in_float;
  return layer->precision == NamedPrecision::int16 && has_int16_form(node) ? LayerPrecision::int16
                                                                           : LayerPrecision::int8;
}

bool is_int4_layer(const PassContext& pass, const Graph& g, const Node& node) {
  const NamedLayer* layer = named_layer(pass, g, node);
  if (layer) return layer->precision == NamedPrecision::int4;
  return pass.options.precision == NetworkPrecision::int4;
}

static std::string option_text(const NamedLayer& layer) {
  return fmt::format("--layer {}={}", layer.name, text_of(layer.precision));
}

// The option that asks for this: of a layer, or of the network.
static std::string option_of(const CompileOptions& o, NamedPrecision precision) {
  const auto layer = std::ranges::find(o.layers, precision, &NamedLayer::precision);
  return layer != o.layers.end() ? option_text(*layer)
                                 : fmt::format("--precision {}", text_of(o.precision));
}

void refuse_precision_of_quantized(PassContext& pass) {
  const CompileOptions& o = pass.options;
  if (o.precision != NetworkPrecision::int8 || !o.layers.empty())
    pass.diagnostics.error(
        pass.graph.name, "is quantized already, and keeps its scales and weights",
        "precision.quantized",
        fmt::format("give the float model, or leave {} out",
                    o.layers.empty() ? option_of(o, {}) : option_text(o.layers.front())));
}

// Null: the target runs int16 operators.
static const char* why_not_int16(const PassContext& pass) {
  if (pass.target.npu) return "cannot work on int16: the NPU has int8 only";
  if (pass.target.options.is_for_stock())
    return "cannot work on int16: stock firmware has no such kernels";
  return nullptr;
}

// Operators that would be quantized, on a target that has no int16 kernels: each is refused by
// name.
static void check_int16(PassContext& pass) {
  const char* why = has_int16(pass.options) ? why_not_int16(pass) : nullptr;
  if (!why) return;
  const QuantizeOptions int8;
  const bool is_of_all = pass.options.precision != NetworkPrecision::int8;
  for (const Node& node : pass.graph.nodes) {
    const NamedLayer* layer = named_layer(pass, pass.graph, node);
    const bool is_meant = layer ? layer->precision == NamedPrecision::int16 : is_of_all;
    if (is_meant && !quant_specs(pass.graph, node, int8, LayerPrecision::int8).empty())
      pass.diagnostics.error(
          fmt::format("{}: {}", pass.graph.name, describe(pass.graph, node)), why,
          "precision.int16",
          fmt::format("compile for our runtime on a Cortex-M (--dialect deuteron), or leave {} out",
                      option_of(pass.options, NamedPrecision::int16)));
  }
}

// Null: the target's kernels read weights of four bits.
static const char* why_not_int4(const PassContext& pass) {
  if (pass.target.npu) return "cannot have weights of four bits: the NPU reads int8";
  if (pass.target.options.is_for_stock())
    return "cannot have weights of four bits: stock firmware has no such kernels";
  if (pass.target.isa == Isa::scalar)
    return "cannot have weights of four bits: no kernel for its instruction set reads them";
  if (!pass.options.packed_weights) return "cannot have weights of four bits with --dialect plain";
  return nullptr;
}

static void check_int4(PassContext& pass) {
  if (!has_int4_weights(pass.options)) return;
  const std::string& model = pass.graph.name;
  const std::string option = option_of(pass.options, NamedPrecision::int4);
  if (const char* why = why_not_int4(pass))
    return pass.diagnostics.error(
        fmt::format("{} for {}", model, pass.target.name), why, "weights.int4",
        fmt::format(
            "compile for our runtime on a Cortex-M with the DSP extension or MVE, or leave {} out",
            option));
  if (has_int16(pass.options))
    pass.diagnostics.error(
        model, fmt::format("{} cannot be combined with int16 layers", option), "weights.precision",
        fmt::format("leave {} out, or {}", option, option_of(pass.options, NamedPrecision::int16)));
}

// What a name stands for must have the form; what else it stands for stays int8.
static void check_layer(PassContext& pass, const NamedLayer& layer) {
  const Graph& g = pass.graph;
  const auto has_form = [&](const Node& n) {
    if (layer.precision == NamedPrecision::int16)
      return has_int16_form(n) && !is_same_storage(n.op);
    return layer.precision != NamedPrecision::int4 || has_int4_form(g, n);
  };
  if (std::ranges::any_of(g.nodes,
                          [&](const Node& n) { return is_named(g, n, layer.name) && has_form(n); }))
    return;
  const size_t before = pass.diagnostics.list().size();
  check_name(g, "--layer", layer.name, "precision.layer", pass.diagnostics);
  if (pass.diagnostics.list().size() > before) return;
  const bool is_int4 = layer.precision == NamedPrecision::int4;
  pass.diagnostics.error(
      fmt::format("{}: {}", g.name, option_text(layer)),
      is_int4 ? "names nothing whose weights can have four bits"
              : fmt::format("names nothing that has a form in {}", text_of(layer.precision)),
      "precision.layer",
      is_int4 ? "name a linear layer, a convolution without groups, or a module with one; the "
                "others stay int8"
              : "name an operator that docs/precision.md lists, or a module with one; the others "
                "stay int8");
}

// A search must have limits, and samples that it was not made on to measure a choice.
static void check_search(PassContext& pass) {
  const CompileOptions& o = pass.options;
  const bool is_mixed = o.precision == NetworkPrecision::mixed;
  if (!is_mixed && !searches_int4_layers(o)) return;
  const std::string& model = pass.graph.name;
  const std::string what = fmt::format("--precision {}", text_of(o.precision));
  if (is_mixed && !o.max_cost && !o.target_db)
    return pass.diagnostics.error(model, "--precision mixed has no limit to choose layers by",
                                  "precision.limit",
                                  "give mixed:cost=N% (instructions over those of int8), "
                                  "mixed:db=X (accuracy to reach), or mixed:cost=N%,db=X");
  if (is_mixed ? !o.layers.empty() : names_layer(o, NamedPrecision::int4))
    return pass.diagnostics.error(
        model,
        fmt::format("{} names a layer, and {}{} chooses layers itself",
                    is_mixed ? option_text(o.layers.front()) : option_of(o, NamedPrecision::int4),
                    what, is_mixed ? "" : " with a limit"),
        "precision.all", "leave one of the two out");
  if (o.quantize.observer)
    return pass.diagnostics.error(
        model, fmt::format("--observer leaves out the search that {} measures layers with", what),
        "precision.observer", "leave --observer out");
  if (pass.samples.size() < 2)
    pass.diagnostics.add(
        {Severity::error, model,
         fmt::format("{} chooses layers on samples that calibration has not seen", what),
         std::to_string(pass.samples.size()), "at least 2 samples", "precision.samples",
         "calibrate with more samples; 32 are often enough"});
}

void check_precision(PassContext& pass) {
  for (const NamedLayer& layer : pass.options.layers) check_layer(pass, layer);
  check_search(pass);
  check_int4(pass);
  if (!pass.diagnostics.has_errors()) check_int16(pass);
}

}  // namespace deuteron
