// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/machine/call_check.h"

namespace deuteron::neutron {

bool is_dense(const int32_t (&extent)[kMaxRank], const int32_t (&stride)[kMaxRank]) {
  int64_t step = 1;
  for (int i = kMaxRank - 1; i >= 0; --i) {
    if (extent[i] != 1 && stride[i] != step) return false;
    step *= extent[i];
  }
  return true;
}

int64_t CallCheck::product(std::initializer_list<int32_t> extents) {
  int64_t count = 1;
  for (const int32_t e : extents) {
    need(e >= 1, Reason::kExtent);
    if (!right()) return -1;
    count *= e;
    need(count <= kMostBytes, Reason::kExtent);
    if (!right()) return -1;
  }
  return count;
}

int64_t CallCheck::span(const int32_t* extent, const int32_t* stride, int rank) {
  int64_t last = 0;
  for (int i = 0; i < rank; ++i) {
    need(extent[i] >= 1 && stride[i] >= 0, Reason::kExtent);
    if (!right()) return -1;
    last += int64_t{extent[i] - 1} * stride[i];
    need(last < kMostBytes, Reason::kExtent);
    if (!right()) return -1;
  }
  return last + 1;
}

int64_t CallCheck::pixels_span(int32_t n, int32_t h, int32_t w, int32_t channels, int32_t pitch) {
  need(h <= kMostPixels && w <= kMostPixels && pitch >= channels, Reason::kExtent);
  const int64_t pixels = product({n, h, w});
  if (!right()) return -1;
  need((pixels - 1) * pitch + channels <= kMostBytes, Reason::kExtent);
  return (pixels - 1) * pitch + channels;
}

void CallCheck::window(int32_t kernel, int32_t stride, int32_t dilation, int32_t pad,
                       int32_t most_kernel) {
  need(in(kernel, 1, most_kernel) && in(stride, 1, kMostWindow) && in(dilation, 1, kMostWindow) &&
           in(pad, -kMostPadding, kMostPadding),
       Reason::kWindow);
}

void CallCheck::steps(std::initializer_list<int32_t> values) {
  for (const int32_t v : values) need(in(v, -128, 127), Reason::kQuantization);
}

void CallCheck::bounds(int32_t low, int32_t high) {
  steps({low, high});
  need(low <= high, Reason::kQuantization);
}

void CallCheck::reads(const Operand& o, int64_t bytes, bool dense) {
  const int64_t size = size_of(o);
  need(size >= 0, Reason::kOperandRegion);
  // The compute of a machine that fetches its constants cannot read where they are stored.
  if (region_of(o) == Region::kWeights) need(layout_.sram_bytes == 0, Reason::kOperandRegion);
  within(o, bytes, size);
  if (operands_ < kMostOperands) operand_[operands_++] = {o, bytes, dense};
}

void CallCheck::reads_constant(const Operand& o, int64_t bytes) {
  need(region_of(o) == Region::kWeights || region_of(o) == Region::kSramWeights,
       Reason::kOperandRegion);
  reads(o, bytes);
}

void CallCheck::writes(const Operand& o, int64_t bytes, bool gaps) {
  need(region_of(o) == Region::kOutput || region_of(o) == Region::kScratch, Reason::kOperandRegion);
  within(o, bytes, size_of(o));
  for (int i = 0; i < operands_ && !gaps; ++i) {
    const Read& r = operand_[i];
    if (r.o.place != o.place || r.o.offset >= o.offset + bytes || o.offset >= r.o.offset + r.bytes)
      continue;
    need(r.dense && r.o.offset == o.offset && r.bytes == bytes, Reason::kOverlap);
  }
}

void CallCheck::fetches(const Operand& from, const Operand& to, int64_t bytes) {
  need(bytes >= 0, Reason::kExtent);
  need(region_of(from) == Region::kWeights && region_of(to) == Region::kSramWeights,
       Reason::kOperandRegion);
  within(from, bytes, size_of(from));
  within(to, bytes, size_of(to));
}

// Bytes of the memory that an operand names, or -1.
int64_t CallCheck::size_of(const Operand& o) const {
  const int32_t index = index_of(o);
  switch (region_of(o)) {
    case Region::kInput:
      return in(index, 0, layout_.inputs - 1) ? layout_.io_bytes[index] : -1;
    case Region::kOutput:
      return in(index, 0, layout_.outputs - 1) ? layout_.io_bytes[layout_.inputs + index] : -1;
    case Region::kScratch:
      return index == 0 ? layout_.scratch_bytes : -1;
    case Region::kWeights:
      return index == 0 ? layout_.weights_bytes : -1;
    case Region::kSramWeights:
      return index == 0 ? layout_.sram_bytes : -1;
    case Region::kNone:
      break;
  }
  return -1;
}

void CallCheck::within(const Operand& o, int64_t bytes, int64_t size) {
  need(size >= 0, Reason::kOperandRegion);
  need(!right() || (bytes >= 0 && o.offset >= 0 && int64_t{o.offset} + bytes <= size),
       Reason::kOperandRange);
}

}  // namespace deuteron::neutron
