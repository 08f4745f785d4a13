// SPDX-License-Identifier: Apache-2.0
// How large what a model file asks for may be, whatever its format.
#pragma once
#include "base/tensor/type.h"

namespace deuteron {

// of one tensor: products of two such numbers fit 64 bits
inline constexpr i64 kMostElements = i64{1} << 31;
inline constexpr i64 kMostAxes = 16;  // of one tensor: the runtime's kMaxRank
// A few bytes of a model can ask for any number of elements: what no weight of the file pays for
// has this limit, 128 MB of float32.
inline constexpr i64 kMostMadeElements = i64{1} << 25;
// Of a tensor that a file of so many bytes names and does not hold: some tables are as long as an
// axis.
constexpr i64 most_claimed_elements(i64 file_bytes) {
  return file_bytes > 2 * kMostMadeElements ? file_bytes : 2 * kMostMadeElements;
}

}  // namespace deuteron
