#include "passes/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "passes/cpu_cost.h"
#include "passes/memories.h"
#include "passes/pipeline.h"

namespace deuteron {

static std::string join(const std::vector<std::string>& parts, const char* separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

static std::string user_name(const SourceOp& s) { return s.module.empty() ? s.name : s.module; }

// Names of an origin without repeats: three operators of one module are one name.
static std::vector<std::string> user_names(const Graph& g, const Origin& origin) {
  std::vector<std::string> names;
  for (const i32 id : origin) {
    std::string name = user_name(g.sources[id]);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

// Of the dialect that only our runtime has: docs/operators-own.md.
static bool is_own(const KernelCall& call) { return call.name.starts_with("deuteron::"); }

static OperatorReport report_origin(const Graph& g, const Origin& all, std::string op) {
  const Origin origin = users_own(g, all);
  std::vector<std::string> sources;
  for (const i32 id : origin) sources.push_back(fmt::format("{} ({})", g.sources[id].name, g.sources[id].target));
  OperatorReport r;
  r.name = join(user_names(g, origin), " + ");
  r.op = std::move(op);
  r.source = join(sources, ", ");
  r.origin = origin;
  return r;
}

// Why the NPU did not take (all of) what a node computes; empty: nothing is known of it.
static std::string reason_of_cpu(const Compilation& c, const Origin& origin) {
  for (const KeptOnCpu& kept : c.kept_on_cpu)
    if (std::includes(origin.begin(), origin.end(), kept.origin.begin(), kept.origin.end())) return to_text(kept.why);
  for (const KeptOnCpu& kept : c.kept_on_cpu)
    if (std::find_first_of(kept.origin.begin(), kept.origin.end(), origin.begin(), origin.end()) != kept.origin.end())
      return to_text(kept.why);
  return "";
}

static std::string reason_of_float(const Compilation& c) {
  return c.model_was_quantized ? "in float: no int8 kernel, or the quantized model gives its values no range" : "no int8 kernel";
}

static OperatorReport report_call(const Compilation& c, const Node& node, const Target& target) {
  const Graph& g = c.graph;
  const KernelCall& call = std::get<KernelCall>(node.op);
  OperatorReport r = report_origin(g, node.origin, call.name);
  const bool is_dialect = call.name.starts_with("cortex_m::") || is_own(call);
  for (const auto* list : {&node.inputs, &node.outputs})
    for (const ValueId v : *list)
      if (!is_dialect && !g.is_constant(v) && g.type(v).dtype == DType::f32) r.float_bytes += g.type(v).bytes();
  const bool portable = r.float_bytes > 0;
  r.placement = portable ? Placement::portable : Placement::cortex_m;
  r.reason = portable     ? reason_of_float(c)
             : is_dialect ? fmt::format("{} is a CPU alone", target.name)
                          : fmt::format("moves or compares int8 elements; the dialect of {} has no kernel for that", target.name);
  if (target.npu) {
    const std::string why = reason_of_cpu(c, node.origin);
    if (!portable) r.reason = why.empty() ? "beside what the NPU takes" : why;
    else if (!why.empty()) r.reason += "; not on the NPU: " + why;
  }
  r.macs = call.macs;
  r.cycles = cpu_cycles(g, node, target).value_or(-1);
  r.is_stock = !is_own(call);
  return r;
}

// What runs in float, and what that costs: once for each of the user's operators, however many kernels it became.
static void warn_of_portable(const Compilation& c, const Target& target, Diagnostics& diagnostics) {
  struct Leftover {
    const OperatorReport* first;
    std::vector<std::string> kernels;
    i64 macs = 0, bytes = 0;
  };
  std::vector<Leftover> leftovers;
  for (const OperatorReport& o : c.operators) {
    if (o.placement != Placement::portable) continue;
    auto at = std::find_if(leftovers.begin(), leftovers.end(),
                           [&](const Leftover& l) { return l.first->source == o.source && l.first->name == o.name; });
    if (at == leftovers.end()) at = leftovers.insert(at, {&o, {}, 0, 0});
    if (std::find(at->kernels.begin(), at->kernels.end(), o.op) == at->kernels.end()) at->kernels.push_back(o.op);
    at->macs += o.macs;
    at->bytes += o.float_bytes;
  }
  for (const Leftover& l : leftovers) {
    const double share = c.macs > 0 ? 100.0 * static_cast<double>(l.macs) / static_cast<double>(c.macs) : 0;
    diagnostics.warning(fmt::format("{}: `{}`, {}", c.graph.name, l.first->name, l.first->source),
                        fmt::format("has no int8 form on {} and runs in float on the portable kernel{} {}: {:.1f} % of the multiply-adds, "
                                    "{} bytes of float tensors",
                                    target.name, l.kernels.size() == 1 ? "" : "s", join(l.kernels, ", "), share, l.bytes),
                        "target.portable", "replace the operator, or accept the cost; --strict makes this an error");
  }
}

// The kernels of one delegate; the delegate as a whole where its converter does not name them.
static void report_delegate(Compilation& c, const Node& node, i32 delegate, i32 instruction) {
  const KernelCall& call = std::get<KernelCall>(node.op);
  const size_t before = c.operators.size();
  const auto add = [&](OperatorReport r, i64 macs) {
    r.placement = Placement::npu;
    r.delegate = delegate;
    r.instruction = instruction;
    r.macs = macs;
    c.operators.push_back(std::move(r));
    return &c.operators.back();
  };
  for (const NpuKernel& kernel : c.npu_kernels) {
    if (kernel.delegate != delegate) continue;
    OperatorReport* r = add(report_origin(c.graph, kernel.origin, fmt::format("neutron::{}", name_of(kernel.kind))), kernel.cost.macs);
    r->cycles = kernel.cost.total();
    r->bound = name_of(kernel.cost.bound());
    r->reason = "within the limits of the NPU";
  }
  if (c.operators.size() == before)
    add(report_origin(c.graph, node.origin, call.name), call.macs)->reason = "in one call; its converter names no kernels";
}

static void report(Compilation& c, const Target& target) {
  const Graph& g = c.graph;
  // The rest: what no call computes a part of, each once.
  std::vector<bool> told(g.sources.size(), false);
  i32 delegates = 0, instruction = -1;
  for (const Node& node : g.nodes) {
    const KernelCall* call = std::get_if<KernelCall>(&node.op);
    if (!call) continue;
    ++instruction;
    if (!call->delegate) {
      c.operators.push_back(report_call(c, node, target));
      c.operators.back().instruction = instruction;
      for (const i32 id : node.origin) told[id] = true;
      continue;
    }
    report_delegate(c, node, delegates, instruction);
    bool named = false;
    for (const NpuKernel& kernel : c.npu_kernels)
      if (kernel.delegate == delegates) {
        named = true;
        for (const i32 id : kernel.origin) told[id] = true;
      }
    if (!named)
      for (const i32 id : node.origin) told[id] = true;
    ++delegates;
  }
  const auto tell = [&](const Origin& origin, const std::string& reason) {
    for (const i32 id : origin) {
      if (!told[id]) c.folded.push_back({user_name(g.sources[id]), g.sources[id].target, reason, id});
      told[id] = true;
    }
  };
  for (const Node& node : g.nodes)
    if (!std::holds_alternative<KernelCall>(node.op))
      tell(node.origin, std::holds_alternative<Concat>(node.op) ? "no copy: its parts are written where the whole lies"
                                                                : "a view: the same bytes under another shape");
  for (const Folded& f : c.without_kernel) tell(f.origin, f.reason);
  for (const Folded& f : g.folded) tell(f.origin, f.reason);
  for (const OperatorReport& op : c.operators) c.macs += op.macs;
}

// The plan must fit one memory that all who touch it reach, the program those for constants.
static void check_memories(const Compilation& c, const Target& target, bool fetch_constants, Diagnostics& diagnostics) {
  const std::string where = fmt::format("{} on {}", c.graph.name, target.name);
  const bool npu = calls_npu(c.graph);
  const i64 resident = resident_npu_bytes(c.graph, target, fetch_constants);
  const Room room = room_for_activations(target, npu, c.plan.bytes, resident);
  if (room.memory && c.plan.bytes > room.bytes) {
    std::vector<std::string> alive;
    for (const LiveTensor& t : c.plan.peak) alive.push_back(fmt::format("{} ({} bytes)", c.graph.values[t.value].name, t.bytes));
    const std::string beside = resident > 0 && room.memory->does_hold("constants")
                                   ? fmt::format(" beside {} bytes of constants that the NPU must find there", resident)
                                   : "";
    diagnostics.add({Severity::error, where,
                     fmt::format("the planned tensors do not fit the memory `{}`{}: {} bytes are missing; alive at the peak: {}",
                                 room.memory->name, beside, c.plan.bytes - room.bytes, join(alive, ", ")),
                     std::to_string(c.plan.bytes), std::to_string(room.bytes), "target.memory",
                     beside.empty() ? "use a smaller input, fewer channels or a target with more memory"
                                    : "use --fetch-constants-to-sram, a smaller input, fewer channels or a target with more memory"});
  }
  i64 flash = 0;
  bool is_limited = false, is_endless = false;
  for (const MemoryRegion& m : target.memories)
    if (m.does_hold("constants")) flash += m.bytes, is_limited = true, is_endless |= m.bytes == 0;
  if (is_limited && !is_endless && static_cast<i64>(c.pte.size()) > flash)
    diagnostics.add({Severity::error, where, "the program does not fit the memory for constants", std::to_string(c.pte.size()),
                     std::to_string(flash), "target.memory", ""});
}

std::optional<Compilation> compile(Graph graph, const Target& target, const Samples& samples, const CompileOptions& options,
                                   Diagnostics& diagnostics) {
  const std::vector<std::string> names = pass_names();
  std::vector<std::string> asked = options.skip_passes;
  asked.insert(asked.end(), {options.stop_after, options.dump_after});
  for (const std::string& name : asked)
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
      diagnostics.error("deuteron", fmt::format("there is no pass `{}`", name), "pipeline.pass", "passes: " + join(names, ", "));
  if (diagnostics.has_errors()) return std::nullopt;

  Compilation c;
  c.graph = std::move(graph);
  c.user = user_operators(c.graph);
  i64 rewrites = options.max_rewrites < 0 ? std::numeric_limits<i64>::max() : options.max_rewrites;
  PassContext context{c.graph, target, samples, options, c, diagnostics, &rewrites};
  const bool finished = run_pipeline(context);
  if (diagnostics.has_errors()) return std::nullopt;
  if (!finished) return c;
  c.plan = plan_memory(c.graph);
  c.pte = write_pte(c.graph, c.plan, target.isa, &c.parts);
  i64 npu_cycles = 0;
  for (const NpuKernel& kernel : c.npu_kernels) npu_cycles += kernel.cost.total();
  c.cost = program_cost(c.graph, npu_cycles, target);
  report(c, target);
  warn_of_portable(c, target, diagnostics);
  check_memories(c, target, options.npu.fetch_constants, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  return c;
}

}  // namespace deuteron
