// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/converter/neutron_ir.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/check.h"
#include "base/tflite/tflite_generated.h"
#include "npu/neutron/converter/forms.h"
#include "ops/common/bounds.h"
#include "ops/gather/mirrored_ends.h"
#include "ops/unary/functions.h"

namespace deuteron::neutron {
namespace {

using flatbuffers::Offset;
using Builtin = tflite::BuiltinOperator;
using Options = tflite::BuiltinOptions;

i32 narrow(i64 v) {
  DEUTERON_CHECK(v >= INT32_MIN && v <= INT32_MAX, std::to_string(v));
  return static_cast<i32>(v);
}
std::vector<i32> narrow(const std::vector<i64>& list) {
  std::vector<i32> result;
  for (const i64 v : list) result.push_back(narrow(v));
  return result;
}

tflite::TensorType type_of(DType dtype) {
  switch (dtype) {
    case DType::s8:
      return tflite::TensorType::INT8;
    case DType::s32:
      return tflite::TensorType::INT32;
    default:
      DEUTERON_CHECK(false, std::string(name_of(dtype)));
  }
}

std::optional<Builtin> builtin_named(std::string_view name) {
  for (int code = 0; !name.empty() && code <= static_cast<int>(Builtin::MAX); ++code)
    if (name == tflite::EnumNameBuiltinOperator(static_cast<Builtin>(code)))
      return static_cast<Builtin>(code);
  return std::nullopt;
}

class Writer {
 public:
  explicit Writer(const Graph& g) : g_(g), uses_(g), tensor_of_(g.values.size(), -1) {
    buffers_.push_back(empty_buffer());
  }

  NeutronIr run() {
    std::vector<i32> inputs, outputs;
    for (const Port& p : g_.inputs) inputs.push_back(tensor(p.value));
    find_taken_permutes();
    for (size_t n = 0; n < g_.nodes.size(); ++n)
      if (!taken_[n]) std::visit([&](const auto& op) { write(op, g_.nodes[n]); }, g_.nodes[n].op);
    for (const Port& p : g_.outputs) outputs.push_back(tensor(p.value));

    const auto subgraph = tflite::CreateSubGraph(
        b_, b_.CreateVector(tensors_), b_.CreateVector(inputs), b_.CreateVector(outputs),
        b_.CreateVector(operators_), b_.CreateString("neutron"));
    std::vector<Offset<tflite::OperatorCode>> codes;
    for (const Builtin code : codes_) {
      constexpr int kGreatestOfByte = 127;
      const auto value = static_cast<int>(code);
      codes.push_back(tflite::CreateOperatorCode(
          b_, static_cast<int8_t>(std::min(value, kGreatestOfByte)), 0, 1, code));
    }
    constexpr uint32_t kVersion = 3;
    const auto model =
        tflite::CreateModel(b_, kVersion, b_.CreateVector(codes), b_.CreateVector(&subgraph, 1),
                            b_.CreateString("deuteron"), b_.CreateVector(buffers_));
    b_.Finish(model, tflite::ModelIdentifier());
    result_.flatbuffer.assign(b_.GetBufferPointer(), b_.GetBufferPointer() + b_.GetSize());
    return std::move(result_);
  }

 private:
  // ---- tensors

  Offset<tflite::Buffer> empty_buffer() { return tflite::CreateBuffer(b_); }

