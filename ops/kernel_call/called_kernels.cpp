// SPDX-License-Identifier: Apache-2.0
#include "ops/kernel_call/called_kernels.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/check.h"
#include "kernels/common/record_call.h"
#include "ops/kernel_call/host_call.h"

namespace deuteron {

namespace {

void add_once(std::vector<std::string>& list, std::string_view text) {
  if (std::ranges::find(list, text) == list.end()) list.emplace_back(text);
}

// The same backends, which look at their payloads and open nothing: asking needs no driver that
// takes them.
struct UnopenedBackends {
  std::vector<Backend> backends;
  std::vector<const Backend*> pointers;
  explicit UnopenedBackends(const KernelTable& table) {
    for (int32_t i = 0; i < table.backend_count; ++i) {
      Backend& b = backends.emplace_back(*table.backends[i]);
      b.open = [](void*) { return Status{}; };
      b.close = [](void*) {};
    }
    for (const Backend& b : backends) pointers.push_back(&b);
  }
};

CallRecorder recorder_of(uint32_t features, CalledKernels& called) {
  return {features,
          [](void* context, const KernelShape& k, const void* const*) {
            add_once(static_cast<CalledKernels*>(context)->names, k.name);
          },
          &called,
          [](void* context, const char* why) {
            add_once(static_cast<CalledKernels*>(context)->why_not, why);
          }};
}

}  // namespace

bool ask_step(const Program::Step& step, const Kernel& kernel, Isa isa,
              const CallRecorder& recorder) {
  size_t items = 1;  // what it may take: contract in runtime/kernel.h
  for (int32_t i = 0; i < step.count; ++i)
    items +=
        1 +
        (step.args[i]->kind >= Kind::int_list ? static_cast<size_t>(step.args[i]->list.count) : 0);
  std::vector<std::max_align_t> memory(256 * items / sizeof(std::max_align_t));
  Arena arena{reinterpret_cast<uint8_t*>(memory.data()), memory.size() * sizeof(std::max_align_t),
              0};
  Call call{step.args, step.count, &arena, isa};
  call.recorder = &recorder;
  Prepared prepared;
  DEUTERON_CHECK(kernel.prepare(call, &prepared).ok(),
                 kernel.name);  // the loader has prepared it before
  return prepared.args != nullptr;
}

uint32_t features_of(Isa isa, bool has_float_unit) {
  const auto bit = [](Feature f) { return 1u << static_cast<int>(f); };
  switch (isa) {
    case Isa::mve:
      return bit(Feature::mve) | (has_float_unit ? bit(Feature::mve_float) : 0);
    case Isa::dsp:
      return bit(Feature::dsp) | (has_float_unit ? bit(Feature::dsp_float) : 0);
    case Isa::scalar:
      return bit(Feature::scalar) | (has_float_unit ? 0 : bit(Feature::soft_float));
  }
  return 0;
}

CalledKernels called_kernels(const KernelCall& call, TypeView in, TypeView out,
                             std::span<void* const> in_data, Isa isa, uint32_t features) {
  CalledKernels called;
  const CallRecorder recorder = recorder_of(features, called);
  ask_call(call, in, out, in_data, isa, recorder);
  return called;
}

std::optional<std::vector<CalledKernels>> called_kernels(File file, Isa isa, uint32_t features) {
  const UnopenedBackends unopened(kAllKernels);
  const KernelTable table{kAllKernels.kernels, kAllKernels.count, unopened.pointers.data(),
                          kAllKernels.backend_count};
  Needs needs;
  if (!measure(file, table, &needs).ok()) return std::nullopt;
  std::vector<std::max_align_t> tables(needs.tables_bytes / sizeof(std::max_align_t) + 1),
      planned(needs.planned_bytes / sizeof(std::max_align_t) + 1);
  Program program;
  if (!program
           .load(file, table, {tables.data(), needs.tables_bytes},
                 {planned.data(), needs.planned_bytes})
           .ok())
    return std::nullopt;
  const std::span<const Kernel* const> all_kernels(kAllKernels.kernels,
                                                   static_cast<size_t>(kAllKernels.count));
  std::vector<CalledKernels> all;
  for (int32_t k = 0; k < program.instruction_count(); ++k) {
    const Program::Step step = program.step(k);
    const CallName name = program.name_of_call(k);
    CalledKernels& called = all.emplace_back();
    if (step.delegate != nullptr) continue;
    const std::string op =
        name.overload && *name.overload ? fmt::format("{}.{}", name.op, name.overload) : name.op;
    const auto kernel =
        std::ranges::find_if(all_kernels, [&](const Kernel* known) { return op == known->name; });
    DEUTERON_CHECK(kernel != all_kernels.end(), op);
    ask_step(step, **kernel, isa, recorder_of(features, called));
  }
  return all;
}

std::string text_of(const CalledKernels& called) {
  return fmt::format("{}{}{}", fmt::join(called.names, ", "), called.why_not.empty() ? "" : ": ",
                     fmt::join(called.why_not, "; "));
}

}  // namespace deuteron
