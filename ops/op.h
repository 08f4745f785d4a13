// SPDX-License-Identifier: Apache-2.0
// What every operator must bring: one OpDef, all members given. A missing member does not compile.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor/constant.h"
#include "base/tensor/type.h"
#include "kernels/common/cmsis_nn.h"
#include "ops/facts.h"
#include "ops/kernel_call/kernel_call.h"
#include "ops/npu.h"
#include "ops/quant_spec.h"

namespace deuteron {

// Why something cannot be: becomes a Diagnostic where the node's name is known.
struct Refusal {
  std::string what;
  std::string measured, limit;  // both or none
  std::string rule;             // "cortex_m.conv2d.dilation"
};

template <class T>
struct Result {
  std::optional<T> value;
  Refusal why;
  Result(T v) : value(std::move(v)) {}
  Result(Refusal r) : why(std::move(r)) {}
  explicit operator bool() const { return value.has_value(); }
  const T& operator*() const { return *value; }
  const T* operator->() const { return &*value; }
};

// float32 data on the host, dense, in storage order.
struct HostTensor {
  const Type* type;
  float* data;
};

// How a kernel brings its sum to the result's scale. once: with a multiplier that needs no shift,
// where that is exact enough: rounded once, and the shifts of all layers are one constant. tflite:
// with the full multiplier, rounded twice, as TFLite and an NPU beside the CPU do: then a result
// does not depend on who computes it. reference: that, and everything else as TFLite's reference
// kernels have it: bounds, tables and layers too. For models that came with their int8 parameters
// from TFLite. reference_once: that of a FULLY_CONNECTED, which rounds once.
enum class Rounding : u8 { once, tflite, reference, reference_once };
inline bool is_reference(Rounding r) {
  return r == Rounding::reference || r == Rounding::reference_once;
}

// What a lowering sees. `data[i]` is null where operand i is not a constant.
struct LowerContext {
  TypeView in, out;
  std::span<const Constant* const> data;
  Isa isa;
  Rounding rounding = Rounding::once;
  CmsisNn cmsis_nn = CmsisNn::at_dbf45dbf;
  bool for_stock = false;  // our own kernels do not count
};

// What the operator becomes (ops/form.h). True: it has been written. Null: it stays what it is.
class FormBuilder;
template <class T>
struct Forms {
  bool (*simpler)(const T&, FormBuilder&);  // before quantization: fewer operators, or cheaper ones
  bool (*kernel)(const T&, FormBuilder&);   // what there are int8 kernels for
  bool (*last)(const T&,
               FormBuilder&);  // likewise, where rules that put neighbours together would undo it
  bool (*portable)(const T&, FormBuilder&);  // in float: what the portable kernels compute
};
template <class T>
inline constexpr Forms<T> kNoForms{
    .simpler = nullptr, .kernel = nullptr, .last = nullptr, .portable = nullptr};

// A case that a target with the operator should take: attributes, and the shapes of the operands.
template <class T>
struct Example {
  const char* name;
  T op;
  std::vector<Shape> operands;
};

template <class T>
struct OpDef {
  std::string_view name;
  // dtype and shape of the results; quantization parameters only where the attributes say them.
  Result<std::vector<Type>> (*infer)(const T&, TypeView in);
  std::span<const QuantSpec> quantize;  // operands in order, then the result; empty: stays float
  i64 (*macs)(const T&, TypeView in, TypeView out);
  // Float execution for calibration and comparison. Quantize rounds to the grid and stays real;
  // Dequantize copies.
  void (*execute)(const T&, std::span<const HostTensor> in, std::span<const HostTensor> out);
  // The call of the cortex_m dialect for int8 operands.
  Result<Lowered> (*cortex_m)(const T&, const LowerContext&);
  // What the Neutron NPU takes of it.
  NpuSupport<T> npu;
  OpFacts (*facts)(const T&);
  AxisRules<T> axes;
  // The element of operand 0 with which the result begins, where it lies in there as it is; null:
  // it never does.
  std::optional<i64> (*view)(const T&, TypeView in);
  Forms<T> forms;
  // The first one is plain. Checks of limits, tests of kernels and the table of operators run them
  // all.
  std::vector<Example<T>> (*examples)();
  // Which of its functions it computes, for an operator of several; null: it has one.
  std::string_view (*function)(const T&);
};

inline i64 no_macs(const auto&, TypeView, TypeView) { return 0; }

}  // namespace deuteron
