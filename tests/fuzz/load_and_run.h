// SPDX-License-Identifier: Apache-2.0
// Loads any bytes as a program and, if it loads and is small enough to finish soon, runs it under
// guard (guarded_run.h): with every input byte 0 and 255, and with memory that held 0 and 0xA5
// before, which must give the same outputs.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "kernels/common/arena_host.h"
#include "npu/neutron/delegate/calls.h"
#include "npu/neutron/delegate/delegate.h"
#include "runtime/test_program.h"
#include "tests/fuzz/guarded_run.h"

namespace deuteron::test {

enum class Outcome { refused, too_large, ran };

// About the number of multiply-adds: for each call the elements of its out times those of its
// largest constant or, if it has none, of its largest argument.
inline double work_of(const Program& program) {
  double work = 0;
  for (int32_t k = 0; k < program.instruction_count(); ++k) {
    const Program::Step step = program.step(k);
    if (step.delegate) {
      work += 64 * static_cast<double>(estimate_cycles(neutron_payload(*step.delegate)));
      continue;
    }
    double largest = 1, constant = 0, out = 1;
    const auto look = [&](const Value* v) {
      if (v->kind != Kind::tensor) return;
      if (v->tensor->numel > largest) largest = v->tensor->numel;
      if (v->tensor->constant && v->tensor->numel > constant) constant = v->tensor->numel;
    };
    for (int32_t i = 0; i < step.count; ++i) {
      look(step.args[i]);
      if (step.args[i]->kind == Kind::tensor_list)
        for (int32_t n = 0; n < step.args[i]->list.count; ++n) look(step.args[i]->list.items[n]);
    }
    if (step.count > 0 && step.args[step.count - 1]->kind == Kind::tensor)
      out = step.args[step.count - 1]->tensor->numel;
    work += (constant > 0 ? constant : largest) * out;
  }
  return work;
}

struct UnloadAtEnd {
  Program& program;
  ~UnloadAtEnd() { program.unload(); }
};

inline bool set_all_inputs(Program& program, uint8_t value) {
  for (int32_t i = 0; i < program.input_count(); ++i) {
    const Tensor& x = program.input(i);
    const Block data(static_cast<size_t>(x.numel) * element_bytes(x.type), value);
    if (!program.set_input(i, data.data(), data.size()).ok()) return false;
  }
  return true;
}

// Every byte of every output: they must lie in memory.
inline std::vector<uint8_t> bytes_of_outputs(const Program& program) {
  std::vector<uint8_t> bytes;
  for (int32_t i = 0; i < program.output_count(); ++i) {
    const Tensor& y = program.output(i);
    const auto* data = static_cast<const uint8_t*>(y.data);
    if (y.numel > 0)
      bytes.insert(bytes.end(), data, data + static_cast<size_t>(y.numel) * element_bytes(y.type));
  }
  return bytes;
}

// With a memory of just the right size for each planned buffer, which must give the outputs that it
// gave in one.
inline void run_in_memories(File file, const KernelTable& kernels, const Needs& needs,
                            const std::vector<uint8_t>& expected) {
  MemoryNeeds wanted;
  if (!measure_memories(file, needs, &wanted).ok()) std::abort();
  if (wanted.count < 2) return;
  std::vector<Block> blocks;
  std::vector<Memory> memories;
  for (int32_t k = 0; k < wanted.count; ++k)
    memories.push_back(blocks.emplace_back(wanted.bytes[k], 0xA5).memory());
  const Block tables(needs.tables_bytes);
  Program program;
  if (!program.load(file, kernels, tables.memory(), memories.data(), wanted.count).ok())
    std::abort();
  const UnloadAtEnd unload{program};
  if (!set_all_inputs(program, 255) || !program.run().ok()) std::abort();
  if (kernels.kernels == kAllKernels.kernels && bytes_of_outputs(program) != expected) {
    std::fprintf(stderr, "the outputs depend on where the planned buffers lie\n");
    std::abort();
  }
}

inline Outcome load_and_run(File file, const KernelTable& kernels) {
  constexpr uint32_t kMostMemory = 1 << 22;
  constexpr double kMostWork = 5e7;
  Needs needs;
  const HostArena asking;
  if (!measure(file, kernels, &needs).ok()) return Outcome::refused;
  if (needs.planned_bytes > kMostMemory || needs.tables_bytes > kMostMemory)
    return Outcome::too_large;
  if (asking.bytes() > kMostMemory) return Outcome::too_large;
  const Block tables(needs.tables_bytes), planned(needs.planned_bytes, 0), host(asking.bytes());
  Program program;
  const HostArena lent(host.memory());
  const Status s = program.load(file, kernels, tables.memory(), planned.memory());
  if (s.code == Code::out_of_memory) {
    std::fprintf(stderr, "measure() promised that %u bytes would do, load() wants %u: %s\n",
                 needs.tables_bytes, s.bytes_needed, s.detail);
    std::abort();
  }
  if (!s.ok()) return Outcome::refused;
  const UnloadAtEnd unload{program};
  if (work_of(program) > kMostWork) return Outcome::too_large;
  GuardedRun run(program, kernels, planned.memory());
  std::vector<uint8_t> first;
  for (const auto& [data, fill] : {std::pair<int, int>{0, 0}, {255, 0}, {255, 0xA5}}) {
    std::memset(planned.data(), fill, planned.size());
    if (run.has_copies() && !program.load(file, kernels, tables.memory(), planned.memory()).ok())
      std::abort();
    program.reset_state();  // which lies in planned memory
    if (!set_all_inputs(program, static_cast<uint8_t>(data))) std::abort();
    if (!run.run(static_cast<uint8_t>(fill)).ok()) return Outcome::refused;  // by a delegate
    std::vector<uint8_t> outputs = bytes_of_outputs(program);
    // Kernels made for tests need not write their outs.
    if (fill != 0 && kernels.kernels == kAllKernels.kernels && outputs != first) {
      std::fprintf(stderr, "the outputs depend on what the memory held before\n");
      std::abort();
    }
    first = std::move(outputs);
  }
  if (program.state_count() == 0) run_in_memories(file, kernels, needs, first);
  return Outcome::ran;
}

}  // namespace deuteron::test
