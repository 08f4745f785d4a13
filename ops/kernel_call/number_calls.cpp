// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_call/number_calls.h"

#include <algorithm>
#include <array>

namespace deuteron {

// Arguments count from 0; -1: no more of them.
struct NumberCallRow {
  std::string_view name;
  NumberUse use;
  std::array<i64, 2> arguments;
  bool takes_sparse = false;  // has a flag for sparse gradients. There are none here: an importer
                              // says by it that the numbers stay in float
};
static constexpr NumberCallRow kRows[] = {
    {"aten::_to_copy", NumberUse::converted, {-1, -1}},
    {"aten::embedding", NumberUse::moved, {0, -1}, true},
    {"aten::eq", NumberUse::compared, {0, 1}},
    {"aten::gather", NumberUse::moved, {0, -1}, true},
    {"aten::ge", NumberUse::compared, {0, 1}},
    {"aten::gt", NumberUse::compared, {0, 1}},
    {"aten::index", NumberUse::moved, {0, -1}},
    {"aten::index_select", NumberUse::moved, {0, -1}},
    {"aten::le", NumberUse::compared, {0, 1}},
    {"aten::lt", NumberUse::compared, {0, 1}},
    {"aten::max", NumberUse::moved, {0, -1}},
    {"aten::max_pool2d_with_indices", NumberUse::moved, {0, -1}},
    {"aten::min", NumberUse::moved, {0, -1}},
    {"aten::ne", NumberUse::compared, {0, 1}},
    {"aten::scatter", NumberUse::moved, {0, 3}},
    {"aten::topk", NumberUse::moved, {0, -1}},
    {"aten::where", NumberUse::moved, {1, 2}},
};

std::optional<NumberCall> number_call(const KernelCall& call) {
  const auto row = std::ranges::find(kRows, std::string_view(call.name), &NumberCallRow::name);
  if (row == std::end(kRows)) return std::nullopt;
  const auto is_sparse = [](const KernelArg& a) {
    return a.kind == KernelArg::Kind::boolean && a.integer != 0;
  };
  if (row->takes_sparse && std::ranges::any_of(call.args, is_sparse)) return std::nullopt;
  NumberCall found{row->name, row->use, {}, {}};
  for (const i64 k : row->arguments) {
    if (k < 0) continue;
    const KernelArg& arg = call.args[static_cast<size_t>(k)];
    if (arg.kind == KernelArg::Kind::input)
      found.operands.push_back(static_cast<size_t>(arg.integer));
    else if (row->use == NumberUse::moved)
      return std::nullopt;  // a number that would be written as it is
    else if (k == 1)
      found.number =
          arg.kind == KernelArg::Kind::real ? arg.real : static_cast<double>(arg.integer);
  }
  return found;
}

static const Face* face_of(const KernelCall& call, KernelArg::Kind kind, i64 index) {
  const auto is_it = [&](const KernelArg& a) { return a.kind == kind && a.integer == index; };
  const auto arg = std::ranges::find_if(call.args, is_it);
  return arg == call.args.end() ? nullptr : &arg->face;
}
const Face* face_of_operand(const KernelCall& call, size_t operand) {
  return face_of(call, KernelArg::Kind::input, static_cast<i64>(operand));
}
const Face* face_of_result(const KernelCall& call) {
  return face_of(call, KernelArg::Kind::output, 0);
}

}  // namespace deuteron
