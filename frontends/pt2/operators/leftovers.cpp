// SPDX-License-Identifier: Apache-2.0
// Operators without a form of their own in the graph: they become calls of portable kernels, in
// float. A kernel takes torch's parameters in torch's order and then the results, so a row is how
// torch calls the operator and the kernel's name.
#include "frontends/pt2/operators/leftovers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "frontends/pt2/operators/import_table.h"
#include "frontends/pt2/operators/integers.h"
#include "frontends/pt2/schema/torch_schema.h"
#include "ops/kernel_call/host_call.h"

namespace deuteron::pt2 {
namespace {

// Collects the arguments of one call.
class Arguments {
 public:
  explicit Arguments(Call& c) : c_(c) {}

  // `as_tensor`: the dtype of a number where the kernel has a tensor, but for its first operand.
  void add(const TorchParameter& p, std::optional<DType> as_tensor) {
    using K = KernelArg::Kind;
    const std::string name(p.name);
    if (p.element() == "Tensor" && as_tensor && !args.empty() && c_.has(name) &&
        !c_.is_tensor(name))
      return add_tensor(number_as_tensor(c_, name, *as_tensor));
    // a dtype is said by the result
    const Argument* a = p.element() == "ScalarType" ? nullptr : c_.argument(name);
    if (!a) return push({});
    switch (a->kind) {
      case Argument::Kind::tensor:
        return add_tensor(c_.any_tensor(name));
      case Argument::Kind::integer:
        return push({K::integer, a->integer, 0, {}, {}});
      case Argument::Kind::boolean:
        return push({K::boolean, a->integer, 0, {}, {}});
      case Argument::Kind::real:
        return push({K::real, 0, a->real, {}, {}});
      case Argument::Kind::integers:
        return push({K::integers, 0, 0, a->integers, {}});
      case Argument::Kind::none:
        return push({});
      case Argument::Kind::tensors: {
        KernelArg list{K::inputs, 0, 0, {}, {}};
        for (const ValueId v : c_.tensors(name))
          list.integers.push_back(static_cast<i64>(inputs.size())), inputs.push_back(v);
        return push(std::move(list));
      }
      default:
        c_.refuse(
            {fmt::format("argument `{}` is of a kind that the portable kernel does not take", name),
             "", "", "pt2.leftover.argument"});
    }
  }

  std::vector<KernelArg> args;
  std::vector<ValueId> inputs;

