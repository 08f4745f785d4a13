// SPDX-License-Identifier: Apache-2.0
// deuteron inspect on a trace: tables, CSV, JSON, a Perfetto trace, a page, a comparison.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace deuteron {

struct InspectOptions {
  std::string file, target, json, etrecord, csv, trace, html, baseline, baseline_etrecord,
      verify_key, stock_view, method = "forward";
  std::vector<std::string> shapes;
  size_t rows = 30;
};

int inspect_trace(const InspectOptions& options, std::span<const std::byte> bytes);
// Of a record: which program it is of, and its operators.
int inspect_etrecord(const InspectOptions& options, std::span<const std::byte> bytes);

}  // namespace deuteron
