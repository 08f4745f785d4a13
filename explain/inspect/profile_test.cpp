// SPDX-License-Identifier: Apache-2.0
#include "explain/inspect/profile.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <sstream>

#include "base/files/read_file.h"
#include "base/test_diagnostics.h"
#include "explain/inspect/page.h"
#include "explain/inspect/perfetto.h"
#include "explain/inspect/tables.h"
#include "explain/traces/read_etrecord.h"
#include "explain/traces/test_dump.h"
#include "tests/paths.h"

namespace deuteron {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kProgram = "00000000000000aa";

// Two operators in one kernel on the CPU, a delegate of three kernels, one of them added and one
// for two operators.
json map_json() {
  return {{"format", 1},
          {"program_id", kProgram},
          {"model", "net.pt2"},
          {"target", "imxrt700cm"},
          {"operators",
           {{{"name", "conv1"},
             {"target", "aten.conv2d.default"},
             {"module", "body.0"},
             {"placement", "cpu"},
             {"inputs", json::array()}},
            {{"name", "relu1"},
             {"target", "aten.relu.default"},
             {"module", "body.1"},
             {"placement", "cpu"},
             {"inputs", {0}}},
            {{"name", "conv2"},
             {"target", "aten.conv2d.default"},
             {"module", "body.2.conv"},
             {"placement", "npu"},
             {"inputs", {1}}},
            {{"name", "relu2"},
             {"target", "aten.relu.default"},
             {"module", "body.2.act"},
             {"placement", "npu"},
             {"inputs", {2}}},
            {{"name", "fc, last"},
             {"target", "aten.linear.default"},
             {"module", "head"},
             {"placement", "npu"},
             {"inputs", {3}}}}},
          {"calls",
           {{{"instruction", 0},
             {"kernel", "cortex_m::quantized_conv2d.out"},
             {"operators", {0, 1}},
             {"added", false},
             {"placement", "cpu"},
             {"macs", 6000},
             {"bytes", 64}},
            {{"instruction", 1},
             {"kernel", "NeutronBackend"},
             {"operators", {2, 3, 4}},
             {"added", false},
             {"placement", "npu"},
             {"npu_kernels",
              {{{"id", 0},
                {"kernel", "Pad"},
                {"operators", {2}},
                {"added", true},
                {"macs", 0},
                {"bytes", 10},
                {"predicted_cycles", 50}},
               {{"id", 1},
                {"kernel", "Conv2DStandardV1"},
                {"operators", {2, 3}},
                {"added", false},
                {"macs", 800},
                {"bytes", 30},
                {"predicted_cycles", 400},
                {"bound", "compute"}},
               {{"id", 2},
                {"kernel", "FullyConnected"},
                {"operators", {4}},
                {"added", false},
                {"macs", 90},
                {"bytes", 20},
                {"predicted_cycles", 150}}}}}}},
          {"folded", json::array()},
          {"memory",
           {{{"name", "sram"},
             {"used", 96},
             {"tensors",
              {{{"name", "a"},
                {"offset", 0},
                {"bytes", 64},
                {"first", 0},
                {"last", 1},
                {"kind", "input"}},
               {{"name", "b"},
                {"offset", 64},
                {"bytes", 32},
                {"first", 1},
                {"last", 1},
                {"kind", "output"}}}}}}}};
}

DumpRun run_at(u64 t, u64 conv, u64 npu) {
  return {
      "Execute",
      {event("native_call_cortex_m::quantized_conv2d.out", 0, t + 10, t + 10 + conv),
       event("DELEGATE_CALL", 1, t + 20 + conv, t + 1020 + conv), npu_event(1, 0, 2, 0, 50),
       npu_event(1, 1, 5, 50, 50 + npu), npu_event(1, 2, 9, 50 + npu, 200 + npu),
       npu_event(1, 3, 0, 200 + npu, 230 + npu), event("Method::execute", -1, t, t + 1040 + conv)}};
}
std::vector<DumpRun> three_runs(const std::string& clock = "instructions 0",
                                const std::string& more = "") {
  return {default_run(facts_text(kProgram, clock, more)),
          run_at(1000, 300, 400),
          run_at(5000, 500, 400),
          run_at(9000, 400, 430),
          {"Profile", {event("Profile::write", -1, 20000, 20700)}}};
}

struct Attributed {
  Diagnostics diagnostics;
  std::optional<SourceMap> map;
  std::optional<Profile> profile;
};
Attributed attributed(const std::vector<DumpRun>& runs, std::optional<json> map) {
  Attributed a;
  const auto dump = read_etdump(dump_bytes(runs), "x.etdp", a.diagnostics);
  if (map) a.map = read_source_map(*map, "x.etrecord", a.diagnostics);
  if (dump) a.profile = attribute(*dump, a.map ? &*a.map : nullptr, "x.etdp", a.diagnostics);
  return a;
}

const ProfileRow& row(const std::vector<ProfileRow>& rows, const std::string& name) {
  static const ProfileRow kNone;
  for (const ProfileRow& r : rows)
    if (r.name == name) return r;
  ADD_FAILURE() << "no row " << name;
  return kNone;
}
u64 sum(const std::vector<ProfileRow>& rows, bool npu) {
  u64 total = 0;
  for (const ProfileRow& r : rows)
    if (r.npu == npu) total += r.total;
  return total;
}

TEST(Profile, EveryTickIsInOneRowOfEachTable) {
  const Attributed a = attributed(three_runs(), map_json());
  ASSERT_TRUE(a.profile) << said(a.diagnostics);
  const Profile& p = *a.profile;
  EXPECT_EQ(p.runs, 3);
  EXPECT_EQ(p.cpu_total, u64{1340 + 1540 + 1440});
  EXPECT_EQ(p.npu_total, u64{630 + 630 + 660});
  for (const auto* rows : {&p.kernels, &p.operators, &p.modules}) {
    EXPECT_EQ(sum(*rows, false), p.cpu_total);
    EXPECT_EQ(sum(*rows, true), p.npu_total);
    double cpu = 0, npu = 0;
    for (const ProfileRow& r : *rows) (r.npu ? npu : cpu) += r.share;
    EXPECT_NEAR(cpu, 1, 1e-12);
    EXPECT_NEAR(npu, 1, 1e-12);
  }
  EXPECT_EQ(said(a.diagnostics), "");
}

TEST(Profile, KernelsAreTheMapsOwn) {
  const Attributed a = attributed(three_runs(), map_json());
  const Profile& p = *a.profile;
  const ProfileRow& conv = row(p.kernels, "cortex_m::quantized_conv2d.out");
  EXPECT_EQ(conv.detail, "conv1 + relu1");
  EXPECT_EQ(conv.calls, 3);
  EXPECT_EQ(conv.min, 300u);
  EXPECT_EQ(conv.median, 400u);
  EXPECT_EQ(conv.max, 500u);
  EXPECT_EQ(conv.macs, 18000);
  EXPECT_FALSE(conv.npu);
  const ProfileRow& fused = row(p.kernels, "Conv2DStandardV1");
  EXPECT_EQ(fused.detail, "conv2 + relu2");
  EXPECT_EQ(fused.total, 1230u);
  EXPECT_EQ(fused.predicted_cycles, 1200);
  EXPECT_EQ(fused.module, "body.2");
  EXPECT_TRUE(fused.npu);
  EXPECT_TRUE(row(p.kernels, "Pad").added);
  EXPECT_EQ(row(p.kernels, "(writing of the profile)").total, 90u);
  EXPECT_EQ(row(p.kernels, "NeutronBackend, the call itself").total, 3000u);
  EXPECT_EQ(row(p.kernels, "(runtime)").total, 120u);
}

TEST(Profile, OperatorsThatShareAKernelAreOneRow) {
  const Attributed a = attributed(three_runs(), map_json());
  const Profile& p = *a.profile;
  EXPECT_EQ(row(p.operators, "conv1 + relu1").total, 1200u);
  EXPECT_EQ(row(p.operators, "conv2 + relu2").total, 1230u);
  EXPECT_EQ(row(p.operators, "conv2").total, 150u);  // the padding that was added for it
  EXPECT_EQ(row(p.operators, "conv2").added_ticks, 150u);
  EXPECT_TRUE(row(p.operators, "conv2").added);
  EXPECT_EQ(row(p.operators, "fc, last").total, 450u);
  for (const ProfileRow& r : p.operators) EXPECT_NE(r.name, "relu2");
  EXPECT_EQ(row(p.modules, "body").total, 1200u);  // of body.0 and body.1 together
  EXPECT_EQ(row(p.modules, "body.2").total, 1230u);
  EXPECT_EQ(row(p.modules, "body.2.conv").nested_total, 150u);
  EXPECT_EQ(row(p.modules, "body.2").nested_total, 1380u);
}

// Another converter than ours names no kernels, and its code runs on the chip.
TEST(Profile, ARealNpuIsTakenOutOfItsCall) {
  json map = map_json();
  map["calls"][1].erase("npu_kernels");
  const Attributed a = attributed(three_runs("cycles 200000000", "npu_hz 400000000\n"), map);
  ASSERT_TRUE(a.profile);
  EXPECT_EQ(said(a.diagnostics), "");
  const Profile& p = *a.profile;
  EXPECT_TRUE(p.comparable);
  // 630, 630 and 660 cycles of the NPU are 315, 315 and 330 of the CPU (each event rounded).
  EXPECT_NEAR(static_cast<double>(row(p.kernels, "NeutronBackend, the call itself").total),
              3000 - 960, 6);
  EXPECT_EQ(row(p.operators, "(inside the delegate, instruction 1)").total,
            p.npu_total - 90);  // but the writing of the profile
  double share = 0;
  for (const ProfileRow& r : p.kernels) share += r.share;
  EXPECT_NEAR(share, 1, 1e-12);
  // The open model of the machine takes no time.
  EXPECT_FALSE(attributed(three_runs("cycles 200000000", "npu_hz 400000000\n"), map_json())
                   .profile->comparable);
}

TEST(Profile, ANpuMayCountFarSlowerThanTheCpu) {
  json map = map_json();
  map["calls"][1].erase("npu_kernels");
  const Attributed a = attributed(three_runs("cycles 1000000000000000000", "npu_hz 1\n"),
                                  map);  // 50 of its cycles are 5e19 of the CPU's
  ASSERT_TRUE(a.profile);
  EXPECT_EQ(row(a.profile->kernels, "NeutronBackend, the call itself").total, 0u);
}

TEST(Profile, WithoutARecordKernelsHaveTheirNames) {
  const Attributed a = attributed(three_runs(), std::nullopt);
  const Profile& p = *a.profile;
  EXPECT_EQ(row(p.kernels, "cortex_m::quantized_conv2d.out").total, 1200u);
  EXPECT_EQ(row(p.kernels, "(writing of the profile)").total, 90u);
  EXPECT_TRUE(p.operators.empty());
  EXPECT_EQ(sum(p.kernels, true), p.npu_total);
  EXPECT_THAT(profile_text(p, 0), HasSubstr("no record was given"));
}

TEST(Profile, ARecordOfAnotherProgramIsRefusedWithBothIds) {
  json other = map_json();
  other["program_id"] = "00000000000000bb";
  const Attributed a = attributed(three_runs(), other);
  EXPECT_FALSE(a.profile);
  EXPECT_THAT(said(a.diagnostics), HasSubstr("the trace's program 00000000000000aa"));
  EXPECT_THAT(said(a.diagnostics), HasSubstr("the record's 00000000000000bb"));
}

TEST(Profile, EventsThatTheRecordLacksAreSaid) {
  json shorter = map_json();
  shorter["calls"].erase(1);
  const Attributed a = attributed(three_runs(), shorter);
  ASSERT_TRUE(a.profile);
  EXPECT_THAT(said(a.diagnostics), HasSubstr("not in the record"));
  EXPECT_EQ(sum(a.profile->operators, true), a.profile->npu_total);
}

TEST(Profile, ADumpWithoutItsEndStillAddsUp) {
  std::vector<DumpRun> runs = three_runs("instructions 0", "dropped 5\n");
  runs.pop_back();
  runs.back().events.resize(1);  // the newest were dropped, Method::execute first of all
  const Attributed a = attributed(runs, map_json());
  ASSERT_TRUE(a.profile);
  EXPECT_EQ(sum(a.profile->kernels, false), a.profile->cpu_total);
  EXPECT_EQ(a.profile->cpu_total, u64{1340 + 1540 + 400});
  EXPECT_EQ(a.profile->dropped, 5u);
}

// A counter of 32 bits that passes its end between and inside events: nothing is lost, and the
// picture goes on.
TEST(Profile, AWrapInTheMiddleOfARun) {
  const Attributed a = attributed({{"Execute",
                                    {event("native_call_a.out", 0, 0xFFFFFF10u, 0xFFFFFFF0u),
                                     event("native_call_b.out", 1, 0xFFFFFFF8u, 0x100),
                                     event("native_call_c.out", 2, 0x110, 0x180),
                                     event("Method::execute", -1, 0xFFFFFF00u, 0x200)}}},
                                  std::nullopt);
  ASSERT_TRUE(a.profile) << said(a.diagnostics);
  EXPECT_EQ(a.profile->cpu_total, 0x300u);
  EXPECT_EQ(row(a.profile->kernels, "b.out").total, 0x108u);
  EXPECT_EQ(row(a.profile->kernels, "(runtime)").total, 0x300u - 0xE0 - 0x108 - 0x70);
  double last = -1;
  for (const TimeSlice& s : a.profile->slices) {
    EXPECT_GE(s.start, last);
    EXPECT_LE(s.end, 0x300);
    last = s.start;
  }
}

TEST(Profile, StockFilesOfOneClock) {
  Diagnostics d;
  const std::string folder = source_path("tests/traces/");
  const auto bytes = read_file(folder + "stock.etdp", d);
  ASSERT_TRUE(bytes);
  const auto dump = read_etdump(*bytes, "stock.etdp", d);
  const auto map = read_etrecord(folder + "stock.etrecord", d);
  ASSERT_TRUE(dump && map) << said(d);
  EXPECT_TRUE(map->is_stock);
  const auto p = attribute(*dump, &*map, "stock.etdp", d);
  ASSERT_TRUE(p) << said(d);
  EXPECT_EQ(p->runs, 3);
  EXPECT_EQ(sum(p->kernels, false), p->cpu_total);
  EXPECT_EQ(sum(p->operators, false), p->cpu_total);
  u64 execute = 0;
  for (const DumpRun& r : dump->runs)
    if (r.name == "Execute") execute += r.events.back().ticks();
  EXPECT_EQ(p->cpu_total, execute);
  std::string names;
  for (const ProfileRow& r : p->operators)
    names += r.name + " [" + r.detail + "] " + r.module + "\n";
  EXPECT_THAT(names, HasSubstr("aten.addmm.default"));
  EXPECT_THAT(names, HasSubstr("block.0"));
  EXPECT_EQ(row(p->kernels, "relu.out").calls, 3) << names;
}

TEST(Profile, TablesHaveWhatTheySay) {
  const Attributed a = attributed(three_runs("cycles 200000000"), map_json());
  const std::string text = profile_text(*a.profile, 0);
  EXPECT_THAT(text,
              HasSubstr("3 calls of the method, net.pt2 for imxrt700cm, program 00000000000000aa"));
  EXPECT_THAT(text, HasSubstr("conv2 + relu2"));
  EXPECT_THAT(profile_text(*a.profile, 1), HasSubstr("--rows 0 shows all"));
  EXPECT_THAT(text, HasSubstr("Profile::write"));
}

// On a chip the vendor's kernels are compared with what the open model predicts of them; the
// model's own ticks are the prediction.
TEST(Profile, MeasuredAgainstPredicted) {
  json map = map_json();
  EXPECT_THAT(profile_text(*attributed(three_runs("cycles 200000000"), map).profile, 0),
              testing::Not(HasSubstr("measured/predicted")));
  map["npu_is_open_model"] = false;
  const Attributed a = attributed(three_runs("cycles 200000000"), map);
  EXPECT_THAT(profile_text(*a.profile, 0), HasSubstr("1.025"));  // 1230 measured, 1200 predicted
}

TEST(Profile, CsvQuotesWhatNeedsIt) {
  const Attributed a = attributed(three_runs(), map_json());
  const std::string csv = profile_csv(*a.profile);
  EXPECT_THAT(csv, HasSubstr("operator,\"fc, last\",aten.linear.default,npu,npu,head,"));
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  const auto fields = [](const std::string& l) {
    bool inside = false;
    int n = 1;
    for (const char c : l) {
      if (c == '"') inside = !inside;
      n += c == ',' && !inside;
    }
    return n;
  };
  const int wanted = fields(line);
  EXPECT_EQ(wanted, 19);
  while (std::getline(lines, line)) EXPECT_EQ(fields(line), wanted) << line;
}

TEST(Profile, ComparisonIsByNameAndSortedByChange) {
  const Attributed a = attributed(three_runs(), map_json());
  std::vector<DumpRun> faster = three_runs();
  for (size_t r = 1; r < 4; ++r) faster[r] = run_at(1000 * r * 4, 100, 400);
  const Attributed b = attributed(faster, map_json());
  const Comparison c = compare_profiles(*a.profile, *b.profile);
  ASSERT_FALSE(c.operators.empty());
  EXPECT_EQ(c.operators[0].name, "conv1 + relu1");
  EXPECT_DOUBLE_EQ(c.operators[0].before, 400);
  EXPECT_DOUBLE_EQ(c.operators[0].after, 100);
  EXPECT_DOUBLE_EQ(c.before_cpu, 1440);
  EXPECT_DOUBLE_EQ(c.after_cpu, 1140);
  EXPECT_THAT(comparison_text(c, *b.profile, 0), HasSubstr("0.250"));
}

// Structure: every slice has a track and a length, slices of a track nest, counters come in order
// of time and end at 0.
TEST(Profile, PerfettoTrace) {
  const Attributed a = attributed(three_runs(), map_json());
  const json trace = json::parse(perfetto_json(*a.profile, &*a.map));
  std::map<int, std::vector<std::pair<double, double>>> tracks;
  double counted = -1;
  int counters = 0, last = -1;
  std::set<std::string> names;
  for (const json& e : trace["traceEvents"]) {
    ASSERT_TRUE(e["ph"].is_string());
    ASSERT_TRUE(e["pid"].is_number());
    if (e["ph"] == "M") names.insert(e["args"]["name"]);
    if (e["ph"] == "X") {
      ASSERT_GE(e["dur"].get<double>(), 0);
      tracks[e["tid"]].emplace_back(e["ts"], e["ts"].get<double>() + e["dur"].get<double>());
    }
    if (e["ph"] == "C") {
      EXPECT_GE(e["ts"].get<double>(), counted);
      counted = e["ts"];
      last = e["args"]["bytes"];
      ++counters;
      EXPECT_TRUE(last == 0 || last == 64 || last == 96) << last;
    }
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"CPU", "NPU"}));
  EXPECT_EQ(counters, 9);
  EXPECT_EQ(last, 0);
  ASSERT_EQ(tracks.size(), 2u);
  EXPECT_EQ(tracks[1].size(), 9u);
  EXPECT_EQ(tracks[2].size(), 12u);
  for (auto& [track, slices] : tracks) {
    std::vector<double> open;
    for (const auto& [from, to] : slices) {
      while (!open.empty() && open.back() <= from + 1e-9) open.pop_back();
      EXPECT_TRUE(open.empty() || to <= open.back() + 1e-6) << track << " " << from;
      open.push_back(to);
    }
  }
  // The NPU's kernels lie inside their delegate's calls.
  for (const auto& [from, to] : tracks[2]) {
    bool inside = false;
    for (const json& e : trace["traceEvents"])
      inside = inside || (e["ph"] == "X" && e["name"] == "NeutronBackend" &&
                          e["ts"].get<double>() <= from + 1e-6 &&
                          to <= e["ts"].get<double>() + e["dur"].get<double>() + 1e-6);
    EXPECT_TRUE(inside) << from;
  }
}

