// SPDX-License-Identifier: Apache-2.0
// The smallest and the largest of some int8: with the DSP extension four at a time.
#pragma once
#include "kernels/integer/extremes_words.h"
#include "kernels/integer/words.h"

namespace deuteron {

struct Ends {
  int32_t least, most;
};

// count >= 1
inline Ends ends_of(const int8_t* x, int32_t count) {
#if defined(DEUTERON_DSP)
  if (count >= 4) {
    const int8_t* const last = x + count - 4;  // may overlap the word before it
    uint32_t least = four_at(last), most = least;
    const auto meet = [&](uint32_t word) {
      least = smaller_bytes(word, least), most = larger_bytes(word, most);
    };
    for (; last - x > 4; x += 8) meet(four_at(x)), meet(four_at(x + 4));
    if (x < last) meet(four_at(x));
    for (int bits = 16; bits >= 8; bits /= 2) {
      least = smaller_bytes(least, least >> bits | least << (32 - bits));
      most = larger_bytes(most, most >> bits | most << (32 - bits));
    }
    return {static_cast<int8_t>(least), static_cast<int8_t>(most)};
  }
#endif
  Ends ends{*x, *x};
#pragma GCC unroll 1
  while (--count > 0) {
    const int32_t v = *++x;
    if (v < ends.least) ends.least = v;
    if (v > ends.most) ends.most = v;
  }
  return ends;
}

}  // namespace deuteron
