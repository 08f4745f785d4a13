// SPDX-License-Identifier: Apache-2.0
// What the user keeps off the NPU, and how what goes there is compiled.
#pragma once
#include <string>
#include <vector>

#include "npu/neutron/vendor/external_converter.h"

namespace deuteron {

// Who transposes a tensor at the border of the NPU that one side wants channels-last and the other
// does not: a kernel of the NPU, the CPU inside the delegate's call, or whoever needs fewer cycles
// by the models of both.
enum class FormatConversion : u8 { cheapest, npu, cpu };

struct NpuOptions {
  std::vector<std::string> exclude;  // --layer NAME=cpu: an operator ("conv2d",
                                     // "aten.conv2d.default"), a node, or a module of the model
  std::string prefer = "npu";        // --prefer: "auto", "npu" or "fastest"
  i64 min_macs = 0;  // delegate_min_macs of a target: a connected part with fewer multiply-adds
                     // stays on the CPU
  bool fetch_constants = false;  // --neutron-option fetch_constants_to_sram=true
  // --neutron-option use_neutron_for_format_conversion=
  FormatConversion format_conversion = FormatConversion::cheapest;
  bool profile = false;                  // --profile: the payload asks for an event for each kernel
  neutron::ExternalConverter converter;  // --neutron-converter; no path: ours
  neutron::RunTool run_tool;             // how a child process is run
};

}  // namespace deuteron
