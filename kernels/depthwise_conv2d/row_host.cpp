// SPDX-License-Identifier: Apache-2.0
#include "kernels/depthwise_conv2d/row_host.h"

#include <cstring>

#include "kernels/common/host_vectors.h"

namespace deuteron {

#if defined(__x86_64__)
namespace {

// The blocks of a row in turn. What a block gives beyond the end of the list is kept from memory.
class Blocks {
 public:
  Blocks(const HostRow& row, int32_t group, int8_t* y)
      : row_(row), bytes_(host_block_bytes((row.tap_count + group - 1) / group)), y_(y) {}

  bool has_more() const { return at < row_.elements; }
  const HostBlockNumbers& numbers() const {
    return *reinterpret_cast<const HostBlockNumbers*>(row_.blocks + number_ * bytes_);
  }
  const int8_t* weights() const {
    return row_.blocks + number_ * bytes_ + sizeof(HostBlockNumbers);
  }
  int8_t* place() { return is_whole() ? y_ + at : rest_; }
  void next() {
    if (!is_whole()) std::memcpy(y_ + at, rest_, static_cast<size_t>(row_.elements - at));
    at += kHostBlock;
    if (++number_ == row_.periods) number_ = 0;
  }

  int32_t at = 0;  // of the block's first element

 private:
  bool is_whole() const { return row_.elements - at >= kHostBlock; }

  const HostRow& row_;
  const int64_t bytes_;
  int8_t* const y_;
  int32_t number_ = 0;
  int8_t rest_[kHostBlock];
};

inline int64_t addend_of(const HostRow& row) {
  return (int64_t{1} << 31) + int64_t{row.zero} * (int64_t{1} << 32);
}

// AVX-512 VNNI. Sum 16 * q + 4 * l + j is that of element 16 * l + 4 * q + j.

int32_t place_vnni(int32_t e) { return e % 16 / 4 * 16 + e / 16 * 4 + e % 4; }

// requantize(), and the zero point. What is shifted in one step more gets a half added on the way,
// less one where it is negative: ties go away from zero, and nothing leaves int32.
[[DEUTERON_VNNI_INLINE]] inline __m512i results_of(const HostRow& row, const HostBlockNumbers& n,
                                                   int32_t q, __m512i sum) {
  sum = _mm512_sllv_epi32(sum, _mm512_load_si512(n.left + 16 * q));
  const __m512i half = _mm512_set1_epi64(1 << 30);
  const __m512i even =
      _mm512_add_epi64(_mm512_mul_epi32(sum, _mm512_load_si512(n.multiplier + 16 * q)), half);
  const __m512i next =
      _mm512_mul_epi32(_mm512_srli_epi64(sum, 32), _mm512_load_si512(n.next_multiplier + 16 * q));
  const __m512i odd = _mm512_add_epi64(next, half);
  const __m512i high =
      _mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even, 31), _mm512_add_epi64(odd, odd));
  const __m512i halves = _mm512_load_si512(n.halves + 16 * q);
  const __m512i less =
      _mm512_sub_epi32(high, _mm512_and_si512(_mm512_srli_epi32(high, 31), halves));
  const __m512i doubled = _mm512_srav_epi32(less, _mm512_load_si512(n.right_but_one + 16 * q));
  return _mm512_add_epi32(_mm512_srav_epi32(_mm512_add_epi32(doubled, halves), halves),
                          _mm512_set1_epi32(row.zero));
}

// The same of a plain row. `addend`: a half of the upper half, and the zero point.
[[DEUTERON_VNNI_INLINE]] inline __m512i plain_results_of(const HostBlockNumbers& n, int32_t q,
                                                         __m512i sum, __m512i addend) {
  const __m512i even = _mm512_mul_epi32(sum, _mm512_load_si512(n.multiplier + 16 * q));
  const __m512i odd =
      _mm512_mul_epi32(_mm512_srli_epi64(sum, 32), _mm512_load_si512(n.next_multiplier + 16 * q));
  return _mm512_mask_shuffle_epi32(_mm512_add_epi64(odd, addend), 0x5555,
                                   _mm512_add_epi64(even, addend), _MM_PERM_DDBB);
}

[[DEUTERON_VNNI_INLINE]] inline __m512i elements_at(const uint8_t* tap, int32_t at) {
  return _mm512_loadu_si512(tap + at);
}
[[DEUTERON_VNNI_INLINE]] inline __m512i with_products(__m512i sum, __m512i four,
                                                      const int8_t* weights) {
  asm("vpdpbusd %2, %1, %0"
      : "+v"(sum)
      : "v"(four), "m"(*reinterpret_cast<const __m512i*>(weights)));
  return sum;
}

