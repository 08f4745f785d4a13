// SPDX-License-Identifier: Apache-2.0
// SVDF: one step of a layer that looks at features of the last steps. It keeps them in a variable
// tensor, which becomes a state.
#include <fmt/format.h>

#include "frontends/tflite/operators/import_table.h"
#include "frontends/tflite/operators/window.h"
#include "ops/common/multiplier.h"

namespace deuteron::tflite {
namespace {

// Operands. Source: tensorflow/lite/kernels/svdf.cc.
enum : size_t { kStep, kFeatures, kTimes, kBias, kState, kSvdfOperands };

struct Sizes {
  i64 batch, inputs, filters, memory, rank;
  i64 units() const { return filters / rank; }
};

std::optional<Sizes> sizes_of(Call& c, const SVDFOptions& o) {
  for (const size_t i : {kStep, kFeatures, kTimes, kState})
    c.require(c.declared(i).rank() == 2, fmt::format("operand {} is not a matrix", i),
              to_text(c.declared(i).shape), "two axes", "tflite.operand.rank");
  for (const size_t i : {kFeatures, kTimes})
    c.require(c.is_constant(i), "has weights that are computed, they have to be constants", "", "",
              "tflite.operand.constant");
  if (!c.ok()) return std::nullopt;
  const Shape &x = c.declared(kStep).shape, &features = c.declared(kFeatures).shape,
              &times = c.declared(kTimes).shape;
  const Sizes s{x[0], x[1], features[0], times[1], o.rank()};
  c.require(s.rank >= 1 && s.filters % s.rank == 0, "has a rank that does not divide its filters",
            std::to_string(s.rank), fmt::format("a divisor of {}", s.filters), "tflite.svdf.rank");
  c.require(features[1] == s.inputs && times[0] == s.filters,
            "has weights that do not fit its operand or one another",
            fmt::format("[{}], [{}]", to_text(features), to_text(times)),
            fmt::format("[{},{}], [{},..]", s.filters, s.inputs, s.filters), "tflite.svdf.weights");
  const Shape state{s.batch, s.filters * s.memory};
  c.require(c.declared(kState).shape == state, "has a state that does not hold its features",
            fmt::format("[{}]", to_text(c.declared(kState).shape)),
            fmt::format("[{}]", to_text(state)), "tflite.svdf.state");
  return c.ok() ? std::optional(s) : std::nullopt;
}

// The state's type is that of the weights of time: int16, or int8, which only TFLite Micro
// computes.
void check_types(Call& c, const SVDFOptions& o) {
  const Type &x = c.declared(kStep), &features = c.declared(kFeatures), &times = c.declared(kTimes),
             &state = c.declared(kState);
  const Type& y = c.declared_result(0);
  c.require(o.fused_activation_function() == ActivationFunctionType::RELU,
            "has another activation than relu",
            std::to_string(static_cast<int>(o.fused_activation_function())), "RELU",
            "tflite.svdf.activation");
  const bool has_state = has_one_scale(state, DType::s16) || has_one_scale(state, DType::s8);
  c.require(has_one_scale(x, DType::s8) && has_one_scale(features, DType::s8) &&
                has_one_scale(y, DType::s8) && has_state && has_one_scale(times, state.dtype),
            "has other types than TFLite's kernel takes",
            fmt::format("{}, {}, {}, {}, {}", to_text(x), to_text(features), to_text(times),
                        to_text(state), to_text(y)),
            "INT8, INT8, INT16, INT16, INT8, or INT8 alone, each with one scale",
            "tflite.svdf.type");
  if (!c.ok()) return;
  for (const Type* t : {&features, &times, state.dtype == DType::s16 ? &state : &times})
    c.require(t->quant.zero_point[0] == 0, "has weights or a state with a zero point",
              std::to_string(t->quant.zero_point[0]), "0", "tflite.svdf.zero_point");
}

// The reference kernel as it is, bit for bit.
void import_int8(Call& c, const Sizes& s, const SVDFOptions& o) {
  check_types(c, o);
  if (!c.ok()) return;
  const Type &x = c.declared(kStep), &features = c.declared(kFeatures), &times = c.declared(kTimes),
             &state = c.declared(kState);
  const Type& y = c.declared_result(0);
  // TFLite forms both factors in float32.
  const float into = x.quant.scale[0] * features.quant.scale[0] / state.quant.scale[0];
  const float out_of = state.quant.scale[0] * times.quant.scale[0] / y.quant.scale[0];
  const auto first = checked_multiplier(into, Ties::away, "tflite.svdf.scale"),
             last = checked_multiplier(out_of, Ties::away, "tflite.svdf.scale");
  if (!first) return c.refuse(first.why);
  if (!last) return c.refuse(last.why);
  const bool of_bytes = state.dtype == DType::s8;
  std::vector<ValueId> inputs{c.steps_value(kStep), c.constant_value(kFeatures),
                              c.constant_value(kTimes), c.kept(kState)};
  CallBuilder call(of_bytes ? "deuteron::svdf_bytes" : "deuteron::svdf", kSvdfOperands, 2);
  for (const i64 i : {0, 1, 2}) call.in(i, plain_face(c.shape(inputs[static_cast<size_t>(i)])));
  if (c.has(kBias)) {
    inputs.push_back(c.constant_value(kBias));
    c.require(c.type(inputs.back()).dtype == DType::s32, "has a bias that is not of int32",
              to_text(c.declared(kBias)), "INT32", "tflite.operand.bias");
    call.in(4, plain_face(c.shape(inputs.back())));
  } else {
    call.none();
  }
  call.in(3, plain_face(state.shape));
  call.integer(x.quant.zero_point[0]).integer(first->value).integer(first->shift);
  call.integer(y.quant.zero_point[0]).integer(last->value).integer(last->shift);
  if (of_bytes) call.integer(state.quant.zero_point[0]);
  call.out(0, plain_face({s.batch, s.units()})).out(1, plain_face(state.shape));
  KernelCall kernel = call.done().call;
  kernel.macs = s.batch * s.filters * (s.inputs + s.memory);
  const std::vector<ValueId> results = c.add_calls(
      std::move(kernel), std::move(inputs), {{DType::s8, {s.batch, s.units()}, y.quant}, state});
  if (!c.ok()) return;
  c.result(results[0]);
  c.keep(kState, results[1]);
}

// The same of real values, from operators that are quantized like any others.
void import_float(Call& c, const Sizes& s, const SVDFOptions& o) {
  const ValueId x = c.real(kStep), features = c.real(kFeatures), times = c.real(kTimes);
  c.require(c.declared(kState).dtype == DType::f32,
            "keeps a state of another type than it computes", to_text(c.declared(kState)),
            "FLOAT32", "tflite.svdf.type");
  if (!c.ok()) return;
  const ValueId before = c.reshape(c.kept(kState), {s.batch, s.filters, s.memory}, "before");
  ValueId now =
      c.reshape(c.add(Linear{}, {x, features}, "feature"), {s.batch, s.filters, 1}, "newest");
  if (s.memory > 1)
    now = c.add(Concat{2}, {c.add(Slice{2, 1, s.memory - 1, 1}, {before}, "older"), now}, "memory");
  const auto sum = [&](ValueId v, std::string_view what) {
    return c.add(Reduce{Reduce::kSum, {2}}, {v}, what);
  };
  const ValueId over_time =
      sum(c.add(Mul{}, {now, c.reshape(times, {1, s.filters, s.memory}, "times")}, "weighted"),
          "over_time");
  ValueId y =
      c.reshape(sum(c.reshape(over_time, {s.batch, s.units(), s.rank}, "ranks"), "over_ranks"),
                {s.batch, s.units()}, "sum");
  if (c.has(kBias)) y = c.add(Add{}, {y, c.real(kBias)}, "biased");
  c.result(activated(c, y, o.fused_activation_function()));
  c.keep(kState, c.reshape(now, {s.batch, s.filters * s.memory}, "after"));
}

}  // namespace

static void import_svdf(Call& c) {
  const auto* o = c.options<SVDFOptions>();
  c.takes(kBias, kSvdfOperands);
  c.require(c.has(kState), "lacks its state", std::to_string(c.operands()),
            std::to_string(size_t{kSvdfOperands}), "tflite.operator.operands");
  if (!c.ok()) return;
  const std::optional<Sizes> s = sizes_of(c, *o);
  if (s) c.declared(kStep).quant.empty() ? import_float(c, *s, *o) : import_int8(c, *s, *o);
}

static constexpr ImportRow kSvdfRows[] = {
    {BuiltinOperator::SVDF, import_svdf, Int16::taken},
};
ImportRows svdf_rows() { return kSvdfRows; }

}  // namespace deuteron::tflite
