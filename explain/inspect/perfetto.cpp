// SPDX-License-Identifier: Apache-2.0
#include "explain/inspect/perfetto.h"

#include <algorithm>

namespace deuteron {
namespace {

using Json = nlohmann::ordered_json;

constexpr i64 kMost = i64{1} << 60;  // bytes; a record may claim anything
constexpr int kProcess = 1, kCpu = 1, kNpu = 2;

Json name_event(const char* what, int thread, const char* name) {
  Json j = {{"ph", "M"}, {"pid", kProcess}, {"name", what}, {"args", {{"name", name}}}};
  if (thread > 0) j["tid"] = thread;
  return j;
}

Json memory_event(double us, i64 bytes) {
  return {{"name", "memory alive"},
          {"ph", "C"},
          {"pid", kProcess},
          {"ts", us},
          {"args", {{"bytes", bytes}}}};
}

Json args_of(const TimeSlice& s, const Profile& p) {
  Json args = {{"ticks", s.ticks}, {"run", s.run}};
  if (s.instruction >= 0) args["instruction"] = s.instruction;
  if (s.row < 0) return args;
  const ProfileRow& r = p.kernels[s.row];
  if (!r.detail.empty()) args["operators"] = r.detail;
  if (!r.module.empty()) args["module"] = r.module;
  if (r.added) args["added"] = true;
  if (r.macs > 0 && r.calls > 0) args["multiply-adds"] = r.macs / r.calls;
  return args;
}

}  // namespace

std::vector<i64> alive_by_call(const SourceMap& map) {
  std::vector<i64> alive(map.calls.size(), 0);
  const auto memories = map.json.find("memory");
  if (memories == map.json.end()) return {};
  bool any = false;
  for (const auto& memory : *memories)
    for (const auto& tensor : memory.value("tensors", nlohmann::json::array())) {
      const i64 first = tensor.value("first", i64{0}),
                last =
                    std::min<i64>(tensor.value("last", i64{0}), static_cast<i64>(alive.size()) - 1);
      for (i64 k = std::max<i64>(first, 0); k <= last; ++k)
        alive[k] = std::min(alive[k] + std::min(tensor.value("bytes", i64{0}), kMost), kMost);
      any = true;
    }
  return any ? alive : std::vector<i64>();
}

std::string perfetto_json(const Profile& p, const SourceMap* map) {
  const bool has_rate = p.cpu.per_second > 0 && p.cpu.unit != "instructions";
  const double to_us = has_rate ? 1e6 / p.cpu.per_second : 1;
  Json events = Json::array();
  events.push_back(name_event("process_name", 0, p.model.empty() ? "program" : p.model.c_str()));
  events.push_back(name_event("thread_name", kCpu, "CPU"));
  const bool npu =
      std::any_of(p.slices.begin(), p.slices.end(), [](const TimeSlice& s) { return s.npu; });
  if (npu) events.push_back(name_event("thread_name", kNpu, "NPU"));
  const std::vector<i64> alive = map ? alive_by_call(*map) : std::vector<i64>();
  for (const TimeSlice& s : p.slices) {
    events.push_back({{"name", s.name},
                      {"cat", s.npu               ? "npu"
                              : s.instruction < 0 ? "runtime"
                                                  : "cpu"},
                      {"ph", "X"},
                      {"pid", kProcess},
                      {"tid", s.npu ? kNpu : kCpu},
                      {"ts", s.start * to_us},
                      {"dur", (s.end - s.start) * to_us},
                      {"args", args_of(s, p)}});
    if (!s.npu && s.instruction >= 0 && s.instruction < static_cast<i64>(alive.size()))
      events.push_back(memory_event(s.start * to_us, alive[s.instruction]));
    if (s.name == "Method::execute" && !alive.empty())
      events.push_back(memory_event(s.end * to_us, 0));
  }
  // Viewers want counters in order of time.
  std::stable_sort(events.begin(), events.end(), [](const Json& a, const Json& b) {
    return a.value("ts", -1.0) < b.value("ts", -1.0);
  });
  Json facts = {{"cpu_clock", p.cpu.unit},
                {"npu_clock", p.npu.unit},
                {"program_id", p.program_id},
                {"dropped_events", p.dropped}};
  if (!has_rate) facts["time_scale"] = "1 tick of the CPU's clock is drawn as 1 microsecond";
  if (npu && !p.comparable)
    facts["npu_scale"] =
        "the NPU's kernels are stretched to fill their delegate's call; args.ticks has what was "
        "measured";
  const Json j = {{"traceEvents", std::move(events)},
                  {"displayTimeUnit", "ms"},
                  {"otherData", std::move(facts)}};
  return j.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace deuteron
