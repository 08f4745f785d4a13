// SPDX-License-Identifier: Apache-2.0
#include "kernels/dense/dot_host.h"

#include <cstring>

#include "kernels/common/host_vectors.h"

namespace deuteron {

#if defined(__x86_64__)
namespace {

inline int32_t word_at(const uint8_t* from) {
  int32_t word;
  std::memcpy(&word, from, sizeof word);
  return word;
}
inline const HostPanelNumbers& numbers_of(const int8_t* panel) {
  return *reinterpret_cast<const HostPanelNumbers*>(panel);
}

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

// Splits `count` windows into groups that differ by one at most, and gives each to the kernel of
// its size.
template <int32_t kMost>
void run_in_groups(const HostDot& d, const HostDotKernel (&kernels)[kMost],
                   const uint8_t* const* windows, int8_t* const* places, int32_t count) {
  for (int32_t groups = (count + kMost - 1) / kMost; groups > 0; --groups) {
    const int32_t here = (count + groups - 1) / groups;
    kernels[here - 1](d, windows, places, here);
    windows += here, places += here, count -= here;
  }
}

// AVX-512 VNNI: 64 products an instruction. Eight windows share the weights of two panels, which
// share their bytes: sixteen sums, ten loads a step. That is more than the eight sums that the
// latency of two instructions a cycle asks for, and fewer loads than products. Two things are not
// left to gcc 12, which copies every sum at every step: the multiplication, and the unrolling, of
// which it makes arrays.

// What makes results of sixteen sums.
struct VnniNumbers {
  __m512i multiplier, odd_multiplier, addend;
  __m512i shift, right, half, zero;  // HostEnd::shifted
};

template <HostEnd kEnd>
[[DEUTERON_VNNI_INLINE]] inline VnniNumbers vnni_numbers(const HostPanelNumbers& n, int32_t zero) {
  const __m512i m = _mm512_load_si512(n.multiplier), odd = _mm512_srli_epi64(m, 32);
  const int64_t round = int64_t{1} << 31;
  if constexpr (kEnd != HostEnd::shifted)
    return {m, odd, _mm512_set1_epi64(round + int64_t{zero} * (int64_t{1} << 32)), m, m, m, m};
  const __m512i shift = _mm512_load_si512(n.shift), one = _mm512_set1_epi32(1);
  const __m512i right =
      _mm512_and_si512(_mm512_sub_epi32(_mm512_setzero_si512(), shift), _mm512_set1_epi32(31));
  const __m512i half = _mm512_srli_epi32(_mm512_sllv_epi32(one, right), 1);
  return {m,
          odd,
          _mm512_set1_epi64(n.shift[0] > 0 ? 0 : round),
          shift,
          right,
          half,
          _mm512_set1_epi32(zero)};
}

// The upper halves of products of 64 bits, to whose lower halves a half was added, and to the upper
// ones the zero point, if no shift follows. What is negative and has a shift loses one before it,
// so that halves go away from zero.
template <HostEnd kEnd>
[[DEUTERON_VNNI_INLINE]] inline __m128i results_of(__m512i sum, const VnniNumbers& n) {
  __m512i even = _mm512_mul_epi32(sum, n.multiplier),
          odd = _mm512_mul_epi32(_mm512_srli_epi64(sum, 32), n.odd_multiplier);
  if constexpr (kEnd != HostEnd::plain)
    even = _mm512_add_epi64(even, even), odd = _mm512_add_epi64(odd, odd);
  even = _mm512_add_epi64(even, n.addend), odd = _mm512_add_epi64(odd, n.addend);
  __m512i words = _mm512_mask_shuffle_epi32(odd, 0x5555, even, _MM_PERM_DDBB);
  if constexpr (kEnd == HostEnd::shifted) {
    words = _mm512_add_epi32(words, _mm512_srai_epi32(_mm512_and_si512(words, n.shift), 31));
    words = _mm512_add_epi32(_mm512_srav_epi32(_mm512_add_epi32(words, n.half), n.right), n.zero);
  }
  return _mm512_cvtsepi32_epi8(words);
}

[[DEUTERON_VNNI_INLINE]] inline void add_products(__m512i& sum, __m512i bytes, __m512i weights) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(bytes), "v"(weights));
}

