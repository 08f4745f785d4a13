// Reductions over any dimensions: sum, mean, variance, maximum, position of the maximum.
#include <cmath>

#include "backends/portable/kernels.h"
#include "backends/portable/strided.h"

namespace deuteron {
namespace {
using namespace portable;

// numbers: sizes, strides of x and strides of y of the kept dimensions, then sizes and strides of x of the reduced ones.
struct Reduction {
  const void* x;
  void* y;
  const int32_t* numbers;
  int32_t count;  // elements that one result comes from
  uint8_t kept, reduced;
  bool empty;
  ScalarType type, out_type;
  double parameter;
};

// each_result(y offset, each) where each(visit) calls visit(x offset) for all elements of that result.
template <class Result>
void reduce(const Reduction& r, Result result) {
  if (r.empty) return;
  const int32_t* const kept[] = {r.numbers + r.kept, r.numbers + 2 * r.kept};
  const int32_t* sizes = r.numbers + 3 * r.kept;
  const int32_t* const strides[] = {sizes + r.reduced};
  walk<2>(r.kept, r.numbers, kept, [&](const int32_t* at) {
    const int32_t first = at[0];
    result(at[1], [&](auto visit) { walk<1>(r.reduced, sizes, strides, [&](const int32_t* k) { visit(first + k[0]); }); });
  });
}

// Which dimensions a call reduces: all if it names none.
const char* read_dims(const Call& call, int argument, int rank, uint32_t* dims) {
  *dims = 0;
  const bool named = call.args[argument]->kind == Kind::int_list && call.list(argument).count > 0;
  if (!named) {
    *dims = (1u << rank) - 1;
    return nullptr;
  }
  for (int k = 0; k < call.list(argument).count; ++k) {
    const int dim = dimension(call.list_integer(argument, k), rank);
    if (dim < 0) return "is not a dimension of the input";
    if (rank > 0 && (*dims >> dim & 1)) return "names a dimension twice";
    if (rank > 0) *dims |= 1u << dim;
  }
  return nullptr;
}

// The out's sizes are checked against the input's; run is filled by the caller.
Status keep_reduction(Call& call, Prepared* prepared, uint32_t dims, bool keep_dims, int out, double parameter, void (*run)(const void*)) {
  const Tensor &x = call.tensor(0), &y = call.tensor(out);
  Reduction r{};
  int32_t x_strides[kMaxRank], y_strides[kMaxRank];
  strides_of(x, x_strides);
  strides_of(y, y_strides);
  for (int i = 0; i < x.rank; ++i) (dims >> i & 1) ? ++r.reduced : ++r.kept;
  if (y.rank != (keep_dims ? x.rank : r.kept)) return bad_argument(out, "has the wrong rank");
  int32_t* numbers = call.arena->make<int32_t>(size_t{3} * r.kept + size_t{2} * r.reduced);
  if (!numbers) return out_of_memory();
  r.count = 1;
  int kept = 0, reduced = 0;
  for (int i = 0; i < x.rank; ++i) {
    const bool gone = dims >> i & 1;
    if (gone) {
      numbers[3 * r.kept + reduced] = x.sizes[i];
      numbers[3 * r.kept + r.reduced + reduced++] = x_strides[i];
      r.count *= x.sizes[i];
      if (keep_dims && y.sizes[i] != 1) return bad_argument(out, "has the wrong sizes");
      continue;
    }
    const int to = keep_dims ? i : kept;
    if (y.sizes[to] != x.sizes[i]) return bad_argument(out, "has the wrong sizes");
    numbers[kept] = x.sizes[i];
    numbers[r.kept + kept] = x_strides[i];
    numbers[2 * r.kept + kept++] = y_strides[to];
  }
  r.x = x.data;
  r.y = y.data;
  r.numbers = numbers;
  r.empty = y.numel == 0;
  r.type = x.type;
  r.out_type = y.type;
  r.parameter = parameter;
  Reduction* kept_args = call.arena->make<Reduction>();
  if (!kept_args) return out_of_memory();
  *kept_args = r;
  *prepared = {run, kept_args};
  return Status{};
}

void run_sum(const void* args) {
  const Reduction& r = *static_cast<const Reduction*>(args);
  const float* x = static_cast<const float*>(r.x);
  reduce(r, [&](int32_t y, auto each) {
    float sum = 0;
    each([&](int32_t i) { sum += x[i]; });
    static_cast<float*>(r.y)[y] = sum;
  });
}
void run_mean(const void* args) {
  const Reduction& r = *static_cast<const Reduction*>(args);
  const float* x = static_cast<const float*>(r.x);
  reduce(r, [&](int32_t y, auto each) {
    float sum = 0;
    each([&](int32_t i) { sum += x[i]; });
    static_cast<float*>(r.y)[y] = sum / static_cast<float>(r.count);
  });
}
void run_variance(const void* args) {
  const Reduction& r = *static_cast<const Reduction*>(args);
  const float* x = static_cast<const float*>(r.x);
  reduce(r, [&](int32_t y, auto each) {
    float sum = 0;
    each([&](int32_t i) { sum += x[i]; });
    const float mean = sum / static_cast<float>(r.count);
    float squares = 0;
    each([&](int32_t i) { squares += (x[i] - mean) * (x[i] - mean); });
    static_cast<float*>(r.y)[y] = static_cast<float>(static_cast<double>(squares) / (static_cast<double>(r.count) - r.parameter));
  });
}
void run_maximum(const void* args) {
  const Reduction& r = *static_cast<const Reduction*>(args);
  reduce(r, [&](int32_t y, auto each) {
    double largest = -__builtin_inf();
    each([&](int32_t i) {
      const double v = read_real(r.x, i, r.type);
      if (v > largest || v != v) largest = v;  // NaN stays
    });
    write_real(r.y, y, r.out_type, largest);
  });
}
void run_argmax(const void* args) {
  const Reduction& r = *static_cast<const Reduction*>(args);
  reduce(r, [&](int32_t y, auto each) {
    double largest = -__builtin_inf();
    int64_t at = 0, n = 0;
    each([&](int32_t i) {
      const double v = read_real(r.x, i, r.type);
      if (n == 0 || v > largest || (v != v && largest == largest)) largest = v, at = n;
      ++n;
    });
    write_integer(r.y, y, r.out_type, at);
  });
}

const char* why_not_float(const Call& call, int out) {
  return call.tensor(0).type == ScalarType::f32 && call.tensor(out).type == ScalarType::f32 ? nullptr : "must be float";
}

// (x, dims?, keep, dtype?, out)
template <void (*run)(const void*)>
Status prepare_sum_or_mean(Call& call, Prepared* prepared) {
  uint32_t dims;
  if (const char* why = read_dims(call, 1, call.tensor(0).rank, &dims)) return bad_argument(1, why);
  if (const char* why = why_not_float(call, 4)) return bad_argument(0, why);
  return keep_reduction(call, prepared, dims, call.boolean(2), 4, 0, run);
}
// (x, dims?, correction?, keep, out)
Status prepare_variance(Call& call, Prepared* prepared) {
  uint32_t dims;
  if (const char* why = read_dims(call, 1, call.tensor(0).rank, &dims)) return bad_argument(1, why);
  if (const char* why = why_not_float(call, 4)) return bad_argument(0, why);
  return keep_reduction(call, prepared, dims, call.boolean(3), 4, call.args[2]->kind == Kind::none ? 1 : call.real(2), run_variance);
}
// (x, dims, keep, out)
Status prepare_maximum(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(3);
  uint32_t dims;
  if (const char* why = read_dims(call, 1, x.rank, &dims)) return bad_argument(1, why);
  if (x.type != y.type || !is_known(x.type)) return bad_argument(3, "must have the input's dtype");
  if (x.type == ScalarType::s64) return bad_argument(0, "int64 is not supported");
  if (x.numel == 0 && y.numel != 0) return bad_argument(0, "has no elements");
  return keep_reduction(call, prepared, dims, call.boolean(2), 3, 0, run_maximum);
}
// (x, dim?, keep, out)
Status prepare_argmax(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(3);
  uint32_t dims = (1u << x.rank) - 1;
  if (call.args[1]->kind == Kind::integer) {
    const int dim = dimension(call.integer(1), x.rank);
    if (dim < 0) return bad_argument(1, "is not a dimension of the input");
    dims = x.rank == 0 ? 0 : 1u << dim;
  }
  if (!is_known(x.type) || x.type == ScalarType::s64) return bad_argument(0, "has a dtype that is not supported");
  if (y.type != ScalarType::s64) return bad_argument(3, "must be int64");
  if (x.numel == 0 && y.numel != 0) return bad_argument(0, "has no elements");
  return keep_reduction(call, prepared, dims, call.boolean(2), 3, 0, run_argmax);
}

}  // namespace

extern const Kernel kAtenSum = {"aten::sum.IntList_out", "TlBiO", prepare_sum_or_mean<run_sum>};
extern const Kernel kAtenMean = {"aten::mean.out", "TlBiO", prepare_sum_or_mean<run_mean>};
extern const Kernel kAtenVar = {"aten::var.correction_out", "TlfBO", prepare_variance};
extern const Kernel kAtenAmax = {"aten::amax.out", "TLBO", prepare_maximum};
extern const Kernel kAtenArgmax = {"aten::argmax.out", "TiBO", prepare_argmax};

}  // namespace deuteron
