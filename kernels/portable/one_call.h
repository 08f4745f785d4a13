// SPDX-License-Identifier: Apache-2.0
// For tests: a program of one call, run through the loader, with tensors given and read in logical
// order whatever their memory order.
#pragma once
#include <gtest/gtest.h>

#include <random>

#include "runtime/test_program.h"

namespace deuteron::test {

using Sizes = std::vector<int32_t>;
using Order = std::vector<uint8_t>;

inline Order dense(size_t rank) {
  Order o(rank);
  for (size_t i = 0; i < rank; ++i) o[i] = static_cast<uint8_t>(i);
  return o;
}

inline int32_t count_of(const Sizes& sizes) {
  int32_t n = 1;
  for (int32_t s : sizes) n *= s;
  return n;
}

// The index along each dimension of logical element i.
inline Sizes index_of(int32_t i, const Sizes& sizes) {
  Sizes index(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) index[d] = i % sizes[d], i /= sizes[d];
  return index;
}
inline int32_t flat(const Sizes& index, const Sizes& sizes) {
  int32_t at = 0;
  for (size_t d = 0; d < sizes.size(); ++d) at = at * sizes[d] + index[d];
  return at;
}
inline int32_t memory_place(const Sizes& index, const Sizes& sizes, const Order& order) {
  int32_t at = 0;
  for (uint8_t d : order) at = at * sizes[d] + index[d];
  return at;
}

class OneCall : public TestProgram {
 public:
  int32_t in(ScalarType type, const Sizes& sizes, Order order = {}) {
    const int32_t t = planned(type, sizes, next_, order.empty() ? dense(sizes.size()) : order);
    places_.push_back(next_);
    advance(count_of(sizes) * static_cast<int32_t>(element_bytes(type)));
    inputs.push_back(t);
    in_.push_back({sizes, order.empty() ? dense(sizes.size()) : order});
    return t;
  }
  // An output in the place of input i.
  int32_t out_over(size_t i, ScalarType type, const Sizes& sizes, Order order = {}) {
    const Order stored = order.empty() ? dense(sizes.size()) : order;
    outputs.push_back(planned(type, sizes, places_.at(i), stored));
    out_.push_back({sizes, stored});
    return outputs.back();
  }
  int32_t out(ScalarType type, const Sizes& sizes, Order order = {}) {
    const int32_t t = planned(type, sizes, next_, order.empty() ? dense(sizes.size()) : order);
    advance(count_of(sizes) * static_cast<int32_t>(element_bytes(type)));
    outputs.push_back(t);
    out_.push_back({sizes, order.empty() ? dense(sizes.size()) : order});
    return t;
  }
  Status load() {
    if (!loaded_) loaded_ = std::make_unique<Loaded>(bytes(), kAllKernels);
    return loaded_->status;
  }
  // Data in logical order.
  template <class T>
  void set(int32_t i, const std::vector<T>& logical) {
    ASSERT_TRUE(load().ok()) << load().detail << ", argument " << load().argument;
    const auto& [sizes, order] = in_[static_cast<size_t>(i)];
    std::vector<T> stored(logical.size());
    for (size_t k = 0; k < logical.size(); ++k)
      stored[static_cast<size_t>(
          memory_place(index_of(static_cast<int32_t>(k), sizes), sizes, order))] = logical[k];
    ASSERT_TRUE(loaded_->program.set_input(i, stored.data(), stored.size() * sizeof(T)).ok());
  }
  void run() {
    ASSERT_TRUE(load().ok()) << load().detail << ", argument " << load().argument;
    ASSERT_TRUE(loaded_->program.run().ok());
  }
  template <class T>
  std::vector<T> get(int32_t i = 0) {
    const auto& [sizes, order] = out_[static_cast<size_t>(i)];
    std::vector<T> logical(static_cast<size_t>(count_of(sizes)));
    if (!load().ok()) return logical;
    const T* stored = static_cast<const T*>(loaded_->program.output(i).data);
    for (size_t k = 0; k < logical.size(); ++k)
      logical[k] = stored[memory_place(index_of(static_cast<int32_t>(k), sizes), sizes, order)];
    return logical;
  }
  // The argument that is refused, -1 if none is.
  int refused() {
    return load().ok() ? -1 : load().code == Code::bad_argument ? load().argument : 1000;
  }

 private:
  void advance(int32_t bytes) { next_ += static_cast<uint32_t>((bytes + 15) / 16 * 16); }
  uint32_t next_ = 0;
  std::vector<uint32_t> places_;  // of the inputs
  std::vector<std::pair<Sizes, Order>> in_, out_;
  std::unique_ptr<Loaded> loaded_;
};

inline std::vector<float> random_floats(size_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> v(n);
  for (float& f : v)
    f = static_cast<float>(static_cast<int>(random() % 4001) - 2000) /
        512;  // exact in float, so are sums of a few
  return v;
}
inline std::vector<int8_t> random_bytes(size_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<int8_t> v(n);
  for (int8_t& b : v) b = static_cast<int8_t>(random());
  return v;
}

}  // namespace deuteron::test
