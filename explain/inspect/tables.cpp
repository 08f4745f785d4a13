// SPDX-License-Identifier: Apache-2.0
#include "explain/inspect/tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "explain/report/numbers.h"

namespace deuteron {
namespace {

using Json = nlohmann::ordered_json;

std::string grouped_ticks(u64 ticks) {
  return grouped(static_cast<i64>(std::min<u64>(ticks, INT64_MAX)));
}

// Characters, not bytes; a long one is cut in its middle, where joined names differ least.
std::string fitted(const std::string& text, size_t width) {
  std::vector<std::string> letters;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) == 0x80 && !letters.empty()) letters.back() += c;
    else letters.emplace_back(1, static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c);
  }
  std::string out;
  if (letters.size() <= width)
    for (const std::string& l : letters) out += l;
  else {
    const size_t head = (width - 3) * 2 / 3, tail = width - 3 - head;
    for (size_t i = 0; i < head; ++i) out += letters[i];
    out += "...";
    for (size_t i = letters.size() - tail; i < letters.size(); ++i) out += letters[i];
  }
  return out + std::string(letters.size() < width ? width - letters.size() : 0, ' ');
}

std::string known(i64 v) { return v < 0 ? "" : grouped(v); }

i64 of_run(i64 all, i64 runs) { return all < 0 ? -1 : (all + runs / 2) / runs; }

// Multiply-adds for each tick.
double rate(const ProfileRow& r) {
  return r.macs > 0 && r.total > 0 ? static_cast<double>(r.macs) / static_cast<double>(r.total) : 0;
}
std::string rate_text(const ProfileRow& r) {
  return rate(r) > 0 ? fmt::format("{:.2f}", rate(r)) : "";
}

bool is_cycles(const Profile& p, const ProfileRow& r) {
  return (r.npu ? p.npu : p.cpu).unit == "cycles";
}

// Whether measured against predicted says anything: the clock counts what was predicted, and not
// from the same formula.
bool is_comparable(const Profile& p, const ProfileRow& r) {
  return r.predicted_cycles > 0 && is_cycles(p, r) && !(r.npu && p.npu_is_open_model);
}

std::string predicted_text(const Profile& p, const ProfileRow& r) {
  if (!is_comparable(p, r)) return "";
  return fmt::format("{:.3f}",
                     static_cast<double>(r.total) / static_cast<double>(r.predicted_cycles));
}

const char* clock_name(const ProfileRow& r) { return r.npu ? "NPU" : "CPU"; }

std::string clock_text(const DumpClock& c) {
  return c.per_second > 0 ? fmt::format("{} at {} a second", c.unit,
                                        grouped(static_cast<i64>(std::llround(c.per_second))))
                          : c.unit;
}

enum class Table { kernels, operators, modules, around };

size_t width_of_names(const auto& rows) {
  size_t width = 12;
  for (const auto& r : rows) width = std::max(width, r.name.size());
  return std::min<size_t>(width, 44);
}

// limit 0: all.
template <class Row>
std::span<const Row> first_rows(const std::vector<Row>& rows, size_t limit) {
  return std::span(rows).first(limit > 0 ? std::min(limit, rows.size()) : rows.size());
}
std::string more_text(size_t rows, size_t limit) {
  return limit > 0 && rows > limit
             ? fmt::format("  ... and {} more (--rows 0 shows all)\n", rows - limit)
             : "";
}

