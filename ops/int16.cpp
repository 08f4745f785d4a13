// SPDX-License-Identifier: Apache-2.0
#include "ops/int16.h"

#include <algorithm>
#include <array>
#include <concepts>
#include <vector>

#include "ops/add/int16.h"
#include "ops/avg_pool2d/int16.h"
#include "ops/clamp/int16.h"
#include "ops/concat/int16.h"
#include "ops/conv2d/int16.h"
#include "ops/conv_transpose2d/int16.h"
#include "ops/div/int16.h"
#include "ops/expand/int16.h"
#include "ops/families.h"
#include "ops/gather/int16.h"
#include "ops/gru/int16.h"
#include "ops/linear/int16.h"
#include "ops/lstm/int16.h"
#include "ops/matmul/int16.h"
#include "ops/max_pool2d/int16.h"
#include "ops/maximum/int16.h"
#include "ops/minimum/int16.h"
#include "ops/mul/int16.h"
#include "ops/pad/int16.h"
#include "ops/permute/int16.h"
#include "ops/pointwise/int16.h"
#include "ops/reduce/int16.h"
#include "ops/resize2d/int16.h"
#include "ops/slice/int16.h"
#include "ops/softmax/int16.h"
#include "ops/unary/int16.h"

namespace deuteron {

template <class T>
concept HasInt16Form = requires(const T& op, const LowerContext& context) {
  int16_form(op, context);
};

// What rounds as TFLite does is a form of its own; what moves elements, picks some of them, or has
// one way to be rounded, needs none: its int16.h has has_bits_of_tflite().
template <class T>
concept HasTfliteInt16Form = requires(const T& op, const LowerContext& context) {
  tflite_int16_form(op, context);
};
template <class T>
concept HasBitsOfTflite = requires(const T& op) {
  { has_bits_of_tflite(op) } -> std::same_as<bool>;
};

template <class T>
concept HasInt16Result = requires(const T& op) {
  { int16_result_weights(op) } -> std::same_as<DType>;
};

// What int8 has with a scale of its own is symmetric here. A fixed range reaches as far as it did
// on the side that reaches further.
static QuantSpec widened(QuantSpec spec) {
  if (spec.dtype != DType::s8) return spec;
  spec.dtype = DType::s16, spec.symmetric = true;
  const i32 most = std::max(128 + spec.fixed_zero, 128 - spec.fixed_zero);
  spec.fixed_scale *= static_cast<float>(most) / 32768, spec.fixed_zero = 0;
  return spec;
}

static std::vector<QuantSpec> all_widened(std::span<const QuantSpec> of_int8) {
  std::vector<QuantSpec> specs;
  for (const QuantSpec& spec : of_int8) specs.push_back(widened(spec));
  return specs;
}

template <class T>
static std::span<const QuantSpec> widened_specs(const T& op) {
  static const std::vector<QuantSpec> kSpecs = all_widened(def_of(T{}).quantize);
  if constexpr (requires {
                  op.form.bidirectional;
                }) {  // the weights of each direction are operands
    static const std::vector<QuantSpec> kOfTwo =
        all_widened(def_of(T{.form = {.bidirectional = true}}).quantize);
    if (op.form.bidirectional) return kOfTwo;
  }
  return kSpecs;
}

// Weights stay int8.
template <class T>
static std::span<const QuantSpec> tflite_specs() {
  static const std::vector<QuantSpec> kSpecs = [] {
    std::vector<QuantSpec> specs = all_widened(def_of(T{}).quantize);
    for (QuantSpec& spec : specs)
      if (spec.gran == Gran::per_channel) spec.dtype = DType::s8;
    return specs;
  }();
  return kSpecs;
}

static constexpr size_t kMost = 4;  // x, weight, bias, y

// x and the bias as int8 has them.
template <class T, DType weight>
static std::span<const QuantSpec> result_specs(const T& op) {
  static const std::array<QuantSpec, kMost> kSpecs = [&] {
    std::array<QuantSpec, kMost> specs;
    const std::span<const QuantSpec> of_int8 = def_of(op).quantize;
    DEUTERON_CHECK(of_int8.size() == kMost);
    std::ranges::copy(of_int8, specs.begin());
    specs[1].dtype = weight;
    specs[3] = widened(specs[3]);
    return specs;
  }();
  return kSpecs;
}

static constexpr QuantSpec kView[] = {{DType::s16, Gran::per_tensor, 0, true},
                                      {DType::s16, Gran::shared, 0, true}};

std::span<const QuantSpec> tflite_int16_quant_specs(const Op& op) {
  if (is_same_storage(op)) return kView;
  return std::visit(
      []<class T>(const T&) -> std::span<const QuantSpec> {
        if constexpr (HasTfliteInt16Form<T> || HasBitsOfTflite<T>) return tflite_specs<T>();
        else return {};
      },
      op);
}

std::span<const QuantSpec> int16_quant_specs(const Op& op) {
  if (is_same_storage(op)) return kView;
  return std::visit(
      []<class T>(const T& o) -> std::span<const QuantSpec> {
        if constexpr (HasInt16Form<T>) return widened_specs(o);
        else return {};
      },
      op);
}

std::span<const QuantSpec> int16_result_quant_specs(const Op& op) {
  return std::visit(
      []<class T>(const T& o) -> std::span<const QuantSpec> {
        if constexpr (HasInt16Result<T>)
          return int16_result_weights(o) == DType::s16 ? result_specs<T, DType::s16>(o)
                                                       : result_specs<T, DType::s8>(o);
        else return {};
      },
      op);
}

bool may_be_int16_result(const Op& op, const Type& inferred, const Type& given) {
  const bool is_wider =
      inferred.dtype == DType::s8 && given.dtype == DType::s16 && inferred.shape == given.shape;
  return is_wider && !int16_result_quant_specs(op).empty();
}

bool works_on_int16(TypeView in, TypeView out) {
  const auto is_int16 = [](const Type& t) { return t.dtype == DType::s16 && !t.quant.empty(); };
  for (size_t k = 0; k < in.size(); ++k)
    if (is_int16(in[k])) return true;
  for (size_t k = 0; k < out.size(); ++k)
    if (is_int16(out[k])) return true;
  return false;
}

Result<Lowered> lower_to_int16(const Op& op, const LowerContext& context) {
  return std::visit(
      [&]<class T>(const T& o) -> Result<Lowered> {
        if (is_reference(context.rounding) && !HasBitsOfTflite<T>) {
          if constexpr (HasTfliteInt16Form<T>) return tflite_int16_form(o, context);
          else
            return Refusal{"there is no kernel of TFLite's int16 arithmetic for it", "", "",
                           "int16x8.operator"};
        }
        if constexpr (HasInt16Form<T>) return int16_form(o, context);
        else return Refusal{"there is no int16 kernel of it", "", "", "int16.operator"};
      },
      op);
}

}  // namespace deuteron
