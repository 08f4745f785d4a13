// SPDX-License-Identifier: Apache-2.0
#include "targets/show_target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "targets/target_keys.h"

namespace deuteron {
namespace {

// How a backend annotates what it will run. The rules of each operator are its OpDef's: `deuteron
// ops --target T`.
struct BackendText {
  std::string_view backend, quantizer;
};
constexpr BackendText kQuantizers[] = {
    {"neutron",
     "what the NPU takes, asked before annotation: int8; weights symmetric, a scale for each "
     "output channel; operands of a matrix "
     "product symmetric; sigmoid, tanh and softmax with the fixed parameters of LOGISTIC, TANH and "
     "SOFTMAX"},
    {"cortex_m",
     "the rest: int8; weights symmetric, a scale for each output channel; softmax with scale 1/256 "
     "and zero point -128"},
};
std::string_view quantizer_of(std::string_view backend) {
  for (const BackendText& b : kQuantizers)
    if (b.backend == backend) return b.quantizer;
  return "";
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else out += c;
  }
  return out + "\"";
}
std::string list_of(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& n : names) out += (out.empty() ? "" : ", ") + in_quotes(n);
  return "[" + out + "]";
}

template <class Keys, class Numbers>
void numbers_of(std::string& out, const Keys& keys, const Numbers& numbers) {
  for (const auto& key : keys) out += fmt::format("{} = {}\n", key.name, numbers.*key.field);
}
template <class Keys, class Numbers>
nlohmann::ordered_json json_of(const Keys& keys, const Numbers& numbers) {
  nlohmann::ordered_json j;
  for (const auto& key : keys) j[std::string(key.name)] = numbers.*key.field;
  return j;
}

void add_memory(std::string& out, const MemoryRegion& m) {
  out += fmt::format("\n[[memory]]\nname = {}\n", in_quotes(m.name));
  if (m.bytes > 0) out += fmt::format("bytes = {}\n", m.bytes);
  if (!m.is_flash && m.holds == std::vector<std::string>{"constants"}) out += "kind = \"ram\"\n";
  out += fmt::format("holds = {}\nreach = {}\n", list_of(m.holds), list_of(m.reach));
  if (m.line_bytes > 0)
    out += fmt::format("wait_states = {}\nline_bytes = {}\n", m.wait_states, m.line_bytes);
  else if (m.bytes_per_cycle_q8 > 0)
    out += fmt::format("bytes_per_cycle_q8 = {}\n", m.bytes_per_cycle_q8);
  if (m.cache_bytes >= 0) out += fmt::format("cache_bytes = {}\n", m.cache_bytes);
  if (m.write_bytes_per_cycle_q8 != m.bytes_per_cycle_q8)
    out += fmt::format("write_bytes_per_cycle_q8 = {}\n", m.write_bytes_per_cycle_q8);
}

}  // namespace

std::string target_as_toml(const Target& t, const std::vector<std::string>& stages) {
  std::string out;
  if (t.extends.empty()) out += fmt::format("# {}\n", t.name);
  else
    out += fmt::format(
        "# {}, with all that it extends: {}. Their own files say where the numbers come from.\n",
        t.name, fmt::join(t.extends, ", "));
  out += fmt::format("# stages, the same for every recipe: {}\n", fmt::join(stages, " > "));
  for (const std::string& b : t.backends)
    out += fmt::format("# quantizer of {}: {}\n", b, quantizer_of(b));
  out += fmt::format("format = 1\nname = {}\ndescription = {}\nbackends = {}\n", in_quotes(t.name),
                     in_quotes(t.description), list_of(t.backends));
  if (t.npu)
    out += fmt::format(
        "\n[options.neutron]\nprefer = {}\ndelegate_min_macs = {}\nfetch_constants_to_sram = {}\n",
        in_quotes(t.options.prefer), t.options.min_macs, t.options.fetch_constants);
  if (t.has_backend("cortex_m"))
    out += fmt::format("\n[options.cortex_m]\ndialect = {}\n", in_quotes(t.options.dialect));
  if (t.has_backend("cortex_m"))
    out += fmt::format("\n[stock]\ncmsis_nn = {}\n", in_quotes(name_of(t.cmsis_nn)));
  out += fmt::format("\n[cpu]\ncore = {}\nisa = {}\n", in_quotes(t.cpu), in_quotes(name_of(t.isa)));
  if (t.clock_hz > 0) out += fmt::format("clock_hz = {}\n", t.clock_hz);
  if (!t.measured.empty()) out += fmt::format("measured = {}\n", in_quotes(t.measured));
  if (!t.cpu_cost.empty())
    out +=
        fmt::format("\n# {}; all but `call` in 1/256: docs/cpu-cost.md\n[cpu.cost]\n",
                    t.measured.empty() ? "instructions" : "cycles of what [cpu.cycles] has at 256");
  for (const CpuKernelCost& c : t.cpu_cost) {
    std::string numbers;
    for (const CostKey& key : kCostKeys)
      if (c.*key.field != 0)
        numbers += fmt::format("{}{} = {}", numbers.empty() ? "" : ", ", key.name, c.*key.field);
    out += fmt::format("{} = {{ {} }}\n", in_quotes(c.kernel), numbers);
  }
  if (!t.cpu_cycles.empty())
    out += fmt::format("\n# {} cycles of 256 instructions\n[cpu.cycles]\n",
                       t.measured.empty() ? "estimated" : "measured");
  for (const CpuKernelCycles& c : t.cpu_cycles)
    out += fmt::format("{} = {}\n", in_quotes(c.kernel), c.of_256);
  if (t.npu) {
    out += fmt::format("\n[npu]\nfamily = {}\nsdk = {}\n\n[npu.limits]\n", in_quotes(t.npu->family),
                       in_quotes(t.npu->sdk));
    numbers_of(out, kLimitKeys, t.npu->limits);
    out += "\n[npu.machine]\n";
    numbers_of(out, kMachineKeys, t.npu->machine);
    out += "\n[npu.crossing]\n";
    numbers_of(out, kCrossingKeys, t.npu->crossing);
  }
  for (const MemoryRegion& m : t.memories) add_memory(out, m);
  return out;
}

