// SPDX-License-Identifier: Apache-2.0
// See counter.h. What a stamp is, the core says (runtime/ports/*/stamp.cpp).
#include "runtime/ports/counter.h"

namespace deuteron {
namespace {

[[gnu::noinline]] uint64_t raw_count(void (*function)(void*), void* argument) {
  static Stamp before, after;
  read_stamp(&before);
  function(argument);
  read_stamp(&after);
  return between(before, after);
}

Stamp* parts = nullptr;  // two for each part
uint32_t parts_most = 0, parts_used = 0;

void part_of_nothing(void*) { count_part(do_nothing, nullptr); }

}  // namespace

void use_parts(void* memory, uint32_t bytes) {
  parts = static_cast<Stamp*>(memory);
  parts_most = memory ? bytes / kPartBytes : 0;
  parts_used = 0;
}

[[gnu::noinline]] void count_part(void (*function)(void*), void* argument) {
  if (parts_used == parts_most) return function(argument);
  Stamp* const stamps = parts + 2 * parts_used++;
  read_stamp(&stamps[0]);
  function(argument);
  read_stamp(&stamps[1]);
}

Parts take_parts() {
  Parts sum;
  const uint32_t used = parts_used;
  if (used == 0) return sum;
  const uint64_t own = raw_count(do_nothing, nullptr) - 1;
  for (uint32_t k = 0; k < used; k++)
    sum.instructions += between(parts[2 * k], parts[2 * k + 1]) - own;
  parts_used = 0;
  sum.overhead = used * (count_instructions(part_of_nothing, nullptr) - 1);
  parts_used = 0;
  return sum;
}

uint64_t count_instructions(void (*function)(void*), void* argument) {
  const uint64_t own = raw_count(do_nothing, nullptr) - 1;
  return raw_count(function, argument) - own;
}

}  // namespace deuteron
