// SPDX-License-Identifier: Apache-2.0
// Convolution and inner product in float32 through oneDNN, with plain loops for what oneDNN lacks
// or does slowly. A layer is prepared once (code generated, weights packed) and then run any number
// of times, from several threads at once.
#pragma once
#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "ops/conv2d/conv2d.h"
#include "ops/linear/linear.h"

namespace deuteron {

// oneDNN uses OpenMP: every thread that prepares or runs a layer calls this first, so that a layer
// stays within its thread.
void use_one_thread_for_each_layer();

// A layer's weight in float32: all of it, or what makes the rows of any of its output channels, so
// that the float form of a large int8 one is never there as a whole.
class LayerWeight {
 public:
  using Rows = std::function<std::vector<float>(i64 first, i64 count)>;
  LayerWeight(const float* whole) : whole_(whole) {}
  LayerWeight(Rows rows) : rows_(std::move(rows)) {}
  // use(first, count, their rows), for `step` of so many channels at a time; all at once where they
  // are there.
  template <class Use>
  void for_each_run(i64 channels, i64 step, const Use& use) const {
    if (!rows_) return use(i64{0}, channels, whole_);
    for (i64 first = 0; first < channels; first += step) {
      const i64 count = std::min(step, channels - first);
      use(first, count, rows_(first, count).data());
    }
  }

 private:
  const float* whole_ = nullptr;
  Rows rows_;
};

// Shapes are in storage order: x [n,h,w,c], weight [oc,kh,kw,c/groups], y [n,oh,ow,oc]; x [..,in],
// weight [out,in]. `bias` may be null. Weight and bias are copied; bounds are applied.
class PreparedLayer {
 public:
  PreparedLayer(const Conv2d& attributes, const Shape& x, const Shape& weight, const Shape& y,
                const LayerWeight& weight_data, const float* bias);
  PreparedLayer(const Linear& attributes, const Shape& x, const Shape& weight,
                const LayerWeight& weight_data, const float* bias);
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
