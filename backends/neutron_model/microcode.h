// The microcode of the open machine model: what the converter writes and the driver reads. Little-endian 32-bit words; every structure here
// is plain int32_t, so that encoding and decoding are memcpy. Words 0 and 6 to 14 lie where the vendor's runtime reads them; the rest is
// ours.
#pragma once
#include <cstddef>
#include <cstdint>

namespace deuteron::neutron {

inline constexpr uint32_t kMagic = 0x64434D6E;  // "nMCd", as in the vendor's microcode
// "DNM" and the version of this format in the top byte: it tells our microcode from the vendor's, whose word 1 differs.
inline constexpr uint32_t kFormatTag = 0x014D4E44;

// Words of the header. The header has kHeaderWords words for both payload versions; those that a version does not use are 0.
inline constexpr int kHeaderWords = 16;
enum HeaderWord : int {
  kMagicWord = 0,
  kTagWord = 1,             // kFormatTag
  kPayloadVersionWord = 2,  // 0, or 1 with profiling
  kCallsWord = 3,           // number of kernel calls
  kMachineOffsetWord = 4,   // byte offset of the Machine block, from the start of the microcode; as the two below a multiple of 4
  kCallsOffsetWord = 5,     // byte offset of the first call; the calls follow each other without gaps up to the end of the microcode
  kMicrocodeBytesWord = 6,  // with the header, a multiple of 4
  kWeightsBytesWord = 7,
  kKernelsBytesWord = 8,  // 0: the open machine has no code of its own
  kScratchBytesWord = 9,
  kIoOffsetWord = 15,  // byte offset of the I/O table: the bytes of every input, then of every output, a word each
};
// Version 0.
enum HeaderWordV0 : int { kSramBytesWordV0 = 10, kInputsWordV0 = 11, kOutputsWordV0 = 12 };
// Version 1. The top bit of the profile size has a meaning of its own in newer vendor software: it is masked out.
enum HeaderWordV1 : int {
  kProfileBytesWordV1 = 10,
  kDebugBytesWordV1 = 11,
  kSramBytesWordV1 = 12,
  kInputsWordV1 = 13,
  kOutputsWordV1 = 14
};
inline constexpr uint32_t kProfileBytesMask = 0x7FFFFFFF;
inline constexpr int kProfileRecordBytes = 16;  // for each call, and one more for the dump: profile bytes = 16 * (calls + 1)
// The debug buffer is filled with a copy of the header and the cycles of each call (low word, high word): 4 * (16 + 2 * calls) bytes.
inline constexpr int32_t debug_bytes_of(int32_t calls) { return 4 * (kHeaderWords + 2 * calls); }

// What the machine is like; docs/neutron-machine.md says where each figure comes from. The defaults are the N3-64 of i.MX RT700. _q8: in
// units of 1/256.
struct Machine {
  int32_t units = 8;                     // dot-product units side by side, an output channel each
  int32_t lanes = 8;                     // multiply-adds of a unit in a cycle
  int32_t clock_hz = 324000000;          // NPU and CPU
  int32_t accumulators = 16;             // of a unit: output elements that share one pass over the weights
  int32_t sram_bytes_q8 = 16 * 256;      // bytes a cycle between the machine and SRAM, reading and writing together
  int32_t fetch_bytes_q8 = 189;          // bytes a cycle that the CPU copies from external flash to SRAM
  int32_t setup_cycles = 2000;           // of a kernel: the CPU decodes the call and writes the registers
  int32_t tile_cycles = 8;               // of a tile of `accumulators` results for `units` channels: fill, drain, requantize
  int32_t depthwise_lanes = 1;           // of a unit's lanes, those that work in a depthwise convolution
  int32_t vector_elements_q8 = 8 * 256;  // elements a cycle of the element-wise kernels
  int32_t softmax_cycles_q8 = 8 * 256;   // for each element of a softmax
  int32_t fetch_setup_cycles = 200;      // of a copy from external flash
  int32_t reserved[4] = {};
};

// Where an operand lies.
enum class Region : int32_t {
  kNone = 0,  // the operand is absent
  kInput,     // input `index`; only read
  kOutput,    // output `index`
  kScratch,
  kWeights,      // the payload's weights section; only read, and by MemCpy alone when the model has an SRAM weight scratch
  kSramWeights,  // the SRAM weight scratch; written by MemCpy only
};
struct Operand {
  int32_t place = 0;   // Region | index << 8
  int32_t offset = 0;  // bytes from the start of the region
};
constexpr Operand operand(Region region, int32_t offset = 0, int32_t index = 0) {
  return {static_cast<int32_t>(region) | index << 8, offset};
}
constexpr Region region_of(const Operand& o) { return static_cast<Region>(o.place & 0xFF); }
constexpr int32_t index_of(const Operand& o) { return o.place >> 8; }

// The kernels. The value is the function code of the profile records, which has eight bits; 0 is the dump of the profile. Values are never
// reused. Names of public tests of the vendor's converter where it has the same kernel (facts, section 8.3).
#define DEUTERON_NEUTRON_KINDS(X)                                    \
  X(1, kConv2dStandardV1, "Conv2DStandardV1", ConvCall)              \
  X(2, kConv2dStandardV2, "Conv2DStandardV2", ConvCall)              \
  X(3, kConv2dPointwise, "Conv2DPointwise", ConvCall)                \
  X(4, kConv2dDepthwiseV1, "Conv2DDepthwiseV1", DepthwiseCall)       \
  X(5, kConv2dDepthwiseV2, "Conv2DDepthwiseV2", DepthwiseCall)       \
  X(6, kConv2dDepthwiseDense, "Conv2DDepthwiseDense", DepthwiseCall) \
  X(7, kFullyConnected, "FullyConnected", FullyConnectedCall)        \
  X(8, kConv2dTransposed, "Conv2DTransposed", ConvCall)              \
  X(9, kBatchMatMul, "BatchMatMul", MatMulCall)                      \
  X(10, kMaxPool, "MaxPool", PoolCall)                               \
  X(11, kAvgPool, "AvgPool", PoolCall)                               \
  X(12, kGlobalAvgPool, "GlobalAvgPool", ReduceCall)                 \
  X(13, kReduceMean, "ReduceMean", ReduceCall)                       \
  X(14, kReduceSum, "ReduceSum", ReduceCall)                         \
  X(15, kReduceMax, "ReduceMax", ReduceCall)                         \
  X(16, kReduceMin, "ReduceMin", ReduceCall)                         \
  X(17, kSoftmax, "Softmax", SoftmaxCall)                            \
  X(18, kAdd, "Add", PairCall)                                       \
  X(19, kSub, "Sub", PairCall)                                       \
  X(20, kMul, "Mul", PairCall)                                       \
  X(21, kMaximum, "Maximum", PairCall)                               \
  X(22, kMinimum, "Minimum", PairCall)                               \
  X(23, kPrelu, "Prelu", PreluCall)                                  \
  X(24, kGlobalBiasScale, "GlobalBiasScale", RescaleCall)            \
  X(25, kTable, "Table", TableCall)                                  \
  X(26, kPad, "Pad", PadCall)                                        \
  X(27, kSlice, "Slice", CopyCall)                                   \
  X(28, kStridedSliceConcat, "StridedSliceConcat", CopyCall)         \
  X(29, kTransposeChw, "TransposeCHW", CopyCall)                     \
  X(30, kResizeNearest, "ResizeNearest", ResizeCall)                 \
  X(31, kResizeBilinear, "ResizeBilinear", ResizeCall)               \
  X(32, kMemCpy, "MemCpy", MemCpyCall)                               \
  X(33, kConv2dStandardV1Pool, "Conv2DStandardV1Pool", ConvPoolCall) \
  X(34, kConv2dStandardV2Pool, "Conv2DStandardV2Pool", ConvPoolCall) \
  X(35, kConv2dPointwisePool, "Conv2DPointwisePool", ConvPoolCall)

enum class Kind : int32_t {
  kProfileDump = 0,
#define DEUTERON_ENTRY(value, id, name, call) id = value,
  DEUTERON_NEUTRON_KINDS(DEUTERON_ENTRY)
#undef DEUTERON_ENTRY
};
inline constexpr int32_t kKinds = 36;  // one more than the largest value

// Null for a value that is no kind.
constexpr const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kProfileDump:
      return "ProfileDump";
#define DEUTERON_ENTRY(value, id, name, call) \
  case Kind::id:                              \
    return name;
      DEUTERON_NEUTRON_KINDS(DEUTERON_ENTRY)
#undef DEUTERON_ENTRY
  }
  return nullptr;
}

