#include "inspect/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "backends/neutron_model/microcode.h"
#include "inspect/place_events.h"

namespace deuteron {
namespace {

constexpr i64 kFirstDelegateId = 1000;  // docs/profiling.md: ids inside a delegate are of equal length for the stock Inspector
constexpr std::string_view kNative = "native_call_", kRuntime = "(runtime)";

std::string without_prefix(const std::string& name) { return name.starts_with(kNative) ? name.substr(kNative.size()) : name; }

// The innermost module of both, by whole names.
std::string common_module(const std::string& a, const std::string& b) {
  if (a == b) return a;
  size_t end = 0;
  for (size_t i = 0;; ++i) {
    const bool a_ends = i >= a.size() || a[i] == '.', b_ends = i >= b.size() || b[i] == '.';
    if (a_ends && b_ends) end = i;
    if (i >= a.size() || i >= b.size() || a[i] != b[i]) break;
  }
  return a.substr(0, end);
}

u64 median_of(std::vector<u64> v) {
  if (v.empty()) return 0;
  std::sort(v.begin(), v.end());
  const size_t half = v.size() / 2;
  return v.size() % 2 ? v[half] : v[half - 1] + (v[half] - v[half - 1]) / 2;
}

struct Sums {
  ProfileRow row;
  i64 number = 0;  // in the order in which the rows appeared
  std::map<i64, u64> by_run;
  std::vector<u64> each;
};

// A record may claim anything: sums stop where nothing real is.
constexpr i64 kMostCounted = i64{1} << 60;
void add_known(i64& sum, i64 more, bool first) {
  if (first) sum = std::min(more, kMostCounted);
  else if (sum >= 0) sum = more < 0 ? -1 : std::min(sum + std::min(more, kMostCounted), kMostCounted);
}

class Attributor {
 public:
  Attributor(const Dump& trace, const SourceMap* map) : trace_(trace), map_(map) {
    p_.cpu = trace.cpu;
    p_.npu = trace.npu;
    // A file that says nothing about the NPU's clock counts everything by one. Else the NPU's ticks are a part of the CPU's time only where
    // a real NPU ran: a record that names its kernels is of the open model of the machine, for which no time passes.
    clocks_.has_npu = trace.npu.is_own;
    if (!clocks_.has_npu) p_.npu = trace.cpu;
    const bool real = map && std::none_of(map->calls.begin(), map->calls.end(), [](const MapKernel& c) { return !c.inside.empty(); });
    clocks_.comparable = !clocks_.has_npu || (real && trace.cpu.unit == "cycles" && trace.cpu.per_second > 0 && trace.npu.per_second > 0);
    clocks_.npu_to_cpu = clocks_.has_npu && clocks_.comparable ? trace.cpu.per_second / trace.npu.per_second : 1;
    p_.comparable = clocks_.comparable;
    p_.program_id = trace.program_id;
    p_.dropped = trace.dropped;
    p_.has_map = map != nullptr;
    if (map) p_.model = map->model, p_.target = map->target;
  }

  Profile attribute() {
    double offset = 0;
    for (const DumpRun& run : trace_.runs) {
      const bool executes = run.name != "Default" && run.name != "Profile";
      std::vector<PlacedEvent> placed = place_events(run, clocks_);
      if (executes) {
        add_run(placed);
        offset = draw(placed, offset);
        ++p_.runs;
      } else
        for (const PlacedEvent& e : placed) add_around(e);
    }
    finish();
    return std::move(p_);
  }

  i64 unmatched() const { return unmatched_; }
  const std::string& unmatched_name() const { return unmatched_name_; }

 private:
  // Behind the last kernel of a delegate's call: what its writing of the profile took.
  bool is_profile_dump(const DumpEvent& e, const MapKernel* call) const {
    if (clocks_.has_npu && e.is_inside_delegate() && e.name.empty() && e.metadata.size() == 1 && e.metadata[0] == 0) return true;
    return e.is_inside_delegate() && call && !call->inside.empty() &&
           e.delegate_id == kFirstDelegateId + static_cast<i64>(call->inside.size());
  }

  struct Where {
    const MapKernel* call = nullptr;
    const MapKernel* kernel = nullptr;  // the call, or the kernel inside it
  };
  Where find(const DumpEvent& e) const {
    if (!map_ || is_framework(e)) return {};
    const MapKernel* call = map_->call(e.instruction);
    if (!call || !e.is_inside_delegate()) return {call, call};
    const MapKernel* inside = nullptr;
    if (e.delegate_id >= 0) {
      if (!map_->is_stock && e.delegate_id >= kFirstDelegateId) inside = find_kernel(*call, e.delegate_id - kFirstDelegateId);
      if (!inside) inside = find_kernel(*call, e.delegate_id);
    }
    return {call, inside};
  }

