// SPDX-License-Identifier: Apache-2.0
// The verbs inside another program: the same options and the same code as on the command line, with
// nothing printed.
#pragma once
#include <string>
#include <vector>

#include "base/watch.h"
#include "cli/command_line.h"
#include "cli/verb.h"

namespace deuteron {

// `arguments`: the verb first. Runs in the calling thread under `watch`. Throws Interrupted when
// that says so, Fault and what else the standard library throws where the program would end with
// kOurFault. Thread-safe. A --timeout ends the whole process: leave it out.
VerbEnd run_verb_here(const std::vector<std::string>& arguments, Watch& watch);

std::vector<OptionFacts> options_of_verb(const std::string& verb);

}  // namespace deuteron
