// SPDX-License-Identifier: Apache-2.0
#include "targets/target.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "npu/neutron/machine/machine_ranges.h"
#include "npu/neutron/machine/test_machine.h"
#include "targets/builtin.h"
#include "targets/show_target.h"
#include "targets/target_keys.h"
#include "tests/temporary_path.h"

namespace deuteron {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kWhole = R"(format = 1
name = "board"
description = "a board"
backends = ["cortex_m"]

[cpu]
core = "cortex-m33"
isa = "dsp"
clock_hz = 160000000

[[memory]]
name = "sram"
bytes = 524288
holds = ["activations"]

[[memory]]
name = "flash"
bytes = 1048576
holds = ["constants"]
)";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

std::string errors_of(const std::string& text) {
  Diagnostics d;
  EXPECT_FALSE(parse_target(text, "b.toml", d).has_value()) << text;
  std::string all;
  for (const Diagnostic& x : d.list()) all += format_diagnostic(x) + "\n";
  return all;
}

TEST(Target, BuiltinsAreTheCoresInNaturalOrder) {
  std::vector<std::string> names;
  for (const Target& t : builtin_targets()) {
    names.push_back(t.name);
    EXPECT_FALSE(t.description.empty());
    EXPECT_EQ(t.npu.has_value(), t.has_backend("neutron"));
    if (t.npu) continue;
    EXPECT_THAT(
        t.name,
        testing::StartsWith(
            t.cpu));  // and what is left out of the core, as compilers spell it: cortex-m33+nodsp
    EXPECT_THAT(t.backends, ElementsAre("cortex_m"));
    EXPECT_TRUE(t.memories.empty());
  }
  EXPECT_EQ(names.size(), builtin_target_files().size() - builtin_bases().size());
  std::vector<std::string> some = {"cortex-m0",  "cortex-m0+", "cortex-m4", "cortex-m23",
                                   "cortex-m33", "cortex-m55", "imxrt700",  "imxrt700cm"};
  std::erase_if(
      names, [&](const std::string& name) { return std::ranges::find(some, name) == some.end(); });
  EXPECT_EQ(names, some);
}

TEST(Target, TheTwoRecipesOfOneChipDifferInTheirBackendsOnly) {
  Diagnostics d;
  const std::optional<Target> alone = find_target("imxrt700", d),
                              joined = find_target("imxrt700cm", d);
  ASSERT_TRUE(alone && joined);
  EXPECT_THAT(alone->backends, ElementsAre("neutron"));
  EXPECT_THAT(joined->backends, ElementsAre("neutron", "cortex_m"));
  EXPECT_EQ(alone->npu->limits.taps, 65535);
  EXPECT_EQ(joined->npu->limits.taps, 65535);
  EXPECT_EQ(alone->npu->machine.units * alone->npu->machine.lanes, 64);
  EXPECT_EQ(joined->npu->machine.clock_hz, 324000000);
  for (const LimitKey& key : kLimitKeys)
    EXPECT_EQ(alone->npu->limits.*key.field, joined->npu->limits.*key.field) << key.name;
  for (const MachineKey& key : kMachineKeys)
    EXPECT_EQ(alone->npu->machine.*key.field, joined->npu->machine.*key.field) << key.name;
  for (const MachineKey& key : kMachineKeys)
    EXPECT_EQ(alone->npu->machine.*key.field, neutron::n3_64().*key.field) << key.name;
  EXPECT_EQ(alone->npu->crossing, joined->npu->crossing);
  EXPECT_EQ(alone->memories, joined->memories);
  EXPECT_EQ(alone->cpu_cost, joined->cpu_cost);
  ASSERT_EQ(joined->memories.size(), 2u);
  EXPECT_TRUE(joined->memories[0].does_hold("activations") &&
              joined->memories[0].is_reached_by("npu"));
  EXPECT_FALSE(joined->memories[1].is_reached_by("npu"));
  const std::optional<Target> cpu = find_target("cortex-m33", d);
  EXPECT_EQ(cpu->cpu_cost, joined->cpu_cost);
  EXPECT_FALSE(cpu->cpu_cost.empty());
  EXPECT_THAT(joined->extends, testing::IsSupersetOf({"base-cortex-m33", "base-neutron-n3-64"}));
  EXPECT_THAT(cpu->extends, testing::Contains("base-cortex-m33"));
}