  uint32_t buffer_of(std::span<const std::byte> bytes) {
    b_.ForceVectorAlignment(bytes.size(), 1, 16);
    const auto data = b_.CreateVector(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    buffers_.push_back(tflite::CreateBuffer(b_, data));
    return static_cast<uint32_t>(buffers_.size()) - 1;
  }

  Offset<tflite::QuantizationParameters> quantization(const Quant& q) {
    if (q.empty()) return 0;
    const std::vector<int64_t> zero(q.zero_point.begin(), q.zero_point.end());
    return tflite::CreateQuantizationParameters(
        b_, 0, 0, b_.CreateVector(q.scale), b_.CreateVector(zero),
        tflite::QuantizationDetails::NONE, 0, q.per_channel() ? q.axis : 0);
  }

  // A number without axes has one here: an empty list of extents means that the shape is not known.
  static Shape with_axis(const Shape& shape) { return shape.empty() ? Shape{1} : shape; }

  // The vendor's converter tells tensors apart by their names alone.
  std::string unique(const std::string& name) {
    std::string own = name;
    for (int k = 1; !names_.insert(own).second; ++k) own = fmt::format("{}_{}", name, k);
    return own;
  }

  i32 add_tensor(const Type& type, const std::string& name, uint32_t buffer) {
    const auto shape = b_.CreateVector(narrow(with_axis(type.shape)));
    const auto quant = quantization(type.quant);
    tensors_.push_back(tflite::CreateTensor(b_, shape, type_of(type.dtype), buffer,
                                            b_.CreateString(unique(name)), quant, false, 0, 0,
                                            true));
    return static_cast<i32>(tensors_.size()) - 1;
  }

  i32 tensor(ValueId v) {
    i32& index = tensor_of_[v];
    if (index < 0) {
      const GraphValue& value = g_.values[v];
      index =
          add_tensor(value.type, value.name, value.constant ? buffer_of(value.constant->bytes) : 0);
    }
    return index;
  }
  std::vector<i32> tensors(const std::vector<ValueId>& ids) {
    std::vector<i32> result;
    for (const ValueId v : ids) result.push_back(tensor(v));
    return result;
  }
  template <class T>
  i32 constant(Type type, const std::vector<T>& data, const char* name) {
    return add_tensor(type, name, buffer_of(std::as_bytes(std::span<const T>(data))));
  }
  i32 numbers(const std::vector<i64>& list, const char* name) {
    return constant<i32>({DType::s32, {narrow(static_cast<i64>(list.size()))}, {}}, narrow(list),
                         name);
  }
  // One int8 number with the parameters of a tensor.
  i32 step(i32 v, const Quant& q, const char* name) {
    return constant<int8_t>({DType::s8, {1}, q}, {static_cast<int8_t>(v)}, name);
  }
  i32 between(const Type& type, const std::string& name) { return add_tensor(type, name, 0); }

  // ---- operators

  template <class T = void>
  void add(Builtin code, const std::vector<i32>& inputs, i32 output, const Node& node,
           Options kind = Options::NONE, Offset<T> options = 0) {
    const auto at = std::find(codes_.begin(), codes_.end(), code);
    const auto index = static_cast<uint32_t>(at - codes_.begin());
    if (at == codes_.end()) codes_.push_back(code);
    operators_.push_back(tflite::CreateOperator(
        b_, index, b_.CreateVector(inputs), b_.CreateVector(&output, 1), kind, options.Union()));
    result_.origins.push_back(node.origin);
  }
  i32 out(const Node& node) { return tensor(node.outputs[0]); }
  const Type& in_type(const Node& node, size_t k) const { return g_.type(node.inputs[k]); }
  const Type& out_type(const Node& node) const { return g_.type(node.outputs[0]); }

  // The fused activation of an operator whose bounds have one.
  tflite::ActivationFunctionType fused(const Bounds& bounds, const Node& node) const {
    const std::optional<Activation> activation = activation_of(bounds, out_type(node).quant);
    DEUTERON_CHECK(activation && *activation != Activation::relu_0_to_1);
    switch (*activation) {
      case Activation::relu:
        return tflite::ActivationFunctionType::RELU;
      case Activation::relu6:
        return tflite::ActivationFunctionType::RELU6;
      case Activation::relu_n1_to_1:
        return tflite::ActivationFunctionType::RELU_N1_TO_1;
      default:
        return tflite::ActivationFunctionType::NONE;
    }
  }

  // The node's bias, or zeros: some converters want one.
  i32 bias(const Node& node, i64 channels) {
    if (node.inputs.size() > 2) return tensor(node.inputs[2]);
    const Quant &x = in_type(node, 0).quant, &w = in_type(node, 1).quant;
    Quant q;
    for (const float scale : w.scale)
      q.scale.push_back(x.scale[0] * scale), q.zero_point.push_back(0);
    q.axis = w.per_channel() ? 0 : -1;
    return constant<i32>({DType::s32, {channels}, q},
                         std::vector<i32>(static_cast<size_t>(channels), 0), "no_bias");
  }

  void write(const Conv2d& op, const Node& node) {
    const Type &x = in_type(node, 0), &w = in_type(node, 1);
    const auto activation = fused(op.bounds, node);
    const i32 sh = narrow(op.stride.h), sw = narrow(op.stride.w), dh = narrow(op.dilation.h),
              dw = narrow(op.dilation.w);
    if (op.groups == 1) {
      const std::vector<i32> inputs{tensor(node.inputs[0]), tensor(node.inputs[1]),
                                    bias(node, w.shape[0])};
      return add(
          Builtin::CONV_2D, inputs, out(node), node, Options::Conv2DOptions,
          tflite::CreateConv2DOptions(b_, tflite::Padding::VALID, sw, sh, activation, dw, dh));
    }
    DEUTERON_CHECK(w.shape[3] == 1 && op.groups == x.shape[3]);
    const std::vector<i32> inputs{tensor(node.inputs[0]), depthwise_weight(node.inputs[1]),
                                  bias(node, w.shape[0])};
    add(Builtin::DEPTHWISE_CONV_2D, inputs, out(node), node, Options::DepthwiseConv2DOptions,
        tflite::CreateDepthwiseConv2DOptions(b_, tflite::Padding::VALID, sw, sh,
                                             narrow(w.shape[0] / x.shape[3]), activation, dw, dh));
  }
  // [oc,kh,kw,1] -> [1,kh,kw,oc]
  i32 depthwise_weight(ValueId v) {
    const GraphValue& value = g_.values[v];
    const std::span<const int8_t> from = value.constant->as<int8_t>();
    const i64 oc = value.type.shape[0], taps = value.type.shape[1] * value.type.shape[2];
    std::vector<int8_t> to(from.size());
    for (i64 o = 0; o < oc; ++o)
      for (i64 t = 0; t < taps; ++t) to[t * oc + o] = from[o * taps + t];
    Type type{DType::s8, {1, value.type.shape[1], value.type.shape[2], oc}, value.type.quant};
    if (type.quant.per_channel()) type.quant.axis = 3;
    return constant<int8_t>(type, to, value.name.c_str());
  }

  void write(const ConvTranspose2d& op, const Node& node) {
    const std::vector<i32> inputs{numbers(out_type(node).shape, "output_shape"),
                                  tensor(node.inputs[1]), tensor(node.inputs[0]),
                                  bias(node, in_type(node, 1).shape[0])};
    add(Builtin::TRANSPOSE_CONV, inputs, out(node), node, Options::TransposeConvOptions,
        tflite::CreateTransposeConvOptions(b_, tflite::Padding::VALID, narrow(op.stride.w),
                                           narrow(op.stride.h)));
  }

  void write(const Linear& op, const Node& node) {
    const std::vector<i32> inputs{tensor(node.inputs[0]), tensor(node.inputs[1]),
                                  bias(node, in_type(node, 1).shape[0])};
    add(Builtin::FULLY_CONNECTED, inputs, out(node), node, Options::FullyConnectedOptions,
        tflite::CreateFullyConnectedOptions(b_, fused(op.bounds, node),
                                            tflite::FullyConnectedWeightsFormat::DEFAULT, true));
  }

  // A permute that only swaps the two axes of matrices and that only matrix products read is their
  // flag.
  bool swaps_matrix_axes(NodeId n) const {
    const Permute* permute = n < 0 ? nullptr : std::get_if<Permute>(&g_.nodes[n].op);
    return permute && permute->perm == Axes{0, 2, 1};
  }
  void find_taken_permutes() {
    taken_.assign(g_.nodes.size(), false);
    for (size_t n = 0; n < g_.nodes.size(); ++n) {
      if (!swaps_matrix_axes(static_cast<NodeId>(n))) continue;
      const ValueId v = g_.nodes[n].outputs[0];
      bool only_products = uses_.output_uses[v] == 0;
      for (const NodeId reader : uses_.readers[v])
        only_products = only_products && std::holds_alternative<Matmul>(g_.nodes[reader].op);
      taken_[n] = only_products;
    }
  }
  void write(const Matmul& op, const Node& node) {
    DEUTERON_CHECK(op.scale == 1);
    i32 operand[2];
    bool adjoint[2] = {false, true};  // the second matrix of a Matmul lies transposed
    Node whole = node;
    for (size_t k = 0; k < 2; ++k) {
      const NodeId above = uses_.producer[node.inputs[k]];
      const bool flag = above >= 0 && taken_[above];
      operand[k] = tensor(flag ? g_.nodes[above].inputs[0] : node.inputs[k]);
      adjoint[k] = adjoint[k] != flag;
      if (flag) whole.origin = merge(whole.origin, g_.nodes[above].origin);
    }
    add(Builtin::BATCH_MATMUL, {operand[0], operand[1]}, out(node), whole,
        Options::BatchMatMulOptions, tflite::CreateBatchMatMulOptions(b_, adjoint[0], adjoint[1]));
  }

  void write(const Add& op, const Node& node) {
    const auto activation = fused(op.bounds, node);
    if (op.alpha == 1)
      return add(Builtin::ADD, tensors(node.inputs), out(node), node, Options::AddOptions,
                 tflite::CreateAddOptions(b_, activation));
    DEUTERON_CHECK(op.alpha == -1);
    add(Builtin::SUB, tensors(node.inputs), out(node), node, Options::SubOptions,
        tflite::CreateSubOptions(b_, activation));
  }
  void write(const Mul&, const Node& node) {
    add(Builtin::MUL, tensors(node.inputs), out(node), node, Options::MulOptions,
        tflite::CreateMulOptions(b_));
  }
  void write(const Maximum&, const Node& node) {
    add(Builtin::MAXIMUM, tensors(node.inputs), out(node), node, Options::MaximumMinimumOptions,
        tflite::CreateMaximumMinimumOptions(b_));
  }
  void write(const Minimum&, const Node& node) {
    add(Builtin::MINIMUM, tensors(node.inputs), out(node), node, Options::MaximumMinimumOptions,
        tflite::CreateMaximumMinimumOptions(b_));
  }

  Offset<tflite::Pool2DOptions> pool(HW kernel, HW stride,
                                     tflite::ActivationFunctionType activation) {
    return tflite::CreatePool2DOptions(b_, tflite::Padding::VALID, narrow(stride.w),
                                       narrow(stride.h), narrow(kernel.w), narrow(kernel.h),
                                       activation);
  }
  void write(const AvgPool2d& op, const Node& node) {
    DEUTERON_CHECK(op.pad == HW{});
    add(Builtin::AVERAGE_POOL_2D, tensors(node.inputs), out(node), node, Options::Pool2DOptions,
        pool(op.kernel, op.stride, tflite::ActivationFunctionType::NONE));
  }
  void write(const MaxPool2d& op, const Node& node) {
    DEUTERON_CHECK(op.pad == HW{});
    add(Builtin::MAX_POOL_2D, tensors(node.inputs), out(node), node, Options::Pool2DOptions,
        pool(op.kernel, op.stride, fused(op.bounds, node)));
  }
  void write(const Reduce& op, const Node& node) {
    static constexpr Builtin kBuiltins[] = {Builtin::MEAN, Builtin::SUM, Builtin::REDUCE_MAX,
                                            Builtin::REDUCE_MIN};
    add(kBuiltins[op.fn], {tensor(node.inputs[0]), numbers(op.axes, "axes")}, out(node), node,
        Options::ReducerOptions, tflite::CreateReducerOptions(b_, true));
  }

  void write(const Clamp& op, const Node& node) {
    const Type &x = in_type(node, 0), &y = out_type(node);
    i32 from = tensor(node.inputs[0]);
    if (op.bounds.none())
      return add(Builtin::QUANTIZE, {from}, out(node), node, Options::QuantizeOptions,
                 tflite::CreateQuantizeOptions(b_));
    const std::optional<Activation> activation = activation_of(op.bounds, y.quant);
    if (activation) {
      static constexpr Builtin kBuiltins[] = {Builtin::QUANTIZE, Builtin::RELU, Builtin::RELU6,
                                              Builtin::RELU_N1_TO_1, Builtin::RELU_0_TO_1};
      return add(kBuiltins[static_cast<size_t>(*activation)], {from}, out(node), node);
    }
    const std::string& name = g_.values[node.outputs[0]].name;
    if (x.quant != y.quant) {  // bounds of an activation that fall between two steps
      const i32 unbounded = between(y, name + "_unbounded");
      add(Builtin::QUANTIZE, {from}, unbounded, node, Options::QuantizeOptions,
          tflite::CreateQuantizeOptions(b_));
      from = unbounded;
    }
    const StepRange range = step_range(op.bounds, y.quant);
    const bool both = range.high < 127 && range.low > -128;
    const i32 middle = both ? between(y, name + "_below") : out(node);
    const auto options = [&] { return tflite::CreateMaximumMinimumOptions(b_); };
    if (range.high < 127 || range.low == -128)
      add(Builtin::MINIMUM, {from, step(range.high, y.quant, "high")}, middle, node,
          Options::MaximumMinimumOptions, options());
    if (range.low > -128)
      add(Builtin::MAXIMUM, {both ? middle : from, step(range.low, y.quant, "low")}, out(node),
          node, Options::MaximumMinimumOptions, options());
  }

  void write(const Unary& op, const Node& node) {
    const i32 x = tensor(node.inputs[0]), y = out(node);
    switch (op.fn) {
      case UnaryFn::abs:
        return add(Builtin::ABS, {x}, y, node, Options::AbsOptions, tflite::CreateAbsOptions(b_));
      case UnaryFn::neg: {
        const Quant& q = in_type(node, 0).quant;
        return add(Builtin::SUB, {step(q.zero_point[0], q, "zero"), x}, y, node,
                   Options::SubOptions, tflite::CreateSubOptions(b_));
      }
      case UnaryFn::exp:
        return add(Builtin::EXP, {x}, y, node, Options::ExpOptions, tflite::CreateExpOptions(b_));
      case UnaryFn::hardswish:
        return add(Builtin::HARD_SWISH, {x}, y, node, Options::HardSwishOptions,
                   tflite::CreateHardSwishOptions(b_));
      case UnaryFn::leaky_relu:
        return add(Builtin::LEAKY_RELU, {x}, y, node, Options::LeakyReluOptions,
                   tflite::CreateLeakyReluOptions(b_, op.alpha));
      default:
        for (const Builtin builtin : tflite::EnumValuesBuiltinOperator())
          if (row_of(op.fn).neutron == tflite::EnumNameBuiltinOperator(builtin))
            return add(builtin, {x}, y, node);
        DEUTERON_CHECK(false, std::string(name_of(op.fn)));
    }
  }

  void write(const Resize2d& op, const Node& node) {
    const std::vector<i32> inputs{tensor(node.inputs[0]), numbers({op.size.h, op.size.w}, "size")};
    if (op.mode == Resize2d::kNearest)
      return add(Builtin::RESIZE_NEAREST_NEIGHBOR, inputs, out(node), node,
                 Options::ResizeNearestNeighborOptions,
                 tflite::CreateResizeNearestNeighborOptions(b_, op.align_corners, op.half_pixel));
    add(Builtin::RESIZE_BILINEAR, inputs, out(node), node, Options::ResizeBilinearOptions,
        tflite::CreateResizeBilinearOptions(b_, op.align_corners, op.half_pixel));
  }

  void write(const Softmax& op, const Node& node) {
    add(Builtin::SOFTMAX, tensors(node.inputs), out(node), node, Options::SoftmaxOptions,
        tflite::CreateSoftmaxOptions(b_, op.beta));
  }
  void write(const Concat& op, const Node& node) {
    add(Builtin::CONCATENATION, tensors(node.inputs), out(node), node,
        Options::ConcatenationOptions, tflite::CreateConcatenationOptions(b_, narrow(op.axis)));
  }
  void write(const Slice& op, const Node& node) {
    const Shape& y = out_type(node).shape;
    std::vector<i64> begin(y.size(), 0);
    begin[op.axis] = op.start;
    add(Builtin::SLICE, {tensor(node.inputs[0]), numbers(begin, "begin"), numbers(y, "size")},
        out(node), node, Options::SliceOptions, tflite::CreateSliceOptions(b_));
  }
  void write(const Permute& op, const Node& node) {
    add(Builtin::TRANSPOSE, {tensor(node.inputs[0]), numbers(op.perm, "perm")}, out(node), node,
        Options::TransposeOptions, tflite::CreateTransposeOptions(b_));
  }
  void write(const Reshape&, const Node& node) {
    const Shape y = with_axis(out_type(node).shape);
    add(Builtin::RESHAPE, {tensor(node.inputs[0]), numbers(y, "new_shape")}, out(node), node,
        Options::ReshapeOptions, tflite::CreateReshapeOptions(b_, b_.CreateVector(narrow(y))));
  }
  void write(const Pad& op, const Node& node) {
    std::vector<i32> pairs;
    for (size_t k = 0; k < op.before.size(); ++k)
      pairs.push_back(narrow(op.before[k])), pairs.push_back(narrow(op.after[k]));
    const i32 paddings =
        constant<i32>({DType::s32, {static_cast<i64>(op.before.size()), 2}, {}}, pairs, "paddings");
    const Quant& q = out_type(node).quant;
    if (op.value == 0)
      return add(Builtin::PAD, {tensor(node.inputs[0]), paddings}, out(node), node,
                 Options::PadOptions, tflite::CreatePadOptions(b_));
    const i32 value = quantize_value(op.value, q.scale[0], q.zero_point[0], q.low, q.high);
    add(Builtin::PADV2, {tensor(node.inputs[0]), paddings, step(value, q, "value")}, out(node),
        node, Options::PadV2Options, tflite::CreatePadV2Options(b_));
  }

  // Of mirrored ends: the NPU takes no other.
  void write(const Gather& op, const Node& node) {
    const Shape& x = in_type(node, 0).shape;
    const auto axis = static_cast<size_t>(op.axis);
    const std::optional<MirroredEnds> ends = mirrored_ends(op, x[axis]);
    DEUTERON_CHECK(ends.has_value());
    std::vector<i32> pairs(2 * x.size(), 0);
    pairs[2 * axis] = narrow(ends->before), pairs[2 * axis + 1] = narrow(ends->after);
    const i32 paddings =
        constant<i32>({DType::s32, {static_cast<i64>(x.size()), 2}, {}}, pairs, "paddings");
    add(Builtin::MIRROR_PAD, {tensor(node.inputs[0]), paddings}, out(node), node,
        Options::MirrorPadOptions,
        tflite::CreateMirrorPadOptions(b_, ends->with_edge ? tflite::MirrorPadMode::SYMMETRIC
                                                           : tflite::MirrorPadMode::REFLECT));
  }

  // What has no options has the operator's operands.
  template <class T>
  void write(const T& op, const Node& node) {
    const std::optional<Builtin> builtin = builtin_named(npu_builtin(Op(op)));
    DEUTERON_CHECK(builtin.has_value(),
                   fmt::format("{} is not an operator of Neutron IR", name_of(Op(op))));
    add(*builtin, tensors(node.inputs), out(node), node);
  }

  const Graph& g_;
  Uses uses_;
  std::vector<i32> tensor_of_;  // by value
  std::vector<bool> taken_;     // by node: a permute that is a flag of its readers
  flatbuffers::FlatBufferBuilder b_;
  std::vector<Offset<tflite::Buffer>> buffers_;
  std::vector<Offset<tflite::Tensor>> tensors_;
  std::set<std::string> names_;
  std::vector<Offset<tflite::Operator>> operators_;
  std::vector<Builtin> codes_;
  NeutronIr result_;
};

}  // namespace

NeutronIr write_neutron_ir(const Graph& body) { return Writer(body).run(); }

}  // namespace deuteron::neutron
