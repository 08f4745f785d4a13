// SPDX-License-Identifier: Apache-2.0
// The map of the vendor's kernels, over texts that have each of the cases that ExecuTorch's
// discussion of profiling names.
#include "npu/neutron/vendor/kernel_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "npu/neutron/vendor/test_dump.h"

namespace deuteron::neutron {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Ops = std::vector<std::vector<i32>>;

class NeutronKernelMap : public testing::Test {
 protected:
  // Operators by call.
  Ops ops(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
          const std::vector<std::string>& microcode = {}) {
    map_ = map_kernels(read_console_dump(d_.text()), d_.face(inputs, outputs), microcode);
    Ops list;
    for (const MappedKernel& k : map_.kernels) list.push_back(k.ops);
    return list;
  }
  std::string open() const {
    std::string text;
    for (const MappedKernel& k : map_.kernels) text += k.open;
    return text;
  }

  TestDump d_;
  KernelMap map_;
};

TEST_F(NeutronKernelMap, OneToOne) {
  d_.constants = {"w0", "w1"};
  d_.model = {{"CONV_2D", {"x", "w0"}, {"a"}}, {"CONV_2D", {"a", "w1"}, {"y"}}};
  d_.row("Conv2DStandardV1", d_.model[0]);
  d_.row("Conv2DPointwise", d_.model[1]);
  EXPECT_EQ(ops({"x"}, {"y"}), (Ops{{0}, {1}}));
  EXPECT_THAT(open(), IsEmpty());
  EXPECT_THAT(map_.without_kernel, IsEmpty());
}

TEST_F(NeutronKernelMap, SeveralOperatorsInOneKernel) {
  d_.constants = {"w"};
  d_.model = {{"PAD", {"x"}, {"p"}}, {"CONV_2D", {"p", "w"}, {"c"}}, {"RELU", {"c"}, {"y"}}};
  d_.rows = {{{"Conv2DStandardV2"}, d_.model, {"x", "w"}, {"y"}}};
  EXPECT_EQ(ops({"x"}, {"y"}), (Ops{{0, 1, 2}}));
}

// The converter's optimizer has put PAD and RELU into the convolution, so that no list names them.
TEST_F(NeutronKernelMap, FusedBeforeTheList) {
  d_.constants = {"w"};
  d_.model = {{"PAD", {"x"}, {"p"}},
              {"CONV_2D", {"p", "w"}, {"c"}},
              {"RELU", {"c"}, {"y"}},
              {"MAX_POOL_2D", {"y"}, {"z"}}};
  d_.row("Conv2DStandardV2", {"CONV_2D", {"x", "w"}, {"y"}});
  d_.row("MaxPool", d_.model[3]);
  EXPECT_EQ(ops({"x"}, {"z"}), (Ops{{0, 1, 2}, {3}}));
}

TEST_F(NeutronKernelMap, SeveralKernelsForOneOperator) {
  d_.model = {{"FULLY_CONNECTED", {"x"}, {"logits"}}, {"SOFTMAX", {"logits"}, {"y"}}};
  d_.row("FullyConnected", d_.model[0]);
  d_.row("Pad", {"PAD", {"logits"}, {"logits/pad"}});
  d_.row("Softmax", {"SOFTMAX", {"logits/pad"}, {"y/1"}});
  d_.row("Slice", {"SLICE", {"y/1"}, {"y"}});
  EXPECT_EQ(ops({"x"}, {"y"}), (Ops{{0}, {1}, {1}, {1}}));
}

TEST_F(NeutronKernelMap, KernelsOfOneRow) {
  d_.model = {{"CONV_2D", {"x"}, {"y"}}};
  d_.rows = {{{"Pad", "Conv2DStandardV2"},
              {{"PAD", {"x"}, {"x/pad"}}, {"CONV_2D", {"x/pad"}, {"y"}}},
              {"x"},
              {"y"}}};
  EXPECT_EQ(ops({"x"}, {"y"}), (Ops{{0}, {0}}));
}

TEST_F(NeutronKernelMap, SplitOverChannels) {
  d_.model = {{"CONV_2D", {"x"}, {"y"}}};
  d_.row("Conv2DStandardV1", {"CONV_2D", {"x"}, {"part0"}});
  d_.row("Conv2DStandardV1", {"CONV_2D", {"x"}, {"part1"}});
  d_.row("StridedSliceConcat", {"CONCATENATION", {"part0", "part1"}, {"y"}});
  EXPECT_EQ(ops({"x"}, {"y"}), (Ops{{0}, {0}, {0}}));
}

// What the discussion calls unhappy: pools of one input, one of them turned into a convolution.
TEST_F(NeutronKernelMap, ParallelKernelsOfOneInput) {
  d_.model = {
      {"AVERAGE_POOL_2D", {"x"}, {"a"}}, {"MAX_POOL_2D", {"x"}, {"m"}}, {"ADD", {"a", "m"}, {"y"}}};
  d_.row("Conv2DDepthwiseV2", {"DEPTHWISE_CONV_2D", {"x"}, {"a"}});
  d_.row("MaxPool", d_.model[1]);
  d_.row("Add", d_.model[2]);
  EXPECT_EQ(ops({"x"}, {"y"}), (Ops{{0}, {1}, {2}}));
}

// And: a concatenation and a pointwise convolution become seven kernels. Those that belong to both
// are said to belong to both.
TEST_F(NeutronKernelMap, RewrittenTogether) {
  d_.constants = {"w"};
  d_.model = {{"CONCATENATION", {"a", "b"}, {"cat"}}, {"CONV_2D", {"cat", "w"}, {"y"}}};
  d_.row("TransposeCHW", {"TRANSPOSE", {"a"}, {"a/t"}});
  d_.row("TransposeCHW", {"TRANSPOSE", {"b"}, {"b/t"}});
  d_.row("Pad", {"PAD", {"a/t", "b/t"}, {"n1"}});
  d_.row("Conv2DPointwise", {"CONV_2D", {"n1", "w"}, {"n2"}});
  d_.row("Slice", {"SLICE", {"n2"}, {"y"}});
  EXPECT_EQ(ops({"a", "b"}, {"y"}), (Ops{{0, 1}, {0, 1}, {0, 1}, {1}, {1}}));
}

TEST_F(NeutronKernelMap, ResidualJoin) {
  d_.constants = {"w0", "w1"};
  d_.model = {{"CONV_2D", {"x", "w0"}, {"a"}},
              {"CONV_2D", {"a", "w1"}, {"b"}},
              {"ADD", {"b", "x"}, {"s"}},
              {"RELU", {"s"}, {"y"}}};
  d_.row("Conv2DStandardV1", d_.model[0]);
  d_.row("Conv2DStandardV1", d_.model[1]);
  d_.row("Add", d_.model[2]);
  d_.row("GlobalBiasScale", d_.model[3]);
  EXPECT_EQ(ops({"x"}, {"y"}), (Ops{{0}, {1}, {2}, {3}}));
}

// Removed operators: nothing lists them, and what only renames bytes is nobody's work.
TEST_F(NeutronKernelMap, RemovedOperators) {
  d_.constants = {"w"};
  d_.model = {{"MEAN", {"x"}, {"m"}},
              {"RESHAPE", {"m"}, {"v"}},
              {"FULLY_CONNECTED", {"v", "w"}, {"f"}},
              {"RESHAPE", {"f"}, {"y"}}};
  d_.row("GlobalAvgPool", {"MEAN", {"x"}, {"newOut"}});
  d_.row("FullyConnected", {"FULLY_CONNECTED", {"newOut", "w"}, {"y"}});
  EXPECT_EQ(ops({"x"}, {"y"}), (Ops{{0}, {2}}));
  EXPECT_THAT(map_.without_kernel, ElementsAre(1, 3));
}

// Weights that keep their names tell two convolutions of a region apart.
TEST_F(NeutronKernelMap, ByConstants) {
  d_.constants = {"w0", "w1"};
  d_.model = {{"CONV_2D", {"x", "w0"}, {"a"}}, {"CONV_2D", {"a", "w1"}, {"y"}}};
  d_.row("Conv2DStandardV1", {"CONV_2D", {"x", "w0"}, {"n0"}});
  d_.row("Conv2DStandardV1", {"CONV_2D", {"n0", "w1"}, {"n1"}});
  d_.row("Slice", {"SLICE", {"n1"}, {"y"}});
  EXPECT_EQ(ops({"x"}, {"y"}), (Ops{{0}, {1}, {1}}));
}

TEST_F(NeutronKernelMap, CallsThatNoListHas) {
  d_.model = {{"CONV_2D", {"x"}, {"a"}}, {"SOFTMAX", {"a"}, {"y"}}};
  d_.row("Conv2DStandardV1", d_.model[0]);
  d_.row("Softmax", d_.model[1]);
  d_.calls = {"MemCpy", "Conv2DStandardV1", "MemCpy", "Softmax"};
  EXPECT_EQ(ops({"x"}, {"y"}), (Ops{{}, {0}, {}, {1}}));
  EXPECT_THAT(open(), IsEmpty());  // copies are added
}

// A copy is for the calls that read where it writes, up to the next that writes there; what nobody
// reads stays open.
TEST_F(NeutronKernelMap, CopiesOfConstants) {
  d_.model = {{"CONV_2D", {"x"}, {"a"}}, {"CONV_2D", {"a"}, {"b"}}, {"SOFTMAX", {"b"}, {"y"}}};
  d_.row("Conv2DStandardV1", d_.model[0]);
  d_.row("Conv2DStandardV1", d_.model[1]);
  d_.row("Softmax", d_.model[2]);
  d_.calls = {"MemCpy 0x0 0x1000",   "MemCpy 0x100 0x2000",         "Conv2DStandardV1 0x0 0x1000",
              "MemCpy 0x200 0x1000", "Conv2DStandardV1 0x0 0x2000", "Softmax 0x0 0x1000",
              "MemCpy 0x300 0x3000"};
  EXPECT_EQ(ops({"x"}, {"y"}), (Ops{{0}, {1}, {0}, {2}, {1}, {2}, {}}));
}

// A batch of three: the calls of a row are repeated. Rows of one kernel are told apart by their
// weights.
TEST_F(NeutronKernelMap, RepeatedCalls) {
  d_.model = {{"CONV_2D", {"x"}, {"a"}}, {"CONV_2D", {"a"}, {"b"}}, {"SOFTMAX", {"b"}, {"y"}}};
  d_.row("Conv2DStandardV1", d_.model[0]);
  d_.row("Conv2DStandardV1", d_.model[1]);
  d_.row("Softmax", d_.model[2]);
  d_.calls = {"Conv2DStandardV1 0x0",
              "Conv2DStandardV1 0x0",
              "Conv2DStandardV1 0x0",
              "Conv2DStandardV1 0x90",
              "Conv2DStandardV1 0x90",
              "MemCpy",
              "Softmax",
              "Softmax"};
  EXPECT_EQ(ops({"x"}, {"y"}), (Ops{{0}, {0}, {0}, {1}, {1}, {}, {2}, {2}}));
}

// Without weights that differ nothing says whose they are: both, and it is said.
TEST_F(NeutronKernelMap, RepeatedCallsThatCannotBeToldApart) {
  d_.model = {{"CONV_2D", {"x"}, {"a"}}, {"CONV_2D", {"a"}, {"y"}}};
  d_.row("Conv2DStandardV1", d_.model[0]);
  d_.row("Conv2DStandardV1", d_.model[1]);
  d_.calls = {"Conv2DStandardV1", "Conv2DStandardV1", "Conv2DStandardV1", "Conv2DStandardV1"};
  EXPECT_EQ(ops({"x"}, {"y"}), (Ops{{0, 1}, {0, 1}, {0, 1}, {0, 1}}));
  EXPECT_THAT(open(), HasSubstr("which are whose"));
}

TEST_F(NeutronKernelMap, NoNameIsLeft) {
  d_.model = {{"CONV_2D", {"x"}, {"y"}}};
  d_.row("Conv2DStandardV1", {"CONV_2D", {"n0"}, {"n1"}});
  EXPECT_EQ(ops({"x"}, {"y"}), (Ops{{}}));
  EXPECT_THAT(open(), HasSubstr("no kernel of the list makes `n0`"));
  EXPECT_THAT(map_.without_kernel, IsEmpty());  // nobody knows
}

TEST_F(NeutronKernelMap, OtherCallsThanTheHeaderSays) {
  d_.model = {{"CONV_2D", {"x"}, {"y"}}};
  d_.row("Conv2DStandardV1", d_.model[0]);
  d_.calls = {"Conv2DStandardV1"};
  d_.kernel_calls = 7;
  EXPECT_EQ(ops({"x"}, {"y"}), (Ops{{}}));
  EXPECT_THAT(open(), HasSubstr("7 calls"));
}

TEST_F(NeutronKernelMap, MicrocodeThatCanBeRead) {
  d_.model = {{"CONV_2D", {"x"}, {"y"}}};
  d_.row("Conv2DStandardV1", d_.model[0]);
  EXPECT_EQ(ops({"x"}, {"y"}, {"MemCpy", "Conv2DStandardV1"}),
            (Ops{{}, {0}}));  // what the text left open
  d_.calls = {"Conv2DStandardV1"};
  EXPECT_EQ(ops({"x"}, {"y"}, {"Conv2DStandardV1"}), (Ops{{0}}));
  EXPECT_EQ(ops({"x"}, {"y"}, {"Softmax"}), (Ops{{}}));
  EXPECT_THAT(map_.fault, HasSubstr("other kernel calls than the microcode"));
}

// Nothing of such a text is used, and nothing is claimed.
TEST_F(NeutronKernelMap, AnotherModel) {
  d_.model = {{"CONV_2D", {"x"}, {"y"}}};
  d_.row("Conv2DStandardV1", d_.model[0]);
  const std::string text = d_.text();
  for (const TestNode& node :
       {TestNode{"CONV_2D", {"x"}, {"z"}}, TestNode{"SOFTMAX", {"x"}, {"y"}}}) {
    d_.model = {node};
    const KernelMap map = map_kernels(read_console_dump(text), d_.face({"x"}, {"y"}), {});
    EXPECT_THAT(map.fault, HasSubstr("it shows CONV_2D `y` in the model"));
    ASSERT_EQ(map.kernels.size(), 1u);
    EXPECT_THAT(map.kernels[0].ops, IsEmpty());
    EXPECT_THAT(map.without_kernel, IsEmpty());
    EXPECT_THAT(map.unknown, ElementsAre(0));
  }
}

// A mean whose result has a new name that nobody reads under it: it is known by what it reads.
TEST_F(NeutronKernelMap, ResultsWithoutANameOfTheModel) {
  d_.constants = {"axes", "epsilon"};
  d_.model = {{"MUL", {"x", "x"}, {"s"}},
              {"MEAN", {"s", "axes"}, {"m"}},
              {"ADD", {"m", "epsilon"}, {"e"}},
              {"RSQRT", {"e"}, {"y"}}};
  d_.row("Table", d_.model[0]);
  d_.row("ReduceMean", {"MEAN", {"s", "axes"}, {"newOut"}});
  d_.row("Table", {"RSQRT", {"e"}, {"y"}});
  d_.calls = {"Table 0x0", "ReduceMean 0x40", "Table 0x80"};
  EXPECT_EQ(ops({"x"}, {"y"}), (Ops{{0}, {1}, {3}}));
  EXPECT_THAT(open(), IsEmpty());
  EXPECT_THAT(map_.without_kernel, IsEmpty());
  EXPECT_THAT(map_.unknown, ElementsAre(2));
}

// ---- damaged texts

// Six kernels, two of one kind behind each other.
TestDump chain() {
  TestDump d;
  d.constants = {"w0", "w1", "w2"};
  d.model = {{"CONV_2D", {"x", "w0"}, {"a"}}, {"CONV_2D", {"a", "w1"}, {"b"}},
             {"CONV_2D", {"b", "w2"}, {"c"}}, {"MAX_POOL_2D", {"c"}, {"p"}},
             {"ADD", {"p", "p"}, {"s"}},      {"SOFTMAX", {"s"}, {"y"}}};
  const char* kernels[] = {
      "Conv2DStandardV1", "Conv2DStandardV1", "Conv2DStandardV1", "MaxPool", "Add", "Softmax"};
  for (size_t k = 0; k < d.model.size(); ++k) {
    d.row(kernels[k], d.model[k]);
    d.calls.push_back(fmt::format("{} {:#x}", kernels[k], 64 * k));
  }
  return d;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text)
    if (c == '\n') lines.emplace_back();
    else lines.back() += c;
  return lines;
}
std::string joined(const std::vector<std::string>& lines) {
  return fmt::format("{}", fmt::join(lines, "\n"));
}

