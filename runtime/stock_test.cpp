// SPDX-License-Identifier: Apache-2.0
// Files made by ExecuTorch's own flow run here and give the bits that the stock runtime gave.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "runtime/test_program.h"
#include "tests/paths.h"

namespace deuteron {
namespace {
using namespace test;
namespace fs = std::filesystem;

const fs::path kStock = fs::path(shared_path("fixtures/stock"));

std::vector<uint8_t> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<fs::path> programs_in(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& e : fs::directory_iterator(folder))
    if (e.path().extension() == ".pte") found.push_back(e.path());
  std::sort(found.begin(), found.end());
  return found;
}

// "net.cortex-m55.pte" -> "net"
std::string model_of(const fs::path& program) {
  return program.filename().string().substr(0, program.filename().string().find(".cortex-"));
}

fs::path sample(const fs::path& program, const char* port, int index, int k) {
  return program.parent_path() / (model_of(program) + "." + port + std::to_string(index) + "." +
                                  std::to_string(k) + ".bin");
}

struct Difference {
  int64_t bytes = 0;  // that differ
  double largest = 0;
};

// Runs sample k; false if there is no such sample.
bool run_sample(Program& program, const fs::path& file, int k, Difference* difference) {
  if (!fs::exists(sample(file, "in", 0, k))) return false;
  for (int32_t i = 0; i < program.input_count(); ++i) {
    const auto data = read_file(sample(file, "in", i, k));
    const Status s = program.set_input(i, data.data(), data.size());
    EXPECT_TRUE(s.ok()) << file << ": input " << i << " has " << data.size()
                        << " bytes, the program wants " << s.bytes_needed;
  }
  EXPECT_TRUE(program.run().ok()) << file;
  for (int32_t i = 0; i < program.output_count(); ++i) {
    if (!fs::exists(sample(file, "out", i, k))) continue;
    const auto expected = read_file(sample(file, "out", i, k));
    const Tensor& y = program.output(i);
    const uint32_t bytes = static_cast<uint32_t>(y.numel) * element_bytes(y.type);
    EXPECT_EQ(bytes, expected.size()) << file;
    const uint8_t* got = static_cast<const uint8_t*>(y.data);
    for (uint32_t n = 0; n < bytes && n < expected.size(); ++n)
      difference->bytes += got[n] != expected[n];
    if (y.type != ScalarType::f32) continue;
    for (int32_t n = 0; n < y.numel; ++n) {
      float want;
      std::memcpy(&want, &expected[static_cast<size_t>(n) * 4], 4);
      difference->largest =
          std::max(difference->largest,
                   std::fabs(double{want} - double{static_cast<const float*>(y.data)[n]}));
    }
  }
  return true;
}

// Largest distance of output i from the float model's own output, which lies in logical order
// beside the operator's `.pt2`. `values` are in the order of the tensor's memory.
double error_against_float(const Tensor& y, const float* values, const fs::path& expected) {
  const auto bytes = read_file(expected);
  if (bytes.size() != static_cast<size_t>(y.numel) * 4) return -1;
  double largest = 0;
  for (int32_t i = 0; i < y.numel; ++i) {  // i: logical
    std::vector<int32_t> index(y.rank);
    for (int32_t d = y.rank - 1, left = i; d >= 0; --d)
      index[static_cast<size_t>(d)] = left % y.sizes[d], left /= y.sizes[d];
    int32_t at = 0;
    for (int d = 0; d < y.rank; ++d) at = at * y.sizes[y.dim_order[d]] + index[y.dim_order[d]];
    float want;
    std::memcpy(&want, &bytes[static_cast<size_t>(i) * 4], 4);
    largest = std::max(largest, std::fabs(double{want} - double{values[at]}));
  }
  return largest;
}

TEST(Stock, EveryModelGivesTheStockBits) {
  if (!fs::exists(kStock))
    GTEST_SKIP() << "left out: " << kStock << " is not there, so no stock model was run";
  int programs = 0, samples = 0;
  for (const fs::path& path : programs_in(kStock)) {
    Loaded l(read_file(path), kAllKernels);
    EXPECT_TRUE(l.status.ok()) << path.filename() << ": " << name_of(l.status.code) << ", "
                               << (l.status.op ? l.status.op : "") << ": " << l.status.detail
                               << ", instruction " << l.status.instruction << ", argument "
                               << l.status.argument;
    if (!l.status.ok()) continue;
    ++programs;
    for (int k = 0;; ++k) {
      Difference d;
      if (!run_sample(l.program, path, k, &d)) break;
      ++samples;
      EXPECT_EQ(d.bytes, 0) << path.filename() << " sample " << k
                            << ": bytes that differ; largest difference " << d.largest;
    }
  }
  std::printf("%d stock programs, %d samples\n", programs, samples);
  EXPECT_GE(programs, 21);
  EXPECT_EQ(samples, 4 * programs);
}

// Single operators: the stock bits, or, where the stock kernels are known to be wrong, results
// nearer to the float model's.
TEST(Stock, SingleOperators) {
  if (!fs::exists(kStock / "ops"))
    GTEST_SKIP() << "left out: " << kStock / "ops"
                 << " is not there, so no stock operator was run";
  // Layouts: stock portable cat and broadcasting add and mul, and stock cortex_m::transpose, take
  // memory in another order than it is in.
  const std::set<std::string> wrong_in_stock = {"add_bcast_channel", "cat_ch", "mul_bcast_const",
                                                "permute_nchw_nhwc", "se_block"};
  int same = 0;
  for (const fs::path& path : programs_in(kStock / "ops")) {
    const std::string name = model_of(path);
    Loaded l(read_file(path), kAllKernels);
    EXPECT_TRUE(l.status.ok()) << name << ": " << name_of(l.status.code) << " "
                               << (l.status.op ? l.status.op : "") << ": " << l.status.detail;
    if (!l.status.ok()) continue;
    Difference d;
    if (!run_sample(l.program, path, 0, &d)) continue;
    if (d.bytes == 0) {
      ++same;
      continue;
    }
    const auto stock = read_file(sample(path, "out", 0, 0));
    const fs::path expected = kStock.parent_path() / "ops" / (name + ".out0.bin");
    const Tensor& y = l.program.output(0);
    const double ours = error_against_float(y, static_cast<const float*>(y.data), expected);
    std::vector<float> theirs(static_cast<size_t>(y.numel));
    std::memcpy(theirs.data(), stock.data(), theirs.size() * 4);
    const double stock_error = error_against_float(y, theirs.data(), expected);
    std::printf("%s: largest error against the float model %g, of the stock runtime %g\n",
                name.c_str(), ours, stock_error);
    EXPECT_TRUE(wrong_in_stock.count(name)) << name << ": " << d.bytes << " bytes differ";
    EXPECT_GE(ours, 0) << name;
    EXPECT_LT(ours, stock_error) << name;
  }
  std::printf("%d single operators give the stock bits\n", same);
  EXPECT_GE(same, 140);
}

// The memory that stock files need here: the tables stay well below the stock method allocator on a
// machine of the same word size (17 600 bytes on a 64-bit host for 18 instructions and 306 values).
TEST(Stock, TablesAreSmall) {
  const fs::path path = kStock / "resnet8.cortex-m55.pte";
  if (!fs::exists(path)) GTEST_SKIP() << "left out: " << path << " is not there";
  Loaded l(read_file(path), kAllKernels);
  ASSERT_TRUE(l.status.ok()) << l.status.detail;
  EXPECT_EQ(l.needs.planned_bytes, 50192u);
  std::printf("resnet8: %u bytes of tables\n", l.needs.tables_bytes);
  EXPECT_LT(l.needs.tables_bytes, 8000u);
}

}  // namespace
}  // namespace deuteron
