// Of read_tflite.cpp: takes the tensors and operators of a TFLite model over into steps, each checked against the others.
#pragma once
#include <fmt/format.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "backends/neutron/steps.h"
#include "backends/neutron/tflite_bytes.h"
#include "ops/op.h"
#include "ops/unary/unary.h"

namespace deuteron::neutron {

// Nothing: fine.
using Fault = std::optional<Refusal>;
inline constexpr i64 kMostExtent = 1 << 24;  // of an axis, and of padding

class Importer {
 public:
  Importer(const tflite::Model& file, Model& model) : file_(file), model_(model) {}

  Fault tensor(const tflite::Tensor& t);
  Fault op(const tflite::Operator& o, i32 index, i32 builtin);

 private:
  // What the rows of the table take.
  struct Row;
  static const Row kImports[];

  Fault wrong(std::string what, std::string measured = {}, std::string limit = {}) const {
    return Refusal{std::move(what), std::move(measured), std::move(limit), fmt::format("neutron.ir.{}", rule_)};
  }
  size_t operands() const { return in_.size(); }
  bool has(size_t i) const { return i < in_.size() && in_[i] != kNoTensor; }
  const Type& type(size_t i) const { return model_.type(in_[i]); }
  const Type& y() const { return model_.type(out_); }

  Fault int8(size_t i) const;
  Fault int8_result() const;
  Fault same_quant(size_t i) const;
  Fault shape_of_y(const Shape& expected) const;
  Fault ints(size_t i, std::vector<i64>* values) const;
  Fault weights(size_t i, i64 rank, i32 axis, i64 channels) const;
  Fault bias(size_t i, i64 channels) const;
  Fault activation(tflite::ActivationFunctionType a, Step* s) const;
  Fault window(tflite::Padding padding, i64 extent, i64 out, i64 kernel, i64 stride, i64 dilation, const char* side, i64* before,
               i64* after) const;
  Fault axes(size_t i, std::vector<bool>* flags) const;
  Fault convolved(size_t image, i32 axis, size_t bias_at) const;
  Fault image_result(i64 images, i64 channels) const;
  template <class Options>
  Fault sliding(const Options& p, const Shape& from, const Shape& to, Window* v, Step* s) const;

  Fault convolution(const tflite::Operator& o);
  Fault depthwise(const tflite::Operator& o);
  Fault transposed(const tflite::Operator& o);
  Fault fully_connected(const tflite::Operator& o);
  Fault batch_matmul(const tflite::Operator& o);
  template <bool kAverage>
  Fault pool(const tflite::Operator& o);
  template <PairFn kFn, class Options>
  Fault arithmetic(const tflite::Operator& o);
  template <PairFn kFn>
  Fault extreme(const tflite::Operator& o);
  Fault pair(PairFn fn, Step s);
  template <ReduceFn kFn>
  Fault reduce(const tflite::Operator& o);
  Fault softmax(const tflite::Operator& o);
  template <UnaryFn kFn>
  Fault unary(const tflite::Operator&) {
    return function([](float x) { return evaluate(kFn, x, 0); });
  }
  template <int kLow, int kHigh>  // kHigh 0: no upper bound
  Fault bounded(const tflite::Operator&) {
    const auto from = static_cast<float>(kLow), to = kHigh == 0 ? std::numeric_limits<float>::infinity() : static_cast<float>(kHigh);
    return function([=](float x) { return std::min(std::max(x, from), to); });
  }
  Fault leaky_relu(const tflite::Operator& o);
  template <class F>
  Fault function(F f);
  Fault prelu(const tflite::Operator&);
  template <bool kWithValue>
  Fault pad(const tflite::Operator&);
  Fault mirror_pad(const tflite::Operator& o);
  Fault paddings(Pad* p);
  Fault concat(const tflite::Operator& o);
  Fault slice(const tflite::Operator&);
  Fault strided_slice(const tflite::Operator& o);
  Fault transpose(const tflite::Operator&);
  Fault view(const tflite::Operator&);
  template <bool kBilinear, class Options>
  Fault resize(const tflite::Operator& o);

  Fault push(Action a, std::vector<TensorId> inputs, Step s = {}) {
    s.action = std::move(a);
    s.inputs = std::move(inputs);
    s.output = out_;
    s.y = y().quant;
    s.origins = {index_};
    model_.steps.push_back(std::move(s));
    return std::nullopt;
  }

  const tflite::Model& file_;
  Model& model_;
  std::vector<TensorId> in_;
  TensorId out_ = kNoTensor;
  i32 index_ = 0;
  std::string rule_;
};

// An operator of the format, and who takes it over: kImports in tflite_operators.cpp.
struct Importer::Row {
  tflite::BuiltinOperator code;
  const char* rule;
  size_t fewest, most;  // operands
  Fault (Importer::*import)(const tflite::Operator&);
};

}  // namespace deuteron::neutron