  static std::string own_name(const DumpEvent& e) {
    if (!e.name.empty()) return without_prefix(e.name);
    if (!e.delegate_name.empty()) return e.delegate_name;
    if (e.metadata.size() == 1)
      if (const char* name = neutron::name_of(static_cast<neutron::Kind>(e.metadata[0]))) return name;
    return fmt::format("kernel {} of the delegate", e.delegate_id >= kFirstDelegateId ? e.delegate_id - kFirstDelegateId : e.delegate_id);
  }

  std::string kernel_name(const DumpEvent& e, const Where& where) const {
    if (is_framework(e) || is_call_of_kernel(e)) return std::string(kRuntime);
    if (where.kernel && !where.kernel->kernel.empty()) return where.kernel->kernel;
    if (is_profile_dump(e, where.call)) return "(writing of the profile)";
    return own_name(e);
  }

  const std::string& operator_name(i64 id) const { return map_->operators[id].name; }

  std::string joined(const std::vector<i64>& ids) const {
    std::string text;
    for (const i64 id : ids) text += (text.empty() ? "" : " + ") + operator_name(id);
    return text;
  }

  std::string targets(const std::vector<i64>& ids) const {
    std::string text;
    for (const i64 id : ids) text += (text.empty() ? "" : " + ") + map_->operators[id].target;
    return text;
  }

  std::string module_of(const std::vector<i64>& ids) const {
    std::string module = ids.empty() ? "" : map_->operators[ids[0]].module;
    for (const i64 id : ids) module = common_module(module, map_->operators[id].module);
    return module;
  }

  // Of neighbours that have no module around them: all of theirs, if they are few.
  std::string module_name(const ProfileRow& kernel) const {
    if (!kernel.module.empty()) return kernel.module;
    std::vector<std::string> modules;
    for (const i64 id : kernel.operators) {
      const std::string& m = map_->operators[id].module;
      if (m.empty()) return "(top level)";
      if (std::find(modules.begin(), modules.end(), m) == modules.end()) modules.push_back(m);
    }
    if (modules.empty() || modules.size() > 3) return "(top level)";
    return fmt::format("{}", fmt::join(modules, " + "));
  }

  template <class Key>
  Sums& sums(std::map<Key, Sums>& table, const Key& key, const ProfileRow& fresh) {
    const auto [it, is_new] = table.try_emplace(key);
    if (is_new) it->second.row = fresh, it->second.number = static_cast<i64>(table.size()) - 1;
    return it->second;
  }

  static void count(Sums& s, u64 ticks, i64 run, bool is_call, const MapKernel* kernel) {
    s.by_run[run] += ticks;
    s.row.total += ticks;
    if (!is_call) return;
    const bool first = s.row.calls++ == 0;
    s.each.push_back(ticks);
    add_known(s.row.macs, kernel ? kernel->macs : -1, first);
    add_known(s.row.bytes, kernel ? kernel->bytes : -1, first);
    add_known(s.row.predicted_cycles, kernel ? kernel->predicted_cycles : -1, first);
  }

  void add_run(std::vector<PlacedEvent>& placed) {
    std::set<i64> delegates;
    for (const PlacedEvent& p : placed)
      if (p.event->is_inside_delegate()) delegates.insert(p.event->instruction);
    for (PlacedEvent& p : placed) {
      const DumpEvent& e = *p.event;
      if (!p.inside_method) {
        add_around(p);
        continue;
      }
      (p.npu ? p_.npu_total : p_.cpu_total) += p.own;
      const Where where = find(e);
      const bool runtime = is_framework(e) || is_call_of_kernel(e);
      const bool outer_call = is_delegate_call(e) || (!e.is_inside_delegate() && !runtime && delegates.contains(e.instruction));
      const bool is_profile = !where.kernel && is_profile_dump(e, where.call);
      // A record that says nothing of a delegate's inside: its kernels are of all its operators.
      const bool is_opaque = !where.kernel && !is_profile && where.call && where.call->inside.empty();
      if (map_ && !runtime && !where.kernel && !is_profile && !is_opaque && unmatched_++ == 0)
        unmatched_name_ = fmt::format("`{}` of instruction {}", own_name(e), e.instruction);

      ProfileRow row;
      row.name = kernel_name(e, where);
      row.npu = p.npu;
      if (!runtime) row.instruction = e.instruction, row.delegate_id = e.delegate_id;
      if (where.kernel && !runtime) {
        row.operators = where.kernel->operators;
        row.added = where.kernel->added;
        row.bound = where.kernel->bound;
        row.placement = !where.call->placement.empty() ? where.call->placement : e.is_inside_delegate() ? "npu" : "";
        row.module = module_of(row.operators);
        row.detail = joined(row.operators);
      }
      if (is_opaque) {
        row.operators = where.call->operators;
        row.placement = where.call->placement;
        row.module = module_of(row.operators);
        row.detail = joined(row.operators);
      }
      // What a delegate's call has of its own is the driver's, not its kernels' work.
      const bool is_driver = outer_call && (delegates.contains(e.instruction) || (where.call && !where.call->inside.empty()));
      if (is_driver) row.name = fmt::format("{}, the call itself", row.name);
      const MapKernel* cost = runtime || is_driver ? nullptr : where.kernel;
      const KernelKey key{p.npu, row.instruction, row.delegate_id, e.is_inside_delegate() ? e.delegate_name : row.name};
      Sums& s = sums(kernels_, key, row);
      count(s, p.own, p_.runs, true, cost);
      if (!runtime) p.row = s.number;
      if (row.added) s.row.added_ticks += p.own;
      if (map_) add_group(p, row, cost, runtime, is_driver, is_opaque && row.operators.size() != 1);
    }
  }

