// SPDX-License-Identifier: Apache-2.0
// See ed25519.h. RFC 8032, sections 5.1.1 to 5.1.7; SHA-512: FIPS 180-4. Numbers modulo p = 2^255 -
// 19 are eight words, below 2^256.
#include "ed25519.h"

#include <cstring>

namespace deuteron::test {
namespace {

// Fractions of the roots of the first primes: square roots of 8, cube roots of 80 (FIPS
// 180-4, 4.2.3 and 5.3.5).
constexpr uint64_t kStart[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
constexpr uint64_t kRound[80] = {
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc,
    0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118,
    0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2,
    0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694,
    0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5,
    0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4,
    0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70,
    0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df,
    0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30,
    0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8,
    0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8,
    0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3,
    0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b,
    0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178,
    0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b,
    0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c,
    0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817};

uint64_t turn(uint64_t v, int by) { return v >> by | v << (64 - by); }

class Sha512 {
 public:
  Sha512() { std::memcpy(state_, kStart, sizeof state_); }
  void add(const uint8_t* bytes, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      block_[count_++ % 128] = bytes[i];
      if (count_ % 128 == 0) mix();
    }
  }
  void end(uint8_t* digest) {
    const uint64_t bits = count_ * 8;
    const uint8_t one = 0x80, zero = 0;
    add(&one, 1);
    while (count_ % 128 != 120) add(&zero, 1);
    for (int i = 0; i < 8; ++i) {
      const auto byte = static_cast<uint8_t>(bits >> (56 - 8 * i));
      add(&byte, 1);
    }
    for (int i = 0; i < 64; ++i)
      digest[i] = static_cast<uint8_t>(state_[i / 8] >> (56 - 8 * (i % 8)));
  }

 private:
  void mix() {
    uint64_t w[80], v[8];
    for (int i = 0; i < 16; ++i) {
      w[i] = 0;
      for (int k = 0; k < 8; ++k) w[i] = w[i] << 8 | block_[8 * i + k];
    }
    for (int i = 16; i < 80; ++i) {
      const uint64_t a = w[i - 15], b = w[i - 2];
      w[i] = w[i - 16] + w[i - 7] + (turn(a, 1) ^ turn(a, 8) ^ a >> 7) +
             (turn(b, 19) ^ turn(b, 61) ^ b >> 6);
    }
    std::memcpy(v, state_, sizeof v);
    for (int i = 0; i < 80; ++i) {
      const uint64_t a = v[0], e = v[4];
      const uint64_t first = v[7] + (turn(e, 14) ^ turn(e, 18) ^ turn(e, 41)) +
                             ((e & v[5]) ^ (~e & v[6])) + kRound[i] + w[i];
      const uint64_t second =
          (turn(a, 28) ^ turn(a, 34) ^ turn(a, 39)) + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
      std::memmove(v + 1, v, 7 * sizeof *v);
      v[4] += first;
      v[0] = first + second;
    }
    for (int i = 0; i < 8; ++i) state_[i] += v[i];
  }
  uint64_t state_[8], count_ = 0;
  uint8_t block_[128] = {};
};

struct Number {
  uint32_t w[8];
};

// `carry` times 2^256 is `carry` times 38.
void fold(Number& r, uint64_t carry) {
  while (carry != 0) {
    carry *= 38;
    for (uint32_t& word : r.w) {
      carry += word;
      word = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
  }
}
Number plus(const Number& a, const Number& b) {
  Number r;
  uint64_t carry = 0;
  for (int i = 0; i < 8; ++i) {
    carry += uint64_t{a.w[i]} + b.w[i];
    r.w[i] = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
  fold(r, carry);
  return r;
}
Number minus(const Number& a, const Number& b) {
  Number r;
  int64_t borrow = 0;
  for (int i = 0; i < 8; ++i) {
    borrow += int64_t{a.w[i]} - b.w[i];
    r.w[i] = static_cast<uint32_t>(borrow);
    borrow >>= 32;
  }
  while (borrow != 0) {  // 2^256 was borrowed: 38 are too many
    borrow = -38;
    for (uint32_t& word : r.w) {
      borrow += word;
      word = static_cast<uint32_t>(borrow);
      borrow >>= 32;
    }
  }
  return r;
}
Number times(const Number& a, const Number& b) {
  uint32_t all[16] = {};
  for (int i = 0; i < 8; ++i) {
    uint64_t carry = 0;
    for (int k = 0; k < 8; ++k) {
      carry += uint64_t{a.w[i]} * b.w[k] + all[i + k];
      all[i + k] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    all[i + 8] = static_cast<uint32_t>(carry);
  }
  Number r;
  uint64_t carry = 0;
  for (int i = 0; i < 8; ++i) {
    carry += all[i] + uint64_t{38} * all[i + 8];
    r.w[i] = static_cast<uint32_t>(carry);
    carry >>= 32;
  }
  fold(r, carry);
  return r;
}
Number small(uint32_t v) { return {{v}}; }
// a to the power 2^bits - less: the exponents of inverse and roots.
Number power(const Number& a, int bits, uint32_t less) {
  Number r = small(1);
  for (int i = bits - 1; i >= 0; --i) {
    r = times(r, r);
    // Below 2^bits, 2^bits - less is ones over the low bits of -less.
    if (i >= 32 || ((0u - less) >> i & 1) != 0) r = times(r, a);
  }
  return r;
}
void write(Number a, uint8_t* bytes) {
  for (int twice = 0; twice < 2; ++twice) {  // 2^255 is 19
    const uint32_t top = a.w[7] >> 31;
    a.w[7] &= 0x7fffffff;
    uint64_t carry = 19 * top;
    for (uint32_t& word : a.w) {
      carry += word;
      word = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
  }
  bool is_over = a.w[7] == 0x7fffffff && a.w[0] >= 0xffffffed;
  for (int i = 1; i < 7; ++i) is_over &= a.w[i] == 0xffffffff;
  if (is_over) a = small(a.w[0] - 0xffffffed);
  for (int i = 0; i < 32; ++i) bytes[i] = static_cast<uint8_t>(a.w[i / 4] >> (8 * (i % 4)));
}
bool same(const Number& a, const Number& b) {
  uint8_t x[32], y[32];
  write(a, x), write(b, y);
  return std::memcmp(x, y, 32) == 0;
}
bool is_odd(const Number& a) {
  uint8_t x[32];
  write(a, x);
  return x[0] & 1;
}

struct Point {
  Number x, y, z, t;
};
Number curve_d() { return times(minus(small(0), small(121665)), power(small(121666), 255, 21)); }

Point sum(const Point& p, const Point& q, const Number& d) {  // 5.1.4
  const Number a = times(minus(p.y, p.x), minus(q.y, q.x)),
               b = times(plus(p.y, p.x), plus(q.y, q.x));
  const Number tt = times(times(p.t, q.t), d), zz = times(p.z, q.z), c = plus(tt, tt),
               g = plus(zz, zz);
  const Number e = minus(b, a), f = minus(g, c), h = plus(b, a), s = plus(g, c);
  return {times(e, f), times(s, h), times(f, s), times(e, h)};
}
Point multiple(const Point& p, const uint8_t* scalar, int bytes, const Number& d) {
  Point r{small(0), small(1), small(1), small(0)};
  for (int i = 8 * bytes - 1; i >= 0; --i) {
    r = sum(r, r, d);
    if (scalar[i / 8] >> (i % 8) & 1) r = sum(r, p, d);
  }
  return r;
}
bool read(const uint8_t* bytes, const Number& d, Point* p) {  // 5.1.3
  Number y;
  for (int i = 0; i < 8; ++i) {
    y.w[i] = 0;
    for (int k = 3; k >= 0; --k) y.w[i] = y.w[i] << 8 | bytes[4 * i + k];
  }
  const bool odd = y.w[7] >> 31;
  y.w[7] &= 0x7fffffff;
  uint8_t again[32];
  write(y, again);
  again[31] = static_cast<uint8_t>(again[31] | odd << 7);
  if (std::memcmp(again, bytes, 32) != 0) return false;  // not below p
  const Number yy = times(y, y), u = minus(yy, small(1)), v = plus(times(d, yy), small(1));
  const Number v3 = times(times(v, v), v);
  Number x = times(times(u, v3), power(times(u, times(times(v3, v3), v)), 252, 3));
  if (const Number vxx = times(v, times(x, x)); !same(vxx, u)) {
    if (!same(vxx, minus(small(0), u))) return false;
    const Number root = power(small(2), 253, 5);  // of -1
    x = times(x, root);
  }
  if (same(x, small(0)) && odd) return false;
  if (is_odd(x) != odd) x = minus(small(0), x);
  *p = {x, y, small(1), times(x, y)};
  return true;
}

constexpr uint8_t kOrder[32] = {0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7,
                                0xa2, 0xde, 0xf9, 0xde, 0x14, 0,    0,    0,    0,    0,    0,
                                0,    0,    0,    0,    0,    0,    0,    0,    0,    0x10};
bool is_below_order(const uint8_t* scalar) {
  for (int i = 31; i >= 0; --i)
    if (scalar[i] != kOrder[i]) return scalar[i] < kOrder[i];
  return false;
}

}  // namespace

bool verify_ed25519_slowly(void*, const uint8_t* public_key, const uint8_t* message, size_t bytes,
                           const uint8_t* signature) {
  const Number d = curve_d();
  uint8_t base_y[32];
  std::memset(base_y, 0x66, sizeof base_y);  // 4/5; its x is even
  base_y[0] = 0x58;
  Point a, base;
  if (!is_below_order(signature + 32) || !read(public_key, d, &a) || !read(base_y, d, &base))
    return false;
  uint8_t k[64], r[32];
  Sha512 hash;
  hash.add(signature, 32), hash.add(public_key, 32), hash.add(message, bytes);
  hash.end(k);
  a.x = minus(small(0), a.x), a.t = minus(small(0), a.t);
  const Point p = sum(multiple(base, signature + 32, 32, d), multiple(a, k, 64, d),
                      d);  // [S]B - [k]A, which is R
  const Number inverse = power(p.z, 255, 21), x = times(p.x, inverse);
  write(times(p.y, inverse), r);
  r[31] = static_cast<uint8_t>(r[31] | is_odd(x) << 7);
  return std::memcmp(r, signature, 32) == 0;
}

}  // namespace deuteron::test
