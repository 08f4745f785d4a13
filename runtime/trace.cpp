// SPDX-License-Identifier: Apache-2.0
#include "runtime/trace.h"

namespace deuteron {

Status Trace::start() {
  count_ = runs_ = dropped_ = 0;
  wide_ = moved_ = 0;
  check = load = {};
  Status s;
  s.code = Code::bad_input;
  s.op = clock_.name;
  if (!clock_.now || clock_.bits == 0 || clock_.bits > 64) {
    s.detail = "the tracer has no clock";
    return s;
  }
  // Slower than any clock that can time a kernel: some ten thousand reads without a tick.
  last_ = clock_.now();
  for (int32_t reads = 0; reads < 20000; ++reads)
    if (clock_.now() != last_) {
      last_ = clock_.now();
      return Status{};
    }
  s.detail = "the clock stands still: its counter is not there, or has not been switched on";
  return s;
}

uint64_t Trace::now() {
  const uint64_t mask = clock_.bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << clock_.bits) - 1;
  const uint64_t raw = clock_.now() & mask;
  const uint64_t step = (raw - last_) & mask;
  if (clock_.bits >= 64 && raw < last_)
    return wide_;  // a clock that goes back does not take events with it
  wide_ += step;
  last_ = raw;
  return wide_;
}

void Trace::add(const TraceEvent& event) {
  if (count_ == buffer_.count) {
    ++dropped_;
    return;
  }
  buffer_.events[count_++] = event;
}

Status load_traced(Program& program, File file, const KernelTable& kernels, Memory tables,
                   Memory planned, Trace& trace) {
  trace.load.start = trace.now();
  const Status s = program.load(file, kernels, tables, planned);
  trace.load.end = trace.now();
  return s;
}

Status run_traced(const Program& program, Trace* trace) {
  if (!trace) return program.run();
  trace->begin_run();
  TraceEvent e;
  e.run = trace->runs();
  // an empty program says so
  Status status = program.instruction_count() > 0 ? Status{} : program.run();
  const uint64_t begin = trace->now();
  for (int32_t k = 0; k < program.instruction_count() && status.ok(); ++k) {
    const PreparedDelegate* delegate = program.delegate(k);
    e.instruction = k;
    e.number = -1;
    e.code = 0;
    e.kind = delegate ? TraceKind::delegate : TraceKind::kernel;
    e.start = trace->now();
    status = program.run_one(k);
    e.end = trace->now();
    trace->add(e);
    if (!delegate || !trace->delegate_events) continue;
    e.kind = TraceKind::delegate_kernel;
    DelegateEvent inside;
    for (uint32_t i = 0;
         status.ok() && i < INT16_MAX && trace->delegate_events(*delegate, i, &inside); ++i) {
      e.number = static_cast<int16_t>(i);
      e.start = inside.start;
      e.end = inside.end;
      e.code = inside.code;
      trace->add(e);
    }
  }
  e.kind = TraceKind::run;
  e.instruction = -1;
  e.number = -1;
  e.code = 0;
  e.start = begin;
  e.end = trace->now();
  trace->note_run(e.end - e.start);
  trace->add(e);
  return status;
}

}  // namespace deuteron
