// SPDX-License-Identifier: Apache-2.0
// Kernels that look elements up or move them.
#include <cstring>

#include "kernels/copy/kernel.h"
#include "kernels/pad/kernel.h"
#include "kernels/unary/kernel.h"
#include "runtime/instruction_set.h"
#include "tests/board_kernels/case.h"

namespace deuteron {

// Against a loop over all elements, as the cases behind it.
Outcome check_lookup(uint32_t seed) {
  Random r(seed);
  const int32_t count = r.one_in(4) ? r.between(0, 3000) : r.between(1, 70);
  int8_t *const x = at_end_of_pool(static_cast<uint32_t>(count)), *const table = at_end_of_ram(256);
  fill_bytes(r, x, count);
  fill_bytes(r, table, 256);
  const Guarded expected = guarded(0, static_cast<uint32_t>(count)),
                found = guarded(1, static_cast<uint32_t>(count), r.between(0, 3));
  Line line("@differs lookup ");
  line.number(seed).text(" count ").signed_number(count);
  for (int32_t i = 0; i < count; ++i) expected.data[i] = table[x[i] + 128];
  if constexpr (kHasMve) lookup_s8_mve(count, table, x, found.data);
  else lookup_s8(count, table, x, found.data);
  return compared(expected, found, static_cast<uint32_t>(count), nullptr, line);
}

// The kernel has no other form, but its rows are copied otherwise on each core.
Outcome check_copy(uint32_t seed) {
  Random r(seed);
  StridesArgs a{};
  int32_t elements = 1, reach_in = 0, reach_out = 0;
  a.element_bytes = 1 << r.between(0, 3);
  for (int k = kCopyDimensions - 1; k >= 0; --k) {
    a.size[k] = k < kCopyDimensions - 3 && r.one_in(2)
                    ? 1
                    : r.between(1, k == kCopyDimensions - 1 && r.one_in(2) ? 90 : 5);
    a.in_step[k] = k == kCopyDimensions - 1 && !r.one_in(4)
                       ? 1
                       : reach_in + 1 + (r.one_in(2) ? 0 : r.between(0, 3));
    a.out_step[k] = k == kCopyDimensions - 1 && !r.one_in(4)
                        ? 1
                        : reach_out + 1 + (r.one_in(2) ? 0 : r.between(0, 3));
    reach_in += (a.size[k] - 1) * a.in_step[k], reach_out += (a.size[k] - 1) * a.out_step[k];
    elements *= a.size[k];
  }
  const int32_t xs = (reach_in + 1) * a.element_bytes, ys = (reach_out + 1) * a.element_bytes;
  if (xs > 1 << 16 || ys > 1 << 16) return Outcome::not_served;
  int8_t* const x = at_end_of_pool(static_cast<uint32_t>(xs));
  fill_bytes(r, x, xs);
  const Guarded expected = guarded(0, static_cast<uint32_t>(ys)),
                found = guarded(1, static_cast<uint32_t>(ys));
  std::memset(expected.data, 0, static_cast<size_t>(ys));
  std::memset(found.data, 0, static_cast<size_t>(ys));
  Line line("@differs copy ");
  line.number(seed).text(" bytes ").signed_number(a.element_bytes).text(" size,in,out");
  for (int k = 0; k < kCopyDimensions; ++k)
    line.text(" ")
        .signed_number(a.size[k])
        .text(" ")
        .signed_number(a.in_step[k])
        .text(" ")
        .signed_number(a.out_step[k]);
  for (int32_t e = 0; e < elements; ++e) {
    int32_t rest = e, from = 0, to = 0;
    for (int k = kCopyDimensions - 1; k >= 0; --k) {
      from += rest % a.size[k] * a.in_step[k], to += rest % a.size[k] * a.out_step[k];
      rest /= a.size[k];
    }
    std::memcpy(expected.data + to * a.element_bytes, x + from * a.element_bytes,
                static_cast<size_t>(a.element_bytes));
  }
  copy_strided(a, x, found.data);
  return compared(expected, found, static_cast<uint32_t>(ys), nullptr, line);
}

Outcome check_pad(uint32_t seed) {
  Random r(seed);
  PadArgs a{};
  int32_t xs = 0, ys = 0;
  do {
    xs = ys = 1;
    for (int k = 0; k < 4; ++k) {
      a.in[k] = k == 3 ? r.between(0, 80) : r.between(1, 6),
      a.before[k] = r.one_in(2) ? 0 : r.between(0, k == 3 ? 40 : 3);
      a.after[k] = r.one_in(2) ? 0 : r.between(0, k == 3 ? 40 : 3);
      xs *= a.in[k], ys *= a.before[k] + a.in[k] + a.after[k];
    }
  } while (ys > 1 << 16);
  a.value = static_cast<int8_t>(r.next());
  int8_t* const x = at_end_of_pool(static_cast<uint32_t>(xs));
  fill_bytes(r, x, xs);
  const Guarded expected = guarded(0, static_cast<uint32_t>(ys)),
                found = guarded(1, static_cast<uint32_t>(ys), r.between(0, 3));
  Line line("@differs pad ");
  line.number(seed).text(" in,before,after");
  for (int k = 0; k < 4; ++k)
    line.text(" ")
        .signed_number(a.in[k])
        .text(" ")
        .signed_number(a.before[k])
        .text(" ")
        .signed_number(a.after[k]);
  const auto lies_in = [&](int k, int32_t at) {
    return at >= a.before[k] && at < a.before[k] + a.in[k];
  };
  const auto whole = [&](int k) { return a.before[k] + a.in[k] + a.after[k]; };
  const int8_t* from = x;
  int8_t* to = expected.data;
  for (int32_t i = 0; i < whole(0); ++i)
    for (int32_t j = 0; j < whole(1); ++j)
      for (int32_t k = 0; k < whole(2); ++k)
        for (int32_t l = 0; l < whole(3); ++l)
          *to++ =
              lies_in(0, i) && lies_in(1, j) && lies_in(2, k) && lies_in(3, l) ? *from++ : a.value;
  if constexpr (kHasMve) pad_s8_mve(a, x, found.data);
  else pad_s8(a, x, found.data);
  return compared(expected, found, static_cast<uint32_t>(ys), nullptr, line);
}

}  // namespace deuteron
