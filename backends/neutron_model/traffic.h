// The bytes that a kernel call's operands have, each counted once: activations read and written, weights, parameters, tables. Not what the
// machine streams (cycles.h says how long that takes), so the figure is the same for every machine.
#pragma once
#include <cstdint>
#include <cstring>

#include "backends/neutron_model/microcode.h"

namespace deuteron::neutron {

namespace traffic {
constexpr int64_t elements(const int32_t (&extent)[kMaxRank]) {
  int64_t count = 1;
  for (const int32_t e : extent) count *= e;
  return count;
}
// Distinct elements behind strides over these extents.
constexpr int64_t distinct(const int32_t (&extent)[kMaxRank], const int32_t (&stride)[kMaxRank]) {
  int64_t count = 1;
  for (int i = 0; i < kMaxRank; i++) count *= stride[i] == 0 ? 1 : extent[i];
  return count;
}
}  // namespace traffic

constexpr int64_t bytes_of(Kind kind, const ConvCall& a) {
  return int64_t{a.n} * a.h * a.w * a.c + int64_t{a.n} * a.out_h * a.out_w * a.out_c + conv_weight_bytes(kind, a) +
         int64_t{kParamBytes} * a.out_c;
}
constexpr int64_t bytes_of(Kind kind, const ConvPoolCall& a) {
  ConvCall stored = a.conv;
  stored.out_h /= a.pool_h, stored.out_w /= a.pool_w;
  return bytes_of(convolution_of(kind), stored);
}
constexpr int64_t bytes_of(Kind, const DepthwiseCall& a) {
  const int64_t channels = int64_t{a.c} * a.multiplier;
  return int64_t{a.n} * a.h * a.w * a.c + int64_t{a.n} * a.out_h * a.out_w * channels + depthwise_weight_bytes(a) + kParamBytes * channels;
}
constexpr int64_t bytes_of(Kind, const FullyConnectedCall& a) {
  return int64_t{a.rows} * (int64_t{a.in} + a.out) + fully_connected_weight_bytes(a) + int64_t{kParamBytes} * a.out;
}
constexpr int64_t bytes_of(Kind, const MatMulCall& a) {
  const int64_t x = int64_t{a.m} * a.k * (a.x_batch_stride == 0 ? 1 : a.batch);
  const int64_t other = int64_t{a.k} * a.n * (a.other_batch_stride == 0 ? 1 : a.batch);
  return x + other + int64_t{a.batch} * a.m * a.n;
}
constexpr int64_t bytes_of(Kind, const PoolCall& a) { return int64_t{a.n} * a.c * (int64_t{a.h} * a.w + int64_t{a.out_h} * a.out_w); }
constexpr int64_t bytes_of(Kind, const ReduceCall& a) {
  int64_t kept = 1;
  for (int i = 0; i < kMaxRank; i++) kept *= (a.axes >> i & 1) != 0 ? 1 : a.extent[i];
  return traffic::elements(a.extent) + kept;
}
constexpr int64_t bytes_of(Kind, const SoftmaxCall& a) { return 2 * int64_t{a.rows} * a.columns; }
constexpr int64_t bytes_of(Kind, const PairCall& a) {
  return traffic::distinct(a.extent, a.x_stride) + traffic::distinct(a.extent, a.other_stride) + traffic::elements(a.extent);
}
constexpr int64_t bytes_of(Kind, const PreluCall& a) {
  return 2 * traffic::elements(a.extent) + traffic::distinct(a.extent, a.alpha_stride);
}
constexpr int64_t bytes_of(Kind, const RescaleCall& a) { return 2 * int64_t{a.count}; }
constexpr int64_t bytes_of(Kind, const TableCall& a) { return 2 * int64_t{a.count} + 256; }
constexpr int64_t bytes_of(Kind, const PadCall& a) {
  int64_t results = 1;
  for (int i = 0; i < kMaxRank; i++) results *= int64_t{a.before[i]} + a.extent[i] + a.after[i];
  return traffic::elements(a.extent) + results;
}
constexpr int64_t bytes_of(Kind, const CopyCall& a) { return traffic::distinct(a.extent, a.x_stride) + traffic::elements(a.extent); }
constexpr int64_t bytes_of(Kind, const ResizeCall& a) { return int64_t{a.n} * a.c * (int64_t{a.h} * a.w + int64_t{a.out_h} * a.out_w); }
constexpr int64_t bytes_of(Kind, const MemCpyCall& a) { return 2 * int64_t{a.bytes}; }

// Of an encoded call: `call` points to the structure behind the head. 0 for a kind that does not exist.
inline int64_t bytes_of(Kind kind, const void* call) {
  switch (kind) {
#define DEUTERON_ENTRY(value, id, name, type) \
  case Kind::id: {                            \
    type a;                                   \
    std::memcpy(&a, call, sizeof a);          \
    return bytes_of(kind, a);                 \
  }
    DEUTERON_NEUTRON_KINDS(DEUTERON_ENTRY)
#undef DEUTERON_ENTRY
    case Kind::kProfileDump:
      break;
  }
  return 0;
}

}  // namespace deuteron::neutron
