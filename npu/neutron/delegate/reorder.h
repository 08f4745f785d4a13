// SPDX-License-Identifier: Apache-2.0
// Copies a tensor from one memory order to another: the transposition flags of Neutron payloads.
#pragma once
#include "runtime/kernel.h"

namespace deuteron {

// The order that a Neutron payload means: of the logical sizes, or with dimension 1 last.
void payload_order(int32_t rank, bool channels_last, uint8_t* order);

// Whether both put the elements in the same places: dimensions of extent 1 do not count.
bool is_same_order(const Tensor& t, const uint8_t* order_a, const uint8_t* order_b);

// `from` and `to` do not overlap; both hold all elements of `t` without gaps.
void copy_reordered(const Tensor& t, const uint8_t* from_order, const uint8_t* to_order,
                    const void* from, void* to);

}  // namespace deuteron
