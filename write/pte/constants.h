// SPDX-License-Identifier: Apache-2.0
// The constant segment of a program: every constant 16-aligned, equal bytes once, a constant with
// which another one begins not at all.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace deuteron {

inline constexpr int64_t kConstantAlignment = 16;

// By constant: the index of the one whose bytes it shares, itself or a longer one.
std::vector<size_t> constant_homes(std::span<const std::span<const std::byte>> constants);

struct ConstantSegment {
  uint64_t bytes = 0;  // not padded at its end
  std::vector<uint64_t>
      offsets;  // of each constant; in the order of their first uses they only grow
};
ConstantSegment lay_out_constants(std::span<const std::span<const std::byte>> constants);
// `to`: as many bytes as the segment has, all 0.
void write_constants(std::span<const std::span<const std::byte>> constants,
                     const ConstantSegment& segment, uint8_t* to);

}  // namespace deuteron