  void add_group(const PlacedEvent& p, const ProfileRow& kernel, const MapKernel* cost, bool runtime, bool is_driver, bool is_opaque) {
    ProfileRow row;
    row.npu = p.npu;
    row.operators = kernel.operators;
    row.placement = kernel.placement;
    row.module = kernel.module;
    if (runtime) row.name = kRuntime;
    else if (is_driver)
      row.name = fmt::format("(call of the delegate, instruction {})", kernel.instruction), row.detail = joined(row.operators);
    else if (kernel.operators.empty() && !is_opaque)
      row.name = kernel.name.starts_with("(") ? kernel.name : "(no operator)", row.detail = kernel.name;
    else if (is_opaque)
      row.name = fmt::format("(inside the delegate, instruction {})", kernel.instruction), row.detail = joined(row.operators);
    else row.name = joined(row.operators), row.detail = targets(row.operators);
    Sums& group = sums(groups_, GroupKey{p.npu, row.name, row.operators}, row);
    count(group, p.own, p_.runs, true, cost);
    if (kernel.added) group.row.added_ticks += p.own;

    ProfileRow module;
    module.npu = p.npu;
    module.name = runtime ? std::string(kRuntime) : module_name(kernel);
    module.module = kernel.module;
    Sums& m = sums(modules_, ModuleKey{p.npu, module.name}, module);
    count(m, p.own, p_.runs, true, cost);
    if (kernel.added) m.row.added_ticks += p.own;
  }

  void add_around(const PlacedEvent& p) {
    ProfileRow row;
    row.name = own_name(*p.event);
    Sums& s = sums(around_, std::string(row.name), row);
    count(s, p.own, p_.runs, true, nullptr);
  }

  // The run's events after `offset`; answers where the next may begin.
  double draw(const std::vector<PlacedEvent>& placed, double offset) {
    u64 first = ~u64{0}, last = 0;
    for (const PlacedEvent& p : placed)
      if (!p.npu && p.inside_method) first = std::min(first, p.start), last = std::max(last, p.end);
    if (first > last) first = last = 0;
    std::map<i64, std::pair<u64, u64>> spans;  // by call: of its events by the NPU's clock
    for (const PlacedEvent& p : placed)
      if (p.npu) {
        auto& [from, to] = spans.try_emplace(p.parent, ~u64{0}, 0).first->second;
        from = std::min(from, p.start);
        to = std::max(to, p.end);
      }
    double end_of_run = offset + static_cast<double>(last - first);
    for (const PlacedEvent& p : placed) {
      if (!p.inside_method) continue;
      const Where where = find(*p.event);
      TimeSlice s;
      s.run = p_.runs;
      s.name = is_framework(*p.event) ? p.event->name : kernel_name(*p.event, where);
      s.instruction = is_framework(*p.event) ? -1 : p.event->instruction;
      s.npu = p.event->is_inside_delegate();
      s.ticks = p.event->ticks();
      s.row = p.row;
      if (!p.npu) {
        s.start = offset + static_cast<double>(p.start - first);
        s.end = offset + static_cast<double>(p.end - first);
      } else {
        const auto [from, to] = spans[p.parent];
        double begin = end_of_run, scale = clocks_.npu_to_cpu;
        if (p.parent >= 0) {
          const PlacedEvent& call = placed[p.parent];
          begin = offset + static_cast<double>(call.start - std::min(first, call.start));
          const double room = static_cast<double>(call.end - call.start);
          if (to > from && (!clocks_.comparable || static_cast<double>(to - from) * scale > room))
            scale = room / static_cast<double>(to - from);
        }
        s.start = begin + static_cast<double>(p.start - from) * scale;
        s.end = begin + static_cast<double>(p.end - from) * scale;
        end_of_run = std::max(end_of_run, s.end);
      }
      p_.slices.push_back(std::move(s));
    }
    return end_of_run;
  }