// Nothing that a base says is said again by the recipes of the chip.
TEST(Target, RecipesOfTheChipHoldNoNumbers) {
  for (const BuiltinTarget& b : builtin_target_files()) {
    if (!b.file.starts_with("imxrt700")) continue;
    const std::string text(b.text);
    for (const char* table : {"[npu", "[cpu", "[[memory"})
      EXPECT_EQ(text.find(table), std::string::npos) << b.file << " has " << table;
  }
}

TEST(Target, InstructionSetsAreThoseThatStockFilesAreMadeFor) {
  const std::pair<const char*, Isa> expected[] = {
      {"cortex-m0", Isa::scalar},  {"cortex-m0+", Isa::scalar}, {"cortex-m3", Isa::scalar},
      {"cortex-m23", Isa::scalar}, {"cortex-m4", Isa::dsp},     {"cortex-m7", Isa::dsp},
      {"cortex-m33", Isa::dsp},    {"cortex-m35p", Isa::dsp},   {"cortex-m52", Isa::mve},
      {"cortex-m55", Isa::mve},    {"cortex-m85", Isa::mve}};
  for (const auto& [name, isa] : expected) {
    for (const char* suffix : {"", "+int8"}) {
      Diagnostics d;
      const std::optional<Target> t = find_target(std::string(name) + suffix, d);
      ASSERT_TRUE(t) << name << suffix;
      EXPECT_EQ(t->isa, isa) << name;
      EXPECT_EQ(t->name, name);
    }
  }
  Diagnostics d;
  EXPECT_EQ(find_target("cortex-m0plus", d)->name, "cortex-m0+");
  for (const auto& [spelling, name] :
       {std::pair("Cortex-M55", "cortex-m55"), std::pair("CORTEX_M55+INT8", "cortex-m55"),
        std::pair("cortex-m4f", "cortex-m4"), std::pair("Cortex-M33F", "cortex-m33"),
        std::pair("cortex-m0PLUS", "cortex-m0+"), std::pair("i.MXRT700CM", ""),
        std::pair("cortex-m3f", "")})
    EXPECT_EQ(find_target(spelling, d).value_or(Target{}).name, name) << spelling;
}

TEST(Target, UnknownNamesOfferTheNearest) {
  Diagnostics d;
  EXPECT_FALSE(find_target("cortex-m5", d));
  EXPECT_FALSE(find_target("cortex-m", d));
  EXPECT_FALSE(find_target("esp32", d));
  EXPECT_FALSE(find_target("", d));
  ASSERT_EQ(d.list().size(), 4u);
  EXPECT_THAT(d.list()[0].fix, HasSubstr("cortex-m55"));
  EXPECT_THAT(d.list()[1].fix, HasSubstr("cores: cortex-m0, cortex-m0+"));
  EXPECT_THAT(d.list()[2].fix, HasSubstr("known: cortex-m0"));
}

TEST(Target, ReadsEveryField) {
  Diagnostics d;
  const std::optional<Target> t = parse_target(kWhole, "b.toml", d);
  ASSERT_TRUE(t);
  EXPECT_TRUE(d.list().empty());
  EXPECT_EQ(t->name, "board");
  EXPECT_EQ(t->description, "a board");
  EXPECT_EQ(t->cpu, "cortex-m33");
  EXPECT_EQ(t->isa, Isa::dsp);
  EXPECT_EQ(t->clock_hz, 160000000);
  EXPECT_EQ(t->file, "b.toml");
  ASSERT_EQ(t->memories.size(), 2u);
  EXPECT_EQ(t->memories[0].name, "sram");
  EXPECT_EQ(t->memories[0].bytes, 524288);
  EXPECT_THAT(t->memories[1].holds, ElementsAre("constants"));
}

