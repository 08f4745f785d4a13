#include "ops/unary/unary.h"

#include "ops/unary/pair_table.h"
#include "ops/unary/table.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Unary&, TypeView in) {
  if (in.size() != 1) return Refusal{"takes one operand", std::to_string(in.size()), "1", "unary.operands"};
  return std::vector<Type>{{in[0].dtype, in[0].shape, {}}};
}

// A result by way of the fixed parameters moves by at most so many of its own steps at once.
static constexpr float kMostStepsAtOnce = 4;

// LOGISTIC and TANH have results of fixed parameters.
static std::optional<Quant> fixed_result(UnaryFn fn) {
  if (fn == UnaryFn::sigmoid) return per_tensor(1.0f / 256, -128);
  if (fn == UnaryFn::tanh) return per_tensor(1.0f / 128, 0);
  return std::nullopt;
}

// What comes in the fixed parameters has the steps that y can tell apart, but for a few.
static bool fine_enough(const Quant& fixed, const Quant& y) { return fixed.scale[0] <= kMostStepsAtOnce * y.scale[0]; }

// As the NPU computes it: neg is 0 - x, sigmoid and tanh come to other parameters by way of their fixed ones. Nothing: as by a table.
static std::optional<std::vector<int8_t>> npu_table(const Unary& a, const Quant& x, const Quant& y) {
  if (a.fn == UnaryFn::neg) return pair_table(PairFn::sub, {&x, x.zero_point[0]}, {&x, {}}, y);
  const auto fixed = fixed_result(a.fn);
  if (!fixed || !fine_enough(*fixed, y)) return std::nullopt;
  std::vector<int8_t> table = table_of(x, *fixed, [&](float v) { return evaluate(a.fn, v, a.alpha); });
  const std::vector<int8_t> changed = table_of(*fixed, y, [](float v) { return v; });
  for (int8_t& entry : table) entry = changed[static_cast<size_t>(entry + 128)];
  return table;
}

static Result<Lowered> cortex_m(const Unary& a, const LowerContext& c) {
  return lower_made_table(c, "cortex_m.unary.dtype", [&](const Quant& x, const Quant& y) {
    const auto table = c.rounding == Rounding::tflite ? npu_table(a, x, y) : std::nullopt;
    return table ? *table : table_of(x, y, [&](float v) { return evaluate(a.fn, v, a.alpha); });
  });
}

static constexpr QuantSpec kQuant[] = {{DType::s8, Gran::per_tensor}, {DType::s8, Gran::per_tensor}};

// Limits: rules of ExecuTorch's NXP backend (converters of the operator); the numbers are the target's.
static bool has_builtin(UnaryFn fn) {
  switch (fn) {
    case UnaryFn::abs:
    case UnaryFn::neg:
    case UnaryFn::exp:
    case UnaryFn::log:
    case UnaryFn::rsqrt:
    case UnaryFn::sigmoid:
    case UnaryFn::tanh:
    case UnaryFn::leaky_relu:
    case UnaryFn::hardswish:
      return true;
    default:
      return false;
  }
}
static constexpr NpuRow<Unary> kNpu[] = {
    {"function", "Neutron IR has the function (abs, neg, exp, log, rsqrt, sigmoid, tanh, leaky_relu, hardswish)",
     must_hold("Neutron IR has no {}, only abs, neg, exp, log, rsqrt, sigmoid, tanh, leaky_relu and hardswish"),
     [](const Unary& a, const NpuOperands&) { return std::optional<i64>(has_builtin(a.fn)); }, nullptr, 1,
     [](const Unary& a) { return std::string(name_of(a.fn)); }},
    {"precision", "a step of sigmoid's 1/256 and tanh's 1/128 is at most 4 of the result's own",
     must_hold("a step of the NPU's sigmoid, 1/256, or tanh, 1/128, is more than 4 of the result's own"),
     [](const Unary& a, const NpuOperands& o) -> std::optional<i64> {
       const auto fixed = fixed_result(a.fn);
       if (!fixed || !o.is_quantized()) return std::nullopt;
       return fine_enough(*fixed, o.out[0].quant);
     }},
};
static constexpr QuantSpec kSigmoid[] = {{DType::s8, Gran::per_tensor}, {DType::s8, Gran::fixed, 0, false, 1.0f / 256, -128}};
static constexpr QuantSpec kTanh[] = {{DType::s8, Gran::per_tensor}, {DType::s8, Gran::fixed, 0, false, 1.0f / 128, 0}};
static std::span<const QuantSpec> npu_quantize(const Unary& a) {
  return a.fn == UnaryFn::sigmoid ? std::span<const QuantSpec>(kSigmoid) : a.fn == UnaryFn::tanh ? kTanh : kQuant;
}
static constexpr NpuSupport<Unary> kNpuSupport{
    .rows = kNpu, .builtin = "ABS, SUB, EXP, LOG, RSQRT, LOGISTIC, TANH, LEAKY_RELU, HARD_SWISH", .absent = {}, .quantize = npu_quantize};

const OpDef<Unary>& def_of(const Unary&) {
  static constexpr OpDef<Unary> d{
      .name = "unary", .infer = infer, .quantize = kQuant, .macs = no_macs, .execute = execute, .cortex_m = cortex_m, .npu = kNpuSupport};
  return d;
}

}  // namespace deuteron
