// SPDX-License-Identifier: Apache-2.0
#include "cli/inspect_trace.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/files/read_file.h"
#include "base/files/write_file.h"
#include "cli/trust.h"
#include "cli/verb.h"
#include "explain/inspect/page.h"
#include "explain/inspect/perfetto.h"
#include "explain/inspect/tables.h"
#include "explain/traces/read_etdump.h"
#include "explain/traces/read_etrecord.h"

namespace deuteron {
namespace {

struct Traced {
  Profile profile;
  std::optional<SourceMap> map;
};

std::optional<Traced> read_traced(const std::string& file, std::span<const std::byte> bytes,
                                  const std::string& record, const std::string& verify_key,
                                  Diagnostics& diagnostics) {
  const std::optional<Dump> dump = read_etdump(bytes, file, diagnostics);
  if (!dump) return std::nullopt;
  Traced t;
  if (!record.empty()) {
    const std::optional<std::vector<std::byte>> content = read_file(record, diagnostics);
    if (!content || !check_signature(*content, record, verify_key, diagnostics))
      return std::nullopt;
    t.map = read_etrecord(*content, record, diagnostics);
    if (!t.map) return std::nullopt;
  }
  std::optional<Profile> profile = attribute(*dump, t.map ? &*t.map : nullptr, file, diagnostics);
  if (!profile) return std::nullopt;
  t.profile = std::move(*profile);
  return t;
}

// The record of the trace that is compared with: its own, or the other's where both are of one
// program.
std::optional<Traced> read_baseline(const InspectOptions& o, const Traced& after,
                                    Diagnostics& diagnostics) {
  const std::optional<std::vector<std::byte>> bytes = read_file(o.baseline, diagnostics);
  if (!bytes) return std::nullopt;
  std::string record = o.baseline_etrecord;
  if (record.empty() && !o.etrecord.empty()) {
    Diagnostics only_to_look;
    const std::optional<Dump> dump = read_etdump(*bytes, o.baseline, only_to_look);
    if (dump && dump->program_id == after.profile.program_id) record = o.etrecord;
    else if (dump)
      diagnostics.warning(o.baseline,
                          "is of another program than the record; the traces are compared by the "
                          "kernels' names only",
                          "inspect.baseline_record",
                          "give its own record: --baseline-etrecord FILE");
  }
  return read_traced(o.baseline, *bytes, record, o.verify_key, diagnostics);
}

bool write_text(const std::string& path, const std::string& text, Diagnostics& diagnostics) {
  return write_file(path, {reinterpret_cast<const uint8_t*>(text.data()), text.size()},
                    diagnostics);
}

}  // namespace

int inspect_trace(const InspectOptions& o, std::span<const std::byte> bytes) {
  Diagnostics diagnostics;
  const auto stop = [&] { return finish(o.json, diagnostics, {}, ""); };
  if (o.baseline.empty() && !o.baseline_etrecord.empty()) {
    diagnostics.error("--baseline-etrecord", "is the record of a trace that is not given",
                      "inspect.options", "add --baseline FILE");
    return stop();
  }
  if (!o.verify_key.empty() && o.etrecord.empty()) {
    diagnostics.error(o.file, "is a trace, which nobody signs, and --verify-key is for its record",
                      "inspect.options", "add --etrecord FILE, or leave --verify-key out");
    return finish(o.json, diagnostics, {}, "");
  }
  const std::optional<Traced> traced =
      read_traced(o.file, bytes, o.etrecord, o.verify_key, diagnostics);
  if (!traced) return stop();
  const Profile& profile = traced->profile;
  const SourceMap* map = traced->map ? &*traced->map : nullptr;
  Json json = profile_json(profile);
  json["file"] = o.file;
  json["kind"] = "etdump";
  std::string text = o.file + ": trace, " + profile_text(profile, o.rows);

  if (!o.baseline.empty()) {
    const std::optional<Traced> before = read_baseline(o, *traced, diagnostics);
    if (!before) return stop();
    if (before->profile.cpu.unit != profile.cpu.unit) {
      diagnostics.add({Severity::error, o.baseline, "the two traces count by different clocks",
                       before->profile.cpu.unit, profile.cpu.unit, "inspect.baseline_clock",
                       "compare traces of the same machine"});
      return stop();
    }
    const Comparison comparison = compare_profiles(before->profile, profile);
    json["baseline"] = comparison_json(comparison);
    json["baseline"]["file"] = o.baseline;
    text += "\nagainst " + o.baseline + ", " + comparison_text(comparison, profile, o.rows);
  }
  if (!o.csv.empty() && !write_text(o.csv, profile_csv(profile), diagnostics)) return stop();
  if (!o.trace.empty() && !write_text(o.trace, perfetto_json(profile, map), diagnostics))
    return stop();
  if (!o.html.empty() && !write_page(o.html, trace_page(profile, map, json), diagnostics))
    return stop();
  for (const std::string& written : {o.csv, o.trace, o.html})
    if (!written.empty()) text += "wrote " + written + "\n";
  return finish(o.json, diagnostics, std::move(json), text);
}

int inspect_etrecord(const InspectOptions& o, std::span<const std::byte> bytes) {
  Diagnostics diagnostics;
  std::optional<SourceMap> map = read_etrecord(bytes, o.file, diagnostics);
  if (!map) return finish(o.json, diagnostics, {}, "");
  i64 kernels = 0;
  for (const MapKernel& c : map->calls) kernels += static_cast<i64>(c.inside.size());
  std::string text = fmt::format("{}: record{}, {}, {}, {} inside delegates\n", o.file,
                                 map->is_stock ? " (stock)" : "",
                                 counted(static_cast<i64>(map->operators.size()), "operator"),
                                 counted(static_cast<i64>(map->calls.size()), "call"), kernels);
  if (!map->program_id.empty())
    text += fmt::format("{} for {}, program {}\n", map->model, map->target, map->program_id);
  Json json = {{"file", o.file}, {"kind", "etrecord"}, {"stock", map->is_stock}};
  tell_signature(bytes, text, json);
  for (const MapOperator& op : map->operators)
    text += fmt::format("  {:24} {:32} {:8} {}\n", op.name, op.target, op.placement, op.module);
  json["map"] = std::move(map->json);
  return finish(o.json, diagnostics, std::move(json), text);
}

}  // namespace deuteron
