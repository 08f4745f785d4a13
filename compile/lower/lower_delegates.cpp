// SPDX-License-Identifier: Apache-2.0
// Every part that the NPU runs becomes a call of its delegate: body -> Neutron IR -> converter ->
// payload.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/files/write_file.h"
#include "compile/compilation.h"
#include "compile/options.h"
#include "compile/pass.h"
#include "compile/simplify/border_transposes.h"
#include "ir/source_names.h"
#include "npu/neutron/converter/converter.h"
#include "npu/neutron/converter/extract.h"
#include "npu/neutron/converter/forms.h"
#include "npu/neutron/converter/neutron_ir.h"
#include "npu/neutron/delegate/payload.h"
#include "npu/neutron/vendor/external_converter.h"
#include "ops/families.h"
#include "targets/target.h"

namespace deuteron {
namespace {

// What a converter made of a partition.
struct ConvertedPart {
  neutron::Extracted extracted;
  std::vector<NpuKernel> kernels;  // empty: the vendor's converter does not say
  bool is_vendors = false;
  std::optional<neutron::Extracted> own = {};  // beside the vendor's: our conversion
};

// Operators of Neutron IR become the user's.
Origin origin_of(std::span<const i32> ops, const neutron::NeutronIr& ir) {
  Origin origin;
  for (const i32 op : ops) origin = merge(origin, ir.origins[op]);
  return origin;
}

// kProfileDump: the open machine has no such kernel.
neutron::Kind kind_named(const std::string& name) {
  for (i32 k = 1; k < neutron::kKinds; ++k)
    if (name == name_of(static_cast<neutron::Kind>(k))) return static_cast<neutron::Kind>(k);
  return neutron::Kind::kProfileDump;
}

class DelegateLowering {
 public:
  DelegateLowering(PassContext& pass, i32 index) : pass_(pass), index_(index) {}

  // False: a diagnostic says why.
  bool run(Node& node) {
    if (!pass_.target.npu) {
      pass_.diagnostics.add({Severity::error, where(),
                             "is made for an NPU, and the target has none", pass_.target.name,
                             "a target with an NPU", "target.npu",
                             "compile for imxrt700cm, or give the model before it was divided"});
      return false;
    }
    Graph body = *std::get<Delegate>(node.op).body;
    neutron::to_neutron_forms(body, pass_.rewrites_left);
    border_ = move_transposes_to_border(pass_, body);
    pass_.result.npu.without_kernel.insert(pass_.result.npu.without_kernel.end(),
                                           body.folded.begin(), body.folded.end());
    const neutron::NeutronIr ir = neutron::write_neutron_ir(body);
    if (!keep("ir.tflite", ir.flatbuffer)) return false;
    std::optional<ConvertedPart> part =
        pass_.options.npu.converter.path.empty() ? convert_here(ir) : convert_there(ir);
    if (!part) return false;
    const i64 macs = macs_of(pass_.graph, node);
    return call(node, *part, macs);
  }

 private:
  std::string where() const { return fmt::format("{}: NPU part {}", pass_.graph.name, index_); }

  bool keep(const char* what, std::span<const uint8_t> bytes) const {
    const std::string& folder = pass_.options.intermediates;
    return folder.empty() || write_file(fmt::format("{}/neutron{}.{}", folder, index_, what), bytes,
                                        pass_.diagnostics);
  }

  std::optional<neutron::Converted> convert_by_ours(const neutron::NeutronIr& ir,
                                                    Diagnostics& diagnostics) const {
    neutron::ConvertOptions options;
    options.machine = pass_.target.npu->machine;
    options.fetch_constants_to_sram = pass_.options.npu.fetch_constants;
    options.profile = pass_.options.npu.profile;
    return neutron::convert(ir.flatbuffer, options, diagnostics);
  }

