// SPDX-License-Identifier: Apache-2.0
// Where tests find what they read. The build writes paths.cpp, so no test's own code changes with
// the folder that it is built in.
#pragma once
#include <string>

namespace deuteron {

extern const char* const kSourceFolder;  // this checkout
extern const char* const kSharedFolder;  // fixtures, beside it
extern const char* const kTool;          // the program `deuteron`
extern const char* const kBoardObjects;  // of the emulated boards, a folder for each

inline std::string source_path(const std::string& path) {
  return std::string(kSourceFolder) + "/" + path;
}
inline std::string shared_path(const std::string& path) {
  return std::string(kSharedFolder) + "/" + path;
}

}  // namespace deuteron
