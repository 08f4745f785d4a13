// SPDX-License-Identifier: Apache-2.0
// Reads a target file and checks it against what is known of the cores.
#include "targets/target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <optional>

#include "npu/neutron/machine/machine_ranges.h"
#include "targets/extend.h"
#include "targets/nearest.h"
#include "targets/target_keys.h"

namespace deuteron {
namespace {

constexpr int64_t kMaxMemoryBytes = int64_t{1} << 32;  // the address space of a Cortex-M

// The strongest instruction set of each core: Arm's product table (armv6-m, armv7-m, armv8-m.base:
// scalar; armv7e-m and armv8-m.main with DSP: dsp; armv8.1-m with MVE: mve).
struct Core {
  std::string_view name;
  Isa strongest;
};
constexpr Core kCores[] = {
    {"cortex-m0", Isa::scalar}, {"cortex-m0+", Isa::scalar}, {"cortex-m3", Isa::scalar},
    {"cortex-m4", Isa::dsp},    {"cortex-m7", Isa::dsp},     {"cortex-m23", Isa::scalar},
    {"cortex-m33", Isa::dsp},   {"cortex-m35p", Isa::dsp},   {"cortex-m52", Isa::mve},
    {"cortex-m55", Isa::mve},   {"cortex-m85", Isa::mve},    {"rv32imac", Isa::scalar},
};
constexpr Isa kIsas[] = {Isa::scalar, Isa::dsp, Isa::mve};
const std::vector<std::string> kBackends = {"neutron", "cortex_m"};
const std::vector<std::string> kFamilies = {"neutron-n3"};
const std::vector<std::string> kHolds = {"activations", "scratch", "states", "constants"};
const std::vector<std::string> kKinds = {"ram", "flash"};
const std::vector<std::string> kProcessors = {"cpu", "npu"};
const std::vector<std::string> kPrefer = {"auto", "npu", "fastest"};
const std::vector<std::string> kDialects = {"deuteron", "stock"};
constexpr int64_t kMaxCost = int64_t{1}
                             << 31;  // so that no sum of products with sizes of tensors runs over
constexpr int64_t kMaxCycles = 256 * 16;  // of 256 instructions

// Reads one file with what it extends; every fault becomes a diagnostic with the line where it was
// found.
class Reader {
 public:
  Reader(const std::string& file, Diagnostics& diagnostics)
      : file_(file), diagnostics_(diagnostics) {}

  std::optional<Target> read(const toml::table& root) {
    known_keys(root, "the target file",
               {"format", "base", "name", "description", "extends", "backends", "options", "cpu",
                "npu", "memory", "stock"});
    Target t;
    t.file = file_;
    if (const toml::node* base = root.get("base"); base && base->value_or(true))
      fault(base, "is a base for other files to extend, not a target", "target.base",
            "name a target that extends it, or write `extends = [...]` in a file of your own");
    t.name = string(root, "name", true).value_or("");
    t.description = string(root, "description", false).value_or("");
    t.backends = strings(root, "backends", kBackends, "backend");
    if (t.backends.size() == 2 && t.backends[0] == "cortex_m")
      fault(root.get("backends"),
            "`cortex_m` stands before `neutron` and takes every operator, so nothing would be left "
            "for the NPU",
            "target.order", "write backends = [\"neutron\", \"cortex_m\"]");
    if (const toml::node* node = need(root, "cpu")) {
      if (const toml::table* cpu = node->as_table()) read_cpu(*cpu, t);
      else fault(node, "`cpu` must be a table ([cpu])", "target.type");
    }
    if (const toml::node* node = root.get("memory")) read_memories(*node, t);
    if (const toml::table* npu = table(root, "npu", "", t.has_backend("neutron")))
      read_npu(*npu, t);
    if (const toml::table* options = table(root, "options")) read_options(*options, t);
    if (const toml::table* stock = table(root, "stock")) read_stock(*stock, t);
    if (!failed_) check_sharing(root.get("memory"), t);
    if (!failed_) check_use(root.get("memory"), t);
    return failed_ ? std::nullopt : std::optional(std::move(t));
  }

