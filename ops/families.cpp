// SPDX-License-Identifier: Apache-2.0
#include "ops/families.h"

namespace deuteron {

// A kernel call and a delegate have no OpDef.
template <class T>
static constexpr bool kHasDef = !std::is_same_v<T, KernelCall> && !std::is_same_v<T, Delegate>;

// What `ask` says of the operator's definition; `otherwise` for one that is lowered.
template <class Answer, class Ask>
static Answer asked(const Op& op, Answer otherwise, Ask ask) {
  return std::visit(
      [&]<class T>(const T& o) -> Answer {
        if constexpr (kHasDef<T>) return ask(o, def_of(o));
        else return std::move(otherwise);
      },
      op);
}

OpFacts facts_of(const Op& op) {
  return asked(op, facts(Family::lowered),
               [](const auto& o, const auto& def) { return def.facts(o); });
}

const KernelCall* call_of(const Op& op) { return std::get_if<KernelCall>(&op); }
KernelCall* call_of(Op& op) { return std::get_if<KernelCall>(&op); }
const Delegate* delegate_of(const Op& op) { return std::get_if<Delegate>(&op); }

Bounds* bounds_of(Op& op) {
  return std::visit(
      []<class T>(T& o) -> Bounds* {
        if constexpr (requires { o.bounds; }) return &o.bounds;
        else return nullptr;
      },
      op);
}
const Bounds* bounds_of(const Op& op) { return bounds_of(const_cast<Op&>(op)); }

const Bounds* sole_bounds(const Op& op) { return is_elementwise(op) ? bounds_of(op) : nullptr; }

RecurrentForm* recurrent_form(Op& op) {
  return std::visit(
      []<class T>(T& o) -> RecurrentForm* {
        if constexpr (requires { o.form; }) return &o.form;
        else return nullptr;
      },
      op);
}
const RecurrentForm* recurrent_form(const Op& op) { return recurrent_form(const_cast<Op&>(op)); }

std::optional<Repeat> repeat_of(const Op& op, const Shape& x) {
  return std::visit(
      [&](const auto& o) -> std::optional<Repeat> {
        if constexpr (requires { o.repeat(x); }) return o.repeat(x);
        else return std::nullopt;
      },
      op);
}

const Axes* permutation_of(const Op& op) {
  return std::visit(
      [](const auto& o) -> const Axes* {
        if constexpr (requires { o.perm; }) return &o.perm;
        else return nullptr;
      },
      op);
}

std::optional<Op> reordered(const Op& op, const Axes& perm) {
  return asked(op, std::optional<Op>(), [&](const auto& o, const auto& def) -> std::optional<Op> {
    if (!def.axes.reordered) return std::nullopt;
    auto moved = def.axes.reordered(o, perm);
    return moved ? std::optional<Op>(*std::move(moved)) : std::nullopt;
  });
}

std::optional<ImageWindow> window_of(const Op& op, TypeView in) {
  return asked(op, std::optional<ImageWindow>(), [&](const auto& o, const auto& def) {
    return def.axes.window ? def.axes.window(o, in) : std::nullopt;
  });
}

// Columns do where the operand has one row, too, and no window sees another one above it or below.
static bool parts_lie_together(const Op& op, TypeView in, TypeView out) {
  const i64 axis = band_axis(out[0].shape);
  if (axis == 1) return true;
  const AxisWindow rows = window_of(op, in).value_or(ImageWindow{}).rows;
  return axis == 2 && band_axis(in[0].shape) == 2 && rows.kernel == 1 && rows.pad == 0;
}

bool has_bands(const Op& op, TypeView in, TypeView out) {
  return asked(op, false, [&](const auto& o, const auto& def) {
    return def.axes.has_bands && parts_lie_together(op, in, out) && def.axes.has_bands(o, in, out);
  });
}

std::optional<Op> band_of(const Op& op, TypeView in, TypeView out, const RowBand& band) {
  return asked(op, std::optional<Op>(), [&](const auto& o, const auto& def) -> std::optional<Op> {
    if (!def.axes.band) return std::nullopt;
    auto part = def.axes.band(o, in, out, band);
    return part ? std::optional<Op>(*std::move(part)) : std::nullopt;
  });
}

std::optional<i64> view_of(const Op& op, TypeView in) {
  return asked(op, std::optional<i64>(), [&](const auto& o, const auto& def) {
    return def.view ? def.view(o, in) : std::nullopt;
  });
}

std::string_view function_of(const Op& op) {
  return asked(op, std::string_view(), [](const auto& o, const auto& def) {
    return def.function ? def.function(o) : std::string_view();
  });
}

template <class T>
concept HasParts = requires(const T& op, FormBuilder& builder) {
  parts_form(op, builder);
};
template <class T>
concept HasRoundedParts = requires(const T& op, FormBuilder& builder) {
  rounded_parts_form(op, builder);
};
template <class T>
static bool (*form_of(const OpDef<T>& def, FormKind kind))(const T&, FormBuilder&) {
  switch (kind) {
    case FormKind::simpler:
      return def.forms.simpler;
    case FormKind::kernel:
      return def.forms.kernel;
    case FormKind::last:
      return def.forms.last;
    case FormKind::portable:
      return def.forms.portable;
    case FormKind::parts:
      if constexpr (HasParts<T>) return parts_form;
      return nullptr;
    case FormKind::rounded_parts:
      if constexpr (HasRoundedParts<T>) return rounded_parts_form;
      return nullptr;
  }
  return def.forms.kernel;
}
bool has_form(const Op& op, FormKind kind) {
  return asked(op, false,
               [&](const auto&, const auto& def) { return form_of(def, kind) != nullptr; });
}
bool write_form(const Op& op, FormKind kind, FormBuilder& builder) {
  return asked(op, false, [&](const auto& o, const auto& def) {
    const auto form = form_of(def, kind);
    return form && form(o, builder);
  });
}

template <class T>
static void add_examples(std::vector<AnyExample>& all) {
  if constexpr (kHasDef<T>)
    for (Example<T>& e : def_of(T{}).examples())
      all.push_back({e.name, std::move(e.op), std::move(e.operands)});
}
template <size_t... I>
static std::vector<AnyExample> all_examples(std::index_sequence<I...>) {
  std::vector<AnyExample> all;
  (add_examples<std::variant_alternative_t<I, AnyOp>>(all), ...);
  return all;
}
std::vector<AnyExample> all_examples() {
  return all_examples(std::make_index_sequence<std::variant_size_v<AnyOp>>());
}

}  // namespace deuteron
