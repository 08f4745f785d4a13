// SPDX-License-Identifier: Apache-2.0
// Programs as C: `deuteron compile --emit c`, `deuteron firmware --as`. docs/firmware.md says what
// the files are.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "write/firmware/c_program.h"
#include "write/firmware/sources.h"

namespace deuteron {

enum class CWeights : uint8_t {
  array,
  blob
};  // words of a C array; a file that the assembler takes in

struct COutput {
  std::vector<CProgram> programs;                 // for one core; names differ
  std::string core_macro = "__ARM_ARCH_PROFILE";  // that compilers for the core define
  std::string target, isa, flags;  // "cortex-m55", "mve", "-mcpu=cortex-m55 ..."; without a core
                                   // all are empty: for a computer
  std::string version;             // of deuteron
  CWeights weights = CWeights::array;
  bool npu = false,
       npu_model = false;  // a model has parts for the NPU; for the open model of the machine
  std::set<std::string> npu_kernels;  // of that: "Conv2DPointwise"
};

enum class CLanguage : uint8_t { c99, cpp17 };

// Path in the folder, and content. Nothing that comes from a file stands in it but numbers and
// names that have been checked.
std::map<std::string, std::string> c_output_files(const COutput& output,
                                                  const RuntimeSources& runtime);

// One C++17 header instead of a folder: the model, its constants and its kernels. Of one program,
// without parts for the NPU.
std::string cpp_header(const COutput& output, const RuntimeSources& runtime);

// The parts.
std::string c_header(const COutput& output, const CProgram& program);
std::string c_source(const COutput& output, const CProgram& program);
// NAME_run and NAME_reset_state. C knows the kernels by the names of c_function(), C++ by their
// own.
std::string c_functions(const CProgram& program, CLanguage language);
std::string c_words(const CProgram& program);  // the constants, little-endian: "{ 0x1u, ... }"
std::string c_weights(const COutput& output, const CProgram& program);  // array
std::string c_weights_assembly(const CProgram& program);                // blob
std::string c_kernels_header(const COutput& output);                    // deuteron_kernels.h
std::string c_kernels_source(const COutput& output, const std::vector<std::string>& headers,
                             const RuntimeSources& runtime);  // .cpp

std::set<std::string> operators_of(
    const COutput& output);  // whose kernels are called: "cortex_m::quantized_add.out"
std::set<std::string> kept_operators_of(
    const COutput&
        output);  // of those, whose calls are made ready at each run (write/firmware/c_call)
std::string c_function_of_call(const std::string& op);  // "deuteron_call_aten_argmax_out"
// Those functions, as C knows them and as they are defined.
std::string c_kept_declarations(const COutput& output);
std::string c_kept_definitions(const COutput& output, const RuntimeSources& runtime);
std::string c_core_check(
    const COutput& output);  // stops a compiler for another core: it has none of these kernels

// What a file of kernels begins with where no flags can be given: the same arithmetic everywhere,
// though some cores have a fused multiply-add.
inline constexpr std::string_view kCOptions =
    "#if defined(__clang__)\n#pragma STDC FP_CONTRACT OFF\n#elif defined(__GNUC__)\n#pragma GCC "
    "optimize(\"-O3\", \"-ffp-contract=off\", "
    "\"-fno-math-errno\")\n#endif\n";

inline constexpr const char* kCKernels = "deuteron_kernels";
// The checks of kernels are then those of a core, on a computer too: they ask for no other one.
inline constexpr const char* kCDevice = "DEUTERON_MICROCONTROLLER";
// what calls that are made ready at each run need
inline constexpr std::string_view kCCall = "write/firmware/c_call/";
inline constexpr const char* kCSources = "deuteron";  // the folder of the kernels' sources

std::string c_function(const std::string& kernel);  // "deuteron_add_s8_mve"
const char* c_type(ScalarType type);                // "int8_t"
std::string c_macro(std::string name);  // in capitals: what the macros of a model begin with
// Text of a user for a comment: what could end it, or the line, is a question mark.
std::string c_comment(std::string_view text);

}  // namespace deuteron