 private:
  std::string at(const toml::node* node) const {
    const auto line = node ? node->source().begin.line : 0;
    return line > 0 ? fmt::format("{}:{}", file_of(node), line) : file_;
  }
  // A node may have come from a file that this one extends.
  const std::string& file_of(const toml::node* node) const {
    const auto& path = node->source().path;
    return path ? *path : file_;
  }
  void fault(const toml::node* node, std::string what, std::string rule, std::string fix = {}) {
    failed_ = true;
    diagnostics_.error(at(node), std::move(what), std::move(rule), std::move(fix));
  }
  void measured(const toml::node* node, std::string what, int64_t value, int64_t limit,
                std::string rule, std::string fix = {}) {
    failed_ = true;
    diagnostics_.add({Severity::error, at(node), std::move(what), std::to_string(value),
                      std::to_string(limit), std::move(rule), std::move(fix)});
  }
  void known_keys(const toml::table& table, std::string_view where,
                  const std::vector<std::string>& known) {
    for (const auto& [key, node] : table)
      if (std::find(known.begin(), known.end(), key.str()) == known.end())
        fault(&node, fmt::format("{} has an unknown key `{}`", where, key.str()),
              "target.unknown_key", suggestion(key.str(), known));
  }
  const toml::node* need(const toml::table& table, std::string_view key) {
    const toml::node* node = table.get(key);
    if (!node)
      fault(&table, fmt::format("`{}` is missing", key), "target.missing_field",
            fmt::format("add `{} = ...`", key));
    return node;
  }
  std::optional<int64_t> integer(const toml::table& table, std::string_view key, bool required) {
    const toml::node* node = required ? need(table, key) : table.get(key);
    if (!node) return std::nullopt;
    if (const auto* v = node->as_integer()) return v->get();
    fault(node, fmt::format("`{}` must be a whole number", key), "target.type");
    return std::nullopt;
  }
  std::optional<std::string> string(const toml::table& table, std::string_view key, bool required) {
    const toml::node* node = required ? need(table, key) : table.get(key);
    if (!node) return std::nullopt;
    const auto* v = node->as_string();
    if (!v)
      return fault(node, fmt::format("`{}` must be a string", key), "target.type"), std::nullopt;
    if (required && v->get().empty())
      return fault(node, fmt::format("`{}` is empty", key), "target.empty"), std::nullopt;
    return v->get();
  }
  // A list of names, all of them in `known`, none twice.
  std::vector<std::string> strings(const toml::table& table, std::string_view key,
                                   const std::vector<std::string>& known, std::string_view noun) {
    const toml::node* node = need(table, key);
    if (!node) return {};
    const toml::array* list = node->as_array();
    if (!list)
      return fault(node, fmt::format("`{}` must be a list of strings", key), "target.type"),
             std::vector<std::string>{};
    if (list->empty())
      fault(node, fmt::format("`{}` is empty", key), "target.empty",
            fmt::format("known: {}", fmt::join(known, ", ")));
    std::vector<std::string> names;
    for (const toml::node& item : *list) {
      const auto* v = item.as_string();
      if (!v) fault(&item, fmt::format("`{}` must be a list of strings", key), "target.type");
      else if (std::find(known.begin(), known.end(), v->get()) == known.end())
        fault(&item, fmt::format("unknown {} `{}`", noun, v->get()), "target.unknown_name",
              suggestion(v->get(), known));
      else if (std::find(names.begin(), names.end(), v->get()) != names.end())
        fault(&item, fmt::format("`{}` names `{}` twice", key, v->get()), "target.twice");
      else names.push_back(v->get());
    }
    return names;
  }

