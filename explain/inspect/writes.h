// SPDX-License-Identifier: Apache-2.0
// Which bytes of planned memory hold what: they are written again and again, and an edge is from
// one write to its readers.
#pragma once
#include <algorithm>
#include <vector>

#include "explain/inspect/pte.h"

namespace deuteron {

class Writes {
 public:
  // `by`: what the caller calls the write.
  void add(const PteTensor& t, i32 by) {
    const Write now{t.offset, t.offset + t.bytes, by};
    std::vector<Write> left{now};
    for (const Write& w : list_) {
      if (w.begin < now.begin) left.push_back({w.begin, std::min(w.end, now.begin), w.by});
      if (w.end > now.end) left.push_back({std::max(w.begin, now.end), w.end, w.by});
    }
    list_ = std::move(left);
  }

  // Those whose bytes a read meets, in order, each once.
  std::vector<i32> behind(const PteTensor& t) const {
    std::vector<i32> from;
    for (const Write& w : list_)
      if (w.begin < t.offset + t.bytes && w.end > t.offset) from.push_back(w.by);
    std::sort(from.begin(), from.end());
    from.erase(std::unique(from.begin(), from.end()), from.end());
    return from;
  }

 private:
  struct Write {
    i64 begin, end;
    i32 by;
  };
  std::vector<Write> list_;  // none lies on another
};

}  // namespace deuteron
