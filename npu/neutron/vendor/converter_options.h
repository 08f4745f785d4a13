// SPDX-License-Identifier: Apache-2.0
// The options of the vendor's converter. ExecuTorch sets them by the names of the Python module
// (minNumOpsPerGraph); its command line has the same words with hyphens (--min-num-ops-per-graph).
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"

namespace deuteron::neutron {

struct ConverterOption {
  std::string name, value;  // "excludeGraphPasses", "MergeTranspose"; "true" and "false" are for
                            // options without a value
  bool operator==(const ConverterOption&) const = default;
};

// "minNumOpsPerGraph=1", or "min-num-ops-per-graph=1", or a name alone for "true". Refused: what
// the compiler itself sets.
std::optional<ConverterOption> read_converter_option(std::string_view text,
                                                     Diagnostics& diagnostics);

// Those of ExecuTorch's flow, and the dumps that the map is read from.
std::vector<ConverterOption> default_converter_options();

// A later option of the same name replaces an earlier one.
void set_option(std::vector<ConverterOption>& options, const ConverterOption& option);

std::vector<std::string> arguments_of(std::span<const ConverterOption> options);

}  // namespace deuteron::neutron