  void read_cpu(const toml::table& cpu, Target& t) {
    known_keys(cpu, "[cpu]", {"core", "isa", "clock_hz", "measured", "cost", "cycles"});
    if (const toml::table* cost = table(cpu, "cost", "cpu.")) read_cost(*cost, t);
    if (const toml::table* cycles = table(cpu, "cycles", "cpu.")) read_cycles(*cycles, t);
    t.cpu = string(cpu, "core", true).value_or("");
    const std::string isa = string(cpu, "isa", true).value_or("");
    t.measured = string(cpu, "measured", false).value_or("");
    if (const std::optional<int64_t> clock = integer(cpu, "clock_hz", false)) {
      t.clock_hz = *clock;
      if (*clock <= 0)
        measured(cpu.get("clock_hz"), "the clock stands still", *clock, 1, "target.clock");
    }
    const Core* core = std::find_if(std::begin(kCores), std::end(kCores),
                                    [&](const Core& c) { return c.name == t.cpu; });
    if (!t.cpu.empty() && core == std::end(kCores)) {
      std::vector<std::string> known;
      for (const Core& c : kCores) known.emplace_back(c.name);
      fault(cpu.get("core"), fmt::format("unknown core `{}`", t.cpu), "target.unknown_name",
            suggestion(t.cpu, known));
    }
    if (isa.empty()) return;
    std::vector<std::string> known;
    for (const Isa i : kIsas) known.emplace_back(name_of(i));
    const auto found = std::find(known.begin(), known.end(), isa);
    if (found == known.end())
      return fault(cpu.get("isa"), fmt::format("unknown instruction set `{}`", isa),
                   "target.unknown_name", suggestion(isa, known));
    t.isa = kIsas[found - known.begin()];
    if (core == std::end(kCores) || t.isa <= core->strongest) return;
    failed_ = true;
    diagnostics_.add(
        {Severity::error, at(cpu.get("isa")),
         fmt::format("{} does not have this instruction set", t.cpu), isa, name_of(core->strongest),
         "target.isa",
         fmt::format("set isa = \"{}\" or name another core", name_of(core->strongest))});
  }

  // A table that may be there. `path`: of the table that it is in, with a point.
  const toml::table* table(const toml::table& from, std::string_view key,
                           std::string_view path = "") {
    const toml::node* node = from.get(key);
    return node ? as_table(*node, key, path) : nullptr;
  }
  const toml::table* as_table(const toml::node& node, std::string_view key, std::string_view path) {
    if (!node.as_table())
      fault(&node, fmt::format("`{}` must be a table ([{}{}])", key, path, key), "target.type");
    return node.as_table();
  }
  // A table that must be there, or must not. What is only inherited and not used is no fault: a
  // recipe may leave a backend out.
  const toml::table* table(const toml::table& from, std::string_view key, std::string_view path,
                           bool wanted) {
    const toml::node* node = wanted ? need(from, key) : from.get(key);
    if (!node || (!wanted && file_of(node) != file_)) return nullptr;
    if (!wanted)
      return fault(node, fmt::format("`{}` describes what no backend of this target uses", key),
                   "target.unused"),
             nullptr;
    return as_table(*node, key, path);
  }
  struct Range {
    int64_t low, high;
  };
  // Whole numbers within range_of(key), all of the keys and no others.
  template <class Key, class Numbers, class RangeOf>
  void read_numbers(const toml::table& from, std::string_view where, std::span<const Key> keys,
                    RangeOf range_of, Numbers& numbers) {
    std::vector<std::string> known;
    for (const Key& key : keys) known.emplace_back(key.name);
    known_keys(from, where, known);
    for (const Key& key : keys) {
      const std::optional<int64_t> v = integer(from, key.name, true);
      if (!v) continue;
      const Range range = range_of(key);
      if (*v < range.low)
        measured(from.get(key.name), fmt::format("`{}` must be at least {}", key.name, range.low),
                 *v, range.low, "target.npu");
      else if (*v > range.high)
        measured(from.get(key.name), fmt::format("`{}` is too large", key.name), *v, range.high,
                 "target.npu");
      else
        numbers.*key.field = static_cast<std::remove_reference_t<decltype(numbers.*key.field)>>(*v);
    }
  }
  static auto up_to(int64_t most) {
    return [most](const auto&) { return Range{1, most}; };
  }
  // What the driver of the machine takes.
  static Range range_of_machine(const MachineKey& key) {
    const auto* range =
        std::ranges::find(neutron::kMachineRanges, key.field, &neutron::MachineRange::field);
    return {range->low, range->high};
  }
  void read_npu(const toml::table& from, Target& t) {
    known_keys(from, "[npu]", {"family", "sdk", "limits", "machine", "crossing"});
    Npu npu;
    npu.family = string(from, "family", true).value_or("");
    if (!npu.family.empty() &&
        std::find(kFamilies.begin(), kFamilies.end(), npu.family) == kFamilies.end())
      fault(from.get("family"), fmt::format("unknown NPU `{}`", npu.family), "target.unknown_name",
            suggestion(npu.family, kFamilies));
    npu.sdk = string(from, "sdk", true).value_or("");
    if (const toml::table* limits = table(from, "limits", "npu.", true))
      read_numbers<LimitKey>(*limits, "[npu.limits]", kLimitKeys, up_to(int64_t{1} << 31),
                             npu.limits);
    if (const toml::table* machine = table(from, "machine", "npu.", true))
      read_numbers<MachineKey>(*machine, "[npu.machine]", kMachineKeys, range_of_machine,
                               npu.machine);
    if (const toml::table* crossing = table(from, "crossing", "npu.", true))
      read_numbers<CrossingKey>(*crossing, "[npu.crossing]", kCrossingKeys, up_to(kMaxCost),
                                npu.crossing);
    if (t.clock_hz <= 0)
      fault(&from, "a target with an NPU needs its clock: `clock_hz` in [cpu]",
            "target.missing_field");
    if (t.clock_hz > (int64_t{1} << 31) - 1)
      measured(&from, "the NPU's clock is too fast", t.clock_hz, (int64_t{1} << 31) - 1,
               "target.clock");
    else npu.machine.clock_hz = static_cast<int32_t>(t.clock_hz);
    t.npu = std::move(npu);
  }

