// SPDX-License-Identifier: Apache-2.0
#include "explain/report/program_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "compile/compilation.h"
#include "compile/cost/cpu_cost.h"
#include "compile/lower/portable_calls.h"
#include "compile/place/npu_support.h"
#include "ir/source_names.h"
#include "ir/states.h"
#include "ops/families.h"
#include "targets/target.h"

namespace deuteron {
namespace {

// Why the NPU did not take (all of) what a node computes; empty: nothing is known of it.
std::string reason_of_cpu(const std::vector<KeptOnCpu>& list, const Origin& origin) {
  for (const KeptOnCpu& kept : list)
    if (std::includes(origin.begin(), origin.end(), kept.origin.begin(), kept.origin.end()))
      return to_text(kept.why);
  for (const KeptOnCpu& kept : list)
    if (std::find_first_of(kept.origin.begin(), kept.origin.end(), origin.begin(), origin.end()) !=
        kept.origin.end())
      return to_text(kept.why);
  return "";
}

class Reporter {
 public:
  Reporter(const Compilation& c, const Target& target)
      : c_(c), g_(c.graph), target_(target), told_(c.graph.sources.size(), false) {}

  ProgramReport run() {
    report_calls();
    for (const Node& node : g_.nodes)
      if (!call_of(node.op))
        tell(node.origin, facts_of(node.op).storage == Storage::around_operands
                              ? "no copy: its parts are written where the whole lies"
                              : "a view: the same bytes under another shape");
    for (const auto* list : {&c_.npu.without_kernel, &g_.folded})
      for (const Folded& f : *list) tell(f.origin, f.reason);
    r_.macs = macs_of(c_);
    r_.cost = program_cost(g_, c_.npu.cycles(), target_);
    if (c_.plan.placement.is_placed())
      r_.cost.wait = c_.plan.placement.cycles, r_.cost.tensor_wait = 0;
    r_.cost.not_known += c_.npu.not_predicted();
    return std::move(r_);
  }

 private:
  void report_calls() {
    const auto called = c_.pte.empty() ? std::nullopt
                                       : called_kernels({c_.pte.data(), c_.pte.size()}, target_.isa,
                                                        usual_features(target_.isa));
    i32 delegates = 0, instruction = -1;
    for (const Node& node : g_.nodes) {
      const KernelCall* call = call_of(node.op);
      if (!call) continue;
      ++instruction;
      if (call->delegate) {
        report_delegate(node, *call, delegates++, instruction);
      } else {
        r_.operators.push_back(report_call(node, *call));
        r_.operators.back().instruction = instruction;
        if (called) r_.operators.back().called = (*called)[static_cast<size_t>(instruction)];
        note_told(node.origin);
      }
    }
  }

  OperatorReport report_origin(const Origin& origin, std::string op) const {
    OperatorReport r;
    r.name = user_names(g_, origin);
    r.op = std::move(op);
    r.source = user_operators_text(g_, origin);
    r.origin = users_own(g_, origin);
    return r;
  }

  OperatorReport report_call(const Node& node, const KernelCall& call) const {
    OperatorReport r = report_origin(node.origin, call.name);
    r.float_bytes = portable_float_bytes(g_, node);
    r.placement = r.float_bytes > 0 ? Placement::portable : Placement::cortex_m;
    r.reason = reason_of_call(node, call, r.placement);
    r.macs = call.macs;
    r.cycles = cpu_cycles(g_, node, target_).value_or(-1);
    r.is_stock = !is_own_dialect(call);
    r.plain = reason_of_plain(node, call);
    for (const ShortScratch& s : c_.short_scratch)
      if (s.result == node.outputs[0]) r.short_bytes = s.bytes, r.short_cycles = s.cycles;
    return r;
  }

  std::string reason_of_plain(const Node& node, const KernelCall& call) const {
    for (const PlainDecision& p : c_.plain)
      if (p.call == call.name && p.origin == node.origin)
        return p.why.limit.empty() ? p.why.what
                                   : fmt::format("{}: {}{}limit {}", p.why.what, p.why.measured,
                                                 p.why.measured.empty() ? "" : ", ", p.why.limit);
    return "";
  }

