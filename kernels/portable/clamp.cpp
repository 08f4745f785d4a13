// SPDX-License-Identifier: Apache-2.0
// Limits on values: clamp, hardtanh, relu, on float and int8; clamp on int32 and int64, too.
// Element i of the out lies where element i of the input lies.
#include "kernels/common/prepare.h"
#include "kernels/portable/kernels.h"

namespace deuteron {
namespace {

template <class T>
struct ClampCall {
  const T* x;
  T* y;
  int32_t numel;
  T low, high;
};
// NaN passes through. The upper limit wins where the limits cross.
template <class T>
void run_clamp(const ClampCall<T>& c) {
  for (int32_t i = 0; i < c.numel; ++i) {
    T v = c.x[i];
    if (v < c.low) v = c.low;
    if (v > c.high) v = c.high;
    c.y[i] = v;
  }
}

// A limit for int8: the number if int8 has it, else the end of int8 on that side.
const char* read_s8_limit(const Call& call, int argument, int8_t none, int8_t* limit) {
  *limit = none;
  if (call.args[argument]->kind == Kind::none) return nullptr;
  const double v = call.real(argument);
  if (!(v >= -128) || !(v <= 127)) return "must lie in -128..127";
  *limit = static_cast<int8_t>(v);
  if (static_cast<double>(*limit) != v) return "must be a whole number";
  return nullptr;
}

// Limits that the dtype has, or none.
template <class T>
Status keep_whole(Call& call, Prepared* prepared, int low, int high, const Tensor& x,
                  const Tensor& y) {
  constexpr int64_t kLeast = sizeof(T) == 4 ? INT32_MIN : INT64_MIN,
                    kMost = sizeof(T) == 4 ? INT32_MAX : INT64_MAX;
  ClampCall<T> c{static_cast<const T*>(x.data), static_cast<T*>(y.data), x.numel,
                 static_cast<T>(kLeast), static_cast<T>(kMost)};
  for (const int limit : {low, high}) {
    if (call.args[limit]->kind == Kind::none) continue;
    if (call.args[limit]->kind != Kind::integer)
      return bad_argument(limit, "must be a whole number");
    const int64_t v = call.integer(limit);
    if (v < kLeast || v > kMost) return bad_argument(limit, "must be of the dtype");
    (limit == low ? c.low : c.high) = static_cast<T>(v);
  }
  return keep<ClampCall<T>, run_clamp<T>>(call, prepared, c);
}

Status keep_clamp(Call& call, Prepared* prepared, int low, int high, int out) {
  const Tensor &x = call.tensor(0), &y = call.tensor(out);
  if (x.type != y.type) return bad_argument(out, "must have the input's dtype");
  if (!same_layout(x, y)) return bad_argument(out, "must have the input's sizes and memory order");
  if (x.type == ScalarType::s8) {
    ClampCall<int8_t> c{static_cast<const int8_t*>(x.data), static_cast<int8_t*>(y.data), x.numel,
                        0, 0};
    if (const char* why = read_s8_limit(call, low, -128, &c.low)) return bad_argument(low, why);
    if (const char* why = read_s8_limit(call, high, 127, &c.high)) return bad_argument(high, why);
    return keep<ClampCall<int8_t>, run_clamp<int8_t>>(call, prepared, c);
  }
  if (x.type != ScalarType::f32) return bad_argument(0, "must be float or int8");
  const float infinity = __builtin_inff();
  ClampCall<float> c{static_cast<const float*>(x.data), static_cast<float*>(y.data), x.numel,
                     -infinity, infinity};
  if (call.args[low]->kind != Kind::none) c.low = static_cast<float>(call.real(low));
  if (call.args[high]->kind != Kind::none) c.high = static_cast<float>(call.real(high));
  return keep<ClampCall<float>, run_clamp<float>>(call, prepared, c);
}

// (x, min?, max?, out)
Status prepare_clamp(Call& call, Prepared* prepared) {
  if (call.args[1]->kind == Kind::none && call.args[2]->kind == Kind::none)
    return bad_argument(1, "one of the limits must be given");
  const Tensor &x = call.tensor(0), &y = call.tensor(3);
  if ((x.type == ScalarType::s64 || x.type == ScalarType::s32) && x.type == y.type &&
      same_layout(x, y))
    return x.type == ScalarType::s64 ? keep_whole<int64_t>(call, prepared, 1, 2, x, y)
                                     : keep_whole<int32_t>(call, prepared, 1, 2, x, y);
  return keep_clamp(call, prepared, 1, 2, 3);
}
// (x, min, max, out)
Status prepare_hardtanh(Call& call, Prepared* prepared) {
  return keep_clamp(call, prepared, 1, 2, 3);
}

// (x, out)
Status prepare_relu(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(1);
  if (x.type != y.type) return bad_argument(1, "must have the input's dtype");
  if (!same_layout(x, y)) return bad_argument(1, "must have the input's sizes and memory order");
  if (x.type == ScalarType::s8)
    return keep<ClampCall<int8_t>, run_clamp<int8_t>>(
        call, prepared,
        {static_cast<const int8_t*>(x.data), static_cast<int8_t*>(y.data), x.numel, 0, 127});
  if (x.type != ScalarType::f32) return bad_argument(0, "must be float or int8");
  return keep<ClampCall<float>, run_clamp<float>>(
      call, prepared,
      {static_cast<const float*>(x.data), static_cast<float*>(y.data), x.numel, 0,
       __builtin_inff()});
}

}  // namespace

extern const Kernel kAtenClamp = {"aten::clamp.out", "TffO", prepare_clamp, true};
extern const Kernel kAtenHardtanh = {"aten::hardtanh.out", "TFFO", prepare_hardtanh, true};
extern const Kernel kAtenRelu = {"aten::relu.out", "TO", prepare_relu, true};

}  // namespace deuteron