nlohmann::ordered_json target_as_json(const Target& t, const std::vector<std::string>& stages) {
  using Json = nlohmann::ordered_json;
  Json memories = Json::array(), backends = Json::array(), cost = Json::object(),
       cycles = Json::object();
  for (const MemoryRegion& m : t.memories)
    memories.push_back(
        {{"name", m.name},
         {"bytes", m.bytes > 0 ? Json(m.bytes) : Json(nullptr)},
         {"kind", m.is_flash ? "flash" : "ram"},
         {"holds", m.holds},
         {"reach", m.reach},
         {"bytes_per_cycle_q8",
          m.bytes_per_cycle_q8 > 0 ? Json(m.bytes_per_cycle_q8) : Json(nullptr)},
         {"write_bytes_per_cycle_q8",
          m.write_bytes_per_cycle_q8 > 0 ? Json(m.write_bytes_per_cycle_q8) : Json(nullptr)},
         {"wait_states", m.line_bytes > 0 ? Json(m.wait_states) : Json(nullptr)},
         {"line_bytes", m.line_bytes > 0 ? Json(m.line_bytes) : Json(nullptr)},
         {"cache_bytes", m.cache_bytes >= 0 ? Json(m.cache_bytes) : Json(nullptr)}});
  for (const std::string& b : t.backends) {
    Json options = b == "neutron" ? Json{{"prefer", t.options.prefer},
                                         {"delegate_min_macs", t.options.min_macs},
                                         {"fetch_constants_to_sram", t.options.fetch_constants}}
                                  : Json{{"dialect", t.options.dialect}};
    backends.push_back(
        {{"name", b}, {"options", std::move(options)}, {"quantizer", quantizer_of(b)}});
  }
  for (const CpuKernelCost& c : t.cpu_cost) cost[c.kernel] = json_of(kCostKeys, c);
  for (const CpuKernelCycles& c : t.cpu_cycles) cycles[c.kernel] = c.of_256;
  Json j = {{"name", t.name},
            {"description", t.description},
            {"cpu", t.cpu},
            {"isa", name_of(t.isa)},
            {"backends", t.backends},
            {"clock_hz", t.clock_hz},
            {"memories", memories},
            {"file", t.file},
            {"extends", t.extends},
            {"recipe", backends},
            {"stages", stages},
            {"measured", t.measured.empty() ? Json(nullptr) : Json(t.measured)},
            {"cpu_cost", cost},
            {"cpu_cycles", cycles},
            {"stock", {{"cmsis_nn", name_of(t.cmsis_nn)}}}};
  if (t.npu)
    j["npu"] = {{"family", t.npu->family},
                {"sdk", t.npu->sdk},
                {"limits", json_of(kLimitKeys, t.npu->limits)},
                {"machine", json_of(kMachineKeys, t.npu->machine)},
                {"crossing", json_of(kCrossingKeys, t.npu->crossing)}};
  return j;
}

}  // namespace deuteron
