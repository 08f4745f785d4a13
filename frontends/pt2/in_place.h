// SPDX-License-Identifier: Apache-2.0
// Operators in place, and the views of the memory that they change.
//
// A view is what its operator makes of the tensor that it views. So when memory changes, its views
// are made again by their operators, each when it is read next. And when a view is written, the
// tensor behind all of its views becomes a new one, in which the view's elements are replaced;
// where they lie, the views' operators say when they are given the numbers of the elements.
#pragma once
#include "frontends/pt2/call/call.h"
#include "frontends/pt2/changed_buffers.h"

namespace deuteron::pt2 {

// After the call of an operator in place: every tensor that shows what it has changed stands for
// the new values. A tensor that cannot be followed is one that cannot be read from here on. A
// buffer that is written, and is none of `buffers`, is noted among the state's found_states: the
// model is then imported again with it as one.
void change_in_place(ImportState& state, const ByName<ChangedBuffer>& buffers, Call& call);

// Makes the tensor again if its memory has been written since.
void refresh(ImportState& state, const std::string& name);
void refresh_operands(ImportState& state, const ProgramNode& node);

}  // namespace deuteron::pt2
