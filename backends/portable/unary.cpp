// One float input, element by element.
#include <cmath>

#include "backends/portable/elementwise.h"
#include "backends/portable/kernels.h"

namespace deuteron {
namespace {
using namespace portable;

template <float (*F)(float, const Elementwise&)>
void run_unary(const Elementwise& e) {
  const float* x = static_cast<const float*>(e.in[0]);
  float* y = static_cast<float*>(e.out);
  each<1>(e, [&](const int32_t* at) { y[at[1]] = F(x[at[0]], e); });
}

template <float (*F)(float, const Elementwise&)>
Status keep_unary(Call& call, Prepared* prepared, int out, double p0, double p1) {
  if (call.tensor(0).type != ScalarType::f32) return bad_argument(0, "must be float");
  if (call.tensor(out).type != ScalarType::f32) return bad_argument(out, "must be float");
  return keep_elementwise<1>(call, prepared, {0}, out, p0, p1, [](const void* e) { run_unary<F>(*static_cast<const Elementwise*>(e)); });
}

// (x, out)
template <float (*F)(float, const Elementwise&)>
Status prepare_plain(Call& call, Prepared* prepared) {
  return keep_unary<F>(call, prepared, 1, 0, 0);
}

float absolute(float v, const Elementwise&) { return std::fabs(v); }
float negated(float v, const Elementwise&) { return -v; }
float exponential(float v, const Elementwise&) { return std::exp(v); }
float sine(float v, const Elementwise&) { return std::sin(v); }
float cosine(float v, const Elementwise&) { return std::cos(v); }
float floor_of(float v, const Elementwise&) { return std::floor(v); }
float rounded(float v, const Elementwise&) { return std::nearbyint(v); }  // ties to even
float log_plus_one(float v, const Elementwise&) { return std::log1p(v); }
float inverse(float v, const Elementwise&) { return 1.0f / v; }
float inverse_root(float v, const Elementwise&) { return static_cast<float>(1.0 / std::sqrt(static_cast<double>(v))); }
float leaky(float v, const Elementwise& e) { return v > 0 ? v : v * static_cast<float>(e.parameter[0]); }
// parameters: alpha * scale, scale; the input scale is 1
float exponential_linear(float v, const Elementwise& e) {
  return v <= 0 ? std::expm1(v) * static_cast<float>(e.parameter[0]) : v * static_cast<float>(e.parameter[1]);
}

// (x, slope, out)
Status prepare_leaky_relu(Call& call, Prepared* prepared) { return keep_unary<leaky>(call, prepared, 2, call.real(1), 0); }
// (x, alpha, scale, input_scale, out)
Status prepare_elu(Call& call, Prepared* prepared) {
  if (call.real(3) != 1) return bad_argument(3, "must be 1");
  return keep_unary<exponential_linear>(call, prepared, 4, call.real(1) * call.real(2), call.real(2));
}

}  // namespace

extern const Kernel kAtenAbs = {"aten::abs.out", "TO", prepare_plain<absolute>};
extern const Kernel kAtenNeg = {"aten::neg.out", "TO", prepare_plain<negated>};
extern const Kernel kAtenExp = {"aten::exp.out", "TO", prepare_plain<exponential>};
extern const Kernel kAtenSin = {"aten::sin.out", "TO", prepare_plain<sine>};
extern const Kernel kAtenCos = {"aten::cos.out", "TO", prepare_plain<cosine>};
extern const Kernel kAtenFloor = {"aten::floor.out", "TO", prepare_plain<floor_of>};
extern const Kernel kAtenRound = {"aten::round.out", "TO", prepare_plain<rounded>};
extern const Kernel kAtenLog1p = {"aten::log1p.out", "TO", prepare_plain<log_plus_one>};
extern const Kernel kAtenReciprocal = {"aten::reciprocal.out", "TO", prepare_plain<inverse>};
extern const Kernel kAtenRsqrt = {"aten::rsqrt.out", "TO", prepare_plain<inverse_root>};
extern const Kernel kAtenLeakyRelu = {"aten::leaky_relu.out", "TFO", prepare_leaky_relu};
extern const Kernel kAtenElu = {"aten::elu.out", "TFFFO", prepare_elu};

}  // namespace deuteron
