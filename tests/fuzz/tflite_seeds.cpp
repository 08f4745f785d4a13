// Writes small .tflite models into a folder, one for each way in which the reader goes on; and copies the files that are given.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tflite/writer.h"

using namespace deuteron;
using namespace deuteron::tflite;

static void write(const std::filesystem::path& path, const std::vector<u8>& bytes) {
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

static std::vector<u8> layers() {
  Writer w;
  auto& b = w.builder();
  const i32 x = w.tensor({1, 4, 4, 2}, 0.5f, 3, "x"), conv = w.tensor({1, 4, 4, 3}, 0.25f, -5, "conv");
  w.op(BuiltinOperator::CONV_2D, {x, w.constant({3, 2, 2, 2}, std::vector<int8_t>(24, 5), {0.1f, 0.2f, 0.3f}), w.constant({1, 2, 3})}, conv,
       BuiltinOptions::Conv2DOptions, CreateConv2DOptions(b, Padding::SAME, 1, 1, ActivationFunctionType::RELU));
  const i32 flat = w.tensor({1, 48}, 0.25f, -5, "flat"), y = w.tensor({1, 2}, 0.5f, 0, "y");
  w.op(BuiltinOperator::RESHAPE, {conv}, flat);
  w.op(BuiltinOperator::FULLY_CONNECTED, {flat, w.constant({2, 48}, std::vector<int8_t>(96, -7), {0.1f})}, y,
       BuiltinOptions::FullyConnectedOptions, CreateFullyConnectedOptions(b));
  return w.finish({x}, {y});
}

static std::vector<u8> moves() {
  Writer w;
  auto& b = w.builder();
  const i32 x = w.tensor({1, 4, 4, 2}, 0.5f, 3, "x"), part = w.tensor({1, 2, 2, 2}, 0.5f, 3, "part"), y = w.tensor({2, 2, 2}, 0.5f, 3, "y");
  w.op(BuiltinOperator::STRIDED_SLICE, {x, w.constant({0, 0, 0, 0}), w.constant({1, 4, 4, 2}), w.constant({1, 2, 2, 1})}, part,
       BuiltinOptions::StridedSliceOptions, CreateStridedSliceOptions(b));
  const i32 turned = w.tensor({2, 2, 2, 1}, 0.5f, 3, "turned");
  w.op(BuiltinOperator::TRANSPOSE, {part, w.constant({3, 1, 2, 0})}, turned);
  w.op(BuiltinOperator::SQUEEZE, {turned}, y);
  return w.finish({x}, {y});
}

int main(int argc, char** argv) {
  const std::filesystem::path folder = argv[1];
  write(folder / "layers.tflite", layers());
  write(folder / "moves.tflite", moves());
  for (int k = 2; k < argc; ++k)
    std::filesystem::copy_file(argv[k], folder / std::to_string(k).append(".tflite"), std::filesystem::copy_options::overwrite_existing);
  return 0;
}
