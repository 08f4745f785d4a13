// SPDX-License-Identifier: Apache-2.0
// Elements picked or placed by indexes that are data: gather, index, embedding, index_select;
// scatter, index_put. A wrong index must neither read nor write outside: what reads clamps it into
// the dimension, what writes leaves it out.
#include "kernels/portable/kernels.h"
#include "kernels/portable/strided.h"

namespace deuteron {
namespace {
using namespace portable;

// One tensor of indexes into one dimension.
struct Indexes {
  const void* data;
  const int32_t* strides;  // along each walked dimension
  int32_t size, stride;    // of the dimension that they pick from
  ScalarType type;
};
struct Indexed {
  const uint8_t* from;
  uint8_t* to;
  const int32_t* numbers;  // walked sizes, strides of the indexed side, strides of the plain side
  const Indexes* indexes;
  int32_t count;
  uint8_t rank, element_bytes;
  bool places, adds;  // into the indexed side; else it is read
  bool from_end;      // negative indexes count from the end
  ScalarType type;
  Prepared before;       // what is done first: places keep the rest of another tensor
  const int32_t* block;  // dimensions that no index depends on, copied together: sizes, strides to
                         // read, strides to write
  uint8_t block_rank;
};

void add_element(const Indexed& p, ptrdiff_t to, ptrdiff_t from) {
  const int32_t a = static_cast<int32_t>(to), b = static_cast<int32_t>(from);
  if (is_real(p.type))
    write_real(p.to, a, p.type, read_real(p.to, a, p.type) + read_real(p.from, b, p.type));
  else
    write_integer(p.to, a, p.type,
                  static_cast<int64_t>(static_cast<uint64_t>(read_integer(p.to, a, p.type)) +
                                       static_cast<uint64_t>(read_integer(p.from, b, p.type))));
}

void run_indexed(const Indexed& p) {
  if (p.before.run) p.before.run(p.before.args);
  const int32_t* const plain = p.numbers + 2 * p.rank;
  for (int i = 0; i < p.rank; ++i)
    if (p.numbers[i] == 0) return;
  const auto move = [&](ptrdiff_t from, ptrdiff_t to) {
    const int32_t* const b = p.block;
    copy_elements(p.block_rank, p.element_bytes, b, b + p.block_rank, b + 2 * p.block_rank,
                  p.from + from * p.element_bytes, p.to + to * p.element_bytes);
  };
  int32_t index[kMaxRank] = {};
  for (;;) {
    ptrdiff_t picked = 0, other = 0;
    for (int i = 0; i < p.rank; ++i) {
      picked += static_cast<ptrdiff_t>(index[i]) * p.numbers[p.rank + i];
      other += static_cast<ptrdiff_t>(index[i]) * plain[i];
    }
    bool inside = true;
    for (int32_t n = 0; n < p.count; ++n) {
      const Indexes& s = p.indexes[n];
      int32_t at = 0;
      for (int i = 0; i < p.rank; ++i) at += index[i] * s.strides[i];
      int64_t k = read_integer(s.data, at, s.type);
      if (p.from_end && k < 0) k += s.size;
      if (k < 0 || k >= s.size) {
        inside = false;
        k = k < 0 ? 0 : s.size - 1;
      }
      picked += static_cast<ptrdiff_t>(k) * s.stride;
    }
    if (!p.places) move(picked, other);
    else if (inside && p.adds) add_element(p, picked, other);
    else if (inside) move(other, picked);
    int i = p.rank - 1;
    for (; i >= 0; --i) {
      if (++index[i] < p.numbers[i]) break;
      index[i] = 0;
    }
    if (i < 0) return;
  }
}

const char* why_not_indexes(const Tensor& t) {
  return t.type == ScalarType::s64 || t.type == ScalarType::s32 ? nullptr
                                                                : "must be int32 or int64";
}

// Room for one tensor of indexes; the strides are zero.
Indexed empty_indexed(Call& call, int rank, int count) {
  Indexed p{};
  int32_t* numbers =
      call.arena->make<int32_t>(static_cast<size_t>(rank) * static_cast<size_t>(3 + count));
  Indexes* indexes = call.arena->make<Indexes>(static_cast<size_t>(count));
  if (!numbers || !indexes) return p;
  for (int i = 0; i < rank * (3 + count); ++i) numbers[i] = 0;
  for (int n = 0; n < count; ++n)
    indexes[n] = {nullptr, numbers + (3 + n) * rank, 0, 0, ScalarType::s64};
  p.numbers = numbers;
  p.indexes = indexes;
  p.count = count;
  p.rank = static_cast<uint8_t>(rank);
  return p;
}
int32_t* numbers_of(const Indexed& p, int part) {
  return const_cast<int32_t*>(p.numbers) + part * p.rank;
}
Indexes& indexes_of(const Indexed& p, int n) { return const_cast<Indexes*>(p.indexes)[n]; }
int32_t* strides_of_indexes(const Indexed& p, int n) { return numbers_of(p, 3 + n); }

// Takes the dimensions that no index depends on out of the walk: each step then copies all of their
// elements. Which of two places is written last stays as it was, for the order of the others does.
bool take_block(Call& call, Indexed& p) {
  int32_t* const block = call.arena->make<int32_t>(size_t{3} * p.rank);
  if (!block) return false;
  int walked[kMaxRank], free[kMaxRank], walks = 0, frees = 0;
  for (int i = 0; i < p.rank; ++i) {
    bool depends = p.adds;
    for (int32_t n = 0; n < p.count; ++n) depends |= p.indexes[n].strides[i] != 0;
    (depends ? walked[walks++] : free[frees++]) = i;
  }
  for (int k = 0; k < frees; ++k) {
    const int32_t size = p.numbers[free[k]], picked = p.numbers[p.rank + free[k]],
                  plain = p.numbers[2 * p.rank + free[k]];
    block[k] = size, block[frees + k] = p.places ? plain : picked,
    block[2 * frees + k] = p.places ? picked : plain;
  }
  p.block = block, p.block_rank = static_cast<uint8_t>(frees);
  for (int k = 0; k < frees; ++k)
    if (block[k] == 0) return true;  // nothing is moved
  join_dimensions(block, &p.block_rank);
  int32_t* const numbers = const_cast<int32_t*>(p.numbers);
  for (int list = 0; list < 3 + p.count;
       ++list)  // each is shorter than before, and lies in front of where it was
    for (int k = 0; k < walks; ++k) numbers[list * walks + k] = numbers[list * p.rank + walked[k]];
  for (int32_t n = 0; n < p.count; ++n)
    const_cast<Indexes*>(p.indexes)[n].strides = numbers + (3 + n) * walks;
  p.rank = static_cast<uint8_t>(walks);
  return true;
}

Status keep_reading(Call& call, Prepared* prepared, Indexed& p, const Tensor& x, const Tensor& y) {
  p.from = bytes_of(x);
  p.to = bytes_of(y);
  p.type = x.type;
  p.element_bytes = static_cast<uint8_t>(element_bytes(x.type));
  for (int i = 0; i < p.rank; ++i) numbers_of(p, 0)[i] = y.sizes[i];
  strides_of(y, numbers_of(p, 2));
  if (!take_block(call, p)) return out_of_memory();
  return keep<Indexed, run_indexed>(call, prepared, p);
}

// (x, dim, index, out)
Status prepare_index_select(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &index = call.tensor(2), &y = call.tensor(3);
  const int dim = dimension(call.integer(1), x.rank);
  if (dim < 0 || x.rank == 0) return bad_argument(1, "is not a dimension of the input");
  if (const char* why = why_not_indexes(index)) return bad_argument(2, why);
  if (!same_type(x, y)) return bad_argument(3, "must have the input's dtype");
  if (y.rank != x.rank || index.rank > 1) return bad_argument(3, "has the wrong sizes");
  for (int i = 0; i < x.rank; ++i)
    if (y.sizes[i] != (i == dim ? index.numel : x.sizes[i]))
      return bad_argument(3, "has the wrong sizes");
  if (y.numel == 0) return keep_nothing(prepared);
  if (x.sizes[dim] == 0) return bad_argument(0, "is empty along the dimension");
  Indexed p = empty_indexed(call, y.rank, 1);
  if (!p.numbers) return out_of_memory();
  int32_t* strides = numbers_of(p, 1);
  strides_of(x, strides);
  indexes_of(p, 0) = {index.data, strides_of_indexes(p, 0), x.sizes[dim], strides[dim], index.type};
  strides[dim] = 0;
  strides_of_indexes(p, 0)[dim] = 1;
  return keep_reading(call, prepared, p, x, y);
}

// (weight, indexes, padding, scale, sparse, out): what comes after weight and indexes matters to
// training only.
Status prepare_embedding(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &index = call.tensor(1), &y = call.tensor(5);
  if (x.rank != 2) return bad_argument(0, "must have rank 2");
  if (const char* why = why_not_indexes(index)) return bad_argument(1, why);
  if (!same_type(x, y)) return bad_argument(5, "must have the weight's dtype");
  if (y.rank != index.rank + 1 || y.sizes[index.rank] != x.sizes[1])
    return bad_argument(5, "has the wrong sizes");
  for (int i = 0; i < index.rank; ++i)
    if (y.sizes[i] != index.sizes[i]) return bad_argument(5, "has the wrong sizes");
  if (y.numel == 0) return keep_nothing(prepared);
  if (x.sizes[0] == 0) return bad_argument(0, "has no rows");
  Indexed p = empty_indexed(call, y.rank, 1);
  if (!p.numbers) return out_of_memory();
  int32_t strides[kMaxRank];
  strides_of(x, strides);
  numbers_of(p, 1)[index.rank] = strides[1];
  indexes_of(p, 0) = {index.data, strides_of_indexes(p, 0), x.sizes[0], strides[0], index.type};
  strides_of(index, strides_of_indexes(p, 0));
  return keep_reading(call, prepared, p, x, y);
}

// Indexes of x's rank into its dimension `dim`; `p` walks their sizes.
Status fill_along(Call& call, const Tensor& x, int dim, int index_at, Indexed* p) {
  const Tensor& index = call.tensor(index_at);
  if (const char* why = why_not_indexes(index)) return bad_argument(index_at, why);
  if (index.rank != x.rank) return bad_argument(index_at, "must have the input's rank");
  for (int i = 0; i < x.rank; ++i)
    if (i != dim && index.sizes[i] > x.sizes[i])
      return bad_argument(index_at, "is larger than the input");
  *p = empty_indexed(call, x.rank, 1);
  if (!p->numbers) return out_of_memory();
  for (int i = 0; i < x.rank; ++i) numbers_of(*p, 0)[i] = index.sizes[i];
  int32_t* strides = numbers_of(*p, 1);
  strides_of(x, strides);
  indexes_of(*p, 0) = {index.data, strides_of_indexes(*p, 0), x.sizes[dim], strides[dim],
                       index.type};
  strides[dim] = 0;
  strides_of(index, strides_of_indexes(*p, 0));
  return Status{};
}

// (x, dim, index, sparse, out)
Status prepare_gather(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(4);
  const int dim = dimension(call.integer(1), x.rank);
  if (dim < 0 || x.rank == 0) return bad_argument(1, "is not a dimension of the input");
  if (!same_type(x, y)) return bad_argument(4, "must have the input's dtype");
  if (!same_sizes(call.tensor(2), y)) return bad_argument(4, "must have the index's sizes");
  Indexed p;
  const Status s = fill_along(call, x, dim, 2, &p);
  if (!s.ok()) return s;
  if (y.numel == 0) return keep_nothing(prepared);
  if (x.numel == 0) return bad_argument(0, "has no elements");
  return keep_reading(call, prepared, p, x, y);
}

// What `places` begins with: the input as it is. A result in the input's place has that already.
Status keep_placing(Call& call, Prepared* prepared, Indexed& p, const Tensor& y) {
  const Tensor& x = call.tensor(0);
  if (y.data != nullptr && y.numel > 0) {  // the addresses are known
    if (x.data == y.data && !same_layout(x, y))
      return bad_argument(0, "lies in the output's place in another order");
    bool shares = p.from == bytes_of(y);
    for (int32_t n = 0; n < p.count; ++n) shares = shares || p.indexes[n].data == y.data;
    if (shares) return bad_argument(0, "must not share the output's place with another operand");
  }
  int32_t strides[kMaxRank];
  strides_of(x, strides);
  const Status s = keep_strided_copy(call, &p.before, x, 0, strides, y, same_layout(x, y));
  if (!s.ok()) return s;
  p.to = bytes_of(y);
  p.type = y.type;
  p.element_bytes = static_cast<uint8_t>(element_bytes(y.type));
  p.places = true;
  if (!take_block(call, p)) return out_of_memory();
  return keep<Indexed, run_indexed>(call, prepared, p);
}

// (x, dim, index, source or number, out)
template <bool kNumber, bool kAdds>
Status prepare_scatter(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(4);
  const int dim = dimension(call.integer(1), x.rank);
  if (dim < 0 || x.rank == 0) return bad_argument(1, "is not a dimension of the input");
  if (!is_known(x.type)) return bad_argument(0, "float16 is not supported");
  if (!same_type(x, y)) return bad_argument(4, "must have the input's dtype");
  if (!same_sizes(x, y)) return bad_argument(4, "must have the input's sizes");
  Indexed p;
  const Status s = fill_along(call, y, dim, 2, &p);
  if (!s.ok()) return s;
  p.adds = kAdds;
  if (!kNumber) {
    const Tensor &source = call.tensor(3), &index = call.tensor(2);
    if (!same_type(x, source)) return bad_argument(3, "must have the input's dtype");
    if (source.rank != x.rank) return bad_argument(3, "must have the input's rank");
    for (int i = 0; i < x.rank; ++i)
      if (index.sizes[i] > source.sizes[i]) return bad_argument(2, "is larger than the source");
    p.from = bytes_of(source);
    strides_of(source, numbers_of(p, 2));
    return keep_placing(call, prepared, p, y);
  }
  uint64_t* number = call.arena->make<uint64_t>();
  if (!number) return out_of_memory();
  if (call.args[3]->kind == Kind::integer && !is_real(x.type))
    write_integer(number, 0, x.type, call.integer(3));
  else write_real(number, 0, x.type, call.real(3));
  p.from = reinterpret_cast<const uint8_t*>(number);
  return keep_placing(call, prepared, p, y);
}

// Indexes of some dimensions, broadcast against each other; their sizes stand where the first of
// the indexed dimensions was if these are neighbours, else in front. `p` walks the result, whose
// sizes are `sizes`.
struct Shape {
  int32_t sizes[kMaxRank];
  int rank;
};
Status fill_fancy(Call& call, const Tensor& x, int list_at, Indexed* p, Shape* shape) {
  const List& list = call.list(list_at);
  if (list.count > x.rank)
    return bad_argument(list_at, "has more entries than the input has dimensions");
  int first = -1, last = -1, given = 0, broadcast_rank = 0;
  int32_t broadcast[kMaxRank];
  for (int i = 0; i < list.count; ++i) {
    if (list.items[i]->kind != Kind::tensor) continue;
    const Tensor& t = *list.items[i]->tensor;
    if (why_not_indexes(t))
      return bad_argument(
          list_at, "must be int32 or int64: the sizes of what a mask selects depend on the data");
    if (first < 0) first = i;
    last = i;
    ++given;
    for (; broadcast_rank < t.rank; ++broadcast_rank) {
      for (int k = broadcast_rank; k > 0; --k) broadcast[k] = broadcast[k - 1];
      broadcast[0] = 1;
    }
    for (int k = 0; k < t.rank; ++k) {
      int32_t& size = broadcast[broadcast_rank - t.rank + k];
      if (t.sizes[k] == 1 || t.sizes[k] == size) continue;
      if (size != 1) return bad_argument(list_at, "do not broadcast against each other");
      size = t.sizes[k];
    }
    if (x.sizes[i] == 0) return bad_argument(0, "is empty along an indexed dimension");
  }
  if (given == 0) return bad_argument(list_at, "has no indexes");
  shape->rank = x.rank - given + broadcast_rank;
  if (shape->rank > kMaxRank) return bad_argument(list_at, "give too many dimensions");
  const int place = last - first + 1 == given ? first : 0;
  *p = empty_indexed(call, shape->rank, given);
  if (!p->numbers) return out_of_memory();
  p->from_end = true;
  int32_t strides[kMaxRank];
  strides_of(x, strides);
  for (int k = 0; k < broadcast_rank; ++k) shape->sizes[place + k] = broadcast[k];
  for (int i = 0, n = 0, at = 0; i < x.rank; ++i) {
    if (at == place) at += broadcast_rank;
    if (i >= list.count || list.items[i]->kind != Kind::tensor) {
      shape->sizes[at] = x.sizes[i];
      numbers_of(*p, 1)[at++] = strides[i];
      continue;
    }
    const Tensor& t = *list.items[i]->tensor;
    indexes_of(*p, n) = {t.data, strides_of_indexes(*p, n), x.sizes[i], strides[i], t.type};
    int32_t own[kMaxRank];
    strides_of(t, own);
    for (int k = 0; k < t.rank; ++k)
      strides_of_indexes(*p, n)[place + broadcast_rank - t.rank + k] = t.sizes[k] == 1 ? 0 : own[k];
    ++n;
  }
  for (int i = 0; i < shape->rank; ++i) numbers_of(*p, 0)[i] = shape->sizes[i];
  return Status{};
}

// (x, indexes, out)
Status prepare_index(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(2);
  if (!same_type(x, y)) return bad_argument(2, "must have the input's dtype");
  Indexed p;
  Shape shape;
  const Status s = fill_fancy(call, x, 1, &p, &shape);
  if (!s.ok()) return s;
  if (y.rank != shape.rank) return bad_argument(2, "has the wrong rank");
  for (int i = 0; i < y.rank; ++i)
    if (y.sizes[i] != shape.sizes[i]) return bad_argument(2, "has the wrong sizes");
  if (y.numel == 0) return keep_nothing(prepared);
  return keep_reading(call, prepared, p, x, y);
}

// (x, indexes, values, accumulate, out)
Status prepare_index_put(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &values = call.tensor(2), &y = call.tensor(4);
  if (!is_known(x.type)) return bad_argument(0, "float16 is not supported");
  if (!same_type(x, y) || !same_sizes(x, y))
    return bad_argument(4, "must have the input's dtype and sizes");
  if (!same_type(x, values)) return bad_argument(2, "must have the input's dtype");
  Indexed p;
  Shape shape;
  const Status s = fill_fancy(call, y, 1, &p, &shape);
  if (!s.ok()) return s;
  if (values.rank > shape.rank) return bad_argument(2, "does not broadcast to what is indexed");
  int32_t strides[kMaxRank];
  strides_of(values, strides);
  for (int i = 0; i < values.rank; ++i) {
    const int to = shape.rank - values.rank + i;
    if (values.sizes[i] != 1 && values.sizes[i] != shape.sizes[to])
      return bad_argument(2, "does not broadcast to what is indexed");
    numbers_of(p, 2)[to] = values.sizes[i] == 1 ? 0 : strides[i];
  }
  p.from = bytes_of(values);
  p.adds = call.boolean(3);
  return keep_placing(call, prepared, p, y);
}

}  // namespace

extern const Kernel kAtenIndexSelect = {"aten::index_select.out", "TITO", prepare_index_select};
extern const Kernel kAtenEmbedding = {"aten::embedding.out", "TTIBBO", prepare_embedding};
extern const Kernel kAtenGather = {"aten::gather.out", "TITBO", prepare_gather};
extern const Kernel kAtenScatter = {"aten::scatter.src_out", "TITTO", prepare_scatter<false, false>,
                                    true};
extern const Kernel kAtenScatterValue = {"aten::scatter.value_out", "TITFO",
                                         prepare_scatter<true, false>, true};
extern const Kernel kAtenScatterAdd = {"aten::scatter_add.out", "TITTO",
                                       prepare_scatter<false, true>, true};
extern const Kernel kAtenIndex = {"aten::index.Tensor_out", "TvO", prepare_index};
extern const Kernel kAtenIndexPut = {"aten::index_put.out", "TvTBO", prepare_index_put, true};

}  // namespace deuteron
