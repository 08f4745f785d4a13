// SPDX-License-Identifier: Apache-2.0
// Writes small programs that load, one for each kind of argument and some real operators, as seeds
// for pte_fuzz: pte_seeds FOLDER.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "npu/neutron/delegate/test_network.h"
#include "runtime/test_program.h"

using namespace deuteron;
using namespace deuteron::test;

namespace {

TestProgram elementwise(const char* op, bool alpha) {
  TestProgram p;
  const int32_t a = p.planned(ScalarType::f32, {2, 3, 5}, 0),
                b = p.constant<float>(ScalarType::f32, {3, 1}, {1, 2, 3});
  const int32_t y = p.planned(ScalarType::f32, {2, 3, 5}, 128);
  p.inputs = {a};
  p.outputs = {y};
  if (alpha) p.call(op, {a, b, p.real(0.5), y});
  else p.call(op, {a, b, y});
  return p;
}

TestProgram cat() {
  TestProgram p;
  const int32_t a = p.planned(ScalarType::s8, {2, 3}, 0), b = p.planned(ScalarType::s8, {2, 4}, 16),
                y = p.planned(ScalarType::s8, {2, 7}, 32);
  p.inputs = {a, b};
  p.outputs = {y};
  p.call("aten::cat", {p.tensor_list({a, b}), p.integer(-1), y});
  return p;
}

TestProgram conv2d() {
  TestProgram p;
  const int32_t x = p.planned(ScalarType::f32, {1, 3, 5, 4}, 0, {0, 2, 3, 1}),
                q = p.planned(ScalarType::s8, {1, 3, 5, 4}, 240, {0, 2, 3, 1});
  p.inputs = {x};
  p.call("cortex_m::quantize_per_tensor",
         {x, p.real(0.02), p.integer(-12), p.integer(-128), p.integer(127), p.integer(1), q});
  const int32_t w = p.constant<int8_t>(ScalarType::s8, {4, 3, 2, 3}, std::vector<int8_t>(72, 3));
  const int32_t bias = p.constant<int32_t>(ScalarType::s32, {4}, {1, -2, 3, -4});
  const int32_t multipliers =
      p.constant<int32_t>(ScalarType::s32, {4}, std::vector<int32_t>(4, 1 << 30));
  const int32_t shifts = p.constant<int32_t>(ScalarType::s32, {4}, {-7, -6, -5, -4});
  const int32_t scratch = p.planned(ScalarType::u8, {80}, 304),
                y = p.planned(ScalarType::s8, {1, 4, 5, 5}, 384, {0, 2, 3, 1});
  const int32_t stride = p.ints({1, 1}), padding = p.ints({1, 1}), dilation = p.ints({1, 1});
  p.call("cortex_m::quantized_conv2d",
         {q, w, bias, stride, padding, dilation, p.integer(12), p.integer(11), multipliers, shifts,
          p.integer(-128), p.integer(127), scratch, y});
  p.outputs = {y};
  p.string("deuteron:isa=scalar");
  return p;
}

TestProgram linear() {
  TestProgram p;
  const int32_t x = p.planned(ScalarType::s8, {2, 6}, 0), y = p.planned(ScalarType::s8, {2, 5}, 16);
  const int32_t w = p.constant<int8_t>(ScalarType::s8, {5, 6}, std::vector<int8_t>(30, -3)),
                b = p.constant<int32_t>(ScalarType::s32, {5}, {1, 2, 3, 4, 5});
  p.inputs = {x};
  p.outputs = {y};
  p.call("cortex_m::quantized_linear",
         {x, w, b, p.none(), p.integer(3), p.integer(0), p.integer(-4), p.ints({1 << 30}),
          p.ints({-6}), p.integer(127), p.integer(-128), y});
  return p;
}

// The same layer with its result in a second buffer, behind which its weights are copied.
TestProgram two_memories() {
  TestProgram p;
  p.buffers.resize(3);
  const int32_t x = p.planned(ScalarType::s8, {2, 6}, 0),
                y = p.planned(ScalarType::s8, {2, 5}, 0, {}, 2);
  const int32_t w = p.constant<int8_t>(ScalarType::s8, {5, 6}, std::vector<int8_t>(30, -3)),
                b = p.constant<int32_t>(ScalarType::s32, {5}, {1, 2, 3, 4, 5});
  p.buffers[2] = 48;
  p.string("deuteron:memories=dtcm,sram");
  p.string("deuteron:copy=2,16,0,30");
  p.inputs = {x};
  p.outputs = {y};
  p.call("cortex_m::quantized_linear",
         {x, w, b, p.none(), p.integer(3), p.integer(0), p.integer(-4), p.ints({1 << 30}),
          p.ints({-6}), p.integer(127), p.integer(-128), y});
  return p;
}

TestProgram split() {
  TestProgram p;
  const int32_t x = p.planned(ScalarType::s8, {1, 6, 4}, 0),
                a = p.planned(ScalarType::s8, {1, 2, 4}, 32),
                b = p.planned(ScalarType::s8, {1, 4, 4}, 48);
  p.inputs = {x};
  p.outputs = {a, b};
  p.call("aten::split_with_sizes_copy", {x, p.ints({2, 4}), p.integer(1), p.tensor_list({a, b})});
  return p;
}

TestProgram clamp() {
  TestProgram p;
  const int32_t x = p.bare(ScalarType::s8, {1, 4, 5, 6}, {0, 2, 3, 1}),
                y = p.bare(ScalarType::s8, {1, 4, 5, 6}, {0, 2, 3, 1});
  p.inputs = {x};
  p.outputs = {y};
  p.call("aten::clamp", {x, p.integer(-7), p.none(), y});
  p.buffers = {0};
  p.has_header = false;
  return p;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: pte_seeds FOLDER\n"), 2;
  std::pair<const char*, TestProgram> seeds[] = {{"add", elementwise("aten::add", true)},
                                                 {"mul", elementwise("aten::mul", false)},
                                                 {"cat", cat()},
                                                 {"conv2d", conv2d()},
                                                 {"linear", linear()},
                                                 {"two_memories", two_memories()},
                                                 {"split", split()},
                                                 {"clamp", clamp()},
                                                 {"neutron", NeutronNetwork(true).p},
                                                 {"neutron_plain", NeutronNetwork(false, 0).p}};
  for (auto& [name, program] : seeds) {
    const auto bytes = program.bytes();
    const Loaded loaded(bytes, kAllKernels);
    if (!loaded.status.ok())
      return std::fprintf(stderr, "seed %s does not load: %s, argument %d\n", name,
                          loaded.status.detail, loaded.status.argument),
             1;
    std::filesystem::path path = std::filesystem::path(argv[1]) / name;
    path += ".pte";
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
    if (!out) return std::fprintf(stderr, "cannot write to %s\n", argv[1]), 1;
  }
  return 0;
}
