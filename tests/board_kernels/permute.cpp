// SPDX-License-Identifier: Apache-2.0
// Cases of permutations, against a loop over all elements: the portable kernel has blocks of its
// own.
#include "kernels/permute/kernel.h"

#include "runtime/instruction_set.h"
#include "tests/board_kernels/case.h"

namespace deuteron {
namespace {

// Up to four dimensions; one in three is long, and one case in ten has a step that 16 lines by 16
// bits do not reach.
void some_extents(Random& r, int32_t (&extent)[4]) {
  constexpr int32_t kMost = 20000;
  const int32_t rank = r.between(1, 4);
  int32_t count = 1;
  for (int32_t k = 4 - rank; k < 4; ++k) {
    const int32_t most = kMost / count;
    const int32_t wanted = r.one_in(3) ? r.between(1, 140) : r.between(1, 9);
    extent[k] = wanted < most ? wanted : most;
    count *= extent[k];
  }
  if (r.one_in(10)) {
    const int32_t k = r.between(0, 3);
    extent[k] = r.between(kMost / 4, kMost * 4) / (count / extent[k]) + 1;
  }
}

}  // namespace

Outcome check_permute(uint32_t seed) {
  Random r(seed);
  PermuteArgs a{{1, 1, 1, 1}, {}};
  some_extents(r, a.extent);
  int32_t order[4] = {0, 1, 2, 3};  // of x, outermost first
  for (int32_t k = 3; k > 0; --k) {
    const int32_t other = r.between(0, k), kept = order[k];
    order[k] = order[other], order[other] = kept;
  }
  int32_t count = 1;
  for (int32_t k = 3; k >= 0; --k) {
    a.step[order[k]] = count;
    count *= a.extent[order[k]];
  }
  for (int32_t k = 0; k < 4; ++k)
    if (a.extent[k] == 1 && r.one_in(2))
      a.step[k] = 0;  // as bind.cpp leaves those that are not there
  const auto bytes = static_cast<uint32_t>(count);
  int8_t* x = (bytes > 20000 || r.one_in(2) ? at_end_of_pool : at_end_of_ram)(bytes);
  for (int32_t i = 0; i < count; ++i) x[i] = static_cast<int8_t>(r.next() >> 8);
  const Guarded expected = guarded(0, bytes), found = guarded(1, bytes, r.between(0, 3));
  Line line("@differs permute ");
  line.number(seed).text(" extent,step");
  for (int32_t k = 0; k < 4; ++k)
    line.text(" ").signed_number(a.extent[k]).text(",").signed_number(a.step[k]);
  int8_t* to = expected.data;
  for (int32_t i = 0; i < a.extent[0]; ++i)
    for (int32_t j = 0; j < a.extent[1]; ++j)
      for (int32_t k = 0; k < a.extent[2]; ++k)
        for (int32_t l = 0; l < a.extent[3]; ++l)
          *to++ = x[i * a.step[0] + j * a.step[1] + k * a.step[2] + l * a.step[3]];
  if constexpr (kHasMve) permute_s8_mve(a, x, found.data);
  else permute_s8(a, x, found.data);
  return compared(expected, found, bytes, nullptr, line);
}

}  // namespace deuteron
