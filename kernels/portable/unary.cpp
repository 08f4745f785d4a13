// SPDX-License-Identifier: Apache-2.0
// One tensor, element by element. Functions with values between the integers read any dtype and
// write float; those that keep integers whole (abs, neg, sign, rounding) write the input's dtype.
#include <cmath>
#include <cstring>

#include "kernels/portable/elementwise.h"
#include "kernels/portable/kernels.h"

namespace deuteron {
namespace {
using namespace portable;

struct UnaryOp {
  float (*real)(float v, float p0, float p1);
  int64_t (*integer)(int64_t v);  // null: integers are read as float
};

void run_unary(const Elementwise& e) {
  const UnaryOp& op = *static_cast<const UnaryOp*>(e.op);
  const float p0 = static_cast<float>(e.parameter[0]), p1 = static_cast<float>(e.parameter[1]);
  const bool floats = e.types[0] == ScalarType::f32;
  each<1>(e, [&](const int32_t* at) {
    if (e.out_type != ScalarType::f32) {
      write_integer(e.out, at[1], e.out_type, op.integer(read_integer(e.in[0], at[0], e.types[0])));
    } else {
      const float v = floats ? static_cast<const float*>(e.in[0])[at[0]]
                             : static_cast<float>(read_integer(e.in[0], at[0], e.types[0]));
      static_cast<float*>(e.out)[at[1]] = op.real(v, p0, p1);
    }
  });
}

Status keep_unary(Call& call, Prepared* prepared, int out, double p0, double p1,
                  const UnaryOp& op) {
  const ScalarType from = call.tensor(0).type, to = call.tensor(out).type;
  if (from == ScalarType::f64 || !is_known(from))
    return bad_argument(0, "has a dtype that is not supported");
  if (op.integer && from == ScalarType::b8) return bad_argument(0, "must not be bool");
  const ScalarType want = op.integer ? from : ScalarType::f32;
  if (to != want)
    return bad_argument(out,
                        want == ScalarType::f32 ? "must be float" : "must have the input's dtype");
  return keep_elementwise<1>(
      call, prepared, {0}, out, p0, p1,
      [](const void* e) { run_unary(*static_cast<const Elementwise*>(e)); }, &op);
}

// (x, out)
template <const UnaryOp& op>
Status prepare_plain(Call& call, Prepared* prepared) {
  return keep_unary(call, prepared, 1, 0, 0, op);
}

int64_t same(int64_t v) { return v; }
int64_t negated(int64_t v) { return static_cast<int64_t>(0 - static_cast<uint64_t>(v)); }

constexpr UnaryOp kAbsolute = {[](float v, float, float) { return std::fabs(v); },
                               [](int64_t v) { return v < 0 ? negated(v) : v; }};
constexpr UnaryOp kNegated = {[](float v, float, float) { return -v; }, negated};
constexpr UnaryOp kSign = {
    [](float v, float, float) { return v != v ? v : static_cast<float>((v > 0) - (v < 0)); },
    [](int64_t v) -> int64_t { return (v > 0) - (v < 0); }};
constexpr UnaryOp kFloor = {[](float v, float, float) { return std::floor(v); }, same};
constexpr UnaryOp kCeil = {[](float v, float, float) { return std::ceil(v); }, same};
constexpr UnaryOp kTrunc = {[](float v, float, float) { return std::trunc(v); }, same};
constexpr UnaryOp kRound = {[](float v, float, float) { return std::nearbyint(v); },
                            same};  // ties to even

constexpr UnaryOp kExp = {[](float v, float, float) { return std::exp(v); }, nullptr};
constexpr UnaryOp kExpm1 = {[](float v, float, float) { return std::expm1(v); }, nullptr};
constexpr UnaryOp kLog = {[](float v, float, float) { return std::log(v); }, nullptr};
constexpr UnaryOp kLog1p = {[](float v, float, float) { return std::log1p(v); }, nullptr};
constexpr UnaryOp kLog2 = {[](float v, float, float) { return std::log2(v); }, nullptr};
constexpr UnaryOp kLog10 = {[](float v, float, float) { return std::log10(v); }, nullptr};
constexpr UnaryOp kSqrt = {[](float v, float, float) { return std::sqrt(v); }, nullptr};
// ExecuTorch divides in double and rounds, which gives the same float: a quotient of double has
// more than twice the bits and two.
constexpr UnaryOp kRsqrt = {[](float v, float, float) { return 1.0f / std::sqrt(v); }, nullptr};
constexpr UnaryOp kReciprocal = {[](float v, float, float) { return 1.0f / v; }, nullptr};
constexpr UnaryOp kErf = {[](float v, float, float) { return std::erf(v); }, nullptr};

constexpr UnaryOp kSin = {[](float v, float, float) { return std::sin(v); }, nullptr};
constexpr UnaryOp kCos = {[](float v, float, float) { return std::cos(v); }, nullptr};
constexpr UnaryOp kTan = {[](float v, float, float) { return std::tan(v); }, nullptr};
constexpr UnaryOp kAsin = {[](float v, float, float) { return std::asin(v); }, nullptr};
constexpr UnaryOp kAcos = {[](float v, float, float) { return std::acos(v); }, nullptr};
constexpr UnaryOp kAtan = {[](float v, float, float) { return std::atan(v); }, nullptr};
constexpr UnaryOp kSinh = {[](float v, float, float) { return std::sinh(v); }, nullptr};
constexpr UnaryOp kCosh = {[](float v, float, float) { return std::cosh(v); }, nullptr};
constexpr UnaryOp kTanh = {[](float v, float, float) { return std::tanh(v); }, nullptr};
constexpr UnaryOp kAsinh = {[](float v, float, float) { return std::asinh(v); }, nullptr};
constexpr UnaryOp kAcosh = {[](float v, float, float) { return std::acosh(v); }, nullptr};
constexpr UnaryOp kAtanh = {[](float v, float, float) { return std::atanh(v); }, nullptr};

constexpr UnaryOp kSigmoid = {[](float v, float, float) { return 1 / (1 + std::exp(-v)); },
                              nullptr};
constexpr UnaryOp kGeluErf = {
    [](float v, float, float) { return 0.5f * v * (1 + std::erf(v * 0.70710678f)); },
    nullptr};  // sqrt(1/2)
constexpr UnaryOp kGeluTanh = {[](float v, float, float) {
                                 return 0.5f * v *
                                        (1 + std::tanh(0.79788456f * (v + 0.044715f * v * v * v)));
                               },  // sqrt(2/pi)
                               nullptr};
constexpr UnaryOp kLeaky = {[](float v, float slope, float) { return v > 0 ? v : v * slope; },
                            nullptr};
// alpha * scale, scale; the input scale is 1
constexpr UnaryOp kElu = {
    [](float v, float below, float above) { return v <= 0 ? std::expm1(v) * below : v * above; },
    nullptr};
// epsilon, or -1 for none
constexpr UnaryOp kLogit = {[](float v, float epsilon, float) {
                              if (epsilon >= 0)
                                v = v < epsilon ? epsilon : v > 1 - epsilon ? 1 - epsilon : v;
                              return std::log(v / (1 - v));
                            },
                            nullptr};

// (x, slope, out)
Status prepare_leaky_relu(Call& call, Prepared* prepared) {
  if (call.tensor(0).type != ScalarType::f32) return bad_argument(0, "must be float");
  return keep_unary(call, prepared, 2, call.real(1), 0, kLeaky);
}
// (x, alpha, scale, input_scale, out)
Status prepare_elu(Call& call, Prepared* prepared) {
  if (call.tensor(0).type != ScalarType::f32) return bad_argument(0, "must be float");
  if (call.real(3) != 1) return bad_argument(3, "must be 1");
  return keep_unary(call, prepared, 4, call.real(1) * call.real(2), call.real(2), kElu);
}
// (x, approximation, out)
Status prepare_gelu(Call& call, Prepared* prepared) {
  const bool none =
      call.args[1]->kind == Kind::none || std::strcmp(call.args[1]->string, "none") == 0;
  if (!none && std::strcmp(call.args[1]->string, "tanh") != 0)
    return bad_argument(1, "must be none or tanh");
  if (call.tensor(0).type != ScalarType::f32) return bad_argument(0, "must be float");
  return keep_unary(call, prepared, 2, 0, 0, none ? kGeluErf : kGeluTanh);
}
// (x, epsilon?, out)
Status prepare_logit(Call& call, Prepared* prepared) {
  const double epsilon = call.args[1]->kind == Kind::none ? -1 : call.real(1);
  return keep_unary(call, prepared, 2, epsilon < 0 ? -1 : epsilon, 0, kLogit);
}

}  // namespace

extern const Kernel kAtenAbs = {"aten::abs.out", "TO", prepare_plain<kAbsolute>};
extern const Kernel kAtenNeg = {"aten::neg.out", "TO", prepare_plain<kNegated>};
extern const Kernel kAtenSign = {"aten::sign.out", "TO", prepare_plain<kSign>};
extern const Kernel kAtenFloor = {"aten::floor.out", "TO", prepare_plain<kFloor>};
extern const Kernel kAtenCeil = {"aten::ceil.out", "TO", prepare_plain<kCeil>};
extern const Kernel kAtenTrunc = {"aten::trunc.out", "TO", prepare_plain<kTrunc>};
extern const Kernel kAtenRound = {"aten::round.out", "TO", prepare_plain<kRound>};
extern const Kernel kAtenExp = {"aten::exp.out", "TO", prepare_plain<kExp>};
extern const Kernel kAtenExpm1 = {"aten::expm1.out", "TO", prepare_plain<kExpm1>};
extern const Kernel kAtenLog = {"aten::log.out", "TO", prepare_plain<kLog>};
extern const Kernel kAtenLog1p = {"aten::log1p.out", "TO", prepare_plain<kLog1p>};
extern const Kernel kAtenLog2 = {"aten::log2.out", "TO", prepare_plain<kLog2>};
extern const Kernel kAtenLog10 = {"aten::log10.out", "TO", prepare_plain<kLog10>};
extern const Kernel kAtenSqrt = {"aten::sqrt.out", "TO", prepare_plain<kSqrt>};
extern const Kernel kAtenRsqrt = {"aten::rsqrt.out", "TO", prepare_plain<kRsqrt>};
extern const Kernel kAtenReciprocal = {"aten::reciprocal.out", "TO", prepare_plain<kReciprocal>};
extern const Kernel kAtenErf = {"aten::erf.out", "TO", prepare_plain<kErf>};
extern const Kernel kAtenSin = {"aten::sin.out", "TO", prepare_plain<kSin>};
extern const Kernel kAtenCos = {"aten::cos.out", "TO", prepare_plain<kCos>};
extern const Kernel kAtenTan = {"aten::tan.out", "TO", prepare_plain<kTan>};
extern const Kernel kAtenAsin = {"aten::asin.out", "TO", prepare_plain<kAsin>};
extern const Kernel kAtenAcos = {"aten::acos.out", "TO", prepare_plain<kAcos>};
extern const Kernel kAtenAtan = {"aten::atan.out", "TO", prepare_plain<kAtan>};
extern const Kernel kAtenSinh = {"aten::sinh.out", "TO", prepare_plain<kSinh>};
extern const Kernel kAtenCosh = {"aten::cosh.out", "TO", prepare_plain<kCosh>};
extern const Kernel kAtenTanh = {"aten::tanh.out", "TO", prepare_plain<kTanh>};
extern const Kernel kAtenAsinh = {"aten::asinh.out", "TO", prepare_plain<kAsinh>};
extern const Kernel kAtenAcosh = {"aten::acosh.out", "TO", prepare_plain<kAcosh>};
extern const Kernel kAtenAtanh = {"aten::atanh.out", "TO", prepare_plain<kAtanh>};
extern const Kernel kAtenSigmoid = {"aten::sigmoid.out", "TO", prepare_plain<kSigmoid>};
extern const Kernel kAtenGelu = {"aten::gelu.out", "TSO", prepare_gelu};
extern const Kernel kAtenLeakyRelu = {"aten::leaky_relu.out", "TFO", prepare_leaky_relu};
extern const Kernel kAtenElu = {"aten::elu.out", "TFFFO", prepare_elu};
extern const Kernel kAtenLogit = {"aten::logit.out", "TfO", prepare_logit};

}  // namespace deuteron
