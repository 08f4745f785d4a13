// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_call/number_calls.h"

#include <algorithm>

namespace deuteron {

struct NumberCallRow {
  std::string_view name;
  NumberUse use;
  std::string_view arguments;  // n: numbers that the call moves or compares
  bool takes_sparse = false;   // has a flag for sparse gradients. There are none here: an importer
                               // says by it that the numbers stay in float
};
static constexpr NumberCallRow kRows[] = {
    {"aten::_to_copy", NumberUse::converted, ""},
    {"aten::embedding", NumberUse::moved, "n", true},
    {"aten::eq", NumberUse::compared, "nn"},
    {"aten::gather", NumberUse::moved, "n", true},
    {"aten::ge", NumberUse::compared, "nn"},
    {"aten::gt", NumberUse::compared, "nn"},
    {"aten::index", NumberUse::moved, "n"},
    {"aten::index_select", NumberUse::moved, "n"},
    {"aten::le", NumberUse::compared, "nn"},
    {"aten::lt", NumberUse::compared, "nn"},
    {"aten::max", NumberUse::moved, "n"},
    {"aten::max_pool2d_with_indices", NumberUse::moved, "n"},
    {"aten::min", NumberUse::moved, "n"},
    {"aten::ne", NumberUse::compared, "nn"},
    {"aten::scatter", NumberUse::moved, "n--n"},
    {"aten::topk", NumberUse::moved, "n"},
    {"aten::where", NumberUse::moved, "-nn"},
};

std::optional<NumberCall> number_call(const KernelCall& call) {
  const auto row = std::ranges::find(kRows, std::string_view(call.name), &NumberCallRow::name);
  if (row == std::end(kRows)) return std::nullopt;
  const auto is_sparse = [](const KernelArg& a) {
    return a.kind == KernelArg::Kind::boolean && a.integer != 0;
  };
  if (row->takes_sparse && std::ranges::any_of(call.args, is_sparse)) return std::nullopt;
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
