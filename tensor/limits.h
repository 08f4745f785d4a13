// How large what a model file asks for may be, whatever its format.
#pragma once
#include "tensor/type.h"

namespace deuteron {

inline constexpr i64 kMostElements = i64{1} << 31;  // of one tensor: products of two such numbers fit 64 bits
// A few bytes of a model can ask for any number of elements: what no weight of the file pays for has this limit, 128 MB of float32.
inline constexpr i64 kMostMadeElements = i64{1} << 25;

}  // namespace deuteron
