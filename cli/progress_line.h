// SPDX-License-Identifier: Apache-2.0
// A line on standard error, rewritten in place, that says where work is that takes longer than a
// second: "quantize, 8 of 25, 4 s". Where that is no terminal, or with -q, there is none.
#pragma once

namespace deuteron {

void begin_progress_line();  // in main: from now on note_progress is shown
void end_progress_line();    // takes it away for good: the verb prints its result
// Standard error is a terminal that understands escapes.
bool has_terminal();

}  // namespace deuteron
