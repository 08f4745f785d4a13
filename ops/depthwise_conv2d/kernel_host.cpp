// The elements of an output row, which are channels of windows side by side, are one list: with stride 1, an element and its neighbour read
// neighbours under every tap, whichever channel they are. So vectors lie over that list, however few channels there are, and weights and
// numbers are repeated behind the last channel. With other strides each window is such a list.
#include "ops/depthwise_conv2d/kernel_host.h"

#include <cstring>

#include "ops/device/host_vectors.h"
#include "ops/image/window.h"
#include "ops/integer/requantize.h"

namespace deuteron {

#if defined(__x86_64__)
namespace {

constexpr int32_t kAtOnce = 64;  // elements of a list
constexpr int32_t kDepthwiseRoom = 160 << 10;

// What a call's rows, weights and numbers take of the room.
struct Layout {
  explicit Layout(const DepthwiseConv2dArgs& a)
      : period(a.out_c + kAtOnce),
        columns(int64_t{a.out_w - 1} * a.stride_w + int64_t{a.kernel_w - 1} * a.dilation_w + 1),
        row_bytes(columns * a.in_c + kAtOnce),
        bytes(row_bytes * a.kernel_h + int64_t{period} * (int64_t{a.kernel_h} * a.kernel_w + 3) * 4 + a.kernel_h * 16) {}

  int32_t period;  // of weights and numbers: all channels, and the first ones again
  int64_t columns, row_bytes, bytes;
};

// The padded rows of the input that the windows of an output row read. With dilation 1 a row keeps its place for the next output rows.
class Rows {
 public:
  Rows(const DepthwiseConv2dArgs& a, const Layout& layout, int8_t* room)
      : a_(a), bytes_(static_cast<int32_t>(layout.row_bytes)), columns_(static_cast<int32_t>(layout.columns)), room_(room) {}

  // Row number k of the kernel at input row h, which may lie outside.
  const int8_t* at(const int8_t* image, int32_t k, int32_t h, int32_t* holds) {
    const int32_t slot = a_.dilation_h == 1 ? (h % a_.kernel_h + a_.kernel_h) % a_.kernel_h : k;
    int8_t* to = room_ + slot * bytes_;
    if (holds[slot] != h) {
      fill(image, h, to);
      holds[slot] = a_.dilation_h == 1 ? h : kNoRow;
    }
    return to;
  }
  static constexpr int32_t kNoRow = INT32_MIN;

 private:
  void fill(const int8_t* image, int32_t h, int8_t* to) const {
    const Taps inside = h >= 0 && h < a_.in_h ? taps_inside(-a_.pad_w, columns_, 1, a_.in_w) : Taps{0, 0};
    const int8_t zero = static_cast<int8_t>(-a_.x_offset);
    const auto outside = [&](int32_t begin, int32_t end) {
      std::memset(to + begin * a_.in_c, zero, static_cast<size_t>((end - begin) * a_.in_c));
    };
    outside(0, inside.first);
    if (inside.first < inside.end)
      std::memcpy(to + inside.first * a_.in_c, image + (h * a_.in_w + inside.first - a_.pad_w) * a_.in_c,
                  static_cast<size_t>((inside.end - inside.first) * a_.in_c));
    outside(inside.end, columns_);
    std::memset(to + columns_ * a_.in_c, 0, kAtOnce);  // is read, for results that nobody keeps
  }

  const DepthwiseConv2dArgs& a_;
  const int32_t bytes_, columns_;
  int8_t* const room_;
};

// Weights as int32, and what stands beside them: [period] of each tap, first sum, multiplier, shift.
struct Numbers {
  int32_t *weights, *first, *multiplier, *shift;
};

void fill_numbers(const DepthwiseConv2dArgs& a, const Layout& layout, const int8_t* weight, const int32_t* bias, const Numbers& n) {
  const int32_t taps = a.kernel_h * a.kernel_w;
  for (int32_t c = 0; c < a.out_c; ++c) n.first[c] = bias ? bias[c] : 0, n.multiplier[c] = a.multiplier[c], n.shift[c] = a.shift[c];
  for (int32_t t = 0; t < taps; ++t) {
    int32_t* w = n.weights + t * layout.period;
    for (int32_t c = 0; c < a.out_c; ++c) {
      w[c] = weight[t * a.out_c + c];
      // Taps outside read the zero point, so that the offset has a part in every sum.
      n.first[c] = add_wrapping(n.first[c], w[c] * a.x_offset);
    }
  }
  for (int32_t list = 0; list < taps + 3; ++list) {  // they lie behind one another
    int32_t* v = n.weights + list * layout.period;
    for (int32_t c = a.out_c; c < layout.period; ++c) v[c] = v[c - a.out_c];
  }
}

// What kAtOnce results are made from: rows of input from their first elements on, weights and numbers from a channel on.
struct Block {
  const int8_t* const* rows;
  int32_t at;
  const int32_t *weights, *first, *multiplier, *shift;
  int32_t period;
};
using BlockKernel = void (*)(const DepthwiseConv2dArgs& a, const Block& b, int8_t* y);

#ifdef __clang__  // ignores the whole attribute for a part that it does not know
#define DEUTERON_AVX512 gnu::target("avx512f,avx512bw,avx512vl")
#else
#define DEUTERON_AVX512 gnu::target("avx512f,avx512bw,avx512vl,prefer-vector-width=512")
#endif

[[DEUTERON_AVX512]] void run_avx512(const DepthwiseConv2dArgs& a, const Block& b, int8_t* y) {
  __m512i s[4];
  for (int32_t v = 0; v < 4; ++v) s[v] = _mm512_loadu_si512(b.first + 16 * v);
  const int32_t* w = b.weights;
  for (int32_t kh = 0; kh < a.kernel_h; ++kh) {
    const int8_t* x = b.rows[kh] + b.at;
    for (int32_t kw = 0; kw < a.kernel_w; ++kw, x += a.dilation_w * a.in_c, w += b.period)
      for (int32_t v = 0; v < 4; ++v) {
        const __m512i wide = _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + 16 * v)));
        s[v] = _mm512_add_epi32(s[v], _mm512_mullo_epi32(wide, _mm512_loadu_si512(w + 16 * v)));
      }
  }
  alignas(64) uint32_t sums[kAtOnce];
  for (int32_t v = 0; v < 4; ++v) _mm512_store_si512(sums + 16 * v, s[v]);
  requantize_row_to_s8(sums, b.multiplier, b.shift, kAtOnce, a.y_zero, a.y_min, a.y_max, y);
}

