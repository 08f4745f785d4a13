// SPDX-License-Identifier: Apache-2.0
// Which sources a kernel needs: complete, by the symbols of the board's own object files, and no
// more than that.
#include "write/firmware/sources.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "runtime/kernel.h"
#include "tests/paths.h"
#include "write/firmware/embedded_sources.h"

namespace deuteron {
namespace {

using testing::Contains;
using testing::Not;

struct Symbols {
  std::set<std::string> defined, needed;
};

// By source file, from `nm` of every object of the Cortex-M33 board.
std::map<std::string, Symbols> board_symbols() {
  std::map<std::string, Symbols> all;
  const std::string folder = std::string(kBoardObjects) + "/mps2-an505/";
  std::error_code missing;
  if (!std::filesystem::is_directory(folder, missing)) return all;
  const std::string command =
      "cd " + folder + " && find . -name '*.o' | xargs arm-none-eabi-nm -A 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  char line[4096];
  while (pipe && std::fgets(line, sizeof line,
                            pipe.get())) {  // "./kernels/add/kernel.cpp.o:00000000 T name"
    std::string text(line);
    text.pop_back();
    const size_t colon = text.find(".o:");
    if (colon == text.npos || text.size() < colon + 14) continue;
    const std::string source = text.substr(2, colon - 2), name = text.substr(text.rfind(' ') + 1);
    const char kind = text[text.size() - name.size() - 2];
    // The runner's start.cpp is compiled with the tracer, and a project has a main of its own.
    if (name.find("systick_clock_handler") != name.npos || name == "main") continue;
    if (kind == 'U') all[source].needed.insert(name);
    else all[source].defined.insert(name);
  }
  return all;
}

// What is needed, defined in no chosen source but in another of ours. Libraries' symbols are
// defined in none.
std::set<std::string> undefined(const std::set<std::string>& sources,
                                const std::map<std::string, Symbols>& symbols,
                                const std::map<std::string, std::string>& home) {
  std::set<std::string> defined, missing;
  for (const std::string& s : sources)
    if (const auto it = symbols.find(s); it != symbols.end())
      defined.insert(it->second.defined.begin(), it->second.defined.end());
  for (const std::string& s : sources)
    if (const auto it = symbols.find(s); it != symbols.end())
      for (const std::string& name : it->second.needed)
        if (!defined.contains(name) && home.contains(name))
          missing.insert(name + " of " + home.at(name));
  return missing;
}

TEST(FirmwareSources, EveryKernelAloneFindsAllThatItNeeds) {
  const std::map<std::string, Symbols> symbols = board_symbols();
  if (symbols.empty()) GTEST_SKIP() << "left out: the boards are not built";
  const RuntimeSources runtime = embedded_sources();
  std::map<std::string, std::string> home;
  for (const auto& [source, s] : symbols)
    for (const std::string& name : s.defined) home.emplace(name, source);
  for (int32_t k = 0; k < kAllKernels.count; ++k) {
    const std::string name = kAllKernels.kernels[k]->name;
    ASSERT_TRUE(runtime.kernels.contains(name)) << name;
    const KernelSource& kernel = runtime.kernels.at(name);
    EXPECT_TRUE(symbols.at(std::string(kernel.path))
                    .defined.contains(
                        fmt::format("_ZN8deuteron{}{}E", kernel.symbol.size(), kernel.symbol)))
        << name << " in " << kernel.path;
    const std::set<std::string> sources = needed_sources(
        runtime, {{{name, {}}}, {}, {}}, {"mps2-an505", "dsp", "cortex_m"}, false, false);
    EXPECT_THAT(undefined(sources, symbols, home), testing::IsEmpty()) << name;
    EXPECT_LE(sources.size(), 116u)
        << name;  // its own, those that it calls, of four operators at most, and the runtime
  }
  for (int32_t k = 1; k < neutron::kKinds; ++k) {
    const char* name = neutron::name_of(static_cast<neutron::Kind>(k));
    if (!name) continue;
    std::set<std::string> missing =
        undefined(needed_sources(runtime, {{}, {{name, {}}}, {}}, {"mps2-an505", "dsp", "cortex_m"},
                                 true, true),
                  symbols, home);
    std::erase_if(missing, [](const std::string& s) {
      return s.ends_with("kernel_table.cpp");
    });  // the selection's own
    EXPECT_THAT(missing, testing::IsEmpty()) << name;
  }
}

TEST(FirmwareSources, OnlyWhatIsAskedFor) {
  const RuntimeSources runtime = embedded_sources();
  const KernelList conv{{{"cortex_m::quantized_conv2d.out", {}}}, {}, {}};
  EXPECT_EQ(runtime.kernels.at("cortex_m::quantized_conv2d.out").symbol, "kQuantizedConv2d");
  EXPECT_EQ(runtime.kernels.at("cortex_m::quantized_conv2d.out").path, "kernels/conv2d/bind.cpp");
  EXPECT_FALSE(runtime.kernels.contains("cortex_m::quantized_conv2d.other"));
  const std::set<std::string> sources =
      needed_sources(runtime, conv, {"mps2-an505", "dsp", "cortex_m"}, false, false);
  EXPECT_THAT(sources, Contains("kernels/conv2d/kernel.cpp"));
  EXPECT_THAT(sources, Contains("runtime/load.cpp"));
  EXPECT_THAT(sources, Not(Contains("kernels/softmax/kernel.cpp")));
  EXPECT_THAT(sources, Not(Contains("npu/all_kernels.cpp")));
  EXPECT_THAT(sources, Not(Contains("npu/neutron/delegate/delegate.cpp")));
  const std::set<std::string> vendor =
      needed_sources(runtime, conv, {"mps2-an505", "dsp", "cortex_m"}, true, false);
  EXPECT_THAT(vendor, Contains("npu/neutron/delegate/delegate.cpp"));
  EXPECT_THAT(vendor, Contains("npu/neutron/machine/driver.h"));
  EXPECT_THAT(vendor, Not(Contains("npu/neutron/machine/neutron_model.cpp")));
}

}  // namespace
}  // namespace deuteron
