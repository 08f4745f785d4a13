// SPDX-License-Identifier: Apache-2.0
// Convolution and inner product in float32 through oneDNN, with plain loops for what oneDNN lacks or does slowly.
// A layer is prepared once (code generated, weights packed) and then run any number of times, from several threads at once.
#pragma once
#include <memory>
#include <span>

#include "ops/conv2d/conv2d.h"
#include "ops/linear/linear.h"

namespace deuteron {

// oneDNN uses OpenMP: every thread that prepares or runs a layer calls this first, so that a layer stays within its thread.
void use_one_thread_for_each_layer();

// Shapes are in storage order: x [n,h,w,c], weight [oc,kh,kw,c/groups], y [n,oh,ow,oc]; x [..,in], weight [out,in]. `bias` may be null.
// Weight and bias are copied; bounds are applied.
class PreparedLayer {
 public:
  PreparedLayer(const Conv2d& attributes, const Shape& x, const Shape& weight, const Shape& y, const float* weight_data, const float* bias);
  PreparedLayer(const Linear& attributes, const Shape& x, const Shape& weight, const float* weight_data, const float* bias);
  ~PreparedLayer();
  PreparedLayer(PreparedLayer&&) noexcept;

  size_t scratch_bytes() const;  // 64-byte aligned memory that run() may use; 0: none
  void run(const float* x, float* y, void* scratch) const;
  void run(const float* x, float* y) const;  // with scratch of its own
  bool uses_onednn() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace deuteron
