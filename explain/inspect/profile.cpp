// SPDX-License-Identifier: Apache-2.0
#include "explain/inspect/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "explain/inspect/place_events.h"
#include "explain/inspect/profile_table.h"
#include "npu/neutron/machine/microcode.h"

namespace deuteron {
namespace {

constexpr std::string_view kNative = "native_call_", kRuntime = "(runtime)";

std::string without_prefix(const std::string& name) {
  return name.starts_with(kNative) ? name.substr(kNative.size()) : name;
}

// "quantized_add" of "cortex_m::quantized_add.out": tracers differ in what they say around it.
std::string base_name(std::string name) {
  name = without_prefix(name);
  if (const size_t space = name.rfind("::"); space != name.npos) name = name.substr(space + 2);
  return name.substr(0, name.find('.'));
}

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

class Attributor {
 public:
  Attributor(const Dump& trace, const SourceMap* map) : trace_(trace), map_(map) {
    p_.cpu = trace.cpu;
    p_.npu = trace.npu;
    for (const DumpRun& run : trace.runs) find_npu_events(run);
    // The NPU's ticks are a part of the CPU's time only where a real NPU ran: the open model of the
    // machine is a formula, for which no time passes.
    clocks_.has_npu = trace.npu.is_own || is_mixed_;
    if (!clocks_.has_npu) p_.npu = trace.cpu;
    else if (!trace.npu.is_own) p_.npu = {"cycles", 0, true};
    const bool real = map && !map->npu_is_open_model;
    clocks_.comparable = !clocks_.has_npu || (real && trace.cpu.unit == "cycles" &&
                                              trace.cpu.per_second > 0 && trace.npu.per_second > 0);
    clocks_.npu_to_cpu =
        clocks_.has_npu && clocks_.comparable ? trace.cpu.per_second / trace.npu.per_second : 1;
    p_.comparable = clocks_.comparable;
    p_.program_id = trace.program_id;
    p_.dropped = trace.dropped;
    p_.has_map = map != nullptr;
    if (map)
      p_.model = map->model, p_.target = map->target, p_.npu_is_open_model = map->npu_is_open_model;
  }

