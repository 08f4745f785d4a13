// SPDX-License-Identifier: Apache-2.0
#include "explain/inspect/npu_events.h"

namespace deuteron {
namespace {

constexpr const char* kNeutron = "NeutronBackend";

bool is_by_npu(const DumpEvent& e, const Dump& trace, const MapKernel* call) {
  if (!e.is_inside_delegate()) return false;
  if (trace.npu.is_own || (call && call->kernel == kNeutron)) return true;
  return e.delegate_name.empty() && e.name.empty() &&
         (e.metadata.size() == 1 || e.metadata.size() == 2);
}

bool writes_profile(const DumpEvent& last, const Dump& trace, const MapKernel* call) {
  if (last.metadata.size() == 2 || (last.metadata.size() == 1 && last.metadata[0] == 0))
    return true;
  return call && !call->inside.empty() &&
         last.delegate_id == first_id_of(trace) + static_cast<i64>(call->inside.size());
}

}  // namespace

NpuEvents npu_events_of(const DumpRun& run, const Dump& trace, const SourceMap* map) {
  NpuEvents found{std::vector(run.events.size(), NpuEvents::Is::other), {}};
  std::map<i64, std::vector<size_t>> calls;  // by instruction: the events of the call that is read
  const auto end_call = [&](i64 instruction, std::vector<size_t>& call) {
    if (call.empty()) return;
    const bool is_written =
        writes_profile(run.events[call.back()], trace, map ? map->call(instruction) : nullptr);
    if (is_written) found.events[call.back()] = NpuEvents::Is::writing;
    found.kernels.try_emplace(instruction, static_cast<i64>(call.size()) - (is_written ? 1 : 0));
    call.clear();
  };
  for (size_t k = 0; k < run.events.size(); ++k) {
    const DumpEvent& e = run.events[k];
    if (!is_by_npu(e, trace, map ? map->call(e.instruction) : nullptr)) continue;
    found.events[k] = NpuEvents::Is::kernel;
    std::vector<size_t>& call = calls[e.instruction];
    if (!call.empty() && e.delegate_id <= run.events[call.back()].delegate_id)
      end_call(e.instruction, call);  // called again
    call.push_back(k);
  }
  for (auto& [instruction, call] : calls) end_call(instruction, call);
  return found;
}

}  // namespace deuteron
