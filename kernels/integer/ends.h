// SPDX-License-Identifier: Apache-2.0
// The smallest and the largest of some int8: with the DSP extension four at a time.
#pragma once
#include "kernels/integer/extremes_words.h"
#include "kernels/integer/words.h"

namespace deuteron {

struct Ends {
  int32_t least, most;
};
inline void reach(Ends& ends, int32_t v) {
  if (v < ends.least) ends.least = v;
  if (v > ends.most) ends.most = v;
}

// count >= 1
inline Ends ends_of(const int8_t* x, int32_t count) {
  Ends ends{*x, *x};
#if defined(DEUTERON_DSP)
  uint32_t least = four_times(*x), most = least;
  for (; count >= 4; count -= 4, x += 4) {
    const uint32_t word = four_at(x);
    least = smaller_bytes(word, least), most = larger_bytes(word, most);
  }
  for (int k = 0; k < 4; ++k, least >>= 8, most >>= 8)
    reach(ends, static_cast<int8_t>(least)), reach(ends, static_cast<int8_t>(most));
#endif
  for (; count > 0; --count) reach(ends, *x++);
  return ends;
}

}  // namespace deuteron