  Profile attribute() {
    double offset = 0;
    for (size_t k = 0; k < trace_.runs.size(); ++k) {
      const DumpRun& run = trace_.runs[k];
      const bool executes = run.name != "Default" && run.name != "Profile";
      std::vector<PlacedEvent> placed = place_events(run, npu_[k], clocks_, is_mixed_);
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
  bool is_mixed() const { return is_mixed_; }
  // Of the calls whose kernels are others than the record's.
  const std::map<i64, std::pair<i64, i64>>& miscounted() const { return miscounted_; }

 private:
  void find_npu_events(const DumpRun& run) {
    npu_.push_back(npu_events_of(run, trace_, map_));
    if (trace_.npu.is_own) return;
    is_mixed_ |= !npu_.back().kernels.empty();
    for (const auto& [instruction, kernels] : npu_.back().kernels)
      if (const MapKernel* call = map_ ? map_->call(instruction) : nullptr)
        if (const auto known = static_cast<i64>(call->inside.size());
            known > 0 && known != kernels && !is_stock_with_dump(*call, kernels))
          miscounted_.try_emplace(instruction, kernels, known);
  }
  // A stock record has an entry for the writing of the profile.
  bool is_stock_with_dump(const MapKernel& call, i64 kernels) const {
    const MapKernel* last = find_kernel(call, kernels);
    return map_->is_stock && last && last->operators.empty() &&
           static_cast<i64>(call.inside.size()) == kernels + 1;
  }

  struct Where {
    const MapKernel* call = nullptr;
    const MapKernel* kernel = nullptr;  // the call, or the kernel inside it
  };
  Where find(const DumpEvent& e) const {
    if (!map_ || is_framework(e)) return {};
    const MapKernel* call = map_->call(e.instruction);
    if (call && !e.is_inside_delegate()) return is_another(e, *call) ? Where{} : Where{call, call};
    if (!call || e.delegate_id < 0 || miscounted_.contains(e.instruction)) return {call, nullptr};
    return {call, find_kernel(*call, e.delegate_id - (map_->is_stock ? 0 : first_id_of(trace_)))};
  }
  // A trace that does not say of which program it is: the event is of another kernel than the
  // record's.
  bool is_another(const DumpEvent& e, const MapKernel& call) const {
    if (!trace_.program_id.empty() || call.kernel.empty() || !e.name.starts_with(kNative))
      return false;
    return base_name(e.name) != base_name(call.kernel);
  }

  std::string own_name(const DumpEvent& e) const {
    if (!e.name.empty()) return without_prefix(e.name);
    if (!e.delegate_name.empty()) return e.delegate_name;
    const i64 number =
        e.delegate_id - (e.delegate_id >= first_id_of(trace_) ? first_id_of(trace_) : 0);
    if (e.metadata.size() != 1) return fmt::format("kernel {} of the delegate", number);
    // The numbers of kinds are those of the open model of the machine, which says how fast it is;
    // the vendor's are not public.
    const char* name = trace_.npu.per_second > 0
                           ? neutron::name_of(static_cast<neutron::Kind>(e.metadata[0]))
                           : nullptr;
    return name ? name : fmt::format("kernel {} of the delegate (kind {})", number, e.metadata[0]);
  }

  std::string kernel_name(const PlacedEvent& p, const Where& where) const {
    if (p.is_runtime) return std::string(kRuntime);
    if (p.is_writing) return "(writing of the profile)";
    if (where.kernel && !where.kernel->kernel.empty()) return where.kernel->kernel;
    return own_name(*p.event);
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
      const bool runtime = p.is_runtime;
      const bool outer_call = is_delegate_call(e) || (!e.is_inside_delegate() && !runtime &&
                                                      delegates.contains(e.instruction));
      // A record that says nothing of a delegate's inside, or not of all its kernels: they are of
      // all its operators.
      const bool is_opaque = !where.kernel && !p.is_writing && where.call &&
                             e.is_inside_delegate() &&
                             (where.call->inside.empty() || miscounted_.contains(e.instruction));
      if (map_ && !runtime && !where.kernel && !p.is_writing && !is_opaque && unmatched_++ == 0)
        unmatched_name_ = fmt::format("`{}` of instruction {}", own_name(e), e.instruction);

      ProfileRow row;
      row.name = kernel_name(p, where);
      row.npu = p.npu;
      if (!runtime) row.instruction = e.instruction, row.delegate_id = e.delegate_id;
      if (where.kernel && !runtime && !p.is_writing) {
        row.operators = where.kernel->operators;
        row.added = where.kernel->added;
        row.bound = where.kernel->bound;
        row.placement = !where.call->placement.empty() ? where.call->placement
                        : e.is_inside_delegate()       ? "npu"
                                                       : "";
        row.module = module_of(row.operators);
        row.detail = row.operators.empty() && !where.kernel->open.empty()
                         ? "not known: " + where.kernel->open
                         : joined(row.operators);
      }
      if (is_opaque) {
        row.operators = where.call->operators;
        row.placement = where.call->placement;
        row.module = module_of(row.operators);
        row.detail = joined(row.operators);
      }
      // What a delegate's call has of its own is the driver's, not its kernels' work.
      const bool is_driver = outer_call && (delegates.contains(e.instruction) ||
                                            (where.call && !where.call->inside.empty()));
      if (is_driver) row.name = fmt::format("{}, the call itself", row.name);
      const MapKernel* cost = runtime || is_driver ? nullptr : where.kernel;
      const KernelKey key{p.npu, row.instruction, row.delegate_id,
                          e.is_inside_delegate() ? e.delegate_name : row.name};
      ProfileSums& s = kernels_.at(key, row);
      count(s, p.own, p_.runs, cost);
      if (!runtime) p.row = s.number;
      if (row.added) s.row.added_ticks += p.own;
      if (map_) add_group(p, row, cost, runtime, is_driver, is_opaque && row.operators.size() != 1);
    }
  }

  void add_group(const PlacedEvent& p, const ProfileRow& kernel, const MapKernel* cost,
                 bool runtime, bool is_driver, bool is_opaque) {
    ProfileRow row;
    row.npu = p.npu;
    row.operators = kernel.operators;
    row.placement = kernel.placement;
    row.module = kernel.module;
    if (runtime) row.name = kRuntime;
    else if (is_driver)
      row.name = fmt::format("(call of the delegate, instruction {})", kernel.instruction),
      row.detail = joined(row.operators);
    else if (kernel.operators.empty() && !is_opaque)
      row.name = kernel.name.starts_with("(")  ? kernel.name
                 : cost && !cost->open.empty() ? "(operators not known)"
                                               : "(no operator)",
      row.detail = kernel.name;
    else if (is_opaque)
      row.name = fmt::format("(inside the delegate, instruction {})", kernel.instruction),
      row.detail = joined(row.operators);
    else row.name = joined(row.operators), row.detail = targets(row.operators);
    ProfileSums& group = groups_.at({p.npu, row.name, row.operators}, row);
    count(group, p.own, p_.runs, cost);
    if (kernel.added) group.row.added_ticks += p.own;

    ProfileRow module;
    module.npu = p.npu;
    module.name = runtime ? std::string(kRuntime) : module_name(kernel);
    module.module = kernel.module;
    ProfileSums& m = modules_.at({p.npu, module.name}, module);
    count(m, p.own, p_.runs, cost);
    if (kernel.added) m.row.added_ticks += p.own;
  }

  void add_around(const PlacedEvent& p) {
    ProfileRow row;
    row.name = own_name(*p.event);
    count(around_.at(row.name, row), p.own, p_.runs, nullptr);
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
      s.name = is_framework(*p.event) ? p.event->name : kernel_name(p, where);
      s.instruction = is_framework(*p.event) ? -1 : p.event->instruction;
      s.npu = p.event->is_inside_delegate();
      s.ticks = p.is_writing && is_mixed_ ? 0 : p.event->ticks();
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

  void finish() {
    const ProfileTotals totals{clocks_, p_.cpu_total, p_.npu_total};
    std::vector<i64> places;
    p_.kernels = kernels_.rows(totals, false, &places);
    for (TimeSlice& s : p_.slices)
      if (s.row >= 0) s.row = places[s.row];
    std::stable_sort(p_.slices.begin(), p_.slices.end(),
                     [](const TimeSlice& a, const TimeSlice& b) {
                       return a.start < b.start || (a.start == b.start && a.end > b.end);
                     });
    p_.operators = groups_.rows(totals, true);
    p_.modules = modules_.rows(totals, true);
    for (ProfileRow& outer : p_.modules)
      for (const ProfileRow& inner : p_.modules) {
        const bool within = !outer.module.empty() && inner.module.starts_with(outer.module) &&
                            (inner.module.size() == outer.module.size() ||
                             inner.module[outer.module.size()] == '.');
        if (inner.npu == outer.npu && (within || &inner == &outer))
          outer.nested_total += inner.total;
      }
    p_.around = around_.rows(totals, false);
    for (ProfileRow& row : p_.around) row.share = 0;
  }

  using KernelKey = std::tuple<bool, i64, i64, std::string>;
  using GroupKey = std::tuple<bool, std::string, std::vector<i64>>;
  using ModuleKey = std::tuple<bool, std::string>;

  const Dump& trace_;
  const SourceMap* map_;
  Profile p_;
  ProfileClocks clocks_;
  std::vector<NpuEvents> npu_;  // by run
  // stock firmware: times of the writing of a profile are sums of both clocks
  bool is_mixed_ = false;
  std::map<i64, std::pair<i64, i64>>
      miscounted_;  // by instruction: kernels of the trace, of the record
  ProfileTable<KernelKey> kernels_;
  ProfileTable<GroupKey> groups_;
  ProfileTable<ModuleKey> modules_;
  ProfileTable<std::string> around_;
  i64 unmatched_ = 0;
  std::string unmatched_name_;
};

}  // namespace

std::optional<Profile> attribute(const Dump& trace, const SourceMap* map, const std::string& name,
                                 Diagnostics& diagnostics) {
  if (map && !map->program_id.empty() && !trace.program_id.empty() &&
      map->program_id != trace.program_id) {
    diagnostics.add({Severity::error, name, "the trace and the record are not of the same program",
                     fmt::format("the trace's program {}", trace.program_id),
                     fmt::format("the record's {}", map->program_id), "inspect.program_id",
                     "use the record that was written together with the program: deuteron compile "
                     "--etrecord FILE"});
    return std::nullopt;
  }
  if (map && !map->is_stock && trace.program_id.empty())
    diagnostics.warning(name,
                        "the trace does not say which program it is of; whether the record belongs "
                        "to it is not known",
                        "inspect.program_id");
  Attributor a(trace, map);
  Profile profile = a.attribute();
  for (const auto& [instruction, counts] : a.miscounted())
    diagnostics.add({Severity::warning,
                     name,
                     fmt::format("instruction {} has {} kernels of the NPU in the trace and {} in "
                                 "the record, so which is which is not known",
                                 instruction, counts.first, counts.second),
                     {},
                     {},
                     "inspect.kernels",
                     "they are shown with all operators of the call; the compiler says what it "
                     "could not read in the converter's text"});
  if (a.is_mixed())
    diagnostics.add({Severity::note,
                     name,
                     "the writing of the NPU's profile is shown without its time",
                     {},
                     {},
                     "inspect.npu_writing",
                     "stock firmware adds the CPU's ticks of the call to the NPU's cycles there"});
  if (profile.runs == 0)
    diagnostics.warning(name, "the trace has the loading of a program but no call of it",
                        "inspect.no_run");
  if (a.unmatched() > 0)
    diagnostics.warning(
        name,
        fmt::format("{} event{} (the first is {}) {} not in the record", a.unmatched(),
                    a.unmatched() == 1 ? "" : "s", a.unmatched_name(),
                    a.unmatched() == 1 ? "is" : "are"),
        "inspect.unmatched",
        map && map->is_stock ? "" : "the record is of another program, or the trace is damaged");
  return profile;
}

}  // namespace deuteron
