// SPDX-License-Identifier: Apache-2.0
#include "explain/report/program_map.h"

#include <fmt/format.h>

#include <algorithm>

#include "compile/plan/homes.h"
#include "compile/schedule/memories.h"
#include "explain/report/operators_served.h"
#include "npu/neutron/delegate/calls.h"
#include "npu/neutron/machine/kernel_def.h"
#include "npu/neutron/machine/traffic.h"
#include "ops/families.h"
#include "runtime/fnv1a.h"
#include "targets/target.h"

namespace deuteron {
namespace {

using SortedJson = nlohmann::json;
using neutron::Kind;

// Whether a kernel of the NPU only says which element goes where.
bool moves(Kind kind) { return neutron::def_of(kind)->moves == neutron::Moves::kYes; }

class MapWriter {
 public:
  MapWriter(const Compilation& c, const ProgramReport& r, const Target& target)
      : c_(c), r_(r), g_(c.graph), target_(target), uses_(g_), user_(c) {
    i32 instruction = 0;
    for (const Node& node : g_.nodes) instruction_.push_back(call_of(node.op) ? instruction++ : -1);
    calls_ = instruction;
  }

  SortedJson write(const std::string& model) {
    SortedJson j = SortedJson::object();
    j["format"] = kProgramMapFormat;
    j["version"] = DEUTERON_VERSION;
    j["program_id"] = program_id_text(c_.pte);
    j["model"] = model;
    j["target"] = target_.name;
    if (!target_.cpu.empty()) j["cpu"] = target_.cpu;
    if (target_.clock_hz > 0) j["clock_hz"] = target_.clock_hz;
    j["calls"] = calls();
    j["npu_is_open_model"] = npu_is_open_model();
    j["operators"] = operators(j["calls"]);
    j["folded"] = folded_;
    j["memory"] = SortedJson::array({memory()});
    j["flash"] = flash();
    return j;
  }

 private:
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

  static const char* placement_name(Placement p) {
    return p == Placement::npu ? "npu" : p == Placement::portable ? "portable" : "cpu";
  }

  SortedJson calls() {
    SortedJson list = SortedJson::array();
    i32 delegate = 0;
    for (size_t n = 0; n < g_.nodes.size(); ++n) {
      const KernelCall* call = call_of(g_.nodes[n].op);
      if (!call) continue;
      const i32 k = instruction_[n];
      const OperatorsServed::Attribution a = user_.attribute(n, *call);
      SortedJson j = {{"instruction", k},
                      {"kernel", call->name + (call->overload.empty() ? "" : "." + call->overload)},
                      {"operators", a.operators},
                      {"added", a.added},
                      {"macs", call->macs},
                      {"bytes", bytes_of(g_.nodes[n])}};
      const auto report = std::find_if(r_.operators.begin(), r_.operators.end(),
                                       [&](const OperatorReport& o) { return o.instruction == k; });
      if (report != r_.operators.end()) {
        j["placement"] = placement_name(report->placement);
        j["reason"] = report->reason;
        if (!call->delegate && report->cycles >= 0) j["predicted_cycles"] = report->cycles;
      }
      if (call->delegate) inside_delegate(j, g_.nodes[n], *call->delegate, delegate++);
      list.push_back(std::move(j));
    }
    return list;
  }

