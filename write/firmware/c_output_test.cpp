// SPDX-License-Identifier: Apache-2.0
// Names and comments of a C output carry no code, and the features of cores are those of the flags.
#include "write/firmware/c_output.h"

#include <gtest/gtest.h>

namespace deuteron {
namespace {

TEST(COutput, NamesAreIdentifiers) {
  struct {
    const char *text, *name;
  } const cases[] = {{"resnet8", "resnet8"},
                     {"", "model"},
                     {"8bit", "model_8bit"},
                     {"../../etc/passwd", "etc_passwd"},
                     {"a\"; system(\"x\"); \"", "a___system__x"},
                     {"net\n#error", "net__error"},
                     {"string", "model_string"},
                     {"Arduino", "model_Arduino"},
                     {"Print", "model_Print"},
                     {"STDIO", "model_STDIO"},
                     {"deuteron_kernels", "model_deuteron_kernels"},
                     {"____", "model"}};
  for (const auto& c : cases) {
    EXPECT_EQ(c_name(c.text), c.name) << c.text;
    EXPECT_TRUE(is_c_name(c_name(c.text))) << c.text;
  }
  EXPECT_TRUE(is_c_name(c_name(std::string(500, 'x'))));
  for (const char* text : {"", "8bit", "a-b", "string", "deuteron_x", "_x", "a b", "a\n"})
    EXPECT_FALSE(is_c_name(text)) << text;
}

TEST(COutput, CommentsStayComments) {
  EXPECT_EQ(c_comment("a */ int x; /* b"), "a _/ int x_ /_ b");
  EXPECT_EQ(c_comment("a\n#error \\\n?\?/"), "a__error ____/");
  EXPECT_EQ(c_comment("http://x"), "http:/x");
}

TEST(COutput, FunctionsOfTemplates) {
  EXPECT_EQ(c_function("add_s8_mve"), "deuteron_add_s8_mve");
  EXPECT_EQ(c_function("packed_conv2d_s8<Packing::dsp_4x4>"), "deuteron_packed_conv2d_s8_dsp_4x4");
}

TEST(COutput, FeaturesAreThoseOfTheCompiler) {
  const auto bit = [](Feature f) { return 1u << static_cast<int>(f); };
  EXPECT_EQ(features_of("", ""), 0u);
  EXPECT_EQ(features_of("mve", "-mcpu=cortex-m55 -mfloat-abi=hard"),
            bit(Feature::mve) | bit(Feature::mve_float));
  EXPECT_EQ(features_of("mve", "-mcpu=cortex-m55 -mfloat-abi=soft"), bit(Feature::mve));
  EXPECT_EQ(features_of("dsp", "-mcpu=cortex-m4 -mfloat-abi=hard"),
            bit(Feature::dsp) | bit(Feature::dsp_float));
  EXPECT_EQ(features_of("scalar", "-mcpu=cortex-m3 -mfloat-abi=soft"),
            bit(Feature::scalar) | bit(Feature::soft_float));
  EXPECT_EQ(features_of("scalar", "-mcpu=cortex-m0 -mfloat-abi=soft"),
            bit(Feature::scalar) | bit(Feature::soft_float));
}

}  // namespace
}  // namespace deuteron
