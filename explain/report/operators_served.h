// SPDX-License-Identifier: Apache-2.0
// Which of the user's operators a kernel works for: those that it computes, else those that what
// the compiler added stands before or behind.
#pragma once
#include <vector>

#include "compile/compilation.h"

namespace deuteron {

// Operators have ids from 0 in their order; quantizers of a model that came quantized have none.
class OperatorsServed {
 public:
  explicit OperatorsServed(const Compilation& compilation);

  i32 count() const { return count_; }
  // -1: a quantizer's.
  i32 id_of(i32 source) const {
    return source >= 0 && source < static_cast<i32>(id_.size()) ? id_[source] : -1;
  }
  std::vector<i32> own(const Origin& origin) const;

  // One of these operators moves elements itself, so a kernel that does so is not an addition.
  bool has_move(const Origin& origin) const;
  // The operators that the quantizers of an origin stand before (or behind, at the end).
  std::vector<i32> served_by_quantizers(const Origin& origin) const;

  struct Attribution {
    std::vector<i32> operators;
    bool added = false;
  };
  Attribution attribute(size_t node, const KernelCall& call) const;

 private:
  void find_computed();
  bool is_at_border(i32 source, const Origin& delegate, bool reads) const;
  std::vector<i32> ports_of(ValueId v, const std::vector<Port>& ports) const;
  std::vector<i32> at_ports(const std::vector<i32>& ports, bool down) const;
  std::vector<i32> served_by(size_t n, bool down) const;

  const Compilation& c_;
  const Graph& g_;
  const Uses uses_;
  std::vector<i32> id_;  // by source
  i32 count_ = 0;
  std::vector<bool> computed_;
};

}  // namespace deuteron
