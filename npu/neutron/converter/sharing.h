// SPDX-License-Identifier: Apache-2.0
// Which tensors share memory. Sharing is a forest: a tensor may lie inside one other. Decided in
// the order of the operations, refused where a kernel could not follow.
#pragma once
#include "npu/neutron/converter/fuse.h"

namespace deuteron::neutron {

class Sharing {
 public:
  explicit Sharing(Model& m);

  const Operation& operation(size_t i) const { return m_.operations[i]; }
  const Type& type(TensorId t) const { return m_.type(t); }

  // What a definition's `share` may ask for; each answers whether it could be had.
  // The result is the bytes of operand 0.
  bool as_view(const Operation& s);
  // The result is every stride-th element of operand 0 from `begin` on: a run of it, or a run of
  // the channels of every pixel.
  bool as_slice(const Operation& s, const Axes& begin, const Axes& stride);
  // Operand `part` is made where the concatenation along `axis` wants it.
  bool as_part(size_t operation, i64 axis, size_t part);

  // After all other sharing, which it must not get in the way of.
  void overwrite_operands();

  // Where a tensor lies.
  TensorId root_of(TensorId t) const;
  i64 offset_of(TensorId t) const;
  i64 pitch_of(TensorId t) const;
  i64 output_of(TensorId root) const { return output_[root]; }  // or -1
  i64 input_of(TensorId t) const;                               // or -1

 private:
  struct Link {
    TensorId parent = kNoTensor;
    i64 offset = 0;
    bool pitched = false;  // inside the parent's pixels
    bool must_be_dense = false;
  };

  bool is_fixed(TensorId t) const { return m_.is_constant(t) || input_of(t) >= 0; }
  bool is_dense(TensorId t) const { return !link_[t].pitched; }
  bool covers_root(TensorId t) const;
  void link(TensorId child, TensorId parent, i64 offset, bool pitched);
  bool all_readers_follow_gaps(TensorId t, i32 except) const;
  bool may_overwrite(const Operation& s, size_t operand, const std::vector<size_t>& last_use,
                     size_t operation) const;

  Model& m_;
  TensorUses uses_;
  std::vector<Link> link_;
  std::vector<i64> output_;  // by root: the output that it is, or -1
};

}  // namespace deuteron::neutron
