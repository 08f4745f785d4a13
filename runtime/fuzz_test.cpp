// SPDX-License-Identifier: Apache-2.0
// A short, repeatable fuzz of the loader: files cut at any byte and with bytes or words
// overwritten. Nothing may crash, hang or touch memory outside (run it with the sanitizers); what
// loads must run. tests/fuzz/pte_fuzz.cpp is the long one.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "runtime/test_kernels.h"
#include "runtime/test_program.h"
#include "tests/fuzz/load_and_run.h"
#include "tests/paths.h"

namespace deuteron {
namespace {
using namespace test;
namespace fs = std::filesystem;

using ProgramBytes = std::vector<uint8_t>;

struct Counts {
  int64_t tried = 0, loaded = 0, ran = 0;
  void add(const ProgramBytes& b, const KernelTable& kernels) {
    const Block file(b);  // exactly as long as the file
    const Outcome o = load_and_run(file.file(), kernels);
    ++tried;
    loaded += o != Outcome::refused;
    ran += o == Outcome::ran;
  }
};

// Every length, or about `tries` of them; always the last 64.
void cut(const ProgramBytes& b, const KernelTable& kernels, size_t tries, Counts* c) {
  const size_t stride = std::max<size_t>(1, b.size() / tries);
  for (size_t n = 0; n < b.size(); n += n + 64 >= b.size() ? 1 : stride)
    c->add(ProgramBytes(b.begin(), b.begin() + static_cast<long>(n)), kernels);
}

// Overwrites one to three places; mostly inside the FlatBuffer, where it matters.
void overwrite(const ProgramBytes& b, const KernelTable& kernels, int tries, uint32_t seed,
               Counts* c) {
  std::mt19937 random(seed);
  uint64_t program_size = 0;
  std::memcpy(&program_size, &b[16], 8);
  const size_t inner =
      std::memcmp(&b[8], "eh00", 4) == 0 ? std::min<size_t>(program_size, b.size()) : b.size();
  static constexpr uint32_t kWords[] = {
      0,    1,    2,      3,       4,          8,          16,         0x7f,
      0x80, 0xff, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xfffffffc, 0xffffffff};
  for (int k = 0; k < tries; ++k) {
    ProgramBytes m = b;
    for (auto times = 1 + random() % 3; times > 0; --times) {
      const size_t at = random() % (random() % 8 == 0 ? m.size() : inner);
      switch (random() % 4) {
        case 0:
          m[at] = static_cast<uint8_t>(random());
          break;
        case 1:
          m[at] = static_cast<uint8_t>(m[at] + (random() % 2 ? 1 : -1));
          break;
        default: {
          const size_t word = at & ~size_t{3};
          if (word + 4 > m.size()) break;
          uint32_t v;
          std::memcpy(&v, &m[word], 4);
          v = random() % 3   ? kWords[random() % std::size(kWords)]
              : random() % 2 ? v + 4
                             : v ^ (1u << random() % 32);
          std::memcpy(&m[word], &v, 4);
        }
      }
    }
    c->add(m, kernels);
  }
}

void report(const char* name, const Counts& c) {
  std::printf("%-40s %6lld tried %6lld loaded %6lld ran\n", name, static_cast<long long>(c.tried),
              static_cast<long long>(c.loaded), static_cast<long long>(c.ran));
}

TEST(Fuzz, ProgramsMadeByHand) {
  TestProgram p;
  const int32_t x = p.planned(ScalarType::u8, {2, 3, 5}, 0),
                c = p.constant<uint8_t>(ScalarType::u8, {30}, ProgramBytes(30, 7));
  const int32_t a = p.planned(ScalarType::u8, {30}, 32), s = p.planned(ScalarType::u8, {30}, 64),
                y = p.planned(ScalarType::u8, {5, 6}, 96);
  p.inputs = {x};
  p.outputs = {y, a};
  p.call("test::add", {x, c, a});
  p.call("test::scratch", {a, s, y});
  const int32_t n = p.integer(3), yes = p.boolean(true), r = p.real(1e300),
                list = p.ints({1, 2, 3}), tensors = p.tensor_list({x, a});
  p.call("test::any", {a, p.none(), n, n, r, r, yes, list, list, tensors, p.string("text"), s});
  const ProgramBytes b = p.bytes();
  Counts counts;
  cut(b, kTestKernels, b.size(), &counts);
  EXPECT_EQ(counts.loaded, 0) << "a cut file loaded";
  overwrite(b, kTestKernels, 6000, 1, &counts);
  report("by hand", counts);
  EXPECT_GT(counts.ran, 200) << "so few survive that nothing behind the loader was reached";
}

// All kernels on damaged stock files: what they accept, they run.
TEST(Fuzz, StockPrograms) {
  const fs::path folder = fs::path(shared_path("fixtures/stock"));
  if (!fs::exists(folder))
    GTEST_SKIP() << "left out: " << folder << " is not there, so no stock file was damaged";
  Counts all;
  const auto damage = [&](const fs::path& path, size_t cuts, int tries) {
    std::ifstream in(path, std::ios::binary);
    const ProgramBytes b{std::istreambuf_iterator<char>(in), {}};
    Counts c;
    cut(b, kAllKernels, cuts, &c);
    EXPECT_EQ(c.loaded, 0) << path << " cut short and loaded";
    overwrite(b, kAllKernels, tries, static_cast<uint32_t>(b.size()), &c);
    all.tried += c.tried;
    all.loaded += c.loaded;
    all.ran += c.ran;
  };
  for (const char* name : {"hello_sine.cortex-m3", "digits_cnn.cortex-m55", "resnet8.cortex-m4",
                           "dscnn_kws.cortex-m55"})
    damage(folder / (std::string(name) + ".pte"), 200, 300);
  // One file of each operator: small, so every kernel's arguments get hit.
  for (const auto& e : fs::directory_iterator(folder / "ops"))
    if (e.path().extension() == ".pte" && fs::file_size(e.path()) < 6000) damage(e.path(), 40, 60);
  report("stock files", all);
  EXPECT_GT(all.tried, 5000);
  EXPECT_GT(all.ran, 500);
}

}  // namespace
}  // namespace deuteron