  void read_cost(const toml::table& from, Target& t) {
    std::vector<std::string> known;
    for (const CostKey& key : kCostKeys) known.emplace_back(key.name);
    for (const auto& [kernel, node] : from) {
      const toml::table* line = node.as_table();
      if (!line) {
        fault(&node,
              fmt::format("the cost of `{}` must be a table ({{ call = .., mac = .. }})",
                          kernel.str()),
              "target.type");
        continue;
      }
      CpuKernelCost cost;
      cost.kernel = kernel.str();
      known_keys(*line, fmt::format("the cost of `{}`", kernel.str()), known);
      for (const CostKey& key : kCostKeys)
        if (const std::optional<int64_t> v = integer(*line, key.name, false)) {
          if (*v < 0)
            measured(line->get(key.name), fmt::format("`{}` must not be negative", key.name), *v, 0,
                     "target.cost");
          else if (*v > kMaxCost)
            measured(line->get(key.name), fmt::format("`{}` is too large", key.name), *v, kMaxCost,
                     "target.cost");
          else cost.*key.field = *v;
        }
      t.cpu_cost.push_back(std::move(cost));
    }
  }

  void read_cycles(const toml::table& from, Target& t) {
    for (const auto& [kernel, node] : from)
      if (const std::optional<int64_t> v = integer(from, kernel.str(), false)) {
        if (*v < 1)
          measured(&node, fmt::format("the cycles of `{}` must be 1 or more", kernel.str()), *v, 1,
                   "target.cost");
        else if (*v > kMaxCycles)
          measured(&node, fmt::format("the cycles of `{}` are too many", kernel.str()), *v,
                   kMaxCycles, "target.cost");
        else t.cpu_cycles.push_back({std::string(kernel.str()), *v});
      }
  }

