// SPDX-License-Identifier: Apache-2.0
// Tensors that are enlarged at their borders, or turned around: constant, reflection and
// replication padding, roll.
#include "kernels/portable/kernels.h"
#include "kernels/portable/strided.h"

namespace deuteron {
namespace {
using namespace portable;

enum class Beyond : uint8_t {
  fill,
  reflect,
  replicate,
  wrap
};  // what an out position outside the input reads

struct Borders {
  const uint8_t* in;
  uint8_t* out;
  const int32_t* numbers;  // for each dimension: out size, in size, in stride, out stride, elements
                           // before (negative: cut off)
  uint8_t fill[8];
  uint8_t rank, element_bytes;
  Beyond beyond;
};

// Where position i of the out lies along a dimension of the input; -1 for none.
int32_t position_in(int32_t i, int32_t size, Beyond beyond) {
  if (i >= 0 && i < size) return i;
  if (beyond == Beyond::fill) return -1;
  if (beyond == Beyond::replicate) return i < 0 ? 0 : size - 1;
  if (beyond == Beyond::wrap) return i < 0 ? i + size : i - size;
  return i < 0 ? -i : 2 * (size - 1) - i;
}

void run_borders(const Borders& b) {
  int32_t index[kMaxRank] = {};
  for (;;) {
    ptrdiff_t from = 0, to = 0;
    bool inside = true;
    for (int i = 0; i < b.rank; ++i) {
      const int32_t* n = b.numbers + 5 * i;
      const int32_t p = position_in(index[i] - n[4], n[1], b.beyond);
      inside = inside && p >= 0;
      from += static_cast<ptrdiff_t>(p) * n[2];
      to += static_cast<ptrdiff_t>(index[i]) * n[3];
    }
    __builtin_memcpy(b.out + to * b.element_bytes, inside ? b.in + from * b.element_bytes : b.fill,
                     b.element_bytes);
    int i = b.rank - 1;
    for (; i >= 0; --i) {
      if (++index[i] < b.numbers[5 * i]) break;
      index[i] = 0;
    }
    if (i < 0) return;
  }
}

constexpr int64_t kMostPad = 1 << 28;  // so that positions fit in int32

// Numbers with nothing before; the caller adds that.
int32_t* make_numbers(Call& call, const Tensor& x, const Tensor& y) {
  int32_t* numbers = call.arena->make<int32_t>(size_t{5} * x.rank);
  if (!numbers) return nullptr;
  int32_t x_strides[kMaxRank], y_strides[kMaxRank];
  strides_of(x, x_strides);
  strides_of(y, y_strides);
  for (int i = 0; i < x.rank; ++i) {
    int32_t* n = numbers + 5 * i;
    n[0] = y.sizes[i];
    n[1] = x.sizes[i];
    n[2] = x_strides[i];
    n[3] = y_strides[i];
    n[4] = 0;
  }
  return numbers;
}

// pads: (before, after) of the last dimension, then of the one before, ...
Status keep_padding(Call& call, Prepared* prepared, int out, Beyond beyond, const uint8_t* fill) {
  const Tensor &x = call.tensor(0), &y = call.tensor(out);
  const int pairs = call.list(1).count / 2;
  if (call.list(1).count % 2 != 0 || pairs > x.rank)
    return bad_argument(1, "must have two numbers for each padded dimension");
  if (!same_type(x, y)) return bad_argument(out, "must have the input's dtype");
  if (y.rank != x.rank) return bad_argument(out, "has the wrong rank");
  int32_t* numbers = make_numbers(call, x, y);
  if (!numbers) return out_of_memory();
  for (int i = 0; i < x.rank; ++i) {
    const int pair = x.rank - 1 - i;
    int64_t low = 0, high = 0;
    if (pair < pairs)
      low = call.list_integer(1, 2 * pair), high = call.list_integer(1, 2 * pair + 1);
    if (!lies_in(low, -kMostPad, kMostPad) || !lies_in(high, -kMostPad, kMostPad))
      return bad_argument(1, "is out of range");
    const bool reflects = beyond == Beyond::reflect && (low >= x.sizes[i] || high >= x.sizes[i]) &&
                          (low > 0 || high > 0);
    if (reflects) return bad_argument(1, "must be less than the dimension");
    if (x.sizes[i] + low + high != y.sizes[i]) return bad_argument(out, "has the wrong sizes");
    if (x.sizes[i] + (low < 0 ? low : 0) + (high < 0 ? high : 0) < 0)
      return bad_argument(1, "cuts off more than there is");
    if (x.sizes[i] > kMostPad) return bad_argument(0, "is too large along a dimension");
    numbers[5 * i + 4] = static_cast<int32_t>(low);
  }
  if (y.numel == 0) return keep_nothing(prepared);
  if (x.numel == 0 && beyond != Beyond::fill) return bad_argument(0, "has no elements");
  Borders b{bytes_of(x), bytes_of(y), numbers,
            {},          x.rank,      static_cast<uint8_t>(element_bytes(x.type)),
            beyond};
  if (fill) __builtin_memcpy(b.fill, fill, sizeof b.fill);
  return keep<Borders, run_borders>(call, prepared, b);
}

// (x, pads, value, out)
Status prepare_constant(Call& call, Prepared* prepared) {
  const Tensor& x = call.tensor(0);
  if (!is_known(x.type)) return bad_argument(0, "float16 is not supported");
  alignas(8) uint8_t fill[8] = {};
  if (call.args[2]->kind == Kind::integer && !is_real(x.type))
    write_integer(fill, 0, x.type, call.integer(2));
  else write_real(fill, 0, x.type, call.real(2));
  return keep_padding(call, prepared, 3, Beyond::fill, fill);
}
// (x, pads, out)
template <Beyond beyond, int kSpatial>
Status prepare_mirror(Call& call, Prepared* prepared) {
  if (call.list(1).count != 2 * kSpatial)
    return bad_argument(1, "must have two numbers for each spatial dimension");
  const int rank = call.tensor(0).rank;
  if (rank != kSpatial + 1 && rank != kSpatial + 2) return bad_argument(0, "has the wrong rank");
  return keep_padding(call, prepared, 2, beyond, nullptr);
}

// (x, shifts, dims, out); without dims the elements count as one line.
Status prepare_roll(Call& call, Prepared* prepared) {
  const Tensor &x = call.tensor(0), &y = call.tensor(3);
  if (!same_type(x, y)) return bad_argument(3, "must have the input's dtype");
  if (!same_sizes(x, y)) return bad_argument(3, "must have the input's sizes");
  const int shifts = call.list(1).count, dims = call.list(2).count;
  const bool flat = dims == 0;
  if (flat && (!is_dense(x) || !is_dense(y)))
    return bad_argument(2, "must name dimensions of tensors in another memory order");
  if (shifts != (flat ? 1 : dims))
    return bad_argument(1, "must have one number for each dimension");
  if (x.numel == 0) return keep_nothing(prepared);
  int32_t* numbers = flat ? call.arena->make<int32_t>(5) : make_numbers(call, x, y);
  if (!numbers) return out_of_memory();
  if (flat) numbers[0] = numbers[1] = x.numel, numbers[2] = numbers[3] = 1, numbers[4] = 0;
  for (int k = 0; k < shifts; ++k) {
    const int dim = flat ? 0 : dimension(call.list_integer(2, k), x.rank);
    if (dim < 0 || (!flat && x.rank == 0))
      return bad_argument(2, "is not a dimension of the input");
    const int64_t size = numbers[5 * dim + 1],
                  shift = (call.list_integer(1, k) % size + size + numbers[5 * dim + 4]) % size;
    numbers[5 * dim + 4] = static_cast<int32_t>(shift);
  }
  return keep<Borders, run_borders>(call, prepared,
                                    {bytes_of(x),
                                     bytes_of(y),
                                     numbers,
                                     {},
                                     static_cast<uint8_t>(flat ? 1 : x.rank),
                                     static_cast<uint8_t>(element_bytes(x.type)),
                                     Beyond::wrap});
}

}  // namespace

extern const Kernel kAtenConstantPadNd = {"aten::constant_pad_nd.out", "TLFO", prepare_constant};
extern const Kernel kAtenReflectionPad1d = {"aten::reflection_pad1d.out", "TLO",
                                            prepare_mirror<Beyond::reflect, 1>};
extern const Kernel kAtenReflectionPad2d = {"aten::reflection_pad2d.out", "TLO",
                                            prepare_mirror<Beyond::reflect, 2>};
extern const Kernel kAtenReflectionPad3d = {"aten::reflection_pad3d.out", "TLO",
                                            prepare_mirror<Beyond::reflect, 3>};
extern const Kernel kAtenReplicationPad1d = {"aten::replication_pad1d.out", "TLO",
                                             prepare_mirror<Beyond::replicate, 1>};
extern const Kernel kAtenReplicationPad2d = {"aten::replication_pad2d.out", "TLO",
                                             prepare_mirror<Beyond::replicate, 2>};
extern const Kernel kAtenReplicationPad3d = {"aten::replication_pad3d.out", "TLO",
                                             prepare_mirror<Beyond::replicate, 3>};
extern const Kernel kAtenRoll = {"aten::roll.out", "TLLO", prepare_roll};

}  // namespace deuteron
