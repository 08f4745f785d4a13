// SPDX-License-Identifier: Apache-2.0
// Tensors of ExecuTorch from and to those of a program. Both have the same sizes; their axes may
// lie in another order.
#pragma once
#include <executorch/runtime/core/exec_aten/exec_aten.h>

#include "runtime/kernel.h"

namespace deuteron {

void copy_in(const Tensor& to, const executorch::aten::Tensor& from);
void copy_out(const Tensor& from, const executorch::aten::Tensor& to);

}  // namespace deuteron
