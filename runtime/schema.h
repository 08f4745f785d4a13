// The letters of Kernel::schema: which kinds of values each one takes.
#pragma once
#include "runtime/kernel.h"

namespace deuteron {

// Whether a value of this kind may stand where the schema has `letter`. Not told apart here: whether a tensor is written or constant, and
// whether the items of a list may be none.
bool takes(char letter, Kind kind);

// "must be a tensor": what is said when it may not.
const char* expected(char letter);

}  // namespace deuteron
