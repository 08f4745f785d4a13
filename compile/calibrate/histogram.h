// SPDX-License-Identifier: Apache-2.0
// How many numbers fell into each bin of a range, in little memory: there is one histogram for each
// value of a graph and each part of the samples, and most of its bins are empty.
#pragma once
#include <span>
#include <vector>

#include "base/tensor/type.h"

namespace deuteron {

inline constexpr int kHistogramBins = 2048;

class Histogram {
 public:
  Histogram() = default;
  explicit Histogram(std::span<const i64> counts);  // none is negative

  bool empty() const { return size_ == 0; }  // has no bins at all
  size_t size() const { return size_; }
  std::vector<i64> counts() const;
  i64 total() const;
  bool operator==(const Histogram&) const = default;

 private:
  size_t size_ = 0;
  std::vector<u8> coded_;  // for each bin that is not empty: how many empty ones precede it, and
                           // its count; base 128, low digits first
};

// A histogram that is being counted: places of numbers while these are few, and bins from then on.
class HistogramCounter {
 public:
  // bin_of(i) in 0..kHistogramBins-1, i in 0..count-1.
  template <class BinOf>
  void count(size_t count, const BinOf& bin_of) {
    if (bins_.empty() && few_.size() + count > kMaxFew) spill();
    if (bins_.empty())
      for (size_t i = 0; i < count; ++i) few_.push_back(static_cast<uint16_t>(bin_of(i)));
    else
      for (size_t i = 0; i < count; ++i) ++bins_[static_cast<size_t>(bin_of(i))];
  }
  void add_to(std::vector<i64>& counts) const;

 private:
  static constexpr size_t kMaxFew = kHistogramBins;  // a quarter of the memory of all bins
  void spill();
  std::vector<uint16_t> few_;
  std::vector<i64> bins_;
};

}  // namespace deuteron
