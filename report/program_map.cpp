#include "report/program_map.h"

#include <fmt/format.h>

#include <algorithm>

#include "backends/neutron_delegate/calls.h"
#include "backends/neutron_model/traffic.h"
#include "memory/homes.h"
#include "passes/memories.h"
#include "runtime/fnv1a.h"

namespace deuteron {
namespace {

using Json = nlohmann::json;
using neutron::Kind;

// Whether a kernel of the NPU only says which element goes where.
bool moves(Kind kind) {
  return kind == Kind::kPad || kind == Kind::kSlice || kind == Kind::kStridedSliceConcat || kind == Kind::kTransposeChw;
}

// The same of a call on the CPU: kernels without arithmetic, and the quantizers at the edges of what is int8.
bool is_quantizer(const KernelCall& call) {
  return call.name == "cortex_m::quantize_per_tensor" || call.name == "cortex_m::dequantize_per_tensor";
}
bool moves(const KernelCall& call) {
  for (const char* name : {"cortex_m::transpose", "cortex_m::pad", "aten::permute_copy", "aten::constant_pad_nd", "aten::cat",
                           "aten::slice_copy", "aten::expand_copy", "aten::clone", "dim_order_ops::_clone_dim_order"})
    if (call.name == name) return true;
  return false;
}

class MapWriter {
 public:
  MapWriter(const Compilation& c, const Target& target) : c_(c), g_(c.graph), target_(target), uses_(g_) {
    id_.assign(g_.sources.size(), -1);
    for (size_t s = 0; s < g_.sources.size(); ++s)
      if (!is_quantizer_source(s)) id_[s] = operators_++;
    i32 instruction = 0;
    for (const Node& node : g_.nodes) instruction_.push_back(std::holds_alternative<KernelCall>(node.op) ? instruction++ : -1);
    calls_ = instruction;
    find_computed();
  }

  Json write(const std::string& model) {
    Json j;
    j["format"] = kProgramMapFormat;
    j["version"] = DEUTERON_VERSION;
    j["program_id"] = program_id_text(c_.pte);
    j["model"] = model;
    j["target"] = target_.name;
    if (!target_.cpu.empty()) j["cpu"] = target_.cpu;
    if (target_.clock_hz > 0) j["clock_hz"] = target_.clock_hz;
    j["calls"] = calls();
    j["operators"] = operators(j["calls"]);
    j["folded"] = folded_;
    j["memory"] = Json::array({memory()});
    j["flash"] = flash();
    return j;
  }

 private:
  bool is_quantizer_source(size_t s) const {
    return s < c_.user.size() ? c_.user[s].is_quantizer : g_.sources[s].target.starts_with("quantized_decomposed.");
  }

  std::vector<i32> own(const Origin& origin) const {
    std::vector<i32> ids;
    for (const i32 s : origin)
      if (s >= 0 && s < static_cast<i32>(id_.size()) && id_[s] >= 0) ids.push_back(id_[s]);
    return ids;
  }

  // One of these operators moves elements itself, so a kernel that does so is not an addition.
  bool has_move(const Origin& origin) const {
    return std::any_of(origin.begin(), origin.end(), [&](i32 s) {
      return s < static_cast<i32>(c_.user.size()) && !c_.user[s].is_quantizer && c_.user[s].has_result && c_.user[s].is_move;
    });
  }

  // Whether an operator of a delegate stands at its border: it reads, or is read by, what is outside.
  bool is_at_border(i32 source, const Origin& delegate, bool reads) const {
    if (source >= static_cast<i32>(c_.user.size())) return true;
    const auto inside = [&](i32 s) { return std::binary_search(delegate.begin(), delegate.end(), s); };
    const UserOperator& op = c_.user[source];
    if (reads) return !op.graph_inputs.empty() || std::any_of(op.inputs.begin(), op.inputs.end(), [&](i32 s) { return !inside(s); });
    if (!op.graph_outputs.empty()) return true;
    for (size_t s = 0; s < c_.user.size(); ++s)
      if (!inside(static_cast<i32>(s)) && std::count(c_.user[s].inputs.begin(), c_.user[s].inputs.end(), source) > 0) return true;
    return false;
  }

  // The inputs of the graph, or its outputs, that a value is.
  std::vector<i32> ports_of(ValueId v, const std::vector<Port>& ports) const {
    std::vector<i32> list;
    for (size_t k = 0; k < ports.size(); ++k)
      if (ports[k].value == v) list.push_back(static_cast<i32>(k));
    return list;
  }

  // By source: some kernel computes it (a part of it).
  void find_computed() {
    computed_.assign(g_.sources.size(), false);
    const auto note = [&](const Origin& origin) {
      for (const i32 s : origin) computed_[s] = true;
    };
    for (const Node& node : g_.nodes)
      if (const KernelCall* call = std::get_if<KernelCall>(&node.op); call && !call->delegate && !is_quantizer(*call)) note(node.origin);
    for (const NpuKernel& kernel : c_.npu_kernels) note(kernel.origin);
  }

