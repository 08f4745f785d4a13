// The letters of Kernel::schema: which kinds of values each one takes.
#pragma once
#include "runtime/kernel.h"

namespace deuteron {

// Whether a value of this kind may stand where the schema has `letter`. Not told apart here: whether a tensor is written or constant, and
// whether the items of a list may be none.
bool takes(char letter, Kind kind);

// Whether it is a tensor that the call writes; of a list, see `W`.
inline bool is_out(char letter) { return letter == 'O' || letter == 'X'; }

// "must be a tensor": what is said when it may not.
const char* expected(char letter);

}  // namespace deuteron