TEST(Target, RefusesWithTheLine) {
  const std::string whole = kWhole;
  EXPECT_THAT(errors_of(replaced(whole, "clock_hz", "clokc_hz")),
              AllOf(HasSubstr("b.toml:9:"), HasSubstr("unknown key `clokc_hz`"),
                    HasSubstr("did you mean `clock_hz`")));
  EXPECT_THAT(errors_of(whole + "\nspeed = 3\n"),
              AllOf(HasSubstr("b.toml:21:"), HasSubstr("[[memory]] has an unknown key `speed`")));
  EXPECT_THAT(
      errors_of("speed = 3\n" + whole),
      AllOf(HasSubstr("b.toml:1:"), HasSubstr("the target file has an unknown key `speed`")));
  EXPECT_THAT(errors_of(replaced(whole, "524288", "0")),
              AllOf(HasSubstr("b.toml:13:"), HasSubstr("memory `sram` has no bytes: 0, limit 1")));
  EXPECT_THAT(errors_of(replaced(whole, "524288", "-4")), HasSubstr("-4, limit 1"));
  EXPECT_THAT(errors_of(replaced(whole, "524288", "4294967297")),
              HasSubstr("larger than the address space"));
  EXPECT_THAT(errors_of(replaced(whole, "524288", "\"many\"")),
              AllOf(HasSubstr("b.toml:13:"), HasSubstr("must be a whole number")));
  EXPECT_THAT(errors_of(replaced(whole, "\"flash\"", "\"sram\"")),
              HasSubstr("two memories are called `sram`"));
  EXPECT_THAT(errors_of(replaced(whole, "[\"constants\"]", "[\"wheights\"]")),
              HasSubstr("unknown use of a memory `wheights`"));
  EXPECT_THAT(errors_of(replaced(whole, "[\"constants\"]", "[]")), HasSubstr("`holds` is empty"));
  EXPECT_THAT(errors_of(replaced(whole, "isa = \"dsp\"", "isa = \"mve\"")),
              AllOf(HasSubstr("b.toml:8:"), HasSubstr("mve, limit dsp")));
  EXPECT_THAT(errors_of(replaced(whole, "isa = \"dsp\"", "isa = \"neon\"")),
              HasSubstr("unknown instruction set `neon`"));
  EXPECT_THAT(errors_of(replaced(whole, "cortex-m33", "cortex-a53")),
              AllOf(HasSubstr("b.toml:7:"), HasSubstr("unknown core `cortex-a53`")));
  EXPECT_THAT(errors_of(replaced(whole, "\"cortex_m\"", "\"cortex-m\"")),
              AllOf(HasSubstr("b.toml:4:"), HasSubstr("unknown backend"),
                    HasSubstr("did you mean `cortex_m`")));
  EXPECT_THAT(errors_of(replaced(whole, "160000000", "0")), HasSubstr("0, limit 1"));
  EXPECT_THAT(errors_of(replaced(whole, "name = \"board\"", "name = 3")),
              HasSubstr("`name` must be a string"));
  EXPECT_THAT(errors_of(replaced(whole, "name = \"board\"", "")),
              AllOf(HasSubstr("`name` is missing"), HasSubstr("b.toml:")));
  EXPECT_THAT(errors_of(replaced(whole, "core = \"cortex-m33\"", "")),
              AllOf(HasSubstr("b.toml:6:"), HasSubstr("`core` is missing")));
  EXPECT_THAT(errors_of("format = 1\nname = \"x\"\nbackends = [\"cortex_m\"]\n"),
              HasSubstr("`cpu` is missing"));
  EXPECT_THAT(
      errors_of("format = 1\nname = \"x\"\nbackends = [\"cortex_m\"]\ncpu = 3\nmemory = 4\n"),
      AllOf(HasSubstr("`cpu` must be a table"), HasSubstr("`memory` must be")));
  EXPECT_THAT(errors_of(""), HasSubstr("`format` is missing"));
}

TEST(Target, AnotherFormatVersionIsTheOnlyComplaint) {
  const std::string errors = errors_of("format = 2\nnew_key = 1\n");
  EXPECT_THAT(errors, AllOf(HasSubstr("b.toml:1:"), HasSubstr("2, limit 1")));
  EXPECT_THAT(errors, testing::Not(HasSubstr("new_key")));
}