template <bool kIsPlain>
[[DEUTERON_VNNI_INLINE]] inline void block_vnni(const HostRow& row, const HostBlockNumbers& n,
                                                const int8_t* weights, int32_t at, int8_t* y) {
  __m512i s[4];
  for (int32_t q = 0; q < 4; ++q) s[q] = _mm512_load_si512(n.first + 16 * q);
  int32_t t = 0;
  for (; t + 1 < row.tap_count; t += 4, weights += kHostGroupBytes) {
    const uint8_t* const* tap = row.taps + t;
    const __m512i a = elements_at(tap[0], at), b = elements_at(tap[1], at),
                  c = elements_at(tap[2], at), d = elements_at(tap[3], at);
    const __m512i ab = _mm512_unpacklo_epi8(a, b), cd = _mm512_unpacklo_epi8(c, d);
    const __m512i ab_high = _mm512_unpackhi_epi8(a, b), cd_high = _mm512_unpackhi_epi8(c, d);
    s[0] = with_products(s[0], _mm512_unpacklo_epi16(ab, cd), weights);
    s[1] = with_products(s[1], _mm512_unpackhi_epi16(ab, cd), weights + 64);
    s[2] = with_products(s[2], _mm512_unpacklo_epi16(ab_high, cd_high), weights + 128);
    s[3] = with_products(s[3], _mm512_unpackhi_epi16(ab_high, cd_high), weights + 192);
  }
  if (t < row.tap_count) {  // one alone, as of 3 x 3: its elements into the low bytes
    const __m512i a = elements_at(row.taps[t], at), next = _mm512_set1_epi32(4);
    __m512i from = _mm512_broadcast_i32x4(
        _mm_setr_epi32(-256, -255, -254, -253));  // a byte, then three of zero
    for (int32_t q = 0; q < 4; ++q, from = _mm512_add_epi32(from, next))
      s[q] = with_products(s[q], _mm512_shuffle_epi8(a, from), weights + 64 * q);
  }
  const __m512i addend = _mm512_set1_epi64(addend_of(row));
  for (int32_t q = 0; q < 4; ++q)
    s[q] = kIsPlain ? plain_results_of(n, q, s[q], addend) : results_of(row, n, q, s[q]);
  const __m512i all =
      _mm512_packs_epi16(_mm512_packs_epi32(s[0], s[1]), _mm512_packs_epi32(s[2], s[3]));
  const auto min = static_cast<char>(row.min), max = static_cast<char>(row.max);
  _mm512_storeu_si512(
      y, _mm512_min_epi8(_mm512_max_epi8(all, _mm512_set1_epi8(min)), _mm512_set1_epi8(max)));
}

[[DEUTERON_VNNI]] void copy_vnni(const int8_t* from, int64_t step, int32_t elements, int32_t pieces,
                                 uint8_t* to) {
  if (elements > kHostBlock) {
    for (int32_t i = 0; i < pieces; ++i, to += elements)
      copy_as_unsigned(from + i * step, elements, to);
    return;
  }
  const __m512i sign = _mm512_set1_epi8(-128);
  const __mmask64 piece = ~uint64_t{0} >> (kHostBlock - elements);
  for (int32_t i = 0; i < pieces;
       ++i, to += elements)  // what is written behind a piece the next one writes over
    _mm512_storeu_si512(to,
                        _mm512_xor_si512(sign, _mm512_maskz_loadu_epi8(piece, from + i * step)));
}

template <bool kIsPlain>
[[DEUTERON_VNNI]] void run_blocks_vnni(const HostRow& row, int8_t* y) {
  for (Blocks b(row, 4, y); b.has_more(); b.next())
    block_vnni<kIsPlain>(row, b.numbers(), b.weights(), b.at, b.place());
}
void run_vnni(const HostRow& row, int8_t* y) {
  row.is_plain ? run_blocks_vnni<true>(row, y) : run_blocks_vnni<false>(row, y);
}

// AVX2, sixteen elements at a time. Sum 16 * v + 8 * q + 4 * l + j is that of element 16 * v + 8 *
// l + 4 * q + j.

#define DEUTERON_AVX2 gnu::target("avx2"), gnu::always_inline

int32_t place_avx2(int32_t e) { return e / 16 * 16 + e % 8 / 4 * 8 + e % 16 / 8 * 4 + e % 4; }

[[DEUTERON_AVX2]] inline __m256i at_avx2(const void* from) {
  return _mm256_load_si256(static_cast<const __m256i*>(from));
}