// Before every call: `words` counts this head and the structure behind it.
struct CallHead {
  int32_t kind, words;
};

inline constexpr int kMaxRank = 6;  // smaller ranks have leading axes of extent 1 (and any stride: 0 by convention)

// rq(v) below is requantize(v, multiplier, shift) of ops/integer/requantize.h; multiplier in Q0.31, shift in -31..30, left if positive.
// Zero points and bounds are in -128..127, and y_min <= y_max. Every sum wraps at 2^32. Tensors have no gaps unless strides or pitches say
// so; strides and pitches are in elements = bytes. All strides are >= 0.

// Conv2DStandardV1, Conv2DStandardV2, Conv2DPointwise, Conv2DTransposed.
//   y[n,oh,ow,oc] = clamp(y_zero + rq_oc(bias[oc] + sum over kh,kw,c of (x[n,ih,iw,c] - x_zero) * w[oc,kh,kw,c]))
//   ih = oh*stride_h + kh*dilation_h - pad_top, iw likewise
// What lies outside x reads as x_zero. Conv2DTransposed sums over the ih, kh with ih*stride_h + kh*dilation_h - pad_top = oh (and so for
// columns); out_h and out_w are given, and results that no tap reaches are those of the bias. Conv2DPointwise has a kernel of 1x1.
// Pitches: elements from a pixel to the next, >= the channels; a group of a grouped convolution, or a part of a concatenation, is a call
// with c < x_pitch or out_c < y_pitch and an offset within the pixel. Rows and images follow as if a pixel had pitch elements.
//
// Limits   kernel, stride, dilation <= 4096; kernel_h * kernel_w * round_up(c, 8) <= 65535
//
// params   kParamBytes for each of out_c output channels: int32 bias, int32 multiplier, int8 shift; not aligned
//
// weights  packed, int8, padded with zeros, in blocks of 64 bytes [8 output channels][8 lanes]; at any offset
//   StandardV1, Pointwise, Transposed
//     [ceil(out_c/8)][kernel_h][kernel_w][ceil(c/8)][8 output channels][8 input channels]
//   StandardV2, for few channels: the lanes go over the row of a window; dilation_w = 1
//     [ceil(out_c/8)][kernel_h][ceil(kernel_w*c/8)][8 output channels][8 of (kw,c), c fastest]
inline constexpr int32_t kParamBytes = 9;
struct ConvCall {
  Operand x, y, weights, params;
  int32_t n, h, w, c, x_pitch;
  int32_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left;
  int32_t out_h, out_w, out_c, y_pitch;
  int32_t x_zero, y_zero, y_min, y_max;
};
constexpr int64_t round_up_to(int64_t v, int64_t step) { return (v + step - 1) / step * step; }
constexpr int64_t conv_weight_bytes(Kind kind, const ConvCall& a) {
  const int64_t row = kind == Kind::kConv2dStandardV2 ? round_up_to(int64_t{a.kernel_w} * a.c, 8) : a.kernel_w * round_up_to(a.c, 8);
  return round_up_to(a.out_c, 8) * a.kernel_h * row;
}

