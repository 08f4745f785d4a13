// SPDX-License-Identifier: Apache-2.0
// The report as one JSON object. Its keys: docs/reports.md.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "compile/compilation.h"
#include "compile/schedule/memories.h"
#include "explain/report/considered.h"
#include "explain/report/int4_report.h"
#include "explain/report/report.h"
#include "ir/states.h"
#include "ops/families.h"
#include "targets/target.h"

namespace deuteron {
namespace {

using Json = nlohmann::ordered_json;

Json finite(double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); }
Json cycles_or_null(i64 v) { return v < 0 ? Json(nullptr) : Json(v); }

Json ports(const Graph& g, std::span<const Port> list) {
  Json array = Json::array();
  for (const Port& p : list) {
    const Type& type = g.type(p.value);
    Json port = {{"name", p.name},
                 {"dtype", name_of(type.dtype)},
                 {"shape", logical_shape(p, type.shape)},
                 {"storage_order", p.order}};
    if (!type.quant.empty() && !type.quant.per_channel()) {
      port["scale"] = type.quant.scale[0];
      port["zero_point"] = type.quant.zero_point[0];
    }
    array.push_back(std::move(port));
  }
  return array;
}

Json short_scratch(const OperatorReport& o) {
  if (o.short_bytes == 0) return nullptr;
  return {{"bytes", o.short_bytes}, {"cycles", o.short_cycles}};
}

Json operators(const ProgramReport& r) {
  Json array = Json::array();
  for (const OperatorReport& o : r.operators)
    array.push_back({{"name", o.name},
                     {"op", o.op},
                     {"source", o.source},
                     {"placement", name_of(o.placement)},
                     {"reason", o.reason},
                     {"macs", o.macs},
                     {"float_bytes", o.float_bytes},
                     {"delegate", o.delegate},
                     {"cycles", cycles_or_null(o.cycles)},
                     {"kernels", o.called.names},
                     {"other_kernels", o.called.why_not},
                     {"plain", o.plain},
                     {"short_scratch", short_scratch(o)},
                     {"assumed", o.apart_cycles > 0},
                     {"bound", o.bound}});
  return array;
}

Json counts(const ProgramReport& r) {
  Json j = Json::object();  // a null that becomes one ends the program where memory is refused
  for (const Placement p : kPlacements) j[std::string(name_of(p))] = count_of(r, p);
  return j;
}

Json folded(const ProgramReport& r) {
  Json list = Json::array();
  for (const FoldedReport& o : r.folded)
    list.push_back({{"name", o.name}, {"op", o.op}, {"reason", o.reason}});
  return list;
}

Json cycles_json(const ProgramCost& cost, const ReportFacts& f) {
  const i64 clock = f.target ? f.target->clock_hz : 0;
  const bool known = cost.total() > 0;
  return {{"npu", cost.npu},
          {"cpu", cost.not_known > 0 && cost.cpu == 0 ? Json(nullptr) : Json(cost.cpu)},
          {"cpu_is", cost.kind_of_cpu},
          {"crossing", cost.crossing},
          {"memories", cost.tensor_wait > 0                      ? "tensors in slow RAM"
                       : cost.wait > 0                           ? "weights in flash"
                       : f.target && !f.target->measured.empty() ? "as measured"
                                                                 : "answer at once"},
          {"wait_for_constants", cost.wait},
          {"wait_for_tensors", cost.tensor_wait},
          {"total", known ? Json(cost.total()) : Json(nullptr)},
          {"cpu_calls_not_known", cost.not_known},
          {"milliseconds", known && clock > 0 ? Json(1e3 * static_cast<double>(cost.total()) /
                                                     static_cast<double>(clock))
                                              : Json(nullptr)}};
}

Json crossings(const Compilation& c, const ProgramCost& cost) {
  Json list = Json::array();
  for (const Crossing& x : cost.crossings)
    list.push_back({{"tensor", c.graph.values[x.value].name},
                    {"delegate", x.delegate},
                    {"to", x.to_npu ? "npu" : "cpu"},
                    {"bytes", x.bytes}});
  return list;
}

Json prefer(const Preference& p) {
  if (p.prefer.empty()) return nullptr;
  const auto number = [](const std::optional<i64>& v) { return v ? Json(*v) : Json(nullptr); };
  return {{"prefer", p.prefer},
          {"cycles", number(p.chosen)},
          {"all_npu_cycles", number(p.all_npu)},
          {"all_cpu_cycles", number(p.all_cpu)},
          {"programs_compared", p.evaluated}};
}

Json exact_forms(const FormDecision& f) {
  if (f.empty()) return nullptr;
  return {{"operators", f.exact},
          {"tables", f.tables.size()},
          {"sqnr_db", *f.exact_db},
          {"sqnr_db_as_npu", *f.npu_db}};
}

// Every operator that could be on either side: what each would take, alone.
Json choices(const Compilation& c) {
  Json list = Json::array();
  for (const Considered& n : considered_operators(c.partition))
    list.push_back({{"operator", n.what},
                    {"placement", n.sides.on_npu ? "npu" : "cpu"},
                    {"why_not_npu", n.why_not},
                    {"npu_cycles", cycles_or_null(n.sides.npu_cycles)},
                    {"cpu_cycles", cycles_or_null(n.sides.cpu_cycles)}});
  return list;
}

i64 planned_in(const Compilation& c, const std::string& memory, bool is_only) {
  for (const PlannedBuffer& b : c.plan.placement.buffers)
    if (b.memory == memory) return b.bytes;
  return is_only && c.plan.placement.buffers.empty() ? c.plan.bytes : 0;
}

// The target's, and what of the program lies in them. Constants lie where there is a memory for
// them alone; the NPU's must be where it reaches.
Json memories(const Compilation& c, const ReportFacts& f) {
  Json list = Json::array();
  if (!f.target) return list;
  const Room room = room_for_activations(*f.target, calls_npu(c.graph), c.plan.bytes, 0);
  for (const MemoryRegion& m : f.target->memories)
    list.push_back({{"name", m.name},
                    {"bytes", m.bytes > 0 ? Json(m.bytes) : Json(nullptr)},
                    {"holds", m.holds},
                    {"reach", m.reach},
                    {"planned", planned_in(c, m.name, &m == room.memory)}});
  return list;
}

// Where the tensors and constants lie that were given a memory each; null: all lie in one.
Json placement(const Compilation& c) {
  const MemoryPlacement& p = c.plan.placement;
  if (!p.is_placed()) return nullptr;
  constexpr const char* kKinds[] = {"tensor", "scratch", "state", "constant"};
  Json memories = Json::array(), things = Json::array();
  for (size_t m = 0; m < p.memories.size(); ++m) {
    const MemoryUse& u = p.memories[m];
    const bool is_home = static_cast<i32>(m) == p.home;
    memories.push_back(
        {{"name", u.name},
         {"bytes", u.bytes > 0 ? Json(u.bytes) : Json(nullptr)},
         {"used", is_home ? static_cast<i64>(c.pte.size()) : u.tensors + u.constants},
         {"tensors", u.tensors},
         {"constants", u.constants},
         {"file", is_home}});
  }
  for (const PlacedThing& t : p.things)
    things.push_back({{"name", c.graph.values[t.value].name},
                      {"kind", kKinds[static_cast<size_t>(t.kind)]},
                      {"memory", p.memories[t.memory].name},
                      {"bytes", t.bytes},
                      {"read", t.read},
                      {"written", t.written},
                      {"cycles", t.cycles}});
  return {{"cycles", p.cycles},
          {"bound", p.bound},
          {"optimal", p.is_optimal},
          {"greedy_cycles", cycles_or_null(p.greedy_cycles)},
          {"slowest_cycles", cycles_or_null(p.slowest_cycles)},
          {"memories", std::move(memories)},
          {"things", std::move(things)}};
}

// By call of the program: bytes of what is alive while it runs.
Json ram_over_time(const Compilation& c) {
  Json list = Json::array();
  const std::vector<i64> alive = bytes_alive(c.graph);
  for (size_t n = 0; n < c.graph.nodes.size(); ++n)
    if (const auto* call = call_of(c.graph.nodes[n].op))
      list.push_back({{"call", call->name}, {"bytes", alive[n]}});
  return list;
}

Json quantization(const QuantizationDecisions& decisions) {
  Json array = Json::array();
  for (const QuantizedValue& q : decisions.values)
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

Json peak(const Compilation& c) {
  Json tensors = Json::array();
  for (const LiveTensor& t : c.plan.peak) {
    const GraphValue& v = c.graph.values[t.value];
    tensors.push_back(
        {{"name", v.name},
         {"bytes", t.bytes},
         {"type", fmt::format("{}[{}]", name_of(v.type.dtype), to_text(v.type.shape))}});
  }
  return {{"operator", peak_name(c)}, {"tensors", std::move(tensors)}};
}

// Null where nothing had to be computed in bands of rows.
Json row_split(const RowBands& b) {
  if (b.operators == 0) return nullptr;
  return {{"operators", b.operators},   {"bands", b.bands},   {"extra_calls", b.extra_calls},
          {"extra_macs", b.extra_macs}, {"copies", b.copies}, {"ram_before", b.bytes_before},
          {"ram_after", b.bytes_after}};
}

// Null where calls stand in the order of the model.
Json call_order(const CallOrder& o) {
  if (o.moved == 0) return nullptr;
  return {{"moved", o.moved}, {"ram_before", o.bytes_before}, {"ram_after", o.bytes_after}};
}

// Null where no units stand in another order.
Json unit_order(const UnitOrder& u) {
  if (u.values == 0) return nullptr;
  return {{"layers", u.values}, {"macs_behind", u.macs}, {"macs_left_out", u.macs_left_out}};
}

// Null where every channel is computed.
Json slimming(const Slimming& s) {
  if (s.macs_before == 0) return nullptr;
  const SlimmedFilters of = slimmed_filters(s);
  return {{"filters", s.filters},
          {"left_out", of.left_out},
          {"constant", of.constant},
          {"alike", of.alike},
          {"unread", of.unread},
          {"macs_left_out", s.macs_before - s.macs_after},
          {"constants_left_out", s.bytes_before - s.bytes_after}};
}

// Where the program is and what it costs.
Json program_json(const Compilation& c, const ProgramReport& r, const ReportFacts& f) {
  const NpuTotal npu = npu_total(r);
  return {{"model", f.model},
          {"target", f.target ? f.target->name : ""},
          {"operators", operators(r)},
          {"counts", counts(r)},
          {"not_in_stock_firmware", own_kernels(r)},
          {"ram_bytes", c.plan.bytes},
          {"ram_lower_bound_bytes", c.plan.lower_bound},
          {"ram_optimal", c.plan.optimal},
          {"scratch_bytes", c.plan.scratch_bytes},
          {"row_split", row_split(c.row_bands)},
          {"call_order", call_order(c.call_order)},
          {"unit_order", unit_order(c.unit_order)},
          {"slimming", slimming(c.slimming)},
          {"constants_bytes", c.parts.constants},
          {"program_bytes", c.parts.program},
          {"file_bytes", c.pte.size()},
          {"macs", r.macs},
          {"delegates_bytes", c.parts.delegates},
          {"npu_cycles", npu.cycles},
          {"npu_kernels_not_predicted", npu.not_predicted},
          {"npu_kernels_assumed", npu.assumed},
          {"npu_cycles_without_assumed", npu.apart_cycles},
          {"npu_macs", npu.macs},
          {"npu_delegates", npu.delegates},
          {"npu_macs_share", r.macs > 0
                                 ? Json(static_cast<double>(npu.macs) / static_cast<double>(r.macs))
                                 : Json(nullptr)},
          {"cycles", cycles_json(r.cost, f)},
          {"crossings", crossings(c, r.cost)},
          {"transposes", r.cost.transposes},
          {"npu_transposes", npu_transposes(c)},
          {"border_transposes", r.cost.border_transposes},
          {"prefer", prefer(c.partition.preference)},
          {"exact_forms", exact_forms(c.forms)},
          {"choices", choices(c)},
          {"ram_over_time", ram_over_time(c)},
          {"memories", memories(c, f)},
          {"memory_placement", placement(c)},
          {"flash",
           {{"constants", c.parts.constants},
            {"npu", c.parts.delegates},
            {"program", c.parts.program},
            {"padding", c.parts.padding},
            {"file", c.pte.size()}}}};
}

Json precision_choice(const PrecisionChoice& c) {
  return {{"held_out_sqnr_db", finite(c.sqnr_db)}, {"compared_db", finite(c.steady_db)},
          {"instructions", c.size.instructions},   {"ram_bytes", c.size.ram_bytes},
          {"file_bytes", c.size.file_bytes},       {"int16_layers", c.layers}};
}

// --precision mixed: what was chosen, and what else there was.
Json precision(const PrecisionDecision& d) {
  const auto number = [](const std::optional<double>& v, double unit) {
    return v ? Json(*v * unit) : Json(nullptr);
  };
  Json curve = Json::array();
  for (const PrecisionChoice& c : d.curve) curve.push_back(precision_choice(c));
  return {{"max_cost_percent", number(d.max_cost, 100)},
          {"target_db", number(d.target_db, 1)},
          {"chosen", precision_choice(d.curve[d.chosen])},
          {"int16_everywhere",
           d.int16_everywhere ? precision_choice(*d.int16_everywhere) : Json(nullptr)},
          {"curve", std::move(curve)}};
}

// Layers with weights of four bits, and with a limit what else there was.
Json int4_weights(const Compilation& c, const ProgramReport& program) {
  const Int4Report r = int4_report(c.graph, program);
  Json j{{"layers", r.layers}, {"bytes", r.bytes}, {"int8_bytes", r.int8_bytes}};
  if (!c.quantization.weights) return j;
  const WeightDecision& d = *c.quantization.weights;
  Json curve = Json::array();
  for (const WeightChoice& w : d.curve)
    curve.push_back({{"held_out_sqnr_db", finite(w.sqnr_db)},
                     {"loss_db", finite(w.loss_db)},
                     {"instructions", w.size.instructions},
                     {"ram_bytes", w.size.ram_bytes},
                     {"file_bytes", w.size.file_bytes},
                     {"layers", w.layers}});
  const auto number = [](const std::optional<double>& v) { return v ? Json(*v) : Json(nullptr); };
  j["max_loss_db"] = number(d.max_loss_db);
  j["target_db"] = number(d.target_db);
  j["chosen"] = d.chosen;
  j["curve"] = std::move(curve);
  return j;
}

}  // namespace

std::string report_json(const Compilation& c, const ProgramReport& r, const ReportFacts& f) {
  Json j = program_json(c, r, f);
  j["worst_output"] = f.accuracy ? worst_part_json(f.accuracy->outputs) : Json(nullptr);
  j["sqnr_db"] = f.accuracy ? finite(f.accuracy->sqnr_db) : Json(nullptr);
  if (f.accuracy) {
    j["exact"] = f.accuracy->is_exact();
    j["output_accuracy"] = output_accuracy_json(f.accuracy->outputs);
    j["max_abs_error"] = finite(f.accuracy->max_abs_error);
    j["samples"] = f.accuracy->samples;
    if (f.accuracy->of_own_conversion) j["accuracy_of_own_conversion"] = true;
  }
  j["seconds"] = f.seconds;
  j["inputs"] = ports(c.graph, c.graph.user_inputs());
  j["outputs"] = ports(c.graph, c.graph.user_outputs());
  if (!c.graph.states.empty())
    j["state_bytes"] = state_bytes(c.graph), j["states"] = ports(c.graph, c.graph.state_inputs());
  if (const StreamDecision& s = c.stream; s.frames > 0)
    j["stream"] = {{"frames", s.frames},
                   {"window", s.window},
                   {"macs", s.macs_step},
                   {"window_macs", s.macs_window},
                   {"least_state_bytes", s.least_state_bytes},
                   {"whole", s.whole}};
  j["peak"] = peak(c);
  j["folded"] = folded(r);
  j["model_was_quantized"] = c.quantization.model_was_quantized;
  j["quantization_policy"] = c.quantization.policy;
  j["quantization_gain_db"] = finite(c.quantization.gain_db);
  const std::optional<HeldOut>& held_out = c.quantization.held_out;
  j["held_out_sqnr_db"] = held_out ? finite(held_out->db) : Json();
  if (c.quantization.precision) j["precision"] = precision(*c.quantization.precision);
  if (const Json int4 = int4_weights(c, r); !int4["layers"].empty() || c.quantization.weights)
    j["int4_weights"] = int4;
  j["held_out_sqnr_db_of_halves"] =
      held_out ? Json{finite(held_out->low_db), finite(held_out->high_db)} : Json();
  j["quantization"] = quantization(c.quantization);
  return j.dump(2, ' ', false, Json::error_handler_t::replace) +
         "\n";  // names of a model may hold any bytes
}

}  // namespace deuteron
