// SPDX-License-Identifier: Apache-2.0
// Numbers that look random and are the same on every machine.
#pragma once
#include <cstdint>

namespace deuteron {

// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014): any state
// will do.
inline uint64_t split_mix64(uint64_t& state) {
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace deuteron