// Of so many windows under so many panels. Each function does its part for window i, then for those
// behind it.
template <int32_t kWindows, int32_t kPanels, HostEnd kEnd>
struct VnniSums {
  __m512i s[kWindows][kPanels];

  template <int32_t i = 0>
  [[DEUTERON_VNNI_INLINE]] inline void begin(__m512i first0, __m512i first1) {
    s[i][0] = first0;
    if constexpr (kPanels == 2) s[i][1] = first1;
    if constexpr (i + 1 < kWindows) begin<i + 1>(first0, first1);
  }
  template <int32_t i = 0>
  [[DEUTERON_VNNI_INLINE]] inline void add(const uint8_t* const* windows, int64_t at, __m512i w0,
                                           __m512i w1) {
    const __m512i bytes = _mm512_set1_epi32(word_at(windows[i] + at));
    add_products(s[i][0], bytes, w0);
    if constexpr (kPanels == 2) add_products(s[i][1], bytes, w1);
    if constexpr (i + 1 < kWindows) add<i + 1>(windows, at, w0, w1);
  }
  template <int32_t p, int32_t i = 0>
  [[DEUTERON_VNNI_INLINE]] inline void finish(const VnniNumbers& n, int32_t filters,
                                              int32_t channel, int8_t* const* places) {
    put(results_of<kEnd>(s[i][p], n), filters, places[i] + channel);
    if constexpr (i + 1 < kWindows) finish<p, i + 1>(n, filters, channel, places);
  }
};

template <int32_t kWindows, int32_t kPanels, HostEnd kEnd>
[[DEUTERON_VNNI]] void dot_vnni(const HostDot& d, const uint8_t* const* windows,
                                int8_t* const* places, int32_t) {
  const int8_t *panel0 = d.panels,
               *panel1 = panel0 +
                         (kPanels - 1) * host_panel_bytes(d.steps);  // of one panel, twice the same
  const HostPanelNumbers &n0 = numbers_of(panel0), &n1 = numbers_of(panel1);
  const int8_t *weights0 = panel0 + sizeof n0, *weights1 = panel1 + sizeof n1;
  VnniSums<kWindows, kPanels, kEnd> sums;
  sums.begin(_mm512_load_si512(n0.first), _mm512_load_si512(n1.first));
  for (int32_t k = 0; k < d.steps; ++k, weights0 += kHostPanelStep, weights1 += kHostPanelStep)
    sums.add(windows, d.offsets[k], _mm512_load_si512(weights0), _mm512_load_si512(weights1));
  sums.template finish<0>(vnni_numbers<kEnd>(n0, d.zero), d.filters, d.channel, places);
  if constexpr (kPanels == 2)
    sums.template finish<1>(vnni_numbers<kEnd>(n1, d.zero), d.filters - kHostPanel,
                            d.channel + kHostPanel, places);
}

template <int32_t kPanels, HostEnd kEnd>
inline constexpr HostDotKernel kVnni[8] = {dot_vnni<1, kPanels, kEnd>, dot_vnni<2, kPanels, kEnd>,
                                           dot_vnni<3, kPanels, kEnd>, dot_vnni<4, kPanels, kEnd>,
                                           dot_vnni<5, kPanels, kEnd>, dot_vnni<6, kPanels, kEnd>,
                                           dot_vnni<7, kPanels, kEnd>, dot_vnni<8, kPanels, kEnd>};

template <HostEnd kEnd>
void run_vnni_to(const HostDot& d, const uint8_t* const* windows, int8_t* const* places,
                 int32_t count) {
  if (d.filters > kHostPanel) run_in_groups(d, kVnni<2, kEnd>, windows, places, count);
  else run_in_groups(d, kVnni<1, kEnd>, windows, places, count);
}
void run_vnni(const HostDot& d, const uint8_t* const* windows, int8_t* const* places,
              int32_t count) {
  if (d.end == HostEnd::plain) run_vnni_to<HostEnd::plain>(d, windows, places, count);
  else if (d.end == HostEnd::doubled) run_vnni_to<HostEnd::doubled>(d, windows, places, count);
  else run_vnni_to<HostEnd::shifted>(d, windows, places, count);
}