// A kernel has an operator that it has not, or none and nothing is said; or an operator that has a
// kernel is said to have none.
std::string wrong_in(const std::string& text, const ModelFace& face) {
  const KernelMap map = map_kernels(read_console_dump(text), face, {});
  for (size_t k = 0; k < map.kernels.size(); ++k) {
    const MappedKernel& kernel = map.kernels[k];
    if (!kernel.open.empty()) continue;
    if (kernel.ops != std::vector<i32>{static_cast<i32>(k)})
      return fmt::format("kernel {} {}: {}", k, kernel.name, fmt::join(kernel.ops, " "));
  }
  return map.without_kernel.empty()
             ? ""
             : fmt::format("operator {} has no kernel", map.without_kernel[0]);
}

TEST(NeutronKernelMapDamage, OneMissingRowOpensOneKernel) {
  const TestDump d = chain();
  const std::string text = d.text();
  const size_t at = text.find("  NeutronOperator \"subgraph_001\""),
               end = text.find("  NeutronOperator \"subgraph_002\"");
  const KernelMap map = map_kernels(read_console_dump(text.substr(0, at) + text.substr(end)),
                                    d.face({"x"}, {"y"}), {});
  Ops list;
  for (const MappedKernel& k : map.kernels) list.push_back(k.ops);
  EXPECT_EQ(list, (Ops{{0}, {}, {2}, {3}, {4}, {5}}));
  EXPECT_THAT(map.kernels[1].open, HasSubstr("no row of its list"));
  EXPECT_THAT(map.without_kernel, IsEmpty());
  EXPECT_THAT(map.unknown, ElementsAre(1));
}