  // The operators that read inputs (`down`) or give outputs of the graph; beyond those that nothing is left of.
  std::vector<i32> at_ports(const std::vector<i32>& ports, bool down) const {
    std::vector<i32> found, ids;
    for (size_t s = 0; s < c_.user.size(); ++s) {
      const std::vector<i32>& own_ports = down ? c_.user[s].graph_inputs : c_.user[s].graph_outputs;
      if (std::find_first_of(own_ports.begin(), own_ports.end(), ports.begin(), ports.end()) != own_ports.end())
        found.push_back(static_cast<i32>(s));
    }
    std::vector<bool> seen(c_.user.size(), false);
    while (!found.empty()) {
      const i32 s = found.back();
      found.pop_back();
      if (seen[s]) continue;
      seen[s] = true;
      if (computed_[s]) {
        if (id_[s] >= 0) ids.push_back(id_[s]);
      } else if (!down) {
        found.insert(found.end(), c_.user[s].inputs.begin(), c_.user[s].inputs.end());
      } else {
        for (size_t r = 0; r < c_.user.size(); ++r)
          if (std::count(c_.user[r].inputs.begin(), c_.user[r].inputs.end(), s) > 0) found.push_back(static_cast<i32>(r));
      }
    }
    std::sort(ids.begin(), ids.end());
    return ids;
  }

  // The operators that the quantizers of an origin stand before (or behind, at the end).
  std::vector<i32> served_by_quantizers(const Origin& origin) const {
    Origin served;
    for (const i32 s : origin)
      if (s < static_cast<i32>(c_.user.size()) && c_.user[s].is_quantizer) {
        Origin some = c_.user[s].inputs;
        std::sort(some.begin(), some.end());
        served = merge(served, some);
      }
    Origin with_kernels;
    for (const i32 s : served)
      if (computed_[s]) with_kernels.push_back(s);
    return own(with_kernels.empty() ? served : with_kernels);
  }

  // The operators that something is added for: those that read its result (`down`) or made what it reads.
  std::vector<i32> served_by(size_t n, bool down) const {
    const Node& added = g_.nodes[n];
    if (std::vector<i32> ids = at_ports(down ? ports_of(added.inputs[0], g_.inputs) : ports_of(added.outputs[0], g_.outputs), down);
        !ids.empty())
      return ids;
    std::vector<i32> ids;
    std::vector<bool> seen(g_.nodes.size(), false);
    std::vector<NodeId> pending{static_cast<NodeId>(n)};
    while (!pending.empty()) {
      const NodeId at = pending.back();
      pending.pop_back();
      std::vector<NodeId> next;
      if (down)
        for (const ValueId v : g_.nodes[at].outputs) next.insert(next.end(), uses_.readers[v].begin(), uses_.readers[v].end());
      else
        for (const ValueId v : g_.nodes[at].inputs) next.push_back(uses_.producer[v]);
      for (const NodeId m : next) {
        if (m < 0 || seen[m]) continue;
        seen[m] = true;
        const KernelCall* call = std::get_if<KernelCall>(&g_.nodes[m].op);
        Origin origin = g_.nodes[m].origin;
        if (call && call->delegate)
          origin.erase(std::remove_if(origin.begin(), origin.end(), [&](i32 s) { return !is_at_border(s, g_.nodes[m].origin, down); }),
                       origin.end());
        const std::vector<i32> found = own(origin);
        if (found.empty()) pending.push_back(m);
        ids.insert(ids.end(), found.begin(), found.end());
      }
    }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
  }

  struct Attribution {
    std::vector<i32> operators;
    bool added = false;
  };
  Attribution attribute(size_t n, const KernelCall& call) const {
    const Node& node = g_.nodes[n];
    Attribution a{own(node.origin), false};
    if (call.delegate) return a;
    const bool quantizer = is_quantizer(call);
    a.added = a.operators.empty() || quantizer || (moves(call) && !has_move(node.origin));
    if (a.operators.empty() || quantizer) {
      const bool down_first = call.name != "cortex_m::dequantize_per_tensor";
      std::vector<i32> served = a.operators.empty() ? served_by_quantizers(node.origin) : std::vector<i32>{};
      if (served.empty()) served = served_by(n, down_first);
      if (served.empty()) served = served_by(n, !down_first);
      if (!served.empty()) a.operators = std::move(served);
    }
    return a;
  }

  // Read and written, constants too; scratch is neither.
  i64 bytes_of(const Node& node) const {
    std::vector<ValueId> values = node.inputs;
    for (const ValueId v : node.outputs)
      if (!uses_.readers[v].empty() || uses_.output_uses[v] > 0) values.push_back(v);
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    i64 sum = 0;
    for (const ValueId v : values) sum += g_.type(v).bytes();
    return sum;
  }

