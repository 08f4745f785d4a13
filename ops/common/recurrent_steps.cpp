// SPDX-License-Identifier: Apache-2.0
#include "ops/common/recurrent_steps.h"

#include <algorithm>
#include <limits>

#include "ops/common/recurrent.h"

namespace deuteron {
namespace {

constexpr i64 kMostSteps = 256;  // of all directions
constexpr ValueId kZeros = -2;   // a state that nothing has been added to

struct StepState {
  ValueId h = -1, c = -1;
};

// The values of one layer as nodes.
class StepsOfLayer {
 public:
  StepsOfLayer(FormBuilder& b, const RecurrentForm& form, i64 states, const RecurrentSizes& sizes)
      : b_(b), form_(form), states_(states), s_(sizes) {}

  // Values are nodes, or zeros.
  ValueId sum(ValueId x, ValueId y) {
    return x == kZeros ? y : y == kZeros ? x : add(Add{}, {x, y});
  }
  ValueId difference(ValueId x, ValueId y) {
    Add a;
    a.alpha = -1;
    return add(a, {x == kZeros ? zeros() : x, y});
  }
  ValueId product(ValueId x, ValueId y) {
    return x == kZeros || y == kZeros ? kZeros : add(Mul{}, {x, y});
  }
  ValueId sigmoid(ValueId x) { return add(Unary{UnaryFn::sigmoid, 0}, {x}); }
  ValueId tanh(ValueId x) { return add(Unary{UnaryFn::tanh, 0}, {x}); }
  ValueId relu(ValueId x) { return add(Clamp{{0, std::numeric_limits<float>::infinity()}}, {x}); }
  ValueId sum_of_gates(ValueId x, ValueId h, i64 k) {
    const ValueId of_input = gate(x, k),
                  of_state = gate(
                      h, k);  // one after another: compilers evaluate arguments in either order
    return sum(of_input, of_state);
  }
  ValueId gate(ValueId sums, i64 k) {
    return sums == kZeros ? kZeros : add(Slice{1, k * s_.units, s_.units, 1}, {sums});
  }

  // `next`: the state behind a step, of the sums of the inputs [n,rows], those of the state, and
  // the state before.
  template <class Next>
  std::vector<ValueId> run(const Next& next) {
    std::vector<ValueId> sequences, last[2];
    for (i64 d = 0; d < s_.directions; ++d) {
      const ValueId inputs = add(Linear{}, {0, weight(d, kInputWeight), weight(d, kInputBias)});
      StepState state{initial(d, 0), states_ > 1 ? initial(d, 1) : -1};
      std::vector<ValueId> rows(static_cast<size_t>(s_.steps));
      for (i64 k = 0; k < s_.steps; ++k) {
        const i64 t = form_.reverse != (d == 1) ? s_.steps - 1 - k : k;
        const ValueId of_input =
            shaped(add(Slice{time_axis(), t, 1, 1}, {inputs}), {s_.batch, s_.rows});
        const ValueId of_state =
            state.h == kZeros
                ? bias_of_state(d)
                : add(Linear{}, {state.h, weight(d, kStateWeight), weight(d, kStateBias)});
        state = next(of_input, of_state, state);
        rows[static_cast<size_t>(t)] =
            shaped(state.h,
                   form_.batch_first ? Shape{s_.batch, 1, s_.units} : Shape{1, s_.batch, s_.units});
      }
      if (form_.sequence) sequences.push_back(joined(std::move(rows), time_axis()));
      last[0].push_back(shaped(state.h, {1, s_.batch, s_.units}));
      if (states_ > 1) last[1].push_back(shaped(state.c, {1, s_.batch, s_.units}));
    }
    std::vector<ValueId> results;
    if (form_.sequence) results.push_back(joined(std::move(sequences), 2));
    for (i64 k = 0; k < states_; ++k) results.push_back(joined(std::move(last[k]), 0));
    return results;
  }

 private:
  i64 time_axis() const { return form_.batch_first ? 1 : 0; }
  ValueId weight(i64 d, int which) const { return static_cast<ValueId>(weight_operand(d, which)); }

  ValueId add(Op op, std::vector<ValueId> inputs) {
    return b_.add(std::move(op), std::move(inputs), {}, b_.result_name() + ".step");
  }
  ValueId shaped(ValueId v, Shape shape) {
    return b_.type(v).shape == shape ? v : add(Reshape{std::move(shape)}, {v});
  }
  ValueId joined(std::vector<ValueId> parts, i64 axis) {
    return parts.size() == 1 ? parts[0] : add(Concat{axis}, std::move(parts));
  }

