// SPDX-License-Identifier: Apache-2.0
// Cases of softmax.
#include "kernels/softmax/reference.h"

#include <cstring>
#include <initializer_list>

#include "runtime/instruction_set.h"
#include "tests/board_kernels/case.h"

namespace deuteron {
namespace {

// All that bind.cpp takes, and more often what a compiler writes.
void some_scale(Random& r, SoftmaxArgs& a) {
  constexpr int32_t kMultipliers[] = {0, 1, 1 << 30, INT32_MAX};
  constexpr int32_t kDiffMins[] = {0, -1, -255, -256, INT32_MIN};
  a.shift = r.one_in(2) ? r.between(18, 24) : r.between(0, 31);
  a.multiplier = r.one_in(6) ? r.of(kMultipliers) : static_cast<int32_t>(r.next() >> 1);
  if (r.one_in(2)) a.multiplier |= 1 << 30;
  // differences that stay within int32
  const int32_t most = a.shift > 23 ? 1 << (31 - a.shift) : 255;
  a.diff_min = r.one_in(3) && a.shift <= 23 ? r.of(kDiffMins)
               : r.one_in(3)                ? -most
                                            : -r.between(0, most);
}

}  // namespace

Outcome check_softmax(uint32_t seed) {
  Random r(seed);
  SoftmaxArgs a{};
  a.rows = r.between(1, 4), a.columns = r.between(1, r.one_in(2) ? 20 : 200);
  if (r.one_in(10)) a.columns = r.between(500, r.one_in(5) ? 9000 : 1100);
  if (r.one_in(10)) a.rows = r.between(20, 60), a.columns = r.between(1, 9);
  some_scale(r, a);
  const int32_t count = a.rows * a.columns;
  const auto bytes = static_cast<uint32_t>(count);
  int8_t* x = at_end_of_pool(bytes);
  fill_bytes(r, x, count);
  if (r.one_in(3))  // near each other, so that there is more than one probability
    for (int32_t i = 0, right = r.between(1, 5); i < count; ++i)
      x[i] = static_cast<int8_t>(x[i] >> right);
  const Guarded expected = guarded(0, bytes), found = guarded(1, bytes, r.between(0, 3));
  Line line("@differs softmax ");
  line.number(seed).text(" rows,columns,multiplier,shift,diff_min");
  for (const int32_t v : {a.rows, a.columns, a.multiplier, a.shift, a.diff_min})
    line.text(" ").signed_number(v);
  const bool in_place = r.one_in(3);
  if (in_place) std::memcpy(found.data, x, bytes);
  if constexpr (kHasMve) {
    softmax_s8(a, x, expected.data);
    softmax_s8_mve(a, in_place ? found.data : x, found.data);
  } else {  // the portable one has instructions of the core too
    if (count > 300 || !r.one_in(4))
      return Outcome::not_served;  // the definition divides numbers of 64 bits
    softmax_reference(a, x, expected.data);
    softmax_s8(a, in_place ? found.data : x, found.data);
  }
  return compared(expected, found, bytes, nullptr, line);
}

}  // namespace deuteron
