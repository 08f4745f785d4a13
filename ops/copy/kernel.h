// A tensor as it lies, somewhere else: how a program writes its state where both have one memory order.
#pragma once
#include <cstdint>

namespace deuteron {

// x and y do not overlap.
void copy_bytes(int32_t bytes, const int8_t* x, int8_t* y);

}  // namespace deuteron
