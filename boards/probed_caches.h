// SPDX-License-Identifier: Apache-2.0
// The caches of a core behind a GDB server, as Arm's start-up code switches them on: what they hold
// is invalidated first. Source: Armv7-M ARM (DDI 0403E), B2.2 and B3.2.
#pragma once
#include <string>

#include "boards/gdb_remote.h"

namespace deuteron {

// False: `problem` says why they stay off, or the server's error does.
bool switch_caches_on(GdbRemote& gdb, std::string& problem);

}  // namespace deuteron
