// SPDX-License-Identifier: Apache-2.0
// What a compilation came to: as JSON for scripts and as a short text for people.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "explain/report/accuracy.h"
#include "explain/report/program_report.h"

namespace deuteron {

struct ReportFacts {
  std::string model;  // as the user named it
  const Target* target = nullptr;
  std::optional<Accuracy> accuracy;  // none: nothing to measure with, or not asked for
  double seconds = 0;
  bool verbose = false;  // the summary has every line, not only what decides
};

// One object, valid UTF-8. Keys that scripts rely on: model, target, operators (name, op, source,
// placement, reason), counts (npu, cortex_m, portable), ram_bytes, ram_lower_bound_bytes,
// scratch_bytes, constants_bytes, file_bytes, macs, sqnr_db, seconds. More: docs/reports.md.
std::string report_json(const Compilation& compilation, const ProgramReport& program,
                        const ReportFacts& facts);
std::string report_summary(const Compilation& compilation, const ProgramReport& program,
                           const ReportFacts& facts);

// ---- figures that both have

inline constexpr Placement kPlacements[] = {Placement::npu, Placement::cortex_m,
                                            Placement::portable};
i64 count_of(const ProgramReport& program, Placement placement);

// Cycles and multiply-adds on the NPU, by the open model of the machine.
struct NpuTotal {
  i64 kernels = 0, delegates = 0, cycles = 0, macs = 0;
  i64 assumed = 0;  // kernels that the open machine is assumed to have: each may be two on a chip
  i64 apart_cycles = 0;  // if each is
  // kernels that the open model does not have: their cycles and multiply-adds are in no sum
  i64 not_predicted = 0;
};
NpuTotal npu_total(const ProgramReport& program);
i64 npu_transposes(const Compilation& compilation);

// Kernels that stock firmware lacks, each once.
std::vector<std::string> own_kernels(const ProgramReport& program);
// The user's name for what the node at the peak of the plan computes; empty: nothing does.
std::string peak_name(const Compilation& compilation);

}  // namespace deuteron
