// SPDX-License-Identifier: Apache-2.0
// What a user can change about a refusal, as data: rows beside the operators (ops/*/advice.inc),
// and for all of them (npu_advice.inc).
#pragma once
#include <span>
#include <string_view>

namespace deuteron {

struct Change {
  std::string_view change;  // a sentence
  std::string_view code;    // of PyTorch; may be empty
};

// `subject`: an operator as `deuteron ops` names it, "*" for all of them, "partition", or a word
// alone with an empty `limit`. The rule is neutron.<subject>.<limit>.
struct NpuAdvice {
  std::string_view subject, limit;
  Change change;
};
std::span<const NpuAdvice> npu_advice();
// The row of the operator, else that of all; null: none.
const Change* npu_advice_for(std::string_view rule);

// Of what runs in float, by the name of the portable kernel without namespace and overload: "sort".
// The last row is for all others.
const Change& float_advice_for(std::string_view kernel);

}  // namespace deuteron