  std::string reason_of_call(const Node& node, const KernelCall& call, Placement placement) const {
    if (is_state_write(node.op)) return "keeps the state for the next call";
    const std::string why_not_npu =
        target_.npu ? reason_of_cpu(c_.partition.kept_on_cpu, node.origin) : "";
    if (placement == Placement::portable) {
      const char* meant = why_in_float(c_.quantization.in_float, node.origin);
      const std::string in_float =
          c_.quantization.model_was_quantized
              ? "in float: no int8 kernel, or the quantized model gives its values no range"
          : meant ? fmt::format("in float on purpose: {}", meant)
                  : "no int8 kernel";
      return why_not_npu.empty() ? in_float
                                 : fmt::format("{}; not on the NPU: {}", in_float, why_not_npu);
    }
    if (target_.npu) return why_not_npu.empty() ? "beside what the NPU takes" : why_not_npu;
    if (is_of_dialect(call)) return fmt::format("{} is a CPU alone", target_.name);
    return fmt::format("moves or compares int8 elements; the dialect of {} has no kernel for that",
                       target_.name);
  }

  // The kernels of one delegate; the delegate as a whole where its converter does not name them.
  void report_delegate(const Node& node, const KernelCall& call, i32 delegate, i32 instruction) {
    const auto add = [&](const Origin& origin, std::string op, i64 macs) -> OperatorReport& {
      OperatorReport& r = r_.operators.emplace_back(report_origin(origin, std::move(op)));
      r.placement = Placement::npu;
      r.delegate = delegate;
      r.instruction = instruction;
      r.macs = macs;
      note_told(origin);
      return r;
    };
    bool is_named = false;
    for (const NpuKernel& kernel : c_.npu.kernels) {
      if (kernel.delegate != delegate) continue;
      OperatorReport& r =
          add(kernel.origin, fmt::format("neutron::{}", name_of(kernel)), kernel.cost.macs);
      if (kernel.is_predicted)
        r.cycles = kernel.cost.total(), r.bound = name_of(kernel.cost.bound());
      r.reason = kernel.open.empty() ? "within the limits of the NPU" : kernel.open;
      r.apart_cycles = kernel.apart_cycles;
      if (r.apart_cycles > 0)
        r.reason += fmt::format(
            "; one kernel is assumed (docs/neutron-machine.md), two would take {} cycles",
            r.apart_cycles);
      is_named = true;
    }
    if (!is_named)
      add(node.origin, call.name, call.macs).reason = "in one call; its converter names no kernels";
  }

  void note_told(const Origin& origin) {
    for (const i32 id : origin) told_[id] = true;
  }

  // What no call computes a part of, each once.
  void tell(const Origin& origin, const std::string& reason) {
    for (const i32 id : origin)
      if (!told_[id])
        r_.folded.push_back({user_name(g_.sources[id]), g_.sources[id].target, reason, id});
    note_told(origin);
  }

  const Compilation& c_;
  const Graph& g_;
  const Target& target_;
  ProgramReport r_;
  std::vector<bool> told_;  // by source
};

}  // namespace

std::string_view name_of(Placement p) {
  switch (p) {
    case Placement::npu:
      return "npu";
    case Placement::cortex_m:
      return "cortex_m";
    case Placement::portable:
      return "portable";
  }
  return "";
}

std::string short_scratch_text(const OperatorReport& o, const ProgramReport& program,
                               i64 plan_bytes) {
  const i64 all = program.cost.total();
  if (o.short_cycles == 0 || o.short_cycles * 100 < all) return "";
  const auto percent = [](i64 part, i64 whole) {
    return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  };
  return fmt::format(
      "works in smaller pieces: scratch for larger ones would add {:.1f} % to the "
      "plan and save {:.1f} % of the cycles",
      percent(o.short_bytes, plan_bytes), percent(o.short_cycles, all));
}

ProgramReport report_program(const Compilation& c, const Target& target) {
  return Reporter(c, target).run();
}

}  // namespace deuteron