// Conv2DStandardV1Pool, V2Pool, Conv2DPointwisePool: the convolution, and a pool over its int8 results as they leave. The pool's windows
// neither overlap nor reach outside: y [n, out_h / pool_h, out_w / pool_w, out_c] with the convolution's y operand and pitch, its out_h and
// out_w are the results before the pool. Rows and columns that fill no window are not computed.
//   maximum  clamp(largest)      average  clamp(sum / (pool_h * pool_w)), to nearest, halves away from zero, as AvgPool
struct ConvPoolCall {
  ConvCall conv;
  int32_t pool_h, pool_w;
  int32_t average;  // 0 or 1
  int32_t pool_min, pool_max;
};
constexpr Kind convolution_of(Kind pooled) {
  return pooled == Kind::kConv2dStandardV1Pool   ? Kind::kConv2dStandardV1
         : pooled == Kind::kConv2dStandardV2Pool ? Kind::kConv2dStandardV2
                                                 : Kind::kConv2dPointwise;
}

// Conv2DDepthwiseV1, V2 (for average pools turned into a convolution) and Dense. The arithmetic is the same; they differ in how they go
// over the map, and so in cycles: V1 and V2 slide along rows, Dense takes the map as one line, for small maps (cycles.h). Output channel
// oc = ic*multiplier+j reads input channel oc / multiplier.
//
// weights  int8, padded with zeros: [ceil(c*multiplier/8)][kernel_h][kernel_w][8 output channels]
//
// params   as in ConvCall, for c*multiplier channels. Limits: kernel, stride, dilation <= 4096; kernel_h * kernel_w * 8 <= 65535
struct DepthwiseCall {
  Operand x, y, weights, params;
  int32_t n, h, w, c, x_pitch, multiplier;
  int32_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left;
  int32_t out_h, out_w, y_pitch;
  int32_t x_zero, y_zero, y_min, y_max;
};
constexpr int64_t depthwise_weight_bytes(const DepthwiseCall& a) {
  return round_up_to(int64_t{a.c} * a.multiplier, 8) * a.kernel_h * a.kernel_w;
}

