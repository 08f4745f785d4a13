// SPDX-License-Identifier: Apache-2.0
// Sizes that follow from the elements of constants. Expected numbers are torch's.
#include <algorithm>

#include "frontends/pt2/operators/test_run.h"

namespace deuteron::pt2 {
namespace {

using testing::HasSubstr;

json found_size(const std::string& expression) {
  return {{"as_expr", {{"expr_str", expression}, {"hint", nullptr}}}};
}
constexpr const char* kFoundSymbol = "Symbol('u0', integer=True)";

// x [2,3] and a constant; `target` makes y, whose sizes -1 are open, and a relu behind it the
// output, of the same sizes.
class Opened {
 public:
  template <class T>
  Opened(const std::string& target, const Shape& shape, const std::vector<T>& data, int dtype,
         const Arguments& arguments, const Shape& result, int result_dtype = kF32) {
    model.input("x", {2, 3});
    model.parameter("k", shape, data, dtype);
    model.node(target, {{"y", closed(result), result_dtype}}, arguments);
    open("y", result);
  }
  static Shape closed(Shape shape) {
    std::replace(shape.begin(), shape.end(), i64{-1}, i64{1});
    return shape;
  }
  void open(const std::string& name, const Shape& shape) {
    for (size_t k = 0; k < shape.size(); ++k)
      if (shape[k] < 0) model.graph()["tensor_values"][name]["sizes"][k] = found_size(kFoundSymbol);
  }
  Opened& then(const std::string& target, const Arguments& arguments, const Shape& shape) {
    const std::string name = "z" + std::to_string(steps_++);
    model.node(target, {{name, closed(shape)}}, arguments);
    open(name, shape);
    last_ = name;
    return *this;
  }
  void gives(const std::vector<float>& expected) {
    model.output(last_);
    expect_near(results_of(model, {{-2, -1, 0, 1, 2, 3}})[0], expected, "");
  }
  TestModel model;

