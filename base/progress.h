// SPDX-License-Identifier: Apache-2.0
// Where a program of its own shows how far its work is: what note_progress is told in a thread that
// has no Watch (base/watch.h).
#pragma once
#include <cstdint>
#include <string_view>

namespace deuteron {

// Called from any thread. Before the work; null, as at first: nowhere.
void show_progress_by(void (*show)(std::string_view what, int64_t done, int64_t total));

}  // namespace deuteron
