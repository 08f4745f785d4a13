// The rules of every kernel's call, as microcode.h states them. A call that passes reads and writes within its operands' memories, divides
// by nothing that is zero and leaves no integer's range.
#include <cstring>
#include <initializer_list>

#include "backends/neutron_model/check.h"
#include "backends/neutron_model/kernel_table.h"

namespace deuteron::neutron {
namespace {

constexpr int64_t kMostBytes = INT32_MAX;
constexpr int32_t kMostPixels = 1 << 18;  // along one axis of a map: times the largest stride it is within int32
constexpr int32_t kMostTaps = 4096;       // kernel, stride, dilation (facts, section 8.2)
constexpr int64_t kMostProducts = 65535;  // of a result
constexpr int32_t kMostPadding = 1 << 24;
constexpr int64_t kMostSummed = 1 << 23;  // int8 values without their zero point

bool in(int64_t v, int64_t low, int64_t high) { return v >= low && v <= high; }

// Collects the first thing that is wrong with a call. What the rules of many kinds call is not inlined: that would more than double the
// code.
class Call {
 public:
  explicit Call(const Layout& layout) : layout_(layout) {}

  void need(bool right, Reason reason) {
    if (!right && reason_ == Reason::kNone) reason_ = reason;
  }
  bool right() const { return reason_ == Reason::kNone; }
  Reason reason() const { return reason_; }

