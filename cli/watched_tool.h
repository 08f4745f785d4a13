// SPDX-License-Identifier: Apache-2.0
// The vendor's Neutron converter as a watched process: what convert_externally() runs it with.
#pragma once
#include "boards/watched_process.h"
#include "npu/neutron/vendor/external_converter.h"

namespace deuteron {

inline neutron::RunTool watched_tool() {
  return [](const std::vector<std::string>& command, const std::string& folder,
            double limit_seconds, const std::function<void(std::string_view)>& on_line) {
    const auto take = [&](std::string_view line) {
      on_line(line);
      return false;
    };
    const ProcessEnd end = run_watched(command, {}, limit_seconds, take, HostFiles::open, folder);
    return neutron::ToolEnd{end.start_error, end.exit_code, end.signal, end.timed_out};
  };
}

}  // namespace deuteron
