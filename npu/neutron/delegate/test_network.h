// SPDX-License-Identifier: Apache-2.0
// A program with a delegate for the open machine model, made by hand, that goes through everything
// a delegate has: transposed and plain ports, a constant that is fetched, scratch, a profile. For
// tests of the loader, of other runtimes, and as a seed of the fuzzer.
#pragma once
#include "npu/neutron/delegate/test_payload.h"
#include "npu/neutron/kernels/copy/call.h"
#include "npu/neutron/kernels/fetch/call.h"
#include "npu/neutron/kernels/pairwise/call.h"
#include "npu/neutron/kernels/table/call.h"
#include "runtime/test_program.h"

namespace deuteron::test {

// x [1,3,4,2] (channels first), constant c [24], y [1,3,4,2] (channels last), z [24]:
//   y = table[x]        z = y's bytes + c, saturated        all in the machine's order, channels
//   last
struct NeutronNetwork {
  TestProgram p;
  PayloadParts parts;
  int32_t x, c, y, z, scratch = -1;

  static int8_t table_of(int32_t v) { return static_cast<int8_t>(v / 2 + 3); }
  static std::vector<uint8_t> constant() {
    std::vector<uint8_t> v(24);
    for (size_t i = 0; i < 24; ++i) v[i] = static_cast<uint8_t>(7 * i - 80);
    return v;
  }
  // What y and z are for x in the order of its sizes; y in channels last, z as the machine has it.
  static void expected(const std::vector<int8_t>& x_first, std::vector<int8_t>* y_last,
                       std::vector<int8_t>* z_out) {
    y_last->resize(24), z_out->resize(24);
    for (size_t ch = 0; ch < 3; ++ch)
      for (size_t s = 0; s < 8; ++s) (*y_last)[s * 3 + ch] = table_of(x_first[ch * 8 + s]);
    for (size_t i = 0; i < 24; ++i) {
      const int sum = (*y_last)[i] + static_cast<int8_t>(constant()[i]);
      (*z_out)[i] = static_cast<int8_t>(sum < -128 ? -128 : sum > 127 ? 127 : sum);
    }
  }

  explicit NeutronNetwork(bool with_scratch_argument, int version = 1) {
    using namespace neutron;
    x = p.planned(ScalarType::s8, {1, 3, 4, 2}, 0);
    c = p.constant<uint8_t>(ScalarType::s8, {24}, constant());
    y = p.planned(ScalarType::s8, {1, 3, 4, 2}, 32, {0, 2, 3, 1});
    z = p.planned(ScalarType::s8, {24}, 64);
    p.inputs = {x};
    p.outputs = {y, z};
    parts.input_flags = {0, 1}, parts.output_flags = {0, 1};  // c, x; z, y
    parts.input_map = {0, 2}, parts.output_map = {1, 0};
    parts.arguments = 3;  // c, scratch, x
    parts.version = version;
    parts.scratch_bytes = 24, parts.sram_bytes = 256;
    parts.port_bytes = {24, 24, 24, 24};
    for (int v = -128; v < 128; ++v) parts.weights.push_back(static_cast<uint8_t>(table_of(v)));
    parts.call(neutron::Kind::kMemCpy,
               MemCpyCall{operand(Region::kWeights), operand(Region::kSramWeights), 256, 0});
    parts.call(neutron::Kind::kTable,
               TableCall{operand(Region::kInput, 0, 1), operand(Region::kScratch),
                         operand(Region::kSramWeights), 24});
    parts.call(neutron::Kind::kSlice, CopyCall{operand(Region::kScratch),
                                               operand(Region::kOutput, 0, 1),
                                               {1, 1, 1, 1, 1, 24},
                                               {0, 0, 0, 0, 0, 1},
                                               {0, 0, 0, 0, 0, 1}});
    PairCall add = {};
    add.x = operand(Region::kScratch), add.other = operand(Region::kInput, 0, 0),
    add.y = operand(Region::kOutput, 0, 0);
    for (int32_t& e : add.extent) e = 1;
    add.extent[5] = 24, add.x_stride[5] = add.other_stride[5] = 1;
    add.left_shift = 20;
    add.x_multiplier = add.other_multiplier = 1 << 30,
    add.x_shift = add.other_shift = 0;              // halves: no term overflows
    add.y_multiplier = 1 << 30, add.y_shift = -18;  // v * 2^19 * 2^-1 * 2^-18
    add.y_min = -128, add.y_max = 127;
    parts.call(neutron::Kind::kAdd, add);
    if (version == 1) {
      parts.profile_bytes = static_cast<uint32_t>(kProfileRecordBytes * (parts.calls.size() + 1));
      parts.debug_bytes =
          static_cast<uint32_t>(debug_bytes_of(static_cast<int32_t>(parts.calls.size())));
    }
    const uint32_t needed =
        32 +
        static_cast<uint32_t>(round_up_16(parts.profile_bytes) + round_up_16(parts.debug_bytes)) +
        256 + 32;
    scratch = with_scratch_argument ? p.planned(ScalarType::u8, {static_cast<int32_t>(needed)}, 96)
                                    : p.bare(ScalarType::u8, {1});
    std::map<std::string, std::string> options;
    if (with_scratch_argument) options.emplace(kNeutronScratchOption, "1");
    p.call_delegate(p.delegate(kNeutronBackendId, make_payload(parts), options),
                    {c, scratch, x, y, z});
  }
};

}  // namespace deuteron::test
