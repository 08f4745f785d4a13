// SPDX-License-Identifier: Apache-2.0
// deuteron doctor: what a model's program costs needlessly, and what to change.
#include "explain/doctor/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/doctor_attempts.h"

namespace deuteron {
namespace {

struct DoctorVerb {
  ModelOptions model;
  bool attempt = false;
  Where where;  // of --try
};

// What a finding says better.
bool is_told(const Diagnostic& d) {
  return d.severity == Severity::warning &&
         (d.rule == "target.portable" || d.rule == "calibrate.made_up" || finding_of_warning(d));
}

Diagnostics without_told(const Diagnostics& all) {
  Diagnostics rest;
  for (const Diagnostic& d : all.list())
    if (!is_told(d)) rest.add(d);
  return rest;
}

// The same chip with a CPU for what the NPU refuses.
std::optional<Target> with_cpu(const Target& target) {
  for (Target& other : builtin_targets())
    if (target.npu && other.npu && other.npu->family == target.npu->family &&
        other.has_backend("cortex_m"))
      return std::move(other);
  return std::nullopt;
}

struct Examined {
  std::optional<CompiledModel> model;
  std::vector<Finding> findings;  // why the program that was asked for cannot be
  std::string instead;            // what was examined then
};

void add_warnings(const Diagnostics& all, std::vector<Finding>& findings) {
  for (const Diagnostic& d : all.list())
    if (std::optional<Finding> f = finding_of_warning(d)) findings.push_back(std::move(*f));
}

// Compiles without what stands in the way, when that are findings all.
Examined compile_patient(const ModelOptions& o, Diagnostics& diagnostics) {
  Examined e;
  Diagnostics first;
  e.model = compile_model(o, true, first);
  for (const Diagnostic& d : first.list())
    if (d.severity == Severity::error)
      if (std::optional<Finding> f = finding_of_error(d)) e.findings.push_back(std::move(*f));
  const auto errors = std::ranges::count(first.list(), Severity::error, &Diagnostic::severity);
  if (e.model || static_cast<std::ptrdiff_t>(e.findings.size()) < errors) {
    diagnostics = without_told(first);
    add_warnings(first, e.findings);
    return e;
  }
  Target target = *find_target(o.target, diagnostics);
  ModelOptions relaxed = o;
  const bool is_refused = target.npu && !target.has_backend("cortex_m");
  if (const std::optional<Target> other = is_refused ? with_cpu(target) : std::nullopt) {
    target = *other;
    e.instead = target.name;
  } else {
    relaxed.compile.max_ram = 0;
    target.memories.clear();
    e.instead = target.name + " without limits of memory";
  }
  Diagnostics second;
  e.model = compile_model_for(std::move(target), relaxed, true, second);
  diagnostics = without_told(second);
  add_warnings(second, e.findings);
  return e;
}

int doctor(const DoctorVerb& o) {
  Diagnostics diagnostics;
  if (!check_outputs(inputs_of(o.model), outputs_of(o.model), diagnostics))
    return finish("", diagnostics, {}, "");
  if (!o.where.is_host() && !o.attempt) return refuse_usage("--on measures what --try tries");
  if (const std::string problem = check_where(o.where); !problem.empty())
    return refuse_usage(problem);
  Examined e = compile_patient(o.model, diagnostics);
  if (!e.model) return finish(o.model.json, diagnostics, {}, "");
  const CompiledModel& m = *e.model;
  const Patient patient{.compilation = m.compilation,
                        .program = m.program,
                        .target = m.target,
                        .samples = m.samples,
                        .made_up_samples = m.made_up_samples,
                        .threads = o.model.compile.threads,
                        .accuracy = accuracy_of(m, o.model.compile.threads)};
  std::vector<Finding> findings = std::move(e.findings);
  for (Finding& f : examine(patient)) findings.push_back(std::move(f));
  rank(findings);
  std::vector<Attempt> attempts;
  std::string text = fmt::format("{} for {}\n  good        {}\n", o.model.model, o.model.target,
                                 good_text(patient));
  Json json;
  if (o.attempt) {
    std::optional<i64> there = 0;
    if (!o.where.is_host() && !(there = count_there(m, o.where, diagnostics)))
      return finish(o.model.json, diagnostics, {}, "");
    if (*there > 0)
      text += fmt::format("  measured    {} {} on {}\n", *there,
                          o.where.is_emulated() ? "instructions" : "cycles", o.where.on);
    attempts = try_options(o.model, m, patient.accuracy, findings, o.where, *there);
  }
  if (!e.instead.empty())
    text +=
        fmt::format("  instead     there is no program; the figures are those of {}\n", e.instead);
  json = findings_json(findings, attempts);
  json["model"] = o.model.model, json["target"] = o.model.target, json["good"] = good_text(patient);
  if (!e.instead.empty()) json["instead"] = e.instead;
  return finish(o.model.json, diagnostics, std::move(json),
                text + findings_text(findings, attempts));
}

}  // namespace

void add_doctor(CommandLine& line) {
  DoctorVerb* o = nullptr;
  Verb verb = add_verb<DoctorVerb>(
      line, "doctor", "find what makes a model slow, large or inaccurate, and say what to change",
      "deuteron doctor model.pt2 --target imxrt700cm --calibrate samples.npy --try", doctor, o);
  add_program_options(verb, o->model);
  verb.flag("--try", o->attempt,
            "compile again with each option that may help, and report the effect");
  add_where(verb, o->where);
}

}  // namespace deuteron
