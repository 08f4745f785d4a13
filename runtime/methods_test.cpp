// SPDX-License-Identifier: Apache-2.0
// Methods of one file by their names. ExecuTorch has made it, with one place for the state of both,
// and no first value there.
#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include "runtime/deuteron.h"
#include "tests/paths.h"

namespace deuteron {
namespace {

struct Methods {
  Methods() {
    std::ifstream in(source_path("tests/carried/methods/state.pte"), std::ios::binary);
    in.read(reinterpret_cast<char*>(file), sizeof file);
    bytes = static_cast<size_t>(in.gcount());
  }
  Status load(Program& program, const char* name) {
    const File one{file, bytes, name};
    Needs needs;
    if (Status s = measure(one, kAllKernels, &needs); !s.ok()) return s;
    const Memory memories[] = {{planned, sizeof planned}, {state, sizeof state}};
    return program.load(one, kAllKernels, {tables, sizeof tables}, memories, 2);
  }
  alignas(16) uint8_t file[4096], planned[96], state[16], tables[2048];
  size_t bytes;
};

// The columns' squares, summed, twice; the sums become the state.
TEST(Methods, RunByName) {
  Methods m;
  Program prefill;
  ASSERT_TRUE(m.load(prefill, "prefill").ok());
  const float x[] = {1, 2, 3, 4, 0, 1, 0, 1, 2, 0, 0, 0};
  ASSERT_TRUE(prefill.set_input(0, x, sizeof x).ok());
  ASSERT_TRUE(prefill.run().ok());
  const auto* y = static_cast<const float*>(prefill.output(0).data);
  EXPECT_EQ(std::vector<float>(y, y + 4), (std::vector<float>{10, 10, 18, 34}));
}

// It reads what only the other method writes, and nothing says that this one has run.
TEST(Methods, DoNotReadWhatAnotherOneWrites) {
  Methods m;
  Program decode;
  EXPECT_STREQ(m.load(decode, "decode").detail,
               "the tensor is read before anything was written to it");
}

TEST(Methods, AreNamed) {
  Methods m;
  Program program;
  for (const char* name : {static_cast<const char*>(nullptr), "deco", "decoder"}) {
    const Status s = m.load(program, name);
    EXPECT_EQ(s.code, Code::unsupported);
    EXPECT_STREQ(s.detail, "the program has no method of this name");
  }
}

}  // namespace
}  // namespace deuteron
