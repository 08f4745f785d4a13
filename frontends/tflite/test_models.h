// SPDX-License-Identifier: Apache-2.0
// Small models that together go most ways through the reader: what damage is done to, and where the
// fuzzer begins.
#pragma once
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/tflite/writer.h"

namespace deuteron::tflite {

// A convolution, a pad, a pool and a fully connected layer.
inline std::vector<u8> model_of_layers() {
  Writer w;
  auto& b = w.builder();
  const i32 x = w.tensor({1, 4, 4, 2}, 0.5f, 3, "x");
  const i32 weight = w.constant({3, 2, 2, 2}, std::vector<int8_t>(24, 5), {0.1f, 0.2f, 0.3f});
  const i32 bias = w.constant({10, -20, 30});
  const i32 conv = w.tensor({1, 4, 4, 3}, 0.25f, -5, "conv");
  w.op(BuiltinOperator::CONV_2D, {x, weight, bias}, conv, BuiltinOptions::Conv2DOptions,
       CreateConv2DOptions(b, Padding::SAME, 1, 1, ActivationFunctionType::RELU));
  const i32 pads = w.constant({0, 0, 1, 1, 0, 1, 0, 0}, {4, 2});
  const i32 padded = w.tensor({1, 6, 5, 3}, 0.25f, -5, "padded");
  w.op(BuiltinOperator::PAD, {conv, pads}, padded, BuiltinOptions::PadOptions, CreatePadOptions(b));
  const i32 pooled = w.tensor({1, 3, 3, 3}, 0.25f, -5, "pooled");
  w.op(BuiltinOperator::AVERAGE_POOL_2D, {padded}, pooled, BuiltinOptions::Pool2DOptions,
       CreatePool2DOptions(b, Padding::SAME, 2, 2, 2, 2));
  const i32 flat = w.tensor({1, 27}, 0.25f, -5, "flat");
  w.op(BuiltinOperator::RESHAPE, {pooled}, flat);
  const i32 dense = w.constant({2, 27}, std::vector<int8_t>(54, -7), {0.1f});
  const i32 y = w.tensor({1, 2}, 0.5f, 0, "y");
  w.op(BuiltinOperator::FULLY_CONNECTED, {flat, dense}, y, BuiltinOptions::FullyConnectedOptions,
       CreateFullyConnectedOptions(b));
  return w.finish({x}, {y});
}

// What takes, repeats, turns and divides.
inline std::vector<u8> model_of_moves() {
  Writer w;
  auto& b = w.builder();
  const auto int8 = [&](const Shape& shape, const char* name) {
    return w.tensor(shape, 0.5f, 3, name);
  };
  const i32 x = int8({1, 4, 4, 2}, "x"), part = int8({1, 2, 2, 2}, "part"),
            turned = int8({2, 2, 2, 1}, "turned"), y = int8({2, 2, 2}, "y");
  w.op(BuiltinOperator::STRIDED_SLICE,
       {x, w.constant({0, 0, 0, 0}), w.constant({1, 4, 4, 2}), w.constant({1, 2, 2, 1})}, part,
       BuiltinOptions::StridedSliceOptions, CreateStridedSliceOptions(b));
  w.op(BuiltinOperator::TRANSPOSE, {part, w.constant({3, 1, 2, 0})}, turned);
  w.op(BuiltinOperator::SQUEEZE, {turned}, y);
  const i32 slice = int8({1, 3, 2, 2}, "slice"), tiled = int8({1, 3, 4, 2}, "tiled"),
            back = int8({1, 3, 4, 2}, "back");
  w.op(BuiltinOperator::SLICE, {x, w.constant({0, 1, 0, 0}), w.constant({1, 3, 2, -1})}, slice);
  w.op(BuiltinOperator::TILE, {slice, w.constant({1, 1, 2, 1})}, tiled);
  w.op(BuiltinOperator::REVERSE_V2, {tiled, w.constant(std::vector<i32>{2})}, back);
  const i32 first = int8({1, 1, 4, 2}, "first"), rest = int8({1, 2, 4, 2}, "rest");
  w.op(BuiltinOperator::SPLIT_V, {back, w.constant({1, -1}), w.constant({1}, Shape{1})},
       std::vector<i32>{first, rest});
  return w.finish({x}, {y, first, rest});
}

// What moves whole blocks and picks rows, by numbers that are computed from constants.
inline std::vector<u8> model_of_positions() {
  Writer w;
  auto& b = w.builder();
  const auto int8 = [&](const Shape& shape, const char* name) {
    return w.tensor(shape, 0.5f, 3, name);
  };
  const auto integers = [&](const Shape& shape, const char* name) {
    return w.add(shape, TensorType::INT32, {}, 0, 0, 0, name);
  };
  const i32 x = int8({1, 4, 4, 2}, "x"), block = w.constant({2, 2}, Shape{2}),
            margins = w.constant({1, 1, 0, 0}, Shape{2, 2});
  const i32 batches = int8({4, 3, 2, 2}, "batches"), back = int8({1, 4, 4, 2}, "back");
  w.op(BuiltinOperator::SPACE_TO_BATCH_ND, {x, block, margins}, batches);
  w.op(BuiltinOperator::BATCH_TO_SPACE_ND, {batches, block, margins}, back);
  const i32 shape = integers({4}, "shape"), sum = integers({4}, "sum"),
            product = integers({4}, "product"), most = integers({1}, "most");
  w.op(BuiltinOperator::SHAPE, {back}, shape);
  w.op(BuiltinOperator::ADD, {shape, w.constant({-1, -4, -4, -2}, Shape{4})}, sum,
       BuiltinOptions::AddOptions, CreateAddOptions(b));
  w.op(BuiltinOperator::MUL, {shape, w.constant({1, 1, 1, 1}, Shape{4})}, product,
       BuiltinOptions::MulOptions, CreateMulOptions(b));
  w.op(BuiltinOperator::REDUCE_MAX, {shape, w.constant({0}, Shape{1})}, most,
       BuiltinOptions::ReducerOptions, CreateReducerOptions(b, true));
  const i32 filled = int8({1, 4, 4, 2}, "filled"), part = int8({1, 2, 2, 2}, "part"),
            updated = int8({1, 4, 4, 2}, "updated");
  w.op(BuiltinOperator::FILL, {product, w.constant({1}, std::vector<int8_t>{5}, {0.5f}, 3)},
       filled);
  w.op(BuiltinOperator::STRIDED_SLICE, {filled, sum, product, w.constant({1, 2, 2, 1}, Shape{4})},
       part, BuiltinOptions::StridedSliceOptions, CreateStridedSliceOptions(b));
  w.op(BuiltinOperator::DYNAMIC_UPDATE_SLICE, {back, part, w.constant({0, 1, 9, 0}, Shape{4})},
       updated);
  const i32 rows = int8({2, 2}, "rows"), chosen = int8({1, 3, 4, 2}, "chosen"),
            products = int8({1, 3, 4, 1}, "products");
  w.op(BuiltinOperator::GATHER_ND, {updated, w.constant({0, 1, 2, 0, 3, 3}, Shape{2, 3})}, rows);
  w.op(BuiltinOperator::GATHER, {updated, w.constant({3, 0, 3}, Shape{1, 3})}, chosen,
       BuiltinOptions::GatherOptions, CreateGatherOptions(b, 1, 1));
  w.op(BuiltinOperator::BATCH_MATMUL,
       {chosen, w.constant({2, 1}, std::vector<int8_t>{5, -6}, {0.5f})}, products,
       BuiltinOptions::BatchMatMulOptions, CreateBatchMatMulOptions(b));
  return w.finish({x}, {rows, products, most});
}

inline void add_lstm(Writer& w, i32 x, i32 weight, i32 recurrent, i32 bias, i32 hidden, i32 cell,
                     i32 y) {
  const i32 none = -1;
  w.op(BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_LSTM,
       {x,    weight, weight, weight, weight, recurrent, recurrent, recurrent, recurrent, none,
        none, none,   bias,   bias,   bias,   bias,      none,      none,      hidden,    cell},
       y, BuiltinOptions::UnidirectionalSequenceLSTMOptions,
       CreateUnidirectionalSequenceLSTMOptions(w.builder(), ActivationFunctionType::TANH));
}

inline std::vector<u8> model_of_lstm() {
  Writer w;
  const auto real = [&](const Shape& shape, const char* name, bool kept = false) {
    return w.add(shape, TensorType::FLOAT32, {}, 0, 0, 0, name, kept);
  };
  const auto constant = [&](const Shape& shape, float value) {
    const std::vector<float> data(static_cast<size_t>(numel(shape)), value);
    return w.add(shape, TensorType::FLOAT32, {}, 0, 0,
                 w.buffer(data.data(), data.size() * sizeof(float)), "constant");
  };
  const i32 x = real({1, 5, 3}, "x"), y = real({1, 5, 2}, "y"),
            hidden = real({1, 2}, "hidden", true), cell = real({1, 2}, "cell", true);
  add_lstm(w, x, constant({2, 3}, 0.5f), constant({2, 2}, -0.25f), constant({2}, 0.125f), hidden,
           cell, y);
  return w.finish({x}, {y});
}

inline std::vector<u8> model_of_lstm_on_steps() {
  Writer w;
  const i32 x = w.tensor({1, 2, 3}, 0.5f, 3, "x"), y = w.tensor({1, 2, 2}, 0.0078125f, -4, "y");
  const i32 hidden = w.add({1, 2}, TensorType::INT8, {0.0078125f}, -4, 0, 0, "hidden", true);
  const i32 cell = w.add({1, 2}, TensorType::INT16, {0x1p-11f}, 0, 0, 0, "cell", true);
  const i32 weight = w.constant({2, 3}, std::vector<int8_t>{1, -2, 3, -4, 5, -6}, {0.01f});
  const i32 recurrent = w.constant({2, 2}, std::vector<int8_t>{7, 8, -9, 10}, {0.02f});
  add_lstm(w, x, weight, recurrent, w.constant({11, -12}), hidden, cell, y);
  return w.finish({x}, {y});
}

// A moving sum that begins as CALL_ONCE says.
inline std::vector<u8> model_of_variables() {
  Writer w;
  auto& b = w.builder();
  const auto handle = [&] {
    const i32 h = w.add({}, TensorType::RESOURCE, {}, 0, 0, 0, "handle");
    w.op(BuiltinOperator::VAR_HANDLE, {}, h, BuiltinOptions::VarHandleOptions,
         CreateVarHandleOptionsDirect(b, "", "sum"));
    return h;
  };
  const i32 x = w.tensor({1, 3}, 0.5f, 3, "x"), old = w.tensor({1, 3}, 0.5f, 3, "old"),
            sum = w.tensor({1, 3}, 0.5f, 3, "sum");
  w.op(BuiltinOperator::CALL_ONCE, {}, std::vector<i32>{}, BuiltinOptions::CallOnceOptions,
       CreateCallOnceOptions(b, 1));
  const i32 h = handle();
  w.op(BuiltinOperator::READ_VARIABLE, {h}, old);
  w.op(BuiltinOperator::ADD, {old, x}, sum, BuiltinOptions::AddOptions, CreateAddOptions(b));
  w.op(BuiltinOperator::ASSIGN_VARIABLE, {h, sum}, std::vector<i32>{});
  w.finish_subgraph({x}, {sum});
  w.op(BuiltinOperator::ASSIGN_VARIABLE, {handle(), w.constant({1, 3}, {1, 2, 3}, {0.5f}, 3)},
       std::vector<i32>{});
  return w.finish({}, {});
}

// Of two branches a computed condition picks one; what it gives is added to itself `turns` times.
inline std::vector<u8> model_of_subgraphs(i32 turns = 3) {
  Writer w;
  auto& b = w.builder();
  const auto int8 = [&](const char* name) { return w.tensor({1, 2}, 0.5f, 3, name); };
  const auto flag = [&](const char* name) {
    return w.add({1}, TensorType::BOOL, {}, 0, 0, 0, name);
  };
  const auto count = [&](const char* name) {
    return w.add({1}, TensorType::INT32, {}, 0, 0, 0, name);
  };
  const i32 x = int8("x"), t = flag("t"), y = int8("y"), n = count("n"), z = int8("z");
  w.op(BuiltinOperator::IF, {t, x}, y, BuiltinOptions::IfOptions, CreateIfOptions(b, 1, 2));
  w.op(BuiltinOperator::WHILE, {w.constant({0}), y}, std::vector<i32>{n, z},
       BuiltinOptions::WhileOptions, CreateWhileOptions(b, 3, 4));
  w.finish_subgraph({x, t}, {z});
  const i32 a = int8("a"), sum = int8("sum");
  w.op(BuiltinOperator::ADD, {a, w.constant({1, 2}, std::vector<int8_t>{5, -6}, {0.25f})}, sum,
       BuiltinOptions::AddOptions, CreateAddOptions(b));
  w.finish_subgraph({a}, {sum});
  const i32 same = int8("same");
  w.finish_subgraph({same}, {same});
  const i32 i = count("i"), unread = int8("unread"), less = flag("less");
  w.op(BuiltinOperator::LESS, {i, w.constant({turns})}, less);
  w.finish_subgraph({i, unread}, {less});
  const i32 j = count("j"), h = int8("h"), next = count("next"), twice = int8("twice"),
            more = int8("more");
  w.op(BuiltinOperator::ADD, {j, w.constant({1})}, next, BuiltinOptions::AddOptions,
       CreateAddOptions(b));
  w.op(BuiltinOperator::ADD, {h, h}, twice, BuiltinOptions::AddOptions, CreateAddOptions(b));
  w.op(BuiltinOperator::ADD, {twice, w.constant({1, 2}, std::vector<int8_t>{7, 8}, {0.25f})}, more,
       BuiltinOptions::AddOptions, CreateAddOptions(b));
  return w.finish({j, h}, {next, more});
}

// int16 activations beside int8 weights, with a bias of int64.
inline std::vector<u8> model_of_int16() {
  Writer w;
  auto& b = w.builder();
  const auto int16 = [&](const Shape& shape, float scale, const char* name) {
    return w.add(shape, TensorType::INT16, {scale}, 0, 0, 0, name);
  };
  const i32 x = int16({1, 2, 3, 2}, 0x1p-9f, "x");
  const i32 weight = w.constant({2, 1, 2, 2}, std::vector<int8_t>(8, 5), {0.1f, 0.2f});
  const std::vector<i64> numbers{100000, -7};
  const i32 bias =
      w.add({2}, TensorType::INT64, {}, 0, 0, w.buffer(numbers.data(), numbers.size() * 8), "bias");
  const i32 conv = int16({1, 2, 3, 2}, 0x1p-9f, "conv");
  w.op(BuiltinOperator::CONV_2D, {x, weight, bias}, conv, BuiltinOptions::Conv2DOptions,
       CreateConv2DOptions(b, Padding::SAME, 1, 1, ActivationFunctionType::RELU));
  const i32 sum = int16({1, 2, 3, 2}, 0x1p-9f, "sum");
  w.op(BuiltinOperator::ADD, {x, conv}, sum, BuiltinOptions::AddOptions, CreateAddOptions(b));
  const i32 y = int16({1, 2, 3, 2}, 0x1p-15f, "y");
  w.op(BuiltinOperator::TANH, {sum}, y);
  return w.finish({x}, {y});
}

// Weights of fewer bits, and what finds its function in a subgraph or has a depth.
inline std::vector<u8> model_of_windows() {
  Writer w;
  auto& b = w.builder();
  const auto real = [&](const Shape& shape, const char* name) {
    return w.add(shape, TensorType::FLOAT32, {}, 0, 0, 0, name);
  };
  const auto packed = [&](const Shape& shape, TensorType type, std::vector<float> scales,
                          std::vector<u8> bytes) {
    return w.add(shape, type, scales, 0, 0, w.buffer(bytes.data(), bytes.size()), "packed");
  };
  const float low = -INFINITY;
  const i32 x = real({1, 4, 2}, "x"),
            least = w.add({}, TensorType::FLOAT32, {}, 0, 0, w.buffer(&low, sizeof low), "low");
  const i32 most = real({1, 4, 2}, "most"), put = real({1, 4, 2}, "put"),
            rows = real({4, 2}, "rows");
  const std::vector<int64_t> size{1, 3, 1}, one{1, 1, 1}, padding{0, 0, 1, 1, 0, 0}, window{1},
      inserted{0, 1};
  w.op2(BuiltinOperator::STABLEHLO_REDUCE_WINDOW, {x, least}, most,
        CreateStablehloReduceWindowOptionsDirect(b, &size, &one, &one, &one, &padding, 1));
  const i32 at = w.constant({0, 3, 0, 3}, Shape{2, 2}), update = real({2, 2}, "update");
  w.op(BuiltinOperator::FULLY_CONNECTED,
       {w.op(BuiltinOperator::RESHAPE, {most}, rows),
        packed({2, 2}, TensorType::INT4, {0.5f, 0.25f}, {0x1f, 0x72})},
       real({4, 2}, "hybrid"), BuiltinOptions::FullyConnectedOptions,
       CreateFullyConnectedOptions(b));
  w.op2(BuiltinOperator::STABLEHLO_SCATTER, {x, at, update}, put,
        CreateStablehloScatterOptionsDirect(b, false, &window, &inserted, &inserted, 1, false, 1));
  const i32 volume = real({1, 2, 2, 1, 2}, "volume"), filters = real({2, 1, 1, 2, 1}, "filters"),
            y = real({1, 1, 2, 1, 1}, "y");
  w.op(BuiltinOperator::RESHAPE, {put}, volume);
  w.op(BuiltinOperator::DEQUANTIZE,
       {packed({2, 1, 1, 2, 1}, TensorType::FLOAT16, {}, {0, 60, 0, 188, 0, 56, 0, 64})}, filters);
  w.op(BuiltinOperator::CONV_3D, {volume, filters}, y, BuiltinOptions::Conv3DOptions,
       CreateConv3DOptions(b, Padding::VALID, 1, 1, 1));
  w.finish_subgraph({x, update}, {y});
  const i32 p = real({}, "p"), q = real({}, "q"), r = real({}, "r");
  w.op(BuiltinOperator::MAXIMUM, {p, q}, r);
  return w.finish({p, q}, {r});
}

struct NamedModel {
  std::string name;
  std::vector<u8> bytes;
};
inline std::vector<NamedModel> test_models() {
  return {{"layers", model_of_layers()},
          {"moves", model_of_moves()},
          {"positions", model_of_positions()},
          {"lstm", model_of_lstm()},
          {"lstm_on_steps", model_of_lstm_on_steps()},
          {"variables", model_of_variables()},
          {"subgraphs", model_of_subgraphs()},
          {"int16", model_of_int16()},
          {"windows", model_of_windows()}};
}

}  // namespace deuteron::tflite
