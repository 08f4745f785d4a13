// Target files: reads them, checks them against what is known of the cores, and finds them by name.
#include "targets/target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "ir/check.h"
#include "targets/builtin.h"
#include "targets/nearest.h"

namespace deuteron {
namespace {

constexpr int64_t kFormat = 1;                         // of the target file itself
constexpr int64_t kMaxMemoryBytes = int64_t{1} << 32;  // the address space of a Cortex-M
constexpr uintmax_t kMaxFileBytes = 1 << 20;

// The strongest instruction set of each core: Arm's product table (armv6-m, armv7-m, armv8-m.base: scalar; armv7e-m and armv8-m.main
// with DSP: dsp; armv8.1-m with MVE: mve).
struct Core {
  std::string_view name;
  Isa strongest;
};
constexpr Core kCores[] = {
    {"cortex-m0", Isa::scalar}, {"cortex-m0+", Isa::scalar}, {"cortex-m3", Isa::scalar}, {"cortex-m4", Isa::dsp},
    {"cortex-m7", Isa::dsp},    {"cortex-m23", Isa::scalar}, {"cortex-m33", Isa::dsp},   {"cortex-m35p", Isa::dsp},
    {"cortex-m52", Isa::mve},   {"cortex-m55", Isa::mve},    {"cortex-m85", Isa::mve},
};
constexpr Isa kIsas[] = {Isa::scalar, Isa::dsp, Isa::mve};
const std::vector<std::string> kBackends = {"neutron", "cortex_m"};
const std::vector<std::string> kFamilies = {"neutron-n3"};
const std::vector<std::string> kHolds = {"activations", "constants"};

// The keys of [npu.limits] and [npu.machine]. All of them must be there: a limit that a file does not mention would be no limit.
struct LimitKey {
  std::string_view name;
  i64 NpuLimits::* field;
};
constexpr LimitKey kLimitKeys[] = {
    {"vector_length", &NpuLimits::vector_length},
    {"kernel", &NpuLimits::kernel},
    {"stride", &NpuLimits::stride},
    {"dilation", &NpuLimits::dilation},
    {"taps", &NpuLimits::taps},
    {"transposed_stride", &NpuLimits::transposed_stride},
    {"matmul_rank", &NpuLimits::matmul_rank},
    {"matmul_multiple", &NpuLimits::matmul_multiple},
    {"softmax_channels", &NpuLimits::softmax_channels},
    {"softmax_rows", &NpuLimits::softmax_rows},
    {"softmax_elements", &NpuLimits::softmax_elements},
    {"resize_factor", &NpuLimits::resize_factor},
    {"rank", &NpuLimits::rank},
    {"permute_rank", &NpuLimits::permute_rank},
    {"reshape_rank", &NpuLimits::reshape_rank},
    {"ports", &NpuLimits::ports},
};
struct MachineKey {
  std::string_view name;
  int32_t neutron::Machine::* field;
};
constexpr MachineKey kMachineKeys[] = {
    {"units", &neutron::Machine::units},
    {"lanes", &neutron::Machine::lanes},
    {"accumulators", &neutron::Machine::accumulators},
    {"sram_bytes_q8", &neutron::Machine::sram_bytes_q8},
    {"fetch_bytes_q8", &neutron::Machine::fetch_bytes_q8},
    {"setup_cycles", &neutron::Machine::setup_cycles},
    {"tile_cycles", &neutron::Machine::tile_cycles},
    {"depthwise_lanes", &neutron::Machine::depthwise_lanes},
    {"vector_elements_q8", &neutron::Machine::vector_elements_q8},
    {"softmax_cycles_q8", &neutron::Machine::softmax_cycles_q8},
    {"fetch_setup_cycles", &neutron::Machine::fetch_setup_cycles},
};

// Reads one file; every fault becomes a diagnostic with the line where it was found.
class Reader {
 public:
  Reader(const std::string& file, Diagnostics& diagnostics) : file_(file), diagnostics_(diagnostics) {}

