#include "backends/neutron_delegate/reorder.h"

namespace deuteron {
namespace {

// What is left of the dimensions in the destination's order, without those of extent 1.
struct Walk {
  int32_t rank = 0;
  int32_t extent[kMaxRank + 1], stride[kMaxRank + 1];  // stride: in the source, in units
};

Walk walk_of(const Tensor& t, const uint8_t* from_order, const uint8_t* to_order) {
  int32_t stride_of[kMaxRank];
  int32_t stride = 1;
  for (int32_t k = t.rank; k-- > 0;) {
    stride_of[from_order[k]] = stride;
    stride *= t.sizes[from_order[k]];
  }
  Walk w;
  for (int32_t k = 0; k < t.rank; ++k) {
    const uint8_t dim = to_order[k];
    if (t.sizes[dim] == 1) continue;
    const bool follows = w.rank > 0 && w.stride[w.rank - 1] == stride_of[dim] * t.sizes[dim];
    if (follows) {  // lies behind the one before in both
      w.extent[w.rank - 1] *= t.sizes[dim];
      w.stride[w.rank - 1] = stride_of[dim];
      continue;
    }
    w.extent[w.rank] = t.sizes[dim];
    w.stride[w.rank++] = stride_of[dim];
  }
  return w;
}

// Every element becomes two units that lie one behind the other: two widths of code serve four.
void halve_units(Walk* w) {
  for (int32_t k = 0; k < w->rank; ++k) w->stride[k] *= 2;
  w->extent[w->rank] = 2;
  w->stride[w->rank++] = 1;
}

template <class T>
void copy(const Walk& w, int32_t count, const T* from, T* to) {
  if (w.rank == 0) {
    *to = *from;
    return;
  }
  int32_t index[kMaxRank + 1] = {};
  const int32_t inner = w.rank - 1, run = w.extent[inner], step = w.stride[inner];
  for (const T* end = to + count; to < end;) {
    for (int32_t i = 0; i < run; ++i) *to++ = from[i * step];
    for (int32_t k = inner; k-- > 0;) {
      from += w.stride[k];
      if (++index[k] < w.extent[k]) break;
      from -= w.stride[k] * w.extent[k];
      index[k] = 0;
    }
  }
}

}  // namespace

void payload_order(int32_t rank, bool channels_last, uint8_t* order) {
  for (int32_t k = 0; k < rank; ++k) order[k] = static_cast<uint8_t>(k);
  if (!channels_last || rank < 3) return;
  for (int32_t k = 1; k + 1 < rank; ++k) order[k] = static_cast<uint8_t>(k + 1);
  order[rank - 1] = 1;
}

bool is_same_order(const Tensor& t, const uint8_t* order_a, const uint8_t* order_b) {
  int32_t a = 0, b = 0;
  for (;;) {
    while (a < t.rank && t.sizes[order_a[a]] == 1) ++a;
    while (b < t.rank && t.sizes[order_b[b]] == 1) ++b;
    if (a == t.rank || b == t.rank) return a == b;
    if (order_a[a++] != order_b[b++]) return false;
  }
}

void copy_reordered(const Tensor& t, const uint8_t* from_order, const uint8_t* to_order, const void* from, void* to) {
  if (t.numel == 0) return;
  Walk w = walk_of(t, from_order, to_order);
  const uint32_t width = element_bytes(t.type);
  int32_t units = t.numel;
  if (width == 2 || width == 8) halve_units(&w), units *= 2;
  if (width <= 2) copy(w, units, static_cast<const uint8_t*>(from), static_cast<uint8_t*>(to));
  else copy(w, units, static_cast<const uint32_t*>(from), static_cast<uint32_t*>(to));
}

}  // namespace deuteron
