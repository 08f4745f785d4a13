// SPDX-License-Identifier: Apache-2.0
// One call of an operator against what torch answers. Inputs are made by a rule, so that a case is
// a few lines.
#pragma once
#include "frontends/pt2/file/program.h"
#include "frontends/pt2/operators/test_run.h"

namespace deuteron::pt2 {

class TorchCase {
 public:
  explicit TorchCase(std::string target) : target_(std::move(target)) {}
  // Element k of input number i is ((7 k + 3 i) mod 11 - 5) / 4.
  TorchCase& input(const std::string& argument, const Shape& shape) {
    const std::string name = "x" + std::to_string(data_.size());
    std::vector<float> x;
    for (i64 k = 0; k < numel(shape); ++k)
      x.push_back(static_cast<float>((7 * k + 3 * static_cast<i64>(data_.size())) % 11 - 5) / 4);
    model_.input(name, shape);
    data_.push_back(std::move(x));
    return with(argument, as_tensor(name));
  }
  TorchCase& list(const std::string& argument, const std::vector<Shape>& shapes) {
    json names = json::array();
    for (const Shape& shape : shapes) {
      names.push_back({{"name", "x" + std::to_string(data_.size())}});
      input({}, shape);
    }
    return with(argument, {{"as_tensors", names}});
  }
  template <class T>
  TorchCase& constant(const std::string& argument, const Shape& shape, const std::vector<T>& data,
                      int dtype) {
    const std::string key = "c" + std::to_string(constants_++);
    model_.parameter(key, shape, data, dtype);
    return with(argument, as_tensor("p_" + key));
  }
  TorchCase& index(const std::string& argument, const Shape& shape, const std::vector<i64>& data) {
    return constant(argument, shape, data, kS64);
  }
  TorchCase& weight(const std::string& argument, const Shape& shape) {
    std::vector<float> w;
    for (i64 k = 0; k < numel(shape); ++k) w.push_back(static_cast<float>((5 * k + 1) % 7 - 3) / 8);
    return constant(argument, shape, w, kF32);
  }
  TorchCase& indices(const std::vector<std::pair<Shape, std::vector<i64>>>&
                         tables) {  // of index_put; no data: none
    json names = json::array();
    for (const auto& [shape, data] : tables) {
      const std::string key = "c" + std::to_string(constants_++);
      if (!data.empty()) model_.parameter(key, shape, data, kS64);
      names.push_back(data.empty() ? json{{"as_none", true}}
                                   : json{{"as_tensor", {{"name", "p_" + key}}}});
    }
    return with("indices", {{"as_optional_tensors", names}});
  }
  TorchCase& with(const std::string& argument, const json& value) {
    if (!argument.empty()) arguments_.push_back({argument, value});
    return *this;
  }
  // A further operator on result 0, which is complex, or float32 as well.
  TorchCase& then(const std::string& target, const std::string& argument, const Shape& shape,
                  bool is_complex = false) {
    const std::string name = "y" + std::to_string(steps_++);
    model_.node(target_, {{name, shape, is_complex ? kComplex64 : kF32}}, arguments_);
    target_ = target;
    arguments_ = {{argument, as_tensor(name)}};
    return *this;
  }
  void gives(const Shape& shape, const std::vector<float>& expected) {
    model_.node(target_, {{"z", shape}}, arguments_);
    model_.output("z");
    expect_near(results_of(model_, data_)[0], expected, target_);
  }
  std::string refusal(const Shape& shape) {
    model_.node(target_, {{"z", shape}}, arguments_);
    model_.output("z");
    return refusal_of(model_);
  }

 private:
  std::string target_;
  TestModel model_;
  Arguments arguments_;
  std::vector<std::vector<float>> data_;
  int constants_ = 0, steps_ = 0;
};

}  // namespace deuteron::pt2
