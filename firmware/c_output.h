// Programs as C: `deuteron compile --emit c`, `deuteron firmware --as`. docs/c-output.md says what the files are.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "firmware/c_program.h"
#include "firmware/sources.h"

namespace deuteron {

enum class CWeights : uint8_t { array, blob };  // words of a C array; a file that the assembler takes in

struct COutput {
  std::vector<CProgram> programs;  // for one core; names differ
  std::string target, isa, flags;  // "cortex-m55", "mve", "-mcpu=cortex-m55 ..."; without a core all are empty: for a computer
  std::string version;             // of deuteron
  CWeights weights = CWeights::array;
  bool npu = false, npu_model = false;  // a model has parts for the NPU; for the open model of the machine
  std::set<std::string> npu_kernels;    // of that: "Conv2DPointwise"
};

// Path in the folder, and content. Nothing that comes from a file stands in it but numbers and names that have been checked.
std::map<std::string, std::string> c_output_files(const COutput& output, const RuntimeSources& runtime);

// The parts.
std::string c_header(const COutput& output, const CProgram& program);
std::string c_source(const COutput& output, const CProgram& program);
std::string c_weights(const COutput& output, const CProgram& program);                         // array
std::string c_weights_assembly(const CProgram& program);                                       // blob
std::string c_kernels_header(const COutput& output);                                           // deuteron_kernels.h
std::string c_kernels_source(const COutput& output, const std::vector<std::string>& headers);  // deuteron_kernels.cpp

inline constexpr const char* kCKernels = "deuteron_kernels";
inline constexpr const char* kCSources = "deuteron";  // the folder of the kernels' sources

std::string c_function(const std::string& kernel);  // "deuteron_add_s8_mve"
const char* c_type(ScalarType type);                // "int8_t"
std::string c_macro(std::string name);              // in capitals: what the macros of a model begin with
// Text of a user for a comment: what could end it, or the line, is a question mark.
std::string c_comment(std::string_view text);

}  // namespace deuteron
