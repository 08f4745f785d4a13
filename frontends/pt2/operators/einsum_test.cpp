// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <random>

#include "frontends/pt2/operators/test_run.h"

namespace deuteron::pt2 {
namespace {

struct Operand {
  std::string axes;
  Shape shape;
  std::vector<float> data;
};

std::vector<float> noise(i64 count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> data(static_cast<size_t>(count));
  for (float& v : data) v = static_cast<float>(random() % 2001) / 1000 - 1;
  return data;
}

// Every combination of all letters, one by one.
std::vector<float> by_loops(const std::vector<Operand>& operands, const std::string& result,
                            const std::map<char, i64>& extents) {
  std::string letters;
  for (const auto& [letter, extent] : extents) letters += letter;
  const auto at = [&](const std::string& axes, const std::map<char, i64>& place) {
    i64 index = 0;
    for (const char letter : axes) index = index * extents.at(letter) + place.at(letter);
    return static_cast<size_t>(index);
  };
  i64 count = 1, all = 1;
  for (const char letter : result) count *= extents.at(letter);
  for (const auto& [letter, extent] : extents) all *= extent;
  std::vector<double> sums(static_cast<size_t>(count));
  for (i64 n = 0; n < all; ++n) {
    std::map<char, i64> place;
    i64 rest = n;
    for (const char letter : letters)
      place[letter] = rest % extents.at(letter), rest /= extents.at(letter);
    double product = 1;
    for (const Operand& o : operands) product *= o.data[at(o.axes, place)];
    sums[at(result, place)] += product;
  }
  return {sums.begin(), sums.end()};
}

TEST(Einsum, IsTheSumOverAllLetters) {
  const std::map<char, i64> extents{{'b', 2}, {'c', 3}, {'h', 4}, {'s', 5}, {'t', 6}, {'d', 7}};
  struct Case {
    std::string text;
    std::vector<std::string> operands;
    std::string result;
  };
  const std::vector<Case> cases{{"bthd,bshd->bhts", {"bthd", "bshd"}, "bhts"},
                                {"bhts, bshd -> bthd", {"bhts", "bshd"}, "bthd"},
                                {"bcth,bc->bth", {"bcth", "bc"}, "bth"},
                                {"t,s->st", {"t", "s"}, "st"},
                                {"bct->cb", {"bct"}, "cb"},
                                {"ts,sd", {"ts", "sd"}, "dt"},
                                {"...td,...sd->...ts", {"bctd", "bcsd"}, "bcts"},
                                {"bt,td,ds->sb", {"bt", "td", "ds"}, "sb"},
                                {"bcd,bcd->bc", {"bcd", "bcd"}, "bc"},
                                {"bct,d->tdb", {"bct", "d"}, "tdb"},
                                {"btt->tb", {"btt"}, "tb"},
                                {"tbt,td->bd", {"tbt", "td"}, "bd"},
                                {"btbtt->bt", {"btbtt"}, "bt"},
                                {"ts,dd->st", {"ts", "dd"}, "st"}};
  for (const Case& c : cases) {
    TestModel m;
    std::vector<Operand> operands;
    std::vector<std::vector<float>> inputs;
    std::map<char, i64> used;
    json names = json::array();
    for (size_t k = 0; k < c.operands.size(); ++k) {
      Operand o{c.operands[k], {}, {}};
      for (const char letter : o.axes)
        o.shape.push_back(extents.at(letter)), used[letter] = extents.at(letter);
      o.data = noise(numel(o.shape), static_cast<unsigned>(k + 1));
      m.input("x" + std::to_string(k), o.shape);
      names.push_back({{"name", "x" + std::to_string(k)}});
      inputs.push_back(o.data);
      operands.push_back(std::move(o));
    }
    Shape out;
    for (const char letter : c.result) out.push_back(extents.at(letter));
    m.node("aten.einsum.default", {{"y", out}},
           {{"equation", as_text(c.text)}, {"tensors", {{"as_tensors", names}}}});
    m.output("y");
    const std::vector<float> expected = by_loops(operands, c.result, used),
                             found = results_of(m, inputs)[0];
    ASSERT_EQ(found.size(), expected.size()) << c.text;
    for (size_t k = 0; k < found.size(); ++k)
      ASSERT_NEAR(found[k], expected[k], 1e-4) << c.text << ", element " << k;
  }
}

TEST(Einsum, RefusesToMakeDiagonals) {
  TestModel m;
  m.input("x", {3});
  m.node("aten.einsum.default", {{"y", {3, 3}}},
         {{"equation", as_text("i->ii")}, {"tensors", {{"as_tensors", {{{"name", "x"}}}}}}});
  m.output("y");
  EXPECT_THAT(refusal_of(m), testing::HasSubstr("pt2.einsum.equation"));
}

// 2^32 elements of two matrices of 2^16: the product is refused, and nothing looks at it.
TEST(Einsum, RefusesLargeProducts) {
  TestModel m;
  m.input("x", {256, 256});
  m.node("aten.einsum.default", {{"y", {256, 256}}},
         {{"equation", as_text("ab,cd->abcd")},
          {"tensors", {{"as_tensors", {{{"name", "x"}}, {{"name", "x"}}}}}}});
  m.output("y");
  EXPECT_THAT(refusal_of(m), testing::HasSubstr("pt2.result.size"));
}

}  // namespace
}  // namespace deuteron::pt2