  void spread(Sums& s, bool over_runs) {
    std::vector<u64> list = s.each;
    if (over_runs) {
      list.clear();
      for (const auto& [run, ticks] : s.by_run) list.push_back(ticks);
    }
    if (list.empty()) return;
    s.row.min = *std::min_element(list.begin(), list.end());
    s.row.max = *std::max_element(list.begin(), list.end());
    s.row.median = median_of(std::move(list));
    const double whole = clocks_.comparable ? static_cast<double>(p_.cpu_total) + static_cast<double>(p_.npu_total) * clocks_.npu_to_cpu
                                            : static_cast<double>(s.row.npu ? p_.npu_total : p_.cpu_total);
    const double part = static_cast<double>(s.row.total) * (s.row.npu && clocks_.comparable ? clocks_.npu_to_cpu : 1.0);
    s.row.share = whole > 0 ? part / whole : 0;
  }

  template <class Key>
  std::vector<ProfileRow> rows(std::map<Key, Sums>& table, bool over_runs, std::vector<i64>* places = nullptr) {
    std::vector<std::pair<ProfileRow, i64>> list;
    for (auto& [key, s] : table) {
      spread(s, over_runs);
      s.row.added = s.row.added || (s.row.total > 0 && s.row.added_ticks == s.row.total);
      list.emplace_back(s.row, s.number);
    }
    std::stable_sort(list.begin(), list.end(), [&](const auto& a, const auto& b) {
      if (!clocks_.comparable && a.first.npu != b.first.npu) return a.first.npu > b.first.npu;
      return a.first.share > b.first.share;
    });
    std::vector<ProfileRow> sorted;
    if (places) places->resize(list.size());
    for (auto& [row, number] : list) {
      if (places) (*places)[number] = static_cast<i64>(sorted.size());
      sorted.push_back(std::move(row));
    }
    return sorted;
  }

  void finish() {
    std::vector<i64> places;
    p_.kernels = rows(kernels_, false, &places);
    for (TimeSlice& s : p_.slices)
      if (s.row >= 0) s.row = places[s.row];
    std::stable_sort(p_.slices.begin(), p_.slices.end(),
                     [](const TimeSlice& a, const TimeSlice& b) { return a.start < b.start || (a.start == b.start && a.end > b.end); });
    p_.operators = rows(groups_, true);
    p_.modules = rows(modules_, true);
    for (ProfileRow& outer : p_.modules)
      for (const ProfileRow& inner : p_.modules) {
        const bool within = !outer.module.empty() && inner.module.starts_with(outer.module) &&
                            (inner.module.size() == outer.module.size() || inner.module[outer.module.size()] == '.');
        if (inner.npu == outer.npu && (within || &inner == &outer)) outer.nested_total += inner.total;
      }
    p_.around = rows(around_, false);
    for (ProfileRow& row : p_.around) row.share = 0;
  }

  using KernelKey = std::tuple<bool, i64, i64, std::string>;
  using GroupKey = std::tuple<bool, std::string, std::vector<i64>>;
  using ModuleKey = std::tuple<bool, std::string>;

  const Dump& trace_;
  const SourceMap* map_;
  Profile p_;
  Clocks clocks_;
  std::map<KernelKey, Sums> kernels_;
  std::map<GroupKey, Sums> groups_;
  std::map<ModuleKey, Sums> modules_;
  std::map<std::string, Sums> around_;
  i64 unmatched_ = 0;
  std::string unmatched_name_;
};

}  // namespace

std::optional<Profile> attribute(const Dump& trace, const SourceMap* map, const std::string& name, Diagnostics& diagnostics) {
  if (map && !map->program_id.empty() && !trace.program_id.empty() && map->program_id != trace.program_id) {
    diagnostics.add({Severity::error, name, "the trace and the record are not of the same program",
                     fmt::format("the trace's program {}", trace.program_id), fmt::format("the record's {}", map->program_id),
                     "inspect.program_id", "use the record that was written together with the program: deuteron compile --etrecord FILE"});
    return std::nullopt;
  }
  if (map && !map->is_stock && trace.program_id.empty())
    diagnostics.warning(name, "the trace does not say which program it is of; whether the record belongs to it is not known",
                        "inspect.program_id");
  Attributor a(trace, map);
  Profile profile = a.attribute();
  if (profile.runs == 0) diagnostics.warning(name, "the trace has the loading of a program but no call of it", "inspect.no_run");
  if (a.unmatched() > 0)
    diagnostics.warning(name,
                        fmt::format("{} event{} (the first is {}) {} not in the record", a.unmatched(), a.unmatched() == 1 ? "" : "s",
                                    a.unmatched_name(), a.unmatched() == 1 ? "is" : "are"),
                        "inspect.unmatched", map && map->is_stock ? "" : "the record is of another program, or the trace is damaged");
  return profile;
}

}  // namespace deuteron
