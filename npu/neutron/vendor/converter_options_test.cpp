// SPDX-License-Identifier: Apache-2.0
#include "npu/neutron/vendor/converter_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace deuteron::neutron {
namespace {

using testing::ElementsAre;

std::vector<std::string> given(const std::vector<std::string>& texts) {
  Diagnostics diagnostics;
  std::vector<ConverterOption> options;
  for (const std::string& text : texts) {
    const auto option = read_converter_option(text, diagnostics);
    if (!option) return {diagnostics.list().at(0).rule};
    set_option(options, *option);
  }
  return arguments_of(options);
}

TEST(NeutronConverterOptions, AsExecutorchOrTheCommandLineNamesThem) {
  EXPECT_THAT(given({"minNumOpsPerGraph=1"}), ElementsAre("--min-num-ops-per-graph", "1"));
  EXPECT_THAT(given({"min-num-ops-per-graph=1"}), ElementsAre("--min-num-ops-per-graph", "1"));
  EXPECT_THAT(given({"--use-sequencer"}), ElementsAre("--use-sequencer"));
  EXPECT_THAT(given({"fetchConstantsToSRAM=true"}), ElementsAre("--fetch-constants-to-sram"));
  EXPECT_THAT(given({"useNewFlowNeutronC=true"}), ElementsAre("--use-new-flow-neutron-c"));
  EXPECT_THAT(given({"excludeGraphPasses=A,B"}), ElementsAre("--exclude-graph-passes", "A,B"));
}

TEST(NeutronConverterOptions, ALaterOneReplacesAnEarlierOne) {
  EXPECT_THAT(given({"minNumOpsPerGraph=1", "min-num-ops-per-graph=4"}),
              ElementsAre("--min-num-ops-per-graph", "4"));
  EXPECT_THAT(given({"verbose=true", "verbose=false"}), ElementsAre());
}

TEST(NeutronConverterOptions, Refused) {
  for (const char* text : {"", "=1", "--", "a b=1", "input=x", "--output=x"})
    EXPECT_THAT(given({text}), ElementsAre("neutron.external.option")) << text;
}

TEST(NeutronConverterOptions, ThoseOfExecutorchsFlow) {
  EXPECT_THAT(
      arguments_of(default_converter_options()),
      ElementsAre("--min-num-ops-per-graph", "1", "--exclude-graph-passes",
                  "HoistSliceAboveTranspose,MergeTranspose", "--dump-after-import", "console",
                  "--dump-after-generate", "console", "--verbose", "--dump-microcode"));
}

}  // namespace
}  // namespace deuteron::neutron
