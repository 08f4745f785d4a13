// SPDX-License-Identifier: Apache-2.0
// Firmware for the runner of MLPerf Tiny: the model as C, and its serial protocol
// (write/firmware/mlperf_tiny/). Which benchmark it is follows from the sizes of the model's ports.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "write/firmware/c_package.h"
#include "write/firmware/c_wake_word.h"

namespace deuteron {
namespace {

// What the runner sends, and what becomes of it: mlcommons/tiny 1afd2c9,
// benchmark/reference_submissions/*/submitter_implemented.cpp, th_load_tensor.
enum class Data : uint8_t { pixels, steps, floats, audio };
struct Benchmark {
  std::string_view version, what;
  int64_t inputs, outputs;
  Data data;
  float scale = 0;  // of the steps that the runner's bytes are, of pixels after 128 is taken away
  int32_t zero = 0;
};
constexpr Benchmark kBenchmarks[] = {
    {"ic01", "image classification", 32 * 32 * 3, 10, Data::pixels, 1, -128},
    {"vww01", "visual wake words", 96 * 96 * 3, 2, Data::pixels, 1 / 255.0f, -128},
    {"kws01", "keyword spotting", 49 * 10, 12, Data::steps, 0.5847029f, 83},
    {"ad01", "anomaly detection", 640, 640, Data::floats},
    {"sww01", "streaming wake word", 30 * 40, 3, Data::audio},
    {"sww01", "streaming wake word", 40, 3, Data::audio},  // compiled with --stream 1
};
constexpr int kAudioBytes = 1024;  // of 32 ms
constexpr std::string_view kFolder = "write/firmware/mlperf_tiny/";

int64_t elements_of(const CPort& port) {
  int64_t n = 1;
  for (const int32_t size : port.sizes) n *= size;
  return n;
}

const Benchmark* benchmark_of(const CProgram& p) {
  if (p.inputs.size() != 1 || p.outputs.size() != 1) return nullptr;
  const auto found = std::ranges::find_if(kBenchmarks, [&](const Benchmark& b) {
    return b.inputs == elements_of(p.inputs[0]) && b.outputs == elements_of(p.outputs[0]);
  });
  return found == std::end(kBenchmarks) ? nullptr : &*found;
}

bool has_steps(const CPort& port) { return port.type == ScalarType::s8 && port.scale; }

// Its output is compared with a step of the reference's.
std::string wake_word_complaint(const CProgram& p) {
  const CPort &input = p.inputs[0], &output = p.outputs[0];
  if (elements_of(input) == 40 && p.states.empty())
    return "it is given 32 ms and keeps nothing of those before: --stream 1 makes such a program";
  if (!has_steps(input)) return "its input is not int8 with known steps";
  if (!has_steps(output) || *output.scale != 1 / 256.0f || output.zero != -128)
    return "its output does not have the reference's steps: int8, scale 1/256, zero point -128";
  return {};
}

// What the runner sends is made for the steps of the benchmark's own model.
bool takes_its_bytes(const Benchmark& b, const CPort& input) {
  if (b.data == Data::floats) return input.type == ScalarType::f32 || has_steps(input);
  if (b.data == Data::pixels && input.type == ScalarType::u8) return true;
  return has_steps(input) && input.zero == b.zero && std::abs(*input.scale / b.scale - 1) < 1e-3f;
}

int64_t data_bytes(const Benchmark& b) {
  if (b.data == Data::audio) return kAudioBytes;
  return b.inputs * (b.data == Data::floats ? 4 : 1);
}

// Element k of the input, of the bytes or numbers that the runner has sent.
std::string input_step(const Benchmark& b, const CPort& input) {
  if (b.data == Data::pixels)
    return input.type == ScalarType::u8 ? "(data).bytes[k]" : "(int8_t)((data).bytes[k] ^ 0x80)";
  if (b.data == Data::steps) return "(int8_t)(data).bytes[k]";
  return input.type == ScalarType::f32 ? "(data).numbers[k]" : "model_step((data).numbers[k])";
}

std::string model_header(const CProgram& p) {
  const Benchmark& b = *benchmark_of(p);
  const std::string name = c_macro(p.name);
  const CPort &input = p.inputs[0], &output = p.outputs[0];
  std::string text = fmt::format(
      "/* {0} as the benchmark {1}. */\n#include \"{2}.h\"\n\n#define MODEL_VERSION \"{3}\"\n"
      "#define MODEL_COMMAND_BYTES {11}\n#define MODEL_IS_AUTOENCODER {4}\n#define "
      "MODEL_DATA_BYTES {5}\n"
      "#define MODEL_ARENA_BYTES {6}_ARENA_BYTES\n#define MODEL_INPUT_ELEMENTS {7}\n"
      "#define MODEL_OUTPUT_ELEMENTS {8}\n#define MODEL_RUN {2}_run\n"
      "#define MODEL_STRUCT(what) {2}_##what\ntypedef {9} model_input;\ntypedef {10} "
      "model_output;\n",
      p.name, b.what, p.name, b.version, b.data == Data::floats ? 1 : 0, data_bytes(b), name,
      b.inputs, b.outputs, c_type(input.type), c_type(output.type),
      b.data == Data::audio ? 1028 : 80);
  if (b.data == Data::audio)
    return text + fmt::format("#define MODEL_RESET(arena) {}\n",
                              p.states.empty() ? "(void)(arena)" : p.name + "_reset_state(arena)");
  if (b.data == Data::floats && input.type == ScalarType::s8)
    text += fmt::format(
        "static inline int8_t model_step(float v) {{\n  const float steps = v / {0}_INPUT0_SCALE, "
        "whole = steps + (float){0}_INPUT0_ZERO_POINT;\n  return whole >= 127 ? 127 : whole <= "
        "-128 ? -128 : (int8_t)((int)(steps + (steps < 0 ? -0.5f : 0.5f)) + "
        "{0}_INPUT0_ZERO_POINT);\n}}\n",
        name);
  text += fmt::format("#define MODEL_INPUT_STEP(data, k) ({})\n", input_step(b, input));
  text += output.type == ScalarType::f32
              ? "#define MODEL_OUTPUT_VALUE(v) (v)\n"
              : fmt::format(
                    "#define MODEL_OUTPUT_VALUE(v) ({0}_OUTPUT0_SCALE * (float)((v) - "
                    "{0}_OUTPUT0_ZERO_POINT))\n",
                    name);
  return text;
}

std::string benchmark_lists(const COutput& o, const PackageFiles& files) {
  std::string sources;
  for (const auto& [path, content] : files)
    if (path.ends_with(".c") || path.ends_with(".cpp") || path.ends_with(".S"))
      sources += "\n  " + path;
  return fmt::format(
      "# Made by deuteron {}. Add your board: a target with main(), that links mlperf_tiny.\n"
      "cmake_minimum_required(VERSION 3.16)\nproject(mlperf_tiny LANGUAGES C CXX ASM)\n"
      "add_library(mlperf_tiny STATIC{})\ntarget_include_directories(mlperf_tiny PUBLIC src)\n"
      "set_target_properties(mlperf_tiny PROPERTIES C_STANDARD 99 CXX_STANDARD 17)\n"
      "target_compile_options(mlperf_tiny PRIVATE {} -O3 -ffunction-sections -fdata-sections "
      "-ffp-contract=off -fno-math-errno\n  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions> "
      "$<$<COMPILE_LANGUAGE:CXX>:-fno-rtti> "
      "$<$<COMPILE_LANGUAGE:CXX>:-fno-threadsafe-statics>)\n",
      o.version, sources, o.flags);
}

std::string benchmark_readme(const COutput& o) {
  const CProgram& p = o.programs.front();
  const bool hears = benchmark_of(p)->data == Data::audio;
  return fmt::format(
      "# {0}\n\nMLPerf Tiny, {1} (`{2}`): the model and the protocol of the benchmark's runner, "
      "made by `deuteron` {3}{4}. Your board adds the {6} of `src/mlperf_tiny.h` and calls "
      "`mlperf_tiny_serve()`{7}.\n\n{5}\nThe runner is "
      "`benchmark/runner` of [mlcommons/tiny](https://github.com/mlcommons/tiny).\n",
      p.name, benchmark_of(p)->what, benchmark_of(p)->version, o.version,
      o.isa.empty() ? " for a computer" : fmt::format(" for {}: `{}`", o.target, o.flags),
      package_models(o), hears ? "six functions" : "three functions",
      hears ? ". `stop` prints the result of each step: a byte of RAM for each of "
              "`MLPERF_TINY_STEPS`, 40 000 by default"
            : "; with `-DMLPERF_TINY_ENERGY` one more");
}

}  // namespace

std::string mlperf_tiny_complaint(const COutput& o) {
  const CProgram& p = o.programs.front();
  if (o.programs.size() > 1) return "the benchmark runs one model";
  if (p.name.starts_with("mlperf_tiny"))
    return "its files would be called as the benchmark's own: call it otherwise";
  const Benchmark* b = benchmark_of(p);
  if (!b)
    return "its sizes are not those of image classification (3072 to 10), visual wake words (27648 "
           "to 2), keyword spotting (490 to 12), anomaly detection (640 to 640) or streaming wake "
           "word (1200 to 3; with --stream 1 40 to 3)";
  if (b->data == Data::audio) return wake_word_complaint(p);
  if (!takes_its_bytes(*b, p.inputs[0]))
    return fmt::format(
        "its input does not have the steps in which the runner sends data: int8, "
        "scale {:.6g}, zero point {}",
        b->scale, b->zero);
  const CPort& output = p.outputs[0];
  if (output.type != ScalarType::f32 && !has_steps(output))
    return "nothing says what the steps of its output stand for";
  return {};
}

PackageFiles mlperf_tiny_files(const COutput& o, const RuntimeSources& runtime) {
  PackageFiles files = package_sources(o, runtime);
  const CProgram& p = o.programs.front();
  const bool hears = benchmark_of(p)->data == Data::audio;
  for (const SourceFile& f : runtime.files) {
    if (!f.path.starts_with(kFolder)) continue;
    const std::string_view file = f.path.substr(kFolder.size());
    const bool of_all = file == "mlperf_tiny_commands.h" || file == "mlperf_tiny.h";
    if (of_all || (file == "mlperf_tiny.c") != hears) files["src/" + std::string(file)] = f.text;
  }
  if (hears) files["src/mlperf_tiny_tables.h"] = wake_word_tables(p.inputs[0]);
  files["src/mlperf_tiny_model.h"] = model_header(p);
  files["CMakeLists.txt"] = benchmark_lists(o, files);
  files["README.md"] = benchmark_readme(o);
  return files;
}

}  // namespace deuteron
