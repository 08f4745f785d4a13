// Runs the vendor's Neutron converter as a child process in the place of ours: a file in, a file out, and everything that can go wrong
// reported with the step at which it did.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/neutron/extract.h"

namespace deuteron::neutron {

// How a child process ended; as ProcessEnd of boards/watched_process.h, which the tools hand in.
struct ToolEnd {
  int start_error = 0;  // errno of the start
  int exit_code = -1, signal = 0;
  bool timed_out = false;
};
using RunTool = std::function<ToolEnd(const std::vector<std::string>& command, double limit_seconds,
                                      const std::function<void(std::string_view)>& on_line)>;

struct ExternalConverter {
  std::string path;
  std::string target = "imxrt700";  // its name for the machine
  bool fetch_constants_to_sram = false, profile = false;
  std::vector<std::string> arguments;  // more, as the user gave them
  double limit_seconds = 600;
};

struct ExternallyConverted {
  std::vector<u8> model;  // TFLite with a NeutronGraph
  Extracted extracted;
  std::vector<std::string> log;  // the first lines that the tool printed
};

// `inputs`, `outputs`: of the Neutron IR. The temporary files are gone when this returns.
std::optional<ExternallyConverted> convert_externally(std::span<const u8> neutron_ir, i64 inputs, i64 outputs,
                                                      const ExternalConverter& tool, const RunTool& run, Diagnostics& diagnostics);

}  // namespace deuteron::neutron
