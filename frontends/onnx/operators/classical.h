// SPDX-License-Identifier: Apache-2.0
// What the operators of ai.onnx.ml share: rows of features, scores of classes and their labels.
#pragma once
#include <string_view>
#include <vector>

#include "frontends/onnx/call/call.h"

namespace deuteron::onnx {

inline constexpr std::string_view kClassical = "ai.onnx.ml";

// Lists of an attribute; empty where it is left out.
std::vector<float> numbers_listed(Call& c, std::string_view name);
std::vector<std::string> texts_listed(Call& c, std::string_view name);

// Rows of features in float, [n, features]: a vector is one row.
Operand feature_rows(Call& c, const Operand& x);

// SOFTMAX, LOGISTIC or NONE of scores [n, targets].
Operand transformed(Call& c, const Operand& scores, std::string_view suffix);

// Models of two classes: they have the score of the second one, from which the other is made, or
// both. A bound of the second one's score says which class it is, as in ONNX Runtime; of more
// classes it is the largest.
enum class TwoClasses : u8 { no, one_less, negative, both };

// Results 0 and 1 of a classifier: the labels [n], and the scores of all classes.
void finish_classes(Call& c, const Operand& scores, TwoClasses two, double bound);

}  // namespace deuteron::onnx