 private:
  std::string last_ = "y";
  int steps_ = 0;
};

json index_tables(const std::vector<std::string>& names) {
  json list = json::array();
  for (const std::string& name : names) list.push_back(name.empty() ? as_none() : as_tensor(name));
  return {{"as_optional_tensors", list}};
}
const Arguments kOfConstant = {{"self", as_tensor("p_k")}};
constexpr int kBool = 12;

TEST(KnownSizes, AMaskPicksAlongItsAxes) {
  Opened("aten.index.Tensor", {3}, std::vector<u8>{1, 0, 1}, kBool,
         {{"self", as_tensor("x")}, {"indices", index_tables({"", "p_k"})}}, {2, -1})
      .then("aten.neg.default", {{"self", as_tensor("y")}}, {2, -1})
      .gives({2, 0, -1, -3});
  Opened("aten.index.Tensor", {2, 3}, std::vector<u8>{1, 0, 1, 0, 0, 1}, kBool,
         {{"self", as_tensor("x")}, {"indices", index_tables({"p_k"})}}, {-1})
      .gives({-2, 0, 3});
  Opened("aten.masked_select.default", {3}, std::vector<u8>{0, 1, 1}, kBool,
         {{"self", as_tensor("x")}, {"mask", as_tensor("p_k")}}, {-1})
      .gives({-1, 0, 2, 3});
}

TEST(KnownSizes, PlacesThatAreNotZero) {
  const Arguments picked = {
      {"self", as_tensor("x")}, {"dim", as_int(1)}, {"index", as_tensor("z0")}};
  Opened places("aten.nonzero.default", {3}, std::vector<float>{0.5f, 0, -2}, kF32, kOfConstant,
                {-1, 1}, kS64);
  places.then("aten.squeeze.dim", {{"self", as_tensor("y")}, {"dim", as_int(1)}}, {-1});
  places.model.graph()["tensor_values"]["z0"]["dtype"] = kS64;
  places.then("aten.index_select.default", picked, {2, -1}).gives({-2, 0, 1, 3});
}

TEST(KnownSizes, EachAsOftenAsItsCount) {
  const Arguments arguments = {
      {"self", as_tensor("x")}, {"repeats", as_tensor("p_k")}, {"dim", as_int(-1)}};
  Opened("aten.repeat_interleave.self_Tensor", {3}, std::vector<i64>{2, 0, 1}, kS64, arguments,
         {2, -1})
      .gives({-2, -2, 0, 1, 1, 3});
  Opened("aten.repeat_interleave.self_Tensor", {1}, std::vector<i64>{2}, kS64, arguments, {2, -1})
      .gives({-2, -2, -1, -1, 0, 0, 1, 1, 2, 2, 3, 3});
  Opened("aten.repeat_interleave.self_Tensor", {6}, std::vector<i64>{0, 1, 0, 2, 0, 0}, kS64,
         {{"self", as_tensor("x")}, {"repeats", as_tensor("p_k")}}, {-1})
      .gives({-1, 1, 1});
  Opened("aten.repeat_interleave.Tensor", {2}, std::vector<i64>{1, 2}, kS64,
         {{"repeats", as_tensor("p_k")}}, {-1}, kS64)
      .then("aten.index_select.default",
            {{"self", as_tensor("x")}, {"dim", as_int(0)}, {"index", as_tensor("y")}}, {-1, 3})
      .gives({-2, -1, 0, 1, 2, 3, 1, 2, 3});
}

TEST(KnownSizes, NumbersAreCountedAndToldApart) {
  const Arguments times = {{"self", as_tensor("x")}, {"other", as_tensor("y")}};
  const std::vector<i64> numbers = {0, 2, 2, 1, 0, 0};
  Opened("aten.bincount.default", {6}, numbers, kS64, kOfConstant, {-1}, kS64)
      .then("aten.mul.Tensor", times, {2, -1})
      .gives({-6, -1, 0, 3, 2, 6});
  Opened("aten._unique2.default", {6}, numbers, kS64, kOfConstant, {-1}, kS64)
      .then("aten.mul.Tensor", times, {2, -1})
      .gives({0, -1, 0, 0, 2, 6});
  Opened runs("aten.unique_consecutive.default", {6}, numbers, kS64, kOfConstant, {-1},
              kS64);  // 0 2 1 0
  runs.then("aten.relu.default", {{"self", as_tensor("x")}}, {2, 3});
  runs.then("aten.index_select.default",
            {{"self", as_tensor("z0")}, {"dim", as_int(1)}, {"index", as_tensor("y")}}, {2, -1})
      .gives({0, 0, 0, 0, 1, 3, 2, 1});
}

TEST(KnownSizes, PlacesAndCountsOfWhatIsUnique) {
  TestModel m;
  m.input("x", {2, 3});
  m.parameter("k", {4}, std::vector<i64>{5, 2, 5, 9}, kS64);
  m.node("aten._unique2.default", {{"u", {1}, kS64}, {"i", {4}, kS64}, {"n", {1}, kS64}},
         {{"self", as_tensor("p_k")},
          {"return_inverse", as_bool(true)},
          {"return_counts", as_bool(true)}});
  m.node("aten.index_select.default", {{"y", {2, 4}}},
         {{"self", as_tensor("x")}, {"dim", as_int(1)}, {"index", as_tensor("i")}});
  m.node("aten.mul.Tensor", {{"z", {2, 1}}}, {{"self", as_tensor("x")}, {"other", as_tensor("n")}});
  for (const char* name : {"u", "n"})
    m.graph()["tensor_values"][name]["sizes"][0] = found_size(kFoundSymbol);
  m.graph()["tensor_values"]["z"]["sizes"][1] = found_size(kFoundSymbol);
  m.output("y"), m.output("z");
  const auto results = results_of(m, {{-2, -1, 0, 1, 2, 3}});
  expect_near(results[0], {-1, -2, -1, 0, 2, 1, 2, 3}, "places");
  expect_near(results[1], {-2, -2, 0, 1, 4, 3}, "counts");
}

TEST(KnownSizes, WeightsOfACountMayBeComputed) {
  TestModel m;
  m.input("x", {2, 3});
  m.parameter("k", {3}, std::vector<i64>{0, 2, 2}, kS64);
  m.node("aten.select.int", {{"w", {3}}},
         {{"self", as_tensor("x")}, {"dim", as_int(0)}, {"index", as_int(1)}});
  m.node("aten.bincount.default", {{"y", {4}}},
         {{"self", as_tensor("p_k")}, {"weights", as_tensor("w")}, {"minlength", as_int(4)}});
  m.output("y");
  expect_near(results_of(m, {{-2, -1, 0, 1, 2, 3}})[0], {1, 0, 5, 0}, "");
}

TEST(KnownSizes, ARefusalIsSaidOnce) {
  TestModel m;
  m.input("x", {2, 3});
  m.node("aten.nonzero.default", {{"y", {1, 2}, kS64}}, {{"self", as_tensor("x")}});
  m.node("aten.select.int", {{"z", {1}, kS64}},
         {{"self", as_tensor("y")}, {"dim", as_int(1)}, {"index", as_int(0)}});
  for (const char* name : {"y", "z"})
    m.graph()["tensor_values"][name]["sizes"][0] = found_size(kFoundSymbol);
  m.output("z");
  const std::string text = refusal_of(m);
  EXPECT_THAT(text, HasSubstr("aten.nonzero.default `y` (source op 0): error: its result has as "
                              "many elements as computed values say"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '['), 1) << text;
}

TEST(KnownSizes, OneSymbolHasOneNumber) {
  Opened twice("aten.index.Tensor", {3}, std::vector<u8>{1, 0, 1}, kBool,
               {{"self", as_tensor("x")}, {"indices", index_tables({"", "p_k"})}}, {2, -1});
  twice.then("aten.relu.default", {{"self", as_tensor("x")}}, {2, -1});
  twice.model.output("z0");
  EXPECT_THAT(refusal_of(twice.model),
              HasSubstr("aten.relu.default `z0` (source op 1): error: the shape of its result "
                        "differs from what the "
                        "model says: the file is damaged: 2,3, limit 2,2  [pt2.graph.shape]"));
}

// The largest of what is counted, which an assertion alone reads, is no size of the program.
TEST(KnownSizes, ASizeThatOnlyTestsReadMayBeComputed) {
  for (const bool is_read : {false, true}) {
    TestModel m;
    m.input("x", {2, 3});
    m.node("aten.ne.Scalar", {{"mask", {2, 3}, kBool}},
           {{"self", as_tensor("x")}, {"other", as_float(0)}});
    m.node("aten.sum.dim_IntList", {{"counts", {2}, kS64}},
           {{"self", as_tensor("mask")}, {"dim", as_ints({1})}});
    m.node("aten.max.default", {{"most", {}, kS64}}, {{"self", as_tensor("counts")}});
    m.node("aten.item.default", {}, {{"self", as_tensor("most")}});
    const json name = {{"as_name", "item"}};
    m.node_json(3)["outputs"].push_back({{"as_sym_int", name}});
    m.graph()["sym_int_values"]["item"] = found_size(kFoundSymbol);
    m.node("_operator.le", {}, {{"a", {{"as_sym_int", name}}}, {"b", as_int(3)}});
    m.node_json(4)["outputs"].push_back({{"as_sym_bool", {{"as_name", "le"}}}});
    m.node("aten._assert_scalar.default", {},
           {{"self", {{"as_sym_bool", {{"as_name", "le"}}}}}, {"assert_msg", as_text("")}});
    if (is_read)
      m.node("aten.full.default", {{"f", {2, 3}}},
             {{"size", as_ints({2, 3})}, {"fill_value", {{"as_sym_int", name}}}});
    m.node("aten.relu.default", {{"y", {2, 3}}}, {{"self", as_tensor("x")}});
    m.output("y");
    if (is_read) EXPECT_THAT(refusal_of(m), HasSubstr("[pt2.shape.computed]"));
    else expect_near(results_of(m, {{-2, -1, 0, 1, 2, 3}})[0], {0, 0, 0, 1, 2, 3}, "");
  }
}

// y = x * full([2, 2], item), with the number out of that tensor.
TestModel number_out_of(const std::string& tensor) {
  TestModel m;
  m.input("x", {2, 2});
  m.parameter("k", {1}, std::vector<float>{0.75f});
  m.node("aten.item.default", {}, {{"self", as_tensor(tensor)}});
  m.node_json(0)["outputs"].push_back({{"as_sym_float", {{"as_name", "item"}}}});
  m.node("aten.full.default", {{"f", {2, 2}}},
         {{"size", as_ints({2, 2})}, {"fill_value", {{"as_sym_float", {{"as_name", "item"}}}}}});
  m.node("aten.mul.Tensor", {{"y", {2, 2}}}, {{"self", as_tensor("x")}, {"other", as_tensor("f")}});
  m.output("y");
  return m;
}

TEST(KnownSizes, ANumberOutOfAConstantIsAnArgument) {
  expect_near(results_of(number_out_of("p_k"), {{-2, -1, 0, 4}})[0], {-1.5f, -0.75f, 0, 3}, "");
  TestModel given = number_out_of("p_k");
  given.node_json(1)["inputs"][1]["arg"] = {{"as_sym_float", {{"as_float", 0.5}}}};
  expect_near(results_of(given, {{-2, -1, 0, 4}})[0], {-1, -0.5f, 0, 2}, "");
}

TEST(KnownSizes, ANumberOutOfAComputedTensorIsRefusedOnce) {
  const std::string text = refusal_of(number_out_of("x"));
  EXPECT_THAT(text, HasSubstr("aten.item.default `nothing` (source op 0): error: takes a number "
                              "out of a tensor that is computed"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '['), 1) << text;
}

}  // namespace
}  // namespace deuteron::pt2