  std::optional<Target> read(const toml::table& root) {
    // The version comes first: the other rules are those of this version only.
    const std::optional<int64_t> format = integer(root, "format", true);
    if (format && *format != kFormat) {
      measured(root.get("format"), "the target file is of another format version", *format, kFormat, "target.format",
               "write the file for this version; `deuteron targets --show cortex-m55` prints one");
      return std::nullopt;
    }
    known_keys(root, "the target file", {"format", "name", "description", "backends", "cpu", "npu", "memory"});
    Target t;
    t.file = file_;
    t.name = string(root, "name", true).value_or("");
    t.description = string(root, "description", false).value_or("");
    t.backends = strings(root, "backends", kBackends, "backend");
    if (const toml::node* node = need(root, "cpu")) {
      if (const toml::table* cpu = node->as_table()) read_cpu(*cpu, t);
      else fault(node, "`cpu` must be a table ([cpu])", "target.type");
    }
    if (const toml::node* node = root.get("memory")) read_memories(*node, t);
    if (const toml::table* npu = table(root, "npu", t.has_backend("neutron"))) read_npu(*npu, t);
    return failed_ ? std::nullopt : std::optional(std::move(t));
  }

 private:
  std::string at(const toml::node* node) const {
    const auto line = node ? node->source().begin.line : 0;
    return line > 0 ? fmt::format("{}:{}", file_, line) : file_;
  }
  void fault(const toml::node* node, std::string what, std::string rule, std::string fix = {}) {
    failed_ = true;
    diagnostics_.error(at(node), std::move(what), std::move(rule), std::move(fix));
  }
  void measured(const toml::node* node, std::string what, int64_t value, int64_t limit, std::string rule, std::string fix = {}) {
    failed_ = true;
    diagnostics_.add(
        {Severity::error, at(node), std::move(what), std::to_string(value), std::to_string(limit), std::move(rule), std::move(fix)});
  }
  void known_keys(const toml::table& table, std::string_view where, const std::vector<std::string>& known) {
    for (const auto& [key, node] : table)
      if (std::find(known.begin(), known.end(), key.str()) == known.end())
        fault(&node, fmt::format("{} has an unknown key `{}`", where, key.str()), "target.unknown_key", suggestion(key.str(), known));
  }
  const toml::node* need(const toml::table& table, std::string_view key) {
    const toml::node* node = table.get(key);
    if (!node) fault(&table, fmt::format("`{}` is missing", key), "target.missing_field", fmt::format("add `{} = ...`", key));
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
    if (!v) return fault(node, fmt::format("`{}` must be a string", key), "target.type"), std::nullopt;
    if (required && v->get().empty()) return fault(node, fmt::format("`{}` is empty", key), "target.empty"), std::nullopt;
    return v->get();
  }
  // A list of names, all of them in `known`, none twice.
  std::vector<std::string> strings(const toml::table& table, std::string_view key, const std::vector<std::string>& known,
                                   std::string_view noun) {
    const toml::node* node = need(table, key);
    if (!node) return {};
    const toml::array* list = node->as_array();
    if (!list) return fault(node, fmt::format("`{}` must be a list of strings", key), "target.type"), std::vector<std::string>{};
    if (list->empty()) fault(node, fmt::format("`{}` is empty", key), "target.empty", fmt::format("known: {}", fmt::join(known, ", ")));
    std::vector<std::string> names;
    for (const toml::node& item : *list) {
      const auto* v = item.as_string();
      if (!v) fault(&item, fmt::format("`{}` must be a list of strings", key), "target.type");
      else if (std::find(known.begin(), known.end(), v->get()) == known.end())
        fault(&item, fmt::format("unknown {} `{}`", noun, v->get()), "target.unknown_name", suggestion(v->get(), known));
      else if (std::find(names.begin(), names.end(), v->get()) != names.end())
        fault(&item, fmt::format("`{}` names `{}` twice", key, v->get()), "target.twice");
      else names.push_back(v->get());
    }
    return names;
  }