std::string table_text(const Profile& p, const std::vector<ProfileRow>& rows, Table kind,
                       size_t limit) {
  const bool both =
      std::any_of(rows.begin(), rows.end(), [](const ProfileRow& r) { return r.npu; });
  const bool predicted = std::any_of(
      rows.begin(), rows.end(), [&](const ProfileRow& r) { return !predicted_text(p, r).empty(); });
  const bool costs = std::any_of(rows.begin(), rows.end(),
                                 [](const ProfileRow& r) { return r.macs >= 0 || r.bytes >= 0; });
  const bool assumed = std::any_of(rows.begin(), rows.end(),
                                   [](const ProfileRow& r) { return r.assumed_calls > 0; });
  const size_t width = width_of_names(rows) + (assumed ? 2 : 0);
  std::string text = "  " + fitted(kind == Table::kernels     ? "kernel"
                                   : kind == Table::operators ? "operator"
                                   : kind == Table::modules   ? "module"
                                                              : "event",
                                   width);
  if (both) text += " clock";
  text += fmt::format(" {:>6} {:>13} {:>13} {:>13}", "calls", "min", "median", "max");
  if (kind != Table::around) text += fmt::format(" {:>7}", "share");
  if (costs) text += fmt::format(" {:>14} {:>7} {:>13}", "multiply-adds", "a tick", "bytes");
  if (predicted) text += " measured/predicted";
  if (kind == Table::kernels && p.has_map) text += "  operators";
  if (kind == Table::modules) text += fmt::format(" {:>13}", "with inner");
  text += "\n";
  for (const ProfileRow& r : first_rows(rows, limit)) {
    text += "  " + fitted(r.name + (r.assumed_calls > 0 ? " *" : ""), width);
    if (both) text += fmt::format(" {:>5}", clock_name(r));
    text += fmt::format(" {:>6} {:>13} {:>13} {:>13}", r.calls, grouped_ticks(r.min),
                        grouped_ticks(r.median), grouped_ticks(r.max));
    if (kind != Table::around) text += fmt::format(" {:>6.2f}%", 100 * r.share);
    const i64 runs = std::max<i64>(p.runs, 1);
    if (costs)
      text += fmt::format(" {:>14} {:>7} {:>13}", known(of_run(r.macs, runs)), rate_text(r),
                          known(of_run(r.bytes, runs)));
    if (predicted) text += fmt::format(" {:>18}", predicted_text(p, r));
    if (kind == Table::kernels && p.has_map)
      text += fmt::format("  {}{}", r.detail.size() > 60 ? fitted(r.detail, 60) : r.detail,
                          r.added ? " (added)" : "");
    if (kind == Table::operators && r.added) text += "  (added)";
    if (kind == Table::modules) text += fmt::format(" {:>13}", grouped_ticks(r.nested_total));
    while (text.back() == ' ') text.pop_back();
    text += "\n";
  }
  return text + more_text(rows.size(), limit);
}

