// SPDX-License-Identifier: Apache-2.0
#include "tests/board_kernels/case.h"

#include <cstring>

#include "runtime/ports/board.h"

namespace deuteron {
namespace {

constexpr uint32_t kGuard = 64, kRoom = 1 << 18;
constexpr int8_t kFill = 0x5a;

}  // namespace

int8_t* at_end_of_pool(uint32_t bytes) {
  return reinterpret_cast<int8_t*>(kPool[0].base + kPool[0].bytes - bytes);
}
int8_t* at_end_of_ram(uint32_t bytes) {
  return reinterpret_cast<int8_t*>(kRam.base + kRam.bytes - bytes);
}

Guarded guarded(int which, uint32_t bytes, int32_t misalignment) {
  int8_t* begin = reinterpret_cast<int8_t*>(kPool[0].base + static_cast<uint32_t>(which) * kRoom);
  if (bytes + 2 * kGuard + 3 > kRoom) __builtin_trap();  // would lie over the next one
  std::memset(begin, kFill, bytes + 2 * kGuard + static_cast<uint32_t>(misalignment));
  return {begin + kGuard + misalignment, bytes};
}

bool guards_hold(const Guarded& g) {
  for (uint32_t i = 0; i < kGuard; ++i)
    if (g.data[-1 - static_cast<int32_t>(i)] != kFill || g.data[g.bytes + i] != kFill) return false;
  return true;
}

bool same_bytes(const Guarded& a, const Guarded& b, uint32_t bytes, int32_t* where) {
  for (uint32_t i = 0; i < bytes; ++i)
    if (a.data[i] != b.data[i]) {
      *where = static_cast<int32_t>(i);
      return false;
    }
  return true;
}

void fill_bytes(Random& r, int8_t* to, int32_t count) {
  const int32_t way = r.between(0, 5);
  for (int32_t i = 0; i < count; ++i) {
    const uint32_t v = r.next() >> 8;
    to[i] = static_cast<int8_t>(way == 0 ? (v & 1 ? -128 : 127) : way == 1 ? -128 : v);
  }
}

LayerOperands some_layer(Random& r, int32_t xs, int32_t weights) {
  const bool swap = r.one_in(2);
  int8_t* const x = (swap ? at_end_of_ram : at_end_of_pool)(static_cast<uint32_t>(xs));
  int8_t* const weight = (swap ? at_end_of_pool : at_end_of_ram)(static_cast<uint32_t>(weights));
  fill_bytes(r, x, xs);
  fill_bytes(r, weight, weights);
  return {x, weight};
}

void end_rows_with(Random& r, int32_t number, int8_t* x, int32_t rows, int32_t length) {
  for (int32_t row = 0; row < rows; ++row, x += length) {
    if (r.one_in(2)) continue;
    for (int32_t i = r.one_in(4) ? 0 : r.between(0, length); i < length; ++i)
      x[i] = static_cast<int8_t>(number);
  }
}

void fill_sums(Random& r, int32_t* to, int32_t count) {
  const int32_t way = r.between(0, 7);
  for (int32_t i = 0; i < count; ++i) {
    const int32_t v = static_cast<int32_t>(r.next());
    to[i] = way == 0 ? v : way == 1 ? (v & 1 ? INT32_MIN : INT32_MAX) : v >> 16;
  }
}

void fill_scales(Random& r, int32_t* multiplier, int32_t* shift, int32_t count) {
  const int32_t way = r.between(0, 9);
  for (int32_t i = 0; i < count; ++i) {
    multiplier[i] = static_cast<int32_t>(r.next() >> 1) | (way == 9 ? 0 : 1 << 30);
    if (way == 8 && r.one_in(2)) multiplier[i] = -multiplier[i];
    if (way < 3) multiplier[i] >>= r.between(0, 12);  // small scales, which need no shift
    shift[i] = way < 3 ? 0 : way < 7 ? -r.between(0, 12) : -r.between(0, 31);
  }
  if (r.one_in(40)) shift[r.between(0, count - 1)] = r.between(1, 30);
}

int32_t a_zero(Random& r) {
  constexpr int32_t kEnds[] = {-128, 127, 0, -1};
  return r.one_in(2) ? r.of(kEnds) : r.between(-128, 127);
}

void bounds(Random& r, int32_t* low, int32_t* high) {
  *low = -128, *high = 127;
  if (!r.one_in(3)) return;
  *low = r.between(-128, 127);
  *high = r.between(*low, 127);
}

Outcome compared(const Guarded& expected, const Guarded& found, uint32_t bytes,
                 const Guarded* scratch, Line& line) {
  int32_t where = 0;
  const char* what = nullptr;
  if (!same_bytes(expected, found, bytes, &where)) what = " differs at ";
  else if (!guards_hold(found)) what = " wrote beside its output ";
  else if (scratch && !guards_hold(*scratch)) what = " wrote beside its scratch ";
  if (!what) return Outcome::same;
  line.text(what)
      .signed_number(where)
      .text(" expected ")
      .signed_number(expected.data[where])
      .text(" found ");
  line.signed_number(found.data[where]).print();
  return Outcome::different;
}

}  // namespace deuteron
