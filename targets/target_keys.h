// SPDX-License-Identifier: Apache-2.0
// The keys of a target file's tables of numbers, and the fields that they set: for reading and for
// showing.
#pragma once
#include <string_view>

#include "targets/target.h"

namespace deuteron {

// The keys of [npu.limits] and [npu.machine]. All of them must be there: a limit that a file does
// not mention would be no limit.
struct LimitKey {
  std::string_view name;
  i64 NpuLimits::*field;
};
inline constexpr LimitKey kLimitKeys[] = {
    {"vector_length", &NpuLimits::vector_length},
    {"kernel", &NpuLimits::kernel},
    {"stride", &NpuLimits::stride},
    {"dilation", &NpuLimits::dilation},
    {"taps", &NpuLimits::taps},
    {"transposed_stride", &NpuLimits::transposed_stride},
    {"matmul_multiple", &NpuLimits::matmul_multiple},
    {"softmax_channels", &NpuLimits::softmax_channels},
    {"softmax_rows", &NpuLimits::softmax_rows},
    {"softmax_elements", &NpuLimits::softmax_elements},
    {"resize_factor", &NpuLimits::resize_factor},
    {"rank", &NpuLimits::rank},
    {"permute_rank", &NpuLimits::permute_rank},
    {"reshape_rank", &NpuLimits::reshape_rank},
    {"ports", &NpuLimits::ports},
};
struct MachineKey {
  std::string_view name;
  int32_t neutron::Machine::*field;
};
inline constexpr MachineKey kMachineKeys[] = {
    {"units", &neutron::Machine::units},
    {"lanes", &neutron::Machine::lanes},
    {"accumulators", &neutron::Machine::accumulators},
    {"sram_bytes_q8", &neutron::Machine::sram_bytes_q8},
    {"fetch_bytes_q8", &neutron::Machine::fetch_bytes_q8},
    {"setup_cycles", &neutron::Machine::setup_cycles},
    {"tile_cycles", &neutron::Machine::tile_cycles},
    {"depthwise_lanes", &neutron::Machine::depthwise_lanes},
    {"vector_elements_q8", &neutron::Machine::vector_elements_q8},
    {"softmax_cycles_q8", &neutron::Machine::softmax_cycles_q8},
    {"fetch_setup_cycles", &neutron::Machine::fetch_setup_cycles},
};

struct CrossingKey {
  std::string_view name;
  i64 NpuCrossing::*field;
};
inline constexpr CrossingKey kCrossingKeys[] = {
    {"call_cycles", &NpuCrossing::call_cycles},
    {"port_cycles", &NpuCrossing::port_cycles},
    {"line_bytes", &NpuCrossing::line_bytes},
    {"line_cycles", &NpuCrossing::line_cycles},
};
struct CostKey {
  std::string_view name;
  int64_t CpuKernelCost::*field;
};
inline constexpr CostKey kCostKeys[] = {
    {"call", &CpuKernelCost::call},     {"mac", &CpuKernelCost::mac},
    {"result", &CpuKernelCost::result}, {"operand", &CpuKernelCost::operand},
    {"tap", &CpuKernelCost::tap},       {"constant", &CpuKernelCost::constant},
    {"window", &CpuKernelCost::window}, {"line", &CpuKernelCost::line},
};

}  // namespace deuteron
