// SPDX-License-Identifier: Apache-2.0
// The program that an emulated board runs: reads a job file, loads the program, runs every sample,
// writes outputs and counts. Command line: JOB OUTPUT PROFILE. One image serves every program;
// nothing is compiled for a run. Without DEUTERON_TRACE it has no tracer.
#include <cstring>

#ifdef DEUTERON_NEUTRON_DRIVER
#include "npu/neutron/delegate/payload.h"
#include "npu/neutron/machine/simulation.h"
#endif
#include "boards/cycles/marks.h"
#include "runtime/deuteron.h"
#include "runtime/ports/board.h"
#include "runtime/ports/counter.h"
#include "runtime/ports/job.h"
#include "runtime/ports/semihosting.h"
#include "runtime/ports/stack.h"
#include "runtime/ports/status_line.h"
#ifdef DEUTERON_TRACE
#include "npu/neutron/delegate/profile.h"
#include "runtime/etdump.h"
#include "runtime/ports/clocks.h"
#endif

namespace deuteron {
namespace {

constexpr int kRegions = sizeof kPool / sizeof kPool[0];
uint32_t pool_used[kRegions];

// From the first region that has room, aligned to 16; never given back.
void* take(uint32_t bytes) {
  for (int i = 0; i < kRegions; i++) {
    if (bytes > kPool[i].bytes - pool_used[i]) continue;
    void* p = reinterpret_cast<void*>(kPool[i].base + pool_used[i]);
    const uint32_t left = kPool[i].bytes - pool_used[i];
    const uint32_t rounded = (bytes + 15) & ~15u;
    pool_used[i] += rounded < left ? rounded : left;
    return p;
  }
  return nullptr;
}

BoardExit bad_job(const char* what) {
  Line("@job ").text(what).print();
  return BoardExit::bad_job;
}

BoardExit file_error(const char* what) {
  Line("@file ").text(what).print();
  return BoardExit::file_error;
}

BoardExit does_not_fit(const char* what, uint32_t bytes, uint32_t program, const Needs& needs) {
  Line line("@memory ");
  line.text(what)
      .text(" ")
      .number(bytes)
      .text(" program ")
      .number(program)
      .text(" planned ")
      .number(needs.planned_bytes);
  line.text(" tables ").number(needs.tables_bytes).text(" board");
  for (const Region& r : kPool) line.text(" ").number(r.bytes);
  line.print();
  return BoardExit::does_not_fit;
}

BoardExit refused(const Status& s, BoardExit end) {
  print_status(s);
  return end;
}
BoardExit load_failed(const Status& s) { return refused(s, BoardExit::load_failed); }

uint32_t bytes_of(const Tensor& t) {
  return static_cast<uint32_t>(t.numel) * element_bytes(t.type);
}

struct Loading {
  Program* program;
  File file;
  Memory tables, planned;
  Status status;
#ifdef DEUTERON_TRACE
  Trace* trace = nullptr;
#endif
};
struct Measuring {
  File file;
  Needs* needs;
  Status status;
};
void measure_program(void* p) {
  Measuring& m = *static_cast<Measuring*>(p);
  m.status = measure(m.file, kAllKernels, m.needs);
}
// Says what it took where the program is refused.
Status measure_counted(File file, Needs* needs) {
  Measuring m{file, needs, {}};
  const uint64_t n = count_instructions(measure_program, &m);
  if (!m.status.ok()) Line("@refused ").number(n).print();
  return m.status;
}
void load(void* p) {
  Loading& l = *static_cast<Loading*>(p);
#ifdef DEUTERON_TRACE
  if (l.trace) {
    l.status = load_traced(*l.program, l.file, kAllKernels, l.tables, l.planned, *l.trace);
    return;
  }
#endif
  l.status = l.program->load(l.file, kAllKernels, l.tables, l.planned);
}
struct Running {
  const Program* program;
  Status status;
  int32_t k = 0;  // of one call
#ifdef DEUTERON_TRACE
  Trace* trace = nullptr;
#endif
};
void run(void* p) {
  Running& r = *static_cast<Running*>(p);
#ifdef DEUTERON_TRACE
  r.status = run_traced(*r.program, r.trace);
#else
  r.status = r.program->run();
#endif
}
void run_step(void* p) {
  Running& r = *static_cast<Running*>(p);
  r.status = r.program->run_one(r.k);
}

void run_marked_step(void* p) {
  mark<DEUTERON_MARK_BEGIN>();
  run_step(p);
  mark<DEUTERON_MARK_END>();
}

// Instructions of the processor's own work, and those that it spends on playing the NPU.
struct Counts {
  uint64_t own = 0, npu = 0;
};
Counts count_apart(void (*function)(void*), void* argument) {
  const uint64_t all = count_instructions(function, argument);
  const Parts parts = take_parts();
  return {all - parts.instructions - parts.overhead, parts.instructions};
}

// Naming each call before it runs: whoever faults or hangs is the last one named.
Counts run_by_step(Running& r, Steps steps) {
  Counts sum;
  for (r.k = 0; r.k < r.program->instruction_count() && r.status.ok(); r.k++) {
    const char* op = r.program->step(r.k).op;
    Line("@enter ").number(static_cast<uint32_t>(r.k)).text(" ").text(op ? op : "-").print();
    const Counts n = count_apart(steps == Steps::marked ? run_marked_step : run_step, &r);
    Line("@step ")
        .number(static_cast<uint32_t>(r.k))
        .text(" ")
        .number(n.own)
        .text(" ")
        .text(op ? op : "-")
        .print();
    sum.own += n.own, sum.npu += n.npu;
  }
  return sum;
}

#ifdef DEUTERON_TRACE
Trace tracer;

Status start_trace(const Job& job) {
#ifdef DEUTERON_PROBE
  const uint64_t hz = deuteron_clock_hz;
#else
  // the processor's, which the board's counter has too
  constexpr uint64_t hz = 1000000000 / kInstructionsPerTick;
#endif
  tracer = Trace(clock_of(job.profile_clock, hz, job.clock_argument));
#ifndef DEUTERON_PROBE  // no delegate is there
  tracer.delegate_events = neutron_events;
#endif
  return tracer.start();
}

// As many events as are asked for, or fit into what everything else has left.
void give_room(const Job& job) {
  uint32_t count = job.profile_events < UINT32_MAX / sizeof(TraceEvent)
                       ? job.profile_events
                       : UINT32_MAX / sizeof(TraceEvent);
  for (; count > 0; count /= 2)
    if (void* memory = take(count * static_cast<uint32_t>(sizeof(TraceEvent))))
      return tracer.use({static_cast<TraceEvent*>(memory), count});
}

bool send(void* file, const void* bytes, uint32_t count) {
  return write_all(*static_cast<int*>(file), bytes, count);
}

BoardExit write_profile(const Program& program, File file, const char* path) {
  int out = open_to_write(path);
  DumpFacts facts;
  facts.npu_hz = neutron_clock_hz(program);
  if (out < 0 || !write_etdump(program, file, tracer, {send, &out}, facts))
    return file_error("the profile cannot be written");
  Line("@profile ").number(tracer.count()).text(" ").number(tracer.dropped()).print();
  return BoardExit::done;
}
#endif

#ifdef DEUTERON_NEUTRON_DRIVER
struct Work {
  void (*function)(void*);
  void* argument;
};
// with traces, while the NPU is played: it is not there on the board whose time is told
[[maybe_unused]] bool clock_stands = false;
void play_npu(void (*function)(void*), void* argument) {
#ifdef DEUTERON_TRACE
  if (clock_stands) {
    Work work{function, argument};
    return count_part(
        [](void* w) {
          const Work& hidden = *static_cast<const Work*>(w);
          hide_from_board_clock(hidden.function, hidden.argument);
        },
        &work);
  }
#endif
  count_part(function, argument);
}
void play_npu_between_marks(void (*function)(void*), void* argument) {
  mark<DEUTERON_MARK_PAUSE>();
  play_npu(function, argument);
  mark<DEUTERON_MARK_RESUME>();
}
#endif

// What the NPU does is counted apart: every call of a delegate may be one of it.
void count_npu_apart([[maybe_unused]] const Program& program, [[maybe_unused]] const Job& job) {
#ifdef DEUTERON_NEUTRON_DRIVER
  uint32_t calls = 0;
  for (int32_t k = 0; k < program.instruction_count(); k++)
    if (const char* op = program.step(k).op; op && std::strcmp(op, kNeutronBackendId) == 0) calls++;
  if (calls == 0) return;
  use_parts(take(calls * kPartBytes), calls * kPartBytes);
  neutron::simulate_in = job.steps == Steps::marked ? play_npu_between_marks : play_npu;
#ifdef DEUTERON_TRACE
  clock_stands = job.profile_events && job.profile_clock == JobClock::board;
#endif
#endif
}

BoardExit run_samples(const Program& program, Program& writable, const Job& job, int in, int out,
                      void* staging) {
  for (uint32_t k = 0; k < job.samples; k++) {
    for (int32_t i = 0; i < program.input_count(); i++) {
      const uint32_t bytes = bytes_of(program.input(i));
      if (!read_all(in, staging, bytes)) return file_error("the job file ends within the inputs");
      const Status s = writable.set_input(i, staging, bytes);
      if (!s.ok()) return load_failed(s);
    }
    Running running{&program, {}};
#ifdef DEUTERON_TRACE
    running.trace = job.profile_events ? &tracer : nullptr;
#endif
    const Counts n =
        job.steps != Steps::together ? run_by_step(running, job.steps) : count_apart(run, &running);
    if (!running.status.ok()) return refused(running.status, BoardExit::run_failed);
    if (stack_overflowed()) {
      Line("@stack overflowed ").number(stack_bytes()).print();
      return BoardExit::stack_overflow;
    }
    for (int32_t i = 0; i < program.output_count(); i++)
      if (!write_all(out, program.output(i).data, bytes_of(program.output(i))))
        return file_error("the outputs cannot be written");
    Line("@sample ").number(k).text(" ").number(n.own).text(" npu ").number(n.npu).print();
  }
  return BoardExit::done;
}

BoardExit load_program(const Job& job, void* file, Program* program, Needs* needs) {
  Status status = start_backends(kAllKernels);
#ifdef DEUTERON_TRACE
  if (status.ok() && job.profile_events)
    if (const Status clock = start_trace(job); !clock.ok()) {
      Line("@clock ").text(clock.op).text(" ").text(clock.detail).print();
      return BoardExit::no_clock;
    }
  const uint64_t began = status.ok() && job.profile_events ? tracer.now() : 0;
#else
  if (job.profile_events) return bad_job("this runner was built without the tracer");
#endif
  if (!status.ok()) return load_failed(status);
  if (status = measure_counted({file, job.program_bytes}, needs); !status.ok())
    return load_failed(status);
#ifdef DEUTERON_TRACE
  if (job.profile_events) tracer.check = {began, tracer.now()};
#endif
  Line("@needs planned ")
      .number(needs->planned_bytes)
      .text(" tables ")
      .number(needs->tables_bytes)
      .print();
  Loading loading{
      program, {file, job.program_bytes}, {take(needs->tables_bytes), needs->tables_bytes}, {}, {}};
#ifdef DEUTERON_TRACE
  loading.trace = job.profile_events ? &tracer : nullptr;
#endif
  if (!loading.tables.data)
    return does_not_fit("tables", needs->tables_bytes, job.program_bytes, *needs);
  loading.planned = {take(needs->planned_bytes), needs->planned_bytes};
  if (!loading.planned.data)
    return does_not_fit("planned", needs->planned_bytes, job.program_bytes, *needs);
  const uint64_t n = count_instructions(load, &loading);
  if (!loading.status.ok()) return load_failed(loading.status);
  Line("@load ").number(n).print();
  return BoardExit::done;
}

// Does the program take the inputs that the job has? `largest`: of its inputs, in bytes.
BoardExit match_inputs(const Program& program, const Job& job, const uint32_t* expected,
                       uint32_t* largest) {
  if (job.samples > 0 && static_cast<uint32_t>(program.input_count()) != job.inputs) {
    Line("@job the program has ")
        .signed_number(program.input_count())
        .text(" inputs, the job ")
        .number(job.inputs)
        .print();
    return BoardExit::bad_job;
  }
  for (int32_t i = 0; i < program.input_count(); i++) {
    const uint32_t bytes = bytes_of(program.input(i));
    if (bytes > *largest) *largest = bytes;
    if (job.samples == 0 || bytes == expected[i]) continue;
    Line("@job input ")
        .signed_number(i)
        .text(" has ")
        .number(expected[i])
        .text(" bytes, the program takes ")
        .number(bytes)
        .print();
    return BoardExit::bad_job;
  }
  return BoardExit::done;
}

BoardExit run_program(const Job& job, int in, const char* output_path,
                      [[maybe_unused]] const char* profile_path) {
  uint32_t expected[64], largest = 0;
  if (job.inputs > 64) return bad_job("more than 64 inputs");
  const uint32_t header = sizeof job + 4 * job.inputs;
  uint8_t padding[16];
  if (!read_all(in, expected, 4 * job.inputs) || !read_all(in, padding, (16 - header % 16) % 16))
    return file_error("the job file is too short");
  const uint32_t program_bytes = (job.program_bytes + 15) & ~15u;
  void* file = job.program_at != 0 ? reinterpret_cast<void*>(job.program_at) : take(program_bytes);
  Needs needs;
  if (!file) return does_not_fit("program", program_bytes, job.program_bytes, needs);
  if (job.program_at == 0 && !read_all(in, file, program_bytes))
    return file_error("the job file ends within the program");

  static Program program;
  BoardExit end = load_program(job, file, &program, &needs);
  if (end == BoardExit::done) end = match_inputs(program, job, expected, &largest);
  if (end != BoardExit::done) return end;
  for (int32_t i = 0; i < program.output_count(); i++)
    Line("@output ").signed_number(i).text(" ").number(bytes_of(program.output(i))).print();
  void* staging = take(largest);
  if (!staging) return does_not_fit("input", largest, job.program_bytes, needs);
  const int out = open_to_write(output_path);
  if (out < 0) return file_error("the output file cannot be opened");
#ifdef DEUTERON_TRACE
  if (job.profile_events) give_room(job);
#endif
  count_npu_apart(program, job);
  end = run_samples(program, program, job, in, out, staging);
#ifdef DEUTERON_TRACE
  if (end == BoardExit::done && job.profile_events)
    return write_profile(program, {file, job.program_bytes}, profile_path);
#endif
  return end;
}

BoardExit count_loop(uint32_t turns) {
  if (turns == 0) return bad_job("a loop of no turns");
  Line("@sample 0 ")
      .number(count_instructions(loop_of_two, reinterpret_cast<void*>(turns)))
      .print();
  return BoardExit::done;
}

BoardExit make_fault(FaultKind kind) {
  volatile uint32_t* nowhere = reinterpret_cast<volatile uint32_t*>(0xf0000000);
  volatile int32_t zero = 0, seven = 7;
  switch (kind) {
    case FaultKind::read_nowhere:
      (void)*nowhere;
      break;
    case FaultKind::write_nowhere:
      *nowhere = 1;
      break;
    case FaultKind::undefined_instruction:
      execute_nothing_defined();
      break;
    case FaultKind::divide_by_zero: {
      volatile int32_t quotient = seven / zero;
      (void)quotient;
      break;
    }
    case FaultKind::null_pointer:
      *reinterpret_cast<volatile uint32_t*>(zero + 4) = 1;
      break;
    case FaultKind::jump_to_nowhere:
      reinterpret_cast<void (*)()>(0xf0000001)();
      break;
  }
  return bad_job("the fault did not happen");
}

[[gnu::noinline]] uint32_t recurse(volatile uint32_t* above) {
  volatile uint32_t words[32];
  words[0] = *above + 1;
  if (words[0] == 0) return 0;  // never: the stack ends long before
  return recurse(words) + words[0];
}

BoardExit echo(const Job& job, int in, const char* output_path) {
  void* data = take(job.program_bytes);
  if (!data) return does_not_fit("program", job.program_bytes, job.program_bytes, {});
  if (!read_all(in, data, job.program_bytes)) return file_error("the job file is too short");
  const int out = open_to_write(output_path);
  if (out < 0 || !write_all(out, data, job.program_bytes))
    return file_error("the output file cannot be written");
  return BoardExit::done;
}

BoardExit run_job() {
  char line[512];
  if (!command_line(line, sizeof line))
    return bad_job("no command line: give JOB, OUTPUT and PROFILE as semihosting arguments");
  char* output = line;
  while (*output && *output != ' ') output++;
  if (!*output) return bad_job("the command line must be JOB OUTPUT PROFILE");
  *output++ = 0;
  char* profile = output;
  while (*profile && *profile != ' ') profile++;
  if (*profile) *profile++ = 0;
  const int in = open_to_read(line);
  if (in < 0) return file_error("the job file cannot be opened");
  Job job;
  if (!read_all(in, &job, sizeof job)) return file_error("the job file is too short");
  if (job.magic != kJobMagic || job.version != kJobVersion)
    return bad_job("not a job file of this version");
  switch (job.kind) {
    case JobKind::run:
      return run_program(job, in, output, profile);
    case JobKind::count_loop:
      return count_loop(job.argument);
    case JobKind::fault:
      return make_fault(static_cast<FaultKind>(job.argument));
    case JobKind::hang:
      for (;;) asm volatile("");
    case JobKind::overflow_stack: {
      volatile uint32_t start = 0;
      return static_cast<BoardExit>(recurse(&start));
    }
    case JobKind::echo:
      return echo(job, in, output);
  }
  return bad_job("unknown kind of job");
}

}  // namespace
}  // namespace deuteron

int main() {
  using namespace deuteron;
  Line("@board ").text(kBoardName).text(" isa ").text(name_of(kBuildIsa)).print();
  const BoardExit end = run_job();
  Line("@stack ").number(stack_used_bytes()).text(" ").number(stack_bytes()).print();
  return static_cast<int>(end);
}
