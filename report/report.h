// What a compilation came to: as JSON for scripts and as a short text for people.
#pragma once
#include <optional>
#include <string>

#include "passes/compile.h"

namespace deuteron {

struct ReportFacts {
  std::string model;  // as the user named it
  const Target* target = nullptr;
  std::optional<Accuracy> accuracy;  // none: nothing to measure with, or not asked for
  double seconds = 0;
};

// One object, valid UTF-8. Keys that scripts rely on: model, target, operators (name, op, source, placement, reason), counts
// (npu, cortex_m, portable), ram_bytes, ram_lower_bound_bytes, scratch_bytes, constants_bytes, file_bytes, macs, sqnr_db, seconds. More:
// docs/report.md.
std::string report_json(const Compilation& compilation, const ReportFacts& facts);
std::string report_summary(const Compilation& compilation, const ReportFacts& facts);

std::string_view name_of(Placement);  // "npu", "cortex_m", "portable"
std::string grouped(i64 number);      // "1 234 567"

}  // namespace deuteron
