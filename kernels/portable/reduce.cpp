// SPDX-License-Identifier: Apache-2.0
// Reductions over any dimensions: sum, product, mean, variance.
#include "kernels/portable/reduce.h"

#include <cmath>
#include <initializer_list>

#include "kernels/portable/kernels.h"

namespace deuteron {
namespace portable {

const char* read_dim(const Call& call, int argument, int rank, uint32_t* dims) {
  const int dim = dimension(call.integer(argument), rank);
  *dims = rank == 0 || dim < 0 ? 0 : 1u << dim;
  return dim < 0 ? "is not a dimension of the input" : nullptr;
}

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

namespace {

struct KeptReduction {
  Reduction r;
  void (*run)(const Reduction&);
};
void run_kept(const KeptReduction& k) { k.run(k.r); }

const char* why_not_reduced(const Tensor& x, const Tensor& y, uint32_t dims, bool keep_dims,
                            int kept) {
  if (y.rank != (keep_dims ? x.rank : kept)) return "has the wrong rank";
  for (int i = 0, k = 0; i < x.rank; ++i) {
    const bool gone = dims >> i & 1;
    if (gone && !keep_dims) continue;
    if (y.sizes[k++] != (gone ? 1 : x.sizes[i])) return "has the wrong sizes";
  }
  return nullptr;
}

}  // namespace

Status keep_reduction(Call& call, Prepared* prepared, uint32_t dims, bool keep_dims, int y_at,
                      int z_at, bool smallest, double parameter, void (*run)(const Reduction&)) {
  const Tensor &x = call.tensor(0), &y = call.tensor(y_at),
               &z = call.tensor(z_at < 0 ? y_at : z_at);
  Reduction r{};
  int32_t x_strides[kMaxRank], y_strides[kMaxRank], z_strides[kMaxRank];
  strides_of(x, x_strides);
  strides_of(y, y_strides);
  strides_of(z, z_strides);
  for (int i = 0; i < x.rank; ++i) (dims >> i & 1) ? ++r.reduced : ++r.kept;
  if (const char* why = why_not_reduced(x, y, dims, keep_dims, r.kept))
    return bad_argument(y_at, why);
  if (const char* why = why_not_reduced(x, z, dims, keep_dims, r.kept))
    return bad_argument(z_at, why);
  int32_t* numbers = call.arena->make<int32_t>(size_t{4} * r.kept + size_t{2} * r.reduced);
  if (!numbers) return out_of_memory();
  r.count = 1;
  int kept = 0, reduced = 0;
  for (int i = 0; i < x.rank; ++i) {
    if (dims >> i & 1) {
      numbers[4 * r.kept + reduced] = x.sizes[i];
      numbers[4 * r.kept + r.reduced + reduced++] = x_strides[i];
      r.count = x.numel == 0 && x.sizes[i] != 0
                    ? r.count
                    : r.count * x.sizes[i];  // beside a 0 the others may be anything
      continue;
    }
    const int to = keep_dims ? i : kept;
    numbers[kept] = x.sizes[i];
    numbers[r.kept + kept] = x_strides[i];
    numbers[2 * r.kept + kept] = y_strides[to];
    numbers[3 * r.kept + kept++] = z_strides[to];
  }
  r.x = x.data;
  r.y = y.data;
  r.z = z_at < 0 ? nullptr : z.data;
  r.numbers = numbers;
  r.empty = y.numel == 0;
  r.smallest = smallest;
  r.type = x.type;
  r.out_type = y.type;
  r.parameter = parameter;
  return keep<KeptReduction, run_kept>(call, prepared, {r, run});
}

}  // namespace portable

namespace {
using namespace portable;

// Integers in int64, all else in float.
template <bool kProduct>
void run_fold(const Reduction& r) {
  const bool floats = r.type == ScalarType::f32;
  reduce(r, [&](int32_t y, int32_t, auto each) {
    if (!floats) {
      uint64_t whole = kProduct;
      each([&](int32_t i) {
        const uint64_t v = static_cast<uint64_t>(read_integer(r.x, i, r.type));
        whole = kProduct ? whole * v : whole + v;
      });
      write_integer(r.y, y, r.out_type, static_cast<int64_t>(whole));
      return;
    }
    const float* x = static_cast<const float*>(r.x);
    float real = kProduct;
    each([&](int32_t i) { real = kProduct ? real * x[i] : real + x[i]; });
    static_cast<float*>(r.y)[y] = real;
  });
}
void run_mean(const Reduction& r) {
  const float* x = static_cast<const float*>(r.x);
  reduce(r, [&](int32_t y, int32_t, auto each) {
    float sum = 0;
    each([&](int32_t i) { sum += x[i]; });
    static_cast<float*>(r.y)[y] = sum / static_cast<float>(r.count);
  });
}
// parameter: what is taken from the count; z: the mean
void run_variance(const Reduction& r) {
  const float* x = static_cast<const float*>(r.x);
  reduce(r, [&](int32_t y, int32_t z, auto each) {
    float sum = 0;
    each([&](int32_t i) { sum += x[i]; });
    const float mean = sum / static_cast<float>(r.count);
    float squares = 0;
    each([&](int32_t i) { squares += (x[i] - mean) * (x[i] - mean); });
    static_cast<float*>(r.y)[y] = static_cast<float>(static_cast<double>(squares) /
                                                     (static_cast<double>(r.count) - r.parameter));
    if (r.z) static_cast<float*>(r.z)[z] = mean;
  });
}

Status keep_fold(Call& call, Prepared* prepared, uint32_t dims, bool keep_dims, int out,
                 void (*run)(const Reduction&)) {
  const ScalarType from = call.tensor(0).type, to = call.tensor(out).type;
  if (!is_known(from) || from == ScalarType::f64)
    return bad_argument(0, "has a dtype that is not supported");
  if (!is_known(to) || to == ScalarType::f64 || to == ScalarType::b8)
    return bad_argument(out, "has a dtype that is not supported");
  if (is_real(from) && !is_real(to)) return bad_argument(out, "must be float, as the input is");
  return keep_reduction(call, prepared, dims, keep_dims, out, -1, false, 0, run);
}
Status keep_floats(Call& call, Prepared* prepared, uint32_t dims, bool keep_dims, int out,
                   int second, double parameter, void (*run)(const Reduction&)) {
  if (call.tensor(0).type != ScalarType::f32) return bad_argument(0, "must be float");
  for (const int i : {out, second})
    if (i >= 0 && call.tensor(i).type != ScalarType::f32) return bad_argument(i, "must be float");
  return keep_reduction(call, prepared, dims, keep_dims, out, second, false, parameter, run);
}

// (x, dims?, keep, dtype?, out)
Status prepare_sum(Call& call, Prepared* prepared) {
  uint32_t dims;
  if (const char* why = read_dims(call, 1, call.tensor(0).rank, &dims)) return bad_argument(1, why);
  return keep_fold(call, prepared, dims, call.boolean(2), 4, run_fold<false>);
}
Status prepare_mean(Call& call, Prepared* prepared) {
  uint32_t dims;
  if (const char* why = read_dims(call, 1, call.tensor(0).rank, &dims)) return bad_argument(1, why);
  return keep_floats(call, prepared, dims, call.boolean(2), 4, -1, 0, run_mean);
}
// (x, dtype?, out)
Status prepare_mean_of_all(Call& call, Prepared* prepared) {
  return keep_floats(call, prepared, all_dims(call.tensor(0)), false, 2, -1, 0, run_mean);
}
Status prepare_product_of_all(Call& call, Prepared* prepared) {
  return keep_fold(call, prepared, all_dims(call.tensor(0)), false, 2, run_fold<true>);
}
// (x, dim, keep, dtype?, out)
Status prepare_product(Call& call, Prepared* prepared) {
  uint32_t dims;
  if (const char* why = read_dim(call, 1, call.tensor(0).rank, &dims)) return bad_argument(1, why);
  return keep_fold(call, prepared, dims, call.boolean(2), 4, run_fold<true>);
}
// (x, dims?, unbiased, keep, out)
Status prepare_variance_unbiased(Call& call, Prepared* prepared) {
  uint32_t dims;
  if (const char* why = read_dims(call, 1, call.tensor(0).rank, &dims)) return bad_argument(1, why);
  return keep_floats(call, prepared, dims, call.boolean(3), 4, -1, call.boolean(2) ? 1 : 0,
                     run_variance);
}
// (x, dims?, correction?, keep, out[, mean])
template <bool kMean>
Status prepare_variance(Call& call, Prepared* prepared) {
  uint32_t dims;
  if (const char* why = read_dims(call, 1, call.tensor(0).rank, &dims)) return bad_argument(1, why);
  const double correction = call.args[2]->kind == Kind::none ? 1 : call.real(2);
  return keep_floats(call, prepared, dims, call.boolean(3), 4, kMean ? 5 : -1, correction,
                     run_variance);
}

}  // namespace

extern const Kernel kAtenSum = {"aten::sum.IntList_out", "TlBiO", prepare_sum};
extern const Kernel kAtenProd = {"aten::prod.int_out", "TIBiO", prepare_product};
extern const Kernel kAtenProdOfAll = {"aten::prod.out", "TiO", prepare_product_of_all};
extern const Kernel kAtenMean = {"aten::mean.out", "TlBiO", prepare_mean};
extern const Kernel kAtenMeanOfAll = {"aten::mean.dtype_out", "TiO", prepare_mean_of_all};
extern const Kernel kAtenVar = {"aten::var.correction_out", "TlfBO", prepare_variance<false>};
extern const Kernel kAtenVarUnbiased = {"aten::var.out", "TlBBO", prepare_variance_unbiased};
extern const Kernel kAtenVarMean = {"aten::var_mean.correction_out", "TlfBOO",
                                    prepare_variance<true>};

}  // namespace deuteron
