// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/file/tensor_pickle.h"

#include <gtest/gtest.h>

#include <string>

namespace deuteron::pt2 {
namespace {

std::string text_of(uint32_t length, std::string_view text) {
  std::string bytes = "X";
  for (int k = 0; k < 4; ++k) bytes += static_cast<char>(length >> 8 * k);
  return bytes.append(text);
}

// {"w": a parameter of 2 x 3 floats}, as torch 2.6 saves it.
std::string one_parameter() {
  const std::string storage = "((" + text_of(7, "storage") + "ctorch\nFloatStorage\n" +
                              text_of(1, "0") + text_of(3, "cpu") + "K\x06tQ";
  std::string extents("K\0K\x02K\x03\x86q\x09K\x03K\x01\x86\x89", 15);
  extents.append("ccollections\nOrderedDict\n)RtR");
  return "\x80\x02}q" + std::string(1, '\0') + "(" + text_of(1, "w") +
         "ctorch._utils\n_rebuild_parameter\nctorch._utils\n_rebuild_tensor_v2\n" + storage +
         extents + "\x88" + "ccollections\nOrderedDict\n)R\x87Ru.";
}

std::optional<ByName<WeightEntry>> read(const std::string& pickle) {
  Diagnostics diagnostics;
  auto entries =
      tensors_of_pickle(std::as_bytes(std::span(pickle)), "model.pt/data/", "net.pt2", diagnostics);
  EXPECT_EQ(entries.has_value(), !diagnostics.has_errors());
  return entries;
}

TEST(TensorPickle, IsRead) {
  const auto entries = read(one_parameter());
  ASSERT_TRUE(entries);
  ASSERT_EQ(entries->size(), 1u);
  const WeightEntry& w = entries->at("w");
  EXPECT_EQ(w.blob, "model.pt/data/0");
  EXPECT_EQ(w.meta.dtype, DType::f32);
  EXPECT_EQ(w.meta.sizes, (Shape{2, 3}));
  EXPECT_EQ(w.meta.strides, (Axes{3, 1}));
  EXPECT_TRUE(w.is_param);
}

// Every beginning is refused, and every byte may be any other: a result or one diagnostic.
TEST(TensorPickle, DamageIsFound) {
  const std::string whole = one_parameter();
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(read(whole.substr(0, length))) << length;
  for (size_t at = 0; at < whole.size(); ++at)
    for (int value = 0; value < 256; ++value) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(value);
      read(damaged);
    }
}

}  // namespace
}  // namespace deuteron::pt2
