// SPDX-License-Identifier: Apache-2.0
#include "ops/unary/functions.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "ops/unary/compositions.h"

namespace deuteron {

static float six(float x) { return x < 0.0f ? 0.0f : x > 6.0f ? 6.0f : x; }  // NaN stays
static constexpr float kUnbounded = std::numeric_limits<float>::infinity();

static constexpr UnaryFunction kFunctions[] = {
#define X(function, ...) {.fn = UnaryFn::function, .name = #function, __VA_ARGS__},
#include "ops/unary/functions.inc"
#undef X
};

std::span<const UnaryFunction> unary_functions() { return kFunctions; }
const UnaryFunction& row_of(UnaryFn fn) { return kFunctions[static_cast<size_t>(fn)]; }

std::string_view name_of(UnaryFn fn) { return row_of(fn).name; }

std::optional<UnaryFn> unary_named(std::string_view name) {
  for (const UnaryFunction& f : kFunctions)
    if (f.name == name) return f.fn;
  return std::nullopt;
}

std::optional<UnaryFn> unary_of_tflite(std::string_view builtin) {
  for (const UnaryFunction& f : kFunctions)
    if (!f.tflite.empty() && f.tflite == builtin) return f.fn;
  return std::nullopt;
}

float evaluate(UnaryFn fn, float x, float alpha) { return row_of(fn).value(x, alpha); }

}  // namespace deuteron
