// SPDX-License-Identifier: Apache-2.0
// Tensors put together from others, taken apart, and cut into views: stack, split, unbind,
// transpose, pixel shuffle, windows, diagonal.
#include "kernels/portable/kernels.h"
#include "kernels/portable/strided.h"

namespace deuteron {
namespace {
using namespace portable;

constexpr const char kDtype[] = "must have the input's dtype";
constexpr const char kSizes[] = "has the wrong sizes";
constexpr const char kNoDim[] = "is not a dimension of the input";

// A copy over `rank` sizes with strides of both sides, whose offsets the caller has proved to lie
// inside.
bool make_copy(Call& call, StridedCopy* c, const Tensor& in, int64_t in_first,
               const int32_t* in_strides, const Tensor& out, int64_t out_first,
               const int32_t* out_strides, int rank, const int32_t* sizes) {
  const uint32_t element = element_bytes(in.type);
  bool empty = false;
  for (int i = 0; i < rank; ++i) empty = empty || sizes[i] == 0;
  *c = {nullptr, nullptr, nullptr, 0, static_cast<uint8_t>(rank), static_cast<uint8_t>(element)};
  if (empty) return true;
  int32_t* numbers = call.arena->make<int32_t>(size_t{3} * static_cast<size_t>(rank));
  if (!numbers) return false;
  for (int i = 0; i < rank; ++i) {
    numbers[i] = sizes[i];
    numbers[rank + i] = in_strides[i];
    numbers[2 * rank + i] = out_strides[i];
  }
  c->in = bytes_of(in) + in_first * element;
  c->out = bytes_of(out) + out_first * element;
  c->sizes = numbers;
  c->plain_bytes = -1;
  join_dimensions(numbers, &c->rank);
  return true;
}

// The strides of a tensor without one dimension.
void strides_without(const Tensor& t, int dim, int32_t* strides, int32_t* sizes) {
  int32_t all[kMaxRank];
  strides_of(t, all);
  for (int i = 0, k = 0; i < t.rank; ++i)
    if (i != dim) sizes[k] = t.sizes[i], strides[k++] = all[i];
}

// Element k of `whole` along `dim` is part k, or the parts are made from it.
Status keep_slabs(Call& call, Prepared* prepared, const Tensor& whole, int dim, const List& parts,
                  int parts_at, bool join) {
  if (parts.count != whole.sizes[dim])
    return bad_argument(parts_at, "must have one tensor for each position");
  StridedCopy* copies = call.arena->make<StridedCopy>(static_cast<size_t>(parts.count));
  if (!copies) return out_of_memory();
  int32_t whole_strides[kMaxRank], sizes[kMaxRank], all[kMaxRank];
  strides_without(whole, dim, whole_strides, sizes);
  strides_of(whole, all);
  for (int32_t k = 0; k < parts.count; ++k) {
    const Tensor& part = *parts.items[k]->tensor;
    if (!same_type(part, whole)) return bad_argument(parts_at, "must all have the same dtype");
    if (part.rank != whole.rank - 1) return bad_argument(parts_at, "must all have the same rank");
    for (int i = 0; i < part.rank; ++i)
      if (part.sizes[i] != sizes[i]) return bad_argument(parts_at, kSizes);
    int32_t part_strides[kMaxRank];
    strides_of(part, part_strides);
    const int64_t first = int64_t{k} * all[dim];
    if (!(join ? make_copy(call, &copies[k], part, 0, part_strides, whole, first, whole_strides,
                           part.rank, sizes)
               : make_copy(call, &copies[k], whole, first, whole_strides, part, 0, part_strides,
                           part.rank, sizes)))
      return out_of_memory();
  }
  return keep_copies(call, prepared, copies, parts.count);
}

// (xs, dim, out)
Status prepare_stack(Call& call, Prepared* prepared) {
  const Tensor& y = call.tensor(2);
  const int dim = dimension(call.integer(1), y.rank);
  if (dim < 0 || y.rank == 0) return bad_argument(1, "is not a dimension of the out");
  return keep_slabs(call, prepared, y, dim, call.list(0), 0, true);
}
// (x, dim, outs)
Status prepare_unbind(Call& call, Prepared* prepared) {
  const Tensor& x = call.tensor(0);
  const int dim = dimension(call.integer(1), x.rank);
  if (dim < 0 || x.rank == 0) return bad_argument(1, kNoDim);
  return keep_slabs(call, prepared, x, dim, call.list(2), 2, false);
}

// (x, size of a part, dim, outs): the last part has what is left.
Status prepare_split(Call& call, Prepared* prepared) {
  const Tensor& x = call.tensor(0);
  const List& outs = call.list(3);
  const int dim = dimension(call.integer(2), x.rank);
  if (dim < 0 || x.rank == 0) return bad_argument(2, kNoDim);
  const int64_t size = call.integer(1);
  if (size < 1) return bad_argument(1, "must be at least 1");
  StridedCopy* copies = call.arena->make<StridedCopy>(static_cast<size_t>(outs.count));
  if (!copies) return out_of_memory();
  int32_t strides[kMaxRank];
  strides_of(x, strides);
  int64_t at = 0;
  for (int32_t k = 0; k < outs.count; ++k) {
    const Tensor& y = *outs.items[k]->tensor;
    if (!same_type(x, y)) return bad_argument(3, kDtype);
    if (y.rank != x.rank) return bad_argument(3, kSizes);
    const int64_t left = x.sizes[dim] - at;
    for (int i = 0; i < x.rank; ++i)
      if (y.sizes[i] != (i == dim ? (left < size ? left : size) : x.sizes[i]))
        return bad_argument(3, kSizes);
    int32_t y_strides[kMaxRank];
    strides_of(y, y_strides);
    if (!make_copy(call, &copies[k], x, at * strides[dim], strides, y, 0, y_strides, x.rank,
                   y.sizes))
      return out_of_memory();
    at += y.sizes[dim];
  }
  if (at != x.sizes[dim]) return bad_argument(3, "must have one tensor for each part");
  return keep_copies(call, prepared, copies, outs.count);
}

// Copies all of x, taken with other strides from `first`, to y.
Status keep_view(Call& call, Prepared* prepared, int out, int64_t first, const int32_t* strides) {
  return keep_strided_copy(call, prepared, call.tensor(0), static_cast<int32_t>(first), strides,
                           call.tensor(out), false);
}

Status keep_transposed(Call& call, Prepared* prepared, int a, int b, int out) {
  const Tensor &x = call.tensor(0), &y = call.tensor(out);
  if (!same_type(x, y)) return bad_argument(out, kDtype);
  if (y.rank != x.rank) return bad_argument(out, kSizes);
  int32_t all[kMaxRank], strides[kMaxRank];
  strides_of(x, all);
  for (int i = 0; i < x.rank; ++i) {
    const int from = i == a ? b : i == b ? a : i;
    if (y.sizes[i] != x.sizes[from]) return bad_argument(out, kSizes);
    strides[i] = all[from];
  }
  return keep_view(call, prepared, out, 0, strides);
}
// (x, dim, dim, out)
Status prepare_transpose(Call& call, Prepared* prepared) {
  const int rank = call.tensor(0).rank, a = dimension(call.integer(1), rank),
            b = dimension(call.integer(2), rank);
  if (a < 0) return bad_argument(1, kNoDim);
  if (b < 0) return bad_argument(2, kNoDim);
  return keep_transposed(call, prepared, a, b, 3);
}
// (x, out)
Status prepare_t(Call& call, Prepared* prepared) {
  const int rank = call.tensor(0).rank;
  if (rank > 2) return bad_argument(0, "must have rank 2 or less");
  return keep_transposed(call, prepared, 0, rank == 2 ? 1 : 0, 1);
}

// (x, dim, size, step, out): windows of a dimension, their elements in a new last one.
Status prepare_unfold(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(4);
  const int dim = dimension(call.integer(1), x.rank);
  if (dim < 0 || x.rank == 0) return bad_argument(1, kNoDim);
  const int64_t size = call.integer(2), step = call.integer(3);
  if (!lies_in(size, 0, x.sizes[dim])) return bad_argument(2, "is larger than the dimension");
  if (!lies_in(step, 1, INT32_MAX)) return bad_argument(3, "must be at least 1");
  if (!same_type(x, y)) return bad_argument(4, kDtype);
  if (y.rank != x.rank + 1 || y.sizes[x.rank] != size) return bad_argument(4, kSizes);
  int32_t strides[kMaxRank + 1];
  strides_of(x, strides);
  for (int i = 0; i < x.rank; ++i)
    if (y.sizes[i] != (i == dim ? (x.sizes[dim] - size) / step + 1 : x.sizes[i]))
      return bad_argument(4, kSizes);
  strides[x.rank] = strides[dim];
  strides[dim] = y.sizes[dim] > 1 ? static_cast<int32_t>(step) * strides[dim] : 0;
  return keep_view(call, prepared, 4, 0, strides);
}

// (x, offset, dim, dim, out): the diagonal becomes the last dimension.
Status prepare_diagonal(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(4);
  const int a = dimension(call.integer(2), x.rank), b = dimension(call.integer(3), x.rank);
  if (a < 0) return bad_argument(2, kNoDim);
  if (b < 0 || a == b) return bad_argument(3, "is not another dimension of the input");
  const int64_t offset = call.integer(1);
  if (!lies_in(offset, -x.sizes[a], x.sizes[b])) return bad_argument(1, "is out of range");
  if (!same_type(x, y)) return bad_argument(4, kDtype);
  if (y.rank != x.rank - 1) return bad_argument(4, kSizes);
  const int64_t rows = x.sizes[a] - (offset < 0 ? -offset : 0),
                columns = x.sizes[b] - (offset > 0 ? offset : 0);
  int32_t all[kMaxRank], strides[kMaxRank];
  strides_of(x, all);
  int k = 0;
  for (int i = 0; i < x.rank; ++i) {
    if (i == a || i == b) continue;
    if (y.sizes[k] != x.sizes[i]) return bad_argument(4, kSizes);
    strides[k++] = all[i];
  }
  if (y.sizes[k] != (rows < columns ? rows : columns)) return bad_argument(4, kSizes);
  strides[k] = y.sizes[k] > 1 ? all[a] + all[b] : 0;
  return keep_view(call, prepared, 4,
                   y.numel == 0 ? 0
                   : offset < 0 ? -offset * all[a]
                                : offset * all[b],
                   strides);
}

// Between [.., c * r * r, h, w] and [.., c, h * r, w * r], as one copy over [.., c, r, r, h, w].
Status keep_pixels(Call& call, Prepared* prepared, bool shuffle) {
  const Tensor &x = call.tensor(0), &y = call.tensor(2);
  const Tensor &deep = shuffle ? x : y, &wide = shuffle ? y : x;
  const int64_t r = call.integer(1);
  if (!lies_in(r, 1, 1 << 15)) return bad_argument(1, "is out of range");
  if (!same_type(x, y)) return bad_argument(2, kDtype);
  if (x.rank < 3 || x.rank > kMaxRank - 2) return bad_argument(0, "must have rank 3 to 14");
  if (y.rank != x.rank) return bad_argument(2, kSizes);
  const int c = x.rank - 3;  // channels; then h, w
  for (int i = 0; i < c; ++i)
    if (x.sizes[i] != y.sizes[i]) return bad_argument(2, kSizes);
  if (deep.sizes[c] != wide.sizes[c] * r * r || wide.sizes[c + 1] != deep.sizes[c + 1] * r ||
      wide.sizes[c + 2] != deep.sizes[c + 2] * r)
    return bad_argument(2, kSizes);
  if (x.numel == 0) return keep_nothing(prepared);
  int32_t deep_all[kMaxRank], wide_all[kMaxRank], deep_strides[kMaxRank], wide_strides[kMaxRank],
      sizes[kMaxRank];
  strides_of(deep, deep_all);
  strides_of(wide, wide_all);
  const int32_t n = static_cast<int32_t>(r);
  for (int i = 0; i < c; ++i)
    sizes[i] = x.sizes[i], deep_strides[i] = deep_all[i], wide_strides[i] = wide_all[i];
  const int32_t inner[] = {wide.sizes[c], n, n, deep.sizes[c + 1], deep.sizes[c + 2]};
  const int32_t deep_inner[] = {deep_all[c] * n * n, deep_all[c] * n, deep_all[c], deep_all[c + 1],
                                deep_all[c + 2]};
  const int32_t wide_inner[] = {wide_all[c], wide_all[c + 1], wide_all[c + 2], wide_all[c + 1] * n,
                                wide_all[c + 2] * n};
  for (int k = 0; k < 5; ++k)
    sizes[c + k] = inner[k], deep_strides[c + k] = deep_inner[k],
              wide_strides[c + k] = wide_inner[k];
  StridedCopy copy;
  if (!make_copy(call, &copy, x, 0, shuffle ? deep_strides : wide_strides, y, 0,
                 shuffle ? wide_strides : deep_strides, c + 5, sizes))
    return out_of_memory();
  return keep_copy(call, prepared, copy);
}
// (x, factor, out)
Status prepare_pixel_shuffle(Call& call, Prepared* prepared) {
  return keep_pixels(call, prepared, true);
}
Status prepare_pixel_unshuffle(Call& call, Prepared* prepared) {
  return keep_pixels(call, prepared, false);
}

// Copies all of x to y, then `source` to the part of y that begins at `first`.
Status keep_patched(Call& call, Prepared* prepared, int out, const Tensor& source, int64_t first,
                    const int32_t* strides) {
  const Tensor &x = call.tensor(0), &y = call.tensor(out);
  StridedCopy* copies = call.arena->make<StridedCopy>(2);
  if (!copies) return out_of_memory();
  int32_t x_strides[kMaxRank], y_strides[kMaxRank], source_strides[kMaxRank];
  strides_of(x, x_strides);
  strides_of(y, y_strides);
  strides_of(source, source_strides);
  if (!make_copy(call, &copies[0], x, 0, x_strides, y, 0, y_strides, y.rank, y.sizes) ||
      !make_copy(call, &copies[1], source, 0, source_strides, y, first, strides, source.rank,
                 source.sizes))
    return out_of_memory();
  return keep_copies(call, prepared, copies, 2);
}
// (x, source, dim, index, out)
Status prepare_select_scatter(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &source = call.tensor(1), &y = call.tensor(4);
  const int dim = dimension(call.integer(2), x.rank);
  if (dim < 0 || x.rank == 0) return bad_argument(2, kNoDim);
  if (!same_type(x, y) || !same_sizes(x, y))
    return bad_argument(4, "must have the input's dtype and sizes");
  if (!same_type(x, source)) return bad_argument(1, kDtype);
  int64_t index = call.integer(3);
  if (!lies_in(index, -x.sizes[dim], x.sizes[dim] - 1))
    return bad_argument(3, "lies outside the dimension");
  if (index < 0) index += x.sizes[dim];
  int32_t strides[kMaxRank], sizes[kMaxRank], all[kMaxRank];
  strides_without(y, dim, strides, sizes);
  strides_of(y, all);
  if (source.rank != x.rank - 1) return bad_argument(1, "has the wrong rank");
  for (int i = 0; i < source.rank; ++i)
    if (source.sizes[i] != sizes[i]) return bad_argument(1, kSizes);
  return keep_patched(call, prepared, 4, source, index * all[dim], strides);
}
int64_t within(int64_t v, int64_t low, int64_t high) { return v < low ? low : v > high ? high : v; }
// (x, source, dim, start?, end?, step, out)
Status prepare_slice_scatter(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &source = call.tensor(1), &y = call.tensor(6);
  const int dim = dimension(call.integer(2), x.rank);
  if (dim < 0 || x.rank == 0) return bad_argument(2, kNoDim);
  if (!same_type(x, y) || !same_sizes(x, y))
    return bad_argument(6, "must have the input's dtype and sizes");
  if (!same_type(x, source)) return bad_argument(1, kDtype);
  const int64_t size = x.sizes[dim], step = call.integer(5);
  if (!lies_in(step, 1, INT32_MAX)) return bad_argument(5, "must be at least 1");
  int64_t start = call.args[3]->kind == Kind::none ? 0 : call.integer(3),
          end = call.args[4]->kind == Kind::none ? size : call.integer(4);
  start = within(start < 0 ? start + size : start, 0, size);
  end = within(end < 0 ? end + size : end, start, size);
  if (source.rank != x.rank) return bad_argument(1, "has the wrong rank");
  for (int i = 0; i < x.rank; ++i)
    if (source.sizes[i] != (i == dim ? (end - start + step - 1) / step : x.sizes[i]))
      return bad_argument(1, kSizes);
  int32_t strides[kMaxRank];
  strides_of(y, strides);
  const int64_t first = start * strides[dim];
  strides[dim] = source.sizes[dim] > 1 ? static_cast<int32_t>(step) * strides[dim] : 0;
  return keep_patched(call, prepared, 6, source, first, strides);
}

}  // namespace

extern const Kernel kAtenStack = {"aten::stack.out", "VIO", prepare_stack};
extern const Kernel kAtenUnbindCopy = {"aten::unbind_copy.int_out", "TIW", prepare_unbind};
extern const Kernel kAtenSplitCopy = {"aten::split_copy.Tensor_out", "TIIW", prepare_split};
extern const Kernel kAtenTransposeCopy = {"aten::transpose_copy.int_out", "TIIO",
                                          prepare_transpose};
extern const Kernel kAtenTCopy = {"aten::t_copy.out", "TO", prepare_t};
extern const Kernel kAtenUnfoldCopy = {"aten::unfold_copy.out", "TIIIO", prepare_unfold};
extern const Kernel kAtenDiagonalCopy = {"aten::diagonal_copy.out", "TIIIO", prepare_diagonal};
extern const Kernel kAtenPixelShuffle = {"aten::pixel_shuffle.out", "TIO", prepare_pixel_shuffle};
extern const Kernel kAtenPixelUnshuffle = {"aten::pixel_unshuffle.out", "TIO",
                                           prepare_pixel_unshuffle};
extern const Kernel kAtenSelectScatter = {"aten::select_scatter.out", "TTIIO",
                                          prepare_select_scatter};
extern const Kernel kAtenSliceScatter = {"aten::slice_scatter.out", "TTIiiIO",
                                         prepare_slice_scatter};

}  // namespace deuteron
