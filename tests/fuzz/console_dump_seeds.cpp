// SPDX-License-Identifier: Apache-2.0
// Writes what the vendor's converter prints for small models, in each way that kernels come to
// their operators: seeds for console_dump_fuzz.
#include <filesystem>
#include <fstream>

#include "npu/neutron/vendor/test_dump.h"

using deuteron::neutron::TestDump;

static TestDump of_layers(const std::vector<std::string>& calls) {
  TestDump d;
  d.constants = {"w0", "w1"};
  d.model = {
      {"CONV_2D", {"x", "w0"}, {"a"}}, {"CONV_2D", {"a", "w1"}, {"b"}}, {"SOFTMAX", {"b"}, {"y"}}};
  d.row("Conv2DStandardV1", d.model[0]);
  d.row("Conv2DStandardV1", d.model[1]);
  d.row("Softmax", d.model[2]);
  d.calls = calls;
  return d;
}

// PAD and RELU are in the convolution; the fully connected layer is split, and its parts joined.
static TestDump of_rewrites() {
  TestDump d;
  d.constants = {"w"};
  d.model = {{"PAD", {"x"}, {"p"}},
             {"CONV_2D", {"p", "w"}, {"c"}},
             {"RELU", {"c"}, {"r"}},
             {"RESHAPE", {"r"}, {"v"}},
             {"FULLY_CONNECTED", {"v"}, {"y"}}};
  d.rows = {{{"Pad", "Conv2DStandardV2"},
             {{"PAD", {"x"}, {"n0"}}, {"CONV_2D", {"n0", "w"}, {"r"}}},
             {"x", "w"},
             {"r"}}};
  d.row("FullyConnected", {"FULLY_CONNECTED", {"v"}, {"part0"}});
  d.row("FullyConnected", {"FULLY_CONNECTED", {"v"}, {"part1"}});
  d.row("StridedSliceConcat", {"CONCATENATION", {"part0", "part1"}, {"y"}});
  return d;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string one = "Conv2DStandardV1 0x0", other = "Conv2DStandardV1 0x90";
  const std::vector<std::pair<std::string, TestDump>> all = {
      {"listed", of_layers({})},
      {"called", of_layers({"MemCpy", one, "MemCpy", other, "Softmax"})},
      {"copies", of_layers({"MemCpy 0x0 0x1000", "MemCpy 0x100 0x2000", one + " 0x1000",
                            "MemCpy 0x200 0x1000", other + " 0x2000", "Softmax 0x0 0x1000"})},
      {"repeated", of_layers({one, one, one, other, other, "MemCpy", "Softmax", "Softmax"})},
      {"repeated_alike", of_layers({one, one, one, one, "Softmax"})},
      {"too_few", of_layers({one, "Softmax"})},
      {"rewritten", of_rewrites()},
  };
  for (const auto& [name, dump] : all)
    for (const std::string option :
         {"", "minNumOpsPerGraph=2", "exclude-graph-passes=MergeTranspose", "verbose", "input=x"})
      std::ofstream(std::filesystem::path(argv[1]) / (name + "." + option), std::ios::binary)
          << option << '\0' << dump.text();
  return 0;
}
