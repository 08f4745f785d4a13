// The cycles of a kernel call on the open machine, from its record and the machine's parameters. One function for the converter's choices,
// the compiler's prediction and the driver's profile, so that they agree. The model, its sources and what is assumed:
// docs/neutron-machine.md.
#pragma once
#include <cstdint>
#include <cstring>

#include "backends/neutron_model/microcode.h"

namespace deuteron::neutron {

// What a call's time goes into. The machine computes while it streams operands, so the longer of the two counts; setting a kernel up and
// fetching constants are the CPU's work, before the machine starts.
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
  constexpr int64_t total() const { return setup + fetch + (compute > streaming() ? compute : streaming()); }
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
constexpr int64_t sram(const Machine& m, int64_t bytes) { return ceil_div(bytes * 256, m.sram_bytes_q8); }
constexpr int64_t vector(const Machine& m, int64_t elements) { return ceil_div(elements * 256, m.vector_elements_q8); }
constexpr int64_t elements(const int32_t (&extent)[kMaxRank]) {
  int64_t count = 1;
  for (const int32_t e : extent) count *= e;
  return count;
}

// A dense product: `lines` lines of `positions` results each for `channels` channels, every result `steps` cycles of a dot-product unit.
// Output-stationary: a tile is `accumulators` results of a line for `units` channels; it streams the weights of its channels once and each
// of its operands once for all units. Operands are read again for every group of `units` channels.
constexpr Cost dense(const Machine& m, int64_t lines, int64_t positions, int64_t steps, int64_t channels) {
  const int64_t groups = ceil_div(channels, m.units);
  const int64_t tiles = lines * ceil_div(positions, m.accumulators) * groups;
  Cost cost;
  cost.compute = lines * positions * groups * steps + tiles * m.tile_cycles;
  cost.weights = sram(m, tiles * (steps * m.units * m.lanes + m.units * kParamBytes));
  cost.activations = sram(m, lines * positions * (groups * steps * m.lanes + channels));
  cost.setup = m.setup_cycles;
  return cost;
}

// Work of one tap a cycle for each of `units` channels: depthwise convolution (whose units have one useful product, or `taps_at_once`) and
// pools.
constexpr Cost by_channel(const Machine& m, int64_t lines, int64_t positions, int64_t taps, int64_t taps_at_once, int64_t channels,
                          int64_t bytes_of_position, int64_t bytes_of_line) {
  const int64_t groups = ceil_div(channels, m.units);
  const int64_t tiles = lines * ceil_div(positions, m.accumulators) * groups;
  Cost cost;
  cost.compute = lines * positions * groups * ceil_div(taps, taps_at_once) + tiles * m.tile_cycles;
  cost.activations = sram(m, lines * groups * m.units * (positions * (bytes_of_position + 1) + bytes_of_line));
  cost.setup = m.setup_cycles;
  return cost;
}

// Bytes of SRAM accesses for `runs` runs of `bytes` contiguous bytes: a run takes whole accesses of the port's width.
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
constexpr int64_t strided_bytes(const Machine& m, const int32_t (&extent)[kMaxRank], const int32_t (&stride)[kMaxRank]) {
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

constexpr Cost cost_of(const Machine& m, Kind kind, const ConvCall& a) {
  const int64_t taps = int64_t{a.kernel_h} * a.kernel_w;
  const int64_t channel_steps = cycles::ceil_div(a.c, m.lanes);
  Cost cost;
  if (kind == Kind::kConv2dTransposed) {
    // Each result needs the taps that meet an element of x: one in stride_h * stride_w, taken over all results.
    const int64_t steps = cycles::ceil_div(taps * channel_steps, int64_t{a.stride_h} * a.stride_w);
    cost = cycles::dense(m, int64_t{a.n} * a.out_h, a.out_w, steps, a.out_c);
    cost.macs = int64_t{a.n} * a.h * a.w * taps * a.c * a.out_c;
    return cost;
  }
  if (kind == Kind::kConv2dPointwise) {  // the map is one line
    cost = cycles::dense(m, 1, int64_t{a.n} * a.out_h * a.out_w, channel_steps, a.out_c);
  } else {
    const int64_t steps =
        kind == Kind::kConv2dStandardV2 ? a.kernel_h * cycles::ceil_div(int64_t{a.kernel_w} * a.c, m.lanes) : taps * channel_steps;
    cost = cycles::dense(m, int64_t{a.n} * a.out_h, a.out_w, steps, a.out_c);
  }
  cost.macs = int64_t{a.n} * a.out_h * a.out_w * taps * a.c * a.out_c;
  return cost;
}

// The convolution's windows; of its results only the pools leave the machine.
constexpr Cost cost_of(const Machine& m, Kind kind, const ConvPoolCall& a) {
  ConvCall used = a.conv;
  used.out_h -= used.out_h % a.pool_h, used.out_w -= used.out_w % a.pool_w;
  Cost cost = cost_of(m, convolution_of(kind), used);
  const int64_t results = int64_t{used.n} * used.out_h * used.out_w * used.out_c;
  cost.activations -= cycles::sram(m, results - results / (int64_t{a.pool_h} * a.pool_w));
  return cost;
}

constexpr Cost cost_of(const Machine& m, Kind kind, const DepthwiseCall& a) {
  const int64_t channels = int64_t{a.c} * a.multiplier, taps = int64_t{a.kernel_h} * a.kernel_w;
  const bool line = kind == Kind::kConv2dDepthwiseDense;
  const int64_t lines = line ? 1 : int64_t{a.n} * a.out_h, positions = line ? int64_t{a.n} * a.out_h * a.out_w : a.out_w;
  // Sliding along a row reads the new columns only, and the first window of the row; the map as a line reads every window.
  const int64_t new_columns = a.stride_w < a.kernel_w ? a.stride_w : a.kernel_w;
  const int64_t bytes = line ? taps : a.kernel_h * new_columns;
  Cost cost =
      cycles::by_channel(m, lines, positions, taps, m.depthwise_lanes, channels, bytes, line ? 0 : a.kernel_h * (a.kernel_w - new_columns));
  const int64_t groups = cycles::ceil_div(channels, m.units);
  cost.weights = cycles::sram(m, lines * cycles::ceil_div(positions, m.accumulators) * groups * m.units * (taps + kParamBytes));
  cost.macs = int64_t{a.n} * a.out_h * a.out_w * taps * channels;
  return cost;
}

constexpr Cost cost_of(const Machine& m, Kind, const FullyConnectedCall& a) {
  Cost cost = cycles::dense(m, 1, a.rows, cycles::ceil_div(a.in, m.lanes), a.out);
  cost.macs = int64_t{a.rows} * a.in * a.out;
  return cost;
}

constexpr Cost cost_of(const Machine& m, Kind, const MatMulCall& a) {
  Cost cost = cycles::dense(m, a.batch, a.m, cycles::ceil_div(a.k, m.lanes), a.n);
  // An operand whose rows of k are not contiguous is transposed on its way in: an access for each element, once.
  const int64_t access = m.sram_bytes_q8 / 256 > 0 ? m.sram_bytes_q8 / 256 : 1;
  if (a.x_k_stride != 1 && a.k > 1) cost.activations += cycles::sram(m, int64_t{a.batch} * a.m * a.k * access);
  if (a.other_k_stride != 1 && a.k > 1) cost.activations += cycles::sram(m, int64_t{a.batch} * a.k * a.n * access);
  cost.macs = int64_t{a.batch} * a.m * a.k * a.n;
  return cost;
}

constexpr Cost cost_of(const Machine& m, Kind, const PoolCall& a) {
  const int64_t new_columns = a.stride_w < a.kernel_w ? a.stride_w : a.kernel_w;
  return cycles::by_channel(m, int64_t{a.n} * a.out_h, a.out_w, int64_t{a.kernel_h} * a.kernel_w, 1, a.c, a.kernel_h * new_columns,
                            a.kernel_h * (a.kernel_w - new_columns));
}

constexpr Cost cost_of(const Machine& m, Kind, const ReduceCall& a) {
  int64_t kept = 1;
  for (int i = 0; i < kMaxRank; i++) kept *= (a.axes >> i & 1) != 0 ? 1 : a.extent[i];
  return cycles::element_wise(m, cycles::elements(a.extent), cycles::elements(a.extent) + kept);
}

constexpr Cost cost_of(const Machine& m, Kind, const SoftmaxCall& a) {
  const int64_t count = int64_t{a.rows} * a.columns;
  Cost cost = cycles::element_wise(m, 0, 4 * count);  // three passes read, one writes
  cost.compute = cycles::ceil_div(count * m.softmax_cycles_q8, 256);
  return cost;
}

constexpr Cost cost_of(const Machine& m, Kind, const PairCall& a) {
  return cycles::element_wise(
      m, cycles::elements(a.extent),
      cycles::strided_bytes(m, a.extent, a.x_stride) + cycles::strided_bytes(m, a.extent, a.other_stride) + cycles::elements(a.extent));
}

constexpr Cost cost_of(const Machine& m, Kind, const PreluCall& a) {
  return cycles::element_wise(m, cycles::elements(a.extent),
                              2 * cycles::elements(a.extent) + cycles::strided_bytes(m, a.extent, a.alpha_stride));
}

constexpr Cost cost_of(const Machine& m, Kind, const RescaleCall& a) { return cycles::element_wise(m, a.count, 2 * int64_t{a.count}); }

constexpr Cost cost_of(const Machine& m, Kind, const TableCall& a) { return cycles::element_wise(m, a.count, 2 * int64_t{a.count} + 256); }

constexpr Cost cost_of(const Machine& m, Kind, const PadCall& a) {
  int64_t results = 1;
  for (int i = 0; i < kMaxRank; i++) results *= int64_t{a.before[i]} + a.extent[i] + a.after[i];
  return cycles::element_wise(m, 0, cycles::elements(a.extent) + results);
}

constexpr Cost cost_of(const Machine& m, Kind, const CopyCall& a) {
  return cycles::element_wise(m, 0, cycles::strided_bytes(m, a.extent, a.x_stride) + cycles::strided_bytes(m, a.extent, a.y_stride));
}

constexpr Cost cost_of(const Machine& m, Kind kind, const ResizeCall& a) {
  const int64_t pixels = int64_t{a.n} * a.out_h * a.out_w;
  const int64_t taps = kind == Kind::kResizeBilinear ? 4 : 1;
  return cycles::element_wise(m, kind == Kind::kResizeBilinear ? taps * pixels * a.c : 0, cycles::accesses(m, pixels * (taps + 1), a.c));
}

constexpr Cost cost_of(const Machine& m, Kind, const MemCpyCall& a) {
  Cost cost;
  cost.setup = m.fetch_setup_cycles;
  cost.fetch = cycles::ceil_div(int64_t{a.bytes} * 256, m.fetch_bytes_q8);
  return cost;
}

// Of an encoded call: `call` points to the structure behind the head. A kind that does not exist costs nothing.
inline Cost cost_of(const Machine& m, Kind kind, const void* call) {
  switch (kind) {
#define DEUTERON_ENTRY(value, id, name, type) \
  case Kind::id: {                            \
    type a;                                   \
    std::memcpy(&a, call, sizeof a);          \
    return cost_of(m, kind, a);               \
  }
    DEUTERON_NEUTRON_KINDS(DEUTERON_ENTRY)
#undef DEUTERON_ENTRY
    case Kind::kProfileDump:
      break;
  }
  return {};
}

}  // namespace deuteron::neutron
