// SPDX-License-Identifier: Apache-2.0
// Operations as calls of the open machine's kernels: their packed constants and their operands'
// places. How a kind of operation is lowered says its definition, with what is offered here.
#pragma once
#include <cstring>
#include <limits>
#include <map>

#include "base/check.h"
#include "base/diagnostic.h"
#include "npu/neutron/converter/operation_def.h"
#include "npu/neutron/converter/place.h"
#include "npu/neutron/machine/limits.h"
#include "npu/neutron/machine/microcode.h"

namespace deuteron::neutron {

// An operand of a call that is constant: what its two words must become once constants have a
// place.
struct ConstantUse {
  size_t word = 0;  // of Operand::place, from the start of the call's structure
  i32 blob = 0;
  i64 offset = 0;  // in the blob
};

struct EncodedCall {
  Kind kind{};
  std::vector<i32> words;  // of the structure, without its head
  std::vector<i32> ops;    // TFLite operators that it computes
  std::vector<ConstantUse> constants;
  i64 apart_cycles = 0;  // of a kernel that the open machine is assumed to have: those of the two
                         // that would take its place; else 0
};

struct CallList {
  std::vector<EncodedCall> calls;
  std::vector<std::vector<u8>> blobs;  // constants, all different
};

// Empty: diagnostics say what no kernel can do.
std::optional<CallList> lower_operations(const Model& model, const Placement& placement,
                                         const Machine& machine, Diagnostics& diagnostics);

// Axes with the strides of the operands along them.
struct StridedAxes {
  std::vector<i64> extent;
  std::vector<std::vector<i64>> stride;  // by operand

  void simplify();  // merges axes that every operand walks through as one
  bool fits() const { return extent.size() <= kMaxRank; }
  void fill(i32 (&e)[kMaxRank]) const;
  void fill(size_t operand, i32 (&s)[kMaxRank]) const;
};

class Lowering {
 public:
  Lowering(const Model& m, const Placement& p, const Machine& machine)
      : m_(m), p_(p), machine_(machine) {}

  const Machine& machine() const { return machine_; }
  const Type& type(TensorId t) const { return m_.type(t); }
  const Shape& shape(TensorId t) const { return m_.type(t).shape; }
  std::span<const int8_t> weights(TensorId t) const { return m_.tensors[t].constant->as<int8_t>(); }
  std::vector<i32> bias(TensorId t) const;  // empty: none

  i64 pitch(TensorId t) const { return p_.place[t].pitch; }
  Shape strides(TensorId t) const;
  Shape strides_over(TensorId t, const Shape& y) const;  // 0 along axes that repeat
  bool lies_there(size_t operand) const {
    return !p_.part_free[operation_].empty() && p_.part_free[operation_][operand];
  }

  static i32 word(i64 v) {
    DEUTERON_CHECK(v >= std::numeric_limits<i32>::min() && v <= std::numeric_limits<i32>::max());
    return static_cast<i32>(v);
  }

  // Operands of a call that is being filled in. `more`: bytes behind the tensor's first.
  void locate(Operand& o, TensorId t, i64 more = 0);
  void constant(Operand& o, std::vector<u8> bytes);

  // The call is whole.
  template <class Call>
  void push(Kind kind, Call& call) {
    static_assert(sizeof(Call) % 4 == 0);
    push_words(kind, reinterpret_cast<const char*>(&call), sizeof(Call));
  }
  // A kernel that the open machine is assumed to have.
  template <class Call>
  void push_assumed(Kind kind, Call& call, i64 apart_cycles) {
    push(kind, call);
    list_.calls.back().apart_cycles = apart_cycles;
  }

  Fault wrong(std::string what, i64 measured, i64 limit, const char* rule) const;
  Fault bad_scale(const char* rule) const;
  Fault window_limits(const Window& w, const char* rule, i64 most_kernel = kMostWindow) const;
  Fault products_limit(const Window& w, i64 channels, const char* rule) const;

  // All operations.
  Fault lower(size_t operation);
  CallList take() { return std::move(list_); }

 private:
  // An operand that is constant, to be found again in the call.
  struct Given {
    Operand* operand;
    i32 blob;
    i64 offset;
  };
  i32 blob_of(std::vector<u8> bytes);
  void push_words(Kind kind, const char* call, size_t bytes);

  const Model& m_;
  const Placement& p_;
  const Machine& machine_;
  size_t operation_ = 0;
  std::vector<Given> given_;
  CallList list_;
  std::map<std::vector<u8>, i32> known_;
};

// Fields that several calls have under the same names.
template <class Call>
void fill_bounds(Call& c, const Operation& s) {
  c.y_min = s.low, c.y_max = s.high;
}
template <class Call>
void fill_image(Call& c, const Lowering& l, const Operation& s, const Window& w) {
  const Shape &x = l.shape(s.inputs[0]), &y = l.shape(s.output);
  const auto word = [](i64 v) { return Lowering::word(v); };
  c.n = word(x[0]), c.h = word(x[1]), c.w = word(x[2]), c.c = word(x[3]);
  c.x_pitch = word(l.pitch(s.inputs[0]));
  c.kernel_h = word(w.kernel_h), c.kernel_w = word(w.kernel_w), c.stride_h = word(w.stride_h),
  c.stride_w = word(w.stride_w);
  c.dilation_h = word(w.dilation_h), c.dilation_w = word(w.dilation_w), c.pad_top = word(w.top),
  c.pad_left = word(w.left);
  c.out_h = word(y[1]), c.out_w = word(y[2]);
  c.y_pitch = word(l.pitch(s.output));
}

}  // namespace deuteron::neutron
