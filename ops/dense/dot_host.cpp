#include "ops/dense/dot_host.h"

#include <cstring>

#include "ops/device/host_vectors.h"

namespace deuteron {

#if defined(__x86_64__)
namespace {

inline int32_t word_at(const uint8_t* from) {
  int32_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}
inline const HostPanelNumbers& numbers_of(const int8_t* panel) { return *reinterpret_cast<const HostPanelNumbers*>(panel); }

// The first `count` of sixteen results. Stores under a mask take many times as long as these.
inline void put_some(const int8_t* results, int32_t count, int8_t* to) {
  if ((count & 8) != 0) std::memcpy(to, results, 8), to += 8, results += 8;
  if ((count & 4) != 0) std::memcpy(to, results, 4), to += 4, results += 4;
  if ((count & 2) != 0) std::memcpy(to, results, 2), to += 2, results += 2;
  if ((count & 1) != 0) *to = *results;
}
inline void put(__m128i results, int32_t count, int8_t* to) {
  if (count >= kHostPanel) return _mm_storeu_si128(reinterpret_cast<__m128i*>(to), results);
  if (count == kHostPanel / 2) return _mm_storel_epi64(reinterpret_cast<__m128i*>(to), results);
  alignas(16) int8_t bytes[kHostPanel];
  _mm_store_si128(reinterpret_cast<__m128i*>(bytes), results);
  put_some(bytes, count, to);
}

// Splits `count` windows into groups that differ by one at most, and gives each to the kernel of its size.
template <int32_t kMost>
void run_in_groups(const HostDot& d, const HostDotKernel (&kernels)[kMost], const uint8_t* const* windows, int8_t* const* places,
                   int32_t count) {
  for (int32_t groups = (count + kMost - 1) / kMost; groups > 0; --groups) {
    const int32_t here = (count + groups - 1) / groups;
    kernels[here - 1](d, windows, places, here);
    windows += here, places += here, count -= here;
  }
}

// AVX-512 VNNI: 64 products an instruction. Eight windows share the weights of two panels, which share their bytes: sixteen sums, ten
// loads a step. That is more than the eight sums that the latency of two instructions a cycle asks for, and fewer loads than products.
// Two things are not left to gcc 12, which copies every sum at every step: the multiplication, and the unrolling, of which it makes arrays.

// What makes results of sixteen sums.
struct VnniNumbers {
  __m512i multiplier, odd_multiplier, addend;
};

// The upper halves of products of 64 bits, to whose lower halves a half was added, and to the upper ones the zero point.
template <bool kDoubles>
[[DEUTERON_VNNI_INLINE]] inline __m128i results_of(__m512i sum, const VnniNumbers& n) {
  __m512i even = _mm512_mul_epi32(sum, n.multiplier), odd = _mm512_mul_epi32(_mm512_srli_epi64(sum, 32), n.odd_multiplier);
  if constexpr (kDoubles) even = _mm512_add_epi64(even, even), odd = _mm512_add_epi64(odd, odd);
  even = _mm512_add_epi64(even, n.addend), odd = _mm512_add_epi64(odd, n.addend);
  return _mm512_cvtsepi32_epi8(_mm512_mask_shuffle_epi32(odd, 0x5555, even, _MM_PERM_DDBB));
}

[[DEUTERON_VNNI_INLINE]] inline void add_products(__m512i& sum, __m512i bytes, __m512i weights) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(bytes), "v"(weights));
}

// Of so many windows under so many panels. Each function does its part for window i, then for those behind it.
template <int32_t kWindows, int32_t kPanels, bool kDoubles>
struct VnniSums {
  __m512i s[kWindows][kPanels];

