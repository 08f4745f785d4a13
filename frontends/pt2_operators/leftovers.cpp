// Operators without a form of their own in the graph: they become calls of portable kernels, in float, with the arguments that torch gives.
// One row each: how torch calls it, the kernel, and torch's arguments in the order in which the kernel takes them.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "frontends/pt2_operators/all.h"
#include "ops/kernel_call/host_call.h"

namespace deuteron::pt2 {

namespace {

struct LeftoverRow {
  ImportRow import;            // "aten.argmax.default"
  std::string_view kernel;     // "aten::argmax"
  std::string_view overload;   // "out"
  std::string_view arguments;  // names, divided by blanks; `=name` is a constant that the schema of torch does not have
};

// Sorted by target.
constexpr auto kRows = std::to_array<LeftoverRow>({
    {{"aten.__and__.Tensor", import_leftover}, "aten::bitwise_and", "Tensor_out", "self other"},
    {{"aten.__or__.Tensor", import_leftover}, "aten::bitwise_or", "Tensor_out", "self other"},
    {{"aten.__xor__.Tensor", import_leftover}, "aten::bitwise_xor", "Tensor_out", "self other"},
    {{"aten.acos.default", import_leftover}, "aten::acos", "out", "self"},
    {{"aten.acosh.default", import_leftover}, "aten::acosh", "out", "self"},
    {{"aten.any.default", import_leftover}, "aten::any", "all_out", "self"},
    {{"aten.any.dim", import_leftover}, "aten::any", "out", "self dim keepdim"},
    {{"aten.argmax.default", import_leftover}, "aten::argmax", "out", "self dim keepdim"},
    {{"aten.argmin.default", import_leftover}, "aten::argmin", "out", "self dim keepdim"},
    {{"aten.asin.default", import_leftover}, "aten::asin", "out", "self"},
    {{"aten.asinh.default", import_leftover}, "aten::asinh", "out", "self"},
    {{"aten.atan.default", import_leftover}, "aten::atan", "out", "self"},
    {{"aten.atan2.default", import_leftover}, "aten::atan2", "out", "self other"},
    {{"aten.atanh.default", import_leftover}, "aten::atanh", "out", "self"},
    {{"aten.bitwise_and.Tensor", import_leftover}, "aten::bitwise_and", "Tensor_out", "self other"},
    {{"aten.bitwise_not.default", import_leftover}, "aten::bitwise_not", "out", "self"},
    {{"aten.bitwise_or.Tensor", import_leftover}, "aten::bitwise_or", "Tensor_out", "self other"},
    {{"aten.bitwise_xor.Tensor", import_leftover}, "aten::bitwise_xor", "Tensor_out", "self other"},
    {{"aten.cosh.default", import_leftover}, "aten::cosh", "out", "self"},
    {{"aten.cumsum.default", import_leftover}, "aten::cumsum", "out", "self dim =none"},
    {{"aten.embedding.default", import_leftover}, "aten::embedding", "out", "weight indices padding_idx scale_grad_by_freq sparse"},
    {{"aten.eq.Scalar", import_leftover}, "aten::eq", "Scalar_out", "self other"},
    {{"aten.eq.Tensor", import_leftover}, "aten::eq", "Tensor_out", "self other"},
    {{"aten.floor_divide.default", import_leftover}, "aten::floor_divide", "out", "self other"},
    {{"aten.fmod.Scalar", import_leftover}, "aten::fmod", "Scalar_out", "self other"},
    {{"aten.fmod.Tensor", import_leftover}, "aten::fmod", "Tensor_out", "self other"},
    {{"aten.gather.default", import_leftover}, "aten::gather", "out", "self dim index =false"},
    {{"aten.ge.Scalar", import_leftover}, "aten::ge", "Scalar_out", "self other"},
    {{"aten.ge.Tensor", import_leftover}, "aten::ge", "Tensor_out", "self other"},
    {{"aten.gt.Scalar", import_leftover}, "aten::gt", "Scalar_out", "self other"},
    {{"aten.gt.Tensor", import_leftover}, "aten::gt", "Tensor_out", "self other"},
    {{"aten.isinf.default", import_leftover}, "aten::isinf", "out", "self"},
    {{"aten.isnan.default", import_leftover}, "aten::isnan", "out", "self"},
    {{"aten.le.Scalar", import_leftover}, "aten::le", "Scalar_out", "self other"},
    {{"aten.le.Tensor", import_leftover}, "aten::le", "Tensor_out", "self other"},
    {{"aten.logical_and.default", import_leftover}, "aten::logical_and", "out", "self other"},
    {{"aten.logical_not.default", import_leftover}, "aten::logical_not", "out", "self"},
    {{"aten.logical_or.default", import_leftover}, "aten::logical_or", "out", "self other"},
    {{"aten.logical_xor.default", import_leftover}, "aten::logical_xor", "out", "self other"},
    {{"aten.logit.default", import_leftover}, "aten::logit", "out", "self eps"},
    {{"aten.lt.Scalar", import_leftover}, "aten::lt", "Scalar_out", "self other"},
    {{"aten.lt.Tensor", import_leftover}, "aten::lt", "Tensor_out", "self other"},
    {{"aten.max.dim", import_leftover}, "aten::max", "dim_max", "self dim keepdim"},
    {{"aten.min.dim", import_leftover}, "aten::min", "dim_min", "self dim keepdim"},
    {{"aten.ne.Scalar", import_leftover}, "aten::ne", "Scalar_out", "self other"},
    {{"aten.ne.Tensor", import_leftover}, "aten::ne", "Tensor_out", "self other"},
    {{"aten.pow.Tensor_Tensor", import_leftover}, "aten::pow", "Tensor_Tensor_out", "self exponent"},
    {{"aten.prod.dim_int", import_leftover}, "aten::prod", "int_out", "self dim keepdim =none"},
    {{"aten.remainder.Scalar", import_leftover}, "aten::remainder", "Scalar_out", "self other"},
    {{"aten.remainder.Tensor", import_leftover}, "aten::remainder", "Tensor_out", "self other"},
    {{"aten.scatter.src", import_leftover}, "aten::scatter", "src_out", "self dim index src"},
    {{"aten.scatter.value", import_leftover}, "aten::scatter", "value_out", "self dim index value"},
    {{"aten.scatter_add.default", import_leftover}, "aten::scatter_add", "out", "self dim index src"},
    {{"aten.sinh.default", import_leftover}, "aten::sinh", "out", "self"},
    {{"aten.tan.default", import_leftover}, "aten::tan", "out", "self"},
    {{"aten.topk.default", import_leftover}, "aten::topk", "values", "self k dim largest sorted"},
});
static_assert(std::is_sorted(kRows.begin(), kRows.end(),
                             [](const LeftoverRow& a, const LeftoverRow& b) { return a.import.target < b.import.target; }));

const LeftoverRow* find_row(std::string_view target) {
  const auto row =
      std::lower_bound(kRows.begin(), kRows.end(), target, [](const LeftoverRow& r, std::string_view t) { return r.import.target < t; });
  return row != kRows.end() && row->import.target == target ? &*row : nullptr;
}

// Collects the arguments of one call.
class Arguments {
 public:
  explicit Arguments(Call& c) : c_(c) {}

