// Kernels that move bytes: strided copies, padding, fetches of constants.
#include "backends/neutron_model/kernel.h"

namespace deuteron::neutron {
namespace {

void copy(const CopyCall& a, const Memory& memory) {
  const int8_t* x = memory.read(a.x);
  int8_t* y = memory.write(a.y);
  const Walk walk = walk_of(a.extent, a.x_stride, a.y_stride, nullptr);
  const int last = walk.rank - 1;
  const int32_t count = walk.extent[last], x_step = walk.stride[0][last], y_step = walk.stride[1][last];
  for_each_row(walk, [&](int32_t x_at, int32_t y_at, int32_t) {
    if (x_step == 1 && y_step == 1) {
      std::memcpy(y + y_at, x + x_at, static_cast<size_t>(count));
      return;
    }
    for (int32_t i = 0; i < count; ++i) y[y_at + int64_t{i} * y_step] = x[x_at + int64_t{i} * x_step];
  });
}

void pad(const PadCall& a, const Memory& memory) {
  const int8_t* x = memory.read(a.x);
  int8_t* y = memory.write(a.y);
  int32_t whole[kMaxRank];
  for (int i = 0; i < kMaxRank; ++i) whole[i] = a.before[i] + a.extent[i] + a.after[i];
  const Strides from = dense_strides(a.extent), to = dense_strides(whole);
  int64_t bytes = 1, first = 0;
  for (int i = 0; i < kMaxRank; ++i) {
    bytes *= whole[i];
    first += int64_t{a.before[i]} * to.of[i];
  }
  std::memset(y, a.value, static_cast<size_t>(bytes));
  const Walk walk = walk_of(a.extent, from.of, to.of, nullptr);
  const auto count = static_cast<size_t>(walk.extent[walk.rank - 1]);
  // Both have no gaps along the last axis of the walk unless that axis is a single element.
  const bool strided = count > 1 && (walk.stride[0][walk.rank - 1] != 1 || walk.stride[1][walk.rank - 1] != 1);
  for_each_row(walk, [&](int32_t x_at, int32_t y_at, int32_t) {
    if (!strided) {
      std::memcpy(y + first + y_at, x + x_at, count);
      return;
    }
    for (size_t i = 0; i < count; ++i)
      y[first + y_at + static_cast<int64_t>(i) * walk.stride[1][walk.rank - 1]] =
          x[x_at + static_cast<int64_t>(i) * walk.stride[0][walk.rank - 1]];
  });
}

void fetch(const MemCpyCall& a, const Memory& memory) {
  const auto bytes = static_cast<uint32_t>(a.bytes), channel = static_cast<uint32_t>(a.channel);
  int8_t* to = memory.write(a.to);
  const int8_t* from = memory.read(a.from);
  if (memory.copy == nullptr) {
    std::memcpy(to, from, bytes);
    return;
  }
  memory.copy(to, const_cast<int8_t*>(from), bytes, channel);  // the vendor's interface; it only reads
  if (memory.wait != nullptr) memory.wait(channel);
}

}  // namespace
}  // namespace deuteron::neutron

DEUTERON_NEUTRON_KERNEL(Pad, PadCall, deuteron::neutron::pad(a, memory))
DEUTERON_NEUTRON_KERNEL(Slice, CopyCall, deuteron::neutron::copy(a, memory))
DEUTERON_NEUTRON_KERNEL(StridedSliceConcat, CopyCall, deuteron::neutron::copy(a, memory))
DEUTERON_NEUTRON_KERNEL(TransposeCHW, CopyCall, deuteron::neutron::copy(a, memory))
DEUTERON_NEUTRON_KERNEL(MemCpy, MemCpyCall, deuteron::neutron::fetch(a, memory))
