// SPDX-License-Identifier: Apache-2.0
// The cycles of a kernel call on the open machine, from its record and the machine's parameters.
// One function for the converter's choices, the compiler's prediction and the driver's profile, so
// that they agree. The model, its sources and what is assumed: docs/neutron-machine.md.
#pragma once
#include <cstdint>
#include <cstring>

#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {

// What a call's time goes into. The machine computes while it streams operands, so the longer of
// the two counts; setting a kernel up and fetching constants are the CPU's work, before the machine
// starts.
enum class Bound : int32_t { kCompute, kWeights, kActivations, kSetup, kFetch };
constexpr const char* name_of(Bound bound) {
  switch (bound) {
    case Bound::kCompute:
      return "compute";
    case Bound::kWeights:
      return "weights";
    case Bound::kActivations:
      return "activations";
    case Bound::kSetup:
      return "setup";
    case Bound::kFetch:
      return "fetch";
  }
  return nullptr;
}

struct Cost {
  int64_t compute = 0;      // the dot-product units or the element-wise path work
  int64_t weights = 0;      // constants stream in from SRAM
  int64_t activations = 0;  // operands stream in, results out
  int64_t setup = 0;
  int64_t fetch = 0;  // from external flash
  int64_t macs = 0;   // multiply-adds that the operator asks for: no cycles
  constexpr int64_t streaming() const { return weights + activations; }
  constexpr int64_t total() const {
    return setup + fetch + (compute > streaming() ? compute : streaming());
  }
  // What would have to become cheaper first.
  constexpr Bound bound() const {
    const int64_t busy = compute > streaming() ? compute : streaming();
    if (fetch >= setup && fetch >= busy) return Bound::kFetch;
    if (setup > busy) return Bound::kSetup;
    if (compute >= streaming()) return Bound::kCompute;
    return weights > activations ? Bound::kWeights : Bound::kActivations;
  }
};

namespace cycles {

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t sram(const Machine& m, int64_t bytes) {
  return ceil_div(bytes * 256, m.sram_bytes_q8);
}
constexpr int64_t vector(const Machine& m, int64_t elements) {
  return ceil_div(elements * 256, m.vector_elements_q8);
}
constexpr int64_t elements(const int32_t (&extent)[kMaxRank]) {
  int64_t count = 1;
  for (const int32_t e : extent) count *= e;
  return count;
}

// A dense product: `lines` lines of `positions` results each for `channels` channels, every result
// `steps` cycles of a dot-product unit. Output-stationary: a tile is `accumulators` results of a
// line for `units` channels; it streams the weights of its channels once and each of its operands
// once for all units. Operands are read again for every group of `units` channels.
constexpr Cost dense(const Machine& m, int64_t lines, int64_t positions, int64_t steps,
                     int64_t channels) {
  const int64_t groups = ceil_div(channels, m.units);
  const int64_t tiles = lines * ceil_div(positions, m.accumulators) * groups;
  Cost cost;
  cost.compute = lines * positions * groups * steps + tiles * m.tile_cycles;
  cost.weights = sram(m, tiles * (steps * m.units * m.lanes + m.units * kParamBytes));
  cost.activations = sram(m, lines * positions * (groups * steps * m.lanes + channels));
  cost.setup = m.setup_cycles;
  return cost;
}

// Work of one tap a cycle for each of `units` channels: depthwise convolution (whose units have one
// useful product, or `taps_at_once`) and pools.
constexpr Cost by_channel(const Machine& m, int64_t lines, int64_t positions, int64_t taps,
                          int64_t taps_at_once, int64_t channels, int64_t bytes_of_position,
                          int64_t bytes_of_line) {
  const int64_t groups = ceil_div(channels, m.units);
  const int64_t tiles = lines * ceil_div(positions, m.accumulators) * groups;
  Cost cost;
  cost.compute = lines * positions * groups * ceil_div(taps, taps_at_once) + tiles * m.tile_cycles;
  cost.activations =
      sram(m, lines * groups * m.units * (positions * (bytes_of_position + 1) + bytes_of_line));
  cost.setup = m.setup_cycles;
  return cost;
}

// Bytes of SRAM accesses for `runs` runs of `bytes` contiguous bytes: a run takes whole accesses of
// the port's width.
constexpr int64_t accesses(const Machine& m, int64_t runs, int64_t bytes) {
  const int64_t width = m.sram_bytes_q8 >= 256 ? m.sram_bytes_q8 / 256 : 1;
  return runs * round_up_to(bytes, width);
}

// Length of the contiguous runs that strides leave over these extents.
constexpr int64_t run_length(const int32_t (&extent)[kMaxRank], const int32_t (&stride)[kMaxRank]) {
  int64_t run = 1;
  for (int i = kMaxRank - 1; i >= 0; i--) {
    if (extent[i] == 1) continue;
    if (stride[i] != run) break;
    run *= extent[i];
  }
  return run;
}

// Reads of an operand with strides: one that repeats a single element is read once.
constexpr int64_t strided_bytes(const Machine& m, const int32_t (&extent)[kMaxRank],
                                const int32_t (&stride)[kMaxRank]) {
  bool repeats = true;
  for (int i = 0; i < kMaxRank; i++) repeats = repeats && (extent[i] == 1 || stride[i] == 0);
  if (repeats) return 1;
  const int64_t run = run_length(extent, stride);
  return accesses(m, elements(extent) / run, run);
}

constexpr Cost element_wise(const Machine& m, int64_t count, int64_t bytes) {
  Cost cost;
  cost.compute = vector(m, count);
  cost.activations = sram(m, bytes);
  cost.setup = m.setup_cycles;
  return cost;
}

}  // namespace cycles

// Of an encoded call: `call` points to the structure behind the head. A kind that does not exist
// costs nothing.
Cost cost_of(const Machine& m, Kind kind, const void* call);

}  // namespace deuteron::neutron
