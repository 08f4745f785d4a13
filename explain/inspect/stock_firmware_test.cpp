// SPDX-License-Identifier: Apache-2.0
// Traces as stock firmware writes them (the NeutronBackend of ExecuTorch 1.5 and its ETDump
// library): ids from 0, kinds as metadata, calls around kernels, framework events of instruction 0,
// and the writing of the NPU's profile behind its kernels, with the CPU's ticks in it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_diagnostics.h"
#include "explain/inspect/profile.h"
#include "explain/inspect/tables.h"
#include "explain/traces/test_dump.h"

namespace deuteron {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr int kKernels = 13;

// A delegate of 13 kernels between a kernel of the CPU and a second delegate of 2.
json stock_map() {
  json operators = json::array(), inside = json::array();
  for (int k = 0; k < kKernels + 3; ++k)
    operators.push_back({{"name", fmt::format("op{}", k)},
                         {"target", "aten.relu.default"},
                         {"placement", "npu"},
                         {"inputs", json::array()}});
  for (int k = 0; k < kKernels; ++k)
    inside.push_back(
        {{"id", k}, {"kernel", fmt::format("Kernel{}", k)}, {"operators", {k}}, {"added", false}});
  const json second = {{{"id", 0}, {"kernel", "Add"}, {"operators", {kKernels + 1}}},
                       {{"id", 1}, {"kernel", "Pad"}, {"operators", {kKernels + 2}}}};
  return {
      {"format", 1},
      {"program_id", "00000000000000aa"},
      {"npu_is_open_model", false},
      {"operators", operators},
      {"calls",
       {{{"instruction", 0},
         {"kernel", "NeutronBackend"},
         {"operators", {0, 1}},
         {"npu_kernels", inside}},
        {{"instruction", 1}, {"kernel", "cortex_m::quantized_add.out"}, {"operators", {kKernels}}},
        {{"instruction", 2},
         {"kernel", "NeutronBackend"},
         {"operators", {kKernels + 1, kKernels + 2}},
         {"npu_kernels", second}}}}};
}

struct StockClocks {
  u64 cpu = 1'000'000, npu = 70'000;  // where they stand when the run begins
  size_t writing_bytes = 1;           // of the metadata
};

DumpEvent framework(const char* name, u64 start, u64 end) {
  DumpEvent e = event(name, 0, start, end);
  e.chain = -1;
  return e;
}

void call_delegate(DumpRun& run, i64 instruction, i64 kernels, u64 begin, u64& npu,
                   size_t writing_bytes) {
  const auto add = [&](i64 id, std::vector<u8> metadata, u64 start, u64 end) {
    DumpEvent e = event("", instruction, start, end);
    e.delegate_id = id;
    e.metadata = std::move(metadata);
    run.events.push_back(std::move(e));
  };
  for (i64 k = 0; k < kernels; ++k)
    add(k, {static_cast<u8>(40 + k)}, npu, npu + 100 + 10 * static_cast<u64>(k)),
        npu += 110 + 10 * static_cast<u64>(k);
  add(kernels, std::vector<u8>(writing_bytes, writing_bytes == 1 ? 0 : 3), npu, npu + 500 + 6900);
  npu += 500;
  run.events.push_back(event("DELEGATE_CALL", instruction, begin, begin + 7170));
}

DumpRun stock_run(StockClocks clocks, bool has_native = true) {
  DumpRun run{"Execute", {}};
  u64 t = clocks.cpu + 10;
  call_delegate(run, 0, kKernels, t, clocks.npu, clocks.writing_bytes);
  t += 7170;
  if (has_native) run.events.push_back(event("native_call_quantized_add.out", 1, t + 20, t + 320));
  run.events.push_back(event("OPERATOR_CALL", 1, t + 5, t + 330));
  call_delegate(run, 2, 2, t + 340, clocks.npu, clocks.writing_bytes);
  run.events.push_back(framework("Method::execute", clocks.cpu, t + 340 + 7170 + 15));
  return run;
}

struct Looked {
  Diagnostics diagnostics;
  std::optional<SourceMap> map;
  std::optional<Profile> profile;
};
Looked look(std::vector<DumpRun> runs, std::optional<json> map) {
  Looked a;
  runs.insert(
      runs.begin(),
      {"Default", {framework("Method::init", 5, 80), framework("Program::load_method", 5, 90)}});
  const auto dump = read_etdump(dump_bytes(runs), "x.etdp", a.diagnostics);
  if (map) a.map = read_source_map(*map, "x.etrecord", a.diagnostics);
  if (dump) a.profile = attribute(*dump, a.map ? &*a.map : nullptr, "x.etdp", a.diagnostics);
  return a;
}
std::string warnings(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& d : diagnostics.list())
    if (d.severity != Severity::note) text += d.rule + " ";
  return text;
}
const ProfileRow& stock_row(const std::vector<ProfileRow>& rows, const std::string& name,
                            i64 instruction = -1) {
  static const ProfileRow kNone;
  for (const ProfileRow& r : rows)
    if (r.name == name && (instruction < 0 || r.instruction == instruction)) return r;
  ADD_FAILURE() << "no row " << name;
  return kNone;
}