  std::optional<ConvertedPart> convert_here(const neutron::NeutronIr& ir) {
    std::optional<neutron::Converted> converted = convert_by_ours(ir, pass_.diagnostics);
    if (!converted || !keep("converted.tflite", converted->model)) return std::nullopt;
    std::optional<neutron::Extracted> extracted =
        neutron::extract(converted->model, where(), pass_.diagnostics);
    if (!extracted) return std::nullopt;
    ConvertedPart part{std::move(*extracted), {}};
    i32 own = 0;
    for (const neutron::KernelUse& use : converted->kernels) {
      NpuKernel& kernel =
          part.kernels.emplace_back(NpuKernel{index_, use.kind, origin_of(use.ops, ir), use.cost});
      kernel.apart_cycles = use.apart_cycles;
      kernel.own = own++;
    }
    for (const neutron::Vanished& v : converted->vanished)
      pass_.result.npu.without_kernel.push_back(
          {ir.origins[v.op],
           fmt::format("{} on the NPU: {}", converted->op_names[v.op], v.reason)});
    return part;
  }

  std::optional<ConvertedPart> convert_there(const neutron::NeutronIr& ir) {
    neutron::ExternalConverter tool = pass_.options.npu.converter;
    tool.fetch_constants_to_sram = pass_.options.npu.fetch_constants;
    tool.profile = pass_.options.npu.profile;
    const std::string& folder = pass_.options.intermediates;
    const std::string text_file =
        folder.empty() ? "" : fmt::format("{}/neutron{}.console.txt", folder, index_);
    std::optional<neutron::ExternallyConverted> converted = neutron::convert_externally(
        ir.flatbuffer, tool, pass_.options.npu.run_tool, text_file, pass_.diagnostics);
    if (!converted || !keep("converted.tflite", converted->model)) return std::nullopt;
    NpuDecisions& npu = pass_.result.npu;
    if (!converted->kernel_selection.empty())
      npu.vendor_selections.push_back(std::move(converted->kernel_selection));
    ConvertedPart part{std::move(converted->extracted), {}, true};
    Diagnostics nothing;  // what we cannot convert has no prediction, and is not run here
    const std::optional<neutron::Converted> ours = convert_by_ours(ir, nothing);
    if (ours) part.own = neutron::extract(ours->model, where(), nothing);
    if (!converted->map) {
      ++npu.unnamed_delegates;
      return part;
    }
    part.kernels = vendor_kernels(*converted->map, ir, ours);
    for (const i32 op : converted->map->without_kernel)
      npu.without_kernel.push_back(
          {ir.origins[op], "on the NPU: the vendor's converter has no kernel for it"});
    for (const i32 op : converted->map->unknown)
      npu.without_kernel.push_back(
          {ir.origins[op], "on the NPU: the vendor's converter does not say in which kernel"});
    return part;
  }

  // Costs are those of our own kernels, where one of the same kind computes the same operators.
  std::vector<NpuKernel> vendor_kernels(const neutron::KernelMap& map, const neutron::NeutronIr& ir,
                                        const std::optional<neutron::Converted>& ours) const {
    std::vector<bool> used(ours ? ours->kernels.size() : 0);
    std::vector<NpuKernel> kernels;
    for (const neutron::MappedKernel& k : map.kernels) {
      NpuKernel kernel{index_, kind_named(k.name), origin_of(k.ops, ir), {}, {}, false, k.open};
      if (kernel.kind == neutron::Kind::kProfileDump) kernel.vendor_name = k.name;
      for (size_t own = 0; own < used.size() && !kernel.is_predicted; ++own) {
        const neutron::KernelUse& use = ours->kernels[own];
        const bool is_open = use.kind == neutron::Kind::kMemCpy &&
                             k.ops.empty();  // whose constants, the text need not say
        if (used[own] || use.kind != kernel.kind || (!is_open && use.ops != k.ops)) continue;
        used[own] = kernel.is_predicted = true;
        kernel.cost = use.cost;
        kernel.own = static_cast<i32>(own);
      }
      kernels.push_back(std::move(kernel));
    }
    return kernels;
  }

  // Channels-last tensors lie as the NPU wants them; with one channel (or one pixel) the order says
  // nothing, and plain is what every runtime takes.
  static bool is_image(const Shape& storage) { return storage.size() == 4 && storage[3] != 1; }
  static Face face_of(const Shape& storage) {
    return storage.size() == 4
               ? is_image(storage) ? channels_last_face(storage) : one_channel_face(storage)
               : plain_face(storage);
  }
  static Face one_channel_face(const Shape& s) { return {{s[0], s[3], s[1], s[2]}, {0, 1, 2, 3}}; }

  // How the CPU's side has a tensor: `transposed` as in BorderTransposes.
  static Face face_of(const Shape& storage, const Shape& transposed) {
    return transposed.empty() ? face_of(storage) : plain_face(transposed);
  }

