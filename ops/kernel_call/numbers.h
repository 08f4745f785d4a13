// SPDX-License-Identifier: Apache-2.0
// What calls are made of, by name: kept with a call for the passes that may make another one of it
// (compile/lower/pack_weights.cpp, compile/lower/fuse_additions.cpp). The arguments of a finished
// call are only written.
#pragma once
#include <optional>
#include <variant>
#include <vector>

#include "kernels/add/kernel.h"
#include "kernels/conv2d/packed/kernel.h"
#include "kernels/linear/packed_add/kernel.h"
#include "kernels/matmul/kernel.h"
#include "kernels/mul/kernel.h"
#include "kernels/reduce/kernel.h"
#include "ops/attributes.h"
#include "ops/common/bounds.h"
#include "ops/common/multiplier.h"
#include "ops/kernel_call/kernel_call.h"

namespace deuteron {

// An int8 layer of sums of products. Rows of a fully connected layer are pixels of an image.
struct DenseNumbers {
  PackedConv2dArgs a{};  // extents, windows and zero points; nothing of how a kernel has them
  i32 filter_c = 0;      // channels that a filter sees
  bool is_transposed = false, rounds_once = false;  // rounds_once: as requantize_once()
  Constant weight;                                  // int8 [out_c,kernel_h,kernel_w,filter_c]
  std::vector<i32> bias;                            // by filter; empty: none
  std::vector<Multiplier> multipliers;              // by filter
  StepRange range{};

  // One input channel for each filter: the stock dialect has a kernel of its own, for one image.
  bool is_depthwise() const { return filter_c == 1 && a.n == 1; }
  void set_window(HW stride, HW pad, HW dilation);
};
// Extents of images in storage order [n,h,w,c] and of a weight; what is larger than int32 the
// runtime does not take (write/pte/check_load.h).
DenseNumbers dense_numbers(const Shape& x, const Shape& weight, const Shape& y);
// Of an operator with x, constant weight and optional constant bias; `multipliers` by filter.
DenseNumbers dense_numbers(const LowerContext& c, std::vector<Multiplier> multipliers,
                           StepRange range);
// Of a fully connected layer: x [..,in], weight [out,in].
DenseNumbers linear_numbers(const LowerContext& c, Multiplier multiplier, StepRange range);

// Multipliers and shifts as two constants.
void add_multipliers(CallBuilder& call, std::span<const Multiplier> multipliers);

// The same extents and windows as another kernel has them.
template <class Args>
Args window_args(const DenseNumbers& n) {
  Args a{};
  a.n = n.a.n, a.in_h = n.a.in_h, a.in_w = n.a.in_w, a.in_c = n.a.in_c;
  a.out_h = n.a.out_h, a.out_w = n.a.out_w, a.out_c = n.a.out_c, a.kernel_h = n.a.kernel_h,
  a.kernel_w = n.a.kernel_w;
  a.stride_h = n.a.stride_h, a.stride_w = n.a.stride_w, a.pad_h = n.a.pad_h, a.pad_w = n.a.pad_w;
  return a;
}

// An addition that rounds three times, as TFLite's does.
struct AddNumbers {
  Shape x, other, y;
  AddArgs a{};
};

// One that rounds once: x_factor, other_factor and first; and the shift to the right.
struct LinearForm {
  LinearAddArgs args;
  i32 right;
};

// A layer with packed weights.
struct PackedDense {
  enum class Form : u8 {
    plain,        // shifts, if there are, of windows that are met one by one
    all_shifts,   // of any windows
    behind_relu,  // whose input has zeros at its end
    four_bits,    // weights
  };
  PackedConv2dArgs a{};  // has_shifts: the weights have them
  Packing packing{};
  Form form{};
  i64 weights_bytes = 0;
  std::optional<LinearForm> addition;  // of another tensor to the result
};
// How many windows meet the filters together in a call with so much scratch; 0: not known.
i32 windows_together(const PackedDense& n, i64 scratch_bytes);

struct CallNumbers : std::variant<DenseNumbers, AddNumbers, LinearForm, PackedDense, MatmulArgs,
                                  MulArgs, SumArgs> {
  using variant::variant;
};

// Null: the call was made of something else.
template <class Numbers>
const Numbers* numbers_of(const KernelCall* call) {
  return call && call->numbers ? std::get_if<Numbers>(call->numbers.get()) : nullptr;
}

}  // namespace deuteron
