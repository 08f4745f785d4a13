// SPDX-License-Identifier: Apache-2.0
// torch's schemas of the operators that frontends/pt2/operators imports: the one place for the
// names, types and defaults of their parameters. torch_schemas.inc holds them as make_schemas.py
// wrote them; tests/stock compares it with the installed torch.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

namespace deuteron {

struct TorchParameter {
  std::string_view type;      // as torch writes it: "Tensor?", "SymInt[2]"
  std::string_view name;      // "stride"
  std::string_view fallback;  // "[1,1]", "None", "\"valid\""; empty: a call must give it
  bool keyword_only = false;

  bool is_required() const { return fallback.empty(); }
  bool may_be_none() const { return type.ends_with('?'); }
  bool is_list() const { return type.find('[') != type.npos; }
  std::string_view element() const {
    return type.substr(0, type.find_first_of("?["));
  }  // "SymInt" of "SymInt[2]?"
};

// In torch's order. Nothing for an operator that no row imports.
std::optional<std::vector<TorchParameter>> parameters_of(std::string_view target);

// Of one parameter; nothing where the operator or the parameter is not known.
std::optional<TorchParameter> parameter_of(std::string_view target, std::string_view name);

// All lines, sorted by target: "aten.add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1)".
std::string_view all_schemas();

}  // namespace deuteron