TEST(Profile, ThePagesDataCannotEndItsElement) {
  json evil = map_json();
  evil["operators"][0]["name"] = "</script><script>alert(1)</script>";
  const Attributed a = attributed(three_runs(), evil);
  const std::string html = page_html(trace_page(*a.profile, &*a.map, profile_json(*a.profile)));
  if (html.empty()) GTEST_SKIP() << "left out: the page was not built (npm)";
  EXPECT_THAT(html, Not(HasSubstr("</script><script>alert")));
  EXPECT_THAT(html, HasSubstr("\\u003c/script>"));
  EXPECT_THAT(html, Not(HasSubstr("@DEUTERON_DATA@")));
  for (const char* outside : {"src=\"http", "href=\"http", "@import"})
    EXPECT_THAT(html, Not(HasSubstr(outside)));
}

TEST(SourceMap, DamageIsADiagnostic) {
  struct Case {
    const char* pointer;
    json value;
    const char* said;
  };
  for (const Case& c :
       {Case{"/operators", 7, "`operators` is not a list of objects"},
        Case{"/calls/0/operators/0", 99, "names an operator that is not in the map"},
        Case{"/calls/1/npu_kernels/0/id", -3, "`id` is not a whole number"},
        Case{"/calls/0/instruction", "x", "`instruction` is not a whole number"},
        Case{"/operators/1/name", 5, "`name` is not a string"},
        Case{"/operators/1/inputs/0", 1000, "names an operator"},
        Case{"/memory/0/tensors/0/first", 1e300, "`first` is not a whole number"},
        Case{"/format", 9, "has a form that is not known here"}}) {
    json map = map_json();
    map[json::json_pointer(c.pointer)] = c.value;
    Diagnostics d;
    EXPECT_FALSE(read_source_map(map, "x.etrecord", d)) << c.pointer;
    EXPECT_THAT(said(d), HasSubstr(c.said)) << c.pointer;
  }
  Diagnostics d;
  EXPECT_FALSE(read_source_map(json(3), "x.etrecord", d));
}

}  // namespace
}  // namespace deuteron
