// SPDX-License-Identifier: Apache-2.0
// The elements of a tensor as numbers on the host, and back; and how minus infinity is written.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "base/tensor/type.h"

namespace deuteron {

// `elements`: dense, in storage order, of any alignment. Where the type has quantization
// parameters, the numbers are real.
std::vector<float> numbers_of(const void* elements, const Type& type);

// Rounds to the grid where the type has parameters (per tensor); else converts as C++ does.
std::vector<std::byte> elements_of(std::span<const float> numbers, const Type& type);

// Below it every integer, and its opposite, is a number of numbers_of.
inline constexpr float kExactIntegers = 1 << 24;

// Minus infinity in the constants of a graph: what a mask gives to scores that must not count. As a
// float so far below everything that softmax makes 0 of it, exactly, and that it can be added to
// and multiplied by 0 without becoming NaN; as int8 the most negative step. What is below
// kMaskedBelow is meant as minus infinity, whatever was added to it.
inline constexpr float kMinusInfinity = -1e30f, kMaskedBelow = -1e20f;

}  // namespace deuteron
