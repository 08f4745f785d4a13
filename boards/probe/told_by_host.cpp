// SPDX-License-Identifier: Apache-2.0
// What the host writes into the image before it uploads it. Where these are read the compiler must
// not know their values: a file of their own.
#include "boards/probe/map.h"

extern "C" {
extern const deuteron::Region deuteron_pool[4] = {};
extern const uint32_t deuteron_clock_hz = 0;
extern const uint32_t deuteron_clock_kind = 0;
extern int32_t (*const deuteron_agent)(uint32_t number, const void* block) = nullptr;
}
