// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontends/pt2/file/source_names.h"
#include "frontends/pt2/file/storage_order.h"
#include "tests/paths.h"

namespace deuteron {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Pt2Summary, OfTheQuantizedDemo) {
  Diagnostics diagnostics;
  const auto s = summarize_pt2(source_path("models/digits_cnn/qat_qdq.pt2"), diagnostics);
  ASSERT_TRUE(s);
  EXPECT_EQ(s->torch_version, "2.13.0+cpu");
  EXPECT_EQ(s->flavour, "training");
  EXPECT_TRUE(s->is_quantized);
  ASSERT_EQ(s->inputs.size(), 1u);
  EXPECT_EQ(s->inputs[0].shape, (Shape{1, 1, 8, 8}));
  EXPECT_EQ(s->inputs[0].dtype, "f32");
  EXPECT_EQ(s->unused.tensors,
            43);  // the float weights and batch norms that quantization left behind
  i64 nodes = 0, convolutions = 0;
  for (const auto& op : s->operators) {
    EXPECT_TRUE(op.is_importable) << op.target;
    nodes += op.count;
    if (op.target == "aten.conv2d.default") convolutions = op.count;
  }
  EXPECT_EQ(nodes, s->nodes);
  EXPECT_EQ(convolutions, 7);
  EXPECT_THAT(to_text(*s), HasSubstr("input x: f32[1,1,8,8]"));
}

TEST(SourceNames, Modules) {
  EXPECT_EQ(pt2::innermost_module(
                "L__self__,,nets.Net;L__self__stem.conv,stem.conv,torch.nn.modules.conv.Conv2d"),
            "stem.conv");
  EXPECT_EQ(pt2::innermost_module("L__self__,,nets.Net"), "");
  EXPECT_EQ(pt2::innermost_module("L__self___a,L['self'].layers[0].conv,Conv2d"), "layers.0.conv");
  EXPECT_EQ(pt2::innermost_module("k,getattr(L['self'].layers, '3').act,ReLU"), "layers.3.act");
  EXPECT_EQ(pt2::innermost_module("k,blocks.2@1,Block"), "blocks.2");
  EXPECT_EQ(pt2::innermost_module(""), "");
  EXPECT_EQ(pt2::innermost_module(",;,,"), "");
}

TEST(SourceNames, Stacks) {
  const std::string stack = pt2::short_stack(
      "File \"/home/a/nets.py\", line 50, in forward\n    x = F.relu(self.stem(x))\n  File "
      "\"/v/site-packages/torch/nn/conv.py\", line 9, "
      "in forward\n    return y\n");
  EXPECT_EQ(
      stack,
      "nets.py:50 in forward: x = F.relu(self.stem(x))\ntorch/conv.py:9 in forward: return y");
  EXPECT_EQ(pt2::users_line(stack), "nets.py:50 in forward: x = F.relu(self.stem(x))");
  EXPECT_EQ(pt2::short_stack("\n File \"x"), "File \"x");
  EXPECT_EQ(pt2::users_line(""), "");
}

TEST(Pt2StorageOrder, FromStrides) {
  using pt2::storage_order;
  EXPECT_THAT(storage_order(Shape{2, 3, 4, 5}, Shape{60, 20, 5, 1}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(storage_order(Shape{2, 3, 4, 5}, Shape{60, 1, 15, 3}), ElementsAre(0, 2, 3, 1));
  EXPECT_THAT(storage_order(Shape{2, 3, 1, 1}, Shape{3, 1, 3, 3}),
              ElementsAre(0, 1, 2, 3));  // both: the plain one
  EXPECT_THAT(storage_order(Shape{1, 1, 4, 5}, Shape{20, 1, 5, 1}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(storage_order(Shape{3, 5, 4}, Shape{1, 12, 3}), ElementsAre(1, 2, 0));
  EXPECT_TRUE(pt2::is_dense(Shape{3, 5, 4}, Shape{1, 12, 3}, {1, 2, 0}));
  EXPECT_FALSE(pt2::is_dense(Shape{3, 5, 4}, Shape{1, 13, 3}, {1, 2, 0}));
  EXPECT_FALSE(pt2::is_dense(Shape{3, 5}, Shape{0, 1}, {0, 1}));
  EXPECT_THAT(pt2::inverse({1, 2, 0}), ElementsAre(2, 0, 1));
}

}  // namespace
}  // namespace deuteron
