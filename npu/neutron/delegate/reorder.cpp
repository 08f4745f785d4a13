// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/delegate/reorder.h"

namespace deuteron {
namespace {

// What is left of the dimensions, without those of extent 1; strides in units.
struct Walk {
  int32_t rank = 0;
  int32_t extent[kMaxRank + 1], from[kMaxRank + 1], to[kMaxRank + 1];

  void add(int32_t extent_, int32_t from_, int32_t to_) {
    extent[rank] = extent_;
    from[rank] = from_;
    to[rank++] = to_;
  }
};

void strides_of(const Tensor& t, const uint8_t* order, int32_t* stride_of) {
  int32_t stride = 1;
  for (int32_t k = t.rank; k-- > 0;) {
    stride_of[order[k]] = stride;
    stride *= t.sizes[order[k]];
  }
}

Walk walk_of(const Tensor& t, const uint8_t* from_order, const uint8_t* to_order) {
  int32_t from[kMaxRank], to[kMaxRank];
  strides_of(t, from_order, from);
  strides_of(t, to_order, to);
  Walk w;
  for (int32_t k = 0; k < t.rank; ++k) {
    const uint8_t dim = to_order[k];
    if (t.sizes[dim] == 1) continue;
    const int32_t last = w.rank - 1;
    if (w.rank == 0 || w.from[last] != from[dim] * t.sizes[dim]) {
      w.add(t.sizes[dim], from[dim], to[dim]);
      continue;
    }
    w.extent[last] *= t.sizes[dim];  // lies behind the one before in both
    w.from[last] = from[dim];
    w.to[last] = to[dim];
  }
  return w;
}

// Every element becomes two units that lie one behind the other: two widths of code serve four.
void halve_units(Walk* w) {
  for (int32_t k = 0; k < w->rank; ++k) w->from[k] *= 2, w->to[k] *= 2;
  w->add(2, 1, 1);
}

// The longest row innermost: three channels are no loop worth starting.
void longest_last(Walk* w) {
  int32_t longest = 0;
  for (int32_t k = 1; k < w->rank; ++k)
    if (w->extent[k] > w->extent[longest]) longest = k;
  Walk sorted;
  for (int32_t k = 0; k < w->rank; ++k)
    if (k != longest) sorted.add(w->extent[k], w->from[k], w->to[k]);
  sorted.add(w->extent[longest], w->from[longest], w->to[longest]);
  *w = sorted;
}

template <class T>
void copy(const Walk& w, const T* from, T* to) {
  int32_t index[kMaxRank + 1] = {};
  const int32_t inner = w.rank - 1, run = w.extent[inner], read = w.from[inner],
                written = w.to[inner];
  for (int32_t k = inner; k >= 0;) {
    for (int32_t i = run, r = 0, q = 0; i > 0; --i, r += read, q += written) to[q] = from[r];
    for (k = inner - 1; k >= 0; --k) {
      from += w.from[k];
      to += w.to[k];
      if (++index[k] < w.extent[k]) break;
      from -= w.from[k] * w.extent[k];
      to -= w.to[k] * w.extent[k];
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

void copy_reordered(const Tensor& t, const uint8_t* from_order, const uint8_t* to_order,
                    const void* from, void* to) {
  if (t.numel == 0) return;
  Walk w = walk_of(t, from_order, to_order);
  const uint32_t width = element_bytes(t.type);
  if (width == 2 || width == 8) halve_units(&w);
  if (w.rank == 0) w.add(1, 1, 1);
  longest_last(&w);
  if (width <= 2) copy(w, static_cast<const uint8_t*>(from), static_cast<uint8_t*>(to));
  else copy(w, static_cast<const uint32_t*>(from), static_cast<uint32_t*>(to));
}

}  // namespace deuteron
