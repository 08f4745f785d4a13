// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor_attempts.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "report/numbers.h"

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

constexpr Row kRows[] = {
    {"--io int8", [](const ModelOptions& o, const CompiledModel& m) { return o.io != "int8" && has_float_ports(m); },
     [](ModelOptions& o) { o.io = "int8"; }},
    {"--io-layout auto", [](const ModelOptions& o, const CompiledModel&) { return o.io_layout != "auto"; },
     [](ModelOptions& o) { o.io_layout = "auto"; }},
    {"--prefer fastest",
     [](const ModelOptions& o, const CompiledModel& m) {
       return m.target.npu && m.target.has_backend("cortex_m") && !m.target.cpu_cost.empty() && o.compile.npu.converter.path.empty() &&
              m.compilation.partition.preference.prefer != "fastest";
     },
     [](ModelOptions& o) { o.prefer = "fastest"; }},
    {"--weights packed",
     [](const ModelOptions& o, const CompiledModel& m) { return o.weights == "plain" && !m.target.options.is_for_stock(); },
     [](ModelOptions& o) { o.weights = "packed"; }},
    {"--observer auto", [](const ModelOptions& o, const CompiledModel&) { return o.observer != "auto"; },
     [](ModelOptions& o) { o.observer = "auto"; }},
    {"--equalization auto", [](const ModelOptions& o, const CompiledModel&) { return o.equalization != "auto"; },
     [](ModelOptions& o) { o.equalization = "auto"; }},
    {"--bias-correction auto", [](const ModelOptions& o, const CompiledModel&) { return o.bias_correction != "auto"; },
     [](ModelOptions& o) { o.bias_correction = "auto"; }},
};

// " (-63.4 %)"
std::string change_text(i64 before, i64 after) {
  if (before == after) return " (the same)";
  if (before <= 0) return "";
  return fmt::format(" ({:+.1f} %)", 100.0 * static_cast<double>(after - before) / static_cast<double>(before));
}

std::string result_text(const CompiledModel& before, const std::optional<Accuracy>& accuracy, const CompiledModel& after, int threads) {
  const auto part = [](i64 a, i64 b, const char* unit) { return fmt::format("{}{}{}", grouped(b), unit, change_text(a, b)); };
  std::string text;
  if (before.program.cost.total() > 0 && before.program.cost.not_known == 0)
    text += part(before.program.cost.total(), after.program.cost.total(), " cycles") + "; ";
  text += "RAM " + part(before.compilation.plan.bytes, after.compilation.plan.bytes, "");
  text += "; flash " + part(static_cast<i64>(before.compilation.pte.size()), static_cast<i64>(after.compilation.pte.size()), "");
  if (!accuracy || before.made_up_samples) return text;
  const std::optional<Accuracy> now = accuracy_of(after, threads);
  if (now && std::isfinite(now->sqnr_db) && std::isfinite(accuracy->sqnr_db))
    text += fmt::format("; {:.1f} dB ({:+.1f} dB)", now->sqnr_db, now->sqnr_db - accuracy->sqnr_db);
  return text;
}

Attempt attempt(const std::string& option, const ModelOptions& options, const CompiledModel& before,
                const std::optional<Accuracy>& accuracy) {
  Diagnostics diagnostics;
  const std::optional<CompiledModel> after = compile_model_for(before.target, options, true, diagnostics);
  if (after && has_program(*after)) return {option, result_text(before, accuracy, *after, options.compile.threads), true};
  for (const Diagnostic& d : diagnostics.list())
    if (d.severity == Severity::error) return {option, fmt::format("no program: {} [{}]", d.what, d.rule), false};
  return {option, "no program", false};
}

}  // namespace

std::optional<Accuracy> accuracy_of(const CompiledModel& m, int threads) {
  if (m.samples.empty() || m.compilation.reference.outputs.empty() || program_to_run(m.compilation).empty()) return std::nullopt;
  return measure_accuracy(m.compilation, m.samples, threads);
}

std::vector<Attempt> try_options(const ModelOptions& o, const CompiledModel& m, const std::optional<Accuracy>& accuracy,
                                 const std::vector<Finding>& findings) {
  std::vector<Attempt> attempts;
  for (const Row& row : kRows) {
    if (!row.applies(o, m)) continue;
    ModelOptions changed = o;
    row.apply(changed);
    attempts.push_back(attempt(row.option, changed, m, accuracy));
  }
  constexpr std::string_view kMaxRam = "--max-ram ";
  for (const Finding& f : findings) {
    if (!f.attempt.starts_with(kMaxRam)) continue;
    ModelOptions changed = o;
    const std::string bytes = f.attempt.substr(kMaxRam.size());
    std::from_chars(bytes.data(), bytes.data() + bytes.size(), changed.compile.max_ram);
    attempts.push_back(attempt(f.attempt, changed, m, accuracy));
  }
  return attempts;
}

}  // namespace deuteron
