// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_attempts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "cli/model_options.h"
#include "explain/report/numbers.h"

namespace deuteron {
namespace {

struct Row {
  const char* option;
  bool (*applies)(const ModelOptions&, const CompiledModel&);
  void (*apply)(ModelOptions&);
};

bool has_float_ports(const CompiledModel& m) {
  for (const auto* ports : {&m.compilation.graph.inputs, &m.compilation.graph.outputs})
    for (const Port& p : *ports)
      if (m.compilation.graph.type(p.value).dtype == DType::f32) return true;
  return false;
}

// A float model that int8 does not suit, and a target with int16 kernels.
bool may_need_int16(const ModelOptions& o, const CompiledModel& m) {
  return o.precision == "int8" && o.layers.empty() && !m.target.npu &&
         !m.target.options.is_for_stock() && !m.compilation.quantization.model_was_quantized &&
         !m.made_up_samples;
}

PortsOption ports_of(const ModelOptions& o) {
  PortsOption ports;
  ports.read(o.io);
  return ports;
}
void drop_contiguous(ModelOptions& o) {
  std::string others;
  for_each_part(o.io, [&](std::string_view part) {
    if (part != "contiguous") others += (others.empty() ? "" : ",") + std::string(part);
  });
  o.io = others.empty() ? "model" : others;
}

constexpr Row kRows[] = {
    {"--io int8",
     [](const ModelOptions& o, const CompiledModel& m) {
       return ports_of(o).types != PortTypes::steps && ports_of(o).bytes.empty() &&
              has_float_ports(m);
     },
     [](ModelOptions& o) { o.io = ports_of(o).contiguous ? "int8,contiguous" : "int8"; }},
    {"--io without contiguous",
     [](const ModelOptions& o, const CompiledModel&) { return ports_of(o).contiguous; },
     drop_contiguous},
    {"--prefer fastest",
     [](const ModelOptions& o, const CompiledModel& m) {
       return m.target.npu && m.target.has_backend("cortex_m") && !m.target.cpu_cost.empty() &&
              o.compile.npu.converter.path.empty() &&
              m.compilation.partition.preference.prefer != "fastest";
     },
     [](ModelOptions& o) { o.prefer = "fastest"; }},
    {"--dialect deuteron",
     [](const ModelOptions& o, const CompiledModel&) { return o.dialect == "plain"; },
     [](ModelOptions& o) { o.dialect = "deuteron"; }},
    {"--observer auto",
     [](const ModelOptions& o, const CompiledModel&) { return o.observer != "auto"; },
     [](ModelOptions& o) { o.observer = "auto"; }},
};

constexpr std::string_view kMaxRam = "--max-ram ", kLayer = "--layer ",
                           kInt16 = "--precision int16", kState = "--state ";
constexpr double kLeastGainDb = 1;  // of int16: less is not worth its instructions

// "h=h_next": the input has no samples then.
void make_state(std::string_view names, const CompiledModel& m, ModelOptions& changed) {
  changed.states.emplace_back(names);
  const std::span<const Port> inputs = m.compilation.reference.user_inputs();
  const auto at =
      std::ranges::find(inputs, names.substr(0, names.find('=')), &Port::name) - inputs.begin();
  if (changed.calibrate.size() == inputs.size())
    changed.calibrate.erase(changed.calibrate.begin() + at);
}

// What a finding names itself. False: it does not apply.
bool apply_attempt(std::string_view option, const ModelOptions& o, const CompiledModel& m,
                   ModelOptions& changed) {
  if (option.starts_with(kMaxRam)) {
    const std::string_view bytes = option.substr(kMaxRam.size());
    return std::from_chars(bytes.data(), bytes.data() + bytes.size(), changed.compile.max_ram).ec ==
           std::errc();
  }
  if (option.starts_with(kState)) return make_state(option.substr(kState.size()), m, changed), true;
  if (!may_need_int16(o, m)) return false;
  if (option == kInt16) return changed.precision = "int16", true;
  if (!option.starts_with(kLayer)) return false;
  changed.layers.emplace_back(option.substr(kLayer.size()));
  return true;
}

// " (-63.4 %)"
std::string change_text(i64 before, i64 after) {
  if (before == after) return " (the same)";
  if (before <= 0) return "";
  return fmt::format(" ({:+.1f} %)",
                     100.0 * static_cast<double>(after - before) / static_cast<double>(before));
}

// dB: of the worst part, where there are several.
double db_of(const Accuracy& a) {
  const auto worst = worst_part(a.outputs);
  return worst ? worst->output->db(worst->part) : a.sqnr_db;
}

std::string result_text(const CompiledModel& before, const std::optional<Accuracy>& accuracy,
                        const CompiledModel& after, int threads, double& gain_db) {
  const auto part = [](i64 a, i64 b, const char* unit) {
    return fmt::format("{}{}{}", grouped(b), unit, change_text(a, b));
  };
  std::string text;
  if (before.program.cost.total() > 0 && before.program.cost.not_known == 0)
    text += part(before.program.cost.total(), after.program.cost.total(), " cycles") + "; ";
  text += "RAM " + part(before.compilation.plan.bytes, after.compilation.plan.bytes, "");
  text += "; flash " + part(static_cast<i64>(before.compilation.pte.size()),
                            static_cast<i64>(after.compilation.pte.size()), "");
  if (!accuracy || before.made_up_samples) return text;
  const std::optional<Accuracy> now = accuracy_of(after, threads);
  if (!now || !now->has_numbers() || !std::isfinite(db_of(*now)) ||
      !std::isfinite(db_of(*accuracy)))
    return text;
  gain_db = db_of(*now) - db_of(*accuracy);
  return text + fmt::format("; {:.1f} dB ({:+.1f} dB{})", db_of(*now), gain_db,
                            worst_part(now->outputs) ? " in the worst output" : "");
}

// What the attempts are compared with.
struct Before {
  const CompiledModel& model;
  const std::optional<Accuracy>& accuracy;
  const Where& where;
  i64 counted_there;
};

std::string text_there(const CompiledModel& after, const Before& b) {
  if (b.counted_there == 0) return {};
  Diagnostics diagnostics;
  const std::optional<i64> there = count_there(after, b.where, diagnostics);
  if (there)
    return fmt::format("; {} measured there{}", grouped(*there),
                       change_text(b.counted_there, *there));
  return fmt::format("; not measured there: {}", diagnostics.list().front().what);
}

Attempt attempt(const std::string& option, const ModelOptions& options, const Before& before) {
  Diagnostics diagnostics;
  const std::optional<CompiledModel> after =
      compile_model_for(before.model.target, options, true, diagnostics);
  double gain_db = 0;
  if (after && has_program(*after)) {
    const std::string text =
        result_text(before.model, before.accuracy, *after, options.compile.threads, gain_db);
    return {option, text + text_there(*after, before), true, gain_db};
  }
  for (const Diagnostic& d : diagnostics.list())
    if (d.severity == Severity::error)
      return {option, fmt::format("no program: {} [{}]", d.what, d.rule), false};
  return {option, "no program", false};
}

}  // namespace

std::optional<Accuracy> accuracy_of(const CompiledModel& m, int threads) {
  if (m.samples.empty() || m.compilation.reference.outputs.empty() ||
      program_to_run(m.compilation).empty())
    return std::nullopt;
  return measure_accuracy(m.compilation, m.samples, threads);
}

std::optional<i64> count_there(const CompiledModel& m, const Where& where,
                               Diagnostics& diagnostics) {
  const std::optional<ProgramFile> file =
      ProgramFile::read(m.target.name, std::as_bytes(std::span(m.compilation.pte)), diagnostics);
  if (!file) return std::nullopt;
  Sample zeros;
  for (const PteTensor& t : file->summary.inputs) zeros.emplace_back(static_cast<size_t>(t.bytes));
  const BoardRun there = run_stored(*file, where, {}, {&zeros, 1});
  if (!there.run.ok) return diagnostics.add(there.run.error), std::nullopt;
  return static_cast<i64>(there.run.instructions.front());
}

std::vector<Attempt> try_options(const ModelOptions& o, const CompiledModel& m,
                                 const std::optional<Accuracy>& accuracy,
                                 const std::vector<Finding>& findings, const Where& where,
                                 i64 counted_there) {
  const Before before{m, accuracy, where, counted_there};
  std::vector<Attempt> attempts;
  for (const Row& row : kRows) {
    if (!row.applies(o, m)) continue;
    ModelOptions changed = o;
    row.apply(changed);
    attempts.push_back(attempt(row.option, changed, before));
  }
  for (const Finding& f : findings) {
    const auto is_same = [&](const Attempt& a) { return a.option == f.attempt; };
    if (f.attempt.empty() || std::ranges::any_of(attempts, is_same)) continue;
    ModelOptions changed = o;
    if (!apply_attempt(f.attempt, o, m, changed)) continue;
    const Attempt tried = attempt(f.attempt, changed, before);
    const bool is_int16 = f.attempt.starts_with(kLayer) || f.attempt == kInt16;
    if (!is_int16 || tried.gain_db >= kLeastGainDb) attempts.push_back(tried);
  }
  return attempts;
}

}  // namespace deuteron
