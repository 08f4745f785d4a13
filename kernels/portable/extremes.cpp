// SPDX-License-Identifier: Apache-2.0
// The largest and the smallest element over dimensions, where they are, and whether any element is
// not 0.
#include "kernels/portable/kernels.h"
#include "kernels/portable/reduce.h"

namespace deuteron {
namespace {
using namespace portable;

// y: the value, unless parameter is 1: then its position. z: the position. NaN is the largest and
// the smallest; of equal ones the first.
void run_extreme(const Reduction& r) {
  const bool real = is_real(r.type), position = r.parameter == 1;
  reduce(r, [&](int32_t y, int32_t z, auto each) {
    double best = 0;
    int64_t whole = 0, at = 0, n = 0;
    each([&](int32_t i) {
      bool better = n == 0;
      if (real) {
        const double v = read_real(r.x, i, r.type);
        better = better || (best == best && (v != v || (r.smallest ? v < best : v > best)));
        if (better) best = v;
      } else {
        const int64_t v = read_integer(r.x, i, r.type);
        better = better || (r.smallest ? v < whole : v > whole);
        if (better) whole = v;
      }
      if (better) at = n;
      ++n;
    });
    if (position) write_integer(r.y, y, r.out_type, at);
    else if (real) write_real(r.y, y, r.out_type, best);
    else write_integer(r.y, y, r.out_type, whole);
    if (r.z) write_integer(r.z, z, ScalarType::s64, at);
  });
}

void run_any(const Reduction& r) {
  reduce(r, [&](int32_t y, int32_t, auto each) {
    bool any = false;
    each([&](int32_t i) { any = any || read_real(r.x, i, r.type) != 0; });
    write_integer(r.y, y, r.out_type, any);
  });
}

Status keep_extreme(Call& call, Prepared* prepared, uint32_t dims, bool keep_dims, int y_at,
                    int z_at, bool smallest, bool position) {
  const Tensor &x = call.tensor(0), &y = call.tensor(y_at);
  if (!is_known(x.type)) return bad_argument(0, "float16 is not supported");
  if (!position && x.type != y.type) return bad_argument(y_at, "must have the input's dtype");
  const int at = position ? y_at : z_at;
  if (at >= 0 && call.tensor(at).type != ScalarType::s64) return bad_argument(at, "must be int64");
  if (x.numel == 0 && y.numel != 0) return bad_argument(0, "has no elements");
  return keep_reduction(call, prepared, dims, keep_dims, y_at, z_at, smallest, position,
                        run_extreme);
}

// (x, dims, keep, out)
template <bool kSmallest>
Status prepare_values(Call& call, Prepared* prepared) {
  uint32_t dims;
  if (const char* why = read_dims(call, 1, call.tensor(0).rank, &dims)) return bad_argument(1, why);
  return keep_extreme(call, prepared, dims, call.boolean(2), 3, -1, kSmallest, false);
}
// (x, dim?, keep, out)
template <bool kSmallest>
Status prepare_position(Call& call, Prepared* prepared) {
  uint32_t dims = all_dims(call.tensor(0));
  if (call.args[1]->kind == Kind::integer)
    if (const char* why = read_dim(call, 1, call.tensor(0).rank, &dims))
      return bad_argument(1, why);
  return keep_extreme(call, prepared, dims, call.boolean(2), 3, -1, kSmallest, true);
}
// (x, dim, keep, values, positions)
template <bool kSmallest>
Status prepare_both(Call& call, Prepared* prepared) {
  uint32_t dims;
  if (const char* why = read_dim(call, 1, call.tensor(0).rank, &dims)) return bad_argument(1, why);
  return keep_extreme(call, prepared, dims, call.boolean(2), 3, 4, kSmallest, false);
}
// (x, out)
template <bool kSmallest>
Status prepare_of_all(Call& call, Prepared* prepared) {
  return keep_extreme(call, prepared, all_dims(call.tensor(0)), false, 1, -1, kSmallest, false);
}

Status keep_any(Call& call, Prepared* prepared, uint32_t dims, bool keep_dims, int out) {
  const ScalarType to = call.tensor(out).type;
  if (!is_known(call.tensor(0).type)) return bad_argument(0, "float16 is not supported");
  if (to != ScalarType::b8 && to != ScalarType::u8) return bad_argument(out, "must be bool");
  return keep_reduction(call, prepared, dims, keep_dims, out, -1, false, 0, run_any);
}
// (x, out)
Status prepare_any_of_all(Call& call, Prepared* prepared) {
  return keep_any(call, prepared, all_dims(call.tensor(0)), false, 1);
}
// (x, dim, keep, out)
Status prepare_any(Call& call, Prepared* prepared) {
  uint32_t dims;
  if (const char* why = read_dim(call, 1, call.tensor(0).rank, &dims)) return bad_argument(1, why);
  return keep_any(call, prepared, dims, call.boolean(2), 3);
}
// (x, dims?, keep, out): an empty list reduces nothing, as in torch.
Status prepare_any_of_dims(Call& call, Prepared* prepared) {
  uint32_t dims;
  if (const char* why = read_dims(call, 1, call.tensor(0).rank, &dims)) return bad_argument(1, why);
  if (call.args[1]->kind == Kind::int_list && call.list(1).count == 0) dims = 0;
  return keep_any(call, prepared, dims, call.boolean(2), 3);
}

}  // namespace

extern const Kernel kAtenAmax = {"aten::amax.out", "TLBO", prepare_values<false>};
extern const Kernel kAtenAmin = {"aten::amin.out", "TLBO", prepare_values<true>};
extern const Kernel kAtenArgmax = {"aten::argmax.out", "TiBO", prepare_position<false>};
extern const Kernel kAtenArgmin = {"aten::argmin.out", "TiBO", prepare_position<true>};
extern const Kernel kAtenMax = {"aten::max.dim_max", "TIBOO", prepare_both<false>};
extern const Kernel kAtenMin = {"aten::min.dim_min", "TIBOO", prepare_both<true>};
extern const Kernel kAtenMaxOfAll = {"aten::max.unary_out", "TO", prepare_of_all<false>};
extern const Kernel kAtenMinOfAll = {"aten::min.unary_out", "TO", prepare_of_all<true>};
extern const Kernel kAtenAny = {"aten::any.out", "TIBO", prepare_any};
extern const Kernel kAtenAnyOfDims = {"aten::any.dims_out", "TlBO", prepare_any_of_dims};
extern const Kernel kAtenAnyOfAll = {"aten::any.all_out", "TO", prepare_any_of_all};

}  // namespace deuteron