// As results_of() and plain_results_of() above, of eight sums.
[[DEUTERON_AVX2]] inline __m256i results_avx2(const HostRow& row, const HostBlockNumbers& n,
                                              int32_t first, __m256i sum) {
  sum = _mm256_sllv_epi32(sum, at_avx2(n.left + first));
  const __m256i half = _mm256_set1_epi64x(1 << 30);
  const __m256i even = _mm256_add_epi64(_mm256_mul_epi32(sum, at_avx2(n.multiplier + first)), half);
  const __m256i odd = _mm256_add_epi64(
      _mm256_mul_epi32(_mm256_srli_epi64(sum, 32), at_avx2(n.next_multiplier + first)), half);
  const __m256i high =
      _mm256_blend_epi32(_mm256_srli_epi64(even, 31), _mm256_add_epi64(odd, odd), 0xaa);
  const __m256i halves = at_avx2(n.halves + first);
  const __m256i less =
      _mm256_sub_epi32(high, _mm256_and_si256(_mm256_srli_epi32(high, 31), halves));
  const __m256i doubled = _mm256_srav_epi32(less, at_avx2(n.right_but_one + first));
  return _mm256_add_epi32(_mm256_srav_epi32(_mm256_add_epi32(doubled, halves), halves),
                          _mm256_set1_epi32(row.zero));
}
[[DEUTERON_AVX2]] inline __m256i plain_results_avx2(const HostRow& row, const HostBlockNumbers& n,
                                                    int32_t first, __m256i sum) {
  const __m256i addend = _mm256_set1_epi64x(addend_of(row));
  const __m256i even =
      _mm256_add_epi64(_mm256_mul_epi32(sum, at_avx2(n.multiplier + first)), addend);
  const __m256i odd = _mm256_add_epi64(
      _mm256_mul_epi32(_mm256_srli_epi64(sum, 32), at_avx2(n.next_multiplier + first)), addend);
  return _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
}

[[DEUTERON_AVX2]] inline __m256i wide_at(const HostRow& row, int32_t tap, int32_t at) {
  return _mm256_cvtepi8_epi16(
      _mm_loadu_si128(reinterpret_cast<const __m128i*>(row.taps[tap] + at)));
}

[[DEUTERON_AVX2]] inline void block_avx2(const HostRow& row, const HostBlockNumbers& n,
                                         const int8_t* weights, int32_t at, int8_t* y) {
  for (int32_t e = 0; e < kHostBlock; e += 16) {
    __m256i low = at_avx2(n.first + e), high = at_avx2(n.first + e + 8);
    const int8_t* w = weights + 4 * e;
    for (int32_t t = 0; t < row.tap_count; t += 2, w += kHostGroupBytes) {
      const __m256i a = wide_at(row, t, at + e), b = wide_at(row, t + 1, at + e);
      low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), at_avx2(w)));
      high =
          _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), at_avx2(w + 32)));
    }
    const __m256i words = row.is_plain ? _mm256_packs_epi32(plain_results_avx2(row, n, e, low),
                                                            plain_results_avx2(row, n, e + 8, high))
                                       : _mm256_packs_epi32(results_avx2(row, n, e, low),
                                                            results_avx2(row, n, e + 8, high));
    const __m128i all =
        _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    const __m128i min = _mm_set1_epi8(static_cast<char>(row.min)),
                  max = _mm_set1_epi8(static_cast<char>(row.max));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y + e), _mm_min_epi8(_mm_max_epi8(all, min), max));
  }
}

[[gnu::target("avx2")]] void run_avx2(const HostRow& row, int8_t* y) {
  for (Blocks b(row, 2, y); b.has_more(); b.next())
    block_avx2(row, b.numbers(), b.weights(), b.at, b.place());
}

void copy_plainly(const int8_t* from, int64_t step, int32_t elements, int32_t pieces, uint8_t* to) {
  for (int32_t i = 0; i < pieces; ++i, to += elements)
    std::memcpy(to, from + i * step, static_cast<size_t>(elements));
}

HostKernels<HostRowForm> find_forms() {
  __builtin_cpu_init();  // it is asked before main
  HostKernels<HostRowForm> found{};
  if (host_has_vnni()) found.kernel[found.count++] = {4, 1, 128, place_vnni, copy_vnni, run_vnni};
  if (__builtin_cpu_supports("avx2"))
    found.kernel[found.count++] = {2, 2, 0, place_avx2, copy_plainly, run_avx2};
  return found;
}

// Before threads are: a static inside a function would be filled by several of them, as the runtime
// is built without guards.
const HostKernels<HostRowForm> kForms = find_forms();

}  // namespace

const HostKernels<HostRowForm>& host_row_forms() { return kForms; }

#else

const HostKernels<HostRowForm>& host_row_forms() {
  static constexpr HostKernels<HostRowForm> kNone{};
  return kNone;
}

#endif

}  // namespace deuteron