[[gnu::target("avx2")]] void run_avx2(const DepthwiseConv2dArgs& a, const Block& b, int8_t* y) {
  __m256i s[8];
  for (int32_t v = 0; v < 8; ++v) s[v] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b.first + 8 * v));
  const int32_t* w = b.weights;
  for (int32_t kh = 0; kh < a.kernel_h; ++kh) {
    const int8_t* x = b.rows[kh] + b.at;
    for (int32_t kw = 0; kw < a.kernel_w; ++kw, x += a.dilation_w * a.in_c, w += b.period)
      for (int32_t v = 0; v < 8; ++v) {
        const __m256i wide = _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(x + 8 * v)));
        const __m256i factor = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(w + 8 * v));
        s[v] = _mm256_add_epi32(s[v], _mm256_mullo_epi32(wide, factor));
      }
  }
  alignas(32) uint32_t sums[kAtOnce];
  for (int32_t v = 0; v < 8; ++v) _mm256_store_si256(reinterpret_cast<__m256i*>(sums + 8 * v), s[v]);
  requantize_row_to_s8(sums, b.multiplier, b.shift, kAtOnce, a.y_zero, a.y_min, a.y_max, y);
}

template <BlockKernel run>
bool run_rows(const DepthwiseConv2dArgs& a, const int8_t* x, const int8_t* weight, const int32_t* bias, int8_t* y) {
  if (a.depth_multiplier != 1 || a.x_offset < -127 || a.x_offset > 128) return false;
  const Layout layout(a);
  if (layout.bytes > kDepthwiseRoom) return false;
  alignas(64) int8_t room[kDepthwiseRoom];
  Numbers n;
  n.weights = reinterpret_cast<int32_t*>(room);
  n.first = n.weights + a.kernel_h * a.kernel_w * layout.period, n.multiplier = n.first + layout.period,
  n.shift = n.multiplier + layout.period;
  const int8_t** rows = reinterpret_cast<const int8_t**>(room + (kDepthwiseRoom - a.kernel_h * 16));
  int32_t* holds = reinterpret_cast<int32_t*>(rows + a.kernel_h);
  fill_numbers(a, layout, weight, bias, n);
  Rows input(a, layout, reinterpret_cast<int8_t*>(n.shift + layout.period));
  const bool side_by_side = a.stride_w == 1;
  const int32_t lists = side_by_side ? 1 : a.out_w, elements = side_by_side ? a.out_w * a.out_c : a.out_c;
  for (int32_t image = 0; image < a.n; ++image, x += a.in_h * a.in_w * a.in_c) {
    for (int32_t k = 0; k < a.kernel_h; ++k) holds[k] = Rows::kNoRow;
    for (int32_t oh = 0; oh < a.out_h; ++oh) {
      for (int32_t k = 0; k < a.kernel_h; ++k) rows[k] = input.at(x, k, oh * a.stride_h - a.pad_h + k * a.dilation_h, holds);
      for (int32_t list = 0; list < lists; ++list, y += elements)
        for (int32_t e = 0, phase = 0; e < elements; e += kAtOnce) {
          const Block block{
              rows,         list * a.stride_w * a.in_c + e, n.weights + phase, n.first + phase, n.multiplier + phase, n.shift + phase,
              layout.period};
          int8_t results[kAtOnce];
          run(a, block, results);
          if (elements - e >= kAtOnce) std::memcpy(y + e, results, kAtOnce);
          else std::memcpy(y + e, results, static_cast<size_t>(elements - e));
          for (phase += kAtOnce; phase >= a.out_c;) phase -= a.out_c;
        }
    }
  }
  return true;
}

HostKernels<HostDepthwiseKernel> find_depthwise_kernels() {
  HostKernels<HostDepthwiseKernel> found{};
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    found.kernel[found.count++] = run_rows<run_avx512>;
  if (__builtin_cpu_supports("avx2")) found.kernel[found.count++] = run_rows<run_avx2>;
  return found;
}

}  // namespace

const HostKernels<HostDepthwiseKernel>& host_depthwise_kernels() {
  static const HostKernels<HostDepthwiseKernel> found = find_depthwise_kernels();
  return found;
}

#else

const HostKernels<HostDepthwiseKernel>& host_depthwise_kernels() {
  static constexpr HostKernels<HostDepthwiseKernel> kNone{};
  return kNone;
}

#endif

}  // namespace deuteron