  template <int32_t i = 0>
  [[DEUTERON_VNNI_INLINE]] inline void begin(__m512i first0, __m512i first1) {
    s[i][0] = first0;
    if constexpr (kPanels == 2) s[i][1] = first1;
    if constexpr (i + 1 < kWindows) begin<i + 1>(first0, first1);
  }
  template <int32_t i = 0>
  [[DEUTERON_VNNI_INLINE]] inline void add(const uint8_t* const* windows, int64_t at, __m512i w0, __m512i w1) {
    const __m512i bytes = _mm512_set1_epi32(word_at(windows[i] + at));
    add_products(s[i][0], bytes, w0);
    if constexpr (kPanels == 2) add_products(s[i][1], bytes, w1);
    if constexpr (i + 1 < kWindows) add<i + 1>(windows, at, w0, w1);
  }
  template <int32_t p, int32_t i = 0>
  [[DEUTERON_VNNI_INLINE]] inline void finish(const VnniNumbers& n, int32_t filters, int32_t channel, int8_t* const* places) {
    put(results_of<kDoubles>(s[i][p], n), filters, places[i] + channel);
    if constexpr (i + 1 < kWindows) finish<p, i + 1>(n, filters, channel, places);
  }
};

template <int32_t kWindows, int32_t kPanels, bool kDoubles>
[[DEUTERON_VNNI]] void dot_vnni(const HostDot& d, const uint8_t* const* windows, int8_t* const* places, int32_t) {
  const int8_t *panel0 = d.panels, *panel1 = panel0 + (kPanels - 1) * host_panel_bytes(d.steps);  // of one panel, twice the same
  const HostPanelNumbers &n0 = numbers_of(panel0), &n1 = numbers_of(panel1);
  const int8_t *weights0 = panel0 + sizeof n0, *weights1 = panel1 + sizeof n1;
  VnniSums<kWindows, kPanels, kDoubles> sums;
  sums.begin(_mm512_load_si512(n0.first), _mm512_load_si512(n1.first));
  for (int32_t k = 0; k < d.steps; ++k, weights0 += kHostPanelStep, weights1 += kHostPanelStep)
    sums.add(windows, d.offsets[k], _mm512_load_si512(weights0), _mm512_load_si512(weights1));
  const __m512i addend = _mm512_set1_epi64((int64_t{1} << 31) + int64_t{d.zero} * (int64_t{1} << 32));
  const __m512i m0 = _mm512_load_si512(n0.multiplier), m1 = _mm512_load_si512(n1.multiplier);
  sums.template finish<0>({m0, _mm512_srli_epi64(m0, 32), addend}, d.filters, d.channel, places);
  if constexpr (kPanels == 2)
    sums.template finish<1>({m1, _mm512_srli_epi64(m1, 32), addend}, d.filters - kHostPanel, d.channel + kHostPanel, places);
}

template <int32_t kPanels, bool kDoubles>
inline constexpr HostDotKernel kVnni[8] = {  // the extent is written out: clang 14 does not deduce it in a conditional
    dot_vnni<1, kPanels, kDoubles>, dot_vnni<2, kPanels, kDoubles>, dot_vnni<3, kPanels, kDoubles>, dot_vnni<4, kPanels, kDoubles>,
    dot_vnni<5, kPanels, kDoubles>, dot_vnni<6, kPanels, kDoubles>, dot_vnni<7, kPanels, kDoubles>, dot_vnni<8, kPanels, kDoubles>};

void run_vnni(const HostDot& d, const uint8_t* const* windows, int8_t* const* places, int32_t count) {
  if (d.filters > kHostPanel) run_in_groups(d, d.doubles ? kVnni<2, true> : kVnni<2, false>, windows, places, count);
  else run_in_groups(d, d.doubles ? kVnni<1, true> : kVnni<1, false>, windows, places, count);
}

void fill_vnni(int8_t element, int32_t count, uint8_t* to) { std::memset(to, element + 128, static_cast<size_t>(count)); }

// AVX2: 16 products an instruction, of elements that were widened to int16. Four windows share the weights of a panel.

[[gnu::target("avx2")]] inline __m256i at(const void* from) { return _mm256_load_si256(static_cast<const __m256i*>(from)); }

