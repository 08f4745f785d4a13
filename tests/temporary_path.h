// SPDX-License-Identifier: Apache-2.0
// Where a test puts a file or folder that no other test, and no other run of the same test, uses.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace deuteron {

inline std::string temporary_path(const std::string& name) {
  return testing::TempDir() + "deuteron_" + std::to_string(::getpid()) + "_" + name;
}

}  // namespace deuteron
