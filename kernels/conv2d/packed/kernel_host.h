// SPDX-License-Identifier: Apache-2.0
// Packed convolution by the vectors of a host's processor: the bits of packed_conv2d_s8()
// (kernel.h).
#pragma once
#include "kernels/conv2d/packed/kernel.h"
#include "kernels/dense/dot_host.h"

namespace deuteron {

// A call whose weights stand in the order of a form (kernels/dense/dot_host.h).
struct HostPackedConv2d {
  PackedConv2dArgs args;
  const HostDotForm* form;
  const int8_t* panels;
  const int32_t* offsets;  // of each step
  int32_t steps;
  int32_t first, filters;  // of all filters: those in `panels`
  HostEnd end;
};

// Bytes of weights and offsets, 64-aligned; 0 where the form does not serve the call: the rows of
// one window have no room on the stack.
int64_t packed_conv2d_host_bytes(const PackedConv2dArgs& a, const HostDotForm& form);
// Brings the weights into their order, once for all runs. `room`: that many bytes.
// is_behind_relu: those of ops/packed_linear.
template <Packing p, bool is_behind_relu = false>
HostPackedConv2d order_packed_conv2d(const PackedConv2dArgs& a, const HostDotForm& form,
                                     const int8_t* packed, void* room);
void run_packed_conv2d(const HostPackedConv2d& conv, const int8_t* x, int8_t* y);

// The same at once, with weights that are brought into their order on the stack. False: the form
// does not serve the call, or a panel has no room; nothing is written then.
template <Packing p>
bool packed_conv2d_s8_host(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                           const HostDotForm& form, int8_t* y);

}  // namespace deuteron
