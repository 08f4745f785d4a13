// SPDX-License-Identifier: Apache-2.0
#include "ops/all.h"

#include <utility>

#include "ops/families.h"
#include "ops/int16.h"
#include "ops/kernel_call/host_call.h"

namespace deuteron {

Op::Op() = default;
Op::Op(const Op&) = default;
Op::Op(Op&&) noexcept = default;
Op& Op::operator=(const Op&) = default;
Op& Op::operator=(Op&&) noexcept = default;
Op::~Op() = default;
bool operator==(const Op& a, const Op& b) {
  return static_cast<const AnyOp&>(a) == static_cast<const AnyOp&>(b);
}

template <class T>
requires(!std::is_base_of_v<AnyOp, T>) Op::Op(T op) : AnyOp(std::move(op)) {}
template Op::Op(Delegate);
template Op::Op(KernelCall);
#define OPERATOR(type) template Op::Op(type);
#include "ops/operators.inc"

template <class T>
inline constexpr bool kIsCall = std::is_same_v<T, KernelCall>;
template <class T>
inline constexpr bool kIsDelegate = std::is_same_v<T, Delegate>;

std::string_view name_of(const Op& op) {
  return std::visit(
      []<class T>(const T& o) -> std::string_view {
        if constexpr (kIsCall<T>) return o.name;
        else if constexpr (kIsDelegate<T>) return o.backend;
        else return def_of(o).name;
      },
      op);
}

Result<std::vector<Type>> infer(const Op& op, TypeView in) {
  return std::visit(
      [&]<class T>(const T& o) -> Result<std::vector<Type>> {
        if constexpr (kIsCall<T> || kIsDelegate<T>)
          return Refusal{"a call has no inference", "", "", "ir.kernel_call"};
        else return def_of(o).infer(o, in);
      },
      op);
}

std::span<const QuantSpec> quant_specs(const Op& op) {
  return std::visit(
      []<class T>(const T& o) -> std::span<const QuantSpec> {
        if constexpr (kIsCall<T> || kIsDelegate<T>) return {};
        else return def_of(o).quantize;
      },
      op);
}

i64 macs(const Op& op, TypeView in, TypeView out) {
  return std::visit(
      [&]<class T>(const T& o) -> i64 {
        if constexpr (kIsCall<T> || kIsDelegate<T>) return 0;
        else return def_of(o).macs(o, in, out);
      },
      op);
}

void execute(const Op& op, std::span<const HostTensor> in, std::span<const HostTensor> out) {
  std::visit(
      [&]<class T>(const T& o) {
        if constexpr (kIsCall<T>) execute(o, in, out);
        else if constexpr (kIsDelegate<T>)
          DEUTERON_CHECK(false, "a delegate has no float execution");
        else def_of(o).execute(o, in, out);
      },
      op);
}

Result<Lowered> lower_to_cortex_m(const Op& op, const LowerContext& context) {
  if (works_on_int16(context.in, context.out) && !is_quantize_or_dequantize(op) && !is_lowered(op))
    return lower_to_int16(op, context);
  return std::visit(
      [&]<class T>(const T& o) -> Result<Lowered> {
        if constexpr (kIsCall<T> || kIsDelegate<T>)
          return Refusal{"is lowered already", "", "", "cortex_m.kernel_call"};
        else return def_of(o).cortex_m(o, context);
      },
      op);
}

}  // namespace deuteron