TEST(Target, BrokenTomlSaysWhere) {
  EXPECT_THAT(errors_of("format = 1\nname = \n"),
              AllOf(HasSubstr("b.toml:2:"), HasSubstr("is not TOML")));
  EXPECT_THAT(errors_of(std::string("\0\xff\xfe", 3)), HasSubstr("is not TOML"));
}

TEST(Target, EveryPrefixOfAFileIsReadOrRefused) {
  const std::string whole = kWhole;
  for (size_t n = 0; n < whole.size(); ++n) {
    Diagnostics d;
    const std::optional<Target> t = parse_target(std::string_view(whole).substr(0, n), "b.toml", d);
    EXPECT_EQ(t.has_value(), !d.has_errors()) << n;
  }
}

// With `tail` after a file that extends.
std::string extending(const std::string& bases, const std::string& tail = "") {
  return "format = 1\nname = \"mine\"\nextends = [" + bases + "]\n" + tail;
}

TEST(Target, AFileTakesWhatItDoesNotSayFromWhatItExtends) {
  Diagnostics d;
  const std::string own =
      "[npu.limits]\ntaps = 99\n\n[[memory]]\nname = \"ram\"\nbytes = 1000\nholds = "
      "[\"activations\"]\n";
  const std::optional<Target> t = parse_target(extending("\"imxrt700cm\"", own), "m.toml", d);
  ASSERT_TRUE(t) << format_diagnostic(d.list().front());
  EXPECT_EQ(t->name, "mine");
  EXPECT_THAT(t->backends, ElementsAre("neutron", "cortex_m"));
  EXPECT_EQ(t->npu->limits.taps, 99);
  EXPECT_EQ(t->npu->limits.kernel, 4096);
  ASSERT_EQ(t->memories.size(), 1u) << "lists are taken whole";
  EXPECT_THAT(t->memories[0].reach, ElementsAre("cpu", "npu"));
  EXPECT_EQ(t->clock_hz, 324000000);
  EXPECT_TRUE(t->description.empty()) << "a file's own";
  const std::optional<Target> last =
      parse_target(extending("\"cortex-m4\", \"cortex-m55\""), "m.toml", d);
  EXPECT_EQ(last->cpu, "cortex-m55") << "the last named wins";
  const std::optional<Target> cpu =
      parse_target(extending("\"imxrt700cm\"", "backends = [\"cortex_m\"]\n"), "m.toml", d);
  ASSERT_TRUE(cpu) << "an NPU that is inherited may be left out";
  EXPECT_FALSE(cpu->npu);
}

