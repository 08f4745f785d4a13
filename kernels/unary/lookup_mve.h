// SPDX-License-Identifier: Apache-2.0
// Table lookup for the M-profile Vector Extension, of any number of elements.
#pragma once
#include <cstdint>

namespace deuteron {

extern "C" void deuteron_lookup_mve(int32_t count, const int8_t* table, const int8_t* x, int8_t* y);

}  // namespace deuteron
