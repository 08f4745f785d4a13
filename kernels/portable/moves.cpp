// SPDX-License-Identifier: Apache-2.0
// Operators that pick or repeat elements: permute, slice, select, expand, repeat, flip, split, cat.
#include "kernels/portable/kernels.h"
#include "kernels/portable/strided.h"

namespace deuteron {
namespace {
using namespace portable;

constexpr const char kDtype[] = "must have the input's dtype";
constexpr const char kSizes[] = "has the wrong sizes";
constexpr const char kNoDim[] = "is not a dimension of the input";

// (x, dims, out)
Status prepare_permute(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(2);
  if (!same_type(x, y)) return bad_argument(2, kDtype);
  if (call.list(1).count != x.rank) return bad_argument(1, "must name every dimension");
  if (y.rank != x.rank) return bad_argument(2, kSizes);
  int32_t x_strides[kMaxRank], strides[kMaxRank];
  strides_of(x, x_strides);
  uint32_t seen = 0;
  for (int i = 0; i < x.rank; ++i) {
    const int dim = dimension(call.list_integer(1, i), x.rank);
    if (dim < 0 || (seen >> dim & 1)) return bad_argument(1, "must name every dimension once");
    seen |= 1u << dim;
    if (y.sizes[i] != x.sizes[dim]) return bad_argument(2, kSizes);
    strides[i] = x_strides[dim];
  }
  return keep_strided_copy(call, prepared, x, 0, strides, y, false);
}

int64_t clamp(int64_t v, int64_t low, int64_t high) { return v < low ? low : v > high ? high : v; }

// (x, dim, start?, end?, step, out)
Status prepare_slice(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(5);
  const int dim = dimension(call.integer(1), x.rank);
  if (dim < 0 || x.rank == 0) return bad_argument(1, kNoDim);
  if (!same_type(x, y)) return bad_argument(5, kDtype);
  const int64_t size = x.sizes[dim], step = call.integer(4);
  if (step < 1 || step > INT32_MAX) return bad_argument(4, "must be at least 1");
  int64_t start = call.args[2]->kind == Kind::none ? 0 : call.integer(2),
          end = call.args[3]->kind == Kind::none ? size : call.integer(3);
  if (start < 0) start += size;
  if (end < 0) end += size;
  start = clamp(start, 0, size);
  end = clamp(end, start, size);
  if (y.rank != x.rank) return bad_argument(5, kSizes);
  for (int i = 0; i < x.rank; ++i)
    if (y.sizes[i] != (i == dim ? (end - start + step - 1) / step : x.sizes[i]))
      return bad_argument(5, kSizes);
  int32_t strides[kMaxRank];
  strides_of(x, strides);
  const int32_t first = y.numel == 0 ? 0 : static_cast<int32_t>(start) * strides[dim];
  strides[dim] = y.sizes[dim] > 1 ? static_cast<int32_t>(step) * strides[dim] : 0;
  return keep_strided_copy(call, prepared, x, first, strides, y, false);
}

// (x, dim, index, out)
Status prepare_select(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(3);
  const int dim = dimension(call.integer(1), x.rank);
  if (dim < 0 || x.rank == 0) return bad_argument(1, kNoDim);
  if (!same_type(x, y)) return bad_argument(3, kDtype);
  const int64_t size = x.sizes[dim];
  int64_t index = call.integer(2);
  if (index < -size || index >= size) return bad_argument(2, "lies outside the dimension");
  if (index < 0) index += size;
  if (y.rank != x.rank - 1) return bad_argument(3, kSizes);
  int32_t x_strides[kMaxRank], strides[kMaxRank];
  strides_of(x, x_strides);
  for (int i = 0; i < y.rank; ++i) {
    const int from = i < dim ? i : i + 1;
    if (y.sizes[i] != x.sizes[from]) return bad_argument(3, kSizes);
    strides[i] = x_strides[from];
  }
  return keep_strided_copy(call, prepared, x, static_cast<int32_t>(index) * x_strides[dim], strides,
                           y, false);
}

// (x, size, implicit, out): dimensions of one are repeated.
Status prepare_expand(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(3);
  if (!same_type(x, y)) return bad_argument(3, kDtype);
  if (y.rank < x.rank) return bad_argument(3, kSizes);
  int32_t x_strides[kMaxRank], strides[kMaxRank] = {};
  strides_of(x, x_strides);
  const int added = y.rank - x.rank;
  for (int i = 0; i < x.rank; ++i) {
    if (x.sizes[i] != 1 && x.sizes[i] != y.sizes[added + i]) return bad_argument(3, kSizes);
    strides[added + i] = x.sizes[i] == 1 ? 0 : x_strides[i];
  }
  return keep_strided_copy(call, prepared, x, 0, strides, y, false);
}

// (x, repeats, out): a repeated dimension is two, of which the outer one does not move in x.
Status prepare_repeat(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(2);
  if (!same_type(x, y)) return bad_argument(2, kDtype);
  if (call.list(1).count != y.rank || y.rank < x.rank)
    return bad_argument(1, "must have one entry for each dimension of the out");
  int32_t* numbers = call.arena->make<int32_t>(size_t{6} * y.rank);
  if (!numbers) return out_of_memory();
  int32_t x_strides[kMaxRank], y_strides[kMaxRank];
  strides_of(x, x_strides);
  strides_of(y, y_strides);
  const int added = y.rank - x.rank, dimensions = 2 * y.rank;
  for (int i = 0; i < y.rank; ++i) {
    const int32_t size = i < added ? 1 : x.sizes[i - added];
    const int64_t times = call.list_integer(1, i);
    if (times < 0 || times > INT32_MAX || times * size != y.sizes[i])
      return bad_argument(2, kSizes);
    int32_t *of_size = numbers + 2 * i, *of_x = of_size + dimensions, *of_y = of_x + dimensions;
    of_size[0] = static_cast<int32_t>(times), of_size[1] = size;
    of_x[0] = 0, of_x[1] = i < added ? 0 : x_strides[i - added];
    of_y[0] = y.numel > 0 ? y_strides[i] * size : 0, of_y[1] = y_strides[i];
  }
  StridedCopy c{bytes_of(x),
                bytes_of(y),
                numbers,
                y.numel == 0 ? 0 : -1,
                static_cast<uint8_t>(dimensions),
                static_cast<uint8_t>(element_bytes(y.type))};
  if (y.numel > 0) join_dimensions(numbers, &c.rank);
  if (c.rank > kMostDimensions && y.numel > 0)
    return bad_argument(1, "repeats too many dimensions");
  return keep_copy(call, prepared, c);
}

// (x, dims, out)
Status prepare_flip(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(2);
  if (!same_type(x, y)) return bad_argument(2, kDtype);
  if (!same_sizes(x, y)) return bad_argument(2, kSizes);
  int32_t strides[kMaxRank];
  strides_of(x, strides);
  int32_t first = 0;
  uint32_t seen = 0;
  for (int k = 0; k < call.list(1).count; ++k) {
    const int dim = dimension(call.list_integer(1, k), x.rank);
    if (dim < 0 || x.rank == 0 || (seen >> dim & 1)) return bad_argument(1, kNoDim);
    seen |= 1u << dim;
    if (x.numel == 0) continue;
    first += strides[dim] * (x.sizes[dim] - 1);
    strides[dim] = -strides[dim];
  }
  return keep_strided_copy(call, prepared, x, first, strides, y, false);
}

// Splits or joins: the piece of `whole` that begins at `at` along dim is copied from or to `part`.
bool fill_piece(Call& call, StridedCopy* c, const Tensor& whole, const Tensor& part, int dim,
                int32_t at, bool join) {
  const uint32_t element = element_bytes(whole.type);
  *c = {bytes_of(join ? part : whole),
        bytes_of(join ? whole : part),
        nullptr,
        part.numel == 0 ? 0 : -1,
        part.rank,
        static_cast<uint8_t>(element)};
  int32_t* numbers = call.arena->make<int32_t>(size_t{3} * part.rank);
  if (!numbers) return false;
  c->sizes = numbers;
  if (part.numel == 0) return true;
  for (int i = 0; i < part.rank; ++i) numbers[i] = part.sizes[i];
  int32_t* whole_strides = numbers + (join ? 2 : 1) * part.rank;
  strides_of(whole, whole_strides);
  strides_of(part, numbers + (join ? 1 : 2) * part.rank);
  const size_t offset = static_cast<size_t>(at) * static_cast<size_t>(whole_strides[dim]) * element;
  if (join) c->out += offset;
  else c->in += offset;
  join_dimensions(numbers, &c->rank);
  return true;
}

// Checks that `parts` make up `whole` along dim, and keeps their copies. Parts of one empty
// dimension, as torch allows in cat, are skipped.
Status keep_pieces(Call& call, Prepared* prepared, const Tensor& whole, int whole_argument,
                   const List& parts, int parts_argument, int dim, bool join) {
  StridedCopy* copies = call.arena->make<StridedCopy>(static_cast<size_t>(parts.count));
  if (!copies) return out_of_memory();
  int64_t at = 0;
  int32_t count = 0;
  for (int32_t k = 0; k < parts.count; ++k) {
    const Tensor& part = *parts.items[k]->tensor;
    if (join && part.rank == 1 && part.numel == 0) continue;
    if (!same_type(part, whole))
      return bad_argument(parts_argument, "must all have the same dtype");
    if (part.rank != whole.rank) return bad_argument(parts_argument, "must all have the same rank");
    for (int i = 0; i < whole.rank; ++i)
      if (i != dim && part.sizes[i] != whole.sizes[i]) return bad_argument(parts_argument, kSizes);
    if (at + part.sizes[dim] > whole.sizes[dim]) return bad_argument(whole_argument, kSizes);
    if (!fill_piece(call, &copies[count++], whole, part, dim, static_cast<int32_t>(at), join))
      return out_of_memory();
    at += part.sizes[dim];
  }
  if (at != whole.sizes[dim]) return bad_argument(whole_argument, kSizes);
  return keep_copies(call, prepared, copies, count);
}

// (xs, dim, out)
Status prepare_cat(Call& call, Prepared* prepared) {
  const Tensor& y = call.tensor(2);
  const int dim = dimension(call.integer(1), y.rank);
  if (dim < 0 || y.rank == 0) return bad_argument(1, kNoDim);
  return keep_pieces(call, prepared, y, 2, call.list(0), 0, dim, true);
}

// (x, sizes, dim, outs)
Status prepare_split(Call& call, Prepared* prepared) {
  const Tensor& x = call.tensor(0);
  const int dim = dimension(call.integer(2), x.rank);
  if (dim < 0 || x.rank == 0) return bad_argument(2, kNoDim);
  const List& outs = call.list(3);
  if (outs.count != call.list(1).count) return bad_argument(1, "must have one entry for each out");
  for (int32_t k = 0; k < outs.count; ++k) {
    const Tensor& y = *outs.items[k]->tensor;
    if (dim >= y.rank || y.sizes[dim] != call.list_integer(1, k)) return bad_argument(3, kSizes);
  }
  return keep_pieces(call, prepared, x, 0, outs, 3, dim, false);
}

}  // namespace

extern const Kernel kAtenPermuteCopy = {"aten::permute_copy.out", "TLO", prepare_permute};
extern const Kernel kAtenSliceCopy = {"aten::slice_copy.Tensor_out", "TIiiIO", prepare_slice};
extern const Kernel kAtenSelectCopy = {"aten::select_copy.int_out", "TIIO", prepare_select};
extern const Kernel kAtenExpandCopy = {"aten::expand_copy.out", "TLBO", prepare_expand};
extern const Kernel kAtenRepeat = {"aten::repeat.out", "TLO", prepare_repeat};
extern const Kernel kAtenFlip = {"aten::flip.out", "TLO", prepare_flip};
extern const Kernel kAtenCat = {"aten::cat.out", "VIO", prepare_cat};
extern const Kernel kAtenSplitWithSizesCopy = {"aten::split_with_sizes_copy.out", "TLIW",
                                               prepare_split};

}  // namespace deuteron
