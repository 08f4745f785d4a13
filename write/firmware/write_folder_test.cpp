// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "write/firmware/write_project.h"

namespace deuteron {
namespace {

namespace fs = std::filesystem;

class WriteFolder : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(root_); }
  void TearDown() override { fs::remove_all(root_); }
  std::string rule_of(const std::string& name, bool force = false) {
    Diagnostics d;
    const bool done = write_folder((root_ / name).native(), files_, force, d);
    EXPECT_EQ(done, d.list().empty());
    return done ? "" : d.list().at(0).rule + ": " + d.list()[0].what;
  }
  size_t entries() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(root_), fs::directory_iterator()));
  }

  const fs::path root_ =
      fs::temp_directory_path() / ("deuteron_folder_" + std::to_string(getpid()));
  std::map<std::string, std::string> files_ = {{kSelectionFile, write_kernel_list({})},
                                               {"a/b.cpp", "int x;\n"}};
};

TEST_F(WriteFolder, IsWrittenWhole) {
  EXPECT_EQ(rule_of("fw"), "");
  EXPECT_EQ(rule_of("deep/er/fw/"), "");
  EXPECT_EQ(fs::file_size(root_ / "fw/a/b.cpp"), 7u);
  EXPECT_EQ(entries(), 2u) << "nothing temporary is left";
}

TEST_F(WriteFolder, ReplacesOnlyItsOwnAndOnlyWhenAsked) {
  EXPECT_EQ(rule_of("fw"), "");
  EXPECT_EQ(rule_of("fw"), "firmware.folder: is a project already");
  std::ofstream(root_ / "fw/mine.txt") << "x";
  EXPECT_EQ(rule_of("fw", true), "");
  EXPECT_FALSE(fs::exists(root_ / "fw/mine.txt"));
  EXPECT_EQ(entries(), 1u);
  fs::create_directory(root_ / "empty");
  EXPECT_EQ(rule_of("empty"), "");
  fs::create_directory(root_ / "mine");
  std::ofstream(root_ / "mine/thesis.txt") << "x";
  EXPECT_EQ(rule_of("mine", true),
            "firmware.folder: is not empty, and no project of `deuteron firmware`");
  EXPECT_TRUE(fs::exists(root_ / "mine/thesis.txt"));
  std::ofstream(root_ / "file") << "x";
  EXPECT_EQ(rule_of("file", true),
            "firmware.folder: is a file where the folder of the project shall stand");
}

TEST_F(WriteFolder, LeavesNothingHalfWritten) {
  files_["a/b.cpp/c"] = "a file cannot lie below a file";
  EXPECT_NE(rule_of("fw"), "");
  EXPECT_EQ(entries(), 0u);
  fs::create_directory(root_ / "fw");
  EXPECT_NE(rule_of("fw"), "");
  EXPECT_TRUE(fs::is_empty(root_ / "fw"));
  EXPECT_EQ(entries(), 1u);
}

}  // namespace
}  // namespace deuteron
