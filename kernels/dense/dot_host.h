// SPDX-License-Identifier: Apache-2.0
// Filters against windows of int8, on the host: what packed convolutions spend their time in. The
// instruction set is chosen at run time. The bits are those of the portable kernels.
//
// A step takes four bytes of a window and 64 of a panel, which are the weights of sixteen filters
// for them. So a window's bytes are repeated over a vector, a lane is a filter from the first
// product to the result, and nothing is added across lanes. What the four bytes are is the form's:
// four elements with 128 added for VPDPBUSD (AVX-512 VNNI), two int16 for VPMADDWD (AVX2).
#pragma once
#include "kernels/common/host_kernels.h"

namespace deuteron {

inline constexpr int32_t kHostPanel = 16;      // filters
inline constexpr int32_t kHostStep = 4;        // bytes of a window
inline constexpr int32_t kHostPanelStep = 64;  // bytes of a panel
inline constexpr int32_t kHostPanels = 2;      // that a kernel takes at a time
// bytes behind the elements that HostDotForm::copy may write
inline constexpr int32_t kHostSlack = 64;

// Of a panel's filters, before its weights. With elements to which 128 was added `first` has that
// taken out again.
struct HostPanelNumbers {
  int32_t first[kHostPanel], multiplier[kHostPanel];
  int32_t shift[kHostPanel];  // HostEnd::shifted: as packed weights have it
                              // (kernels/dense/packing.h); else unread
};
constexpr int64_t host_panel_bytes(int64_t steps) {
  return int64_t{sizeof(HostPanelNumbers)} + steps * kHostPanelStep;
}

// What becomes of a product of a sum and its multiplier. Quotients are rounded down.
enum class HostEnd {
  plain,    // (product + 2^31) / 2^32
  doubled,  // (2 * product + 2^31) / 2^32
  shifted,  // the same, then requantize()'s shift; or, where a panel's shifts are positive, what
            // requantize_once() makes of it
};

// Panels lie behind one another, each HostPanelNumbers, then kHostPanelStep bytes for each step.
//   sum[f] = first[f] + sum over steps k, elements e of a step, of window[offsets[k]][e] *
//   weight[k][f][e], modulo 2^32 y[f] = clamp(zero + end(sum[f] * multiplier[f]), -128, 127)
struct HostDot {
  const int8_t* panels;  // 64-aligned
  int32_t
      filters;  // 1..kHostPanels * kHostPanel: those whose results are written, behind one another
  int32_t channel;  // where their results begin behind a window's place
  const int32_t* offsets;
  int32_t steps;
  HostEnd end;
  int32_t zero;
};

// places: where the results of each window begin. `count`: of windows, any.
using HostDotKernel = void (*)(const HostDot& dot, const uint8_t* const* windows,
                               int8_t* const* places, int32_t count);

struct HostDotForm {
  int32_t element_bytes;  // in a window: 1 or 2
  int32_t offset;         // added to every element
  void (*copy)(const int8_t* from, int32_t count,
               uint8_t* to);  // elements of an image into windows; may write kHostSlack bytes more
  void (*fill)(int8_t element, int32_t count, uint8_t* to);  // the same of one element
  HostDotKernel run;
};
const HostKernels<HostDotForm>& host_dot_forms();

}  // namespace deuteron
