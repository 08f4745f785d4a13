// SPDX-License-Identifier: Apache-2.0
#include "frontends/onnx/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/tensor/limits.h"
#include "frontends/onnx/small_inputs.h"

namespace deuteron::onnx {
namespace {

constexpr const char* kAdvice = "give it: --input-shape NAME=1,3,96,96";

struct Reader {
  ImportState& state;
  const InputShapes& given;
  std::map<std::string, i64> symbols;  // sizes by name

  void error(const ModelPort& port, std::string what, const char* rule, std::string measured = {},
             std::string limit = {}, std::string fix = {}) {
    state.diagnostics.add(
        {Severity::error, fmt::format("{}: input `{}`", state.graph.name, port.name),
         std::move(what), std::move(measured), std::move(limit), rule, std::move(fix)});
    state.broken.insert(port.name);
  }

  // The user's sizes: they settle names that other inputs have, too.
  void take_given(const ModelPort& port) {
    const auto it = given.find(port.name);
    if (it == given.end()) return;
    const Shape& shape = it->second;
    bool fits = !port.has_shape || shape.size() == port.shape.size();
    for (size_t k = 0; fits && port.has_shape && k < shape.size(); ++k)
      fits = port.shape[k] < 0 || port.shape[k] == shape[k];
    if (!fits)
      return error(port, "has another shape than --input-shape says", "onnx.input.given",
                   to_text(shape), text_of(port));
    for (size_t k = 0; port.has_shape && k < shape.size(); ++k)
      if (port.shape[k] < 0 && !port.symbols[k].empty() &&
          !symbols.try_emplace(port.symbols[k], shape[k]).second &&
          symbols[port.symbols[k]] != shape[k])
        error(port, fmt::format("gives `{}` another size than another input", port.symbols[k]),
              "onnx.input.given", std::to_string(shape[k]),
              std::to_string(symbols[port.symbols[k]]));
  }

  static std::string text_of(const ModelPort& port) {
    std::string text;
    for (size_t k = 0; k < port.shape.size(); ++k)
      text += fmt::format("{}{}", k == 0 ? "" : ",",
                          port.shape[k] >= 0        ? std::to_string(port.shape[k])
                          : port.symbols[k].empty() ? "?"
                                                    : port.symbols[k]);
    return text;
  }

  // A batch is 1 where nobody says otherwise.
  void fix_batch(const ModelPort& port) {
    if (!port.has_shape || port.shape.empty() || port.shape[0] >= 0 || given.contains(port.name))
      return;
    if (!port.symbols[0].empty() && symbols.contains(port.symbols[0])) return;
    if (!port.symbols[0].empty()) symbols[port.symbols[0]] = 1;
    const std::string name = port.symbols[0].empty() ? "" : fmt::format(", `{}`,", port.symbols[0]);
    state.note(fmt::format("input `{}` leaves the size of its first axis{} open: it is 1",
                           port.name, name),
               "onnx.input.batch", "another one: --input-shape NAME=8,3,96,96");
  }

  std::optional<Shape> shape_of(const ModelPort& port) {
    if (const auto it = given.find(port.name); it != given.end()) return it->second;
    if (!port.has_shape)
      return error(port, "has no shape in the file", "onnx.input.shape", "", "", kAdvice),
             std::nullopt;
    Shape shape = port.shape;
    for (size_t k = 0; k < shape.size(); ++k) {
      if (shape[k] >= 0) continue;
      const auto it = symbols.find(port.symbols[k]);
      if (it != symbols.end()) shape[k] = it->second;
      else if (k == 0) shape[k] = 1;
      else
        return error(port, fmt::format("leaves the size of axis {} open", k), "onnx.input.shape",
                     text_of(port), "fixed sizes", kAdvice),
               std::nullopt;
    }
    return shape;
  }

  static bool is_float(Element type) { return dtype_of(type) == DType::f32; }

  // What the program takes in the place of uint8 and int8. Steps are quantized where they are first
  // read.
  std::optional<DType> take_small(const ModelPort& port) {
    StepsReader reader;
    const SmallInput kind = kind_of_input(state.model, port.name, &reader);
    if (kind == SmallInput::unknown) return std::nullopt;
    const DType to = kind == SmallInput::positions ? DType::s32 : DType::f32;
    if (kind == SmallInput::steps) {
      state.input_steps[port.name] = reader;
      state.note(fmt::format("input `{}` is steps of {} in the model; the program takes the real "
                             "numbers that they stand for",
                             port.name, name_of(port.type)),
                 "onnx.input.steps",
                 port.type == Element::u8 ? "--io int8 takes the steps, 128 less"
                                          : "--io int8 takes the steps");
    } else {
      state.note(
          fmt::format(
              "input `{}` is {} in the model; the program takes the same whole numbers as {}",
              port.name, name_of(port.type), name_of(to)),
          "onnx.input.integers", to == DType::f32 ? "--io int8 makes it int8" : "");
    }
    return to;
  }

  void declare(const ModelPort& port) {
    if (state.knows(port.name) || state.unavailable.contains(port.name)) return;  // an initializer
    auto dtype = dtype_of(port.type);
    if (dtype == DType::u8 || dtype == DType::s8) dtype = take_small(port);
    const bool is_number =
        dtype == DType::f32 || dtype == DType::s32 || dtype == DType::s64 || dtype == DType::b8;
    if (!is_number)
      return error(port, "has elements of a type that is not supported", "onnx.input.type",
                   name_of(port.type),
                   "FLOAT, FLOAT16, BFLOAT16, DOUBLE, INT32, INT64, BOOL; UINT8 and INT8 in front "
                   "of Cast or DequantizeLinear",
                   "give the model float inputs, with a QuantizeLinear behind them; --io int8 "
                   "makes the program's own inputs int8");
    const auto shape = shape_of(port);
    if (!shape) return;
    i64 elements = 1;
    for (const i64 extent : *shape) {
      if (extent < 1 || extent > kMostElements || elements * extent > kMostElements ||
          shape->size() > kMaxRank)
        return error(port, "has a size out of range", "onnx.input.size", to_text(*shape),
                     fmt::format("1..{} elements", kMostElements));
      elements *= extent;
    }
    if (is_float(port.type) && port.type != Element::f32)
      state.note(fmt::format("input `{}` is {} in the model, and float32 in the program", port.name,
                             name_of(port.type)),
                 "onnx.input.float");
    const ValueId v = state.torch.add_value(port.name, {*dtype, *shape, {}}, std::nullopt);
    state.define(port.name, v);
    Axes order(shape->size());
    std::iota(order.begin(), order.end(), 0);
    state.graph.inputs.push_back({v, port.name, std::move(order)});
  }
};

}  // namespace

void declare_inputs(ImportState& state, const ModelGraph& model, const InputShapes& given) {
  Reader reader{state, given, {}};
  for (const auto& [name, shape] : given)
    if (std::ranges::find(model.inputs, name, &ModelPort::name) == model.inputs.end())
      state.diagnostics.error(
          state.graph.name, fmt::format("has no input `{}`, which --input-shape names", name),
          "onnx.input.given",
          model.inputs.empty() ? "" : fmt::format("its first input is `{}`", model.inputs[0].name));
  for (const ModelPort& port : model.inputs) reader.take_given(port);
  for (const ModelPort& port : model.inputs)
    if (!state.knows(port.name)) reader.fix_batch(port);
  for (const ModelPort& port : model.inputs) reader.declare(port);
}

}  // namespace deuteron::onnx
