// The files that the build has put into this program, as the functions of sources.h want them. For programs that link them.
#pragma once
#include <vector>

#include "firmware/embedded.h"
#include "firmware/sources.h"

namespace deuteron {

inline std::vector<SourceFile> embedded_sources() {
  std::vector<SourceFile> files;
  for (int i = 0; i < deuteron_runtime_file_count; ++i) {
    const deuteron_embedded_file& f = deuteron_runtime_files[i];
    files.push_back({f.path, {f.begin, static_cast<size_t>(f.end - f.begin)}});
  }
  return files;
}

}  // namespace deuteron