  std::string one_of(const toml::table& from, std::string_view key,
                     const std::vector<std::string>& known, std::string otherwise) {
    const std::optional<std::string> v = string(from, key, false);
    if (!v) return otherwise;
    if (std::find(known.begin(), known.end(), *v) == known.end())
      fault(from.get(key), fmt::format("unknown value `{}` of `{}`", *v, key),
            "target.unknown_name", suggestion(*v, known));
    return *v;
  }
  const toml::table* options_of(const toml::table& from, std::string_view backend,
                                const Target& t) {
    return from.get(backend) ? table(from, backend, "options.", t.has_backend(backend)) : nullptr;
  }
  void read_options(const toml::table& from, Target& t) {
    known_keys(from, "[options]", kBackends);
    RecipeOptions& o = t.options;
    if (const toml::table* npu = options_of(from, "neutron", t)) {
      known_keys(*npu, "[options.neutron]",
                 {"prefer", "delegate_min_macs", "fetch_constants_to_sram"});
      o.prefer = one_of(*npu, "prefer", kPrefer, o.prefer);
      o.min_macs = integer(*npu, "delegate_min_macs", false).value_or(0);
      if (o.min_macs < 0)
        measured(npu->get("delegate_min_macs"), "`delegate_min_macs` must not be negative",
                 o.min_macs, 0, "target.options");
      if (const toml::node* fetch = npu->get("fetch_constants_to_sram")) {
        if (const auto* v = fetch->as_boolean()) o.fetch_constants = v->get();
        else fault(fetch, "`fetch_constants_to_sram` must be true or false", "target.type");
      }
    }
    if (const toml::table* cpu = options_of(from, "cortex_m", t)) {
      known_keys(*cpu, "[options.cortex_m]", {"dialect"});
      o.dialect = one_of(*cpu, "dialect", kDialects, o.dialect);
    }
  }

  void read_stock(const toml::table& from, Target& t) {
    known_keys(from, "[stock]", {"cmsis_nn"});
    const std::string name =
        one_of(from, "cmsis_nn", {std::begin(kCmsisNnNames), std::end(kCmsisNnNames)},
               name_of(t.cmsis_nn));
    for (const CmsisNn version : {CmsisNn::at_dbf45dbf, CmsisNn::at_99f736a})
      if (name == name_of(version)) t.cmsis_nn = version;
  }

  // Tensors lie in one memory, which everybody who reads or writes them must reach. The CPU always
  // does: it sets the inputs.
  void check_sharing(const toml::node* memories, const Target& t) {
    const bool npu = t.has_backend("neutron");
    std::string there;
    for (const MemoryRegion& m : t.memories) {
      if (!m.does_hold("activations")) continue;
      if (m.is_reached_by("cpu") && (!npu || m.is_reached_by("npu"))) return;
      there += fmt::format("{}`{}` is reached by {} only", there.empty() ? "" : ", ", m.name,
                           fmt::join(m.reach, " and "));
    }
    if (there.empty()) return;  // no limit
    failed_ = true;
    diagnostics_.add({Severity::error, at(memories),
                      npu ? fmt::format("the backends {} cannot share tensors: no memory for "
                                        "activations is reached by the CPU and by the NPU",
                                        fmt::join(t.backends, " and "))
                          : std::string("no memory for activations is reached by the CPU"),
                      there, npu ? "cpu and npu" : "cpu", "target.memory.reach",
                      "give one memory that holds activations `reach = [\"cpu\", \"npu\"]`, or "
                      "leave a backend out"});
  }

  std::optional<int64_t> speed(const toml::table& m, std::string_view key,
                               const MemoryRegion& region, std::string_view done) {
    const std::optional<int64_t> v = integer(m, key, false);
    if (v && *v < 1)
      measured(m.get(key), fmt::format("memory `{}` is never {}", region.name, done), *v, 1,
               "target.memory.speed");
    return v;
  }

  // Of a line; bus and buffer of a flash add to it: docs/cpu-cost.md.
  void read_wait_states(const toml::table& m, MemoryRegion& region) {
    const i64 line_cycles = region.is_flash ? 3 : 0;
    region.wait_states = integer(m, "wait_states", m.contains("line_bytes")).value_or(0);
    region.line_bytes = integer(m, "line_bytes", m.contains("wait_states")).value_or(0);
    region.cache_bytes = integer(m, "cache_bytes", false).value_or(-1);
    if (m.contains("cache_bytes") && region.cache_bytes < 0)
      measured(m.get("cache_bytes"), "the cache of `" + region.name + "`", region.cache_bytes, 0,
               "target.memory.cache");
    if (!m.contains("wait_states") || !m.contains("line_bytes")) return;
    if (region.wait_states < 0 || region.line_bytes < 1 || region.bytes_per_cycle_q8 > 0)
      return fault(
          m.get("wait_states"),
          fmt::format("memory `{}` has `wait_states` from 0, `line_bytes` from 1, and then "
                      "no `bytes_per_cycle_q8`",
                      region.name),
          "target.memory.wait_states");
    if (region.wait_states > 0)
      region.bytes_per_cycle_q8 =
          std::max<i64>(region.line_bytes * 256 / (region.wait_states + line_cycles), 1);
  }