void fill_vnni(int8_t element, int32_t count, uint8_t* to) {
  std::memset(to, element + 128, static_cast<size_t>(count));
}

// AVX2: 16 products an instruction, of elements that were widened to int16. Four windows share the
// weights of a panel.

[[gnu::target("avx2")]] inline __m256i at(const void* from) {
  return _mm256_load_si256(static_cast<const __m256i*>(from));
}

// As results_of() above, of the eight sums from filter `first` on.
[[gnu::target("avx2")]] inline __m256i scaled(__m256i sum, const HostPanelNumbers& n, int32_t first,
                                              __m256i addend, const HostDot& d) {
  const __m256i multiplier = at(n.multiplier + first);
  __m256i even = _mm256_mul_epi32(sum, multiplier),
          odd = _mm256_mul_epi32(_mm256_srli_epi64(sum, 32), _mm256_srli_epi64(multiplier, 32));
  if (d.end != HostEnd::plain)
    even = _mm256_add_epi64(even, even), odd = _mm256_add_epi64(odd, odd);
  even = _mm256_add_epi64(even, addend), odd = _mm256_add_epi64(odd, addend);
  const __m256i words = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
  if (d.end != HostEnd::shifted) return words;
  const __m256i shift = at(n.shift + first), one = _mm256_set1_epi32(1);
  const __m256i right =
      _mm256_and_si256(_mm256_sub_epi32(_mm256_setzero_si256(), shift), _mm256_set1_epi32(31));
  const __m256i half = _mm256_srli_epi32(_mm256_sllv_epi32(one, right), 1);
  const __m256i towards =
      _mm256_add_epi32(words, _mm256_srai_epi32(_mm256_and_si256(words, shift), 31));
  return _mm256_add_epi32(_mm256_srav_epi32(_mm256_add_epi32(towards, half), right),
                          _mm256_set1_epi32(d.zero));
}

template <int32_t kWindows>
[[gnu::target("avx2")]] void dot_avx2(const HostDot& d, const uint8_t* const* windows,
                                      int8_t* const* places, int32_t) {
  const int64_t round = int64_t{1} << 31;
  const __m256i rounds = _mm256_set1_epi64x(
      d.end == HostEnd::shifted ? round : round + int64_t{d.zero} * (int64_t{1} << 32));
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
    const __m256i addend =
        d.end == HostEnd::shifted && n.shift[0] > 0 ? _mm256_setzero_si256() : rounds;
    for (int32_t i = 0; i < kWindows; ++i) {
      const __m256i words =
          _mm256_packs_epi32(scaled(s[i][0], n, 0, addend, d), scaled(s[i][1], n, 8, addend, d));
      const __m256i in_order = _mm256_permute4x64_epi64(words, 0xd8);
      put(_mm_packs_epi16(_mm256_castsi256_si128(in_order), _mm256_extracti128_si256(in_order, 1)),
          d.filters - done, places[i] + d.channel + done);
    }
  }
}
void run_avx2(const HostDot& d, const uint8_t* const* windows, int8_t* const* places,
              int32_t count) {
  static constexpr HostDotKernel kKernels[] = {dot_avx2<1>, dot_avx2<2>, dot_avx2<3>, dot_avx2<4>};
  run_in_groups(d, kKernels, windows, places, count);
}

[[gnu::target("avx2")]] void copy_avx2(const int8_t* from, int32_t count, uint8_t* to) {
  int32_t i = 0;
  for (; i + 16 <= count; i += 16)
    _mm256_storeu_si256(
        reinterpret_cast<__m256i*>(to + 2 * i),
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
  if (host_has_vnni())
    found.kernel[found.count++] = {1, 128, copy_as_unsigned, fill_vnni, run_vnni};
  if (__builtin_cpu_supports("avx2"))
    found.kernel[found.count++] = {2, 0, copy_avx2, fill_wide, run_avx2};
  return found;
}

// Before threads are: a static inside a function would be filled by several of them, as the runtime
// is built without guards.
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
