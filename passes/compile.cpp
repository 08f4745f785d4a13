#include "passes/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "calibrate/stream.h"
#include "emit/input_format.h"
#include "emit/load_plan.h"
#include "passes/compilation.h"
#include "passes/memories.h"
#include "passes/options.h"
#include "passes/pipeline.h"
#include "passes/portable_calls.h"
#include "targets/target.h"

namespace deuteron {

static std::string join(const std::vector<std::string>& parts, const char* separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

// What lies beside the plan counts in full, however little of the memory it leaves.
static void report_missing_room(const Compilation& c, const MemoryRegion& memory, i64 resident, const std::string& where,
                                Diagnostics& diagnostics) {
  const i64 beside = memory.does_hold("constants") ? resident : 0, needed = c.plan.bytes + beside;
  std::vector<std::string> alive;
  for (const LiveTensor& t : c.plan.peak) alive.push_back(fmt::format("{} ({} bytes)", c.graph.values[t.value].name, t.bytes));
  const std::string what =
      beside > 0 ? fmt::format("{} bytes of constants that the NPU must find there, and {} bytes of planned tensors, do", beside, c.plan.bytes)
                 : "the planned tensors do";
  diagnostics.add({Severity::error, where,
                   fmt::format("{} not fit the memory `{}`: {} bytes are missing; alive at the peak: {}", what, memory.name,
                               needed - memory.bytes, join(alive, ", ")),
                   std::to_string(needed), std::to_string(memory.bytes), "target.memory",
                   beside == 0 ? "use a smaller input, fewer channels or a target with more memory"
                               : "use --fetch-constants-to-sram, a smaller input, fewer channels or a target with more memory"});
}

// The plan must fit one memory that all who touch it reach, the program those for constants.
static void check_memories(const Compilation& c, const Target& target, bool fetch_constants, Diagnostics& diagnostics) {
  const std::string where = fmt::format("{} on {}", c.graph.name, target.name);
  const bool npu = calls_npu(c.graph);
  const i64 resident = resident_npu_bytes(c.graph, target, fetch_constants);
  const Room room = room_for_activations(target, npu, c.plan.bytes, resident);
  if (room.memory && c.plan.bytes > room.bytes) report_missing_room(c, *room.memory, resident, where, diagnostics);
  i64 flash = 0;
  bool is_limited = false, is_endless = false;
  for (const MemoryRegion& m : target.memories)
    if (m.does_hold("constants")) flash += m.bytes, is_limited = true, is_endless |= m.bytes == 0;
  if (is_limited && !is_endless && static_cast<i64>(c.pte.size()) > flash)
    diagnostics.add({Severity::error, where,
                     fmt::format("the program does not fit the memory for constants: {} bytes are missing", static_cast<i64>(c.pte.size()) - flash),
                     std::to_string(c.pte.size()), std::to_string(flash), "target.memory", ""});
}

static void write_load_plan(Compilation& c, const Target& target, Diagnostics& diagnostics) {
  const size_t before = c.pte.size();
  if (const char* why = add_load_plan(c.pte, target.isa, kAllKernels))
    diagnostics.add({Severity::warning, "deuteron", fmt::format("writes no load plan: {}", why), "", "", "pte.load_plan",
                     "leave --load-plan out; the program loads without one, in more instructions"});
  c.parts.program += static_cast<i64>(c.pte.size() - before);
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
  const Samples steps = with_states(c.graph, samples);
  PassContext context{c.graph, target, steps, options, c, diagnostics, &rewrites};
  const bool finished = run_passes(context);
  if (diagnostics.has_errors()) return std::nullopt;
  if (!finished) return c;
  c.plan = plan_memory(c.graph);
  c.pte = write_pte(c.graph, c.plan, target.isa, &c.parts, notes_of(c.byte_inputs));
  if (options.load_plan) write_load_plan(c, target, diagnostics);
  warn_of_portable_calls(c.graph, macs_of(c), target, diagnostics);
  check_memories(c, target, options.npu.fetch_constants, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  return c;
}

}  // namespace deuteron
