// SPDX-License-Identifier: Apache-2.0
// Portable kernels that do no arithmetic: they move numbers as they are, or only compare them. They
// do that with steps of one scale and zero point as they do it with numbers, so that nothing of
// them needs float.
#pragma once
#include <optional>
#include <span>

#include "base/tensor/axes.h"
#include "ops/kernel_call/kernel_call.h"

namespace deuteron {

enum class NumberUse : u8 {
  moved,     // each number of the first result is one of the operands'; other results are positions
  compared,  // the result says how the operands stand to each other
  converted,  // true and false become 1 and 0
};
struct NumberCall {
  std::string_view name;  // "aten::where"
  NumberUse use;
  std::vector<size_t> operands;  // the inputs of the node that hold the numbers
  std::optional<double> number;  // what they are compared with, where that is no operand
};
// Nothing for any other kernel, or for none (null).
std::optional<NumberCall> number_call(const KernelCall* call);

// Whether the call works along one axis (gather, scatter, index_put), and every tensor of it but an
// index in a list has the axes of the result.
bool works_along_axis(const KernelCall& call);
// Such a call of operands that are no longer permuted by `perm`, for a result that is not, either.
KernelCall before_permute(const KernelCall& call, const Axes& perm);

// How the call sees an operand of its node, and its first result; null: it does not name it.
const Face* face_of_operand(const KernelCall& call, size_t operand);
const Face* face_of_result(const KernelCall& call, size_t result = 0);

}  // namespace deuteron
