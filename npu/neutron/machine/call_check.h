// SPDX-License-Identifier: Apache-2.0
// What the rules of a kernel's call are written with. A call that passes them reads and writes
// within its operands' memories, divides by nothing that is zero and leaves no integer's range.
#pragma once
#include <initializer_list>

#include "npu/neutron/machine/check.h"
#include "npu/neutron/machine/limits.h"

namespace deuteron::neutron {

constexpr bool in(int64_t v, int64_t low, int64_t high) { return v >= low && v <= high; }

// Without gaps.
bool is_dense(const int32_t (&extent)[kMaxRank], const int32_t (&stride)[kMaxRank]);

// Collects the first thing that is wrong with a call.
class CallCheck {
 public:
  explicit CallCheck(const Layout& layout) : layout_(layout) {}

  void need(bool right, Reason reason) {
    if (!right && reason_ == Reason::kNone) reason_ = reason;
  }
  bool right() const { return reason_ == Reason::kNone; }
  Reason reason() const { return reason_; }

  // The number of elements of extents that are all at least 1, or -1.
  int64_t product(std::initializer_list<int32_t> extents);
  int64_t product(const int32_t (&e)[kMaxRank]) {
    return product({e[0], e[1], e[2], e[3], e[4], e[5]});
  }

  // Bytes from the first element of a tensor with strides to behind its last.
  int64_t span(const int32_t* extent, const int32_t* stride, int rank);
  int64_t pixels_span(int32_t n, int32_t h, int32_t w, int32_t channels, int32_t pitch);

  void window(int32_t kernel, int32_t stride, int32_t dilation, int32_t pad,
              int32_t most_kernel = kMostWindow);
  void steps(std::initializer_list<int32_t> values);
  void bounds(int32_t low, int32_t high);
  void shift(int32_t v) { need(in(v, -31, 30), Reason::kQuantization); }

  // `dense`: the same bytes as y's, so that y may be this operand.
  void reads(const Operand& o, int64_t bytes, bool dense = false);
  void reads_constant(const Operand& o, int64_t bytes);
  void reads_params(const Operand& o, int64_t channels) {
    reads_constant(o, kParamBytes * channels);
  }
  // `gaps`: y leaves out bytes between its elements, where operands may lie.
  void writes(const Operand& o, int64_t bytes, bool gaps = false);
  // From the weights section to the SRAM weight scratch.
  void fetches(const Operand& from, const Operand& to, int64_t bytes);

 private:
  struct Read {
    Operand o;
    int64_t bytes;
    bool dense;
  };
  static constexpr int kMostOperands = 4;

  int64_t size_of(const Operand& o) const;
  void within(const Operand& o, int64_t bytes, int64_t size);

  const Layout& layout_;
  Reason reason_ = Reason::kNone;
  Read operand_[kMostOperands];
  int operands_ = 0;
};

}  // namespace deuteron::neutron
