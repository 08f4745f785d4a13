// SPDX-License-Identifier: Apache-2.0
// Every verb of the command line, in the order of its help.
#include "cli/command_line.h"
#include "cli/verb.h"

namespace deuteron {

void add_verbs(CommandLine& line) {
  for (auto add : {add_analyze, add_doctor, add_compile, add_run, add_profile, add_evaluate,
                   add_compare, add_inspect, add_firmware, add_flash, add_monitor, add_sign,
                   add_targets, add_calibrate_target, add_ops, add_report_bug, add_help})
    add(line);
}

}  // namespace deuteron
