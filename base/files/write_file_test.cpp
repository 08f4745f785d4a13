// SPDX-License-Identifier: Apache-2.0
#include "base/files/write_file.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace deuteron {
namespace {

namespace fs = std::filesystem;

struct WriteFile : testing::Test {
  fs::path folder =
      fs::temp_directory_path() / ("deuteron_write_file_test." + std::to_string(::getpid()));
  Diagnostics diagnostics;
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }

  static std::string read(const fs::path& p) {
    std::ifstream in(p, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  bool write(const fs::path& p, const std::string& text) {
    return write_file(p.string(), {reinterpret_cast<const uint8_t*>(text.data()), text.size()},
                      diagnostics);
  }
  std::vector<std::string> entries() const {
    std::vector<std::string> names;
    for (const auto& e : fs::directory_iterator(folder))
      names.push_back(e.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
  void expect_refused(const fs::path& p, const std::string& reason) {
    const size_t before = diagnostics.list().size();
    EXPECT_FALSE(write(p, "text"));
    ASSERT_EQ(diagnostics.list().size(), before + 1);
    const Diagnostic& d = diagnostics.list().back();
    EXPECT_EQ(d.severity, Severity::error);
    EXPECT_EQ(d.where, p.string());
    EXPECT_NE(d.what.find(reason), std::string::npos) << d.what;
    EXPECT_FALSE(d.fix.empty());
    EXPECT_EQ(d.rule, "write.file");
  }
};

TEST_F(WriteFile, WritesAndReplaces) {
  const fs::path p = folder / "model.pte";
  EXPECT_TRUE(write(p, "one"));
  EXPECT_EQ(read(p), "one");
  const std::string large(3'000'000, 'x');
  EXPECT_TRUE(write(p, large));
  EXPECT_EQ(read(p), large);
  EXPECT_TRUE(write(p, ""));
  EXPECT_EQ(read(p), "");
  EXPECT_EQ(entries(), std::vector<std::string>{"model.pte"});
  EXPECT_TRUE(diagnostics.list().empty());
}

TEST_F(WriteFile, TakesTheLongestName) {
  const fs::path p = folder / std::string(255, 'n');
  EXPECT_TRUE(write(p, "one"));
  EXPECT_EQ(read(p), "one");
}

TEST_F(WriteFile, KeepsModeAndLinks) {
  const fs::path p = folder / "model.pte", link = folder / "link.pte";
  ASSERT_TRUE(write(p, "one"));
  ::chmod(p.c_str(), 0640);
  fs::create_symlink("model.pte", link);
  EXPECT_TRUE(write(link, "two"));
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(read(p), "two");
  struct stat s;
  ASSERT_EQ(::stat(p.c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 07777, 0640u);
}

TEST_F(WriteFile, RefusesWhatCannotBeWrittenAndSaysWhy) {
  std::ofstream(folder / "file") << "x";
  fs::create_directory(folder / "folder");
  expect_refused(folder / "folder", "Is a directory");
  expect_refused(folder / "new/", "Is a directory");
  expect_refused(folder / "missing" / "model.pte", "No such file or directory");
  expect_refused(folder / "file" / "model.pte", "Not a directory");
  expect_refused(folder / std::string(300, 'n'), "File name too long");
  EXPECT_FALSE(write("", "text"));
  EXPECT_EQ(entries(), (std::vector<std::string>{"file", "folder"})) << "nothing is left behind";
}

TEST_F(WriteFile, AFullDeviceIsReported) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "left out: /dev/full does not exist here";
  expect_refused("/dev/full", "No space left on device");
  EXPECT_TRUE(fs::exists("/dev/full"));
}

TEST_F(WriteFile, ADeviceIsWrittenNotReplaced) {
  EXPECT_TRUE(write("/dev/null", "text"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(WriteFile, AFileInMemoryIsWrittenNotReplaced) {
  const int file = ::memfd_create("test", MFD_CLOEXEC);
  ASSERT_GE(file, 0);
  const fs::path p = "/proc/self/fd/" + std::to_string(file);
  EXPECT_TRUE(write(p, "longer"));
  EXPECT_TRUE(write(p, "text"));
  EXPECT_EQ(read(p), "text");
  ::close(file);
}

// A disk that fills up in the middle, without one: the limit on the size of files gives the same
// error from the same call.
TEST_F(WriteFile, AWriteThatFailsHalfWayLeavesTheOldFile) {
  const fs::path p = folder / "model.pte";
  ASSERT_TRUE(write(p, "old"));
  rlimit before;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 100'000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const bool done = write(p, std::string(1'000'000, 'y'));
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_FALSE(done);
  EXPECT_EQ(read(p), "old");
  EXPECT_EQ(entries(), std::vector<std::string>{"model.pte"});
  ASSERT_EQ(diagnostics.list().size(), 1u);
  EXPECT_NE(diagnostics.list()[0].what.find("File too large"), std::string::npos);
}

TEST_F(WriteFile, AReadOnlyFileIsNotReplaced) {
  if (::geteuid() == 0) GTEST_SKIP() << "left out: root may write everywhere";
  const fs::path p = folder / "model.pte";
  ASSERT_TRUE(write(p, "old"));
  ::chmod(p.c_str(), 0444);
  expect_refused(p, "Permission denied");
  ::chmod(folder.c_str(), 0555);
  expect_refused(folder / "new.pte", "Permission denied");
  ::chmod(folder.c_str(), 0755);
}

}  // namespace
}  // namespace deuteron
