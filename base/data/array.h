// SPDX-License-Identifier: Apache-2.0
// Numbers read from a file, before anyone asked what they are for: element type, shape and dense
// row-major bytes of the host.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "base/tensor/type.h"

namespace deuteron {

// The element types of `.npy` that hold real numbers.
struct ElementType {
  char kind = 'f';  // 'f' float, 'i' signed, 'u' unsigned, 'b' truth value
  int bytes = 4;
  bool operator==(const ElementType&) const = default;
};
std::string to_text(ElementType);  // "float32", "uint8", "bool"
ElementType element_of(DType);  // f32 -> float32; bf16 has no element type of `.npy` and is a CHECK

struct Array {
  ElementType type;
  Shape shape;
  std::vector<std::byte> bytes;
  i64 elements() const { return static_cast<i64>(bytes.size()) / type.bytes; }
};

// Element i as a double: exact but for integers beyond 2^53.
double element_as_double(const Array& array, i64 i);
// Element i of an integer or truth array; false when it does not fit (uint64 beyond the range of
// i64) or is a float.
bool element_as_integer(const Array& array, i64 i, i64* value);

// IEEE half precision to single: exact.
float half_to_float(uint16_t half);

}  // namespace deuteron
