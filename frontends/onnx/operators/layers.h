// SPDX-License-Identifier: Apache-2.0
// Layers with a weight, as their float and their integer forms share them: the operands are
// float32, the attributes the node's.
#pragma once
#include "frontends/onnx/call/call.h"

namespace deuteron::onnx {

Operand convolved(Call& c, const Operand& x, const Operand& weight, const Operand& bias,
                  std::string_view suffix);
// Without padding.
Operand convolved_inside(Call& c, const Operand& x, const Operand& weight, const Operand& bias,
                         const std::vector<i64>& stride, const std::vector<i64>& dilation,
                         i64 groups, std::string_view suffix);
Operand fully_connected(Call& c, const Operand& x, const Operand& weight, const Operand& bias,
                        std::string_view suffix);
Operand multiplied(Call& c, const Operand& a, const Operand& b, std::string_view suffix);  // MatMul
Operand gemm(Call& c, Operand a, Operand b, const Operand& bias, std::string_view suffix);
Operand pooled_average(Call& c, const Operand& x, std::string_view suffix);
Operand averaged(Call& c, const Operand& x, const std::vector<i64>& kernel,
                 const std::vector<i64>& stride, std::string_view suffix);
Operand divided_by_norm(Call& c, const Operand& x, i64 axis, i64 p,
                        std::string_view suffix);  // 0 where all along the axis is 0
// A function of one element by its name, with up to two numbers: those that ONNX Runtime's fused
// layers and recurrent layers name.
Operand activated(Call& c, const Operand& x, const std::string& name,
                  const std::vector<double>& given, std::string_view suffix);
Operand pooled_globally(Call& c, const Operand& x, std::string_view target,
                        std::string_view suffix);

}  // namespace deuteron::onnx