// A spreadsheet takes what begins like this for a formula; behind an apostrophe it is text.
std::string quoted(const std::string& text) {
  const bool is_formula =
      !text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos;
  if (!is_formula && text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = is_formula ? "\"'" : "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

Json row_json(const Profile& p, const ProfileRow& r, Table kind) {
  Json j = {{"name", r.name}};
  if (!r.detail.empty()) j[kind == Table::kernels ? "operators_text" : "targets"] = r.detail;
  if (kind != Table::modules && kind != Table::around) j["operators"] = r.operators;
  if (kind == Table::kernels && r.instruction >= 0) j["instruction"] = r.instruction;
  if (r.delegate_id >= 0) j["delegate_id"] = r.delegate_id;
  if (kind != Table::around) j["clock"] = r.npu ? "npu" : "cpu";
  if (!r.module.empty() && kind != Table::modules) j["module"] = r.module;
  if (!r.placement.empty()) j["placement"] = r.placement;
  if (!r.bound.empty()) j["bound"] = r.bound;
  j["calls"] = r.calls;
  j["min"] = r.min, j["median"] = r.median, j["max"] = r.max, j["total"] = r.total;
  if (kind == Table::around) return j;
  j["share"] = r.share;
  if (kind == Table::kernels) j["added"] = r.added;
  else j["added_ticks"] = r.added_ticks;
  if (kind == Table::modules) j["nested_total"] = r.nested_total;
  if (r.macs >= 0) j["macs"] = r.macs;
  if (rate(r) > 0) j["macs_per_tick"] = rate(r);
  if (r.bytes >= 0) j["bytes"] = r.bytes;
  if (r.predicted_cycles >= 0) j["predicted_cycles"] = r.predicted_cycles;
  if (r.assumed_calls > 0) j["assumed_calls"] = r.assumed_calls, j["apart_cycles"] = r.apart_cycles;
  if (is_comparable(p, r))
    j["measured_over_predicted"] =
        static_cast<double>(r.total) / static_cast<double>(r.predicted_cycles);
  return j;
}

Json rows_json(const Profile& p, const std::vector<ProfileRow>& rows, Table kind) {
  Json list = Json::array();
  for (const ProfileRow& r : rows) list.push_back(row_json(p, r, kind));
  return list;
}

Json clock_json(const DumpClock& c) {
  Json j = {{"unit", c.unit}};
  if (c.per_second > 0) j["ticks_per_second"] = c.per_second;
  return j;
}

std::vector<ComparedRow> compare_rows(const Profile& before, const Profile& after,
                                      const std::vector<ProfileRow>& a,
                                      const std::vector<ProfileRow>& b, bool with_detail) {
  using Key = std::tuple<bool, std::string, std::string>;
  std::map<Key, ComparedRow> all;
  const auto add = [&](const Profile& p, const std::vector<ProfileRow>& rows, bool is_after) {
    for (const ProfileRow& r : rows) {
      const std::string detail = with_detail ? r.detail : "";
      ComparedRow& c = all[Key{r.npu, r.name, detail}];
      c.name = r.name, c.detail = detail, c.npu = r.npu;
      double& side = is_after ? c.after : c.before;
      side = std::max(side, 0.0) +
             static_cast<double>(r.total) / static_cast<double>(std::max<i64>(p.runs, 1));
    }
  };
  add(before, a, false);
  add(after, b, true);
  std::vector<ComparedRow> list;
  for (auto& [key, row] : all) list.push_back(std::move(row));
  std::stable_sort(list.begin(), list.end(), [](const ComparedRow& x, const ComparedRow& y) {
    return std::abs(x.change()) > std::abs(y.change());
  });
  return list;
}

std::string side_text(double v) { return v < 0 ? "-" : grouped(static_cast<i64>(std::llround(v))); }

std::string ratio_text(double before, double after) {
  if (before < 0) return "new";
  if (after < 0) return "gone";
  return before > 0 ? fmt::format("{:.3f}", after / before) : after > 0 ? "" : "1.000";
}

std::string compared_text(const char* title, const std::vector<ComparedRow>& rows, size_t limit) {
  const bool both =
      std::any_of(rows.begin(), rows.end(), [](const ComparedRow& r) { return r.npu; });
  const size_t width = width_of_names(rows);
  std::string text =
      "  " + fitted(title, width) + (both ? " clock" : "") +
      fmt::format(" {:>13} {:>13} {:>13} {:>7}\n", "before", "after", "change", "ratio");
  for (const ComparedRow& r : first_rows(rows, limit)) {
    const i64 change = std::llround(r.change());
    text += "  " + fitted(r.name, width) +
            (both ? fmt::format(" {:>5}", r.npu ? "NPU" : "CPU") : "") +
            fmt::format(" {:>13} {:>13} {:>13} {:>7}", side_text(r.before), side_text(r.after),
                        (change > 0 ? "+" : "") + grouped(change), ratio_text(r.before, r.after));
    if (!r.detail.empty()) text += "  " + (r.detail.size() > 60 ? fitted(r.detail, 60) : r.detail);
    text += "\n";
  }
  return text + more_text(rows.size(), limit);
}

Json compared_json(const std::vector<ComparedRow>& rows) {
  Json list = Json::array();
  for (const ComparedRow& r : rows) {
    Json j = {{"name", r.name}, {"clock", r.npu ? "npu" : "cpu"}, {"change", r.change()}};
    if (!r.detail.empty()) j["detail"] = r.detail;
    if (r.before >= 0) j["before"] = r.before;
    if (r.after >= 0) j["after"] = r.after;
    if (r.before > 0 && r.after >= 0) j["ratio"] = r.after / r.before;
    list.push_back(std::move(j));
  }
  return list;
}

}  // namespace

Comparison compare_profiles(const Profile& before, const Profile& after) {
  Comparison c;
  // else the kernels' names are all that both have
  const bool mapped = before.has_map && after.has_map;
  c.kernels = compare_rows(before, after, before.kernels, after.kernels, mapped);
  if (mapped) c.operators = compare_rows(before, after, before.operators, after.operators, false);
  const auto of_one = [](u64 total, i64 runs) {
    return static_cast<double>(total) / static_cast<double>(std::max<i64>(runs, 1));
  };
  c.before_cpu = of_one(before.cpu_total, before.runs),
  c.after_cpu = of_one(after.cpu_total, after.runs);
  c.before_npu = of_one(before.npu_total, before.runs),
  c.after_npu = of_one(after.npu_total, after.runs);
  return c;
}

// What the rows with a star would be on a chip that lacks such kernels. The model's own ticks are
// the predicted ones; a chip's say nothing of kernels that it has not run.
static std::string assumed_text(const Profile& p) {
  i64 calls = 0;
  double more = 0;
  for (const ProfileRow& r : p.kernels) {
    calls += r.assumed_calls;
    if (r.assumed_calls > 0)
      more += static_cast<double>(r.apart_cycles) - static_cast<double>(r.total);
  }
  if (calls == 0) return "";
  std::string text =
      "  * assumes that the NPU fuses these with what follows (docs/neutron-machine.md)";
  if (p.npu_is_open_model)
    text += fmt::format("; if not: {} more call{}, NPU {}", calls, calls == 1 ? "" : "s",
                        grouped_ticks(p.npu_total + static_cast<u64>(std::max(more, 0.0))));
  return text + "\n";
}

std::string profile_text(const Profile& p, size_t limit) {
  std::string text = fmt::format("{} call{} of the method", p.runs, p.runs == 1 ? "" : "s");
  if (!p.model.empty()) text += fmt::format(", {} for {}", p.model, p.target);
  if (!p.program_id.empty()) text += fmt::format(", program {}", p.program_id);
  text += fmt::format("\nCPU {} ({})", grouped_ticks(p.cpu_total), clock_text(p.cpu));
  if (p.npu_total > 0)
    text += fmt::format(", NPU {} ({})", grouped_ticks(p.npu_total), clock_text(p.npu));
  if (p.npu_total > 0 && !p.comparable) text += "; shares are of each clock's own total";
  text += "\n\nby kernel\n" + table_text(p, p.kernels, Table::kernels, limit) + assumed_text(p);
  if (p.has_map) {
    text += "\nby operator\n" + table_text(p, p.operators, Table::operators, limit);
    text += "\nby module\n" + table_text(p, p.modules, Table::modules, limit);
  } else text += "\nno record was given: --etrecord FILE adds the tables by operator and module\n";
  if (!p.around.empty())
    text += "\nbefore and after\n" + table_text(p, p.around, Table::around, limit);
  return text;
}

std::string profile_csv(const Profile& p) {
  std::string text =
      "table,name,detail,clock,placement,module,instruction,delegate_id,added,calls,min,median,max,"
      "total,share,macs,macs_per_tick,bytes,"
      "predicted_cycles\r\n";
  const auto number = [](i64 v) { return v < 0 ? std::string() : std::to_string(v); };
  const auto add = [&](const char* table, const std::vector<ProfileRow>& rows) {
    for (const ProfileRow& r : rows)
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{:.9f},{},{},{},{}\r\n", table,
                          quoted(r.name), quoted(r.detail), r.npu ? "npu" : "cpu", r.placement,
                          quoted(r.module), number(r.instruction), number(r.delegate_id),
                          r.added ? 1 : 0, r.calls, r.min, r.median, r.max, r.total, r.share,
                          number(r.macs), rate(r) > 0 ? fmt::format("{:.6g}", rate(r)) : "",
                          number(r.bytes), number(r.predicted_cycles));
  };
  add("kernel", p.kernels);
  add("operator", p.operators);
  add("module", p.modules);
  add("around", p.around);
  return text;
}

