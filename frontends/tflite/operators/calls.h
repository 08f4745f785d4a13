// SPDX-License-Identifier: Apache-2.0
// Calls of portable kernels, for what has no operator of its own: truth values, plain integers,
// functions without an int8 form.
#pragma once
#include "frontends/tflite/call/call.h"

namespace deuteron::tflite {

struct KernelName {
  const char *name, *overload;  // "aten::eq", "Tensor_out"
};
// name(operands.., more.., out), the operands broadcast to each other; the result in steps, if it
// has any.
ValueId call_broadcast(Call& c, KernelName kernel, std::vector<ValueId> operands, DType dtype,
                       std::string_view suffix = {}, std::vector<KernelArg> more = {},
                       const Quant& quant = {});
// name(x, more.., out)
ValueId call_on(Call& c, KernelName kernel, ValueId x, std::vector<KernelArg> more, Type result,
                std::string_view suffix = {});
KernelArg integer_argument(i64 value);
KernelArg truth_argument(bool value);
KernelArg integers_argument(std::vector<i64> values);

// Integers and truths of several types become those of the widest: positions are int64 here, where
// the file says int32.
void make_one_type(Call& c, std::vector<ValueId>& values);
// To another type of numbers, as C++ converts: towards zero, and what is not 0 is true.
ValueId converted(Call& c, ValueId x, DType to, std::string_view suffix = {});

// Vectors [.., n] of computed positions of the first n axes, as numbers of rows [..].
ValueId row_numbers(Call& c, ValueId positions, const Shape& of);
// x, where row at[k] of an axis is row k of `rows`, or has it added.
ValueId written_at(Call& c, ValueId x, ValueId at, ValueId rows, i64 axis, bool adds);

// float32 where one of them is, else int64, int32, truth values.
DType common_type(Call& c, const std::vector<ValueId>& values);
// Operand 0 is of integers without a scale.
bool is_of_integers(Call& c, size_t operand = 0);
// A function of all operands, in integers. A fused activation is refused.
void finish_integers(Call& c, KernelName kernel, std::vector<KernelArg> more = {});
void refuse_activation(Call& c, ActivationFunctionType activation);

}  // namespace deuteron::tflite