TEST(StockFirmware, EveryRowOfTwoDelegates) {
  const Looked a = look({stock_run({})}, stock_map());
  ASSERT_TRUE(a.profile);
  const Profile& p = *a.profile;
  for (int k = 0; k < kKernels; ++k) {
    const ProfileRow& r = stock_row(p.kernels, fmt::format("Kernel{}", k));
    EXPECT_EQ(r.total, 100u + 10u * static_cast<u64>(k));
    EXPECT_EQ(r.operators, std::vector<i64>{k});
    EXPECT_TRUE(r.npu);
    EXPECT_EQ(stock_row(p.operators, fmt::format("op{}", k)).total, r.total);
  }
  EXPECT_EQ(stock_row(p.kernels, "Add").operators, std::vector<i64>{kKernels + 1});
  EXPECT_EQ(stock_row(p.kernels, "Pad").total, 110u);
  for (const i64 call : {0, 2}) {
    EXPECT_EQ(stock_row(p.kernels, "NeutronBackend, the call itself", call).total, 7170u);
    EXPECT_FALSE(stock_row(p.kernels, "NeutronBackend, the call itself", call).npu);
    const ProfileRow& writing = stock_row(p.kernels, "(writing of the profile)", call);
    EXPECT_TRUE(writing.npu);
    EXPECT_EQ(writing.total, 0u);  // a sum of both clocks is of neither
    EXPECT_TRUE(writing.operators.empty());
  }
  EXPECT_EQ(stock_row(p.kernels, "cortex_m::quantized_add.out").total, 300u);
  EXPECT_EQ(stock_row(p.kernels, "(runtime)").total, 10u + 5 + 25 + 10 + 15);
  EXPECT_EQ(p.cpu_total, 2u * 7170 + 300 + 65);
  EXPECT_EQ(p.npu_total, 1300u + 10 * 78 + 210);
  EXPECT_EQ(p.npu.unit, "cycles");
  EXPECT_FALSE(p.comparable);
  EXPECT_EQ(warnings(a.diagnostics), "inspect.program_id ");
  EXPECT_THAT(said(a.diagnostics), HasSubstr("[inspect.npu_writing]"));
}

// Where the clocks stand when a run begins, and how the writing of the profile is marked, changes
// no row.
TEST(StockFirmware, EqualRunsAreEqualRows) {
  const std::string first = profile_text(*look({stock_run({})}, stock_map()).profile, 0);
  for (const StockClocks& c :
       {StockClocks{70'000, 1'000'000}, StockClocks{1'000'000, 1'000'100}, StockClocks{0, 0},
        StockClocks{5'000'000'000, 7}, StockClocks{1'000'000, 4'294'966'000},
        StockClocks{999'990, 1'003'000, 2}})
    EXPECT_EQ(profile_text(*look({stock_run(c)}, stock_map()).profile, 0), first)
        << c.cpu << " " << c.npu;
  const Looked both =
      look({stock_run({1'000'000, 70'000}), stock_run({1'090'000, 1'099'000})}, stock_map());
  for (const ProfileRow& r : both.profile->kernels) {
    if (r.instruction < 0) continue;
    EXPECT_EQ(r.min, r.max) << r.name;
  }
}

TEST(StockFirmware, WithoutARecord) {
  const Looked a = look({stock_run({})}, std::nullopt);
  EXPECT_EQ(a.profile->npu_total, 1300u + 10 * 78 + 210);
  EXPECT_EQ(stock_row(a.profile->kernels, "kernel 12 of the delegate (kind 52)").total,
            220u);  // our own kinds are not the vendor's
  EXPECT_EQ(stock_row(a.profile->kernels, "quantized_add.out").total, 300u);
  EXPECT_EQ(warnings(a.diagnostics), "");
}

// Kernels that are registered by hand have no event of their own: the call is theirs.
TEST(StockFirmware, KernelsWithoutAnEventOfTheirOwn) {
  const Looked a = look({stock_run({}, false)}, stock_map());
  EXPECT_EQ(stock_row(a.profile->kernels, "cortex_m::quantized_add.out").total, 325u);
  EXPECT_EQ(stock_row(a.profile->operators, fmt::format("op{}", kKernels)).total, 325u);
}

// A record that lists other kernels than the NPU has run: the right record all the same.
TEST(StockFirmware, OtherKernelsThanTheRecordsAreNotGuessed) {
  json map = stock_map();
  map["calls"][0]["npu_kernels"].erase(4);
  const Looked a = look({stock_run({})}, map);
  EXPECT_EQ(warnings(a.diagnostics), "inspect.program_id inspect.kernels ");
  EXPECT_THAT(
      said(a.diagnostics),
      HasSubstr("instruction 0 has 13 kernels of the NPU in the trace and 12 in the record"));
  EXPECT_THAT(said(a.diagnostics), Not(HasSubstr("another program")));
  EXPECT_EQ(stock_row(a.profile->operators, "(inside the delegate, instruction 0)").total,
            1300u + 780);
  EXPECT_EQ(stock_row(a.profile->kernels, "Add").total, 100u);
}

TEST(StockFirmware, OpenKernelsSayWhy) {
  json map = stock_map();
  json& open = map["calls"][0]["npu_kernels"][3];
  open["operators"] = json::array(), open["open"] = "no list of the text names it";
  const Looked a = look({stock_run({})}, map);
  EXPECT_EQ(stock_row(a.profile->kernels, "Kernel3").detail,
            "not known: no list of the text names it");
  EXPECT_EQ(stock_row(a.profile->operators, "(operators not known)").total, 130u);
  EXPECT_FALSE(stock_row(a.profile->kernels, "Kernel3").added);
}

TEST(StockFirmware, ARecordOfAnotherProgramIsSaid) {
  json map = stock_map();
  map["calls"][1]["kernel"] = "cortex_m::quantized_conv2d.out";
  const Looked a = look({stock_run({})}, map);
  EXPECT_EQ(warnings(a.diagnostics), "inspect.program_id inspect.unmatched ");
  EXPECT_THAT(said(a.diagnostics), HasSubstr("`quantized_add.out` of instruction 1"));
  for (const ProfileRow& r : a.profile->kernels) EXPECT_THAT(r.name, Not(HasSubstr("conv2d")));
}

}  // namespace
}  // namespace deuteron
