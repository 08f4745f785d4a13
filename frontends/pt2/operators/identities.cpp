// SPDX-License-Identifier: Apache-2.0
// Operators that pass their operand on. They get no node; the walk records them as folded.
#include <cmath>

#include "base/tensor/elements.h"
#include "frontends/pt2/operators/import_table.h"

namespace deuteron::pt2 {

// clone and the like: the same values in memory of their own.
static void import_identity(Call& c) { c.identity(c.has("input") ? "input" : "self"); }

// detach, alias, contiguous: maybe the very same memory.
static void import_view_identity(Call& c) {
  c.may_share_memory("self");
  c.identity("self");
}

// The in-place form calls its operand differently.
static void import_dropout(Call& c) {
  c.require(c.has("train") && !c.boolean("train"),
            "drops values at random: the model was exported in training mode", "", "",
            "pt2.dropout.training");
  const std::string_view operand = c.has("input") ? "input" : "self";
  c.may_share_memory(operand);
  c.identity(operand);
}

// A change of dtype: none, of a parameter to float32, or of computed numbers.
static void convert(Call& c, ValueId x, std::optional<DType> to) {
  if (to == c.type(x).dtype) {
    c.may_share_memory("self");
    return c.identity("self");
  }
  c.give_up_if_broken(x);
  const std::string change = std::string(name_of(c.type(x).dtype)) + " to " +
                             (to ? std::string(name_of(*to)) : "an unknown dtype");
  const auto is_number = [](DType d) {
    return d == DType::f32 || d == DType::s32 || d == DType::s64 || d == DType::b8;
  };
  // Known numbers: as torch converts them, towards zero. What it makes of infinity is not said;
  // masks then choose something else.
  const bool to_integers =
      c.ok() && to && *to != DType::f32 && is_number(*to) && c.type(x).quant.empty();
  if (const auto known = to_integers ? c.known_numbers(x) : std::nullopt) {
    std::vector<float> numbers = *known;
    for (float& v : numbers) {
      c.require(*to == DType::b8 || std::isinf(v) || std::abs(v) < kExactIntegers,
                "converts values that cannot be held exactly", change, "2^24",
                "pt2.conversion.range");
      if (*to == DType::b8) v = v != 0 ? 1.0f : 0.0f;
      else v = std::isinf(v) ? std::copysign(kExactIntegers / 2, v) : std::trunc(v);
    }
    return c.ok() ? c.result(c.known_value({*to, c.shape(x), {}}, numbers)) : void();
  }
  // Computed values: a kernel converts them.
  if (c.ok() && to && !c.is_constant(x) && c.type(x).quant.empty() && is_number(*to) &&
      is_number(c.type(x).dtype)) {
    c.result(c.converted(x, *to));
    return;
  }
  const bool is_parameter = c.is_constant(x) && c.type(x).quant.empty() && to == DType::f32;
  c.require(is_parameter, "converts computed values from " + change + ", which is not supported",
            "", "", "pt2.conversion.dtype");
  if (!c.ok()) return;
  const auto data = as_float(*c.graph().values[x].constant, c.type(x).dtype);
  c.require(data.has_value(), "converts values that float32 cannot hold", change, "",
            "pt2.conversion.range");
  if (data) c.result(c.constant_value(c.name("f32"), {DType::f32, c.shape(x), {}}, *data));
}

static void import_conversion(Call& c) {
  const ValueId x = c.any_tensor("self");
  if (c.ok()) convert(c, x, c.has("dtype") ? dtype_of_code(c.integer("dtype")) : c.type(x).dtype);
}

static void import_type_as(Call& c) {
  const ValueId x = c.any_tensor("self"), other = c.any_tensor("other");
  if (c.ok()) convert(c, x, c.type(other).dtype);
}

// Checks of dtype, device and layout that export inserts around conversions, and of elements that a
// model must not have.
static void import_assertion(Call&) {}

static constexpr ImportRow kIdentitiesRows[] = {
    {"aten._assert_async.msg", import_assertion},
    {"aten._assert_tensor_metadata.default", import_assertion},
    {"aten._to_copy.default", import_conversion},
    {"aten.alias.default", import_view_identity},
    {"aten.alias_copy.default", import_identity},
    {"aten.alpha_dropout.default", import_dropout, true},
    {"aten.clone.default", import_identity},
    {"aten.contiguous.default", import_view_identity},
    {"aten.detach.default", import_view_identity, true},
    {"aten.dropout.default", import_dropout, true},
    {"aten.feature_alpha_dropout.default", import_dropout, true},
    {"aten.feature_dropout.default", import_dropout, true},
    {"aten.lift_fresh.default", import_view_identity},
    {"aten.lift_fresh_copy.default", import_identity},
    {"aten.nan_to_num.default", import_identity, true},
    {"aten.native_dropout.default", import_dropout},
    {"aten.positive.default", import_view_identity},
    {"aten.to.device", import_conversion},
    {"aten.to.dtype", import_conversion},
    {"aten.to.dtype_layout", import_conversion},
    {"aten.to.other", import_type_as},
    {"aten.type_as.default", import_type_as},
};
ImportRows identities_rows() { return kIdentitiesRows; }

}  // namespace deuteron::pt2
