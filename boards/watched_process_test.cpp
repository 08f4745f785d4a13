// SPDX-License-Identifier: Apache-2.0
// What a child process may do, and that it always ends.
#include "boards/watched_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

namespace deuteron {
namespace {

using ::testing::ElementsAre;

struct Outcome {
  ProcessEnd end;
  std::vector<std::string> lines;
  double seconds = 0;
};

Outcome run_script(const std::string& script, double limit_seconds, bool restart = false,
                   std::vector<int> descriptors = {}) {
  Outcome o;
  const auto start = std::chrono::steady_clock::now();
  o.end = run_watched({"/bin/sh", "-c", script}, descriptors, limit_seconds,
                      [&](std::string_view line) {
                        o.lines.emplace_back(line);
                        return restart;
                      });
  o.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return o;
}

TEST(WatchedProcess, TellsCodeAndLines) {
  const Outcome o = run_script("echo one; echo two >&2; printf three; exit 7", 20);
  EXPECT_EQ(o.end.exit_code, 7);
  EXPECT_EQ(o.end.signal, 0);
  EXPECT_FALSE(o.end.timed_out);
  EXPECT_THAT(o.lines, ElementsAre("one", "two", "three"));
}

TEST(WatchedProcess, TellsTheSignal) {
  const Outcome o = run_script("kill -SEGV $$", 20);
  EXPECT_EQ(o.end.signal, SIGSEGV);
}

TEST(WatchedProcess, EndsAChildThatDoesNot) {
  const Outcome o = run_script("trap '' TERM INT HUP; while :; do sleep 1; done", 0.3);
  EXPECT_TRUE(o.end.timed_out);
  EXPECT_EQ(o.end.signal, SIGKILL);
  EXPECT_LT(o.seconds, 60);
}

TEST(WatchedProcess, EndsAChildThatHasClosedItsOutput) {
  const Outcome o = run_script("exec >&- 2>&-; while :; do sleep 1; done", 0.3);
  EXPECT_TRUE(o.end.timed_out);
  EXPECT_LT(o.seconds, 60);
}

TEST(WatchedProcess, EndsAChildThatTalksForEver) {
  const Outcome o = run_script("while :; do echo again; sleep 0.01; done", 0.3);
  EXPECT_TRUE(o.end.timed_out);
  EXPECT_LT(o.seconds, 60);
}

TEST(WatchedProcess, ProgressStartsTheTimeAgain) {
  const Outcome o =
      run_script("for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do echo $i; sleep 0.25; done", 3, true);
  EXPECT_FALSE(o.end.timed_out);
  EXPECT_EQ(o.end.exit_code, 0);
  EXPECT_GT(o.seconds, 3);
}

TEST(WatchedProcess, ReadsNothingFromTheTerminal) {
  EXPECT_EQ(run_script("cat; exit 3", 20).end.exit_code, 3);
}

TEST(WatchedProcess, PassesFilesAndGetsThemBack) {
  MemoryFile in("in"), out("out");
  const std::vector<uint8_t> bytes = {'a', 0, 'b', '\n', 255};
  ASSERT_TRUE(in.append(std::span(bytes).first(2)));
  ASSERT_TRUE(in.append(std::span(bytes).subspan(2)));
  const Outcome o = run_script("cat /proc/self/fd/3 > /proc/self/fd/4", 20, false,
                               {in.descriptor(), out.descriptor()});
  EXPECT_EQ(o.end.exit_code, 0);
  EXPECT_EQ(out.content(), bytes);
}

TEST(WatchedProcess, CutsALineThatIsTooLong) {
  const Outcome o = run_script("head -c 100000 /dev/zero | tr '\\0' x; echo; echo end", 20);
  ASSERT_EQ(o.lines.size(), 2u);
  EXPECT_EQ(o.lines[0].size(), 4096u);
  EXPECT_EQ(o.lines[1], "end");
}

TEST(WatchedProcess, AProgramThatIsMissingIsNotAnEnd) {
  const ProcessEnd end =
      run_watched({"/nowhere/program"}, {}, 20, [](std::string_view) { return false; });
  EXPECT_EQ(end.start_error, ENOENT);
}

}  // namespace
}  // namespace deuteron
