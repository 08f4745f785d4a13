// What the NPU of a target runs of a graph, and why it does not run the rest.
#pragma once
#include <string>
#include <vector>

#include "backends/neutron/external_converter.h"
#include "ir/diagnostic.h"
#include "ir/graph.h"
#include "targets/target.h"

namespace deuteron {

// Who transposes a tensor at the border of the NPU that one side wants channels-last and the other does not: a kernel of the NPU, the CPU
// inside the delegate's call, or whoever needs fewer cycles by the models of both.
enum class FormatConversion : u8 { cheapest, npu, cpu };

// What the user keeps off the NPU, and what does not pay.
struct NpuOptions {
  std::vector<std::string> exclude;  // --neutron-exclude: an operator ("conv2d", "aten.conv2d.default"), a node, or a module of the model
  std::string prefer = "npu";        // --prefer: "npu" or "fastest"
  i64 min_macs = 0;                  // --delegate-min-macs: a connected part with fewer multiply-adds stays on the CPU
  bool fetch_constants = false;      // --fetch-constants-to-sram
  FormatConversion format_conversion = FormatConversion::cheapest;  // --neutron-format-conversion
  bool profile = false;                                             // --profile: the payload asks for an event for each kernel
  neutron::ExternalConverter converter;                             // --neutron-converter; no path: ours
  neutron::RunTool run_tool;                                        // how a child process is run
};

// The checks of a node, in order; the last one is the one that failed, if any did.
std::vector<NpuCheck> npu_checks(const Graph&, const Node&, const Target&, const NpuOptions&);
inline bool passed(const std::vector<NpuCheck>& checks) { return checks.empty() || checks.back().passed; }
bool npu_takes(const Graph&, const Node&, const Target&, const NpuOptions&);

// An exclusion that matches nothing is an error, with the nearest names.
void check_exclusions(const Graph&, const NpuOptions&, Diagnostics&);

// "kernel taps, channels rounded up to the MAC width: 66560, limit 65535 [neutron.conv2d.taps]"
std::string to_text(const NpuCheck&);

}  // namespace deuteron
