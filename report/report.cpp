#include "report/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "passes/memories.h"

namespace deuteron {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array kPlacements = {Placement::npu, Placement::cortex_m, Placement::portable};

i64 count_of(const Compilation& c, Placement p) {
  return std::count_if(c.operators.begin(), c.operators.end(), [p](const OperatorReport& o) { return o.placement == p; });
}

Json finite(double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); }

Json ports(const Graph& g, const std::vector<Port>& list) {
  Json array = Json::array();
  for (const Port& p : list) {
    const Type& type = g.type(p.value);
    Json port = {{"name", p.name}, {"dtype", name_of(type.dtype)}, {"shape", logical_shape(p, type.shape)}, {"storage_order", p.order}};
    if (!type.quant.empty() && !type.quant.per_channel()) {
      port["scale"] = type.quant.scale[0];
      port["zero_point"] = type.quant.zero_point[0];
    }
    array.push_back(std::move(port));
  }
  return array;
}

Json operators(const Compilation& c) {
  Json array = Json::array();
  for (const OperatorReport& o : c.operators)
    array.push_back({{"name", o.name},
                     {"op", o.op},
                     {"source", o.source},
                     {"placement", name_of(o.placement)},
                     {"reason", o.reason},
                     {"macs", o.macs},
                     {"float_bytes", o.float_bytes},
                     {"delegate", o.delegate},
                     {"cycles", o.cycles < 0 ? Json(nullptr) : Json(o.cycles)},
                     {"bound", o.bound}});
  return array;
}

// Cycles and multiply-adds on the NPU, by the open model of the machine.
struct NpuTotal {
  i64 kernels = 0, delegates = 0, cycles = 0, macs = 0;
};
NpuTotal npu_total(const Compilation& c) {
  NpuTotal t;
  for (const OperatorReport& o : c.operators) {
    if (o.placement != Placement::npu) continue;
    ++t.kernels;
    t.delegates = std::max<i64>(t.delegates, o.delegate + 1);
    t.cycles += std::max<i64>(o.cycles, 0);
    t.macs += o.macs;
  }
  return t;
}

i64 npu_transposes(const Compilation& c) { return std::ranges::count(c.npu_kernels, neutron::Kind::kTransposeCHW, &NpuKernel::kind); }

std::string transposes_text(const Compilation& c) {
  std::vector<std::string> parts;
  if (const i64 n = npu_transposes(c)) parts.push_back(fmt::format("{} on the NPU", n));
  if (const i64 n = c.cost.border_transposes) parts.push_back(fmt::format("{} by the CPU in the NPU's calls", n));
  if (const i64 n = c.cost.transposes) parts.push_back(fmt::format("{} on the CPU", n));
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
}

Json cycles_json(const Compilation& c, const ReportFacts& f) {
  const i64 clock = f.target ? f.target->clock_hz : 0;
  const bool known = c.cost.total() > 0;
  return {
      {"npu", c.cost.npu},
      {"cpu", c.cost.not_known > 0 && c.cost.cpu == 0 ? Json(nullptr) : Json(c.cost.cpu)},
      {"crossing", c.cost.crossing},
      {"wait_for_constants", c.cost.wait},
      {"total", known ? Json(c.cost.total()) : Json(nullptr)},
      {"cpu_calls_not_known", c.cost.not_known},
      {"milliseconds", known && clock > 0 ? Json(1e3 * static_cast<double>(c.cost.total()) / static_cast<double>(clock)) : Json(nullptr)}};
}

Json crossings(const Compilation& c) {
  Json list = Json::array();
  for (const Crossing& x : c.cost.crossings)
    list.push_back(
        {{"tensor", c.graph.values[x.value].name}, {"delegate", x.delegate}, {"to", x.to_npu ? "npu" : "cpu"}, {"bytes", x.bytes}});
  return list;
}

