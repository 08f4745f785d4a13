// SPDX-License-Identifier: Apache-2.0
#include "frontends/pt2/file/archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "frontends/pt2/test_archive.h"
#include "tests/temporary_path.h"

namespace deuteron::pt2 {
namespace {

using ::testing::HasSubstr;

const ZipEntries kEntries = {{"net/data/a", "0123456789"},
                             {"net/data/empty", ""},
                             {"net/models/model.json", std::string(1000, 'x')}};

struct Opened {
  std::shared_ptr<const std::string> bytes;
  std::shared_ptr<const Archive> archive;
  std::string text;
};
Opened open(std::string bytes) {
  Opened o;
  o.bytes = std::make_shared<const std::string>(std::move(bytes));
  Diagnostics diagnostics;
  o.archive = open_archive(std::as_bytes(std::span(*o.bytes)), o.bytes, "net.pt2", diagnostics);
  for (const Diagnostic& d : diagnostics.list()) o.text += format_diagnostic(d) + "\n";
  EXPECT_EQ(o.archive == nullptr, diagnostics.has_errors());
  return o;
}

std::string patched(std::string bytes, size_t at, std::string_view with) {
  return bytes.replace(at, with.size(), with);
}
size_t central(const std::string& bytes, int index) {
  size_t at = bytes.find("PK\1\2");
  while (index-- > 0) at = bytes.find("PK\1\2", at + 1);
  return at;
}

TEST(Archive, PointsIntoTheFile) {
  const Opened o = open(stored_zip(kEntries));
  ASSERT_TRUE(o.archive) << o.text;
  ASSERT_EQ(o.archive->entries.size(), 3u);
  const ArchiveEntry* a = find_entry(*o.archive, "data/a");
  ASSERT_TRUE(a);
  EXPECT_EQ((reinterpret_cast<const char*>(a->bytes.data()) - o.bytes->data()) % 64, 0);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(a->bytes.data()), a->bytes.size()),
            "0123456789");
  EXPECT_TRUE(is_intact(*o.archive, *a));
  EXPECT_TRUE(is_intact(*o.archive, *find_entry(*o.archive, "data/empty")));
  EXPECT_EQ(find_entry(*o.archive, "data/b"), nullptr);
  EXPECT_EQ(find_entry(*o.archive, "net/data/a"), nullptr);
}

TEST(Archive, NoticesDamagedData) {
  const std::string bytes = stored_zip(kEntries);
  const Opened o = open(patched(bytes, bytes.find("0123456789") + 4, "X"));
  ASSERT_TRUE(o.archive) << o.text;
  EXPECT_FALSE(is_intact(*o.archive, *find_entry(*o.archive, "data/a")));
  EXPECT_TRUE(is_intact(*o.archive, *find_entry(*o.archive, "models/model.json")));
}

TEST(Archive, RefusesWhatCannotBeMapped) {
  const std::string bytes = stored_zip(kEntries);
  const size_t first = central(bytes, 0), last = central(bytes, 2);
  const std::string size(8, '\x7f');
  EXPECT_THAT(open(patched(bytes, first + 10, "\x08")).text,
              HasSubstr("entry `net/data/a` is compressed: method 8, limit 0 (stored)"));
  EXPECT_THAT(open(patched(bytes, first + 8, "\x01")).text, HasSubstr("is encrypted"));
  EXPECT_THAT(open(patched(bytes, first + 24, "\x09")).text, HasSubstr("contradictory sizes"));
  EXPECT_THAT(open(patched(bytes, first + 20, size)).text,
              HasSubstr("reaches past the end of the data"));
  EXPECT_THAT(open(patched(bytes, first + 42, "\xff\xff\xff\x0f")).text,
              HasSubstr("does not start inside the file"));
  EXPECT_THAT(open(patched(bytes, first + 42, "\x01")).text,
              HasSubstr("does not start inside the file"));
  EXPECT_THAT(open(patched(bytes, first + 46 + 9, "b")).text,
              HasSubstr("described differently by its own header"));
  // The last entry's header repeated as the first's data: two entries in one place.
  EXPECT_THAT(open(patched(bytes, last + 42, bytes.substr(first + 42, 4))).text,
              HasSubstr("described differently"));
  EXPECT_THAT(open(bytes + std::string(70000, ' ')).text, HasSubstr("is not a zip archive"));
  EXPECT_THAT(open(stored_zip({{"net/a", "1"}, {"net/a", "2"}})).text,
              HasSubstr("two entries named `a`"));
  EXPECT_THAT(open(stored_zip({{"a", "1"}})).text, HasSubstr("lie in no folder"));
}

TEST(Archive, RefusesOverlap) {
  // One entry's data holds a whole local header and data of another, which the directory names as
  // well.
  const std::string inner = stored_zip({{"net/b", "2"}}, 1).substr(0, 30 + 5 + 4 + 1 + 16);
  std::string bytes = stored_zip({{"net/a", inner}, {"net/b", "2"}}, 1);
  const uint32_t inside = static_cast<uint32_t>(bytes.find(inner));
  bytes = patched(bytes, central(bytes, 1) + 42,
                  std::string_view(reinterpret_cast<const char*>(&inside), 4));
  EXPECT_THAT(open(bytes).text, HasSubstr("overlap"));
}

TEST(Archive, EveryTruncationIsRefused) {
  const std::string bytes = stored_zip(kEntries);
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(open(bytes.substr(0, length)).archive) << length;
}

TEST(Archive, FilesThatAreNone) {
  Diagnostics diagnostics;
  EXPECT_FALSE(open_archive(std::string("/nonexistent/x.pt2"), diagnostics));
  EXPECT_FALSE(open_archive(std::string("/"), diagnostics));
  EXPECT_FALSE(open_archive(std::string("/dev/null"), diagnostics));
  const std::string path = temporary_path("empty.pt2");
  std::ofstream(path).close();
  EXPECT_FALSE(open_archive(path, diagnostics));
  ASSERT_EQ(diagnostics.list().size(), 4u);
  EXPECT_EQ(diagnostics.list()[0].rule, "model.file.open");
  EXPECT_EQ(diagnostics.list()[1].rule, "model.file.kind");
  EXPECT_EQ(diagnostics.list()[2].rule, "model.file.kind");
  EXPECT_EQ(diagnostics.list()[3].rule, "model.file.empty");
  std::remove(path.c_str());
}

TEST(Archive, AFileLargerThanAnyMemory) {
  const int file = memfd_create("large", 0);
  ASSERT_GE(file, 0);
  ASSERT_EQ(ftruncate(file, i64{1} << 60), 0);
  Diagnostics diagnostics;
  EXPECT_FALSE(open_archive("/proc/self/fd/" + std::to_string(file), diagnostics));
  close(file);
  ASSERT_EQ(diagnostics.list().size(), 1u);
  EXPECT_EQ(diagnostics.list()[0].rule, "model.file.map");
}

}  // namespace
}  // namespace deuteron::pt2
