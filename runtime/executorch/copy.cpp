// SPDX-License-Identifier: Apache-2.0
#include "runtime/executorch/copy.h"

#include <cstring>

namespace deuteron {
namespace {

constexpr int kMaxRank = 16;  // of ExecuTorch's tensors

struct Side {
  uint8_t* data;
  const uint8_t* order;  // axes from outermost to innermost in memory
};

// Whole blocks by instructions that move several words: a C library's memmove takes three for each
// word, 6 % of a network's instructions on a core with vectors. The two do not overlap.
struct [[gnu::may_alias]] Block {
  uint32_t words[16];
};

void copy_bytes(uint8_t* to, const uint8_t* from, size_t bytes) {
  if ((reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from)) % alignof(Block) == 0)
    for (; bytes >= sizeof(Block); to += sizeof(Block), from += sizeof(Block)) {
      *reinterpret_cast<Block*>(to) = *reinterpret_cast<const Block*>(from);
      bytes -= sizeof(Block);
    }
  std::memcpy(to, from, bytes);
}

void copy(const Tensor& shape, Side to, Side from, size_t element) {
  const size_t bytes = static_cast<size_t>(shape.numel) * element;
  if (bytes == 0) return;
  if (shape.rank > kMaxRank || same_order(shape, to.order, from.order)) {
    copy_bytes(to.data, from.data, bytes);
    return;
  }
  size_t stride[kMaxRank];  // of an axis where it is read
  size_t next = element;
  for (int k = shape.rank - 1; k >= 0; --k) {
    stride[from.order[k]] = next;
    next *= static_cast<size_t>(shape.sizes[from.order[k]]);
  }
  int32_t index[kMaxRank] = {};
  const uint8_t* read = from.data;
  for (size_t at = 0; at < bytes; at += element) {
    std::memcpy(to.data + at, read, element);
    for (int k = shape.rank - 1; k >= 0; --k) {
      const int axis = to.order[k];
      read += stride[axis];
      if (++index[axis] < shape.sizes[axis]) break;
      read -= stride[axis] * static_cast<size_t>(shape.sizes[axis]);
      index[axis] = 0;
    }
  }
}

Side side_of(const executorch::aten::Tensor& t, const Tensor& sample, int32_t k) {
  const size_t bytes = static_cast<size_t>(sample.numel) * static_cast<size_t>(t.element_size());
  return {
      static_cast<uint8_t*>(const_cast<void*>(t.const_data_ptr())) + bytes * static_cast<size_t>(k),
      t.dim_order().data()};
}
Side side_of(const Tensor& t) { return {static_cast<uint8_t*>(t.data), t.dim_order}; }

}  // namespace

bool same_order(const Tensor& shape, const uint8_t* a, const uint8_t* b) {
  int next = 0;  // an axis of one element lies anywhere
  for (int k = 0; k < shape.rank; ++k) {
    if (shape.sizes[a[k]] == 1) continue;
    while (shape.sizes[b[next]] == 1) ++next;
    if (b[next++] != a[k]) return false;
  }
  return true;
}

void copy_in(const Tensor& to, const executorch::aten::Tensor& from, int32_t sample) {
  copy(to, side_of(to), side_of(from, to, sample), static_cast<size_t>(from.element_size()));
}

void copy_out(const Tensor& from, const executorch::aten::Tensor& to, int32_t sample) {
  copy(from, side_of(to, from, sample), side_of(from), static_cast<size_t>(to.element_size()));
}

}  // namespace deuteron
