// SPDX-License-Identifier: Apache-2.0
// Convolutions, fully connected layers and products of matrices.
#include <fmt/format.h>

#include <algorithm>

#include "frontends/tflite/operators/import_table.h"
#include "frontends/tflite/operators/parts.h"
#include "frontends/tflite/operators/window.h"
#include "ops/common/broadcast.h"

namespace deuteron::tflite {
namespace {

struct Layer {
  ValueId x = -1, weight = -1;
};

// Image and weights; the weights are constants, int8 or uint8 where the image is. Beside floats
// they are so in the file alone.
Layer read_layer(Call& c, size_t image, size_t weight, i64 weight_rank) {
  c.require(c.is_made_of_constants(weight),
            "has weights that are computed, they have to be constants", "", "",
            "tflite.operand.constant");
  const Type &x = c.declared(image), &w = c.declared(weight);
  if (x.dtype == DType::s16)
    c.require(
        w.dtype == DType::s8 && std::all_of(w.quant.zero_point.begin(), w.quant.zero_point.end(),
                                            [](i32 zero) { return zero == 0; }),
        "has int16 activations and weights that are not int8 with zero point 0", to_text(w),
        "INT8 with zero point 0", "tflite.operand.weight");
  c.require(w.rank() == weight_rank, "has weights of another rank", std::to_string(w.rank()),
            std::to_string(weight_rank), "tflite.operand.rank");
  return {c.real(image), c.real(weight)};
}

// `said`: of which type the file says that sums are, beside int16.
std::vector<ValueId> operands(Call& c, const Layer& l, size_t image, size_t weight, size_t bias,
                              i64 channels, TensorType said) {
  std::vector<ValueId> inputs{l.x, l.weight};
  const Type &x = c.declared(image), &w = c.declared(weight);
  if (!c.ok()) return inputs;
  if (x.dtype == DType::s16 && (c.has(bias) || said == TensorType::INT32))
    inputs.push_back(c.bias_of_int16(bias, said, x, w, channels));
  else if (c.has(bias)) inputs.push_back(c.bias(bias, x, w, channels));
  return inputs;
}

// `kernel`: the axes of the weights that are height and width.
template <class Options>
void set_window(Call& c, Conv2d& op, const Options& o, const Shape& x, i64 kernel_h, i64 kernel_w) {
  Side h{x[1], kernel_h, o.stride_h(), o.dilation_h_factor()},
      w{x[2], kernel_w, o.stride_w(), o.dilation_w_factor()};
  pad_side(c, o.padding(), h);
  pad_side(c, o.padding(), w);
  op.stride = {h.stride, w.stride}, op.dilation = {h.dilation, w.dilation};
  op.pad_before = {h.before, w.before}, op.pad_after = {h.after, w.after};
  op.bounds = bounds_of(c, o.fused_activation_function());
}

void require_image(Call& c, ValueId x) {
  c.require(c.rank(x) == 4, "works on an image of 4 axes", std::to_string(c.rank(x)), "4",
            "tflite.operand.rank");
}

}  // namespace

static void import_conv_2d(Call& c) {
  const auto* o = c.options<Conv2DOptions>();
  c.takes(2, 3);
  const Layer l = read_layer(c, 0, 1, 4);
  require_image(c, l.x);
  if (!c.ok()) return;
  const Shape &x = c.shape(l.x), &w = c.shape(l.weight);
  Conv2d op;
  set_window(c, op, *o, x, w[1], w[2]);
  c.require(x[3] % w[3] == 0 && w[0] % (x[3] / w[3]) == 0,
            "has weights that do not fit the image's channels", std::to_string(w[3]),
            fmt::format("a divisor of {}", x[3]), "tflite.conv_2d.groups");
  if (!c.ok()) return;
  op.groups = x[3] / w[3];
  op.of_bytes = c.is_bytes(0);
  const i64 channels = w[0];
  c.result(c.add(op, operands(c, l, 0, 1, 2, channels, o->quantized_bias_type())));
}

// The weight [1,kh,kw,oc] becomes [oc,kh,kw,1].
static void import_depthwise_conv_2d(Call& c) {
  const auto* o = c.options<DepthwiseConv2DOptions>();
  c.takes(2, 3);
  Layer l = read_layer(c, 0, 1, 4);
  require_image(c, l.x);
  if (!c.ok()) return;
  const Shape &x = c.shape(l.x), &w = c.shape(l.weight);
  Conv2d op;
  set_window(c, op, *o, x, w[1], w[2]);
  c.require(w[0] == 1 && w[3] % x[3] == 0, "has weights that do not fit the image's channels",
            to_text(w), fmt::format("1,..,..,a multiple of {}", x[3]),
            "tflite.depthwise_conv_2d.weight");
  if (!c.ok()) return;
  op.groups = x[3];
  op.of_bytes = c.is_bytes(0);
  const i64 channels = w[3];
  l.weight = c.permute(l.weight, {3, 1, 2, 0}, "weight");
  c.result(c.add(op, operands(c, l, 0, 1, 2, channels, TensorType::INT64)));
}

// A layer whose weights are computed is a product of matrices.
static ValueId product_of_computed(Call& c, const Layer& l, ActivationFunctionType activation) {
  if (!c.ok()) return -1;
  const Shape x = c.shape(l.x), w = c.shape(l.weight);
  ValueId y =
      c.add(Matmul{},
            {c.reshape(l.x, {1, x[0], x[1]}, "x"), c.reshape(l.weight, {1, w[0], w[1]}, "other")},
            "product");
  y = c.reshape(c.has(2) ? y : c.rounded(y), {x[0], w[0]}, "matrix");
  if (c.has(2)) y = c.add(Add{}, {y, c.bias(2, c.declared(0), c.declared(1), w[0])}, "biased");
  return activated(c, y, activation);
}

// Rows of as many elements as the weight has inputs, whatever their axes were.
static void import_fully_connected(Call& c) {
  const auto* o = c.options<FullyConnectedOptions>();
  c.takes(2, 3);
  if (o)
    c.require(o->weights_format() == FullyConnectedWeightsFormat::DEFAULT, "has shuffled weights",
              "SHUFFLED4x16INT8", "DEFAULT", "tflite.fully_connected.format");
  const bool computed = c.ok() && !c.is_made_of_constants(1);
  Layer l = computed ? Layer{c.real(0), c.real(1)} : read_layer(c, 0, 1, 2);
  c.require(c.rank(l.weight) == 2, "has weights of another rank", std::to_string(c.rank(l.weight)),
            "2", "tflite.operand.rank");
  if (!c.ok()) return;
  const i64 outputs = c.shape(l.weight)[0], inputs = c.shape(l.weight)[1],
            elements = c.type(l.x).elements();
  c.require(elements % inputs == 0, "has weights that do not fit its operand",
            std::to_string(inputs), fmt::format("a divisor of {}", elements),
            "tflite.fully_connected.inputs");
  if (!c.ok()) return;
  if (c.shape(l.x) != Shape{elements / inputs, inputs})
    l.x = c.reshape(l.x, {elements / inputs, inputs}, "rows");
  Linear op;
  op.bounds = bounds_of(c, o->fused_activation_function());
  const ValueId rows = computed
                           ? product_of_computed(c, l, o->fused_activation_function())
                           : c.add(op, operands(c, l, 0, 1, 2, outputs, o->quantized_bias_type()));
  const Type& declared = c.declared_result(0);
  c.require(declared.elements() == elements / inputs * outputs,
            "has a result of another shape than the file says: it is damaged",
            to_text(declared.shape), to_text(c.shape(rows)), "tflite.result.shape");
  if (c.ok())
    c.result(declared.shape == c.shape(rows)
                 ? rows
                 : c.reshape(c.rounded(rows), declared.shape, "reshaped"));
}

// Where the padding takes an odd number of elements from the result, the last one is cut off behind
// it.
static void import_transpose_conv(Call& c) {
  const auto* o = c.options<TransposeConvOptions>();
  c.takes(3, 4);
  const Layer l = read_layer(c, 2, 1, 4);
  require_image(c, l.x);
  const Shape out = c.declared_result(0).shape;
  c.require(out.size() == 4, "makes an image of 4 axes", std::to_string(out.size()), "4",
            "tflite.operand.rank");
  if (!c.ok()) return;
  const Shape &x = c.shape(l.x), &w = c.shape(l.weight);
  ConvTranspose2d op;
  op.of_bytes = c.is_bytes(2);
  op.stride = {o->stride_h(), o->stride_w()};
  op.bounds = bounds_of(c, o->fused_activation_function());
  i64 cut[2] = {0, 0};
  for (const size_t k : {0, 1}) {
    Side s{out[k + 1], w[k + 1], k == 0 ? op.stride.h : op.stride.w, 1};
    pad_side(c, o->padding(), s);
    c.require(s.out == x[k + 1], "makes an image of another size than its operand gives",
              std::to_string(out[k + 1]), fmt::format("what {} windows cover", x[k + 1]),
              "tflite.transpose_conv.extent");
    if (!c.ok()) return;
    const i64 spare = out[k + 1] - ((x[k + 1] - 1) * s.stride + s.kernel - 2 * s.before);
    (k == 0 ? op.pad.h : op.pad.w) = s.before;
    (k == 0 ? op.output_pad.h : op.output_pad.w) = std::max<i64>(spare, 0);
    cut[k] = std::max<i64>(-spare, 0);
  }
  const bool cuts = cut[0] > 0 || cut[1] > 0;
  const i64 channels = w[0];
  ValueId y =
      c.add(op, operands(c, l, 2, 1, 3, channels, o->quantized_bias_type()), cuts ? "whole" : "");
  if (cuts) y = c.rounded(y);
  for (const size_t k : {0, 1})
    if (c.ok() && cut[k] > 0)
      y = c.add(Slice{static_cast<i64>(k) + 1, 0, out[k + 1], 1}, {y}, k == 0 ? "rows" : "columns");
  c.result(y);
}

// Matrices of [.., rows, columns] as [batch, rows, columns], repeated along axes that only the
// other operand has, as steps where they are.
static ValueId matrices(Call& c, ValueId x, const Quant& quant, const Shape& batches,
                        std::string_view suffix) {
  if (!c.ok()) return -1;
  const Shape own = c.shape(x);
  Shape from(batches.size() + 2 - own.size(), 1), to = batches;
  from.insert(from.end(), own.begin(), own.end());
  to.insert(to.end(), own.end() - 2, own.end());
  if (from != to) {
    x = c.add(Expand{to}, {c.reshape(x, from, fmt::format("{}_axes", suffix))},
              fmt::format("{}_repeated", suffix));
    x = c.rounded(x, quant, fmt::format("{}_rounded", suffix));
  }
  return c.reshape(x, {numel(batches), to[to.size() - 2], to.back()}, suffix);
}

// [..,m,k] x [..,k,n]; the kernel takes the second one transposed.
static void import_batch_matmul(Call& c) {
  const auto* o = c.options<BatchMatMulOptions>();
  c.takes(2, 2);
  Quant other_quant = c.declared(1).quant;
  ValueId x = c.real(0),
          other = c.declared(0).dtype == DType::s16 ? as_int16(c, 1, other_quant) : c.real(1);
  c.require(c.declared(0).dtype == DType::s16 || c.declared(1).dtype != DType::s16,
            "multiplies another type by int16",
            fmt::format("{}, {}", name_of(c.declared(0).dtype), name_of(c.declared(1).dtype)),
            "INT16, INT16 or INT8", "tflite.tensor.int16");
  c.require(c.rank(x) >= 2 && c.rank(other) >= 2, "works on matrices, of at least two axes",
            fmt::format("{}, {}", c.rank(x), c.rank(other)), "2..", "tflite.batch_matmul.rank");
  if (!c.ok()) return;
  const Shape a = c.shape(x), b = c.shape(other), batches(a.begin(), a.end() - 2),
              others(b.begin(), b.end() - 2);
  const auto common = broadcast_shape(batches, others);
  c.require(common.has_value(), "has operands whose shapes do not fit each other", to_text(b),
            to_text(a), "tflite.operand.shape");
  if (!c.ok()) return;
  // All rows may be those of one matrix where the other one is the same for all.
  const bool one = batches != others && numel(others) == 1 && !o->adj_x();
  x = one ? c.reshape(x, {1, numel(batches) * a[a.size() - 2], a.back()}, "x")
          : matrices(c, x, c.declared(0).quant, *common, "x");
  other = one ? c.reshape(other, {1, b[b.size() - 2], b.back()}, "other")
              : matrices(c, other, other_quant, *common, "other");
  if (o->adj_x()) x = c.permute(x, {0, 2, 1}, "x_transposed");
  if (!o->adj_y()) other = c.permute(other, {0, 2, 1}, "other_transposed");
  const ValueId y = c.add(Matmul{}, {x, other});
  if (!c.ok()) return;
  Shape whole = *common;
  whole.insert(whole.end(),
               {a[a.size() - (o->adj_x() ? 1 : 2)], b[b.size() - (o->adj_y() ? 2 : 1)]});
  c.result(c.shape(y) == whole ? y : c.reshape(c.rounded(y), std::move(whole), "reshaped"));
}

static constexpr ImportRow kConvolutionRows[] = {
    {BuiltinOperator::BATCH_MATMUL, import_batch_matmul, Int16::taken},
    {BuiltinOperator::CONV_2D, import_conv_2d, Int16::taken},
    {BuiltinOperator::DEPTHWISE_CONV_2D, import_depthwise_conv_2d, Int16::taken},
    {BuiltinOperator::FULLY_CONNECTED, import_fully_connected, Int16::taken},
    {BuiltinOperator::TRANSPOSE_CONV, import_transpose_conv, Int16::taken},
};
ImportRows convolution_rows() { return kConvolutionRows; }

}  // namespace deuteron::tflite