// y[row,o] = clamp(y_zero + rq_o(bias[o] + sum over i of (x[row,i] - x_zero) * w[o,i])); x [rows,in], y [rows,out].
// weights  as in Conv2DPointwise: [ceil(out/8)][ceil(in/8)][8 outputs][8 inputs]; params as in ConvCall. Limit: round_up(in, 8) <= 65535
struct FullyConnectedCall {
  Operand x, y, weights, params;
  int32_t rows, in, out;
  int32_t x_zero, y_zero, y_min, y_max;
};
constexpr int64_t fully_connected_weight_bytes(const FullyConnectedCall& a) { return round_up_to(a.out, 8) * round_up_to(a.in, 8); }

// y[b,m,n] = clamp(y_zero + rq(sum over k of (x[b,m,k] - x_zero) * (other[b,k,n] - other_zero))); y [batch,m,n] without gaps.
// Any operand may lie transposed or repeat over the batch: its strides say how. Limit: k <= 32768
struct MatMulCall {
  Operand x, other, y;
  int32_t batch, m, k, n;
  int32_t x_batch_stride, x_m_stride, x_k_stride;
  int32_t other_batch_stride, other_k_stride, other_n_stride;
  int32_t x_zero, other_zero, y_zero, multiplier, shift, y_min, y_max;
};

// MaxPool and AvgPool over what lies inside x: padding takes no part (TFLite). The average is rounded to nearest, halves away from zero.
// Every window must reach into x. x and y have the same scale and zero point. dilation is for MaxPool; 1 for AvgPool.
struct PoolCall {
  Operand x, y;
  int32_t n, h, w, c, x_pitch;
  int32_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w, pad_top, pad_left;
  int32_t out_h, out_w, y_pitch;
  int32_t y_min, y_max;
};