Json prefer(const Compilation& c) {
  const PreferReport& p = c.prefer;
  if (p.prefer.empty()) return nullptr;
  const auto number = [](const std::optional<i64>& v) { return v ? Json(*v) : Json(nullptr); };
  return {{"prefer", p.prefer},
          {"cycles", number(p.chosen)},
          {"all_npu_cycles", number(p.all_npu)},
          {"all_cpu_cycles", number(p.all_cpu)},
          {"programs_compared", p.evaluated}};
}

// Every operator that could be on either side: what each would take, alone.
Json choices(const Compilation& c) {
  Json list = Json::array();
  const auto cycles = [](i64 v) { return v < 0 ? Json(nullptr) : Json(v); };
  for (const Considered& n : c.considered)
    list.push_back({{"operator", n.what},
                    {"placement", n.on_npu ? "npu" : "cpu"},
                    {"why_not_npu", n.why_not},
                    {"npu_cycles", cycles(n.npu_cycles)},
                    {"cpu_cycles", cycles(n.cpu_cycles)}});
  return list;
}

// The target's, and what of the program lies in them. Constants lie where there is a memory for them alone; the NPU's must be where it
// reaches.
Json memories(const Compilation& c, const ReportFacts& f) {
  Json list = Json::array();
  if (!f.target) return list;
  const Room room = room_for_activations(*f.target, calls_npu(c.graph), c.plan.bytes, 0);
  for (const MemoryRegion& m : f.target->memories)
    list.push_back({{"name", m.name},
                    {"bytes", m.bytes > 0 ? Json(m.bytes) : Json(nullptr)},
                    {"holds", m.holds},
                    {"reach", m.reach},
                    {"planned", &m == room.memory ? c.plan.bytes : 0}});
  return list;
}

// By call of the program: bytes of what is alive while it runs.
Json ram_over_time(const Compilation& c) {
  Json list = Json::array();
  const std::vector<i64> alive = bytes_alive(c.graph);
  for (size_t n = 0; n < c.graph.nodes.size(); ++n)
    if (const auto* call = std::get_if<KernelCall>(&c.graph.nodes[n].op)) list.push_back({{"call", call->name}, {"bytes", alive[n]}});
  return list;
}

std::vector<std::string> own_kernels(const Compilation& c) {
  std::vector<std::string> names;
  for (const OperatorReport& o : c.operators)
    if (!o.is_stock && std::find(names.begin(), names.end(), o.op) == names.end()) names.push_back(o.op);
  return names;
}

Json quantization(const Compilation& c) {
  Json array = Json::array();
  for (const QuantizedValue& q : c.quantized)
    array.push_back({{"name", q.name},
                     {"low", finite(q.low)},
                     {"high", finite(q.high)},
                     {"scale", q.chosen.scale},
                     {"zero_point", q.chosen.zero_point},
                     {"observer", q.chosen.observer == Observer::min_max ? "min_max" : "histogram"},
                     {"mean_squared_error", finite(q.chosen.mean_squared_error)},
                     {"shared", q.shared}});
  return array;
}

// The user's name for what the node at the peak computes.
std::string peak_name(const Compilation& c) {
  const NodeId n = c.plan.peak_node;
  if (n < 0 || n >= static_cast<NodeId>(c.graph.nodes.size())) return "";
  return describe(c.graph, c.graph.nodes[n]);
}

Json peak(const Compilation& c) {
  Json tensors = Json::array();
  for (const LiveTensor& t : c.plan.peak) {
    const GraphValue& v = c.graph.values[t.value];
    tensors.push_back(
        {{"name", v.name}, {"bytes", t.bytes}, {"type", fmt::format("{}[{}]", name_of(v.type.dtype), to_text(v.type.shape))}});
  }
  return {{"operator", peak_name(c)}, {"tensors", std::move(tensors)}};
}

