// SPDX-License-Identifier: Apache-2.0
// The map of kernels that we read in a text of the vendor's converter, by the operators of the
// Neutron IR that it was given, as JSON: for tests that hold it against ExecuTorch's reader and
// against damaged texts.
//
//   console_map TEXT IR [TEXT ...]      the map of each text, one line each; FETCHES=1: of
//   conversions that fetch constants
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "npu/neutron/vendor/kernel_map.h"

namespace deuteron::neutron {
namespace {

std::vector<char> read(const char* path) {
  std::ifstream f(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(f), {}};
}

void print_map(const ModelFace& face, const char* path) {
  const std::vector<char> text = read(path);
  const KernelMap map = map_kernels(read_console_dump({text.data(), text.size()}), face, {},
                                    std::getenv("FETCHES") != nullptr);
  nlohmann::json kernels = nlohmann::json::array();
  for (const MappedKernel& k : map.kernels)
    kernels.push_back({{"kernel", k.name}, {"ops", k.ops}, {"open", k.open}});
  const nlohmann::json j = {{"kernels", kernels},
                            {"without_kernel", map.without_kernel},
                            {"unknown", map.unknown},
                            {"fault", map.fault}};
  fmt::print("{}\n", j.dump());
}

}  // namespace
}  // namespace deuteron::neutron

int main(int count, char** arguments) {
  using namespace deuteron::neutron;
  if (count < 3) return 2;
  const std::vector<char> ir = read(arguments[2]);
  const ModelFace face = face_of_model({reinterpret_cast<const uint8_t*>(ir.data()), ir.size()});
  print_map(face, arguments[1]);
  for (int k = 3; k < count; ++k) print_map(face, arguments[k]);
  return 0;
}