// Reductions of x [extent...] over the axes whose bit is set in `axes` (bit i: axis i of the six), y without them and without gaps.
// GlobalAvgPool (axes h and w), ReduceMean, ReduceSum: clamp(y_zero + rq(sum of (x - x_zero))): the factor 1/count of a mean is in the
// multiplier. ReduceMax, ReduceMin: clamp(extreme), or clamp(y_zero + rq(extreme - x_zero)) when multiplier is not 0.
// Limit: elements summed up <= 2^23
struct ReduceCall {
  Operand x, y;
  int32_t extent[kMaxRank], axes;
  int32_t x_zero, y_zero, multiplier, shift, y_min, y_max;
};

// ops/softmax/kernel.h: x, y [rows,columns]; y has scale 1/256 and zero point -128.
struct SoftmaxCall {
  Operand x, y;
  int32_t rows, columns, multiplier, shift, diff_min;
};

// Add, Sub, Mul, Maximum, Minimum of x and other, each with its strides over the extents of y (0: repeated); y has no gaps.
//   rqx, rqo, rqy: rq with the multiplier and shift of x, other, y
//
//   Add  clamp(y_zero + rqy(rqx((x - x_zero) << left_shift) + rqo((other - other_zero) << left_shift))); left_shift 0..22, TFLite: 20
//
//   Sub  the same with the difference of the two terms
//
//   Mul  clamp(y_zero + rqy((x - x_zero) * (other - other_zero)))
//
//   Maximum, Minimum  clamp(extreme): all three have one scale and zero point
struct PairCall {
  Operand x, other, y;
  int32_t extent[kMaxRank], x_stride[kMaxRank], other_stride[kMaxRank];
  int32_t left_shift;
  int32_t x_zero, x_multiplier, x_shift;
  int32_t other_zero, other_multiplier, other_shift;
  int32_t y_zero, y_multiplier, y_shift;
  int32_t y_min, y_max;
};

// v = x - x_zero; y = clamp(y_zero + (v >= 0 ? rq(positive, v) : rq(negative, v * (alpha - alpha_zero)))); x and y have no gaps, alpha has
// strides over their extents.
struct PreluCall {
  Operand x, alpha, y;
  int32_t extent[kMaxRank], alpha_stride[kMaxRank];
  int32_t x_zero, alpha_zero, y_zero;
  int32_t positive_multiplier, positive_shift, negative_multiplier, negative_shift;
  int32_t y_min, y_max;
};

// y[i] = clamp(y_zero + rq(x[i] - x_zero)): a stand-alone activation, or a change of scale.
struct RescaleCall {
  Operand x, y;
  int32_t count, x_zero, y_zero, multiplier, shift, y_min, y_max;
};

// y[i] = table[x[i] + 128]: any function of one int8; the table has 256 bytes.
struct TableCall {
  Operand x, y, table;
  int32_t count;
};

// y [before + extent + after] = value outside x [extent]; none is negative.
struct PadCall {
  Operand x, y;
  int32_t extent[kMaxRank], before[kMaxRank], after[kMaxRank];
  int32_t value;
};

// y[sum of i*y_stride] = x[sum of i*x_stride] for every index i below extent: slices with steps, parts of a concatenation, transposes,
// repeats (x_stride 0). The offsets of the operands are the first elements.
struct CopyCall {
  Operand x, y;
  int32_t extent[kMaxRank], x_stride[kMaxRank], y_stride[kMaxRank];
};

// RESIZE_NEAREST_NEIGHBOR and RESIZE_BILINEAR (int8) of TFLite's reference; x [n,h,w,c], y [n,out_h,out_w,c], one scale and zero point.
// Limits: extents of height and width <= 65536 (coordinates are in Q21.10)
struct ResizeCall {
  Operand x, y;
  int32_t n, h, w, c, out_h, out_w;
  int32_t align_corners, half_pixel_centers;  // 0 or 1, not both 1
};

// Fetch `bytes` from `from` (weights) to `to` (SRAM weight scratch) by the copy callback when there is one; `channel` is handed to it.
// What a call reads from the SRAM weight scratch a MemCpy before it has written.
struct MemCpyCall {
  Operand from, to;
  int32_t bytes, channel;
};

}  // namespace deuteron::neutron