  void read_cpu(const toml::table& cpu, Target& t) {
    known_keys(cpu, "[cpu]", {"core", "isa", "clock_hz"});
    t.cpu = string(cpu, "core", true).value_or("");
    const std::string isa = string(cpu, "isa", true).value_or("");
    if (const std::optional<int64_t> clock = integer(cpu, "clock_hz", false)) {
      t.clock_hz = *clock;
      if (*clock <= 0) measured(cpu.get("clock_hz"), "the clock stands still", *clock, 1, "target.clock");
    }
    const Core* core = std::find_if(std::begin(kCores), std::end(kCores), [&](const Core& c) { return c.name == t.cpu; });
    if (!t.cpu.empty() && core == std::end(kCores)) {
      std::vector<std::string> known;
      for (const Core& c : kCores) known.emplace_back(c.name);
      fault(cpu.get("core"), fmt::format("unknown core `{}`", t.cpu), "target.unknown_name", suggestion(t.cpu, known));
    }
    if (isa.empty()) return;
    std::vector<std::string> known;
    for (const Isa i : kIsas) known.emplace_back(name_of(i));
    const auto found = std::find(known.begin(), known.end(), isa);
    if (found == known.end())
      return fault(cpu.get("isa"), fmt::format("unknown instruction set `{}`", isa), "target.unknown_name", suggestion(isa, known));
    t.isa = kIsas[found - known.begin()];
    if (core == std::end(kCores) || t.isa <= core->strongest) return;
    failed_ = true;
    diagnostics_.add({Severity::error, at(cpu.get("isa")), fmt::format("{} does not have this instruction set", t.cpu), isa,
                      name_of(core->strongest), "target.isa",
                      fmt::format("set isa = \"{}\" or name another core", name_of(core->strongest))});
  }

  // A table that must be there, or must not.
  const toml::table* table(const toml::table& root, std::string_view key, bool wanted) {
    const toml::node* node = wanted ? need(root, key) : root.get(key);
    if (!node) return nullptr;
    if (!wanted) return fault(node, fmt::format("`{}` describes what no backend of this target uses", key), "target.unused"), nullptr;
    if (!node->as_table()) fault(node, fmt::format("`{}` must be a table ([{}])", key, key), "target.type");
    return node->as_table();
  }
  // Whole numbers from 1 to `most`, all of the keys and no others.
  template <class Key, class Numbers>
  void read_numbers(const toml::table& from, std::string_view where, std::span<const Key> keys, int64_t most, Numbers& numbers) {
    std::vector<std::string> known;
    for (const Key& key : keys) known.emplace_back(key.name);
    known_keys(from, where, known);
    for (const Key& key : keys) {
      const std::optional<int64_t> v = integer(from, key.name, true);
      if (!v) continue;
      if (*v < 1) measured(from.get(key.name), fmt::format("`{}` must be at least 1", key.name), *v, 1, "target.npu");
      else if (*v > most) measured(from.get(key.name), fmt::format("`{}` is too large", key.name), *v, most, "target.npu");
      else numbers.*key.field = static_cast<std::remove_reference_t<decltype(numbers.*key.field)>>(*v);
    }
  }
  void read_npu(const toml::table& from, Target& t) {
    known_keys(from, "[npu]", {"family", "limits", "machine"});
    Npu npu;
    npu.family = string(from, "family", true).value_or("");
    if (!npu.family.empty() && std::find(kFamilies.begin(), kFamilies.end(), npu.family) == kFamilies.end())
      fault(from.get("family"), fmt::format("unknown NPU `{}`", npu.family), "target.unknown_name", suggestion(npu.family, kFamilies));
    if (const toml::table* limits = table(from, "limits", true))
      read_numbers<LimitKey>(*limits, "[npu.limits]", kLimitKeys, int64_t{1} << 31, npu.limits);
    if (const toml::table* machine = table(from, "machine", true))
      read_numbers<MachineKey>(*machine, "[npu.machine]", kMachineKeys, (int64_t{1} << 31) - 1, npu.machine);
    if (t.clock_hz <= 0) fault(&from, "a target with an NPU needs its clock: `clock_hz` in [cpu]", "target.missing_field");
    if (t.clock_hz > (int64_t{1} << 31) - 1)
      measured(&from, "the NPU's clock is too fast", t.clock_hz, (int64_t{1} << 31) - 1, "target.clock");
    else npu.machine.clock_hz = static_cast<int32_t>(t.clock_hz);
    t.npu = std::move(npu);
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
      known_keys(*m, "[[memory]]", {"name", "bytes", "holds"});
      MemoryRegion region;
      region.name = string(*m, "name", true).value_or("");
      if (const std::optional<int64_t> bytes = integer(*m, "bytes", true)) {
        region.bytes = *bytes;
        if (*bytes <= 0) measured(m->get("bytes"), fmt::format("memory `{}` has no bytes", region.name), *bytes, 1, "target.memory.bytes");
        else if (*bytes > kMaxMemoryBytes)
          measured(m->get("bytes"), fmt::format("memory `{}` is larger than the address space", region.name), *bytes, kMaxMemoryBytes,
                   "target.memory.bytes");
      }
      region.holds = strings(*m, "holds", kHolds, "use of a memory");
      for (const MemoryRegion& other : t.memories)
        if (other.name == region.name) fault(m->get("name"), fmt::format("two memories are called `{}`", region.name), "target.twice");
      t.memories.push_back(std::move(region));
    }
  }

