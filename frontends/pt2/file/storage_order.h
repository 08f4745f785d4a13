// SPDX-License-Identifier: Apache-2.0
// In which order a tensor's axes lie in memory, read from its strides.
#pragma once
#include <span>

#include "base/tensor/type.h"

namespace deuteron::pt2 {

// order[k] is the axis that lies at storage position k, outermost first. Axes of extent 1 may lie
// anywhere: 0,1,2,.. is preferred, then channels last (0,2,3,1), then before all others.
Axes storage_order(std::span<const i64> sizes, std::span<const i64> strides);

// Without gaps and without two elements in one place, in that order.
bool is_dense(std::span<const i64> sizes, std::span<const i64> strides, const Axes& order);

bool is_identity(const Axes& order);
Axes inverse(const Axes& order);                        // of a permutation
Shape permuted(const Shape& shape, const Axes& order);  // result[k] = shape[order[k]]

}  // namespace deuteron::pt2