// As results_of() above, of eight sums.
[[gnu::target("avx2")]] inline __m256i scaled(__m256i sum, __m256i multiplier, __m256i addend, bool doubles) {
  __m256i even = _mm256_mul_epi32(sum, multiplier), odd = _mm256_mul_epi32(_mm256_srli_epi64(sum, 32), _mm256_srli_epi64(multiplier, 32));
  if (doubles) even = _mm256_add_epi64(even, even), odd = _mm256_add_epi64(odd, odd);
  even = _mm256_add_epi64(even, addend), odd = _mm256_add_epi64(odd, addend);
  return _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
}

template <int32_t kWindows>
[[gnu::target("avx2")]] void dot_avx2(const HostDot& d, const uint8_t* const* windows, int8_t* const* places, int32_t) {
  const __m256i addend = _mm256_set1_epi64x((int64_t{1} << 31) + int64_t{d.zero} * (int64_t{1} << 32));
  const int8_t* panel = d.panels;
  for (int32_t done = 0; done < d.filters; done += kHostPanel, panel += host_panel_bytes(d.steps)) {
    const HostPanelNumbers& n = numbers_of(panel);
    __m256i s[kWindows][2];
    for (int32_t i = 0; i < kWindows; ++i) s[i][0] = at(n.first), s[i][1] = at(n.first + 8);
    const int8_t* weights = panel + sizeof n;
    for (int32_t k = 0; k < d.steps; ++k, weights += kHostPanelStep) {
      const __m256i w0 = at(weights), w1 = at(weights + 32);
      for (int32_t i = 0; i < kWindows; ++i) {
        const __m256i pair = _mm256_set1_epi32(word_at(windows[i] + d.offsets[k]));
        s[i][0] = _mm256_add_epi32(s[i][0], _mm256_madd_epi16(pair, w0));
        s[i][1] = _mm256_add_epi32(s[i][1], _mm256_madd_epi16(pair, w1));
      }
    }
    for (int32_t i = 0; i < kWindows; ++i) {
      const __m256i words = _mm256_packs_epi32(scaled(s[i][0], at(n.multiplier), addend, d.doubles),
                                               scaled(s[i][1], at(n.multiplier + 8), addend, d.doubles));
      const __m256i in_order = _mm256_permute4x64_epi64(words, 0xd8);
      put(_mm_packs_epi16(_mm256_castsi256_si128(in_order), _mm256_extracti128_si256(in_order, 1)), d.filters - done,
          places[i] + d.channel + done);
    }
  }
}
void run_avx2(const HostDot& d, const uint8_t* const* windows, int8_t* const* places, int32_t count) {
  static constexpr HostDotKernel kKernels[] = {dot_avx2<1>, dot_avx2<2>, dot_avx2<3>, dot_avx2<4>};
  run_in_groups(d, kKernels, windows, places, count);
}

[[gnu::target("avx2")]] void copy_avx2(const int8_t* from, int32_t count, uint8_t* to) {
  int32_t i = 0;
  for (; i + 16 <= count; i += 16)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 2 * i),
                        _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
  for (; i < count; ++i) {
    const int16_t wide = from[i];
    std::memcpy(to + 2 * i, &wide, sizeof wide);
  }
}
void fill_wide(int8_t element, int32_t count, uint8_t* to) {
  const int16_t wide = element;
  for (int32_t i = 0; i < count; ++i) std::memcpy(to + 2 * i, &wide, sizeof wide);
}

HostKernels<HostDotForm> find_forms() {
  __builtin_cpu_init();  // it is asked before main
  HostKernels<HostDotForm> found{};
  if (host_has_vnni()) found.kernel[found.count++] = {1, 128, copy_as_unsigned, fill_vnni, run_vnni};
  if (__builtin_cpu_supports("avx2")) found.kernel[found.count++] = {2, 0, copy_avx2, fill_wide, run_avx2};
  return found;
}

// Before threads are: a static inside a function would be filled by several of them, as the runtime is built without guards.
const HostKernels<HostDotForm> kForms = find_forms();

}  // namespace

const HostKernels<HostDotForm>& host_dot_forms() { return kForms; }

#else

const HostKernels<HostDotForm>& host_dot_forms() {
  static constexpr HostKernels<HostDotForm> kNone{};
  return kNone;
}

#endif

}  // namespace deuteron
