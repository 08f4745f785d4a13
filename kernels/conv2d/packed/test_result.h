// SPDX-License-Identifier: Apache-2.0
// What a call gives that is not part of a graph: for tests that lower and pack calls by themselves.
#pragma once
#include <vector>

#include "ops/kernel_call/host_call.h"
#include "ops/op.h"

namespace deuteron {

// Its first operand is `input`; the others are its own constants.
inline std::vector<int8_t> result_of(const Lowered& lowered, const Type& x, const Type& y,
                                     std::vector<int8_t> input) {
  std::vector<const Type*> in{&x}, out{&y};
  std::vector<void*> in_data{input.data()};
  std::vector<int8_t> result(static_cast<size_t>(y.elements()));
  std::vector<void*> out_data{result.data()};
  std::vector<bool> constant{false};
  for (const NewConstant& c : lowered.constants) {
    in.push_back(&c.type), constant.push_back(true);
    in_data.push_back(const_cast<std::byte*>(c.data.bytes.data()));
  }
  std::vector<std::vector<u8>> scratch;
  for (const Type& t : lowered.scratch) {
    scratch.emplace_back(static_cast<size_t>(t.bytes()) + 16);
    out.push_back(&t), out_data.push_back(scratch.back().data());
  }
  run_call(lowered.call, TypeView(in), TypeView(out), in_data, out_data, constant);
  return result;
}

}  // namespace deuteron
