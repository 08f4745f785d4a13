// SPDX-License-Identifier: Apache-2.0
#include "passes/weight_bits.h"

#include <fmt/format.h>

#include <algorithm>

#include "passes/named_nodes.h"
#include "passes/options.h"
#include "passes/pack_call.h"
#include "quantize/int4_weights.h"
#include "targets/target.h"

namespace deuteron {

static bool is_named(const PassContext& pass, const Graph& g, const Node& node) {
  return std::ranges::any_of(pass.options.int4_layers, [&](const std::string& name) { return is_named(g, node, name); });
}

static const char* option_of(const PassContext& pass) {
  return pass.options.weight_bits == WeightBits::eight ? "--int4-layer" : "--weight-bits";
}

bool wants_int4(const PassContext& pass) { return has_int4_weights(pass.options); }

bool is_int4_layer(const PassContext& pass, const Graph& g, const Node& node) {
  return pass.options.weight_bits == WeightBits::four || is_named(pass, g, node);
}

// Null: the target's kernels read them.
static const char* why_not_target(const PassContext& pass) {
  if (pass.target.npu) return "cannot have weights of four bits: the NPU reads int8";
  if (pass.target.options.is_for_stock()) return "cannot have weights of four bits: stock firmware has no such kernels";
  if (pass.target.isa == Isa::scalar) return "cannot have weights of four bits: no kernel for its instruction set reads them";
  if (!pass.options.packed_weights) return "cannot have weights of four bits with --weights plain";
  return nullptr;
}

static void check_names(PassContext& pass) {
  const Graph& g = pass.graph;
  for (const std::string& name : pass.options.int4_layers) {
    if (std::ranges::any_of(g.nodes, [&](const Node& n) { return is_named(g, n, name) && has_int4_form(g, n); })) continue;
    const size_t before = pass.diagnostics.list().size();
    check_name(g, "--int4-layer", name, "weights.layer", pass.diagnostics);
    if (pass.diagnostics.list().size() == before)
      pass.diagnostics.error(fmt::format("{}: --int4-layer {}", g.name, name), "names nothing whose weights can have four bits",
                             "weights.layer",
                             "name a linear layer, a convolution without groups, or a module with one; the others stay int8");
  }
}

// What --weight-bits mixed must have to measure a choice on samples that it was not made on.
static void check_search(PassContext& pass) {
  const std::string& model = pass.graph.name;
  if (!pass.options.max_loss_db && !pass.options.target_db)
    return pass.diagnostics.error(model, "--weight-bits mixed has no limit to choose layers by", "weights.limit",
                                  "give --max-loss X (dB fewer than in int8), --target-db X (dB to keep), or both");
  if (!pass.options.int4_layers.empty())
    return pass.diagnostics.error(model, "--int4-layer names some layers, and --weight-bits mixed chooses them itself", "weights.all",
                                  "leave one of the two out");
  if (pass.options.quantize.observer)
    return pass.diagnostics.error(model, "--observer leaves out the search that --weight-bits mixed measures layers with",
                                  "weights.observer", "leave --observer out");
  if (pass.samples.size() < 2)
    pass.diagnostics.add({Severity::error, model, "--weight-bits mixed chooses layers on samples that calibration has not seen",
                          std::to_string(pass.samples.size()), "at least 2 samples", "weights.samples",
                          "calibrate with more samples; 32 are often enough"});
}

void check_weight_bits(PassContext& pass) {
  if (!wants_int4(pass)) return;
  const std::string& model = pass.graph.name;
  if (const char* why = why_not_target(pass))
    return pass.diagnostics.error(
        fmt::format("{} for {}", model, pass.target.name), why, "weights.int4",
        fmt::format("compile for our runtime on a Cortex-M with the DSP extension or MVE, or leave {} out", option_of(pass)));
  if (has_int16(pass.options))
    return pass.diagnostics.error(model, fmt::format("{} is of int8 networks, and some layers work on int16", option_of(pass)),
                                  "weights.precision", "leave --precision and --int16-layer out, or the weights in eight bits");
  if (pass.options.weight_bits == WeightBits::four && !pass.options.int4_layers.empty())
    return pass.diagnostics.error(model, "--int4-layer names some layers, and --weight-bits 4 means all of them", "weights.all",
                                  "leave one of the two out");
  check_names(pass);
  if (pass.options.weight_bits == WeightBits::mixed) check_search(pass);
}

}  // namespace deuteron