std::string scaled(i64 count) {
  if (count >= 10'000'000) return fmt::format("{:.1f} M", static_cast<double>(count) / 1e6);
  if (count >= 10'000) return fmt::format("{:.1f} k", static_cast<double>(count) / 1e3);
  return fmt::format("{}", count);
}

std::string counted(i64 count, std::string_view noun) { return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s"); }

std::string error_line(const ReportFacts& f) {
  if (!f.accuracy) return "not measured (no samples)";
  const Accuracy& a = *f.accuracy;
  const std::string over = fmt::format("over {} sample{}", a.samples, a.samples == 1 ? "" : "s");
  if (std::isinf(a.sqnr_db) && a.sqnr_db > 0) return "none: equal to the float model " + over;
  return fmt::format("{:.1f} dB signal to noise against the float model, largest difference {:.4g}, {}", a.sqnr_db, a.max_abs_error, over);
}

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

std::string grouped(i64 v) {
  const std::string digits = std::to_string(v);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0 && digits[i - 1] != '-') text += ' ';
    text += digits[i];
  }
  return text;
}

// Null where nothing had to be computed in bands of rows.
static Json row_split(const Compilation& c) {
  const RowSplitReport& r = c.row_split;
  if (r.operators == 0) return nullptr;
  return {{"operators", r.operators},     {"bands", r.bands},          {"extra_calls", r.extra_calls}, {"extra_macs", r.extra_macs},
          {"ram_before", r.bytes_before}, {"ram_after", r.bytes_after}};
}

std::string report_json(const Compilation& c, const ReportFacts& f) {
  Json counts;
  for (const Placement p : kPlacements) counts[std::string(name_of(p))] = count_of(c, p);
  Json folded = Json::array();
  for (const FoldedReport& o : c.folded) folded.push_back({{"name", o.name}, {"op", o.op}, {"reason", o.reason}});
  Json j = {{"model", f.model},
            {"target", f.target ? f.target->name : ""},
            {"operators", operators(c)},
            {"counts", std::move(counts)},
            {"not_in_stock_firmware", own_kernels(c)},
            {"ram_bytes", c.plan.bytes},
            {"ram_lower_bound_bytes", c.plan.lower_bound},
            {"ram_optimal", c.plan.optimal},
            {"scratch_bytes", c.plan.scratch_bytes},
            {"row_split", row_split(c)},
            {"constants_bytes", c.parts.constants},
            {"program_bytes", c.parts.program},
            {"file_bytes", c.pte.size()},
            {"macs", c.macs},
            {"delegates_bytes", c.parts.delegates},
            {"npu_cycles", npu_total(c).cycles},
            {"npu_macs", npu_total(c).macs},
            {"npu_delegates", npu_total(c).delegates},
            {"npu_macs_share", c.macs > 0 ? Json(static_cast<double>(npu_total(c).macs) / static_cast<double>(c.macs)) : Json(nullptr)},
            {"cycles", cycles_json(c, f)},
            {"crossings", crossings(c)},
            {"transposes", c.cost.transposes},
            {"npu_transposes", npu_transposes(c)},
            {"border_transposes", c.cost.border_transposes},
            {"prefer", prefer(c)},
            {"choices", choices(c)},
            {"ram_over_time", ram_over_time(c)},
            {"memories", memories(c, f)},
            {"flash",
             {{"constants", c.parts.constants},
              {"npu", c.parts.delegates},
              {"program", c.parts.program},
              {"padding", c.parts.padding},
              {"file", c.pte.size()}}},
            {"sqnr_db", f.accuracy ? finite(f.accuracy->sqnr_db) : Json(nullptr)}};
  if (f.accuracy) {
    j["exact"] = std::isinf(f.accuracy->sqnr_db) && f.accuracy->sqnr_db > 0;
    j["max_abs_error"] = finite(f.accuracy->max_abs_error);
    j["samples"] = f.accuracy->samples;
  }
  j["seconds"] = f.seconds;
  j["inputs"] = ports(c.graph, c.graph.inputs);
  j["outputs"] = ports(c.graph, c.graph.outputs);
  j["peak"] = peak(c);
  j["folded"] = std::move(folded);
  j["model_was_quantized"] = c.model_was_quantized;
  j["quantization_policy"] = c.quantization_policy;
  j["quantization_gain_db"] = finite(c.quantization_gain_db);
  j["quantization"] = quantization(c);
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";  // names of a model may hold any bytes
}