  static const char* placement_name(Placement p) { return p == Placement::npu ? "npu" : p == Placement::portable ? "portable" : "cpu"; }

  Json calls() {
    Json list = Json::array();
    i32 delegate = 0;
    for (size_t n = 0; n < g_.nodes.size(); ++n) {
      const KernelCall* call = std::get_if<KernelCall>(&g_.nodes[n].op);
      if (!call) continue;
      const i32 k = instruction_[n];
      const Attribution a = attribute(n, *call);
      Json j = {{"instruction", k},         {"kernel", call->name + (call->overload.empty() ? "" : "." + call->overload)},
                {"operators", a.operators}, {"added", a.added},
                {"macs", call->macs},       {"bytes", bytes_of(g_.nodes[n])}};
      const auto report =
          std::find_if(c_.operators.begin(), c_.operators.end(), [&](const OperatorReport& o) { return o.instruction == k; });
      if (report != c_.operators.end()) {
        j["placement"] = placement_name(report->placement);
        j["reason"] = report->reason;
        if (!call->delegate && report->cycles >= 0) j["predicted_cycles"] = report->cycles;
      }
      if (call->delegate) inside_delegate(j, g_.nodes[n], *call->delegate, delegate++);
      list.push_back(std::move(j));
    }
    return list;
  }

  void inside_delegate(Json& call, const Node& node, const DelegateBlob& blob, i32 delegate) const {
    // In the order of the microcode, which is that of the events.
    NeutronPayload payload;
    std::vector<i64> bytes;
    if (read_payload(blob.processed.data(), static_cast<uint32_t>(blob.processed.size()), &payload).ok()) {
      NeutronCalls in_payload(payload);
      for (NeutronKernelCall kernel; in_payload.next(&kernel);) bytes.push_back(neutron::bytes_of(kernel.kind, kernel.structure));
    }
    Json kernels = Json::array(), without = Json::array();
    std::vector<bool> computed(static_cast<size_t>(operators_), false);
    i64 macs = 0, cycles = 0;
    for (const NpuKernel& kernel : c_.npu_kernels) {
      if (kernel.delegate != delegate) continue;
      std::vector<i32> ids = own(kernel.origin);
      for (const i32 id : ids) computed[id] = true;
      const bool added = kernel.kind == Kind::kMemCpy || ids.empty() || (moves(kernel.kind) && !has_move(kernel.origin));
      if (ids.empty()) ids = served_by_quantizers(kernel.origin);
      Json j = {{"id", kernels.size()},
                {"code", static_cast<i32>(kernel.kind)},
                {"kernel", name_of(kernel.kind)},
                {"operators", ids},
                {"added", added},
                {"macs", kernel.cost.macs},
                {"predicted_cycles", kernel.cost.total()},
                {"bound", name_of(kernel.cost.bound())}};
      if (kernels.size() < bytes.size()) j["bytes"] = bytes[kernels.size()];
      macs += kernel.cost.macs;
      cycles += kernel.cost.total();
      kernels.push_back(std::move(j));
    }
    if (kernels.empty()) return;  // its converter names no kernels
    call["macs"] = macs;
    call["predicted_cycles"] = cycles;
    for (const i32 s : node.origin)
      if (s < static_cast<i32>(id_.size()) && id_[s] >= 0 && !computed[id_[s]])
        without.push_back({{"operator", id_[s]}, {"reason", reason_without_kernel(s)}});
    call["npu_kernels"] = std::move(kernels);
    call["without_kernel"] = std::move(without);
  }

  std::string reason_without_kernel(i32 source) const {
    for (const auto* list : {&c_.without_kernel, &g_.folded})
      for (const Folded& f : *list)
        if (std::find(f.origin.begin(), f.origin.end(), source) != f.origin.end()) return f.reason;
    return "";
  }

  std::string reason_of_folding(i32 source) const {
    for (const FoldedReport& f : c_.folded)
      if (f.source == source) return f.reason;
    for (const Folded& f : g_.folded)
      if (std::find(f.origin.begin(), f.origin.end(), source) != f.origin.end()) return f.reason;
    return "only says how its operand lies in memory";
  }

