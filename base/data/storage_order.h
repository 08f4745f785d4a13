// SPDX-License-Identifier: Apache-2.0
// Between the order in which the user writes a tensor (row-major in its own axes) and the order in
// which it lies in memory.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "base/tensor/type.h"

namespace deuteron {

// `sizes` are the user's; order[k] is the user's axis at storage position k. `width` is the bytes
// of one element.
std::vector<std::byte> to_storage_order(std::span<const std::byte> user, const Shape& sizes,
                                        const Axes& order, i64 width);
std::vector<std::byte> to_user_order(std::span<const std::byte> stored, const Shape& sizes,
                                     const Axes& order, i64 width);

}  // namespace deuteron
