#include "ops/unary/unary.h"

#include "ops/unary/table.h"

namespace deuteron {

static Result<std::vector<Type>> infer(const Unary&, TypeView in) {
  if (in.size() != 1) return Refusal{"takes one operand", std::to_string(in.size()), "1", "unary.operands"};
  return std::vector<Type>{{in[0].dtype, in[0].shape, {}}};
}

static Result<Lowered> cortex_m(const Unary& a, const LowerContext& c) {
  return lower_as_table(c, "cortex_m.unary.dtype", [&](float x) { return evaluate(a.fn, x, a.alpha); });
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
    {"function", "Neutron IR has the function (abs, neg, exp, log, rsqrt, sigmoid, tanh, leaky_relu, hardswish)", NpuTest::holds,
     [](const Unary& a, const NpuOperands&) { return std::optional<i64>(has_builtin(a.fn)); }},
};
// LOGISTIC and TANH have results of fixed parameters.
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
