// SPDX-License-Identifier: Apache-2.0
// Tensors made from numbers alone: full, ones, zeros, fill, scalar_tensor, arange, empty.
#include "kernels/portable/kernels.h"
#include "kernels/portable/strided.h"

namespace deuteron {
namespace {
using namespace portable;

struct Fill {
  void* y;
  int32_t numel;
  ScalarType type;
  double first, step;
};
void run_fill(const Fill& f) {
  for (int32_t i = 0; i < f.numel; ++i)
    write_real(f.y, i, f.type, i == 0 ? f.first : f.first + static_cast<double>(i) * f.step);
}

const char* why_not_size(const Call& call, int argument, const Tensor& y) {
  if (call.list(argument).count != y.rank) return "is not the out's size";
  for (int i = 0; i < y.rank; ++i)
    if (call.list_integer(argument, i) != y.sizes[i]) return "is not the out's size";
  return nullptr;
}

// (size, value, out)
Status prepare_full(Call& call, Prepared* prepared) {
  const Tensor& y = call.tensor(2);
  if (!is_known(y.type)) return bad_argument(2, "float16 is not supported");
  if (const char* why = why_not_size(call, 0, y)) return bad_argument(0, why);
  return keep<Fill, run_fill>(call, prepared, {y.data, y.numel, y.type, call.real(1), 0});
}

// (size, out)
template <bool kOnes>
Status prepare_constant(Call& call, Prepared* prepared) {
  const Tensor& y = call.tensor(1);
  if (!is_known(y.type)) return bad_argument(1, "float16 is not supported");
  if (const char* why = why_not_size(call, 0, y)) return bad_argument(0, why);
  return keep<Fill, run_fill>(call, prepared, {y.data, y.numel, y.type, kOnes, 0});
}
// (size, memory format or dimension order?, out). Torch leaves open what the elements are; here
// they are zero, so that no result depends on what the memory held before.
Status prepare_empty(Call& call, Prepared* prepared) {
  const Tensor& y = call.tensor(2);
  if (const char* why = why_not_size(call, 0, y)) return bad_argument(0, why);
  const auto bytes = y.numel * static_cast<int32_t>(element_bytes(y.type));
  return keep<Fill, run_fill>(call, prepared, {y.data, bytes, ScalarType::u8, 0, 0});
}

Status keep_like(Call& call, Prepared* prepared, int out) {
  const Tensor& y = call.tensor(out);
  if (!is_known(y.type)) return bad_argument(out, "float16 is not supported");
  if (!same_sizes(call.tensor(0), y)) return bad_argument(out, "must have the input's sizes");
  return keep<Fill, run_fill>(call, prepared, {y.data, y.numel, y.type, call.real(1), 0});
}
// (x, value, memory format?, out), (x, value, out): of x only the sizes matter.
Status prepare_full_like(Call& call, Prepared* prepared) { return keep_like(call, prepared, 3); }
Status prepare_fill(Call& call, Prepared* prepared) { return keep_like(call, prepared, 2); }

// (value, out)
Status prepare_scalar_tensor(Call& call, Prepared* prepared) {
  const Tensor& y = call.tensor(1);
  if (!is_known(y.type)) return bad_argument(1, "float16 is not supported");
  if (y.numel != 1) return bad_argument(1, "must have one element");
  return keep<Fill, run_fill>(call, prepared, {y.data, 1, y.type, call.real(0), 0});
}

Status keep_arange(Call& call, Prepared* prepared, double start, double end, double step, int out) {
  const Tensor& y = call.tensor(out);
  if (!is_known(y.type)) return bad_argument(out, "float16 is not supported");
  const double count = (end - start) / step;
  if (y.rank != 1 || !(count <= y.numel) || !(count > y.numel - 1))
    return bad_argument(out, "has the wrong number of elements");
  return keep<Fill, run_fill>(call, prepared, {y.data, y.numel, y.type, start, step});
}
// (start, end, step, out)
Status prepare_arange(Call& call, Prepared* prepared) {
  const double step = call.real(2);
  if (!(step > 0 || step < 0)) return bad_argument(2, "must not be 0");
  return keep_arange(call, prepared, call.real(0), call.real(1), step, 3);
}
// (end, out)
Status prepare_arange_from_0(Call& call, Prepared* prepared) {
  return keep_arange(call, prepared, 0, call.real(0), 1, 1);
}

}  // namespace

extern const Kernel kAtenFull = {"aten::full.out", "LFO", prepare_full};
extern const Kernel kAtenFullLike = {"aten::full_like.out", "TFiO", prepare_full_like};
extern const Kernel kAtenFill = {"aten::fill.Scalar_out", "TFO", prepare_fill};
extern const Kernel kAtenOnes = {"aten::ones.out", "LO", prepare_constant<true>};
extern const Kernel kAtenZeros = {"aten::zeros.out", "LO", prepare_constant<false>};
extern const Kernel kAtenEmpty = {"aten::empty.out", "LiO", prepare_empty};
extern const Kernel kDimOrderEmpty = {"dim_order_ops::_empty_dim_order.out", "LlO", prepare_empty};
extern const Kernel kAtenArangeFrom0 = {"aten::arange.out", "FO", prepare_arange_from_0};
extern const Kernel kAtenScalarTensor = {"aten::scalar_tensor.out", "FO", prepare_scalar_tensor};
extern const Kernel kAtenArange = {"aten::arange.start_out", "FFFO", prepare_arange};

}  // namespace deuteron
