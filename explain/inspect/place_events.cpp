// SPDX-License-Identifier: Apache-2.0
#include "explain/inspect/place_events.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace deuteron {

bool is_framework(const DumpEvent& e) {
  return !e.is_inside_delegate() &&
         (e.instruction < 0 || e.chain < 0 || e.name.starts_with("Method::") ||
          e.name.starts_with("Program::"));
}

// Equal in time need not mean inside: a clock may be coarse. A kernel holds nothing but what is
// inside its delegate.
static bool may_hold(const DumpEvent& outer, const DumpEvent& inner) {
  if (outer.is_inside_delegate())
    return inner.is_inside_delegate() && inner.instruction == outer.instruction;
  if (is_framework(outer)) return true;
  return inner.instruction == outer.instruction && !is_framework(inner);
}

// The events with whose clock each goes by, and when it begins and ends by that.
static std::vector<PlacedEvent> timed_events(const DumpRun& run, const NpuEvents& npu, bool mixed) {
  std::vector<PlacedEvent> list;
  std::set<i64> with_kernel;  // instructions
  for (const DumpEvent& e : run.events)
    if (!e.is_inside_delegate() && !is_framework(e) && !is_call_of_kernel(e))
      with_kernel.insert(e.instruction);
  std::array<u64, 2> wraps{}, last{};
  for (const DumpEvent& e : run.events) {
    PlacedEvent p{&e};
    p.npu = npu.events[list.size()] != NpuEvents::Is::other;
    p.is_writing = npu.events[list.size()] == NpuEvents::Is::writing;
    p.is_runtime = is_framework(e) || (is_call_of_kernel(e) && with_kernel.contains(e.instruction));
    u64& wrapped = wraps[p.npu];
    // A 32-bit counter that is far below the event before has passed its end since; the NPU's may
    // begin again with every call.
    if (!p.npu && e.end + wrapped < last[p.npu] && last[p.npu] - (e.end + wrapped) > (u64{1} << 31))
      wrapped += u64{1} << 32;
    p.end = (p.is_writing && mixed ? e.start : e.end) + wrapped;
    p.own = p.is_writing && mixed ? 0 : e.ticks();
    p.start = p.end - std::min(p.own, p.end);
    last[p.npu] = p.end;
    list.push_back(p);
  }
  return list;
}

// Those of the CPU's clock come in order of their ends. What starts after a later one starts, and
// has no place yet, lies inside that.
static void put_inside_by_time(std::vector<PlacedEvent>& list) {
  std::vector<size_t> open;  // without a parent so far
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].npu) continue;
    while (!open.empty() && list[open.back()].start >= list[i].start &&
           may_hold(*list[i].event, *list[open.back()].event)) {
      PlacedEvent& inner = list[open.back()];
      inner.parent = static_cast<i64>(i);
      list[i].own -= std::min(list[i].own, inner.end - inner.start);
      open.pop_back();
    }
    open.push_back(i);
  }
}

// Those of the NPU's clock belong to the call of their instruction before them, or where there is
// none yet to the next one, and are less of its own time where both clocks can be compared.
static void put_inside_calls(std::vector<PlacedEvent>& list, const ProfileClocks& clocks) {
  std::map<i64, std::vector<size_t>> waiting;
  std::map<i64, size_t> call_of;
  const auto give = [&](size_t inner, size_t call) {
    list[inner].parent = static_cast<i64>(call);
    const double ticks = static_cast<double>(list[inner].event->ticks()) * clocks.npu_to_cpu +
                         0.5;  // may be more than 64 bits hold
    u64& own = list[call].own;
    if (clocks.comparable) own -= ticks < static_cast<double>(own) ? static_cast<u64>(ticks) : own;
  };
  for (size_t i = 0; i < list.size(); ++i) {
    const DumpEvent& e = *list[i].event;
    if (list[i].npu) {
      if (const auto call = call_of.find(e.instruction); call != call_of.end())
        give(i, call->second);
      else waiting[e.instruction].push_back(i);
    } else if (!e.is_inside_delegate() && !is_framework(e)) {
      call_of[e.instruction] = i;
      for (const size_t inner : waiting[e.instruction]) give(inner, i);
      waiting.erase(e.instruction);
    }
  }
}

std::vector<PlacedEvent> place_events(const DumpRun& run, const NpuEvents& npu,
                                      const ProfileClocks& clocks, bool mixed) {
  std::vector<PlacedEvent> list = timed_events(run, npu, mixed);
  put_inside_by_time(list);
  put_inside_calls(list, clocks);
  for (size_t i = list.size(); i-- > 0;) {
    const PlacedEvent& p = list[i];
    list[i].inside_method = p.event->name == "Method::execute" || !is_framework(*p.event) ||
                            (p.parent > static_cast<i64>(i) && list[p.parent].inside_method);
  }
  return list;
}

}  // namespace deuteron