  void inside_delegate(SortedJson& call, const Node& node, const DelegateBlob& blob,
                       i32 delegate) const {
    // By kernel of our own conversion.
    const auto own = std::ranges::find(c_.npu.own_conversions, &blob,
                                       [](const OwnConversion& o) { return o.vendors.get(); });
    const DelegateBlob* ours = own == c_.npu.own_conversions.end() ? &blob : own->ours.get();
    NeutronPayload payload;
    std::vector<i64> bytes;
    if (ours && read_payload(ours->processed.data(), static_cast<uint32_t>(ours->processed.size()),
                             &payload)
                    .ok()) {
      NeutronCalls in_payload(payload);
      for (NeutronKernelCall kernel; in_payload.next(&kernel);)
        bytes.push_back(neutron::bytes_of(kernel.kind, kernel.structure));
    }
    SortedJson kernels = SortedJson::array(), without = SortedJson::array();
    std::vector<bool> computed(static_cast<size_t>(user_.count()), false);
    i64 macs = 0, cycles = 0;
    bool all_predicted = true;
    for (const NpuKernel& kernel : c_.npu.kernels) {
      if (kernel.delegate != delegate) continue;
      std::vector<i32> ids = user_.own(kernel.origin);
      for (const i32 id : ids) computed[id] = true;
      const bool added =
          kernel.kind == Kind::kMemCpy || (ids.empty() && kernel.open.empty()) ||
          (kernel.vendor_name.empty() && moves(kernel.kind) && !user_.has_move(kernel.origin));
      if (ids.empty() && kernel.open.empty()) ids = user_.served_by_quantizers(kernel.origin);
      SortedJson j = {{"id", kernels.size()},
                      {"kernel", name_of(kernel)},
                      {"operators", ids},
                      {"added", added},
                      {"macs", kernel.cost.macs}};
      if (kernel.vendor_name.empty()) j["code"] = static_cast<i32>(kernel.kind);
      if (kernel.is_predicted)
        j["predicted_cycles"] = kernel.cost.total(), j["bound"] = name_of(kernel.cost.bound());
      else j.erase("macs"), all_predicted = false;
      if (!kernel.open.empty()) j["open"] = kernel.open;
      if (kernel.apart_cycles > 0) j["assumed"] = true, j["apart_cycles"] = kernel.apart_cycles;
      if (kernel.own >= 0 && static_cast<size_t>(kernel.own) < bytes.size())
        j["bytes"] = bytes[static_cast<size_t>(kernel.own)];
      macs += kernel.cost.macs;
      cycles += kernel.cost.total();
      kernels.push_back(std::move(j));
    }
    if (kernels.empty()) return;  // its converter names no kernels
    if (all_predicted) call["macs"] = macs, call["predicted_cycles"] = cycles;
    for (const i32 s : node.origin)
      if (const i32 id = user_.id_of(s); id >= 0 && !computed[id])
        without.push_back({{"operator", id}, {"reason", reason_without_kernel(s)}});
    call["npu_kernels"] = std::move(kernels);
    call["without_kernel"] = std::move(without);
  }

  // Its ticks are those that were predicted, by construction: comparing them says nothing.
  bool npu_is_open_model() const {
    for (const Node& node : g_.nodes) {
      const KernelCall* call = call_of(node.op);
      NeutronPayload payload;
      if (call && call->delegate &&
          read_payload(call->delegate->processed.data(),
                       static_cast<uint32_t>(call->delegate->processed.size()), &payload)
              .ok() &&
          payload.is_open_model)
        return true;
    }
    return false;
  }

  std::string reason_without_kernel(i32 source) const {
    for (const auto* list : {&c_.npu.without_kernel, &g_.folded})
      for (const Folded& f : *list)
        if (std::find(f.origin.begin(), f.origin.end(), source) != f.origin.end()) return f.reason;
    return "";
  }

  std::string reason_of_folding(i32 source) const {
    for (const FoldedReport& f : r_.folded)
      if (f.source == source) return f.reason;
    for (const Folded& f : g_.folded)
      if (std::find(f.origin.begin(), f.origin.end(), source) != f.origin.end()) return f.reason;
    return "only says how its operand lies in memory";
  }

  struct Where {
    std::string placement, reason;
    i64 macs = -1;
    bool added = true;
  };
  // By operator: the call that does most for it decides where it is said to be.
  std::vector<Where> places(const SortedJson& calls) const {
    std::vector<Where> where(static_cast<size_t>(user_.count()));
    const auto note = [&](const SortedJson& ids, const std::string& placement,
                          const std::string& reason, i64 macs, bool added) {
      for (const i32 id : ids) {
        Where& w = where[id];
        if (std::pair(!added, macs) <= std::pair(!w.added, w.macs)) continue;
        w = {placement, reason, macs, added};
      }
    };
    for (const SortedJson& call : calls) {
      const std::string placement = call.value("placement", "cpu"),
                        reason = call.value("reason", "");
      if (!call.contains("npu_kernels")) {
        note(call["operators"], placement, reason, call["macs"], call["added"]);
        continue;
      }
      for (const SortedJson& kernel : call["npu_kernels"])
        note(kernel["operators"], placement, reason, kernel.value("macs", i64{0}), kernel["added"]);
      for (const SortedJson& w : call["without_kernel"])
        note(SortedJson::array({w["operator"]}), placement, w["reason"], 0, false);
    }
    return where;
  }

