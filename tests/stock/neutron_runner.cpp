// SPDX-License-Identifier: Apache-2.0
// Converts and runs every `NAME.tflite` of a folder on the open machine model, in each mode of
// conversion: inputs from `NAME.in0`, `NAME.in1`, ..., outputs to `NAME.MODE.out0`, ...; prints a
// line for each: name, mode, scratch bytes, bytes of the SRAM weight scratch, the kernels. For
// tests that compare with another interpreter.
//   neutron_runner FOLDER
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "npu/neutron/converter/converter.h"
#include "npu/neutron/converter/run_extracted.h"
#include "npu/neutron/machine/test_machine.h"

using namespace deuteron;
using namespace deuteron::neutron;

static std::vector<u8> read_file(const std::filesystem::path& path) {
  std::ifstream f(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(f), {}};
}

static bool run_mode(const std::filesystem::path& stem, const char* mode,
                     const ConvertOptions& options) {
  const auto ir = read_file(stem.string() + ".tflite");
  const std::string name = stem.filename().string();
  Diagnostics diagnostics;
  const auto converted = convert(ir, options, diagnostics);
  const auto e = converted ? extract(converted->model, name, diagnostics) : std::nullopt;
  for (const Diagnostic& d : diagnostics.list())
    std::printf("%s %s\n", name.c_str(), format_diagnostic(d).c_str());
  if (!e) return false;
  std::vector<std::vector<u8>> inputs;
  for (i64 i = 0; i < e->model_inputs; ++i)
    inputs.push_back(read_file(stem.string() + ".in" + std::to_string(i)));
  const RunResult r = run_extracted(*e, inputs);
  std::printf("%s %s %lld %lld:", name.c_str(), mode,
              static_cast<long long>(converted->scratch_bytes),
              static_cast<long long>(converted->sram_bytes));
  for (const KernelUse& k : converted->kernels) std::printf(" %s", name_of(k.kind));
  if (r.error != kNeutronOk)
    std::printf(" error: %s failed: %08x", r.prepared ? "run" : "prepare",
                static_cast<unsigned>(r.error));
  std::printf("\n");
  for (size_t i = 0; i < r.outputs.size(); ++i) {
    std::ofstream f(stem.string() + "." + mode + ".out" + std::to_string(i), std::ios::binary);
    f.write(reinterpret_cast<const char*>(r.outputs[i].data()),
            static_cast<std::streamsize>(r.outputs[i].size()));
  }
  return r.error == kNeutronOk;
}

int main(int count, char** arguments) {
  if (count != 2) return 2;
  std::vector<std::filesystem::path> stems;
  for (const auto& entry : std::filesystem::directory_iterator(arguments[1]))
    if (entry.path().extension() == ".tflite")
      stems.push_back(entry.path().parent_path() / entry.path().stem());
  std::sort(stems.begin(), stems.end());
  neutronInit();
  bool good = true;
  for (const auto& stem : stems) {
    ConvertOptions options;
    options.machine = n3_64();
    good &= run_mode(stem, "plain", options);
    options.fuse = false;
    good &= run_mode(stem, "unfused", options);
    options.fuse = true, options.fetch_constants_to_sram = true;
    good &= run_mode(stem, "fetch", options);
    options.profile = true;
    good &= run_mode(stem, "profile", options);
  }
  return good ? 0 : 1;
}