TEST(Target, FaultsOfWhatIsExtendedAreToldWhereTheyLie) {
  EXPECT_THAT(errors_of(extending("\"imxrt70\"")),
              AllOf(HasSubstr("b.toml:3:"), HasSubstr("no target or base `imxrt70`"),
                    HasSubstr("`imxrt700`")));
  EXPECT_THAT(errors_of(extending("3")), HasSubstr("`extends` must be a list of strings"));
  EXPECT_THAT(errors_of(extending("\"none.toml\"")), HasSubstr("there is no such target file"));
  EXPECT_THAT(errors_of(extending("\"imxrt700cm\"", "[npu.limits]\ntpas = 9\n")),
              AllOf(HasSubstr("b.toml:5:"), HasSubstr("did you mean `taps`")));
  EXPECT_THAT(errors_of(extending("\"base-neutron-n3-64\"")), HasSubstr("`cpu` is missing"));
  EXPECT_THAT(errors_of(extending("\"imxrt700cm\"", "base = true\n")), HasSubstr("is a base"));
  EXPECT_THAT(errors_of(extending("\"imxrt700cm\"", "backends = [\"nuetron\", \"cortex_m\"]\n")),
              AllOf(HasSubstr("unknown backend `nuetron`"), HasSubstr("did you mean `neutron`")));
  EXPECT_THAT(errors_of(extending("\"imxrt700cm\"", "backends = [\"cortex_m\", \"neutron\"]\n")),
              HasSubstr("nothing would be left for the NPU"));
  EXPECT_THAT(errors_of(extending("\"imxrt700cm\"", "[options.neutron]\nprefer = \"fast\"\n")),
              HasSubstr("unknown value `fast` of `prefer`"));
  EXPECT_THAT(errors_of(extending("\"cortex-m4\"", "[options.neutron]\nprefer = \"npu\"\n")),
              HasSubstr("no backend of this target uses"));
  EXPECT_THAT(errors_of(extending("\"cortex-m4\"", "[cpu.cost]\n\"*\" = { call = -1 }\n")),
              AllOf(HasSubstr("b.toml:5"), HasSubstr("-1, limit 0")));
  EXPECT_THAT(errors_of(extending("\"cortex-m4\"", "[cpu.cost]\n\"*\" = { cal = 1 }\n")),
              HasSubstr("unknown key `cal`"));
  const std::string folder = temporary_path("extend_test");
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/a.toml") << extending("\"b.toml\"");
  std::ofstream(folder + "/b.toml") << extending("\"a.toml\"");
  std::ofstream(folder + "/old.toml") << "format = 7\nname = \"old\"\n";
  std::ofstream(folder + "/new.toml") << extending("\"old.toml\"");
  Diagnostics d;
  EXPECT_FALSE(find_target(folder + "/a.toml", d));
  EXPECT_FALSE(find_target(folder + "/new.toml", d));
  EXPECT_THAT(d.list()[0].what, HasSubstr("extends itself"));
  EXPECT_THAT(format_diagnostic(d.list()[1]),
              AllOf(HasSubstr("old.toml:1"), HasSubstr("7, limit 1")));
  std::filesystem::remove_all(folder);
}

// Each file takes from the next one twice: read once each, 40 levels are nothing. One after the
// other, they have an end.
TEST(Target, ABaseIsReadOnce) {
  const std::string folder = temporary_path("extend_often");
  std::filesystem::create_directories(folder);
  const auto write = [&](const char* kind, int i, int last, const std::string& times) {
    const std::string next =
        i == last ? "\"cortex-m4\"" : fmt::format("\"{}{}.toml\"", kind, i + 1);
    std::ofstream(fmt::format("{}/{}{}.toml", folder, kind, i))
        << extending(fmt::format(fmt::runtime(times), next));
  };
  for (int i = 0; i <= 40; ++i) write("twice", i, 40, "{0}, {0}");
  for (int i = 0; i <= 80; ++i) write("chain", i, 80, "{0}");
  Diagnostics d;
  const std::optional<Target> target = find_target(folder + "/twice0.toml", d);
  ASSERT_TRUE(target);
  EXPECT_EQ(target->extends.size(), 41u + 1);  // cortex-m4 extends a base
  EXPECT_EQ(target->cpu, "cortex-m4");
  EXPECT_FALSE(find_target(folder + "/chain0.toml", d));
  EXPECT_THAT(format_diagnostic(d.list()[0]),
              AllOf(HasSubstr("chain63.toml:"), HasSubstr("too many files: 65, limit 64")));
  std::filesystem::remove_all(folder);
}

// What a target file lets pass, the driver takes.
TEST(Target, TheMachineIsOneThatTheDriverTakes) {
  for (const MachineKey& key : kMachineKeys) {
    const auto range =
        std::ranges::find(neutron::kMachineRanges, key.field, &neutron::MachineRange::field);
    ASSERT_NE(range, std::end(neutron::kMachineRanges)) << key.name;
    const auto with = [&](i64 v) {
      return extending("\"imxrt700cm\"", fmt::format("[npu.machine]\n{} = {}\n", key.name, v));
    };
    Diagnostics d;
    EXPECT_TRUE(parse_target(with(range->low), "b.toml", d)) << key.name;
    EXPECT_TRUE(parse_target(with(range->high), "b.toml", d)) << key.name;
    EXPECT_THAT(errors_of(with(range->high + i64{1})),
                AllOf(HasSubstr("b.toml:5"), HasSubstr("is too large")))
        << key.name;
    EXPECT_THAT(errors_of(with(range->low - i64{1})), HasSubstr("must be at least")) << key.name;
  }
}

