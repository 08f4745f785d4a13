// SPDX-License-Identifier: Apache-2.0
// Every operator. A new one adds its header here and its row to ops/operators.inc.
#pragma once
#include <type_traits>
#include <variant>

#include "ops/add/add.h"
#include "ops/affine/affine.h"
#include "ops/avg_pool2d/avg_pool2d.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/clamp/clamp.h"
#include "ops/concat/concat.h"
#include "ops/conv2d/conv2d.h"
#include "ops/conv_transpose2d/conv_transpose2d.h"
#include "ops/cumsum/cumsum.h"
#include "ops/delegate/delegate.h"
#include "ops/dequantize/dequantize.h"
#include "ops/div/div.h"
#include "ops/expand/expand.h"
#include "ops/gather/gather.h"
#include "ops/gru/gru.h"
#include "ops/kernel_call/kernel_call.h"
#include "ops/layer_norm/layer_norm.h"
#include "ops/linear/linear.h"
#include "ops/lstm/lstm.h"
#include "ops/matmul/matmul.h"
#include "ops/max_pool2d/max_pool2d.h"
#include "ops/maximum/maximum.h"
#include "ops/minimum/minimum.h"
#include "ops/mul/mul.h"
#include "ops/op.h"
#include "ops/pad/pad.h"
#include "ops/permute/permute.h"
#include "ops/pointwise/pointwise.h"
#include "ops/prelu/prelu.h"
#include "ops/quantize/quantize.h"
#include "ops/reduce/reduce.h"
#include "ops/reshape/reshape.h"
#include "ops/resize2d/resize2d.h"
#include "ops/rnn/rnn.h"
#include "ops/slice/slice.h"
#include "ops/softmax/softmax.h"
#include "ops/unary/unary.h"

namespace deuteron {

#define OPERATOR(type) type,
using AnyOp = std::variant<
#include "ops/operators.inc"
    Delegate, KernelCall>;

// A struct, so that making, copying, comparing and destroying any of them is compiled once and not
// in every file that holds a node.
struct Op : AnyOp {
  Op();
  template <class T>
  requires(!std::is_base_of_v<AnyOp, T>) Op(T op);
  Op(const Op&);
  Op(Op&&) noexcept;
  Op& operator=(const Op&);
  Op& operator=(Op&&) noexcept;
  ~Op();
  friend bool operator==(const Op&, const Op&);
};

// The OpDef members, for an operator of any kind. A KernelCall has none of them: it is the end of
// lowering; nor has a Delegate, whose body is lowered by its own backend.
std::string_view name_of(const Op&);
Result<std::vector<Type>> infer(const Op&, TypeView in);
std::span<const QuantSpec> quant_specs(const Op&);
i64 macs(const Op&, TypeView in, TypeView out);
void execute(const Op&, std::span<const HostTensor> in, std::span<const HostTensor> out);
Result<Lowered> lower_to_cortex_m(const Op&, const LowerContext&);

// What the NPU takes. Checks come in the order in which they are made and end with the first that
// fails: later ones may rely on it.
std::vector<NpuCheck> npu_checks(const Op&, const NpuOperands&);
std::vector<NpuConstraint> npu_constraints(const Op&, const NpuLimits&);
std::string_view npu_builtin(const Op&);  // empty: it has none
std::span<const QuantSpec> npu_quant_specs(
    const Op&);  // as quant_specs(), for a node that the NPU will run

}  // namespace deuteron
