// SPDX-License-Identifier: Apache-2.0
// The letters of Kernel::schema: which kinds of values each one takes.
#pragma once
#include "runtime/kernel.h"

namespace deuteron {

// Asked for every argument of a program, so it is a table: bits of kinds for each letter, by its
// lower six bits, and those of the tensors that the call writes.
struct KindsOfLetters {
  uint16_t kinds[64];
};
extern const KindsOfLetters kKindsOfLetters;
constexpr uint32_t kWrites = 1u << 15, kIsScratch = 1u << 14;
constexpr uint32_t bit_of(Kind kind) { return 1u << static_cast<int>(kind); }
inline uint32_t kinds_of(char letter) { return kKindsOfLetters.kinds[letter & 63]; }

// Whether a value of this kind may stand where the schema has `letter`. Not told apart here:
// whether a tensor is written or constant, and whether the items of a list may be none.
inline bool takes(char letter, Kind kind) { return (kinds_of(letter) & bit_of(kind)) != 0; }

// Whether it is a tensor that the call writes; of a list, see `W`.
inline bool is_out(char letter) { return letter == 'O' || letter == 'X'; }

// Whether it is a tensor or a list of tensors. Only these letters have it in either case: T and t,
// O, X, V and v, W.
inline bool holds_tensors(char letter) {
  constexpr uint32_t kLetters =
      1u << ('T' & 31) | 1u << ('O' & 31) | 1u << ('X' & 31) | 1u << ('V' & 31) | 1u << ('W' & 31);
  return kLetters >> (letter & 31) & 1;
}

// "must be a tensor": what is said when it may not.
const char* expected(char letter);

}  // namespace deuteron
