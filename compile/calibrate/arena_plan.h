// SPDX-License-Identifier: Apache-2.0
// Places the float values of a graph in one block of memory, so that running a sample allocates
// nothing and dead values are reused.
#pragma once
#include <map>

#include "base/tensor/type.h"

namespace deuteron {

// First fit over a growing block. Offsets and sizes are in floats, multiples of 16 (one cache
// line).
class ArenaPlan {
 public:
  i64 take(i64 count) {
    const i64 size = padded(count);
    for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
      if (hole->second < size) continue;
      const auto [at, free] = *hole;
      holes_.erase(hole);
      if (free > size) holes_[at + size] = free - size;
      return at;
    }
    if (!holes_.empty()) {  // the last hole may reach the end of the block: grow it
      const auto last = std::prev(holes_.end());
      if (last->first + last->second == size_) {
        const i64 at = last->first;
        holes_.erase(last);
        size_ = at + size;
        return at;
      }
    }
    size_ += size;
    return size_ - size;
  }
  void give_back(i64 at, i64 count) {
    const i64 size = padded(count);
    if (size == 0) return;
    auto hole = holes_.emplace(at, size).first;
    const auto next = std::next(hole);
    if (next != holes_.end() && hole->first + hole->second == next->first) {
      hole->second += next->second;
      holes_.erase(next);
    }
    if (hole == holes_.begin()) return;
    const auto before = std::prev(hole);
    if (before->first + before->second == hole->first) {
      before->second += hole->second;
      holes_.erase(hole);
    }
  }
  i64 size() const { return size_; }

 private:
  static i64 padded(i64 count) { return (count + 15) / 16 * 16; }
  std::map<i64, i64> holes_;  // offset to size
  i64 size_ = 0;
};

}  // namespace deuteron
