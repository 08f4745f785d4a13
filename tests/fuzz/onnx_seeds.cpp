// SPDX-License-Identifier: Apache-2.0
// Writes a small .onnx model into a folder; and copies the files that are given.
#include <filesystem>
#include <fstream>

#include "frontends/onnx/file/writer.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::filesystem::path folder(argv[1]);
  std::ofstream(folder / "layers.onnx", std::ios::binary) << deuteron::onnx::small_model();
  for (int k = 2; k < argc; ++k)
    std::filesystem::copy_file(argv[k], folder / std::to_string(k).append(".onnx"),
                               std::filesystem::copy_options::overwrite_existing);
  return 0;
}
