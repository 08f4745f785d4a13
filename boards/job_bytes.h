// SPDX-License-Identifier: Apache-2.0
// A job for the runner (runtime/ports/job.h) as bytes, and its outputs back from them: the same
// whoever carries them.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "boards/emulate.h"
#include "runtime/ports/job.h"

namespace deuteron {

// Multiply-adds of one run, roughly and rather too many; 0 when the program does not load here.
double estimate_work(std::span<const uint8_t> program);

using AppendBytes = std::function<bool(std::span<const uint8_t>)>;
bool write_job(const AppendBytes& append, Job job, std::span<const uint8_t> program,
               std::span<const Sample> samples);

// All samples must look like the first; more is checked on the board, by the program.
std::optional<Diagnostic> check_samples(std::string_view board, std::span<const Sample> samples);

// Cuts the output file into samples and outputs. False: it has another length.
bool split_outputs(std::span<const uint8_t> bytes, const std::vector<uint64_t>& sizes,
                   size_t samples, EmulatedRun& run);

}  // namespace deuteron
