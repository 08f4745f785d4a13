// SPDX-License-Identifier: Apache-2.0
#include "compile/calibrate/each_sample.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "base/watch.h"

namespace deuteron {
namespace {

// With one worker and with several: the work ends early, and what it throws comes out.
TEST(ForEachSample, EndsWhenTheWatchSaysSo) {
  for (const int threads : {1, 2}) {
    Watch watch;
    const WatchScope scope(&watch);
    std::atomic<size_t> ran = 0;
    const auto body = [&](size_t, int) {
      if (++ran == 3) watch.stop = true;
    };
    EXPECT_THROW(for_each_sample(100000, threads, body), Interrupted);
    EXPECT_LT(ran, 10u) << threads;
  }
}

TEST(ForEachSample, RunsToTheEndUnderAWatch) {
  Watch watch;
  const WatchScope scope(&watch);
  std::atomic<size_t> ran = 0;
  for_each_sample(1000, 0, [&](size_t, int) {
    EXPECT_EQ(watch_of_thread(), &watch);
    ++ran;
  });
  EXPECT_EQ(ran, 1000u);
}

// A failed CHECK in a worker is an exception of the caller, who goes on.
TEST(ForEachSample, FaultsOfWorkersComeOut) {
  Watch watch;
  const WatchScope scope(&watch);
  const auto body = [](size_t s, int) { DEUTERON_CHECK(s != 7, std::to_string(s)); };
  EXPECT_THROW(for_each_sample(8, 2, body), Fault);
}

TEST(Watch, TellsWhereTheWorkIs) {
  std::vector<std::string> said;
  Watch watch;
  watch.at = [&](std::string_view what, int64_t done, int64_t total) {
    said.push_back(std::string(what) + std::to_string(done * 10 + total));
  };
  note_progress("nobody", 1, 2);
  {
    const WatchScope scope(&watch);
    note_progress("a", 1, 2);
    {
      const WatchScope none(nullptr);
      note_progress("b", 1, 2);
    }
    note_progress("c", 2, 2);
  }
  EXPECT_EQ(said, (std::vector<std::string>{"a12", "c22"}));
  EXPECT_EQ(watch_of_thread(), nullptr);
}

}  // namespace
}  // namespace deuteron