  // What the delegate's call of so many arguments is given.
  std::optional<std::vector<u8>> payload_of(const Node& node, const neutron::Extracted& e,
                                            size_t arguments) {
    neutron::PayloadHeader header;
    const auto flag = [&](ValueId v, const Shape& transposed) {
      return static_cast<u8>(!transposed.empty() || is_image(pass_.graph.type(v).shape));
    };
    for (const u8 k : e.input_map)
      header.input_flags.push_back(flag(node.inputs[k], border_.inputs[k]));
    for (const u8 k : e.output_map)
      header.output_flags.push_back(flag(node.outputs[k], border_.outputs[k]));
    header.input_map = e.input_map;
    header.output_map = e.output_map;
    header.arguments = static_cast<u8>(arguments);
    header.version = e.version;
    return neutron::make_payload(header, e.sections, where(), pass_.diagnostics);
  }

  // Of what the CPU transposes.
  i64 transposed_bytes(const Node& node, const neutron::Extracted& e) const {
    i64 sum = 0;
    const auto add = [&](ValueId v, const Shape& transposed) {
      if (!transposed.empty())
        sum += static_cast<i64>(round_up_16(static_cast<uint64_t>(pass_.graph.type(v).bytes())));
    };
    for (const u8 k : e.input_map) add(node.inputs[k], border_.inputs[k]);
    for (const u8 k : e.output_map) add(node.outputs[k], border_.outputs[k]);
    return sum;
  }

  // The part as this machine can run it, in the same call: what it needs beside its arguments lies
  // behind the plan.
  bool keep_own(const Node& node, const ConvertedPart& part, const KernelCall& call,
                size_t arguments) {
    std::shared_ptr<DelegateBlob> own;
    if (part.own) {
      std::optional<std::vector<u8>> payload = payload_of(node, *part.own, arguments);
      if (!payload) return false;
      own = std::make_shared<DelegateBlob>(
          DelegateBlob{kNeutronBackendId, std::move(*payload), {}, 0});
    }
    pass_.result.npu.own_conversions.push_back({call.delegate, std::move(own)});
    return true;
  }

  bool call(Node& node, const ConvertedPart& part, i64 macs) {
    Graph& g = pass_.graph;
    const neutron::Extracted& e = part.extracted;
    KernelCall call;
    call.name = kNeutronBackendId;
    call.macs = macs;
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      const Shape& shape = g.type(node.inputs[k]).shape;
      call.args.push_back(
          {KernelArg::Kind::input, static_cast<i64>(k), 0, {}, face_of(shape, border_.inputs[k])});
    }
    auto blob = std::make_shared<DelegateBlob>();
    blob->id = kNeutronBackendId;
    NeutronPayload sizes;
    sizes.scratch_bytes = static_cast<uint32_t>(e.facts.scratch_bytes);
    sizes.profile_bytes = static_cast<uint32_t>(e.facts.profile_bytes);
    sizes.debug_bytes = static_cast<uint32_t>(e.facts.debug_bytes);
    sizes.sram_bytes = static_cast<uint32_t>(e.facts.sram_bytes);
    const auto workspace =
        static_cast<i64>(workspace_bytes(sizes, static_cast<uint64_t>(transposed_bytes(node, e))));
    const size_t results = node.outputs.size();
    if (workspace > 0) {
      blob->options.emplace_back(kNeutronScratchOption, std::to_string(call.args.size()));
      call.args.push_back(
          {KernelArg::Kind::output, static_cast<i64>(results), 0, {}, plain_face({workspace})});
      node.outputs.push_back(g.add_value(g.values[node.outputs[0]].name + ".scratch",
                                         Type{DType::u8, {workspace}, {}}));
    }
    const i64 limit = pass_.target.npu->limits.ports;
    if (static_cast<i64>(call.args.size()) > limit) {
      pass_.diagnostics.add({Severity::error, where(), "has more inputs than a payload can count",
                             std::to_string(call.args.size()), std::to_string(limit),
                             "neutron.ports", ""});
      return false;
    }
    const size_t arguments = call.args.size();
    for (size_t k = 0; k < results; ++k)
      call.args.push_back({KernelArg::Kind::output,
                           static_cast<i64>(k),
                           0,
                           {},
                           face_of(g.type(node.outputs[k]).shape, border_.outputs[k])});
    std::optional<std::vector<u8>> payload = payload_of(node, e, arguments);
    if (!payload || !keep("payload.bin", *payload)) return false;
    blob->processed = std::move(*payload);
    blob->weights_bytes = static_cast<i64>(e.sections.weights.size());
    call.delegate = std::move(blob);
    if (part.is_vendors && !keep_own(node, part, call, arguments)) return false;
    node.op = std::move(call);
    pass_.result.npu.kernels.insert(pass_.result.npu.kernels.end(), part.kernels.begin(),
                                    part.kernels.end());
    return true;
  }

