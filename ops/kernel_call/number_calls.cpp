// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_call/number_calls.h"

#include <algorithm>

namespace deuteron {

struct NumberCallRow {
  std::string_view name;
  NumberUse use;
  std::string_view arguments;  // n: numbers that the call moves or compares
  bool has_flag = false;  // that stands for sums, or for sparse gradients. There are none here:
                          // an importer says by it that the numbers stay in float
  bool has_axis = false;  // works_along_axis, if a number or one index names the axis
};
static constexpr NumberCallRow kRows[] = {
    {"aten::_to_copy", NumberUse::converted, ""},
    {"aten::embedding", NumberUse::moved, "n", true},
    {"aten::eq", NumberUse::compared, "nn"},
    {"aten::gather", NumberUse::moved, "n", true, true},
    {"aten::ge", NumberUse::compared, "nn"},
    {"aten::gt", NumberUse::compared, "nn"},
    {"aten::index", NumberUse::moved, "n"},
    {"aten::index_put", NumberUse::moved, "n-n", true, true},
    {"aten::index_select", NumberUse::moved, "n"},
    {"aten::le", NumberUse::compared, "nn"},
    {"aten::lt", NumberUse::compared, "nn"},
    {"aten::max", NumberUse::moved, "n"},
    {"aten::max_pool2d_with_indices", NumberUse::moved, "n"},
    {"aten::min", NumberUse::moved, "n"},
    {"aten::ne", NumberUse::compared, "nn"},
    {"aten::scatter", NumberUse::moved, "n--n", false, true},
    {"aten::topk", NumberUse::moved, "n"},
    {"aten::where", NumberUse::moved, "-nn"},
};

static const NumberCallRow* row_of(const KernelCall& call) {
  const auto row = std::ranges::find(kRows, std::string_view(call.name), &NumberCallRow::name);
  return row == std::end(kRows) ? nullptr : row;
}

std::optional<NumberCall> number_call(const KernelCall* of) {
  const NumberCallRow* row = of ? row_of(*of) : nullptr;
  if (!row) return std::nullopt;
  const auto is_set = [](const KernelArg& a) {
    return a.kind == KernelArg::Kind::boolean && a.integer != 0;
  };
  const KernelCall& call = *of;
  if (row->has_flag && std::ranges::any_of(call.args, is_set)) return std::nullopt;
  NumberCall found{row->name, row->use, {}, {}};
  for (size_t k = 0; k < row->arguments.size(); ++k) {
    if (row->arguments[k] != 'n') continue;
    const KernelArg& arg = call.args[k];
    if (arg.kind == KernelArg::Kind::input)
      found.operands.push_back(static_cast<size_t>(arg.integer));
    else if (row->use == NumberUse::moved)
      return std::nullopt;  // a number that would be written as it is
    else if (k > 0)
      found.number =
          arg.kind == KernelArg::Kind::real ? arg.real : static_cast<double>(arg.integer);
  }
  return found;
}

// The argument of a call with an axis that names it: a number, or a list with an index for that
// axis.
static bool names_axis(const KernelArg& arg) {
  return arg.kind == KernelArg::Kind::integer || arg.kind == KernelArg::Kind::inputs;
}

bool works_along_axis(const KernelCall& call) {
  const NumberCallRow* row = row_of(call);
  const auto arg = std::ranges::find_if(call.args, names_axis);
  if (!row || !row->has_axis || arg == call.args.end()) return false;
  const auto is_given = [](i64 operand) { return operand >= 0; };
  return arg->kind == KernelArg::Kind::integer ||
         (std::ranges::count_if(arg->integers, is_given) == 1 && arg->integers.back() >= 0);
}

KernelCall before_permute(const KernelCall& call, const Axes& perm) {
  KernelCall moved = call;
  for (KernelArg& arg : moved.args)
    if (arg.kind == KernelArg::Kind::input || arg.kind == KernelArg::Kind::output)
      arg.face = plain_face(permuted(arg.face.sizes, inverse(perm)));
  KernelArg& axis = *std::ranges::find_if(moved.args, names_axis);
  if (axis.kind == KernelArg::Kind::integer) {
    const i64 at = axis.integer < 0 ? axis.integer + static_cast<i64>(perm.size()) : axis.integer;
    axis.integer = perm[static_cast<size_t>(at)];
  } else {
    const i64 index = axis.integers.back(), at = perm[axis.integers.size() - 1];
    axis.integers.assign(static_cast<size_t>(at) + 1, -1);
    axis.integers.back() = index;
  }
  return moved;
}

static const Face* face_of(const KernelCall& call, KernelArg::Kind kind, i64 index) {
  const auto is_it = [&](const KernelArg& a) { return a.kind == kind && a.integer == index; };
  const auto arg = std::ranges::find_if(call.args, is_it);
  return arg == call.args.end() ? nullptr : &arg->face;
}
const Face* face_of_operand(const KernelCall& call, size_t operand) {
  return face_of(call, KernelArg::Kind::input, static_cast<i64>(operand));
}
const Face* face_of_result(const KernelCall& call, size_t result) {
  return face_of(call, KernelArg::Kind::output, static_cast<i64>(result));
}

}  // namespace deuteron
