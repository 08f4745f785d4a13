// SPDX-License-Identifier: Apache-2.0
// --io u8: an input that comes as bytes, as cameras and other sensors give them. The program looks
// up the int8 step of each byte; in the model the byte stands for (byte * scale - mean) / std, as a
// pixel of an image does.
//   input (f32) -> cortex_m::quantize_per_tensor -> ..   becomes   input (u8) ->
//   deuteron::quantize_bytes -> ..
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compile/compilation.h"
#include "compile/lower/call_node.h"
#include "compile/options.h"
#include "compile/pass.h"
#include "kernels/quantize/bytes/kernel.h"
#include "ops/families.h"

namespace deuteron {
namespace {

// Fewer steps than that for 256 bytes: what the bytes are said to stand for is not what the model
// takes.
constexpr size_t kLeastSteps = 32;

bool is_quantize_call(const Node& node) {
  const auto* call = call_of(node.op);
  return call && call->name == "cortex_m::quantize_per_tensor";
}

std::vector<int8_t> steps_of(const ByteNumbers& by, const Quant& quant) {
  std::vector<int8_t> steps;
  for (const float number : by.numbers)
    steps.push_back(static_cast<int8_t>(
        quantize_value(number, quant.scale[0], quant.zero_point[0], quant.low, quant.high)));
  return steps;
}

bool are_bytes_less_128(const std::vector<int8_t>& steps) {
  for (size_t i = 0; i < steps.size(); ++i)
    if (steps[i] != static_cast<int8_t>(i - 128)) return false;
  return steps.size() == static_cast<size_t>(kByteValues);
}

// How many elements of one channel lie together.
i64 run_of(const Port& port, const Shape& storage, const ByteNumbers& by) {
  if (by.axis < 0) return std::max<i64>(numel(storage), 1);
  const auto channel =
      std::find(port.order.begin(), port.order.end(), by.axis) - port.order.begin();
  return numel(std::span(storage).subspan(static_cast<size_t>(channel) + 1));
}

// The call in the place of a quantize call from `x` to `y`.
Lowered lookup(const Shape& x, const Shape& y, const std::vector<int8_t>& steps, i64 channels,
               i64 run) {
  CallBuilder call("deuteron::quantize_bytes", 1, 1);
  call.in(0, elementwise_face(x));
  if (are_bytes_less_128(steps)) call.none();
  else call.constant<int8_t>(DType::s8, {channels, kByteValues}, steps);
  call.integer(run).out(0, elementwise_face(y)).may_share(0, 0);
  return call.done();
}

class ByteInput {
 public:
  ByteInput(PassContext& pass, const Port& port)
      : pass_(pass),
        g_(pass.graph),
        port_(port),
        where_(fmt::format("{}: input `{}`", g_.name, port.name)) {}

  void take(const ImageMap& map) {
    const Type type = g_.type(port_.value);
    if (type.dtype != DType::f32)
      return refuse("cannot be bytes, because it is not a float in the model", name_of(type.dtype),
                    "f32", "input_format.dtype");
    const std::optional<ByteNumbers> by =
        byte_numbers(logical_shape(port_, type.shape), map, where_, pass_.diagnostics);
    if (!by || !find_readers()) return;
    for (const ValueId v : views_) g_.values[v].type.dtype = DType::u8;
    for (const NodeId n : readers_) {
      Node& node = g_.nodes[n];
      const Shape x = g_.type(node.inputs[0]).shape, y = g_.type(node.outputs[0]).shape;
      const Quant quant = g_.type(node.outputs[0]).quant;
      const std::vector<int8_t> steps = steps_of(*by, quant);
      if (!has_enough(steps, *by, quant)) return;
      node = call_node(
          g_, node,
          lookup(x, y, steps, static_cast<i64>(by->channels()), run_of(port_, type.shape, *by)));
    }
  }

 private:
  void refuse(std::string what, std::string_view measured, std::string limit, const char* rule,
              std::string fix = "leave u8 out of --io for this input") {
    pass_.diagnostics.add({Severity::error, where_, std::move(what), std::string(measured),
                           std::move(limit), rule, std::move(fix)});
  }

  // The same bytes under another shape.
  bool is_whole_view(const Node& node) const {
    std::vector<const Type*> storage;
    return view_of(node.op, g_.types(node.inputs, storage)) == 0 &&
           g_.type(node.outputs[0]).elements() == g_.type(node.inputs[0]).elements();
  }

  // The calls that make int8 of the input, directly or under another shape. False where something
  // else reads it.
  bool find_readers() {
    const Uses uses(g_);
    views_ = {port_.value};
    for (size_t k = 0; k < views_.size(); ++k) {
      if (uses.output_uses[views_[k]] != 0)
        return refuse("cannot be bytes, because it is an output, too", "", "",
                      "input_format.reader"),
               false;
      for (const NodeId n : uses.readers[views_[k]]) {
        const Node& node = g_.nodes[n];
        if (is_whole_view(node)) views_.push_back(node.outputs[0]);
        else if (is_quantize_call(node) && g_.type(node.outputs[0]).dtype == DType::s8)
          readers_.push_back(n);
        else
          return refuse(
                     fmt::format(
                         "cannot be bytes, because {} reads it and is not a quantization to int8",
                         describe(g_, node)),
                     "", "", "input_format.reader"),
                 false;
      }
    }
    return true;
  }

  bool has_enough(const std::vector<int8_t>& steps, const ByteNumbers& by, const Quant& quant) {
    const size_t count = std::set<int8_t>(steps.begin(), steps.end()).size();
    if (count >= kLeastSteps) return true;
    const auto [low, high] = std::minmax_element(by.numbers.begin(), by.numbers.end());
    const float step = quant.scale[0];
    refuse(fmt::format("bytes stand for {:g} to {:g}, and the model takes {:g} to {:g}", *low,
                       *high, static_cast<float>(quant.low - quant.zero_point[0]) * step,
                       static_cast<float>(quant.high - quant.zero_point[0]) * step),
           fmt::format("{} steps of int8 for 256 bytes", count),
           fmt::format("at least {}", kLeastSteps), "input_format.range",
           "--image-scale, --image-mean and --image-std say what a byte stands for: (byte * scale "
           "- mean) / std");
    return false;
  }

  PassContext& pass_;
  Graph& g_;
  const Port& port_;
  const std::string where_;
  std::vector<ValueId> views_;  // the input, and the same bytes under other shapes
  std::vector<NodeId> readers_;
};

}  // namespace

void take_bytes(PassContext& pass) {
  const size_t inputs = pass.graph.user_inputs().size();
  for (size_t i = 0; i < inputs; ++i)
    if (const ImageMap* map = byte_input(pass.options.byte_inputs, i))
      ByteInput(pass, pass.graph.inputs[i]).take(*map);
  if (!pass.diagnostics.has_errors()) pass.result.byte_inputs = pass.options.byte_inputs;
}

}  // namespace deuteron