 private:
  void push(KernelArg arg) { args.push_back(std::move(arg)); }
  void add_tensor(ValueId v) {
    push({KernelArg::Kind::input, static_cast<i64>(inputs.size()), 0, {}, plain_face(c_.shape(v))});
    inputs.push_back(v);
  }
  Call& c_;
};

}  // namespace

static const LeftoverKernel* row_of(std::string_view target) {
  const auto rows = leftover_kernels();
  const auto row =
      std::lower_bound(rows.begin(), rows.end(), target,
                       [](const LeftoverKernel& r, std::string_view t) { return r.target < t; });
  return row != rows.end() && row->target == target ? &*row : nullptr;
}
bool is_leftover(std::string_view target) { return row_of(target) != nullptr; }

void import_leftover(Call& c) {
  const LeftoverKernel* row = row_of(c.target());
  DEUTERON_CHECK(row, std::string(c.target()));
  const std::string_view kernel =
      row->beside_number.empty() || c.is_tensor("other") ? row->kernel : row->beside_number;
  const size_t dot = kernel.find('.');
  const auto parameters = parameters_of(c.target());
  DEUTERON_CHECK(parameters, std::string(c.target()));
  Arguments arguments(c);
  const std::optional<DType> as_tensor =
      row->beside_number.empty() ? c.declared_dtype() : std::nullopt;
  for (const TorchParameter& p : *parameters) arguments.add(p, as_tensor);
  KernelCall call;
  call.name = kernel.substr(0, dot);
  call.overload = kernel.substr(dot + 1);
  call.args = std::move(arguments.args);
  std::vector<Type> types;
  for (size_t k = 0; k < c.result_count(); ++k) {
    const TensorMeta* m = c.result_meta(k);
    if (!c.ok()) return;
    c.require(m->dtype.has_value(), "a result has a dtype that is not supported",
              name_of_code(m->dtype_code), "f32", "pt2.leftover.dtype");
    if (!c.ok()) return;
    call.args.push_back(
        {KernelArg::Kind::output, static_cast<i64>(k), 0, {}, plain_face(m->sizes)});
    types.push_back({*m->dtype, m->sizes, {}});
  }
  const std::vector<ValueId> results =
      c.add_call(std::move(call), std::move(arguments.inputs), std::move(types));
  for (size_t k = 0; k < results.size(); ++k) c.result(k, results[k]);
}

static constexpr LeftoverKernel kKernels[] = {
    {"aten.__and__.Scalar", "aten::bitwise_and.Scalar_out", "", true},
    {"aten.__and__.Tensor", "aten::bitwise_and.Tensor_out", "", true},
    {"aten.__lshift__.Scalar", "aten::bitwise_left_shift.Tensor_Scalar_out", "", true},
    {"aten.__lshift__.Tensor", "aten::bitwise_left_shift.Tensor_out", "", true},
    {"aten.__or__.Scalar", "aten::bitwise_or.Scalar_out", "", true},
    {"aten.__or__.Tensor", "aten::bitwise_or.Tensor_out", "", true},
    {"aten.__rshift__.Scalar", "aten::bitwise_right_shift.Tensor_Scalar_out", "", true},
    {"aten.__rshift__.Tensor", "aten::bitwise_right_shift.Tensor_out", "", true},
    {"aten.__xor__.Scalar", "aten::bitwise_xor.Scalar_out", "", true},
    {"aten.__xor__.Tensor", "aten::bitwise_xor.Tensor_out", "", true},
    {"aten.abs.default", "aten::abs.out"},
    {"aten.acos.default", "aten::acos.out"},
    {"aten.acosh.default", "aten::acosh.out"},
    {"aten.add.Scalar", "aten::add.Scalar_out"},
    {"aten.add.Tensor", "aten::add.out", "aten::add.Scalar_out"},
    {"aten.amax.default", "aten::amax.out"},
    {"aten.amin.default", "aten::amin.out"},
    {"aten.any.default", "aten::any.all_out"},
    {"aten.any.dim", "aten::any.out"},
    {"aten.any.dims", "aten::any.dims_out"},
    {"aten.argmax.default", "aten::argmax.out"},
    {"aten.argmin.default", "aten::argmin.out"},
    {"aten.asin.default", "aten::asin.out"},
    {"aten.asinh.default", "aten::asinh.out"},
    {"aten.atan.default", "aten::atan.out"},
    {"aten.atan2.default", "aten::atan2.out"},
    {"aten.atanh.default", "aten::atanh.out"},
    {"aten.bitwise_and.Scalar", "aten::bitwise_and.Scalar_out", "", true},
    {"aten.bitwise_and.Tensor", "aten::bitwise_and.Tensor_out", "", true},
    {"aten.bitwise_left_shift.Tensor", "aten::bitwise_left_shift.Tensor_out", "", true},
    {"aten.bitwise_left_shift.Tensor_Scalar", "aten::bitwise_left_shift.Tensor_Scalar_out", "",
     true},
    {"aten.bitwise_not.default", "aten::bitwise_not.out", "", true},
    {"aten.bitwise_or.Scalar", "aten::bitwise_or.Scalar_out", "", true},
    {"aten.bitwise_or.Tensor", "aten::bitwise_or.Tensor_out", "", true},
    {"aten.bitwise_right_shift.Tensor", "aten::bitwise_right_shift.Tensor_out", "", true},
    {"aten.bitwise_right_shift.Tensor_Scalar", "aten::bitwise_right_shift.Tensor_Scalar_out", "",
     true},
    {"aten.bitwise_xor.Scalar", "aten::bitwise_xor.Scalar_out", "", true},
    {"aten.bitwise_xor.Tensor", "aten::bitwise_xor.Tensor_out", "", true},
    {"aten.clamp.default", "aten::clamp.out"},
    {"aten.cosh.default", "aten::cosh.out"},
    {"aten.cumsum.default", "aten::cumsum.out"},
    {"aten.embedding.default", "aten::embedding.out"},
    {"aten.eq.Scalar", "aten::eq.Scalar_out"},
    {"aten.eq.Tensor", "aten::eq.Tensor_out"},
    {"aten.floor_divide.default", "aten::floor_divide.out"},
    {"aten.fmod.Scalar", "aten::fmod.Scalar_out", "", true},
    {"aten.fmod.Tensor", "aten::fmod.Tensor_out", "", true},
    {"aten.gather.default", "aten::gather.out"},
    {"aten.ge.Scalar", "aten::ge.Scalar_out"},
    {"aten.ge.Tensor", "aten::ge.Tensor_out"},
    {"aten.gt.Scalar", "aten::gt.Scalar_out"},
    {"aten.gt.Tensor", "aten::gt.Tensor_out"},
    {"aten.isinf.default", "aten::isinf.out"},
    {"aten.isnan.default", "aten::isnan.out"},
    {"aten.le.Scalar", "aten::le.Scalar_out"},
    {"aten.le.Tensor", "aten::le.Tensor_out"},
    {"aten.logical_and.default", "aten::logical_and.out", "", true},
    {"aten.logical_not.default", "aten::logical_not.out", "", true},
    {"aten.logical_or.default", "aten::logical_or.out", "", true},
    {"aten.logical_xor.default", "aten::logical_xor.out", "", true},
    {"aten.logit.default", "aten::logit.out"},
    {"aten.lt.Scalar", "aten::lt.Scalar_out"},
    {"aten.lt.Tensor", "aten::lt.Tensor_out"},
    {"aten.max.dim", "aten::max.dim_max"},
    {"aten.max.other", "aten::maximum.out"},
    {"aten.maximum.default", "aten::maximum.out"},
    {"aten.min.dim", "aten::min.dim_min"},
    {"aten.min.other", "aten::minimum.out"},
    {"aten.minimum.default", "aten::minimum.out"},
    {"aten.mul.Scalar", "aten::mul.Scalar_out"},
    {"aten.mul.Tensor", "aten::mul.out", "aten::mul.Scalar_out"},
    {"aten.ne.Scalar", "aten::ne.Scalar_out"},
    {"aten.ne.Tensor", "aten::ne.Tensor_out"},
    {"aten.neg.default", "aten::neg.out"},
    {"aten.pow.Tensor_Scalar", "aten::pow.Tensor_Scalar_out"},
    {"aten.pow.Tensor_Tensor", "aten::pow.Tensor_Tensor_out"},
    {"aten.prod.dim_int", "aten::prod.int_out"},
    {"aten.remainder.Scalar", "aten::remainder.Scalar_out", "", true},
    {"aten.remainder.Tensor", "aten::remainder.Tensor_out", "", true},
    {"aten.rsub.Scalar", "aten::rsub.Scalar_out"},
    {"aten.scatter.src", "aten::scatter.src_out"},
    {"aten.scatter.value", "aten::scatter.value_out"},
    {"aten.scatter_add.default", "aten::scatter_add.out"},
    {"aten.sign.default", "aten::sign.out"},
    {"aten.sinh.default", "aten::sinh.out"},
    {"aten.sub.Scalar", "aten::sub.Scalar_out"},
    {"aten.sub.Tensor", "aten::sub.out", "aten::sub.Scalar_out"},
    {"aten.sum.dim_IntList", "aten::sum.IntList_out"},
    {"aten.tan.default", "aten::tan.out"},
    {"aten.topk.default", "aten::topk.values"},
};
std::span<const LeftoverKernel> leftover_kernels() { return kKernels; }

ImportRows leftovers_rows() {
  static constexpr auto kLeftoversRows = [] {
    std::array<ImportRow, std::size(kKernels)> rows{};
    for (size_t i = 0; i < rows.size(); ++i)
      rows[i] = {kKernels[i].target, import_leftover, kKernels[i].has_in_place_form};
    return rows;
  }();
  return kLeftoversRows;
}

}  // namespace deuteron::pt2
