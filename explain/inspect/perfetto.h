// SPDX-License-Identifier: Apache-2.0
// A profile as a trace for ui.perfetto.dev and chrome://tracing: the JSON "Trace Event Format",
// object form.
#pragma once
#include <string>

#include "explain/inspect/profile.h"

namespace deuteron {

// Tracks: CPU, NPU (where there is one), and a counter of the bytes of planned memory alive (with a
// map). Microseconds; where the clock does not tell its rate, or counts instructions, one tick is
// drawn as one microsecond, and the file says so.
std::string perfetto_json(const Profile& profile, const SourceMap* map);

// By call of the program: bytes of all planned memories alive while it runs.
std::vector<i64> alive_by_call(const SourceMap& map);

}  // namespace deuteron
