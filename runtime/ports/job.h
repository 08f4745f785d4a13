// SPDX-License-Identifier: Apache-2.0
// What the host and the runner on an emulated board say to each other: the job file that the board
// reads. Layout: Job, then `inputs` lengths (uint32), zeros to a multiple of 16, the program padded
// with zeros to a multiple of 16, then for each sample its inputs one after the other. Answers: raw
// outputs in the file named second on the command line, text on the console.
#pragma once
#include <cstdint>

namespace deuteron {

inline constexpr uint32_t kJobMagic = 0x424f4a44;  // "DJOB"
inline constexpr uint32_t kJobVersion = 3;

enum class JobKind : uint32_t {
  run,             // load the program, run every sample
  count_loop,      // self-test: `argument` turns of a loop of two instructions, counted
  fault,           // self-test: fault number `argument`, see FaultKind
  hang,            // self-test: never ends
  overflow_stack,  // self-test: recursion without end
  echo,            // self-test: writes the program bytes to the output file
};
enum class FaultKind : uint32_t {
  read_nowhere,
  write_nowhere,
  undefined_instruction,
  divide_by_zero,
  null_pointer,
  jump_to_nowhere
};

// What times the events of a profile.
enum class JobClock : uint32_t { board, dwt, pmu, systick };

// How the calls of a program are run.
enum class Steps : uint32_t {
  together,
  apart,   // call by call, and each is counted; the sum then includes the counting's own loop
  marked,  // and each stands between marks (boards/cycles/marks.h)
};

struct Job {
  uint32_t magic = kJobMagic;
  uint32_t version = kJobVersion;
  JobKind kind = JobKind::run;
  uint32_t argument = 0;
  uint32_t program_bytes = 0;
  uint32_t inputs = 0;   // for each sample
  uint32_t samples = 0;  // may be 0: load only
  Steps steps = Steps::together;
  uint32_t profile_events = 0;  // room for so many events; 0: no profile
  JobClock profile_clock = JobClock::board;
  uint32_t clock_argument = 0;  // systick: what it counts down from
  uint32_t program_at = 0;      // the program lies there already, and not in the job; 0: in the job
};
static_assert(sizeof(Job) == 48, "the same on both sides");

// How the runner ends. QEMU passes it on as its own exit status.
enum class BoardExit : uint32_t {
  done = 0,
  fault = 64,           // a processor fault: "@fault ..." has been printed
  load_failed = 65,     // "@status ..."
  bad_job = 66,         // "@job ..."
  does_not_fit = 67,    // "@memory ..."
  stack_overflow = 68,  // the lowest words of the stack have been written to
  file_error = 69,      // "@file ..."
  run_failed = 70,      // "@status ...": a delegate failed
  no_clock = 71,        // "@clock ...": the profile's clock stands still
  other_outputs = 72,   // a firmware (write/firmware/project/main.cpp): not the outputs of the host
};

}  // namespace deuteron
