// SPDX-License-Identifier: Apache-2.0
// Two tensors, element by element: add, sub, mul, div; and choosing by a condition: where,
// masked_fill. Floats are computed as float, integers as int64.
#include <cmath>

#include "kernels/portable/elementwise.h"
#include "kernels/portable/kernels.h"
#include "kernels/portable/pairwise.h"

namespace deuteron {
namespace {
using namespace portable;

// A scalar as an integer; the callers have checked that it is one.
int64_t whole(double v) { return static_cast<int64_t>(v); }
bool is_whole(double v) { return v >= -9e15 && v <= 9e15 && v == std::floor(v); }

struct Add {
  static float real(float a, float b, const Elementwise& e) {
    return a + static_cast<float>(e.parameter[0]) * b;
  }
  static int64_t integer(int64_t a, int64_t b, const Elementwise& e) {
    return wrap_add(a, wrap_mul(whole(e.parameter[0]), b));
  }
};
struct Sub {
  static float real(float a, float b, const Elementwise& e) {
    return a - static_cast<float>(e.parameter[0]) * b;
  }
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
  // integers are refused
  static int64_t integer(int64_t, int64_t, const Elementwise&) { return 0; }
};

template <class Op>
void run_binary(const Elementwise& e) {
  if (!is_real(e.out_type)) {
    each<2>(e, [&](const int32_t* at) {
      write_integer(e.out, at[2], e.out_type,
                    Op::integer(read_integer(e.in[0], at[0], e.types[0]),
                                read_integer(e.in[1], at[1], e.types[1]), e));
    });
  } else if (e.types[0] == ScalarType::f32 && e.types[1] == ScalarType::f32 &&
             e.out_type == ScalarType::f32) {
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
  if (!real && (is_real(a.type) || is_real(b.type)))
    return bad_argument(kOut, "must be float, as an input is");
  if (!real && !kIntegers) return bad_argument(kOut, "must be float");
  const double alpha = kAlpha ? call.real(2) : 1;
  if (!real && !is_whole(alpha)) return bad_argument(2, "must be a whole number for integers");
  return keep_elementwise<2>(call, prepared, {0, 1}, kOut, alpha, 0, [](const void* e) {
    run_binary<Op>(*static_cast<const Elementwise*>(e));
  });
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
  return keep_elementwise<3>(call, prepared, {0, 1, 2}, 3, 0, 0,
                             [](const void* e) { run_where(*static_cast<const Elementwise*>(e)); });
}

// (x, condition, number, out): the number, as the out's dtype has it, where the condition holds.
void run_masked_fill(const Elementwise& e) {
  const size_t n = element_bytes(e.out_type);
  each<2>(e, [&](const int32_t* at) {
    if (read_integer(e.in[1], at[1], e.types[1]) != 0)
      write_real(e.out, at[2], e.out_type, e.parameter[0]);
    else
      __builtin_memcpy(static_cast<uint8_t*>(e.out) + static_cast<size_t>(at[2]) * n,
                       static_cast<const uint8_t*>(e.in[0]) + static_cast<size_t>(at[0]) * n, n);
  });
}
Status prepare_masked_fill(Call& call, Prepared* prepared) {
  const ScalarType c = call.tensor(1).type, t = call.tensor(3).type;
  if (call.tensor(0).type != t) return bad_argument(0, "must have the out's dtype");
  if (c != ScalarType::b8 && c != ScalarType::u8) return bad_argument(1, "must be bool");
  if (!is_real(t) && !is_whole(call.real(2)))
    return bad_argument(2, "must be a whole number for integers");
  return keep_elementwise<2>(call, prepared, {0, 1}, 3, call.real(2), 0, [](const void* e) {
    run_masked_fill(*static_cast<const Elementwise*>(e));
  });
}

}  // namespace

extern const Kernel kAtenAdd = {"aten::add.out", "TTFO", prepare_binary<Add, true, true>};
extern const Kernel kAtenSub = {"aten::sub.out", "TTFO", prepare_binary<Sub, true, true>};
extern const Kernel kAtenMul = {"aten::mul.out", "TTO", prepare_binary<Mul, false, true>};
extern const Kernel kAtenDiv = {"aten::div.out", "TTO", prepare_binary<Div, false, false>};
extern const Kernel kAtenWhere = {"aten::where.self_out", "TTTO", prepare_where};
extern const Kernel kAtenMaskedFill = {"aten::masked_fill.Scalar_out", "TTFO", prepare_masked_fill};

}  // namespace deuteron