  const std::string& file_;
  Diagnostics& diagnostics_;
  bool failed_ = false;
};

// cortex-m4 before cortex-m23: numbers by value, then the rest by letters.
bool in_natural_order(const std::string& a, const std::string& b) {
  const auto digits = [](const std::string& s) { return std::min(s.find_first_of("0123456789"), s.size()); };
  const auto key = [&](const std::string& s) {
    const size_t at = digits(s);
    long number = -1;
    size_t end = at;
    for (number = at < s.size() ? 0 : -1; end < s.size() && s[end] >= '0' && s[end] <= '9' && number < 1000000; ++end)
      number = number * 10 + (s[end] - '0');
    return std::tuple(s.substr(0, at), number, s.substr(end));
  };
  return key(a) < key(b);
}

std::optional<Target> read_target_file(const std::string& path, Diagnostics& diagnostics) {
  std::error_code ec;
  const std::filesystem::file_status status = std::filesystem::status(path, ec);
  const char* what = !std::filesystem::exists(status)            ? "there is no such target file"
                     : std::filesystem::is_directory(status)     ? "is a folder, not a target file"
                     : !std::filesystem::is_regular_file(status) ? "is not a regular file"
                                                                 : nullptr;
  if (what)
    return diagnostics.error(path, what, "target.file", "--target takes a name (see `deuteron targets`) or a `.toml` file"), std::nullopt;
  if (const uintmax_t bytes = std::filesystem::file_size(path, ec); !ec && bytes > kMaxFileBytes)
    return diagnostics.add({Severity::error, path, "is too large for a target file", fmt::format("{} bytes", bytes),
                            fmt::format("{} bytes", kMaxFileBytes), "target.file", ""}),
           std::nullopt;
  std::ifstream stream(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (!stream) return diagnostics.error(path, fmt::format("cannot be read: {}", std::strerror(errno)), "target.file"), std::nullopt;
  return parse_target(text, path, diagnostics);
}

}  // namespace

bool Target::has_backend(std::string_view backend) const {
  return std::find(backends.begin(), backends.end(), backend) != backends.end();
}

std::optional<Target> parse_target(std::string_view toml, const std::string& file, Diagnostics& diagnostics) {
  try {
    const toml::table root = toml::parse(toml, std::string_view(file));
    return Reader(file, diagnostics).read(root);
  } catch (const toml::parse_error& e) {
    std::string what(e.description());
    diagnostics.error(fmt::format("{}:{}", file, e.source().begin.line), "is not TOML: " + what, "target.toml");
    return std::nullopt;
  }
}

std::vector<Target> builtin_targets() {
  std::vector<Target> targets;
  for (const BuiltinTarget& b : builtin_target_files()) {
    Diagnostics diagnostics;
    std::optional<Target> t = parse_target(b.text, "targets/" + std::string(b.file), diagnostics);
    DEUTERON_CHECK(t.has_value(), format_diagnostic(diagnostics.list().front()));
    targets.push_back(std::move(*t));
  }
  std::sort(targets.begin(), targets.end(), [](const Target& a, const Target& b) { return in_natural_order(a.name, b.name); });
  return targets;
}

std::optional<Target> find_target(const std::string& name, Diagnostics& diagnostics) {
  if (name.ends_with(".toml")) return read_target_file(name, diagnostics);
  // int8 is what every target computes in, so the suffix says nothing; `m0plus` is how a file or another tool writes `m0+`.
  std::string wanted = name;
  if (wanted.ends_with("+int8")) wanted.resize(wanted.size() - 5);
  if (wanted.ends_with("plus")) wanted.replace(wanted.size() - 4, 4, "+");
  std::vector<std::string> known;
  for (Target& t : builtin_targets()) {
    if (t.name == wanted) return std::move(t);
    known.push_back(t.name);
  }
  diagnostics.error("--target " + name, fmt::format("there is no target of this name"), "target.unknown",
                    suggestion(wanted, known) + " A file of your own ends in `.toml`.");
  return std::nullopt;
}

}  // namespace deuteron
