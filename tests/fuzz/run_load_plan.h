// SPDX-License-Identifier: Apache-2.0
// Loads a program from its load plan alone, whatever that says, and runs it under guard (guarded_run.h).
#pragma once
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/load_plan.h"
#include "tests/fuzz/load_and_run.h"

namespace deuteron::test {

// Makes hash and lengths of the plan at the end right, and the FlatBuffer unreadable, so that nothing but the plan can load. False: no plan
// can be there.
inline bool sign_load_plan(std::vector<uint8_t>& file) {
  LoadPlanEnd end;
  LoadPlanHeader h;
  if (file.size() % 4 != 0 || file.size() < 64 + sizeof h + sizeof end) return false;
  std::memcpy(&end, &file[file.size() - sizeof end], sizeof end);
  if (end.bytes % 4 != 0 || end.bytes < sizeof h + sizeof end || end.bytes > file.size() - 64) return false;
  const size_t at = file.size() - end.bytes;
  end.magic = kLoadPlanMagic;
  std::memcpy(&file[file.size() - sizeof end], &end, sizeof end);
  std::memcpy(&h, &file[at], sizeof h);
  h.magic = kLoadPlanMagic, h.bytes = end.bytes, h.file_bytes = static_cast<uint32_t>(file.size());
  std::memcpy(&file[at], &h, sizeof h);
  std::vector<uint32_t> words(end.bytes / 4);
  std::memcpy(words.data(), &file[at], end.bytes);
  h.hash = load_plan_hash(words.data() + 2, static_cast<uint32_t>(words.size()) - 2);
  std::memcpy(&file[at], &h, sizeof h);
  std::memset(file.data(), 0xff, 4);
  std::memcpy(&file[4], "ET12", 4);
  return true;
}

// Whether the names of the kernels, which only tools read, are those of their numbers: the guard finds schemas by name. After load().
inline bool are_named_right(const LoadPlanHeader& h) {
  const auto* at = reinterpret_cast<const uint8_t*>(&h) + h.kernels_at;
  for (uint32_t i = 0; i < h.kernels; ++i) {
    const auto* k = reinterpret_cast<const LoadPlanKernel*>(at);
    std::string name = reinterpret_cast<const char*>(k + 1);
    if (k->overload_at) name = name + "." + (reinterpret_cast<const char*>(k + 1) + k->overload_at);
    if (kernel_id(name.c_str()) != k->id) return false;
    at += 4u * k->words;
  }
  return true;
}

enum class FromPlan { refused, too_large, misnamed, ran };

inline FromPlan load_and_run_plan(const std::vector<uint8_t>& bytes, const KernelTable& kernels) {
  constexpr uint32_t kTables = 1 << 16, kMostPlanned = 1 << 20;
  constexpr double kMostWork = 5e7;
  const Block file(bytes);
  const LoadPlanHeader* h = find_load_plan(file.file());
  if (!h) return FromPlan::refused;
  const Block tables(kTables), planned(std::min(h->planned_bytes, kMostPlanned), 0);
  Program program;
  const auto load = [&] { return program.load(file.file(), kernels, tables.memory(), planned.memory()).ok(); };
  if (!load()) return FromPlan::refused;
  if (!are_named_right(*h)) return FromPlan::misnamed;
  if (work_of(program) > kMostWork) return FromPlan::too_large;
  if (!GuardedRun(program, kernels, planned.memory()).run(0x5a).ok()) std::abort();
  // What the memory held before makes no difference.
  std::vector<uint8_t> outputs[2];
  for (int k = 0; k < 2; ++k) {
    std::memset(planned.memory().data, k ? 0xa5 : 0, planned.size());
    if (!load() || !set_all_inputs(program, 0x33) || !program.run().ok()) std::abort();
    outputs[k] = bytes_of_outputs(program);
  }
  if (outputs[0] != outputs[1]) {
    std::fprintf(stderr, "the outputs depend on what the planned memory held before\n");
    std::abort();
  }
  return FromPlan::ran;
}

}  // namespace deuteron::test
