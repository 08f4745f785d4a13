// SPDX-License-Identifier: Apache-2.0
#include "ops/common/recurrent.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ops/common/int16.h"
#include "ops/common/multiplier.h"
#include "ops/common/refusals.h"

namespace deuteron {

// The kernels' sums of products stay below 2^29, kernels/recurrent/kernel.h.
static constexpr i64 kMostColumns = 32768;

RecurrentSizes sizes_of(const RecurrentForm& form, TypeView in) {
  const Shape &x = in[0].shape, &u = in[weight_operand(0, kStateWeight)].shape;
  return {x[form.batch_first ? 1 : 0],
          x[form.batch_first ? 0 : 1],
          x[2],
          u[1],
          form.directions(),
          u[0]};
}

static Refusal wrong_shape(const RecurrentKind& kind, const char* what, const Shape& measured,
                           const Shape& limit) {
  return {fmt::format("{}: {} does not fit", kind.name, what), to_text(measured), to_text(limit),
          fmt::format("{}.shape", kind.name)};
}

Result<std::vector<Type>> infer_recurrent(const RecurrentForm& form, const RecurrentKind& kind,
                                          TypeView in) {
  const size_t first = initial_operand(form), states = static_cast<size_t>(kind.states);
  if (in.size() != first && in.size() != first + states)
    return Refusal{
        fmt::format("{} takes x, four weights for each direction and perhaps its initial states",
                    kind.name),
        std::to_string(in.size()), fmt::format("{} or {}", first, first + states),
        fmt::format("{}.operands", kind.name)};
  if (in[0].rank() != 3 || in[weight_operand(0, kStateWeight)].rank() != 2)
    return Refusal{fmt::format("{} takes x [t,n,inputs] and weights of rank 2", kind.name),
                   std::to_string(in[0].rank()), "3", fmt::format("{}.rank", kind.name)};
  const RecurrentSizes s = sizes_of(form, in);
  if (s.rows != kind.gates * s.units)
    return wrong_shape(kind, "the recurrent weight", {s.rows, s.units},
                       {kind.gates * s.units, s.units});
  if (s.steps < 1 || s.batch < 1 || s.inputs < 1 || s.units < 1)
    return wrong_shape(kind, "x without elements", in[0].shape, {1, 1, 1});
  for (i64 d = 0; d < s.directions; ++d) {
    const Shape expected[] = {{s.rows, s.inputs}, {s.rows, s.units}, {s.rows}, {s.rows}};
    for (int w = 0; w < kWeightsOfADirection; ++w)
      if (in[weight_operand(d, w)].shape != expected[w])
        return wrong_shape(kind, "a weight or bias", in[weight_operand(d, w)].shape, expected[w]);
  }
  const Shape state{s.directions, s.batch, s.units};
  for (size_t k = first; k < in.size(); ++k)
    if (in[k].shape != state) return wrong_shape(kind, "an initial state", in[k].shape, state);
  std::vector<Type> results;
  Shape y = in[0].shape;
  y[2] = s.directions * s.units;
  if (form.sequence) results.push_back({in[0].dtype, std::move(y), {}});
  for (size_t k = 0; k < states; ++k) results.push_back({in[0].dtype, state, {}});
  return results;
}

i64 recurrent_macs(const RecurrentForm& form, TypeView in) {
  const RecurrentSizes s = sizes_of(form, in);
  return s.directions * s.steps * s.batch * s.rows * (s.inputs + s.units);
}

// ---- float

static void sum_rows(const float* weight, const float* bias, const float* v, i64 rows, i64 columns,
                     double* sums) {
  for (i64 r = 0; r < rows; ++r) {
    double sum = bias[r];
    for (i64 i = 0; i < columns; ++i) sum += static_cast<double>(weight[r * columns + i]) * v[i];
    sums[r] = sum;
  }
}

void execute_recurrent(const RecurrentForm& form, const RecurrentKind& kind,
                       std::span<const HostTensor> in, std::span<const HostTensor> out,
                       void (*step)(const FloatStep&)) {
  std::vector<const Type*> types;
  for (const HostTensor& t : in) types.push_back(t.type);
  const RecurrentSizes s = sizes_of(form, TypeView(types));
  const size_t first = initial_operand(form), result = form.sequence ? 1 : 0;
  std::vector<double> input_sums(static_cast<size_t>(s.rows)), state_sums(input_sums);
  std::vector<float> h(static_cast<size_t>(s.units)), next(h), cell(h);
  for (i64 d = 0; d < s.directions; ++d)
    for (i64 n = 0; n < s.batch; ++n) {
      const i64 at = (d * s.batch + n) * s.units;
      const auto initial = [&](size_t k, std::vector<float>& state) {
        if (in.size() > first) std::copy_n(in[first + k].data + at, s.units, state.begin());
        else std::fill(state.begin(), state.end(), 0.0f);
      };
      initial(0, h);
      if (kind.states > 1) initial(1, cell);
      const bool backward = form.reverse != (d == 1);
      for (i64 k = 0; k < s.steps; ++k) {
        const i64 t = backward ? s.steps - 1 - k : k,
                  row = form.batch_first ? n * s.steps + t : t * s.batch + n;
        const auto weight = [&](int which) { return in[weight_operand(d, which)].data; };
        sum_rows(weight(kInputWeight), weight(kInputBias), in[0].data + row * s.inputs, s.rows,
                 s.inputs, input_sums.data());
        sum_rows(weight(kStateWeight), weight(kStateBias), h.data(), s.rows, s.units,
                 state_sums.data());
        step({s.units, input_sums.data(), state_sums.data(), h.data(), next.data(), cell.data()});
        h.swap(next);
        if (form.sequence)
          std::copy(h.begin(), h.end(), out[0].data + (row * s.directions + d) * s.units);
      }
      std::copy(h.begin(), h.end(), out[result].data + at);
      if (kind.states > 1) std::copy(cell.begin(), cell.end(), out[result + 1].data + at);
    }
}

// ---- int8 and int16

// What differs between the kernels: the largest weight, and the bits of a multiplier with which two
// products stay within 63 bits.
namespace {
struct Limits {
  bool is_wide;
  double most_weight;
  int multiplier_bits;
};
}  // namespace
static Limits limits_of(const Type& x) {
  return x.dtype == DType::s16 ? Limits{true, 32767, 16} : Limits{false, 127, 31};
}

// One row of weights with its own scale, wide enough for `bias` to stay below 2^29 steps of
// `input_scale` times that scale.
static double quantize_row(std::span<const float> row, double bias, double input_scale,
                           const Limits& limits, std::vector<int8_t>& bytes) {
  double most = 0;
  for (const float w : row) most = std::max(most, std::fabs(static_cast<double>(w)));
  const double for_bias = std::fabs(bias) / input_scale;
  double scale = std::max(most / limits.most_weight, for_bias * 0x1p-29);
  if (most == 0) scale = std::max(for_bias * 0x1p-24, 1e-12);  // nothing but a bias: it decides
  for (const float w : row) {
    const auto step = static_cast<int16_t>(
        std::clamp(std::nearbyint(w / scale), -limits.most_weight, limits.most_weight));
    bytes.push_back(static_cast<int8_t>(step));
    if (limits.is_wide) bytes.push_back(static_cast<int8_t>(step >> 8));
  }
  return scale;
}

static i64 sum_of_last(const std::vector<int8_t>& steps, i64 count) {
  i64 sum = 0;
  for (i64 k = 0; k < count; ++k) sum += steps[steps.size() - 1 - static_cast<size_t>(k)];
  return sum;
}

namespace {

struct RowScales {
  double input, state[2];  // of a step of the sum; state 1: of the initial one
};

}  // namespace

// The multipliers of a row have one shift: all products are added before they are rounded.
static std::optional<Refusal> add_multipliers(GateConstants& g, const RowScales& s, i64 states,
                                              double unit, int bits, i64 direction, i64 row,
                                              i64 rows, const char* rule) {
  double most = s.input / unit;
  for (i64 k = 0; k < states; ++k) most = std::max(most, s.state[k] / unit);
  int exponent = 0;
  std::frexp(most, &exponent);
  if (!std::isfinite(most) || exponent > bits - 1)
    return Refusal{"the scales of the weights and inputs are too coarse", fmt::format("{}", most),
                   fmt::format("2^{}", bits - 1), rule};
  const int shift = std::min(bits - exponent, 60);
  const auto multiplier = [&](double scale) {
    return static_cast<i32>(
        std::min(std::nearbyint(std::ldexp(scale / unit, shift)), std::ldexp(1.0, bits) - 1));
  };
  g.shift.push_back(shift);
  g.multiplier.push_back(multiplier(s.input));
  for (i64 k = 0; k < states; ++k)
    g.recurrent_multiplier[(direction * states + k) * rows + row] = multiplier(s.state[k]);
  return std::nullopt;
}

Result<GateConstants> gate_constants(const RecurrentForm& form, const RecurrentKind& kind,
                                     const LowerContext& c, const Quant& state, double unit,
                                     i64 state_bias_from) {
  const RecurrentSizes s = sizes_of(form, c.in);
  const std::string rule = fmt::format("deuteron.{}", kind.name);
  if (std::max(s.inputs, s.units) > kMostColumns)
    return Refusal{"the weights have too many columns", std::to_string(std::max(s.inputs, s.units)),
                   std::to_string(kMostColumns), rule + ".columns"};
  const bool given = c.in.size() > initial_operand(form);
  const i64 states = given ? 2 : 1;
  const Quant& x = c.in[0].quant;
  const Quant* quants[] = {&state, given ? &c.in[initial_operand(form)].quant : nullptr};
  // int16 has zero points of 0, for which no sum of weights counts
  const Limits limits = limits_of(c.in[0]);
  GateConstants g;
  g.recurrent_bias.resize(static_cast<size_t>(s.directions * states * s.rows));
  g.recurrent_multiplier.resize(g.recurrent_bias.size());
  for (i64 d = 0; d < s.directions; ++d) {
    std::span<const float> data[kWeightsOfADirection];
    for (int w = 0; w < kWeightsOfADirection; ++w) {
      const Constant* constant = c.data[weight_operand(d, w)];
      if (!constant || c.in[weight_operand(d, w)].dtype != DType::f32)
        return Refusal{"a weight or bias is not a float constant", "", "", rule + ".weight"};
      data[w] = constant->as<float>();
    }
    for (i64 r = 0; r < s.rows; ++r) {
      const bool own = r >= state_bias_from;
      const double input_bias =
          static_cast<double>(data[kInputBias][r]) + (own ? 0.0 : data[kStateBias][r]);
      const double state_bias = own ? data[kStateBias][r] : 0.0;
      double finest = quants[0]->scale[0];
      if (given) finest = std::min<double>(finest, quants[1]->scale[0]);
      RowScales scales{};
      scales.input = x.scale[0] * quantize_row(data[kInputWeight].subspan(r * s.inputs, s.inputs),
                                               input_bias, x.scale[0], limits, g.weight);
      const double weight_scale = quantize_row(data[kStateWeight].subspan(r * s.units, s.units),
                                               state_bias, finest, limits, g.recurrent);
      g.bias.push_back(static_cast<i32>(std::nearbyint(input_bias / scales.input)) -
                       static_cast<i32>(x.zero_point[0] * sum_of_last(g.weight, s.inputs)));
      for (i64 k = 0; k < states; ++k) {
        scales.state[k] = quants[k]->scale[0] * weight_scale;
        g.recurrent_bias[(d * states + k) * s.rows + r] =
            static_cast<i32>(std::nearbyint(state_bias / scales.state[k])) -
            static_cast<i32>(quants[k]->zero_point[0] * sum_of_last(g.recurrent, s.units));
      }
      if (auto refusal = add_multipliers(g, scales, states, unit, limits.multiplier_bits, d, r,
                                         s.rows, (rule + ".scale").c_str()))
        return *refusal;
    }
  }
  return g;
}

Result<RecurrentCall> begin_recurrent_call(const std::string& kernel, const RecurrentForm& form,
                                           const RecurrentKind& kind, const LowerContext& c,
                                           double unit, i64 state_bias_from, double state_unit) {
  const std::string rule = fmt::format("deuteron.{}.dtype", kind.name);
  const size_t first = initial_operand(form);
  const bool wide = c.in[0].dtype == DType::s16;
  for (size_t k = 0; wide && k < c.in.size(); k = k == 0 ? first : k + 1)
    if (auto why = require_int16(c.in[k])) return *why;
  for (size_t k = 0; !wide && k < c.in.size(); ++k)
    if (k == 0 || k >= first)
      if (c.in[k].dtype != DType::s8 || c.in[k].quant.empty())
        return Refusal{fmt::format("the model came quantized but leaves {} in float, so there is "
                                   "no int8 range for it; give samples with "
                                   "--calibrate, or have the quantizer annotate this layer",
                                   k == 0 ? "x" : "an initial state"),
                       to_text(c.in[k]), "s8", rule};
  for (size_t k = 0; k < c.out.size(); ++k)
    if (auto r = wide ? require_int16(c.out[k]) : require_int8(c.out[k], "a result", rule.c_str()))
      return *r;
  const RecurrentSizes s = sizes_of(form, c.in);
  const Quant& y = c.out[0].quant;
  Result<GateConstants> made = gate_constants(form, kind, c, y, unit, state_bias_from);
  if (!made) return made.why;
  GateConstants& g = *made.value;
  const double y_scale = state_unit / y.scale[0];
  if (y_scale >= 1)
    return Refusal{"the scale of the result is too fine", fmt::format("{}", y_scale), "1",
                   fmt::format("deuteron.{}.scale", kind.name)};
  const auto m = checked_multiplier(y_scale, Ties::to_even,
                                    fmt::format("deuteron.{}.scale", kind.name).c_str());
  if (!m) return m.why;
  const i64 states = c.in.size() > first ? 2 : 1;

  RecurrentCall result{CallBuilder(wide ? kernel + "_s16" : kernel, c.in.size(), c.out.size()), s};
  CallBuilder& call = result.call;
  call.in(0, plain_face(c.in[0].shape));
  if (states > 1) call.in(static_cast<i64>(first), plain_face(c.in[first].shape));
  else call.none();
  const auto weights = [&](i64 columns, std::vector<int8_t>&& bytes) {
    const Shape shape{s.directions, s.rows, columns};
    if (!wide) {
      call.constant(DType::s8, shape, std::move(bytes));
      return;
    }
    std::vector<int16_t> steps(bytes.size() / 2);
    std::memcpy(steps.data(), bytes.data(), bytes.size());
    call.constant(DType::s16, shape, std::move(steps));
  };
  weights(s.inputs, std::move(g.weight));
  weights(s.units, std::move(g.recurrent));
  call.constant(DType::s32, {s.directions, s.rows}, std::move(g.bias));
  call.constant(DType::s32, {s.directions, states, s.rows}, std::move(g.recurrent_bias));
  call.constant(DType::s32, {s.directions, s.rows}, std::move(g.multiplier));
  call.constant(DType::s32, {s.directions, states, s.rows}, std::move(g.recurrent_multiplier));
  call.constant(DType::s32, {s.directions, s.rows}, std::move(g.shift));
  call.boolean(form.batch_first).boolean(form.reverse).boolean(form.sequence);
  call.integer(y.zero_point[0]).integer(m->value).integer(m->shift);
  return result;
}

void add_state_results(RecurrentCall& c, const RecurrentForm& form, const LowerContext& context) {
  if (form.sequence) {
    c.call.out(0, plain_face(context.out[0].shape)).out(1, plain_face(context.out[1].shape));
  } else {
    c.call.scratch(2 * c.sizes.units * bytes_of(context.in[0].dtype))
        .out(0, plain_face(context.out[0].shape));
  }
}

i64 fraction_bits(double range) {
  i64 bits = 15;
  while (bits > 0 && std::ldexp(range, static_cast<int>(bits)) > 32767) --bits;
  return bits;
}

double largest_magnitude(const Quant& q) {
  return std::max(q.high - q.zero_point[0], q.zero_point[0] - q.low) *
         static_cast<double>(q.scale[0]);
}

}  // namespace deuteron
