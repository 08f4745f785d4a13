// SPDX-License-Identifier: Apache-2.0
// Writes small .tflite models into a folder, one for each way in which the reader goes on; and
// copies the files that are given.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "frontends/tflite/test_models.h"

using namespace deuteron;

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: tflite_seeds FOLDER [FILE ...]\n"), 2;
  const std::filesystem::path folder = argv[1];
  for (const tflite::NamedModel& model : tflite::test_models())
    std::ofstream(folder / (model.name + ".tflite"), std::ios::binary)
        .write(reinterpret_cast<const char*>(model.bytes.data()),
               static_cast<std::streamsize>(model.bytes.size()));
  for (int k = 2; k < argc; ++k)
    std::filesystem::copy_file(argv[k], folder / std::to_string(k).append(".tflite"),
                               std::filesystem::copy_options::overwrite_existing);
  return 0;
}
