// SPDX-License-Identifier: Apache-2.0
// What llvm-mca is told of a core, and what its models leave out.
#pragma once
#include <span>
#include <string_view>

namespace deuteron {

// Extra cycles stand beside those of llvm-mca. They are of the cores' technical reference manuals,
// where these give them.
struct CoreModel {
  std::string_view name;    // --cycles, and llvm's -mcpu
  std::string_view triple;  // llvm's
  std::string_view
      runs;       // the instruction sets of boards (boards.txt) whose images this core can run
  double branch;  // of any branch, taken or not, but the end of a low-overhead loop, which costs
                  // nothing
  double loop_start;  // of DLS and WLS
  double gather;  // of a vector load or store at four addresses: llvm has it as fast as a plain one
  double each_further_register;  // of LDM, POP and LDRD
  double several;                // of the same beside their registers, whatever their number
};

std::span<const CoreModel> core_models();
const CoreModel* find_core(std::string_view name);          // null: there is none
bool runs_on(const CoreModel& core, std::string_view isa);  // an image for this instruction set

}  // namespace deuteron