TEST(Target, ABaseIsNoTarget) {
  Diagnostics d;
  EXPECT_FALSE(find_target("base-imxrt700", d));
  EXPECT_THAT(format_diagnostic(d.list()[0]),
              AllOf(HasSubstr("is a base"), HasSubstr("imxrt700cm")));
}

TEST(Target, BackendsThatCannotShareAMemoryAreRefused) {
  const std::string two =
      "[[memory]]\nname = \"dtcm\"\nbytes = 1000\nholds = [\"activations\"]\nreach = [\"cpu\"]\n"
      "[[memory]]\nname = \"tcm\"\nbytes = 1000\nholds = [\"activations\"]\nreach = [\"npu\"]\n";
  EXPECT_THAT(
      errors_of(extending("\"imxrt700cm\"", two)),
      AllOf(HasSubstr("neutron and cortex_m cannot share tensors"),
            HasSubstr("`dtcm` is reached by cpu only"), HasSubstr("`tcm` is reached by npu only"),
            HasSubstr("target.memory.reach"), HasSubstr("b.toml:")));
  EXPECT_THAT(errors_of(extending("\"imxrt700\"", two)), HasSubstr("cannot share"));
  EXPECT_THAT(errors_of(extending("\"cortex-m4\"", replaced(two, "[\"cpu\"]", "[\"gpu\"]"))),
              HasSubstr("unknown processor `gpu`"));
  Diagnostics d;
  EXPECT_THAT(
      errors_of(extending("\"cortex-m4\"", two)),
      AllOf(HasSubstr("`tcm`"), HasSubstr("target.memory.unused"), Not(HasSubstr("cannot share"))));
  EXPECT_TRUE(parse_target(
      extending("\"imxrt700cm\"", replaced(two, "[\"npu\"]", "[\"cpu\", \"npu\"]")), "m.toml", d));
}

TEST(Target, WhatIsShownReadsBackToTheSame) {
  for (const Target& t : builtin_targets()) {
    const std::string text = target_as_toml(t, {"a", "b"});
    Diagnostics d;
    const std::optional<Target> again = parse_target(text, t.file, d);
    ASSERT_TRUE(again) << text << format_diagnostic(d.list().front());
    EXPECT_EQ(again->name, t.name);
    EXPECT_EQ(again->description, t.description);
    EXPECT_EQ(again->backends, t.backends);
    EXPECT_EQ(again->cpu, t.cpu);
    EXPECT_EQ(again->isa, t.isa);
    EXPECT_EQ(again->clock_hz, t.clock_hz);
    EXPECT_EQ(again->memories, t.memories);
    EXPECT_EQ(again->cpu_cost, t.cpu_cost);
    EXPECT_EQ(again->options, t.options);
    EXPECT_TRUE(again->extends.empty());
    ASSERT_EQ(again->npu.has_value(), t.npu.has_value());
    if (t.npu) { EXPECT_EQ(again->npu->machine.clock_hz, t.npu->machine.clock_hz); }
    EXPECT_EQ(target_as_toml(*again, {"a", "b"})
                  .substr(target_as_toml(*again, {"a", "b"}).find("format")),
              text.substr(text.find("format")));
  }
}

TEST(Target, FilesOfTheUserAreReadByPath) {
  const std::string folder = temporary_path("target_test");
  std::filesystem::create_directories(folder + "/d.toml");
  std::ofstream(folder + "/b.toml") << kWhole;
  Diagnostics d;
  EXPECT_EQ(find_target(folder + "/b.toml", d)->name, "board");
  EXPECT_FALSE(d.has_errors());
  EXPECT_FALSE(find_target(folder + "/none.toml", d));
  EXPECT_FALSE(find_target(folder + "/d.toml", d));
  EXPECT_THAT(d.list()[0].what, HasSubstr("no such"));
  EXPECT_THAT(d.list()[1].what, HasSubstr("folder"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace deuteron