  ValueId zeros() {
    const Shape shape{s_.batch, s_.units};
    return b_.constant(DType::f32, shape, std::vector<float>(static_cast<size_t>(numel(shape))),
                       b_.result_name() + ".zeros");
  }

  // What a state of zeros adds to the gates.
  ValueId bias_of_state(i64 d) {
    const ValueId bias = weight(d, kStateBias);
    const Constant* data = b_.data(bias);
    const std::span<const float> row = data ? data->as<float>() : std::span<const float>();
    if (data && std::ranges::all_of(row, [](float v) { return v == 0; })) return kZeros;
    if (!data) return add(Linear{}, {zeros(), weight(d, kStateWeight), bias});
    std::vector<float> rows;
    for (i64 n = 0; n < s_.batch; ++n) rows.insert(rows.end(), row.begin(), row.end());
    return b_.constant(DType::f32, {s_.batch, s_.rows}, std::move(rows), b_.name(bias));
  }

  // h_0 (k = 0) or c_0 of a direction; zeros where none is given.
  ValueId initial(i64 d, i64 k) {
    const Shape shape{s_.batch, s_.units};
    const size_t operand = initial_operand(form_) + static_cast<size_t>(k);
    const size_t count = static_cast<size_t>(numel(shape));
    if (operand >= b_.operands()) return kZeros;
    const auto v = static_cast<ValueId>(operand);
    if (!b_.data(v)) return shaped(add(Slice{0, d, 1, 1}, {v}), shape);
    const std::span<const float> all = b_.data(v)->as<float>();
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(d) * count);
    if (std::all_of(first, first + static_cast<std::ptrdiff_t>(count),
                    [](float number) { return number == 0; }))
      return kZeros;
    return b_.constant(DType::f32, shape,
                       std::vector<float>(first, first + static_cast<std::ptrdiff_t>(count)),
                       b_.name(v));
  }

  FormBuilder& b_;
  const RecurrentForm& form_;
  const i64 states_;
  const RecurrentSizes s_;
};

// Null: the operator is no recurrent layer.
const RecurrentForm* form_of(const Op& op) {
  if (const auto* a = std::get_if<Lstm>(&op)) return &a->form;
  if (const auto* a = std::get_if<Gru>(&op)) return &a->form;
  if (const auto* a = std::get_if<Rnn>(&op)) return &a->form;
  return nullptr;
}

}  // namespace

std::optional<std::vector<ValueId>> in_steps(const Op& op, FormBuilder& b) {
  const RecurrentForm* form = form_of(op);
  if (!form) return std::nullopt;
  std::vector<const Type*> in;
  for (size_t k = 0; k < b.operands(); ++k) in.push_back(&b.type(static_cast<ValueId>(k)));
  const RecurrentSizes sizes = sizes_of(*form, TypeView(in));
  const bool is_float =
      std::ranges::all_of(in, [](const Type* t) { return t->dtype == DType::f32; });
  if (!is_float || sizes.steps * sizes.directions > kMostSteps) return std::nullopt;
  const bool has_cell = std::holds_alternative<Lstm>(op);
  StepsOfLayer l(b, *form, has_cell ? 2 : 1, sizes);
  if (has_cell)
    return l.run([&](ValueId x, ValueId h, StepState before) {
      const ValueId sums = l.sum(x, h);
      const ValueId kept = l.product(l.sigmoid(l.gate(sums, 1)), before.c);
      const ValueId in = l.sigmoid(l.gate(sums, 0)), fresh = l.tanh(l.gate(sums, 2));
      const ValueId c = l.sum(kept, l.product(in, fresh));
      const ValueId out = l.sigmoid(l.gate(sums, 3)), bounded = l.tanh(c);
      return StepState{l.product(out, bounded), c};
    });
  if (std::holds_alternative<Gru>(op))
    return l.run([&](ValueId x, ValueId h, StepState before) {
      const ValueId reset = l.sigmoid(l.sum_of_gates(x, h, 0)),
                    update = l.sigmoid(l.sum_of_gates(x, h, 1));
      const ValueId of_input = l.gate(x, 2), of_state = l.gate(h, 2);
      const ValueId fresh = l.tanh(l.sum(of_input, l.product(reset, of_state)));
      return StepState{l.sum(fresh, l.product(update, l.difference(before.h, fresh)))};
    });
  const bool is_relu = std::get<Rnn>(op).relu;
  return l.run([&](ValueId x, ValueId h, StepState) {
    return StepState{is_relu ? l.relu(l.sum(x, h)) : l.tanh(l.sum(x, h))};
  });
}

}  // namespace deuteron
