// SPDX-License-Identifier: Apache-2.0
// The report as a short text for people: a line for each subject. What decides comes first; what is
// seldom needed comes with -v.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "compile/compilation.h"
#include "compile/lower/portable_calls.h"
#include "explain/report/int4_report.h"
#include "explain/report/numbers.h"
#include "explain/report/report.h"
#include "ir/states.h"
#include "targets/target.h"

namespace deuteron {
namespace {

std::string scaled(i64 count) {
  if (count >= 10'000'000) return fmt::format("{:.1f} M", static_cast<double>(count) / 1e6);
  if (count >= 10'000) return fmt::format("{:.1f} k", static_cast<double>(count) / 1e3);
  return fmt::format("{}", count);
}

std::string_view where(Placement p) {
  if (p == Placement::npu) return "on the NPU";
  return p == Placement::cortex_m ? "on the CPU in int8" : "on portable kernels";
}

std::string counted(i64 count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// A line for each of the user's operators that runs in float, however many kernels it became.
std::vector<std::string> portable_lines(const ProgramReport& r) {
  struct Leftover {
    const OperatorReport* first;
    std::vector<std::string> kernels;
  };
  std::vector<Leftover> leftovers;
  for (const OperatorReport& o : r.operators) {
    if (o.placement != Placement::portable) continue;
    auto at = std::ranges::find_if(leftovers, [&](const Leftover& l) {
      return l.first->name == o.name && l.first->reason == o.reason;
    });
    if (at == leftovers.end()) at = leftovers.insert(at, {&o, {}});
    if (std::ranges::find(at->kernels, o.op) == at->kernels.end()) at->kernels.push_back(o.op);
  }
  std::vector<std::string> lines;
  for (const Leftover& l : leftovers)
    lines.push_back(fmt::format("portable: {} `{}`: {}", fmt::join(l.kernels, ", "), l.first->name,
                                l.first->reason));
  return lines;
}

class Summary {
 public:
  Summary(const Compilation& c, const ProgramReport& r, const ReportFacts& f)
      : c_(c), r_(r), f_(f) {}

  std::string write() {
    text_ = fmt::format("{} for {}\n", f_.model, f_.target ? f_.target->name : "?");
    if (const auto worst = f_.accuracy ? worst_part(f_.accuracy->outputs) : std::nullopt)
      line("worst output", fmt::format("{}: {}", name_of(*worst), text_of(*worst)));
    time();
    ram();
    if (f_.verbose) peak();
    flash();
    line("accuracy", accuracy_text());
    on_new_data();
    operators();
    kept_on_cpu();
    if (f_.verbose) details();
    row_bands();
    if (c_.quantization.precision) precision(*c_.quantization.precision);
    int4_weights();
    firmware();
    line("compiled", fmt::format("in {:.2f} s", f_.seconds));
    return std::move(text_);
  }

 private:
  void line(std::string_view label, const std::string& what) {
    text_ += fmt::format("  {:<14} {}\n", label, what);
  }

  void details() {
    kernels();
    npu();
    crossings();
    choice();
    placement();
    order();
    multiply_adds();
    quantization();
  }

  void on_new_data() {
    const std::optional<HeldOut>& held_out = c_.quantization.held_out;
    if (!held_out || (f_.accuracy && !f_.accuracy->has_numbers())) return;
    if (!held_out->has_noise())
      return line("", "expected on new data: no error either (cross-validation)");
    line("", fmt::format("expected on new data: {:.1f} dB ({:.1f} to {:.1f} over the halves of a "
                         "cross-validation)",
                         held_out->db, held_out->low_db, held_out->high_db));
  }

  void operators() {
    std::string by_placement;
    for (const Placement p : kPlacements)
      if (const i64 n = count_of(r_, p))
        by_placement += fmt::format("{}{} {}", by_placement.empty() ? "" : ", ", n, where(p));
    if (!r_.folded.empty())
      by_placement +=
          fmt::format("{}{} folded away", by_placement.empty() ? "" : "; ", r_.folded.size());
    line("operators", by_placement.empty() ? "none" : by_placement);
    for (const std::string& leftover : portable_lines(r_)) line("", leftover);
  }

  // What calls do without: each reason once, with its first call.
  void kernels() {
    std::vector<std::pair<std::string, std::vector<const OperatorReport*>>> reasons;
    const auto add = [&](const std::string& reason, const OperatorReport& o) {
      if (reason.empty()) return;
      auto at = std::ranges::find(reasons, reason, [](const auto& r) { return r.first; });
      if (at == reasons.end()) at = reasons.insert(at, {reason, {}});
      at->second.push_back(&o);
    };
    for (const OperatorReport& o : r_.operators) {
      if (!o.plain.empty()) add("weights left unpacked: " + o.plain, o);
      if (!o.called.why_not.empty()) add("runs on " + text_of(o.called), o);
      add(short_scratch_text(o, r_, c_.plan.bytes), o);
    }
    for (const auto& [reason, calls] : reasons)
      line(&reason == &reasons[0].first ? "kernels" : "",
           fmt::format("{} `{}`{}: {}", calls[0]->op, calls[0]->name,
                       calls.size() == 1 ? "" : fmt::format(" and {} more", calls.size() - 1),
                       reason));
  }

  void npu() {
    const NpuTotal npu = npu_total(r_);
    if (npu.kernels == 0) return;
    if (npu.not_predicted > 0) {
      const std::string known =
          npu.not_predicted == npu.kernels
              ? std::string("predicts none of them")
              : fmt::format("predicts {} cycles for {} of them, and nothing for the others",
                            grouped(npu.cycles), npu.kernels - npu.not_predicted);
      return line("NPU", fmt::format("{} in {}; the open model of the machine {}",
                                     counted(npu.kernels, "kernel"),
                                     counted(npu.delegates, "delegate"), known));
    }
    const i64 lanes = f_.target && f_.target->npu
                          ? i64{f_.target->npu->machine.units} * f_.target->npu->machine.lanes
                          : 64;
    const double share =
        r_.macs > 0 ? 100.0 * static_cast<double>(npu.macs) / static_cast<double>(r_.macs) : 0;
    line("NPU", fmt::format("{} in {}, {:.1f} % of the multiply-adds; {} cycles on the open model "
                            "of the machine, {:.1f} % of its peak ({} MAC/cycle)",
                            counted(npu.kernels, "kernel"), counted(npu.delegates, "delegate"),
                            share, grouped(npu.cycles),
                            npu.cycles > 0 ? 100.0 * static_cast<double>(npu.macs) /
                                                 static_cast<double>(lanes * npu.cycles)
                                           : 0,
                            lanes));
    if (npu.assumed > 0)
      line("", fmt::format("up to {} cycles and {} if the chip cannot fuse {} of them with what "
                           "follows (not known)",
                           grouped(npu.apart_cycles), counted(npu.kernels + npu.assumed, "kernel"),
                           npu.assumed));
  }

  std::string transposes_text() const {
    std::vector<std::string> parts;
    if (const i64 n = npu_transposes(c_)) parts.push_back(fmt::format("{} on the NPU", n));
    if (const i64 n = r_.cost.border_transposes)
      parts.push_back(fmt::format("{} by the CPU in the NPU's calls", n));
    if (const i64 n = r_.cost.transposes) parts.push_back(fmt::format("{} on the CPU", n));
    return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
  }

  void crossings() {
    if (r_.cost.calls == 0) return;
    i64 in = 0, out = 0, bytes_in = 0, bytes_out = 0;
    for (const Crossing& x : r_.cost.crossings)
      (x.to_npu ? in : out) += 1, (x.to_npu ? bytes_in : bytes_out) += x.bytes;
    line("crossings",
         fmt::format(
             "{} of the NPU: {} in ({} bytes), {} out ({} bytes); transposes at run time: {}",
             counted(r_.cost.calls, "call"), counted(in, "tensor"), grouped(bytes_in), out,
             grouped(bytes_out), transposes_text()));
  }

  void kept_on_cpu() {
    if (!f_.target || !f_.target->npu) return;
    constexpr int kShown = 4;
    int shown = 0, more = 0;
    for (const OperatorReport& o : r_.operators) {
      if (o.placement != Placement::cortex_m || o.op == "cortex_m::quantize_per_tensor" ||
          o.op == "cortex_m::dequantize_per_tensor")
        continue;
      if (shown == kShown && !f_.verbose) ++more;
      else ++shown, line("", fmt::format("CPU: {} `{}`: {}", o.op, o.name, o.reason));
    }
    if (more > 0) line("", fmt::format("CPU: {} more", more));
  }

  void time() {
    const ProgramCost& cost = r_.cost;
    if (cost.total() <= 0 || cost.not_known > 0) return;
    const bool at_once =
        cost.wait + cost.tensor_wait + cost.calls == 0 && f_.target && f_.target->measured.empty();
    const std::string cpu = fmt::format("{} ({}{})", grouped(cost.cpu), cost.kind_of_cpu,
                                        at_once ? ", no wait states" : "");
    const i64 clock = f_.target ? f_.target->clock_hz : 0;
    const std::string time =
        clock > 0
            ? fmt::format("{:.3f} ms at {} MHz; cycles: ",
                          1e3 * static_cast<double>(cost.total()) / static_cast<double>(clock),
                          clock / 1000000)
            : "";
    const auto wait_for = [&](const char* what, i64 cycles, const auto& memory_of) {
      return wait_text(what, cycles, f_.target ? memory_of(*f_.target) : nullptr);
    };
    const std::string wait = wait_for("constants", cost.wait, memory_of_constants) +
                             wait_for("tensors", cost.tensor_wait, memory_of_tensors);
    const std::string sum =
        wait.empty() && cost.calls == 0 ? "" : fmt::format(" = {}", grouped(cost.total()));
    const std::string npu =
        cost.calls > 0
            ? fmt::format(
                  "NPU {} (open model{}) + crossing {} (assumed) + CPU ", grouped(cost.npu),
                  npu_total(r_).assumed > 0
                      ? fmt::format(", {} assumed", counted(npu_total(r_).assumed, "kernel"))
                      : std::string(),
                  grouped(cost.crossing))
            : "";
    line(clock > 0 ? "time" : "cycles", time + npu + cpu + wait + sum);
  }

  void choice() {
    const FormDecision& forms = c_.forms;
    std::vector<std::string> exact = forms.exact;
    const auto tables = static_cast<i64>(forms.tables.size());
    if (tables > 0) exact.push_back(counted(tables, "function") + " of sigmoid or tanh");
    const char* part = forms.of_a_part ? " in a part of an output" : "";
    if (!exact.empty())
      line("choice", fmt::format("{} in the exact form: {:.1f} dB{}, simulated, {:.1f} with "
                                 "the NPU's form (--prefer npu takes it)",
                                 fmt::join(exact, ", "), *forms.exact_db, part, *forms.npu_db));
    const Preference& p = c_.partition.preference;
    if (!p.chosen) return;
    line("choice", fmt::format("--prefer fastest: {} cycles, the least of {} compared; all on the "
                               "NPU {}, all on the CPU {}",
                               grouped(*p.chosen), counted(p.evaluated, "program"),
                               p.all_npu ? grouped(*p.all_npu) : std::string("not possible"),
                               p.all_cpu ? grouped(*p.all_cpu) : std::string("not possible")));
  }

  void firmware() {
    const std::vector<std::string> own = own_kernels(r_);
    if (own.empty()) return line("runs on", "Deuteron's runtime or stock ExecuTorch");
    std::vector<std::string> only_ours;
    std::ranges::copy_if(own, std::back_inserter(only_ours), has_no_stock_form);
    line("runs on", only_ours.empty()
                        ? "Deuteron's runtime (for stock ExecuTorch: --dialect stock)"
                        : fmt::format("Deuteron's runtime; stock ExecuTorch has no kernel for {}",
                                      fmt::join(only_ours, ", ")));
  }

  // Of each memory what lies in it, the hottest first.
  void placement() {
    const MemoryPlacement& p = c_.plan.placement;
    if (!p.is_placed()) return;
    const auto waits = [](i64 cycles) {
      return cycles < 0 ? std::string("no room") : grouped(cycles);
    };
    line("memories",
         fmt::format("{} cycles of waiting ({}); greedy placement {}, all in the slowest memory {}",
                     grouped(p.cycles),
                     p.is_optimal ? std::string("proved minimal") : "at least " + grouped(p.bound),
                     waits(p.greedy_cycles), waits(p.slowest_cycles)));
    for (size_t m = 0; m < p.memories.size(); ++m) {
      const MemoryUse& u = p.memories[m];
      const bool is_home = static_cast<i32>(m) == p.home;
      const i64 used = is_home ? static_cast<i64>(c_.pte.size()) : u.tensors + u.constants;
      std::string what;
      if (is_home) what = fmt::format("the file, {} of constants read here", grouped(u.constants));
      else if (u.constants > 0)
        what = fmt::format("tensors {}, copies of constants {}", grouped(u.tensors),
                           grouped(u.constants));
      else if (u.tensors > 0) what = "tensors";
      line("", fmt::format("{}: {} bytes{}{}{}", u.name, grouped(used),
                           u.bytes > 0 ? " of " + grouped(u.bytes) : std::string(),
                           what.empty() ? "" : ": " + what, hottest_in(static_cast<i32>(m))));
    }
  }

  std::string hottest_in(i32 memory) const {
    constexpr int kShown = 4;
    std::string list;
    int shown = 0, more = 0;
    for (const PlacedThing& t : c_.plan.placement.things) {
      if (t.memory != memory || t.read + t.written == 0) continue;
      if (shown == kShown) ++more;
      else
        list += fmt::format("{}`{}` {}", shown++ ? ", " : "", c_.graph.values[t.value].name,
                            grouped(t.bytes));
    }
    if (more > 0) list += fmt::format(" and {} more", more);
    return list.empty() ? list : "; hottest first: " + list;
  }

  void ram() {
    i64 copies = 0;
    for (const PlannedBuffer& b : c_.plan.placement.buffers) copies += b.bytes - b.copies_at;
    if (!c_.plan.placement.buffers.empty())
      line("RAM", fmt::format("{} bytes in {}: tensors {}, copies of constants {}; scratch {}",
                              grouped(c_.plan.bytes),
                              c_.plan.placement.buffers.size() == 1
                                  ? std::string("1 memory")
                                  : fmt::format("{} memories", c_.plan.placement.buffers.size()),
                              grouped(c_.plan.bytes - copies), grouped(copies),
                              grouped(c_.plan.scratch_bytes)));
    const char* proof = c_.plan.bytes == c_.plan.lower_bound ? "optimal"
                        : c_.plan.optimal                    ? "optimal; lower bound"
                                                             : "lower bound";
    if (c_.plan.placement.buffers.empty())
      line("RAM",
           fmt::format(
               "{} bytes{} for tensors ({}{}), of which {} scratch", grouped(c_.plan.bytes),
               of_memory(&MemoryRegion::is_planned), proof,
               c_.plan.bytes == c_.plan.lower_bound ? "" : " " + grouped(c_.plan.lower_bound),
               grouped(c_.plan.scratch_bytes)));
    if (!c_.graph.states.empty()) {
      std::string list;
      for (const Port& p : c_.graph.state_inputs())
        list += fmt::format("{}`{}` {}", list.empty() ? "" : ", ", p.name,
                            to_text(c_.graph.type(p.value)));
      line("state", fmt::format("{} bytes of these are kept from call to call: {}",
                                grouped(state_bytes(c_.graph)), list));
    }
    if (const StreamDecision& s = c_.stream; s.frames > 0)
      line("stream", fmt::format("{} of {} frames in each step: {} multiply-adds instead of the "
                                 "window's {} (1/{:.1f}); the state needs at least {} bytes",
                                 s.frames, s.window, scaled(s.macs_step), scaled(s.macs_window),
                                 static_cast<double>(s.macs_window) /
                                     static_cast<double>(std::max<i64>(s.macs_step, 1)),
                                 grouped(s.least_state_bytes)));
  }

  void order() {
    if (const CallOrder& o = c_.call_order; o.moved > 0)
      line("order", fmt::format("{} moved from the model's order: {} bytes instead of {}",
                                counted(o.moved, "operator"), grouped(o.bytes_after),
                                grouped(o.bytes_before)));
  }

  void row_bands() {
    if (const RowBands& b = c_.row_bands; b.operators > 0)
      line("row bands",
           fmt::format("{} operators in up to {} bands: {} bytes instead of {}, {} more calls{}, "
                       "{:.2f} % {} multiply-adds",
                       b.operators, b.bands, grouped(b.bytes_after), grouped(b.bytes_before),
                       b.extra_calls,
                       b.copies > 0 ? fmt::format(" ({} copy kept rows)", b.copies) : "",
                       100.0 * static_cast<double>(std::abs(b.extra_macs)) /
                           static_cast<double>(std::max<i64>(r_.macs - b.extra_macs, 1)),
                       b.extra_macs < 0 ? "fewer" : "more"));
  }

  void peak() {
    std::string alive;
    constexpr size_t kShown = 6;
    for (size_t i = 0; i < std::min(kShown, c_.plan.peak.size()); ++i) {
      const LiveTensor& t = c_.plan.peak[i];
      alive += fmt::format("{}`{}` {}", i == 0 ? "" : ", ", c_.graph.values[t.value].name,
                           grouped(t.bytes));
    }
    if (c_.plan.peak.size() > kShown)
      alive += fmt::format(" and {} more", c_.plan.peak.size() - kShown);
    const std::string where = peak_name(c_);
    if (!alive.empty())
      line("", fmt::format("at the peak{}{}: {}", where.empty() ? "" : ", ", where, alive));
  }

  void multiply_adds() {
    line("multiply-adds", scaled(r_.macs));
    if (const Slimming& s = c_.slimming; s.macs_before > 0) {
      const SlimmedFilters of = slimmed_filters(s);
      line("", fmt::format("{} and {} bytes of constants left out: of {} filters {} are constant, "
                           "{} equal another one, {} are not read",
                           scaled(s.macs_before - s.macs_after),
                           grouped(s.bytes_before - s.bytes_after), grouped(s.filters),
                           grouped(of.constant), grouped(of.alike), grouped(of.unread)));
    }
    if (const UnitOrder& u = c_.unit_order; u.values > 0)
      line("", fmt::format("{:.0f} % of the {} behind {} are skipped because their input is zero "
                           "(on held-out samples; not in `cycles`)",
                           100.0 * static_cast<double>(u.macs_left_out) /
                               static_cast<double>(std::max<i64>(u.macs, 1)),
                           scaled(u.macs),
                           u.values == 1
                               ? "a relu whose units were put in order"
                               : fmt::format("{} relus whose units were put in order", u.values)));
  }

  // " of 131 072": what the target has in its only memory of that kind; "": not one, or no limit.
  std::string of_memory(const std::function<bool(const MemoryRegion&)>& is_kind) const {
    if (!f_.target || std::ranges::count_if(f_.target->memories, is_kind) != 1) return "";
    const i64 bytes = std::ranges::find_if(f_.target->memories, is_kind)->bytes;
    return bytes > 0 ? " of " + grouped(bytes) : "";
  }

  void flash() {
    const std::string npu =
        c_.parts.delegates > 0 ? fmt::format("NPU {}, ", grouped(c_.parts.delegates)) : "";
    line("flash", fmt::format("{} bytes{}: constants {}, {}program {}, padding {}",
                              grouped(static_cast<i64>(c_.pte.size())),
                              of_memory([](const MemoryRegion& m) { return m.is_flash; }),
                              grouped(c_.parts.constants), npu, grouped(c_.parts.program),
                              grouped(c_.parts.padding)));
  }

  void quantization() {
    const QuantizationDecisions& q = c_.quantization;
    if (q.model_was_quantized) return line("quantization", "as the model has it");
    if (q.policy.empty()) return;
    const bool gains = std::abs(q.gain_db) >= 0.05;
    line("quantization",
         q.policy +
             (gains ? fmt::format(": {:+.1f} dB over plain histogram ranges", q.gain_db) : ""));
  }

  // The choice, and the curve that it is a point of.
  void precision(const PrecisionDecision& d) {
    const PrecisionChoice &int8 = d.curve[0], &chosen = d.curve[d.chosen];
    const auto percent = [&](const PrecisionChoice& c) {
      return 100.0 * (static_cast<double>(c.size.instructions) /
                          static_cast<double>(int8.size.instructions) -
                      1);
    };
    line("precision",
         fmt::format(
             "mixed: {} on int16, {:+.1f} % instructions, {:+.1f} dB on samples held out{}{}",
             counted(static_cast<i64>(chosen.layers.size()), "layer"), percent(chosen),
             chosen.sqnr_db - int8.sqnr_db, chosen.layers.empty() ? "" : ": ",
             fmt::join(chosen.layers, ", ")));
    line("", fmt::format("{:>9} {:>9} {:>14} {:>8} {:>12} {:>12}  int16 layers", "compared",
                         "held out", "instructions", "", "RAM, bytes", "file, bytes"));
    const auto point = [&](const PrecisionChoice& c, const std::string& note) {
      line("", fmt::format("{:>6.1f} dB {:>6.1f} dB {:>14} {:>+6.1f} % {:>12} {:>12}  {}{}",
                           c.steady_db, c.sqnr_db, grouped(c.size.instructions), percent(c),
                           grouped(c.size.ram_bytes), grouped(c.size.file_bytes), c.layers.size(),
                           note));
    };
    constexpr double kShown = 0.2;  // dB between two lines
    double last = -1e9;
    for (size_t k = 0; k < d.curve.size(); ++k) {
      if (k != d.chosen && k != 0 && d.curve[k].steady_db < last + kShown) continue;
      last = d.curve[k].steady_db;
      point(d.curve[k], k == d.chosen ? " (chosen)" : "");
    }
    if (d.int16_everywhere && *d.int16_everywhere != d.curve.back())
      point(*d.int16_everywhere, " (all that have a form)");
  }

  void int4_weights() {
    const Int4Report r = int4_report(c_.graph, r_);
    if (!r.layers.empty())
      line("int4 weights",
           fmt::format("{}, {} bytes instead of {}: {}",
                       counted(static_cast<i64>(r.layers.size()), "layer"), grouped(r.bytes),
                       grouped(r.int8_bytes), fmt::join(r.layers, ", ")));
    if (!c_.quantization.weights) return;
    const WeightDecision& d = *c_.quantization.weights;
    if (r.layers.empty()) line("int4 weights", "no layer stays within the limit");
    line("", fmt::format("{:>9} {:>7} {:>14} {:>12} {:>12}  and its weights in four bits",
                         "held out", "loss", "instructions", "RAM, bytes", "file, bytes"));
    for (size_t k = 0; k < d.curve.size(); ++k) {
      const WeightChoice& c = d.curve[k];
      line("",
           fmt::format("{:>6.1f} dB {:>4.1f} dB {:>14} {:>12} {:>12}  {}{}", c.sqnr_db, c.loss_db,
                       grouped(c.size.instructions), grouped(c.size.ram_bytes),
                       grouped(c.size.file_bytes), c.layers.empty() ? "(none)" : c.layers.back(),
                       k == d.chosen ? " (chosen)" : ""));
    }
  }

  std::string accuracy_text() const {
    if (!f_.accuracy)
      return program_to_run(c_).empty() ? "not measured: the vendor's microcode runs only on the "
                                          "chip, and our converter cannot convert its parts"
                                        : "not measured: no samples";
    const Accuracy& a = *f_.accuracy;
    const bool in_sample =
        !c_.quantization.model_was_quantized;  // the ranges were chosen on these samples
    const std::string over = counted(a.samples, in_sample ? "calibration sample" : "sample");
    const char* const how = a.of_own_conversion ? "; measured with our conversion of the NPU's "
                                                  "parts (the vendor's runs only on the chip)"
                                                : "";
    if (a.is_exact()) return fmt::format("equal to the float model on {}{}", over, how);
    const std::string integers = text_of_integers(a.outputs);
    if (!a.has_numbers()) return fmt::format("{}, on {}{}", integers, over, how);
    return fmt::format("{}{:.1f} dB SQNR against the float model on {}; largest error {:.4g}{}{}",
                       worst_part(a.outputs) ? "all together " : "", a.sqnr_db, over,
                       a.max_abs_error, integers.empty() ? "" : "; " + integers, how);
  }

  const Compilation& c_;
  const ProgramReport& r_;
  const ReportFacts& f_;
  std::string text_;
};

}  // namespace

std::string report_summary(const Compilation& c, const ProgramReport& r, const ReportFacts& f) {
  return Summary(c, r, f).write();
}

}  // namespace deuteron
