// SPDX-License-Identifier: Apache-2.0
// The event tracer: when each call of a run began and ended, and each kernel inside a delegate. It
// stands beside Program, which knows nothing of it: run() is the same code with and without the
// tracer, so a program that is not traced pays nothing, and firmware that calls none of this has no
// byte of it. C++17, no heap; all memory is the caller's.
//
//   static deuteron::TraceEvent events[256];
//   deuteron::Trace trace(deuteron::dwt_clock(324000000), {events, 256});
//   s = trace.start();                                       // refuses a clock that stands still
//   s = deuteron::load_traced(program, file, deuteron::kAllKernels, tables, planned, trace);
//   trace.delegate_events = deuteron::neutron_events;        // kernels inside Neutron delegates
//   s = deuteron::run_traced(program, trace);                // as often as wanted: each run is a
//   block of its own ok = deuteron::write_etdump(program, file, trace, sink);  // runtime/etdump.h
#pragma once
#include "runtime/deuteron.h"

namespace deuteron {

// Where time comes from: a port's function, e.g. of runtime/ports/clocks.h. Must be read at least
// once in 2^bits ticks; a port whose counter goes round faster than a call takes widens it by
// itself.
struct Clock {
  uint64_t (*now)() = nullptr;
  uint8_t bits = 64;              // of `now` that count; it goes round behind them
  uint64_t ticks_per_second = 0;  // 0: not known
  const char* unit = "cycles";    // what a tick is: "cycles", "instructions", "ns"
  const char* name = "";          // for messages: "DWT CYCCNT"
};

enum class TraceKind : uint8_t { kernel, delegate, delegate_kernel, run };

struct TraceEvent {
  uint64_t start = 0, end = 0;  // the clock's ticks; delegate_kernel: the delegate's own, from the
                                // beginning of its run
  int32_t instruction = -1;
  int16_t number = -1;  // delegate_kernel: running number inside the call; the last is the
                        // delegate's own dump of its profile
  TraceKind kind = TraceKind::kernel;
  uint8_t code = 0;  // delegate_kernel: which kernel, in the delegate's own count; 0 for the dump
  uint32_t run = 0;
};
static_assert(sizeof(TraceEvent) == 32, "what firmware plans with");

// A kernel that a delegate has run inside its last call.
struct DelegateEvent {
  uint64_t start = 0, end = 0;
  uint8_t code = 0;
};

struct TraceBuffer {
  TraceEvent* events = nullptr;
  uint32_t count = 0;
};

class Trace {
 public:
  Trace() = default;
  explicit Trace(const Clock& clock, TraceBuffer buffer = {}) : clock_(clock), buffer_(buffer) {}

  // Whether the clock goes: bad_input, with the clock's name as `op`, when it does not. Forgets all
  // events.
  Status start();

  // The memory for the events; before the first run.
  void use(TraceBuffer buffer) { buffer_ = buffer; }

  // Gives the events of a delegate's last run, one after the other; false: there are no more. Null:
  // delegates are one event each.
  bool (*delegate_events)(const PreparedDelegate& delegate, uint32_t index,
                          DelegateEvent* event) = nullptr;

  [[gnu::noinline]] uint64_t now();
  void begin_run() { ++runs_; }
  [[gnu::noinline]] void add(const TraceEvent& event);  // dropped when the buffer is full
  // Of loading, which is before every run and never dropped.
  struct Span {
    uint64_t start = 0, end = 0;
  };
  Span check, load;  // measure() and load()

  const Clock& clock() const { return clock_; }
  const TraceEvent* events() const { return buffer_.events; }
  uint32_t count() const { return count_; }
  uint32_t runs() const { return runs_; }
  uint32_t dropped() const { return dropped_; }
  // Runs took no time at all: the clock has stopped since start().
  bool stood_still() const { return moved_ == 0 && runs_ > 0; }
  void note_run(uint64_t ticks) { moved_ += ticks; }

 private:
  Clock clock_;
  TraceBuffer buffer_;
  uint64_t wide_ = 0, last_ = 0, moved_ = 0;
  uint32_t count_ = 0, runs_ = 0, dropped_ = 0;
};

// Program::load() with its time.
Status load_traced(Program& program, File file, const KernelTable& kernels, Memory tables,
                   Memory planned, Trace& trace);

// Program::run() with an event for each call. The outputs are the same, bit for bit. With a null
// trace it is run().
[[nodiscard]] Status run_traced(const Program& program, Trace* trace);

}  // namespace deuteron
