// SPDX-License-Identifier: Apache-2.0
// The parts of a line of the text form that need nothing of the graph: types, constants, and what
// operators say of themselves. What is not as expected is reported by the cursor; a read then gives
// a default.
#pragma once
#include <limits>
#include <string>
#include <vector>

#include "ir/cursor.h"
#include "ir/graph.h"

namespace deuteron {

// The device counts elements in int32 (runtime/kernel.h, Tensor::numel). Attributes have the same
// limit, so that products of two stay in i64.
inline constexpr i64 kMaxCount = std::numeric_limits<i32>::max();

class TextValues {
 public:
  explicit TextValues(Cursor& cursor) : c_(cursor) {}

  std::vector<i64> integers(i64 low, i64 high);  // one or more
  Type type();
  void check(const Type& type, size_t at);
  Constant constant(const Type& type,
                    const std::string& name);  // `random` without a seed takes that of the name
  bool fits(const Type& type);  // adds to what the file asks for without writing it out; false once
                                // it is too much
  void attributes(Op& op);

 private:
  Constant fill(const Type& type);
  Constant listed(const Type& type);
  std::vector<std::byte> element(DType dtype);
  KernelArg argument();
  Face face();

  void read(i64& v) { v = c_.integer(-kMaxCount, kMaxCount); }
  void read(float& v) { v = c_.real(); }
  void read(bool& v);
  void read(HW& v);
  void read(std::vector<i64>& v);
  void read(Bounds& v);
  void read(Quant& v);
  void read(UnaryFn& v);
  void read(PointProgram& v);
  template <class T>
  void attributes(T& op);
  void attributes(KernelCall& call);
  void attributes(Delegate& delegate);

  Cursor& c_;
  i64 constant_bytes_ = 0;
};

}  // namespace deuteron
