// What a Neutron IR model computes, as the converter sees it: tensors and steps in execution order. A step becomes one kernel call, or
// disappears.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/constant.h"
#include "ir/type.h"
#include "ops/integer/pair_fn.h"

namespace deuteron::neutron {

using TensorId = i32;
inline constexpr TensorId kNoTensor = -1;

struct Tensor {
  std::string name;
  Type type;
  std::optional<Constant> constant;
};

// A window over [n, h, w, c]; pads in elements of the image, on the side before and after.
struct Window {
  i64 kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  i64 top = 0, left = 0, bottom = 0, right = 0;
  bool padded() const { return top | left | bottom | right; }
  bool operator==(const Window&) const = default;
};

// A pool over the results of a convolution, whose windows neither overlap nor reach outside; `h` and `w` are the extents before it, `low`
// and `high` the bounds behind it.
struct Pooling {
  i64 kernel_h = 1, kernel_w = 1, h = 0, w = 0;
  bool average = false;
  i32 low = -128, high = 127;
};
// Operands x [n,h,w,c], weight [oc,kh,kw,c], bias [oc] or none.
struct Convolution {
  Window window;
  std::optional<Pooling> pooling = {};
};
// Operands x [n,h,w,c], weight [1,kh,kw,c*m], bias [c*m] or none.
struct Depthwise {
  Window window;
  i64 multiplier = 1;
};
// Operands x [n,h,w,c], weight [oc,kh,kw,c], bias or none. `top` and `left` are cut from the full result.
struct TransposedConvolution {
  Window window;
};
// Operands x [rows..., c], weight [oc,c], bias or none.
struct FullyConnected {};
// Operands x [..., m, k], y [..., k, n], before the adjoints.
struct BatchMatmul {
  bool adjoint_x = false, adjoint_y = false;
};
// Average: elements of the padding count only if `count_padding`, as the zero point. Maximum: they do not count.
struct Pool {
  bool average = false, count_padding = false;
  Window window;
};
struct Pairwise {
  PairFn fn = PairFn::add;
};
enum class ReduceFn : u8 { mean, sum, maximum, minimum };
struct Reduce {
  ReduceFn fn = ReduceFn::mean;
  std::vector<bool> axes;
};
struct Softmax {
  float beta = 1;
};
// y = entry[x + 128]
struct Table {
  std::array<int8_t, 256> entry{};
};
// Operands x, slope, which broadcasts to x.
struct Prelu {};
enum class PadFn : u8 { value, reflect, symmetric };
struct Pad {
  PadFn fn = PadFn::value;
  Axes before, after;
  i32 value = 0;
};
struct Concat {
  i64 axis = 0;
};
struct Slice {
  Axes begin, stride;
};  // the extents are the result's; strides are positive
struct Transpose {
  Axes perm;
};               // y axis i is x axis perm[i]
struct View {};  // the same bytes under another shape
struct Resize {
  bool bilinear = false, align_corners = false, half_pixel_centers = false;
};

using Action = std::variant<Convolution, Depthwise, TransposedConvolution, FullyConnected, BatchMatmul, Pool, Pairwise, Reduce, Softmax,
                            Table, Prelu, Pad, Concat, Slice, Transpose, View, Resize>;

struct Step {
  Action action;
  std::vector<TensorId> inputs;  // kNoTensor: an optional operand that is left out
  TensorId output = kNoTensor;
  Quant y;                     // what the result is computed in; its scale may differ from the tensor's where a fusion has kept the bits
  i32 low = -128, high = 127;  // bounds of the result, for actions that requantize or compare
  std::vector<i32> origins;    // TFLite operators, sorted
};

// A TFLite operator without a kernel of its own, and why.
struct Vanished {
  i32 op = 0;
  std::string reason;
  bool operator==(const Vanished&) const = default;
};

struct Model {
  std::vector<Tensor> tensors;
  std::vector<Step> steps;
  std::vector<TensorId> inputs, outputs;
  std::vector<std::string> op_names;  // by TFLite operator: "CONV_2D", for reports
  std::vector<Vanished> vanished;

  TensorId add_tensor(std::string name, Type type, std::optional<Constant> constant = std::nullopt) {
    tensors.push_back({std::move(name), std::move(type), std::move(constant)});
    return static_cast<TensorId>(tensors.size()) - 1;
  }
  const Type& type(TensorId t) const { return tensors[t].type; }
  bool is_constant(TensorId t) const { return tensors[t].constant.has_value(); }
};

}  // namespace deuteron::neutron
