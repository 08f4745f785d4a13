// Operators without a form of their own in the graph: they become calls of portable kernels, in float, with the arguments that torch gives.
// One row each: how torch calls it, the kernel, and torch's arguments in the order in which the kernel takes them.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "frontends/pt2/import_table.h"
#include "ops/kernel_call/host_call.h"

namespace deuteron::pt2 {
namespace {

struct LeftoverRow {
  std::string_view target;     // "aten.argmax.default"
  std::string_view kernel;     // "aten::argmax"
  std::string_view overload;   // "out"
  std::string_view arguments;  // names, divided by blanks; `=name` is a constant that the schema of torch does not have
};

// Sorted by target.
constexpr auto kRows = std::to_array<LeftoverRow>({
    {"aten.argmax.default", "aten::argmax", "out", "self dim keepdim"},
    {"aten.fmod.Scalar", "aten::fmod", "Scalar_out", "self other"},
    {"aten.gt.Scalar", "aten::gt", "Scalar_out", "self other"},
    {"aten.upsample_bilinear2d.vec", "aten::upsample_bilinear2d", "vec_out", "input =size align_corners =none"},
    {"aten.where.self", "aten::where", "self_out", "condition self other"},
});
static_assert(std::is_sorted(kRows.begin(), kRows.end(), [](const LeftoverRow& a, const LeftoverRow& b) { return a.target < b.target; }));

const LeftoverRow& row_of(std::string_view target) {
  const auto row = std::find_if(kRows.begin(), kRows.end(), [&](const LeftoverRow& r) { return r.target == target; });
  DEUTERON_CHECK(row != kRows.end(), std::string(target));
  return *row;
}

// Collects the arguments of one call.
class Arguments {
 public:
  explicit Arguments(Call& c) : c_(c) {}

  void add(std::string_view name) {
    using K = KernelArg::Kind;
    if (name == "=false") return push({K::boolean, 0, 0, {}, {}});
    if (name == "=none") return push({});
    if (name == "=size") return add_spatial_size();
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
  // The last two extents of the result, which torch may have computed from factors.
  void add_spatial_size() {
    const TensorMeta* m = c_.result_meta(0);
    if (m && m->sizes.size() >= 2) push({KernelArg::Kind::integers, 0, 0, {m->sizes.end() - 2, m->sizes.end()}, {}});
    else push({});
  }
  Call& c_;
};

}  // namespace

void import_leftover(Call& c) {
  const LeftoverRow& row = row_of(c.target());
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