  PassContext& pass_;
  i32 index_;
  BorderTransposes border_;
};

// "group_norm" of "aten.group_norm.default", "avg_pool2d" of "text.avg_pool2d".
std::string_view operator_name(std::string_view target) {
  const size_t first = target.find('.'), last = target.rfind('.');
  if (first == target.npos) return target;
  return first == last ? target.substr(first + 1) : target.substr(first + 1, last - first - 1);
}

// What cannot be done, as the user knows it: an operator of his, and where that is made of others,
// which of them it is.
struct Refused {
  std::string where, what;
};
Refused refused_operator(const Graph& g, const Node& node) {
  const std::string_view function = function_of(node.op),
                         ours = function.empty() ? name_of(node.op) : function;
  const auto is_named_so = [&](i32 s) {
    return operator_name(g.sources[s].target) == ours ||
           operator_name(g.sources[s].target) == name_of(node.op);
  };
  if (node.origin.empty() || std::ranges::any_of(node.origin, is_named_so))
    return {describe(g, node), "it"};
  const i32 source = node.origin.front();
  return {fmt::format("{} `{}` (source op {})", operator_name(g.sources[source].target),
                      user_name(g.sources[source]), source),
          fmt::format("what becomes of it, `{}`",
                      call_of(node.op) ? call_of(node.op)->name : std::string(ours))};
}

// A view of its operand, such as the second half of a tensor, takes no call: nobody has to compute
// it.
bool computes_nothing(const Graph& g, const Node& node) {
  std::vector<const Type*> in;
  return is_quantize_or_dequantize(node.op) || facts_of(node.op).values == Values::same ||
         view_of(node.op, g.types(node.inputs, in)).has_value();
}

// With the NPU alone everything that computes must have gone there.
void refuse_the_rest(PassContext& pass) {
  const Graph& g = pass.graph;
  std::set<Origin> told;  // of an operator's parts the first is enough
  for (const Node& node : g.nodes) {
    if (delegate_of(node.op) || computes_nothing(g, node)) continue;
    if (!node.origin.empty() && !told.insert(node.origin).second) continue;
    NpuCheck why{"neutron.float", "has no int8 form", "", "", false};
    const auto& kept = pass.result.partition.kept_on_cpu;
    const auto own = std::find_if(kept.begin(), kept.end(),
                                  [&](const KeptOnCpu& k) { return k.origin == node.origin; });
    if (own != kept.end()) why = own->why;
    // A quantized model that has left it in float says no ranges for its parts; samples do.
    const bool without_ranges =
        pass.result.quantization.model_was_quantized && g.type(node.outputs[0]).dtype == DType::f32;
    const char* const change = without_ranges
                                   ? "quantize it too, compile the float model with --calibrate"
                                   : "change the model";
    const Refused refused = refused_operator(g, node);
    pass.diagnostics.add(
        {Severity::error, fmt::format("{}: {}", g.name, refused.where),
         fmt::format("the Neutron backend does not support {}, and {} has no other backend: {}",
                     refused.what, pass.target.name, why.what),
         why.measured, why.limit, why.rule,
         fmt::format("{}, or compile for a target whose CPU runs what the NPU does not support "
                     "(imxrt700cm)",
                     change)});
  }
}

}  // namespace

void lower_delegates(PassContext& pass) {
  i32 index = 0;
  for (Node& node : pass.graph.nodes)
    if (delegate_of(node.op) && !DelegateLowering(pass, index++).run(node)) return;
}

void require_npu(PassContext& pass) {
  if (pass.target.npu && !pass.target.has_backend("cortex_m")) refuse_the_rest(pass);
}

}  // namespace deuteron
