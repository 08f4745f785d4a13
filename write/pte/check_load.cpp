// SPDX-License-Identifier: Apache-2.0
#include "write/pte/check_load.h"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <string_view>

#include "runtime/plan.h"
#include "write/pte/status_text.h"

namespace deuteron {
namespace {

// The same kernels, and backends that do not open their libraries.
struct WithoutLibraries {
  std::vector<Backend> backends;
  std::vector<const Backend*> pointers;
  KernelTable table;

  explicit WithoutLibraries(const KernelTable& all) : table(all) {
    for (int32_t i = 0; i < all.backend_count; ++i) {
      Backend& b = backends.emplace_back(*all.backends[i]);
      b.open = [](void*) { return Status{}; };
      b.close = [](void*) {};
    }
    for (const Backend& b : backends) pointers.push_back(&b);
    table.backends = pointers.data();
  }
};

struct Free {
  void operator()(void* p) const { std::free(p); }
};
// Pages that are zero without being written: a plan of a gigabyte costs nothing.
std::unique_ptr<void, Free> zeros(size_t bytes) {
  std::unique_ptr<void, Free> memory(std::calloc(bytes + 1, 1));
  if (!memory) throw std::bad_alloc();
  return memory;
}

Status load(File file) {
  const WithoutLibraries kernels(kAllKernels);
  Needs needs;
  if (Status s = measure(file, kernels.table, &needs); !s.ok()) return s;
  const auto tables = zeros(needs.tables_bytes), planned = zeros(needs.planned_bytes);
  Program program;
  const Status s = program.load(file, kernels.table, {tables.get(), needs.tables_bytes},
                                {planned.get(), needs.planned_bytes});
  program.unload();
  return s;
}

std::string where_of(const Graph& graph, const std::string& target) {
  return fmt::format("{} on {}", graph.name, target);
}

std::string text_of(const Status& s) {
  std::string text = s.instruction >= 0 ? fmt::format("instruction {}, ", s.instruction) : "";
  if (s.op) text += fmt::format("{}, ", s.op);
  if (s.argument >= 0) text += fmt::format("argument {}: ", s.argument);
  return text + (s.detail ? s.detail : name_of(s.code));
}

}  // namespace

void check_sizes(const Graph& graph, const std::string& target, Diagnostics& diagnostics) {
  const std::string where = where_of(graph, target);
  for (const auto& [ports, what] : {std::pair(graph.user_inputs().size(), "inputs"),
                                    std::pair(graph.user_outputs().size(), "outputs")})
    if (ports > kMostPorts)
      diagnostics.add({Severity::error, where,
                       fmt::format("the program has more {} than the runtime takes", what),
                       std::to_string(ports), std::to_string(kMostPorts), "program.load",
                       fmt::format("join {} in the model: one tensor with their elements", what)});
  constexpr i64 kMostElements = std::numeric_limits<i32>::max();
  for (const GraphValue& value : graph.values)
    if (value.type.elements() > kMostElements)
      return diagnostics.add(
          {Severity::error, where,
           fmt::format("`{}` has more elements than the runtime takes", value.name),
           std::to_string(value.type.elements()), std::to_string(kMostElements), "program.load",
           "divide the tensor in the model"});
}

void check_load(const std::vector<uint8_t>& pte, const Graph& graph, const std::string& target,
                Diagnostics& diagnostics) {
  const std::string where = where_of(graph, target);
  const Status s = load({pte.data(), pte.size()});
  if (s.ok()) return;
  if (s.detail && s.detail == kTooManySteps) {
    const uint32_t limit = max_load_steps(static_cast<uint32_t>(pte.size()));
    return diagnostics.add(
        {Severity::error, where, "the runtime takes more steps to check the program than it may",
         fmt::format("over {}", limit), std::to_string(limit), "program.load",
         "divide the model into several programs, or let fewer tensors live at once"});
  }
  diagnostics.error(where, fmt::format("the runtime refuses the program: {}", text_of(s)),
                    "program.load", "please report this with the model if you can");
}

}  // namespace deuteron