  Json operators(const Json& calls) {
    // The call that does most for an operator decides where it is said to be.
    struct Where {
      std::string placement, reason;
      i64 macs = -1;
      bool added = true;
    };
    std::vector<Where> where(static_cast<size_t>(operators_));
    const auto note = [&](const Json& ids, const std::string& placement, const std::string& reason, i64 macs, bool added) {
      for (const i32 id : ids) {
        Where& w = where[id];
        if (std::pair(!added, macs) <= std::pair(!w.added, w.macs)) continue;
        w = {placement, reason, macs, added};
      }
    };
    for (const Json& call : calls) {
      const std::string placement = call.value("placement", "cpu"), reason = call.value("reason", "");
      if (!call.contains("npu_kernels")) {
        note(call["operators"], placement, reason, call["macs"], call["added"]);
        continue;
      }
      for (const Json& kernel : call["npu_kernels"]) note(kernel["operators"], placement, reason, kernel["macs"], kernel["added"]);
      for (const Json& w : call["without_kernel"]) note(Json::array({w["operator"]}), placement, w["reason"], 0, false);
    }
    Json list = Json::array();
    for (size_t s = 0; s < g_.sources.size(); ++s) {
      if (id_[s] < 0) continue;
      const SourceOp& source = g_.sources[s];
      Where& w = where[id_[s]];
      if (w.added) {
        // No call, or only what was added for others.
        w.placement = "none";
        w.reason = reason_of_folding(static_cast<i32>(s));
        folded_.push_back({{"operator", id_[s]}, {"reason", w.reason}});
      }
      Json j = {{"name", source.name}, {"target", source.target}, {"placement", w.placement}, {"reason", w.reason}};
      if (!source.module.empty()) j["module"] = source.module;
      if (!source.stack.empty()) j["stack"] = source.stack;
      if (s < c_.user.size()) {
        const UserOperator& user = c_.user[s];
        j["inputs"] = own(user.inputs);
        j["macs"] = user.macs;
        if (user.has_result) {
          j["shape"] = user.shape;
          j["dtype"] = name_of(user.dtype);
        }
      } else {
        j["inputs"] = Json::array();
      }
      list.push_back(std::move(j));
    }
    return list;
  }

  // When what lies in a root's memory is first written and last read, by call.
  Json memory() const {
    const MemoryPlan& plan = c_.plan;
    struct Life {
      i32 first = -1, last = -1;
      bool read = false;
    };
    std::vector<Life> life(g_.values.size());
    const auto use = [&](ValueId v, i32 call, bool read) {
      Life& l = life[plan.root[v]];
      if (l.first < 0 || call < l.first) l.first = call;
      l.last = std::max(l.last, call);
      l.read = l.read || read;
    };
    for (const Port& p : g_.inputs) use(p.value, 0, true);
    for (size_t n = 0; n < g_.nodes.size(); ++n) {
      if (instruction_[n] < 0) continue;
      for (const ValueId v : g_.nodes[n].inputs) use(v, instruction_[n], true);
      for (const ValueId v : g_.nodes[n].outputs) use(v, instruction_[n], false);
    }
    for (const Port& p : g_.outputs) use(p.value, std::max(calls_ - 1, 0), true);
    std::vector<const char*> kind(g_.values.size(), nullptr);
    for (const Port& p : g_.outputs) kind[plan.root[p.value]] = "output";
    for (const Port& p : g_.inputs) kind[plan.root[p.value]] = "input";
    Json tensors = Json::array();
    for (size_t v = 0; v < g_.values.size(); ++v) {
      if (plan.root[v] != static_cast<ValueId>(v) || plan.offset[v] < 0 || life[v].first < 0) continue;
      tensors.push_back({{"name", g_.values[v].name},
                         {"offset", plan.offset[v]},
                         {"bytes", g_.type(static_cast<ValueId>(v)).bytes()},
                         {"first", life[v].first},
                         {"last", life[v].last},
                         {"kind", kind[v]        ? kind[v]
                                  : life[v].read ? "activation"
                                                 : "scratch"}});
    }
    Json j = {{"name", "planned memory"}, {"used", plan.bytes}, {"lower_bound", plan.lower_bound}, {"tensors", std::move(tensors)}};
    const Room room = room_for_activations(target_, calls_npu(g_), plan.bytes, 0);
    if (room.memory) j["name"] = room.memory->name, j["bytes"] = room.memory->bytes;
    return j;
  }

  Json flash() const {
    return {
        {"program", c_.parts.program}, {"constants", c_.parts.constants}, {"payload", c_.parts.delegates}, {"padding", c_.parts.padding}};
  }

  const Compilation& c_;
  const Graph& g_;
  const Target& target_;
  const Uses uses_;
  std::vector<i32> id_;  // by source: the operator's id, -1: a quantizer's
  i32 operators_ = 0, calls_ = 0;
  std::vector<i32> instruction_;  // by node, -1: no call
  std::vector<bool> computed_;
  Json folded_ = Json::array();
};

}  // namespace

Json program_map(const Compilation& c, const Target& target, const std::string& model) { return MapWriter(c, target).write(model); }

uint64_t program_id(std::span<const uint8_t> pte) { return fnv1a(pte.data(), pte.size()); }

std::string program_id_text(std::span<const uint8_t> pte) { return fmt::format("{:016x}", program_id(pte)); }

}  // namespace deuteron
