// SPDX-License-Identifier: Apache-2.0
// From every call of a program, and every kernel inside a delegate, back to the user's operators:
// what profiles, pages and records are made of. The map follows the origins that the compiler
// keeps; nothing is matched by name or tensor.
//
// Keys (docs/reports.md has them all): format, version, program_id, model, target, cpu, clock_hz,
// operators (the user's own, in order), calls (by instruction of the program, with the kernels of a
// delegate inside), folded (operators without a call), memory, flash. What is not known is absent,
// never null. `added` marks calls and kernels that the user's model does not have: changes of
// layout, quantization, fetched constants. They belong to the operators they serve.
#pragma once
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "explain/report/program_report.h"

namespace deuteron {

inline constexpr int kProgramMapFormat = 1;

// `model`: as the user named it.
nlohmann::json program_map(const Compilation& compilation, const ProgramReport& program,
                           const Target& target, const std::string& model);

// A row of memory[].tensors: from the call that writes it to the last that reads it.
nlohmann::json planned_tensor(const std::string& name, i64 offset, i64 bytes, i32 first, i32 last,
                              const char* kind);

// FNV-1a of all bytes of a program file: what dumps, records and programs are told apart by.
uint64_t program_id(std::span<const uint8_t> pte);
std::string program_id_text(std::span<const uint8_t> pte);  // 16 hexadecimal digits

}  // namespace deuteron
