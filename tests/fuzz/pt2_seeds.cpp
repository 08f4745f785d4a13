// Writes the first inputs of pt2_fuzz into a folder: the archives that are given, and their programs on their own.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "frontends/pt2_archive/archive.h"

int main(int argc, char** argv) {
  using namespace deuteron;
  if (argc < 3) return 2;
  const std::filesystem::path folder = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string stem = std::filesystem::path(argv[i]).stem().string() + "_" + std::to_string(i);
    std::ifstream file(argv[i], std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    std::ofstream(folder / (stem + "_archive"), std::ios::binary) << '\0' << bytes;
    Diagnostics diagnostics;
    const auto archive = pt2::open_archive(std::string(argv[i]), diagnostics);
    const auto* program = archive ? pt2::find_entry(*archive, "models/model.json") : nullptr;
    if (!program) continue;
    std::ofstream out(folder / (stem + "_program"), std::ios::binary);
    out << '\4';
    out.write(reinterpret_cast<const char*>(program->bytes.data()), static_cast<std::streamsize>(program->bytes.size()));
  }
  return 0;
}