  SortedJson operators(const SortedJson& calls) {
    std::vector<Where> where = places(calls);
    SortedJson list = SortedJson::array();
    for (size_t s = 0; s < g_.sources.size(); ++s) {
      const i32 id = user_.id_of(static_cast<i32>(s));
      if (id < 0) continue;
      const SourceOp& source = g_.sources[s];
      Where& w = where[id];
      if (w.added) {
        // No call, or only what was added for others.
        w.placement = "none";
        w.reason = reason_of_folding(static_cast<i32>(s));
        folded_.push_back({{"operator", id}, {"reason", w.reason}});
      }
      SortedJson j = {{"name", source.name},
                      {"target", source.target},
                      {"placement", w.placement},
                      {"reason", w.reason}};
      if (!source.module.empty()) j["module"] = source.module;
      if (!source.stack.empty()) j["stack"] = source.stack;
      if (s < c_.user.size()) {
        const UserOperator& user = c_.user[s];
        j["inputs"] = user_.own(user.inputs);
        j["macs"] = user.macs;
        if (user.has_result) {
          j["shape"] = user.shape;
          j["dtype"] = name_of(user.dtype);
        }
      } else {
        j["inputs"] = SortedJson::array();
      }
      list.push_back(std::move(j));
    }
    return list;
  }

  // When what lies in a root's memory is first written and last read, by call.
  SortedJson memory() const {
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
    SortedJson tensors = SortedJson::array();
    for (size_t v = 0; v < g_.values.size(); ++v) {
      if (plan.root[v] != static_cast<ValueId>(v) || plan.offset[v] < 0 || life[v].first < 0)
        continue;
      const char* otherwise = life[v].read ? "activation" : "scratch";
      tensors.push_back(planned_tensor(g_.values[v].name, plan.offset[v],
                                       g_.type(static_cast<ValueId>(v)).bytes(), life[v].first,
                                       life[v].last, kind[v] ? kind[v] : otherwise));
    }
    SortedJson j = {{"name", "planned memory"},
                    {"used", plan.bytes},
                    {"lower_bound", plan.lower_bound},
                    {"tensors", std::move(tensors)}};
    const Room room = room_for_activations(target_, calls_npu(g_), plan.bytes, 0);
    if (room.memory) j["name"] = room.memory->name, j["bytes"] = room.memory->bytes;
    return j;
  }

  SortedJson flash() const {
    return {{"program", c_.parts.program},
            {"constants", c_.parts.constants},
            {"payload", c_.parts.delegates},
            {"padding", c_.parts.padding}};
  }

  const Compilation& c_;
  const ProgramReport& r_;
  const Graph& g_;
  const Target& target_;
  const Uses uses_;
  const OperatorsServed user_;
  i32 calls_ = 0;
  std::vector<i32> instruction_;  // by node, -1: no call
  SortedJson folded_ = SortedJson::array();
};

}  // namespace

SortedJson program_map(const Compilation& c, const ProgramReport& r, const Target& target,
                       const std::string& model) {
  return MapWriter(c, r, target).write(model);
}

SortedJson planned_tensor(const std::string& name, i64 offset, i64 bytes, i32 first, i32 last,
                          const char* kind) {
  return {{"name", name},   {"offset", offset}, {"bytes", bytes},
          {"first", first}, {"last", last},     {"kind", kind}};
}

uint64_t program_id(std::span<const uint8_t> pte) { return fnv1a(pte.data(), pte.size()); }

std::string program_id_text(std::span<const uint8_t> pte) {
  return fmt::format("{:016x}", program_id(pte));
}

}  // namespace deuteron