  // A memory for constants alone is flash unless the file says otherwise.
  void read_kind(const toml::table& m, MemoryRegion& region) {
    const bool constants_alone = region.holds == std::vector<std::string>{"constants"};
    region.is_flash = one_of(m, "kind", kKinds, constants_alone ? "flash" : "ram") == "flash";
    if (region.is_flash && !constants_alone)
      fault(m.get("kind"),
            fmt::format(
                "memory `{}` is flash, which no program writes, and holds more than constants",
                region.name),
            "target.memory.kind", "write `kind = \"ram\"` or `holds = [\"constants\"]`");
  }

  // What the CPU does not reach can only hold constants of the NPU.
  void check_use(const toml::node* memories, const Target& t) {
    for (const MemoryRegion& m : t.memories)
      if (!m.is_reached_by("cpu") && !(t.has_backend("neutron") && m.does_hold("constants"))) {
        const toml::node* node = memories;
        if (const toml::array* list = memories->as_array(); list && !list->empty())
          node = list->get(static_cast<size_t>(&m - t.memories.data()));
        fault(node,
              fmt::format(
                  "no tensor may lie in the memory `{}`: it is reached by {} only, and holds {}",
                  m.name, fmt::join(m.reach, " and "), fmt::join(m.holds, " and ")),
              "target.memory.unused", "give it `reach = [\"cpu\"]` or leave it out");
      }
  }

  void read_memories(const toml::node& node, Target& t) {
    const toml::array* list = node.as_array();
    if (!list) return fault(&node, "`memory` must be a list of tables ([[memory]])", "target.type");
    for (const toml::node& item : *list) {
      const toml::table* m = item.as_table();
      if (!m) {
        fault(&item, "`memory` must be a list of tables ([[memory]])", "target.type");
        continue;
      }
      known_keys(*m, "[[memory]]",
                 {"name", "bytes", "kind", "holds", "reach", "bytes_per_cycle_q8",
                  "write_bytes_per_cycle_q8", "wait_states", "line_bytes", "cache_bytes"});
      MemoryRegion region;
      region.name = string(*m, "name", true).value_or("");
      region.holds = strings(*m, "holds", kHolds, "use of a memory");
      region.reach = m->get("reach") ? strings(*m, "reach", kProcessors, "processor") : kProcessors;
      read_kind(*m, region);
      region.bytes_per_cycle_q8 = speed(*m, "bytes_per_cycle_q8", region, "read").value_or(0);
      read_wait_states(*m, region);
      region.write_bytes_per_cycle_q8 = speed(*m, "write_bytes_per_cycle_q8", region, "written")
                                            .value_or(region.bytes_per_cycle_q8);
      // A board's external flash may be of any size; memory for activations always ends somewhere.
      if (const std::optional<int64_t> bytes = integer(*m, "bytes", !region.is_flash)) {
        region.bytes = *bytes;
        if (*bytes <= 0)
          measured(m->get("bytes"), fmt::format("memory `{}` has no bytes", region.name), *bytes, 1,
                   "target.memory.bytes");
        else if (*bytes > kMaxMemoryBytes)
          measured(m->get("bytes"),
                   fmt::format("memory `{}` is larger than the address space", region.name), *bytes,
                   kMaxMemoryBytes, "target.memory.bytes");
      }
      for (const MemoryRegion& other : t.memories)
        if (other.name == region.name)
          fault(m->get("name"), fmt::format("two memories are called `{}`", region.name),
                "target.twice");
      t.memories.push_back(std::move(region));
    }
  }

  const std::string& file_;
  Diagnostics& diagnostics_;
  bool failed_ = false;
};

}  // namespace

std::optional<Target> parse_target(std::string_view toml, const std::string& file,
                                   Diagnostics& diagnostics) {
  const std::optional<Extended> extended = read_extended(toml, file, diagnostics);
  if (!extended) return std::nullopt;
  std::optional<Target> target = Reader(file, diagnostics).read(extended->root);
  if (target) target->extends = extended->bases;
  return target;
}

}  // namespace deuteron
