// SPDX-License-Identifier: Apache-2.0
// Tensors of ExecuTorch from and to those of a program. Both have the same sizes; their axes may
// lie in another order. `sample`: which one, where ExecuTorch's tensor is a batch of them.
#pragma once
#include <executorch/runtime/core/exec_aten/exec_aten.h>

#include "runtime/kernel.h"

namespace deuteron {

// Whether axes lie in the same order, those of one element left aside.
bool same_order(const Tensor& shape, const uint8_t* a, const uint8_t* b);
void copy_in(const Tensor& to, const executorch::aten::Tensor& from, int32_t sample);
void copy_out(const Tensor& from, const executorch::aten::Tensor& to, int32_t sample);

}  // namespace deuteron
