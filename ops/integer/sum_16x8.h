// Sums of products of int16 and int8 in 64 bits, and TFLite's way from such a sum to int16: with a multiplier of 15 bits, rounded once.
#pragma once
#include <cstdint>

namespace deuteron {

// A product is at most 2^22: so many fit int32. What 32 bits hold is added to 64 once it is full.
inline constexpr int32_t kMostProducts16x8 = 511;

class Sum16x8 {
 public:
  void add(const int16_t* x, const int8_t* weight, int32_t count) {
    while (count > 0) {
      if (room_ == 0) flush();
      const int32_t now = count < room_ ? count : room_;
      for (int32_t i = 0; i < now; ++i) part_ += x[i] * weight[i];
      x += now, weight += now, count -= now, room_ -= now;
    }
  }
  int64_t total() const { return sum_ + part_; }

 private:
  void flush() { sum_ += part_, part_ = 0, room_ = kMostProducts16x8; }
  int64_t sum_ = 0;
  int32_t part_ = 0, room_ = kMostProducts16x8;
};

// (sum * multiplier + 2^(shift-1)) >> shift, of which 32 bits are kept: multiplier 0..32767, shift 1..46; halves up. The product is taken
// modulo 2^64. Source: TFLite's MultiplyByQuantizedMultiplier of int64.
inline constexpr int32_t kLeastShift16x8 = 1, kMostShift16x8 = 46;
inline int32_t requantize_16x8(int64_t sum, int32_t multiplier, int32_t shift) {
  const uint64_t product = static_cast<uint64_t>(sum) * static_cast<uint64_t>(multiplier) + (uint64_t{1} << (shift - 1));
  return static_cast<int32_t>(static_cast<int64_t>(product) >> shift);
}
// first + sum, modulo 2^64.
inline int64_t sum_from(int64_t first, int64_t sum) {
  return static_cast<int64_t>(static_cast<uint64_t>(first) + static_cast<uint64_t>(sum));
}

}  // namespace deuteron
