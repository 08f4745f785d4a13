// SPDX-License-Identifier: Apache-2.0
// Load plans: the calls they come to are those of the file; damaged ones are not used, forged ones stay inside their memory.
#include "emit/load_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "runtime/load_plan.h"
#include "runtime/test_program.h"
#include "tests/fuzz/run_load_plan.h"
#include "tests/paths.h"

namespace deuteron {
namespace {
namespace fs = std::filesystem;
using test::Block;
using Bytes = std::vector<uint8_t>;

Isa isa_of_name(const std::string& name) {
  if (name.find("cortex-m55") != name.npos) return Isa::mve;
  return name.find("cortex-m4") != name.npos || name.find("cortex-m33") != name.npos ? Isa::dsp : Isa::scalar;
}

struct Planned {
  std::string name;
  Bytes file;
  size_t plan_at;
};

// The fuzzer's kept inputs that have a sound plan: stock files have no ready calls.
void add_kept_inputs(std::vector<Planned>& found) {
  for (const auto& e : fs::directory_iterator(source_path("tests/fuzz/corpus/load_plan"))) {
    std::ifstream in(e.path(), std::ios::binary);
    Planned p{e.path().filename(), Bytes{std::istreambuf_iterator<char>(in), {}}, 0};
    if (e.path().extension().string().rfind(".cortex-", 0) != 0 || !has_load_plan(p.file)) continue;  // others are found faults
    LoadPlanEnd end;
    std::memcpy(&end, &p.file[p.file.size() - sizeof end], sizeof end);
    p.plan_at = p.file.size() - end.bytes;
    found.push_back(std::move(p));
  }
}

// All stock files, and those that the environment names, that a plan can hold, and the kept inputs.
std::vector<Planned> programs() {
  std::vector<Planned> found;
  add_kept_inputs(found);
  std::vector<fs::path> folders = {shared_path("fixtures/stock"), shared_path("fixtures/stock/ops")};
  if (const char* more = std::getenv("DEUTERON_PROGRAMS")) folders.emplace_back(more);
  for (const fs::path& folder : folders) {
    if (!fs::exists(folder)) continue;
    for (const auto& e : fs::directory_iterator(folder)) {
      if (e.path().extension() != ".pte") continue;
      std::ifstream in(e.path(), std::ios::binary);
      Planned p{e.path().filename(), Bytes{std::istreambuf_iterator<char>(in), {}}, 0};
      p.plan_at = (p.file.size() + 15) / 16 * 16;
      if (add_load_plan(p.file, isa_of_name(p.name), kAllKernels) == nullptr) found.push_back(std::move(p));
    }
  }
  return found;
}

struct Loaded {
  Block file, tables, planned;
  Program program;
  bool ok = false;
};
void load(const Bytes& bytes, uint32_t tables_bytes, uint32_t planned_bytes, Loaded* l) {
  l->file = Block(bytes), l->tables = Block(tables_bytes), l->planned = Block(planned_bytes, 0);
  l->ok = l->program.load(l->file.file(), kAllKernels, l->tables.memory(), l->planned.memory()).ok();
}

size_t offset_in(const Loaded& l, const Tensor& t) {
  if (!t.data) return 0;
  return static_cast<size_t>(static_cast<const uint8_t*>(t.data) - (t.constant ? l.file : l.planned).data());
}

void expect_same(const Loaded& a, const Tensor& x, const Loaded& b, const Tensor& y) {
  ASSERT_EQ(x.rank, y.rank);
  EXPECT_TRUE(x.type == y.type && x.numel == y.numel && x.constant == y.constant && (x.data == nullptr) == (y.data == nullptr));
  EXPECT_EQ(offset_in(a, x), offset_in(b, y));
  for (int i = 0; i < x.rank; ++i) EXPECT_TRUE(x.sizes[i] == y.sizes[i] && x.dim_order[i] == y.dim_order[i]);
}

void expect_same(const Loaded& a, const Value& x, const Loaded& b, const Value& y) {
  ASSERT_EQ(x.kind, y.kind);
  if (x.kind == Kind::integer) { EXPECT_EQ(x.integer, y.integer); }
  if (x.kind == Kind::real) { EXPECT_EQ(std::memcmp(&x.real, &y.real, sizeof x.real), 0); }
  if (x.kind == Kind::boolean) { EXPECT_EQ(x.boolean, y.boolean); }
  if (x.kind == Kind::tensor) expect_same(a, *x.tensor, b, *y.tensor);
  if (x.kind != Kind::int_list && x.kind != Kind::tensor_list) return;
  ASSERT_EQ(x.list.count, y.list.count);
  for (int32_t i = 0; x.kind == Kind::int_list && i < x.list.count; ++i) EXPECT_EQ(x.list.integer(i), y.list.integer(i));
  for (int32_t i = 0; x.kind == Kind::tensor_list && i < x.list.count; ++i) expect_same(a, *x.list.items[i], b, *y.list.items[i]);
}

// A ready call has the tensors of the call, as bytes.
void expect_same_operands(const Loaded& a, const Program::Step& x, const Loaded& b, const Program::Step& y) {
  std::vector<const Tensor*> tensors;
  for (int32_t i = 0; i < y.count; ++i)
    if (y.args[i]->kind == Kind::tensor) tensors.push_back(y.args[i]->tensor);
  ASSERT_EQ(static_cast<size_t>(x.count), tensors.size());
  for (int32_t i = 0; i < x.count; ++i) {
    const Tensor &is = *x.args[i]->tensor, &was = *tensors[static_cast<size_t>(i)];
    EXPECT_EQ(offset_in(a, is), offset_in(b, was));
    EXPECT_EQ(static_cast<uint32_t>(is.numel), static_cast<uint32_t>(was.numel) * element_bytes(was.type));
    EXPECT_EQ(is.constant, was.constant);
  }
}

Bytes run(const Loaded& l) {
  std::mt19937 random(7);
  for (int32_t i = 0; i < l.program.input_count(); ++i) {
    const Tensor& x = l.program.input(i);
    auto* data = static_cast<uint8_t*>(x.data);
    for (size_t k = 0; k < static_cast<size_t>(x.numel) * element_bytes(x.type); ++k) data[k] = static_cast<uint8_t>(random());
  }
  EXPECT_TRUE(l.program.run().ok());
  Bytes outputs;
  for (int32_t i = 0; i < l.program.output_count(); ++i) {
    const Tensor& y = l.program.output(i);
    const auto* data = static_cast<const uint8_t*>(y.data);
    if (y.numel > 0) outputs.insert(outputs.end(), data, data + static_cast<size_t>(y.numel) * element_bytes(y.type));
  }
  return outputs;
}

TEST(LoadPlan, HasTheCallsOfTheFile) {
  const std::vector<Planned> all = programs();
  if (all.empty()) GTEST_SKIP() << "left out: there are no stock files, so no plan was compared";
  EXPECT_GT(all.size(), 80u);
  size_t calls = 0, ready = 0;
  for (const Planned& p : all) {
    SCOPED_TRACE(p.name);
    Bytes damaged = p.file;
    damaged[p.plan_at + offsetof(LoadPlanHeader, hash)] ^= 1;
    const Block file(p.file);
    ASSERT_NE(find_load_plan(file.file()), nullptr);
    Needs needs;
    ASSERT_TRUE(measure(file.file(), kAllKernels, &needs).ok());
    Loaded a, b;
    load(p.file, needs.tables_bytes, needs.planned_bytes, &a);
    load(damaged, needs.tables_bytes, needs.planned_bytes, &b);
    ASSERT_TRUE(a.ok && b.ok);
    EXPECT_EQ(find_load_plan(b.file.file()), nullptr);
    ASSERT_EQ(a.program.instruction_count(), b.program.instruction_count());
    for (int32_t k = 0; k < a.program.instruction_count(); ++k, ++calls) {
      const CallName name = a.program.name_of_call(k), want = b.program.name_of_call(k);
      EXPECT_STREQ(name.op, want.op);
      EXPECT_STREQ(name.overload, want.overload);
      const Program::Step x = a.program.step(k), y = b.program.step(k);
      if (x.ready) {
        expect_same_operands(a, x, b, y);
        ++ready;
        continue;
      }
      ASSERT_EQ(x.count, y.count);
      for (int32_t i = 0; i < x.count; ++i) expect_same(a, *x.args[i], b, *y.args[i]);
    }
    EXPECT_EQ(run(a), run(b));
    // From its plan it takes what it says, and no more; a file says nothing.
    EXPECT_EQ(b.program.load_plan_tables_bytes(), 0u);
    const uint32_t taken = a.program.load_plan_tables_bytes();
    EXPECT_LE(taken, needs.tables_bytes);
    Loaded fits, short_of_16;
    load(p.file, taken, needs.planned_bytes, &fits);
    load(p.file, taken - 16, needs.planned_bytes, &short_of_16);
    EXPECT_TRUE(fits.ok && !short_of_16.ok);
  }
  EXPECT_GE(ready, 3u);
  std::printf("%zu programs, %zu calls the same, %zu of them ready\n", all.size(), calls, ready);
}

TEST(LoadPlan, IsNotUsedWhenOneByteDiffersOrOneIsMissing) {
  const std::vector<Planned> all = programs();
  if (all.empty()) GTEST_SKIP() << "left out: there are no stock files, so no plan was damaged";
  std::mt19937 random(11);
  for (const Planned& p : all)
    for (int times = 0; times < 40; ++times) {
      Bytes b = p.file;
      const size_t at = p.plan_at + random() % (b.size() - p.plan_at);
      if (times % 2) b[at] = static_cast<uint8_t>(b[at] ^ (1 + random() % 255));
      else b.resize(at);
      const Block file(b);
      EXPECT_EQ(find_load_plan(file.file()), nullptr) << p.name << " at " << at;
    }
}

// The programs with the shortest files: whole models of a few calls.
std::vector<Planned> shortest(size_t count) {
  std::vector<Planned> all = programs();
  std::sort(all.begin(), all.end(), [](const Planned& a, const Planned& b) { return a.file.size() < b.file.size(); });
  all.resize(std::min(count, all.size()));
  return all;
}

TEST(LoadPlan, IsNotUsedWhenAnyOfItsBytesDiffers) {
  const std::vector<Planned> all = shortest(8);
  if (all.empty()) GTEST_SKIP() << "left out: there are no stock files, so no plan was damaged";
  for (const Planned& p : all) {
    Block file(p.file);
    for (size_t at = p.plan_at; at < p.file.size(); ++at)
      for (const uint8_t change : std::initializer_list<uint8_t>{0x01, 0x10, 0x80, 0xff}) {
        file.data()[at] ^= change;
        EXPECT_EQ(find_load_plan(file.file()), nullptr) << p.name << " at " << at;
        file.data()[at] ^= change;
      }
    EXPECT_NE(find_load_plan(file.file()), nullptr) << p.name;
  }
}

// Each byte in turn, and the hash made right again: what loads then runs inside its memory.
TEST(LoadPlan, StaysInItsMemoryWhateverOneByteSays) {
  std::vector<Planned> all = shortest(6);
  for (Planned& p : programs())  // whose convolutions are ready calls
    if (p.name.rfind("ready.", 0) == 0) all.push_back(std::move(p));
  ASSERT_FALSE(all.empty());
  int64_t tried = 0, ran = 0;
  for (const Planned& p : all)
    for (size_t at = p.plan_at + offsetof(LoadPlanHeader, planned_bytes); at + sizeof(LoadPlanEnd) < p.file.size(); ++at)
      for (const uint8_t change : std::initializer_list<uint8_t>{0x01, 0x10, 0x80, 0xff}) {
        Bytes b = p.file;
        b[at] ^= change;
        ASSERT_TRUE(test::sign_load_plan(b));
        ran += test::load_and_run_plan(b, kAllKernels) == test::FromPlan::ran;
        ++tried;
      }
  std::printf("%lld forged, %lld ran\n", static_cast<long long>(tried), static_cast<long long>(ran));
  EXPECT_GT(ran, tried / 40) << "so few survive that nothing behind the loader was reached";
}

// The fuzzer makes a kept input's hash right, but not its layout: when that changes, compile the inputs again (docs/fuzzing.md).
TEST(LoadPlan, OfTheFuzzersKeptInputsIsReadAndRuns) {
  int ran = 0;
  for (const auto& e : fs::directory_iterator(source_path("tests/fuzz/corpus/load_plan"))) {
    std::ifstream in(e.path(), std::ios::binary);
    Bytes b{std::istreambuf_iterator<char>(in), {}};
    ran += test::sign_load_plan(b) && test::load_and_run_plan(b, kAllKernels) == test::FromPlan::ran;
  }
  EXPECT_GE(ran, 8) << "of another layout than the loader's: then every change of them is refused at once";
}

// A plan finds kernels by these numbers.
TEST(LoadPlan, NoTwoKernelsHaveTheSameNumber) {
  std::map<uint32_t, const char*> names;
  for (int32_t i = 0; i < kAllKernels.count; ++i) {
    const Kernel& k = *kAllKernels.kernels[i];
    const auto [at, added] = names.emplace(k.id, k.name);
    EXPECT_TRUE(added) << k.name << " and " << at->second;
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(kAllKernels.count));
}

// The port of the only input names the output's tensor, which lies elsewhere: then nothing writes what the first call reads.
TEST(LoadPlan, IsNotUsedWhenWhatIsReadWasNotWritten) {
  const std::vector<Planned> all = programs();
  if (all.empty()) GTEST_SKIP() << "left out: there are no stock files, so no plan was forged";
  size_t forged = 0;
  for (const Planned& p : all) {
    LoadPlanHeader h;
    std::memcpy(&h, &p.file[p.plan_at], sizeof h);
    Bytes b = p.file;
    ASSERT_TRUE(test::sign_load_plan(b));
    Loaded sound, other;
    load(b, 1 << 20, h.planned_bytes, &sound);
    ASSERT_TRUE(sound.ok) << p.name;
    const Tensor &x = sound.program.input(0), &y = sound.program.output(0);
    const size_t x_at = offset_in(sound, x), x_end = x_at + static_cast<size_t>(x.numel) * element_bytes(x.type);
    const size_t y_at = offset_in(sound, y), y_end = y_at + static_cast<size_t>(y.numel) * element_bytes(y.type);
    if (h.inputs != 1 || y.constant || (y_at <= x_at && x_end <= y_end)) continue;
    const size_t ports = p.plan_at + h.ports_at;
    std::memcpy(&b[ports], &b[ports + 2], 2);
    ASSERT_TRUE(test::sign_load_plan(b));
    load(b, 1 << 20, h.planned_bytes, &other);
    EXPECT_FALSE(other.ok) << p.name;
    ++forged;
  }
  EXPECT_GT(forged, 20u);
  std::printf("%zu forged\n", forged);
}

// The plan with these changes and a right hash; whether it loads.
bool loads_forged(const Planned& p, const LoadPlanHeader& h, const Bytes& changed) {
  Bytes b = changed;
  std::memcpy(&b[p.plan_at], &h, sizeof h);
  EXPECT_TRUE(test::sign_load_plan(b));
  Loaded l;
  load(b, 1 << 20, h.planned_bytes, &l);
  return l.ok;
}

// Kernels index by the order of a tensor's dimensions: each of its bytes has to be that of a dimension, at every rank.
TEST(LoadPlan, IsNotUsedWhenAnOrderIsNone) {
  const std::vector<Planned> all = programs();
  if (all.empty()) GTEST_SKIP() << "left out: there are no stock files, so no plan was forged";
  std::map<int, size_t> forged;  // by rank
  for (const Planned& p : all) {
    LoadPlanHeader h;
    std::memcpy(&h, &p.file[p.plan_at], sizeof h);
    ASSERT_TRUE(loads_forged(p, h, p.file)) << p.name;
    const size_t tensor_bytes = 4 * load_plan_tensor_words(h.most_rank);
    for (size_t t = 0; t < h.tensors; ++t) {
      const size_t at = p.plan_at + h.tensors_at + t * tensor_bytes;
      LoadPlanTensor tensor;
      std::memcpy(&tensor, &p.file[at], sizeof tensor);
      for (size_t k = 0; k < tensor.rank; ++k) {
        Bytes b = p.file;
        b[at + sizeof tensor + size_t{4} * h.most_rank + k] = tensor.rank;
        EXPECT_FALSE(loads_forged(p, h, b)) << p.name << ", tensor " << t << " of rank " << int{tensor.rank} << ", dimension " << k;
        ++forged[tensor.rank];
      }
      if (tensor.rank < 2) continue;
      Bytes b = p.file;  // a dimension twice
      std::fill_n(&b[at + sizeof tensor + size_t{4} * h.most_rank], tensor.rank, uint8_t{0});
      EXPECT_FALSE(loads_forged(p, h, b)) << p.name << ", tensor " << t << " of rank " << int{tensor.rank};
    }
  }
  for (const int rank : {1, 2, 3, 4, 5}) EXPECT_GT(forged[rank], 0u) << rank;
}

// The tensors of a list take values from behind those of the arguments: where there is no room for both the plan is refused.
TEST(LoadPlan, IsNotUsedWhenListsHaveNoRoomBesideArguments) {
  size_t forged = 0;
  for (const Planned& p : programs()) {
    LoadPlanHeader h;
    std::memcpy(&h, &p.file[p.plan_at], sizeof h);
    if (h.most_values <= h.most_args) continue;  // a call with a list is not the one that takes most
    LoadPlanHeader less = h;
    less.most_values = static_cast<uint16_t>(h.most_values - 1);
    EXPECT_FALSE(loads_forged(p, less, p.file)) << p.name;
    ++forged;
  }
  EXPECT_GT(forged, 0u);
}

// Words of the plan replaced, and the hash made right again: what loads then must run inside its memory, whatever it computes.
TEST(LoadPlan, StaysInItsMemoryWhenForged) {
  const std::vector<Planned> all = programs();
  if (all.empty()) GTEST_SKIP() << "left out: there are no stock files, so no plan was forged";
  static constexpr uint32_t kWords[] = {0,     1,     2,       3,          4,          5,          7,          8,
                                        15,    16,    0x13,    0x7f,       0xff,       0x100,      1000,       16384,
                                        32768, 65535, 0x10000, 0x7ffffff4, 0x7fffffff, 0x80000000, 0xfffffffc, 0xffffffff};
  std::mt19937 random(13);
  int64_t tried = 0, loaded = 0, ran = 0;
  const char* asked = std::getenv("DEUTERON_FORGED");
  const int64_t tries = asked ? std::atoll(asked) : 6000;
  while (tried < tries) {
    const Planned& p = all[random() % all.size()];
    if (p.file.size() > 60000) continue;
    Bytes b = p.file;
    for (auto times = 1 + random() % 3; times > 0; --times) {
      const size_t word = (p.plan_at + 20 + random() % (b.size() - p.plan_at - 28)) & ~size_t{3};
      uint32_t v;
      std::memcpy(&v, &b[word], 4);
      switch (random() % 6) {
        case 0:
          v = kWords[random() % std::size(kWords)];
          break;
        case 1:
          v = (v & 15) | kWords[random() % std::size(kWords)] << 4;
          break;
        case 2:
          v ^= 1u << random() % 32;
          break;
        case 3:  // of another place: a tensor's, a shape's, an argument's
          std::memcpy(&v, &b[(p.plan_at + random() % (b.size() - p.plan_at - 4)) & ~size_t{3}], 4);
          break;
        default:
          v += random() % 2 ? 16 : static_cast<uint32_t>(-16);
      }
      std::memcpy(&b[word], &v, 4);
    }
    ASSERT_TRUE(test::sign_load_plan(b));
    const test::FromPlan result = test::load_and_run_plan(b, kAllKernels);
    ++tried;
    loaded += result != test::FromPlan::refused;
    ran += result == test::FromPlan::ran;
  }
  std::printf("%lld forged, %lld loaded, %lld ran\n", static_cast<long long>(tried), static_cast<long long>(loaded),
              static_cast<long long>(ran));
  EXPECT_GT(ran, tried / 40) << "so few survive that nothing behind the loader was reached";
}

}  // namespace
}  // namespace deuteron
