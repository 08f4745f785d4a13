// SPDX-License-Identifier: Apache-2.0
// How sources are joined to one header: order, what stays outside the model's namespace, assembly,
// names of assembly, macros.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "write/firmware/c_output.h"

namespace deuteron {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kKernelHeader =
    "// A kernel.\n#pragma once\n#include <cstdint>\n\n#include "
    "\"kernels/one/steps.h\"\n\nnamespace deuteron {\nvoid one(int32_t);\n}\n";
constexpr std::string_view kSteps =
    "#pragma once\n#if defined(__ARM_FEATURE_MVE) && \\\n    1\n#include "
    "<arm_mve.h>\n#endif\n#define "
    "DEUTERON_STEP(x) (x + 1)\n\nextern \"C\" void "
    "deuteron_one_mve(const void*);\n";
constexpr std::string_view kKernel =
    "#include \"kernels/one/kernel.h\"\n#if defined(DEUTERON_HOST_KERNELS)\n#include "
    "\"kernels/one/vectors.h\"\n#endif\n\nnamespace deuteron "
    "{\nvoid "
    "one(int32_t) { deuteron_one_mve(nullptr); }\n}\n";
constexpr std::string_view kAssembly =
    "@ Its loop.\n#if defined(__ARM_FEATURE_MVE)\n#include "
    "\"kernels/one/steps_mve.inc\"\ndeuteron_one_mve:\n  STEP r0\n#endif\n";
constexpr std::string_view kMacros =
    "@ Its step.\n.macro STEP to\n  adds \\to, \"x\" @ one\n.endm\n";

RuntimeSources sources() {
  RuntimeSources s;
  s.files = {{"kernels/one/bind.cpp", "#include \"kernels/one/kernel.h\"\n"},
             {"kernels/one/kernel.cpp", kKernel},
             {"kernels/one/kernel.h", kKernelHeader},
             {"kernels/one/steps.S", kAssembly},
             {"kernels/one/steps.h", kSteps},
             {"kernels/one/steps_mve.inc", kMacros},
             {"kernels/one/vectors.h", "#pragma once\nvoid vectors();\n"}};
  s.kernels = {{"one.out", {"kOne", "kernels/one/bind.cpp"}}};
  return s;
}

std::string header_of(const std::string& name) {
  COutput o;
  o.target = "cortex-m55", o.isa = "mve", o.flags = "-mcpu=cortex-m55", o.version = "1";
  CProgram p;
  p.name = name;
  p.from = name + ".pte";
  CCall call;
  call.op = "one.out";
  call.kernel = "one";
  o.programs = {p};
  o.programs[0].calls.push_back(call);
  return cpp_header(o, sources());
}

TEST(CppHeader, HeadersComeBeforeTheirUsersAndNothingOfOursIsIncluded) {
  const std::string text = header_of("net");
  const size_t steps = text.find("// kernels/one/steps.h"),
               kernel = text.find("// kernels/one/kernel.h"),
               source = text.find("// kernels/one/kernel.cpp");
  ASSERT_NE(source, text.npos);
  EXPECT_LT(steps, kernel);
  EXPECT_LT(kernel, source);
  EXPECT_THAT(text, Not(HasSubstr("#include \"")));
  EXPECT_THAT(text, Not(HasSubstr("#pragma once")));
}

TEST(CppHeader, IncludesOfTheSystemStayOutsideTheNamespaceUnderTheirConditions) {
  const std::string text = header_of("net");
  EXPECT_THAT(text, HasSubstr("#if defined(__ARM_FEATURE_MVE) && \\\n    1\n"
                              "#include <arm_mve.h>\n#endif\n"));
  EXPECT_THAT(text, HasSubstr("#include <cstdint>\n\n\nnamespace net_kernels {\nnamespace deuteron "
                              "{\nvoid one(int32_t);\n}\n}\n"));
}

TEST(CppHeader, AChoiceOfVectorsAtRunTimeIsNotOfTheHeader) {
  EXPECT_THAT(header_of("net"), Not(HasSubstr("vectors")));
}

TEST(CppHeader, AssemblyIsStatementsWhoseMacrosEndWithThem) {
  EXPECT_THAT(header_of("net"),
              HasSubstr("// kernels/one/steps.S\n__asm__(\n  \".pushsection .text\\n\"\n);\n#if "
                        "defined(__ARM_FEATURE_MVE)\n__asm__(\n"
                        "  \".macro STEP to\\n\"\n  \"  adds \\\\to, \\\"x\\\"\\n\"\n  "
                        "\".endm\\n\"\n  \"net_one_mve:\\n\"\n"
                        "  \"  STEP r0\\n\"\n  \".purgem STEP\\n\"\n);\n#endif\n__asm__(\n  "
                        "\".popsection\\n\"\n);\n"));
}

TEST(CppHeader, TwoModelsShareNoNameAndNoMacro) {
  for (const char* name : {"net", "other"}) {
    const std::string text = header_of(name);
    EXPECT_THAT(text, Not(HasSubstr("deuteron_one_mve")))
        << "a name of assembly, which has no namespace";
    EXPECT_THAT(text, HasSubstr(std::string("extern \"C\" void ") + name + "_one_mve("));
    EXPECT_THAT(text, HasSubstr("#undef DEUTERON_STEP\n"));
  }
}

}  // namespace
}  // namespace deuteron