  void add(std::string_view name) {
    using K = KernelArg::Kind;
    if (name == "=false") return push({K::boolean, 0, 0, {}, {}});
    if (name == "=none") return push({});
    const Argument* a = c_.argument(name);
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
        for (const ValueId v : c_.tensors(name)) list.integers.push_back(static_cast<i64>(inputs.size())), inputs.push_back(v);
        return push(std::move(list));
      }
      default:
        c_.refuse(
            {fmt::format("argument `{}` is of a kind that the portable kernel does not take", name), "", "", "pt2.leftover.argument"});
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

const ImportRow* find_leftover(std::string_view target) {
  const LeftoverRow* row = find_row(target);
  return row ? &row->import : nullptr;
}

void import_leftover(Call& c) {
  const LeftoverRow& row = *find_row(c.target());
  Arguments arguments(c);
  for (size_t at = 0; at < row.arguments.size();) {
    const size_t end = std::min(row.arguments.find(' ', at), row.arguments.size());
    arguments.add(row.arguments.substr(at, end - at));
    at = end + 1;
  }
  KernelCall call;
  call.name = row.kernel;
  call.overload = row.overload;
  call.args = std::move(arguments.args);
  std::vector<Type> types;
  for (size_t k = 0; k < c.result_count(); ++k) {
    const TensorMeta* m = c.result_meta(k);
    if (!c.ok()) return;
    c.require(m->dtype.has_value(), "a result has a dtype that is not supported", name_of_code(m->dtype_code), "f32", "pt2.leftover.dtype");
    if (!c.ok()) return;
    call.args.push_back({KernelArg::Kind::output, static_cast<i64>(k), 0, {}, plain_face(m->sizes)});
    types.push_back({*m->dtype, m->sizes, {}});
  }
  const std::vector<ValueId> results = c.add_call(std::move(call), std::move(arguments.inputs), std::move(types));
  for (size_t k = 0; k < results.size(); ++k) c.result(k, results[k]);
}

}  // namespace deuteron::pt2
