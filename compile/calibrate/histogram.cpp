// SPDX-License-Identifier: Apache-2.0
#include "compile/calibrate/histogram.h"

#include <utility>

namespace deuteron {

namespace {

void put(std::vector<u8>& bytes, uint64_t number) {
  for (; number >= 128; number >>= 7) bytes.push_back(static_cast<u8>(number | 128));
  bytes.push_back(static_cast<u8>(number));
}

uint64_t take(const std::vector<u8>& bytes, size_t& at) {
  uint64_t number = bytes[at] & 127u;
  for (unsigned shift = 7; bytes[at++] & 128; shift += 7)
    number |= static_cast<uint64_t>(bytes[at] & 127u) << shift;
  return number;
}

}  // namespace

Histogram::Histogram(std::span<const i64> counts) : size_(counts.size()) {
  size_t empty_before = 0;
  for (const i64 count : counts) {
    if (count == 0) {
      ++empty_before;
      continue;
    }
    put(coded_, std::exchange(empty_before, 0));
    put(coded_, static_cast<uint64_t>(count));
  }
  coded_.shrink_to_fit();
}

std::vector<i64> Histogram::counts() const {
  std::vector<i64> counts(size_);
  size_t bin = 0;
  for (size_t at = 0; at < coded_.size(); ++bin) {
    bin += take(coded_, at);
    counts[bin] = static_cast<i64>(take(coded_, at));
  }
  return counts;
}

i64 Histogram::total() const {
  i64 total = 0;
  for (size_t at = 0; at < coded_.size();) {
    take(coded_, at);
    total += static_cast<i64>(take(coded_, at));
  }
  return total;
}

void HistogramCounter::add_to(std::vector<i64>& counts) const {
  for (const uint16_t bin : few_) ++counts[bin];
  for (size_t b = 0; b < bins_.size(); ++b) counts[b] += bins_[b];
}

void HistogramCounter::spill() {
  std::vector<i64> bins(kHistogramBins);
  add_to(bins);
  bins_ = std::move(bins);
  few_ = std::vector<uint16_t>();
}

}  // namespace deuteron