  // The number of elements of extents that are all at least 1, or -1.
  [[gnu::noinline]] int64_t product(std::initializer_list<int32_t> extents) {
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
  int64_t product(const int32_t (&e)[kMaxRank]) { return product({e[0], e[1], e[2], e[3], e[4], e[5]}); }

  // Bytes from the first element of a tensor with strides to behind its last.
  [[gnu::noinline]] int64_t span(const int32_t* extent, const int32_t* stride, int rank) {
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
  [[gnu::noinline]] int64_t pixels_span(int32_t n, int32_t h, int32_t w, int32_t channels, int32_t pitch) {
    need(h <= kMostPixels && w <= kMostPixels && pitch >= channels, Reason::kExtent);
    const int64_t pixels = product({n, h, w});
    if (!right()) return -1;
    need((pixels - 1) * pitch + channels <= kMostBytes, Reason::kExtent);
    return (pixels - 1) * pitch + channels;
  }

  [[gnu::noinline]] void window(int32_t kernel, int32_t stride, int32_t dilation, int32_t pad) {
    need(in(kernel, 1, kMostTaps) && in(stride, 1, kMostTaps) && in(dilation, 1, kMostTaps) && in(pad, -kMostPadding, kMostPadding),
         Reason::kWindow);
  }
  [[gnu::noinline]] void steps(std::initializer_list<int32_t> values) {
    for (const int32_t v : values) need(in(v, -128, 127), Reason::kQuantization);
  }
  void bounds(int32_t low, int32_t high) {
    steps({low, high});
    need(low <= high, Reason::kQuantization);
  }
  void shift(int32_t v) { need(in(v, -31, 30), Reason::kQuantization); }

  // `dense`: the same bytes as y's, so that y may be this operand.
  [[gnu::noinline]] void reads(const Operand& o, int64_t bytes, bool dense = false) {
    const int64_t size = size_of(o);
    need(size >= 0, Reason::kOperandRegion);
    // The compute of a machine that fetches its constants cannot read where they are stored.
    if (region_of(o) == Region::kWeights) need(layout_.sram_bytes == 0, Reason::kOperandRegion);
    within(o, bytes, size);
    if (operands_ < kMostOperands) operand_[operands_++] = {o, bytes, dense};
  }
  [[gnu::noinline]] void reads_constant(const Operand& o, int64_t bytes) {
    need(region_of(o) == Region::kWeights || region_of(o) == Region::kSramWeights, Reason::kOperandRegion);
    reads(o, bytes);
  }
  [[gnu::noinline]] void reads_params(const Operand& o, int64_t channels) { reads_constant(o, kParamBytes * channels); }
  // `gaps`: y leaves out bytes between its elements, where operands may lie.
  [[gnu::noinline]] void writes(const Operand& o, int64_t bytes, bool gaps = false) {
    need(region_of(o) == Region::kOutput || region_of(o) == Region::kScratch, Reason::kOperandRegion);
    within(o, bytes, size_of(o));
    for (int i = 0; i < operands_ && !gaps; ++i) {
      const Read& r = operand_[i];
      if (r.o.place != o.place || r.o.offset >= o.offset + bytes || o.offset >= r.o.offset + r.bytes) continue;
      need(r.dense && r.o.offset == o.offset && r.bytes == bytes, Reason::kOverlap);
    }
  }
  void fetches(const MemCpyCall& a) {
    need(a.bytes >= 0, Reason::kExtent);
    need(region_of(a.from) == Region::kWeights && region_of(a.to) == Region::kSramWeights, Reason::kOperandRegion);
    within(a.from, a.bytes, size_of(a.from));
    within(a.to, a.bytes, size_of(a.to));
  }

 private:
  struct Read {
    Operand o;
    int64_t bytes;
    bool dense;
  };
  static constexpr int kMostOperands = 4;

  // Bytes of the memory that an operand names, or -1.
  int64_t size_of(const Operand& o) const {
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
  void within(const Operand& o, int64_t bytes, int64_t size) {
    need(size >= 0, Reason::kOperandRegion);
    need(!right() || (bytes >= 0 && o.offset >= 0 && int64_t{o.offset} + bytes <= size), Reason::kOperandRange);
  }

  const Layout& layout_;
  Reason reason_ = Reason::kNone;
  Read operand_[kMostOperands];
  int operands_ = 0;
};

bool is_dense(const int32_t (&extent)[kMaxRank], const int32_t (&stride)[kMaxRank]) {
  int64_t step = 1;
  for (int i = kMaxRank - 1; i >= 0; --i) {
    if (extent[i] != 1 && stride[i] != step) return false;
    step *= extent[i];
  }
  return true;
}

// `y_h`, `y_w`: what is written of the results, at the pitch of the call.
void check_convolution(Call& call, Kind kind, const ConvCall& a, int32_t y_h, int32_t y_w) {
  const int64_t x_bytes = call.pixels_span(a.n, a.h, a.w, a.c, a.x_pitch);
  const int64_t y_bytes = call.pixels_span(a.n, y_h, y_w, a.out_c, a.y_pitch);
  call.pixels_span(a.n, a.out_h, a.out_w, 1, 1);
  call.product({a.c});
  call.product({a.out_c});
  call.window(a.kernel_h, a.stride_h, a.dilation_h, a.pad_top);
  call.window(a.kernel_w, a.stride_w, a.dilation_w, a.pad_left);
  if (kind == Kind::kConv2dPointwise) call.need(a.kernel_h == 1 && a.kernel_w == 1, Reason::kWindow);
  if (kind == Kind::kConv2dStandardV2) call.need(a.dilation_w == 1, Reason::kWindow);
  call.steps({a.x_zero, a.y_zero});
  call.bounds(a.y_min, a.y_max);
  if (!call.right()) return;
  call.need(int64_t{a.kernel_h} * a.kernel_w * round_up_to(a.c, 8) <= kMostProducts, Reason::kSum);
  if (!call.right()) return;
  call.reads(a.x, x_bytes);
  call.reads_constant(a.weights, conv_weight_bytes(kind, a));
  call.reads_params(a.params, a.out_c);
  call.writes(a.y, y_bytes, a.y_pitch > a.out_c && a.x_pitch > a.c);
}

void check(Call& call, Kind kind, const ConvCall& a) { check_convolution(call, kind, a, a.out_h, a.out_w); }

void check(Call& call, Kind kind, const ConvPoolCall& a) {
  call.need(a.pool_h >= 1 && a.pool_w >= 1 && a.pool_h <= a.conv.out_h && a.pool_w <= a.conv.out_w && in(a.average, 0, 1), Reason::kWindow);
  call.bounds(a.pool_min, a.pool_max);
  if (!call.right()) return;
  call.need(int64_t{a.pool_h} * a.pool_w <= kMostSummed, Reason::kSum);
  if (call.right()) check_convolution(call, convolution_of(kind), a.conv, a.conv.out_h / a.pool_h, a.conv.out_w / a.pool_w);
}

void check(Call& call, Kind, const DepthwiseCall& a) {
  call.product({a.n, a.c, a.multiplier});
  if (!call.right()) return;
  const int32_t channels = a.c * a.multiplier;
  const int64_t x_bytes = call.pixels_span(a.n, a.h, a.w, a.c, a.x_pitch);
  const int64_t y_bytes = call.pixels_span(a.n, a.out_h, a.out_w, channels, a.y_pitch);
  call.window(a.kernel_h, a.stride_h, a.dilation_h, a.pad_top);
  call.window(a.kernel_w, a.stride_w, a.dilation_w, a.pad_left);
  call.steps({a.x_zero, a.y_zero});
  call.bounds(a.y_min, a.y_max);
  if (!call.right()) return;
  call.need(int64_t{a.kernel_h} * a.kernel_w * 8 <= kMostProducts, Reason::kSum);
  if (!call.right()) return;
  call.reads(a.x, x_bytes);
  call.reads_constant(a.weights, depthwise_weight_bytes(a));
  call.reads_params(a.params, channels);
  call.writes(a.y, y_bytes, a.y_pitch > channels && a.x_pitch > a.c);
}

void check(Call& call, Kind, const FullyConnectedCall& a) {
  const int64_t x_bytes = call.product({a.rows, a.in}), y_bytes = call.product({a.rows, a.out});
  call.steps({a.x_zero, a.y_zero});
  call.bounds(a.y_min, a.y_max);
  if (!call.right()) return;
  call.need(round_up_to(a.in, 8) <= kMostProducts, Reason::kSum);
  call.reads(a.x, x_bytes);
  call.reads_constant(a.weights, fully_connected_weight_bytes(a));
  call.reads_params(a.params, a.out);
  call.writes(a.y, y_bytes);
}

void check(Call& call, Kind, const MatMulCall& a) {
  const int32_t x_extent[] = {a.batch, a.m, a.k}, x_stride[] = {a.x_batch_stride, a.x_m_stride, a.x_k_stride};
  const int32_t other_extent[] = {a.batch, a.k, a.n}, other_stride[] = {a.other_batch_stride, a.other_k_stride, a.other_n_stride};
  const int64_t y_bytes = call.product({a.batch, a.m, a.n});
  const int64_t x_bytes = call.span(x_extent, x_stride, 3), other_bytes = call.span(other_extent, other_stride, 3);
  call.steps({a.x_zero, a.other_zero, a.y_zero});
  call.bounds(a.y_min, a.y_max);
  call.shift(a.shift);
  call.need(a.k <= 32768, Reason::kSum);  // 255 * 255 * 32768 < 2^31
  call.product({a.batch, a.m, a.k});      // the machine's copies of transposed operands
  call.product({a.batch, a.k, a.n});
  call.reads(a.x, x_bytes);
  call.reads(a.other, other_bytes);
  call.writes(a.y, y_bytes);
}

// Every window of an axis has a tap inside x.
bool reaches(int32_t extent, int32_t out, int32_t kernel, int32_t stride, int32_t dilation, int32_t pad) {
  for (int32_t o = 0; o < out; ++o) {
    const int32_t start = o * stride - pad, end = start + (kernel - 1) * dilation;
    const int32_t first = start >= 0 ? start : start + (-start + dilation - 1) / dilation * dilation;
    if (first >= extent || first > end) return false;
  }
  return true;
}

void check(Call& call, Kind kind, const PoolCall& a) {
  const int64_t x_bytes = call.pixels_span(a.n, a.h, a.w, a.c, a.x_pitch);
  const int64_t y_bytes = call.pixels_span(a.n, a.out_h, a.out_w, a.c, a.y_pitch);
  call.product({a.c});
  call.window(a.kernel_h, a.stride_h, a.dilation_h, a.pad_top);
  call.window(a.kernel_w, a.stride_w, a.dilation_w, a.pad_left);
  call.bounds(a.y_min, a.y_max);
  if (!call.right()) return;
  if (kind == Kind::kAvgPool) {
    call.need(a.dilation_h == 1 && a.dilation_w == 1, Reason::kWindow);
    const int64_t rows = a.kernel_h < a.h ? a.kernel_h : a.h, columns = a.kernel_w < a.w ? a.kernel_w : a.w;
    call.need(rows * columns <= kMostSummed, Reason::kSum);
  }
  call.need(reaches(a.h, a.out_h, a.kernel_h, a.stride_h, a.dilation_h, a.pad_top), Reason::kWindow);
  call.need(reaches(a.w, a.out_w, a.kernel_w, a.stride_w, a.dilation_w, a.pad_left), Reason::kWindow);
  call.reads(a.x, x_bytes);
  call.writes(a.y, y_bytes, a.y_pitch > a.c && a.x_pitch > a.c);
}

void check(Call& call, Kind kind, const ReduceCall& a) {
  const int64_t x_bytes = call.product(a.extent);
  call.need(in(a.axes, 0, (1 << kMaxRank) - 1), Reason::kExtent);
  call.steps({a.x_zero, a.y_zero});
  call.bounds(a.y_min, a.y_max);
  call.shift(a.shift);
  if (!call.right()) return;
  int64_t reduced = 1;
  for (int i = 0; i < kMaxRank; ++i) reduced *= (a.axes >> i & 1) != 0 ? a.extent[i] : 1;
  if (kind != Kind::kReduceMax && kind != Kind::kReduceMin) call.need(reduced <= kMostSummed, Reason::kSum);
  call.reads(a.x, x_bytes, true);
  call.writes(a.y, x_bytes / reduced);
}

void check(Call& call, Kind, const SoftmaxCall& a) {
  const int64_t bytes = call.product({a.rows, a.columns});
  call.need(a.multiplier > 0 && in(a.shift, 0, 31) && a.diff_min <= 0, Reason::kQuantization);
  // ops/softmax/kernel.h: the largest difference, shifted, fits int32.
  const int64_t largest = a.diff_min < -255 ? 255 : -int64_t{a.diff_min};
  if (call.right()) call.need((largest << a.shift) <= int64_t{1} << 31, Reason::kQuantization);
  call.reads(a.x, bytes, true);
  call.writes(a.y, bytes);
}

void check(Call& call, Kind kind, const PairCall& a) {
  const int64_t bytes = call.product(a.extent);
  const int64_t x_bytes = call.span(a.extent, a.x_stride, kMaxRank), other_bytes = call.span(a.extent, a.other_stride, kMaxRank);
  call.bounds(a.y_min, a.y_max);
  if (kind != Kind::kMaximum && kind != Kind::kMinimum) {
    call.steps({a.x_zero, a.other_zero, a.y_zero});
    call.shift(a.y_shift);
  }
  if (kind == Kind::kAdd || kind == Kind::kSub) {
    call.need(in(a.left_shift, 0, 22), Reason::kQuantization);
    call.shift(a.x_shift);
    call.shift(a.other_shift);
  }
  call.reads(a.x, x_bytes, is_dense(a.extent, a.x_stride));
  call.reads(a.other, other_bytes, is_dense(a.extent, a.other_stride));
  call.writes(a.y, bytes);
}

void check(Call& call, Kind, const PreluCall& a) {
  const int64_t bytes = call.product(a.extent), alpha_bytes = call.span(a.extent, a.alpha_stride, kMaxRank);
  call.steps({a.x_zero, a.alpha_zero, a.y_zero});
  call.bounds(a.y_min, a.y_max);
  call.shift(a.positive_shift);
  call.shift(a.negative_shift);
  call.reads(a.x, bytes, true);
  call.reads(a.alpha, alpha_bytes);
  call.writes(a.y, bytes);
}

void check(Call& call, Kind, const RescaleCall& a) {
  call.product({a.count});
  call.steps({a.x_zero, a.y_zero});
  call.bounds(a.y_min, a.y_max);
  call.shift(a.shift);
  call.reads(a.x, a.count, true);
  call.writes(a.y, a.count);
}

void check(Call& call, Kind, const TableCall& a) {
  call.product({a.count});
  call.reads(a.x, a.count, true);
  call.reads_constant(a.table, 256);
  call.writes(a.y, a.count);
}

void check(Call& call, Kind, const PadCall& a) {
  const int64_t x_bytes = call.product(a.extent);
  int64_t y_bytes = 1;
  for (int i = 0; i < kMaxRank; ++i) {
    call.need(a.before[i] >= 0 && a.after[i] >= 0, Reason::kExtent);
    const int64_t whole = int64_t{a.before[i]} + a.extent[i] + a.after[i];
    call.need(whole <= kMostBytes, Reason::kExtent);
    if (!call.right()) return;
    y_bytes *= whole;
    call.need(y_bytes <= kMostBytes, Reason::kExtent);
    if (!call.right()) return;
  }
  call.steps({a.value});
  call.reads(a.x, x_bytes);
  call.writes(a.y, y_bytes);
}

void check(Call& call, Kind, const CopyCall& a) {
  call.product(a.extent);
  const int64_t x_bytes = call.span(a.extent, a.x_stride, kMaxRank), y_bytes = call.span(a.extent, a.y_stride, kMaxRank);
  for (int i = 0; i < kMaxRank; ++i) call.need(a.extent[i] == 1 || a.y_stride[i] > 0, Reason::kExtent);
  call.reads(a.x, x_bytes);
  call.writes(a.y, y_bytes, !is_dense(a.extent, a.y_stride));
}

void check(Call& call, Kind, const ResizeCall& a) {
  const int64_t x_bytes = call.pixels_span(a.n, a.h, a.w, a.c, a.c), y_bytes = call.pixels_span(a.n, a.out_h, a.out_w, a.c, a.c);
  call.product({a.c});
  call.need(in(a.align_corners, 0, 1) && in(a.half_pixel_centers, 0, 1) && a.align_corners + a.half_pixel_centers < 2, Reason::kWindow);
  call.reads(a.x, x_bytes);
  call.writes(a.y, y_bytes);
}

void check(Call& call, Kind, const MemCpyCall& a) { call.fetches(a); }

template <class Record>
[[gnu::noinline]] Reason check_record(const Layout& layout, Kind kind, const void* at) {
  Record record;
  std::memcpy(&record, at, sizeof record);
  Call call(layout);
  check(call, kind, record);
  return call.reason();
}

// Words of a kind's structure; 0 if there is no such kind.
int32_t words_of(int32_t kind) {
  switch (kind) {
#define DEUTERON_ENTRY(value, id, name, type) \
  case value:                                 \
    return static_cast<int32_t>(sizeof(type) / 4);
    DEUTERON_NEUTRON_KINDS(DEUTERON_ENTRY)
#undef DEUTERON_ENTRY
    default:
      return 0;
  }
}

}  // namespace

Reason check_call(const Layout& layout, Kind kind, const void* call) {
  switch (kind) {
#define DEUTERON_ENTRY(value, id, name, type) \
  case Kind::id:                              \
    return check_record<type>(layout, kind, call);
    DEUTERON_NEUTRON_KINDS(DEUTERON_ENTRY)
#undef DEUTERON_ENTRY
    case Kind::kProfileDump:
      break;
  }
  return Reason::kCallKind;
}

NeutronError check_calls(const Layout& layout) {
  const int32_t* at = layout.first_call;
  int64_t left = layout.microcode_bytes / 4 - (at - layout.words);
  for (int32_t call = 1; call <= layout.calls; ++call) {
    constexpr int32_t kHead = sizeof(CallHead) / 4;
    if (left < kHead) return error(kNeutronBadMicrocode, Reason::kCallWords, call);
    const int32_t kind = at[0], words = words_of(kind);
    if (words == 0) return error(kNeutronUnsupported, Reason::kCallKind, call);
    if (at[1] != kHead + words || left < at[1]) return error(kNeutronBadMicrocode, Reason::kCallWords, call);
    if (neutron_kernel_table[kind] == nullptr) return error(kNeutronUnsupported, Reason::kKernelNotLinked, call);
    const Reason reason = check_call(layout, static_cast<Kind>(kind), at + kHead);
    if (reason != Reason::kNone) return error(kNeutronBadMicrocode, reason, call);
    left -= at[1];
    at += at[1];
  }
  if (left != 0) return error(kNeutronBadMicrocode, Reason::kCallWords);
  return kNeutronOk;
}

}  // namespace deuteron::neutron
