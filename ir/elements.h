// The elements of a tensor as numbers on the host, and back.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "ir/type.h"

namespace deuteron {

// `elements`: dense, in storage order, of any alignment. Where the type has quantization parameters, the numbers are real.
std::vector<float> numbers_of(const void* elements, const Type& type);

// Rounds to the grid where the type has parameters (per tensor); else converts as C++ does.
std::vector<std::byte> elements_of(std::span<const float> numbers, const Type& type);

}  // namespace deuteron