// A line for each of the user's operators that runs in float, however many kernels it became.
static std::vector<std::string> portable_lines(const Compilation& c) {
  struct Leftover {
    const OperatorReport* first;
    std::vector<std::string> kernels;
  };
  std::vector<Leftover> leftovers;
  for (const OperatorReport& o : c.operators) {
    if (o.placement != Placement::portable) continue;
    auto at = std::ranges::find_if(leftovers, [&](const Leftover& l) { return l.first->name == o.name && l.first->reason == o.reason; });
    if (at == leftovers.end()) at = leftovers.insert(at, {&o, {}});
    if (std::ranges::find(at->kernels, o.op) == at->kernels.end()) at->kernels.push_back(o.op);
  }
  std::vector<std::string> lines;
  for (const Leftover& l : leftovers)
    lines.push_back(fmt::format("portable: {} `{}`: {}", fmt::join(l.kernels, ", "), l.first->name, l.first->reason));
  return lines;
}

std::string report_summary(const Compilation& c, const ReportFacts& f) {
  std::string text;
  const auto line = [&](std::string_view label, const std::string& what) { text += fmt::format("  {:<14} {}\n", label, what); };
  text += fmt::format("{} for {}\n", f.model, f.target ? f.target->name : "?");

  std::string by_placement;
  for (const Placement p : kPlacements)
    if (const i64 n = count_of(c, p)) by_placement += fmt::format("{}{} {}", by_placement.empty() ? "" : ", ", n, name_of(p));
  if (!c.folded.empty()) by_placement += fmt::format("{}{} folded away", by_placement.empty() ? "" : "; ", c.folded.size());
  line("operators", by_placement.empty() ? "none" : by_placement);
  for (const std::string& leftover : portable_lines(c)) line("", leftover);

  if (const NpuTotal npu = npu_total(c); npu.kernels > 0) {
    const i64 lanes = f.target && f.target->npu ? i64{f.target->npu->machine.units} * f.target->npu->machine.lanes : 64;
    const double share = c.macs > 0 ? 100.0 * static_cast<double>(npu.macs) / static_cast<double>(c.macs) : 0;
    line("NPU",
         fmt::format(
             "{} in {}, {:.1f} % of the multiply-adds; {} cycles on the open model of the machine, {:.1f} % of {} multiply-adds a cycle",
             counted(npu.kernels, "kernel"), counted(npu.delegates, "delegate"), share, grouped(npu.cycles),
             npu.cycles > 0 ? 100.0 * static_cast<double>(npu.macs) / static_cast<double>(lanes * npu.cycles) : 0, lanes));
  }
  if (c.cost.calls > 0) {
    i64 in = 0, out = 0, bytes_in = 0, bytes_out = 0;
    for (const Crossing& x : c.cost.crossings) (x.to_npu ? in : out) += 1, (x.to_npu ? bytes_in : bytes_out) += x.bytes;
    line("crossings",
         fmt::format("{} of the NPU: {} in ({} bytes), {} out ({} bytes); transposes at run time: {}", counted(c.cost.calls, "call"),
                     counted(in, "tensor"), grouped(bytes_in), out, grouped(bytes_out), transposes_text(c)));
  }
  if (f.target && f.target->npu)
    for (const OperatorReport& o : c.operators)
      if (o.placement == Placement::cortex_m && o.op != "cortex_m::quantize_per_tensor" && o.op != "cortex_m::dequantize_per_tensor")
        line("", fmt::format("CPU: {} `{}`: {}", o.op, o.name, o.reason));
  if (c.cost.total() > 0 && c.cost.not_known == 0) {
    const std::string cpu = fmt::format("{} (instructions at one a cycle)", grouped(c.cost.cpu));
    const std::string time =
        f.target && f.target->clock_hz > 0
            ? fmt::format(", {:.3f} ms at {} MHz", 1e3 * static_cast<double>(c.cost.total()) / static_cast<double>(f.target->clock_hz),
                          f.target->clock_hz / 1000000)
            : "";
    const std::string wait = c.cost.wait > 0 ? fmt::format(" + waiting for its constants {} (assumed)", grouped(c.cost.wait)) : "";
    const std::string sum = wait.empty() && c.cost.calls == 0 ? "" : fmt::format(" = {}", grouped(c.cost.total()));
    const std::string npu =
        c.cost.calls > 0 ? fmt::format("NPU {} (open model) + crossing {} (assumed) + CPU ", grouped(c.cost.npu), grouped(c.cost.crossing))
                         : "";
    line("cycles", npu + cpu + wait + sum + time);
  }
  if (c.prefer.chosen)
    line("choice", fmt::format("--prefer fastest: {} cycles, the least of {} compared; all on the NPU {}, all on the CPU {}",
                               grouped(*c.prefer.chosen), counted(c.prefer.evaluated, "program"),
                               c.prefer.all_npu ? grouped(*c.prefer.all_npu) : std::string("not possible"),
                               c.prefer.all_cpu ? grouped(*c.prefer.all_cpu) : std::string("not possible")));
  if (const std::vector<std::string> own = own_kernels(c); !own.empty())
    line("firmware",
         fmt::format("stock firmware lacks {}: link our runtime's kernels, or compile with --dialect stock to be told where they come from",
                     fmt::join(own, ", ")));
  const char* proof = c.plan.bytes == c.plan.lower_bound ? "the lower bound"
                      : c.plan.optimal                   ? "proved least; the lower bound is"
                                                         : "lower bound";
  line("RAM", fmt::format("{} bytes planned ({}{}), scratch {}", grouped(c.plan.bytes), proof,
                          c.plan.bytes == c.plan.lower_bound ? "" : " " + grouped(c.plan.lower_bound), grouped(c.plan.scratch_bytes)));
  if (const RowSplitReport& r = c.row_split; r.operators > 0)
    line("row bands",
         fmt::format("{} operators in up to {} bands: {} bytes instead of {}, {} more calls, {:.2f} % more multiply-adds", r.operators,
                     r.bands, grouped(r.bytes_after), grouped(r.bytes_before), r.extra_calls,
                     100.0 * static_cast<double>(r.extra_macs) / static_cast<double>(std::max<i64>(c.macs - r.extra_macs, 1))));
  std::string alive;
  constexpr size_t kShown = 6;
  for (size_t i = 0; i < std::min(kShown, c.plan.peak.size()); ++i) {
    const LiveTensor& t = c.plan.peak[i];
    alive += fmt::format("{}`{}` {}", i == 0 ? "" : ", ", c.graph.values[t.value].name, grouped(t.bytes));
  }
  if (c.plan.peak.size() > kShown) alive += fmt::format(" and {} more", c.plan.peak.size() - kShown);
  const std::string where = peak_name(c);
  if (!alive.empty()) line("", fmt::format("at the peak{}{}: {}", where.empty() ? "" : ", ", where, alive));

  line("flash", fmt::format("{} bytes: constants {}, {}program {}, padding {}", grouped(static_cast<i64>(c.pte.size())),
                            grouped(c.parts.constants), c.parts.delegates > 0 ? fmt::format("NPU {}, ", grouped(c.parts.delegates)) : "",
                            grouped(c.parts.program), grouped(c.parts.padding)));
  line("multiply-adds", scaled(c.macs));
  if (c.model_was_quantized) line("quantization", "as the model has it");
  else if (!c.quantization_policy.empty())
    line("quantization", c.quantization_policy + (std::abs(c.quantization_gain_db) < 0.05
                                                      ? ""
                                                      : fmt::format(": {:+.1f} dB over plain histogram ranges", c.quantization_gain_db)));
  line("error", error_line(f));
  line("time", fmt::format("{:.2f} s", f.seconds));
  return text;
}

}  // namespace deuteron
