// SPDX-License-Identifier: Apache-2.0
// The cases of a kernel test as one program on an emulated board (kernels/common/kernel_test.h).
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "kernels/common/kernel_test.h"
#include "tests/paths.h"

namespace deuteron {

Isa KernelCases::isa() const { return board_ == "mps3-an547" ? Isa::mve : kBuildIsa; }

void KernelCases::run_on_board() {
  if (board_.empty() || expected_.empty()) return;
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("kernel_cases." + std::to_string(getpid()));
  fs::create_directories(folder);
  const std::vector<uint8_t> bytes = program_.finish().bytes();
  std::ofstream program(folder / "cases.pte", std::ios::binary);
  program.write(reinterpret_cast<const char*>(bytes.data()),
                static_cast<std::streamsize>(bytes.size()));
  program.close();
  const std::string log = (folder / "log").string();
  const std::string command = std::string("'") + kTool + "' run '" +
                              (folder / "cases.pte").string() + "' --on qemu:" + board_ +
                              " --output-dir '" + folder.string() + "' > '" + log + "' 2>&1";
  if (std::system(command.c_str()) != 0) {
    std::ifstream printed(log);
    const std::string text(std::istreambuf_iterator<char>(printed), {});
    const bool absent = text.find("board.qemu_missing") != std::string::npos ||
                        text.find("board.not_built") != std::string::npos;
    if (absent) std::printf("left out: %s\n", text.c_str());
    else ADD_FAILURE() << command << "\n" << text;
  } else {
    for (size_t k = 0; k < expected_.size(); ++k)
      compare(expected_[k], (folder / ("output" + std::to_string(k) + ".npy")).string());
  }
  fs::remove_all(folder);
}

// The bytes in the order of the axes, as a .npy file has them.
static std::vector<uint8_t> in_order_of_axes(const std::vector<uint8_t>& stored,
                                             const std::vector<int32_t>& sizes,
                                             const std::vector<uint8_t>& order,
                                             size_t element_bytes) {
  std::vector<size_t> stride(sizes.size());
  size_t step = element_bytes;
  for (size_t k = order.size(); k-- > 0; step *= static_cast<size_t>(sizes[order[k]]))
    stride[order[k]] = step;
  std::vector<uint8_t> result;
  std::vector<int32_t> index(sizes.size(), 0);
  while (result.size() < stored.size()) {
    size_t at = 0;
    for (size_t k = 0; k < index.size(); ++k) at += static_cast<size_t>(index[k]) * stride[k];
    result.insert(result.end(), &stored[at], &stored[at] + element_bytes);
    for (size_t k = index.size(); k-- > 0;) {
      if (++index[k] < sizes[k]) break;
      index[k] = 0;
    }
  }
  return result;
}

// The result is the end of the .npy file.
void KernelCases::compare(const Expected& expected, const std::string& path) const {
  std::ifstream file(path, std::ios::binary);
  std::vector<uint8_t> bytes(std::istreambuf_iterator<char>(file), {});
  ASSERT_GE(bytes.size(), expected.bytes.size()) << expected.name;
  bytes.erase(bytes.begin(), bytes.end() - static_cast<std::ptrdiff_t>(expected.bytes.size()));
  const std::vector<uint8_t> logical =
      in_order_of_axes(expected.bytes, expected.sizes, expected.order, expected.element_bytes);
  EXPECT_EQ(bytes, logical) << expected.name << " on " << board_;
}

}  // namespace deuteron