// Every line missing, doubled, exchanged with the next, cut in half, cut off behind or before: what
// is left is right or open.
TEST(NeutronKernelMapDamage, NoRowIsWrong) {
  const TestDump d = chain();
  const ModelFace face = d.face({"x"}, {"y"});
  const std::vector<std::string> lines = lines_of(d.text());
  EXPECT_EQ(wrong_in(joined(lines), face), "");
  using Damage = void (*)(std::vector<std::string>&, size_t);
  const std::pair<const char*, Damage> kDamages[] = {{"missing",
                                                      [](std::vector<std::string>& l, size_t k) {
                                                        l.erase(l.begin() + static_cast<i64>(k));
                                                      }},
                                                     {"doubled",
                                                      [](std::vector<std::string>& l, size_t k) {
                                                        l.insert(l.begin() + static_cast<i64>(k),
                                                                 std::string(l[k]));
                                                      }},
                                                     {"exchanged",
                                                      [](std::vector<std::string>& l, size_t k) {
                                                        std::swap(l[k],
                                                                  l[std::min(k + 1, l.size() - 1)]);
                                                      }},
                                                     {"half",
                                                      [](std::vector<std::string>& l, size_t k) {
                                                        l[k].resize(l[k].size() / 2);
                                                      }},
                                                     {"cut behind", [](std::vector<std::string>& l,
                                                                       size_t k) { l.resize(k); }},
                                                     {"cut before",
                                                      [](std::vector<std::string>& l, size_t k) {
                                                        l.erase(l.begin(),
                                                                l.begin() + static_cast<i64>(k));
                                                      }},
                                                     {"five missing",
                                                      [](std::vector<std::string>& l, size_t k) {
                                                        l.erase(
                                                            l.begin() + static_cast<i64>(k),
                                                            l.begin() + static_cast<i64>(std::min(
                                                                            k + 5, l.size())));
                                                      }},
                                                     {"a log",
                                                      [](std::vector<std::string>& l, size_t k) {
                                                        l.insert(l.begin() + static_cast<i64>(k),
                                                                 "[12:01:02] pass: 3 ms");
                                                      }},
                                                     {"a word",
                                                      [](std::vector<std::string>& l, size_t k) {
                                                        l.insert(l.begin() + static_cast<i64>(k),
                                                                 "done");
                                                      }}};
  for (const auto& [name, damage] : kDamages)
    for (size_t k = 0; k < lines.size(); ++k) {
      std::vector<std::string> damaged = lines;
      damage(damaged, k);
      EXPECT_EQ(wrong_in(joined(damaged), face), "") << name << " line " << k << ": " << lines[k];
    }
}

}  // namespace
}  // namespace deuteron::neutron
