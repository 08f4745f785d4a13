// Tensors made from numbers alone: full, scalar_tensor, arange.
#include "backends/portable/kernels.h"
#include "backends/portable/strided.h"

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
  for (int32_t i = 0; i < f.numel; ++i) write_real(f.y, i, f.type, i == 0 ? f.first : f.first + static_cast<double>(i) * f.step);
}

// (size, value, out)
Status prepare_full(Call& call, Prepared* prepared) {
  const Tensor& y = call.tensor(2);
  if (!is_known(y.type)) return bad_argument(2, "float16 is not supported");
  if (call.list(0).count != y.rank) return bad_argument(0, "is not the out's size");
  for (int i = 0; i < y.rank; ++i)
    if (call.list_integer(0, i) != y.sizes[i]) return bad_argument(0, "is not the out's size");
  return keep<Fill, run_fill>(call, prepared, {y.data, y.numel, y.type, call.real(1), 0});
}

// (value, out)
Status prepare_scalar_tensor(Call& call, Prepared* prepared) {
  const Tensor& y = call.tensor(1);
  if (!is_known(y.type)) return bad_argument(1, "float16 is not supported");
  if (y.numel != 1) return bad_argument(1, "must have one element");
  return keep<Fill, run_fill>(call, prepared, {y.data, 1, y.type, call.real(0), 0});
}

// (start, end, step, out)
Status prepare_arange(Call& call, Prepared* prepared) {
  const Tensor& y = call.tensor(3);
  if (!is_known(y.type)) return bad_argument(3, "float16 is not supported");
  const double start = call.real(0), end = call.real(1), step = call.real(2);
  if (!(step > 0 || step < 0)) return bad_argument(2, "must not be 0");
  const double count = (end - start) / step;
  if (y.rank != 1 || !(count <= y.numel) || !(count > y.numel - 1)) return bad_argument(3, "has the wrong number of elements");
  return keep<Fill, run_fill>(call, prepared, {y.data, y.numel, y.type, start, step});
}

}  // namespace

extern const Kernel kAtenFull = {"aten::full.out", "LFO", prepare_full};
extern const Kernel kAtenScalarTensor = {"aten::scalar_tensor.out", "FO", prepare_scalar_tensor};
extern const Kernel kAtenArange = {"aten::arange.start_out", "FFFO", prepare_arange};

}  // namespace deuteron
