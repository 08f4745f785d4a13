// SPDX-License-Identifier: Apache-2.0
// Along one dimension: running sums, the largest or smallest few, one half gated by the other.
#include <cmath>

#include "kernels/portable/kernels.h"
#include "kernels/portable/lines.h"

namespace deuteron {
namespace {
using namespace portable;

void run_cumsum(const Lines& l) {
  each_line(l, [&](int32_t x, int32_t y, int32_t) {
    int64_t whole = 0;
    float real = 0;
    for (int32_t i = 0; i < l.size; ++i) {
      if (is_real(l.out_type)) {
        real += static_cast<float>(read_real(l.x, x + i * l.x_stride, l.type));
        write_real(l.y, y + i * l.y_stride, l.out_type, static_cast<double>(real));
      } else {
        whole = static_cast<int64_t>(
            static_cast<uint64_t>(whole) +
            static_cast<uint64_t>(read_integer(l.x, x + i * l.x_stride, l.type)));
        write_integer(l.y, y + i * l.y_stride, l.out_type, whole);
      }
    }
  });
}

// (x, dim, dtype?, out)
Status prepare_cumsum(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(3);
  const int dim = dimension(call.integer(1), x.rank);
  if (dim < 0) return bad_argument(1, "is not a dimension of the input");
  if (!is_known(x.type) || x.type == ScalarType::f64)
    return bad_argument(0, "has a dtype that is not supported");
  if (!is_known(y.type) || y.type == ScalarType::f64 || y.type == ScalarType::b8)
    return bad_argument(3, "has a dtype that is not supported");
  if (is_real(x.type) && !is_real(y.type)) return bad_argument(3, "must be float, as the input is");
  if (!same_sizes(x, y)) return bad_argument(3, "must have the input's sizes");
  if (x.numel == 0) return keep_nothing(prepared);
  Lines l;
  const Status s = fill_lines(call, dim, 3, -1, &l);
  return s.ok() ? keep<Lines, run_cumsum>(call, prepared, l) : s;
}

// Whether element i of a line comes before element k: NaN is larger than all, of equal ones the
// first comes first.
bool before(const Lines& l, int32_t x, int32_t i, int32_t k) {
  const int32_t a = x + i * l.x_stride, b = x + k * l.x_stride;
  if (is_real(l.type)) {
    const double u = read_real(l.x, a, l.type), v = read_real(l.x, b, l.type);
    const bool u_nan = u != u, v_nan = v != v;
    if (u_nan != v_nan) return l.flag ? u_nan : v_nan;
    if (!u_nan && u != v) return l.flag ? u > v : u < v;
  } else {
    const int64_t u = read_integer(l.x, a, l.type), v = read_integer(l.x, b, l.type);
    if (u != v) return l.flag ? u > v : u < v;
  }
  return i < k;
}

// The first few of a line by their positions, in the place of the result: a heap with the last of
// them at its root. So many elements take n log k comparisons and no memory.
struct FirstOfLine {
  const Lines& l;
  int32_t x, z;

  int32_t at(int32_t n) const {
    return static_cast<int32_t>(read_integer(l.z, z + n * l.z_stride, ScalarType::s64));
  }
  void put(int32_t n, int32_t i) const {
    write_integer(l.z, z + n * l.z_stride, ScalarType::s64, i);
  }

  // Element i goes to place n of a heap of `count`, or below it, under those that come after it.
  void sink(int32_t i, int32_t n, int32_t count) const {
    for (int32_t child = 2 * n + 1; child < count; child = 2 * n + 1) {
      if (child + 1 < count && before(l, x, at(child), at(child + 1))) ++child;
      if (!before(l, x, i, at(child))) break;
      put(n, at(child));
      n = child;
    }
    put(n, i);
  }
  void choose() const {
    const int32_t count = l.out_size;
    for (int32_t n = 0; n < count; ++n) put(n, n);
    for (int32_t n = count / 2; n-- > 0;) sink(at(n), n, count);
    for (int32_t i = count; i < l.size; ++i)
      if (before(l, x, i, at(0))) sink(i, 0, count);
    for (int32_t n = count; n-- > 1;) {
      const int32_t last = at(n), root = at(0);
      put(n, root);
      sink(last, 0, n);
    }
  }
};
// flag: the largest
void run_topk(const Lines& l) {
  each_line(l, [&](int32_t x, int32_t y, int32_t z) {
    const FirstOfLine first{l, x, z};
    first.choose();
    const auto bytes = static_cast<ptrdiff_t>(element_bytes(l.type));
    for (int32_t n = 0; n < l.out_size; ++n)
      __builtin_memcpy(
          static_cast<uint8_t*>(l.y) + static_cast<ptrdiff_t>(y + n * l.y_stride) * bytes,
          static_cast<const uint8_t*>(l.x) +
              static_cast<ptrdiff_t>(x + first.at(n) * l.x_stride) * bytes,
          static_cast<size_t>(bytes));
  });
}

// (x, k, dim, largest, sorted, values, positions): always sorted.
Status prepare_topk(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(5);
  const int dim = dimension(call.integer(2), x.rank);
  if (dim < 0) return bad_argument(2, "is not a dimension of the input");
  const int64_t size = x.rank == 0 ? 1 : x.sizes[dim];
  if (!lies_in(call.integer(1), 0, size)) return bad_argument(1, "is more than the dimension has");
  if (!is_known(x.type) || x.type == ScalarType::f64)
    return bad_argument(0, "has a dtype that is not supported");
  if (!same_type(x, y)) return bad_argument(5, "must have the input's dtype");
  if (call.tensor(6).type != ScalarType::s64) return bad_argument(6, "must be int64");
  Lines l;
  const Status s = fill_lines(call, dim, 5, 6, &l);
  if (!s.ok()) return s;
  if (l.out_size != call.integer(1)) return bad_argument(5, "has the wrong sizes");
  if (y.numel == 0) return keep_nothing(prepared);
  l.flag = call.boolean(3);
  return keep<Lines, run_topk>(call, prepared, l);
}

void run_glu(const Lines& l) {
  each_line(l, [&](int32_t x_at, int32_t y_at, int32_t) {
    const float* x = static_cast<const float*>(l.x) + x_at;
    for (int32_t i = 0; i < l.out_size; ++i) {
      const float gate = x[(l.out_size + i) * l.x_stride];
      static_cast<float*>(l.y)[y_at + i * l.y_stride] = x[i * l.x_stride] / (1 + std::exp(-gate));
    }
  });
}
// (x, dim, out)
Status prepare_glu(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(2);
  const int dim = dimension(call.integer(1), x.rank);
  if (dim < 0 || x.rank == 0) return bad_argument(1, "is not a dimension of the input");
  if (x.type != ScalarType::f32) return bad_argument(0, "must be float");
  if (y.type != ScalarType::f32) return bad_argument(2, "must be float");
  Lines l;
  const Status s = fill_lines(call, dim, 2, -1, &l);
  if (!s.ok()) return s;
  if (l.size != 2 * int64_t{l.out_size})
    return bad_argument(2, "must have half the input's size along the dimension");
  if (y.numel == 0) return keep_nothing(prepared);
  return keep<Lines, run_glu>(call, prepared, l);
}

}  // namespace

extern const Kernel kAtenCumsum = {"aten::cumsum.out", "TIiO", prepare_cumsum};
extern const Kernel kAtenGlu = {"aten::glu.out", "TIO", prepare_glu};
extern const Kernel kAtenTopk = {"aten::topk.values", "TIIBBOO", prepare_topk};

}  // namespace deuteron
