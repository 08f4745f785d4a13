// SPDX-License-Identifier: Apache-2.0
// How far each output of the program is from the float model's, and each of its parts; and which of
// them a user must hear of.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "compile/calibrate/output_parts.h"
#include "compile/calibrate/samples.h"
#include "compile/quantize/held_out.h"

namespace deuteron {

struct Compilation;

struct OutputAccuracy {
  std::string name;
  bool is_integer = false;  // an argmax: how many are equal counts, and there is no error in dB
  size_t rank = 0;
  PartError whole;
  i32 axis = -1;                 // of the user, along which its parts lie; -1: it is one part
  std::vector<PartError> parts;  // one at least
  // By part: steps of the program's output over what the float model reaches, 0 included; -1: not
  // known.
  std::vector<double> steps;
  std::vector<std::optional<HeldOutPart>> held_out;

  double db(size_t part) const;  // held out where that is known and worse
};

// `of_output`: over all samples. `reference`: the float model, and its output. Steps and what is
// held out are not known.
OutputAccuracy output_accuracy(const Graph& reference, const Port& port,
                               const OutputError& of_output);
// With them.
OutputAccuracy output_accuracy(const Compilation& compilation, size_t output,
                               const OutputError& of_output);

struct PartOfOutput {
  const OutputAccuracy* output;
  size_t part;
};
// Of all outputs that are numbers; nothing where they have one part together.
std::optional<PartOfOutput> worst_part(const std::vector<OutputAccuracy>& outputs);

// As it stands in the report: by output, and by part where the sizes of its parts differ; and the
// worst, null where there is one part only.
nlohmann::ordered_json output_accuracy_json(const std::vector<OutputAccuracy>& outputs);
nlohmann::ordered_json worst_part_json(const std::vector<OutputAccuracy>& outputs);

std::string name_of(const PartOfOutput& part);  // "`boxes`[:, 4]"
// "3.2 dB, the same for all samples; the float model's reaches from -0.01 to 0.01"
std::string text_of(const PartOfOutput& part);
// "`class`: 62 of 64 equal"; empty: there are no integers.
std::string text_of_integers(const std::vector<OutputAccuracy>& outputs);

// Of an input whose columns have different sizes: the steps of the program over what the samples of
// a column span.
struct FewSteps {
  size_t input;
  i32 axis;
  i64 index;
  double steps;
  PartError::Range few, widest;  // of that column, and of the one that is widest
};
// The column with the fewest, if it has fewer than kFewestColumnSteps: coefficients of a spectrum
// have seven and more.
inline constexpr double kFewestSteps = 16;  // of a part of an output
inline constexpr double kFewestColumnSteps = 4;
std::optional<FewSteps> input_with_few_steps(const Compilation& compilation,
                                             const Samples& samples);

// What a warning of a part advises, where its steps are those of larger parts beside it.
inline constexpr std::string_view kOwnStepsAdvice =
    "return parts of different size as separate outputs, so that each has its own step size; or "
    "compile with --precision int16 or --layer NAME=int16; `deuteron doctor --try` says what each "
    "gains";

// Outputs and parts that are of no use: the same for all samples, of few steps, or far worse than
// what is beside them; and where an output is not good, the column of an input that is lost beside
// the others.
void warn_of_parts(const Compilation& compilation, const std::vector<OutputAccuracy>& outputs,
                   const Samples& samples, Diagnostics& diagnostics);

}  // namespace deuteron
