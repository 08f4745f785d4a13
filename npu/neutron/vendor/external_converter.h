// SPDX-License-Identifier: Apache-2.0
// Runs the vendor's Neutron converter as a child process in the place of ours: a file in, a file
// and a text out. Everything that can go wrong is reported with the step at which it did, and the
// result is held against what was asked for.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "npu/neutron/converter/extract.h"
#include "npu/neutron/vendor/converter_options.h"
#include "npu/neutron/vendor/kernel_map.h"

namespace deuteron::neutron {

// How a child process ended; as ProcessEnd of boards/watched_process.h, which the tools hand in.
struct ToolEnd {
  int start_error = 0;  // errno of the start
  int exit_code = -1, signal = 0;
  bool timed_out = false;
};
// `folder`: where it works, and leaves what it writes beside its result.
using RunTool = std::function<ToolEnd(const std::vector<std::string>& command,
                                      const std::string& folder, double limit_seconds,
                                      const std::function<void(std::string_view)>& on_line)>;

struct ExternalConverter {
  std::string path;
  bool fetch_constants_to_sram = false, profile = false, kernel_selection = false;
  std::vector<ConverterOption> options;  // the user's; they replace those of the flow
  double limit_seconds = 600;
};

struct ExternallyConverted {
  std::vector<u8> model;         // TFLite with a NeutronGraph
  Extracted extracted;           // its ports in the order of what was given
  std::optional<KernelMap> map;  // none: its text names no kernels
  std::string kernel_selection;  // its own C file for the vendor's firmware; empty: not asked for,
                                 // or not written
  std::vector<std::string> log;  // the last lines that the tool printed
};

// The temporary files are gone when this returns. `text_file`: where what the converter prints is
// kept; empty: nowhere.
std::optional<ExternallyConverted> convert_externally(std::span<const u8> neutron_ir,
                                                      const ExternalConverter& tool,
                                                      const RunTool& run,
                                                      const std::string& text_file,
                                                      Diagnostics& diagnostics);

}  // namespace deuteron::neutron
