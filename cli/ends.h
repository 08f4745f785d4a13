// SPDX-License-Identifier: Apache-2.0
// The ends of a process that do not come from the verb itself: a signal, a limit of time, and no
// memory.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace deuteron {

// SIGINT, SIGTERM and SIGHUP take temporary files and folders away and end the process with 128 +
// their number; what was ignored stays so. A file that may not grow further (SIGXFSZ) is an error
// of writing. Before any other thread is started.
void end_in_order_on_signals();

// Memory that is missing where no exception may leave (the destructors of nlohmann::json take some)
// is the user's error, as it is elsewhere: temporary files are taken away, and the exit code is 1.
void end_in_order_without_memory();
void say_out_of_memory();
bool lacks_memory(const std::exception& e);  // for the stack of a thread, which std::thread and
                                             // oneTBB say in their own ways
// The system gives this process no more than that for data, which are the heap and the stacks of
// threads; what it starts keeps its own limit.
void limit_memory(size_t bytes);

// Ends the process after `seconds` (0: never) unless it is destroyed before: `finish` tells the
// user and answers the exit code, then temporary files are taken away. `finish` runs in another
// thread, beside what took too long: it may only touch what that does not change.
class TimeLimit {
 public:
  TimeLimit(double seconds, std::function<int()> finish);
  ~TimeLimit();

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::thread thread_;
};

// Of runs of a program on this machine: then it is the user's error, with the exit code 1.
TimeLimit limit_run(double seconds, const std::string& program, const std::string& json_path);

}  // namespace deuteron
