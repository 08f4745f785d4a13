// Two inputs, element by element: add, sub, mul, div, pow, comparison, where. Floats are computed as float, integers as int64.
#include <cmath>

#include "backends/portable/elementwise.h"
#include "backends/portable/kernels.h"

namespace deuteron {
namespace {
using namespace portable;

int64_t wrap_add(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
int64_t wrap_mul(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); }
// A scalar as an integer; the callers have checked that it is one.
int64_t whole(double v) { return static_cast<int64_t>(v); }
bool is_whole(double v) { return v >= -9e15 && v <= 9e15 && v == std::floor(v); }

struct Add {
  static float real(float a, float b, const Elementwise& e) { return a + static_cast<float>(e.parameter[0]) * b; }
  static int64_t integer(int64_t a, int64_t b, const Elementwise& e) { return wrap_add(a, wrap_mul(whole(e.parameter[0]), b)); }
};
struct Sub {
  static float real(float a, float b, const Elementwise& e) { return a - static_cast<float>(e.parameter[0]) * b; }
  static int64_t integer(int64_t a, int64_t b, const Elementwise& e) {
    return wrap_add(a, wrap_mul(wrap_mul(-1, whole(e.parameter[0])), b));
  }
};
struct Mul {
  static float real(float a, float b, const Elementwise&) { return a * b; }
  static int64_t integer(int64_t a, int64_t b, const Elementwise&) { return wrap_mul(a, b); }
};
struct Div {
  static float real(float a, float b, const Elementwise&) { return a / b; }
  static int64_t integer(int64_t, int64_t, const Elementwise&) { return 0; }  // integers are refused
};

template <class Op>
void run_binary(const Elementwise& e) {
  if (!is_real(e.out_type)) {
    each<2>(e, [&](const int32_t* at) {
      write_integer(e.out, at[2], e.out_type,
                    Op::integer(read_integer(e.in[0], at[0], e.types[0]), read_integer(e.in[1], at[1], e.types[1]), e));
    });
  } else if (e.types[0] == ScalarType::f32 && e.types[1] == ScalarType::f32 && e.out_type == ScalarType::f32) {
    const float *a = static_cast<const float*>(e.in[0]), *b = static_cast<const float*>(e.in[1]);
    float* y = static_cast<float*>(e.out);
    each<2>(e, [&](const int32_t* at) { y[at[2]] = Op::real(a[at[0]], b[at[1]], e); });
  } else {
    each<2>(e, [&](const int32_t* at) {
      const float a = static_cast<float>(read_real(e.in[0], at[0], e.types[0])),
                  b = static_cast<float>(read_real(e.in[1], at[1], e.types[1]));
      write_real(e.out, at[2], e.out_type, static_cast<double>(Op::real(a, b, e)));
    });
  }
}

// (a, b[, alpha], out)
template <class Op, bool kAlpha, bool kIntegers>
Status prepare_binary(Call& call, Prepared* prepared) {
  constexpr int kOut = kAlpha ? 3 : 2;
  const Tensor &a = call.tensor(0), &b = call.tensor(1), &y = call.tensor(kOut);
  const bool real = is_real(y.type);
  if (a.type == ScalarType::f64 || b.type == ScalarType::f64 || y.type == ScalarType::f64)
    return bad_argument(kOut, "float64 is not supported");
  if (!real && (is_real(a.type) || is_real(b.type))) return bad_argument(kOut, "must be float, as an input is");
  if (!real && !kIntegers) return bad_argument(kOut, "must be float");
  const double alpha = kAlpha ? call.real(2) : 1;
  if (!real && !is_whole(alpha)) return bad_argument(2, "must be a whole number for integers");
  return keep_elementwise<2>(call, prepared, {0, 1}, kOut, alpha, 0,
                             [](const void* e) { run_binary<Op>(*static_cast<const Elementwise*>(e)); });
}

// (x, scalar, out)
void run_pow(const Elementwise& e) {
  const float exponent = static_cast<float>(e.parameter[0]);
  each<1>(e, [&](const int32_t* at) { static_cast<float*>(e.out)[at[1]] = std::pow(static_cast<const float*>(e.in[0])[at[0]], exponent); });
}
void run_fmod(const Elementwise& e) {
  const bool real = is_real(e.out_type);
  const int64_t divisor = real ? 1 : whole(e.parameter[0]);
  each<1>(e, [&](const int32_t* at) {
    if (real) {
      static_cast<float*>(e.out)[at[1]] =
          std::fmod(static_cast<float>(read_real(e.in[0], at[0], e.types[0])), static_cast<float>(e.parameter[0]));
      return;
    }
    const int64_t v = read_integer(e.in[0], at[0], e.types[0]);
    write_integer(e.out, at[1], e.out_type, divisor == -1 ? 0 : v % divisor);
  });
}
void run_greater(const Elementwise& e) {
  each<1>(e, [&](const int32_t* at) { write_integer(e.out, at[1], e.out_type, read_real(e.in[0], at[0], e.types[0]) > e.parameter[0]); });
}

Status prepare_pow(Call& call, Prepared* prepared) {
  if (call.tensor(0).type != ScalarType::f32) return bad_argument(0, "must be float");
  if (call.tensor(2).type != ScalarType::f32) return bad_argument(2, "must be float");
  return keep_elementwise<1>(call, prepared, {0}, 2, call.real(1), 0, [](const void* e) { run_pow(*static_cast<const Elementwise*>(e)); });
}
Status prepare_fmod(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(2);
  if (y.type == ScalarType::f64) return bad_argument(2, "float64 is not supported");
  if (!is_real(y.type) && is_real(x.type)) return bad_argument(2, "must be float, as the input is");
  if (!is_real(y.type) && (!is_whole(call.real(1)) || call.real(1) == 0))
    return bad_argument(1, "must be a whole number, not 0, for integers");
  return keep_elementwise<1>(call, prepared, {0}, 2, call.real(1), 0, [](const void* e) { run_fmod(*static_cast<const Elementwise*>(e)); });
}
Status prepare_greater(Call& call, Prepared* prepared) {
  if (is_real(call.tensor(2).type)) return bad_argument(2, "must be bool");
  return keep_elementwise<1>(call, prepared, {0}, 2, call.real(1), 0,
                             [](const void* e) { run_greater(*static_cast<const Elementwise*>(e)); });
}

// (condition, a, b, out)
void run_where(const Elementwise& e) {
  const size_t n = element_bytes(e.out_type);
  each<3>(e, [&](const int32_t* at) {
    const int k = read_integer(e.in[0], at[0], e.types[0]) != 0 ? 1 : 2;
    __builtin_memcpy(static_cast<uint8_t*>(e.out) + static_cast<size_t>(at[3]) * n,
                     static_cast<const uint8_t*>(e.in[k]) + static_cast<size_t>(at[k]) * n, n);
  });
}
Status prepare_where(Call& call, Prepared* prepared) {
  const ScalarType c = call.tensor(0).type, t = call.tensor(3).type;
  if (c != ScalarType::b8 && c != ScalarType::u8) return bad_argument(0, "must be bool");
  if (call.tensor(1).type != t) return bad_argument(1, "must have the out's dtype");
  if (call.tensor(2).type != t) return bad_argument(2, "must have the out's dtype");
  return keep_elementwise<3>(call, prepared, {0, 1, 2}, 3, 0, 0, [](const void* e) { run_where(*static_cast<const Elementwise*>(e)); });
}

}  // namespace

extern const Kernel kAtenAdd = {"aten::add.out", "TTFO", prepare_binary<Add, true, true>};
extern const Kernel kAtenSub = {"aten::sub.out", "TTFO", prepare_binary<Sub, true, true>};
extern const Kernel kAtenMul = {"aten::mul.out", "TTO", prepare_binary<Mul, false, true>};
extern const Kernel kAtenDiv = {"aten::div.out", "TTO", prepare_binary<Div, false, false>};
extern const Kernel kAtenPow = {"aten::pow.Tensor_Scalar_out", "TFO", prepare_pow};
extern const Kernel kAtenFmod = {"aten::fmod.Scalar_out", "TFO", prepare_fmod};
extern const Kernel kAtenGt = {"aten::gt.Scalar_out", "TFO", prepare_greater};
extern const Kernel kAtenWhere = {"aten::where.self_out", "TTTO", prepare_where};

}  // namespace deuteron
