// SPDX-License-Identifier: Apache-2.0
#include "compile/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "compile/calibrate/stream.h"
#include "compile/compilation.h"
#include "compile/lower/portable_calls.h"
#include "compile/options.h"
#include "compile/pipeline.h"
#include "compile/schedule/memories.h"
#include "compile/schedule/place_memories.h"
#include "ops/families.h"
#include "targets/target.h"
#include "write/pte/check_load.h"
#include "write/pte/port_notes.h"

namespace deuteron {

static std::string join(const std::vector<std::string>& parts, const char* separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

static std::string alive_at_peak(const Compilation& c) {
  std::vector<std::string> alive;
  for (const LiveTensor& t : c.plan.peak)
    alive.push_back(fmt::format("{} ({} bytes)", c.graph.values[t.value].name, t.bytes));
  return join(alive, ", ");
}

// What lies beside the plan counts in full, however little of the memory it leaves.
static void report_missing_room(const Compilation& c, const MemoryRegion& memory, i64 resident,
                                const std::string& where, Diagnostics& diagnostics) {
  const i64 beside = memory.does_hold("constants") ? resident : 0, needed = c.plan.bytes + beside;
  const std::string what = beside > 0 ? fmt::format(
                                            "{} bytes of constants that the NPU must find there, "
                                            "and {} bytes of planned tensors, do",
                                            beside, c.plan.bytes)
                                      : "the planned tensors do";
  diagnostics.add(
      {Severity::error, where,
       fmt::format("{} not fit the memory `{}`: {} bytes are missing; alive at the peak: {}", what,
                   memory.name, needed - memory.bytes, alive_at_peak(c)),
       std::to_string(needed), std::to_string(memory.bytes), "target.memory",
       beside == 0 ? "use a smaller input, fewer channels or a target with more memory"
                   : "use --neutron-option fetch_constants_to_sram=true, a smaller input, fewer "
                     "channels or a target with more memory"});
}

// The plan must fit one memory that all who touch it reach, the program those for constants.
static void check_memories(const Compilation& c, const Target& target, bool fetch_constants,
                           Diagnostics& diagnostics) {
  if (c.plan.placement.is_placed()) return;
  const std::string where = fmt::format("{} on {}", c.graph.name, target.name);
  const bool npu = calls_npu(c.graph);
  const i64 resident = resident_npu_bytes(c.graph, target, fetch_constants);
  const Room room = room_for_activations(target, npu, c.plan.bytes, resident);
  if (room.memory && c.plan.bytes > room.bytes)
    report_missing_room(c, *room.memory, resident, where, diagnostics);
  i64 flash = 0;
  bool is_limited = false, is_endless = false;
  for (const MemoryRegion& m : target.memories)
    if (m.does_hold("constants")) flash += m.bytes, is_limited = true, is_endless |= m.bytes == 0;
  if (is_limited && !is_endless && static_cast<i64>(c.pte.size()) > flash)
    diagnostics.add(
        {Severity::error, where,
         fmt::format("the program does not fit the memory for constants: {} bytes are missing",
                     static_cast<i64>(c.pte.size()) - flash),
         std::to_string(c.pte.size()), std::to_string(flash), "target.memory", ""});
}

static void refuse_plan(const Compilation& c, const Target& target, const MemoryAnswer& answer,
                        Diagnostics& diagnostics) {
  i64 room = 0;
  std::vector<std::string> names;
  for (const MemoryRegion& m : target.memories)
    if (m.is_planned()) room += m.bytes, names.push_back(fmt::format("`{}` {}", m.name, m.bytes));
  diagnostics.add(
      {Severity::error, fmt::format("{} on {}", c.graph.name, target.name),
       fmt::format("the planned tensors do not fit the memories for them ({}): {} bytes are "
                   "missing in `{}`; alive at "
                   "the peak: {}",
                   join(names, ", "), answer.missing, answer.short_of, alive_at_peak(c)),
       std::to_string(c.plan.bytes), std::to_string(room), "target.memory",
       "use --max-ram, a smaller input, fewer channels or a board with more memory"});
}

// Of several memories: the file lies in the first flash that has room for it, tensors and copies of
// constants where they cost least.
static void place_all(Compilation& c, const Target& target, const CompileOptions& options,
                      Diagnostics& diagnostics) {
  std::vector<i32> homes;
  for (size_t m = 0; m < target.memories.size(); ++m)
    if (target.memories[m].is_flash && target.memories[m].is_reached_by("cpu"))
      homes.push_back(static_cast<i32>(m));
  if (homes.empty()) homes.push_back(-1);
  const i64 resident =
      calls_npu(c.graph) ? resident_npu_bytes(c.graph, target, options.npu.fetch_constants) : 0;
  for (const i32 home : homes) {
    MemoryAnswer answer = place_memories({c.graph, target, resident, home, options.packed_weights});
    c.plan = std::move(answer.plan);
    if (!answer.fits) return refuse_plan(c, target, answer, diagnostics);
    c.pte = write_pte(c.graph, c.plan, target.isa, &c.parts, notes_of(c.graph, c.byte_inputs));
    if (home < 0 || target.memories[home].bytes == 0 ||
        static_cast<i64>(c.pte.size()) <= target.memories[home].bytes)
      return;
  }
  const MemoryRegion& last = target.memories[homes.back()];
  diagnostics.add({Severity::error, fmt::format("{} on {}", c.graph.name, target.name),
                   fmt::format("the program does not fit the flash `{}`: {} bytes are missing; it "
                               "has {} bytes of constants, {} for the "
                               "NPU, {} of "
                               "calls and tables",
                               last.name, static_cast<i64>(c.pte.size()) - last.bytes,
                               c.parts.constants, c.parts.delegates, c.parts.program),
                   std::to_string(c.pte.size()), std::to_string(last.bytes), "target.memory",
                   "use fewer channels or a board with more flash"});
}

// With our own conversions in the place of the vendor's. Their memory is the vendor's, or lies
// behind the plan.
static std::vector<uint8_t> program_with_own_conversions(const Compilation& c,
                                                         const Target& target) {
  Graph graph = c.graph;
  for (Node& node : graph.nodes) {
    auto* const call = call_of(node.op);
    if (!call || !call->delegate) continue;
    const auto own =
        std::ranges::find(c.npu.own_conversions, call->delegate, &OwnConversion::vendors);
    DEUTERON_CHECK(own != c.npu.own_conversions.end(),
                   node.outputs.empty() ? "" : graph.values[node.outputs[0]].name);
    if (!own->ours) return {};
    call->delegate = own->ours;
  }
  PteParts parts;
  return write_pte(graph, c.plan, target.isa, &parts, notes_of(graph, c.byte_inputs));
}

std::optional<Compilation> compile(Graph graph, const Target& target, const Samples& samples,
                                   const CompileOptions& options, Diagnostics& diagnostics) {
  const std::vector<std::string> names = pass_names();
  std::vector<std::string> asked = options.skip_passes;
  asked.push_back(options.stop_after);
  for (const std::string& name : asked)
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
      diagnostics.error("deuteron", fmt::format("there is no pass `{}`", name), "pipeline.pass",
                        "passes: " + join(names, ", "));
  if (diagnostics.has_errors()) return std::nullopt;

  Compilation c;
  c.graph = std::move(graph);
  remove_dead(c.graph, "result is not used");  // rules patch for somebody who reads the result
  check_sizes(c.graph, target.name, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  c.user = user_operators(c.graph);
  i64 rewrites = options.max_rewrites < 0 ? std::numeric_limits<i64>::max() : options.max_rewrites;
  const Samples steps = with_states(c.graph, samples);
  PassContext context{c.graph, target, steps, options, c, diagnostics, &rewrites};
  const bool finished = run_passes(context);
  if (diagnostics.has_errors()) return std::nullopt;
  if (!finished) return c;
  check_sizes(c.graph, target.name, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  if (places_memories(target, options)) {
    place_all(c, target, options, diagnostics);
    if (diagnostics.has_errors()) return std::nullopt;
  } else {
    c.plan = plan_memory(c.graph);
    c.pte = write_pte(c.graph, c.plan, target.isa, &c.parts, notes_of(c.graph, c.byte_inputs));
  }
  if (!c.npu.own_conversions.empty()) c.own_pte = program_with_own_conversions(c, target);
  check_load(program_to_run(c), c.graph, target.name, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  warn_of_portable_calls(c.graph, macs_of(c), target, c.quantization.in_float, diagnostics);
  check_memories(c, target, options.npu.fetch_constants, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  return c;
}

}  // namespace deuteron