Json profile_json(const Profile& p) {
  Json j = {
      {"runs", p.runs},
      {"dropped", p.dropped},
      {"clocks",
       {{"cpu", clock_json(p.cpu)}, {"npu", clock_json(p.npu)}, {"comparable", p.comparable}}},
      {"cpu_total", p.cpu_total},
      {"npu_total", p.npu_total}};
  if (!p.program_id.empty()) j["program_id"] = p.program_id;
  if (!p.model.empty()) j["model"] = p.model, j["target"] = p.target;
  j["kernels"] = rows_json(p, p.kernels, Table::kernels);
  if (p.has_map) {
    j["by_operator"] = rows_json(p, p.operators, Table::operators);
    j["by_module"] = rows_json(p, p.modules, Table::modules);
  }
  j["around"] = rows_json(p, p.around, Table::around);
  return j;
}

std::string comparison_text(const Comparison& c, const Profile& after, size_t limit) {
  std::string text = fmt::format("ticks of one call of the method ({})\n", after.cpu.unit);
  const auto whole = [&](const char* clock, double a, double b) {
    if (a > 0 || b > 0)
      text += fmt::format("{} {} before, {} after, ratio {}\n", clock, side_text(a), side_text(b),
                          ratio_text(a, b));
  };
  whole("CPU", c.before_cpu, c.after_cpu);
  whole("NPU", c.before_npu, c.after_npu);
  if (!c.operators.empty()) text += "\n" + compared_text("operator", c.operators, limit);
  return text + "\n" + compared_text("kernel", c.kernels, limit);
}

Json comparison_json(const Comparison& c) {
  Json j = {{"before_cpu", c.before_cpu},
            {"after_cpu", c.after_cpu},
            {"before_npu", c.before_npu},
            {"after_npu", c.after_npu},
            {"kernels", compared_json(c.kernels)}};
  if (!c.operators.empty()) j["by_operator"] = compared_json(c.operators);
  return j;
}

}  // namespace deuteron
