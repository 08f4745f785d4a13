// SPDX-License-Identifier: Apache-2.0
// A kernel's call as the loader would make it, for tests: arguments in order, memory of exactly the
// right size on the heap, so that AddressSanitizer sees a read or write that leaves a tensor.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "runtime/kernel.h"
#include "runtime/schema.h"

namespace deuteron {

class TestCall {
 public:
  explicit TestCall(const Kernel& kernel) : kernel_(kernel) {}

  // Sizes are logical; an empty order is that of the dimensions. Bytes are zero.
  Tensor& tensor(ScalarType type, std::vector<int32_t> sizes, std::vector<uint8_t> order = {}) {
    Held& h = held_.emplace_back();
    h.sizes = std::move(sizes);
    h.order = std::move(order);
    if (h.order.empty()) {
      h.order.resize(h.sizes.size());
      std::iota(h.order.begin(), h.order.end(), uint8_t{0});
    }
    int64_t n = std::count(h.sizes.begin(), h.sizes.end(), 0) ? 0 : 1;
    for (int32_t s : h.sizes) n = n == 0 ? 0 : n * s;
    const size_t bytes = static_cast<size_t>(n) * element_bytes(type);
    h.data.reset(bytes ? new (std::align_val_t{16}) uint8_t[bytes]() : nullptr);
    h.tensor = {h.data.get(),
                h.sizes.data(),
                h.order.data(),
                static_cast<int32_t>(n),
                static_cast<uint8_t>(h.sizes.size()),
                type,
                false};
    Value& v = value(Kind::tensor);
    v.tensor = &h.tensor;
    return h.tensor;
  }
  Tensor& image(int32_t n, int32_t h, int32_t w, int32_t c) {
    return tensor(ScalarType::s8, {n, c, h, w}, {0, 2, 3, 1});
  }
  Tensor& constants(const std::vector<int32_t>& values) {
    Tensor& t = tensor(ScalarType::s32, {static_cast<int32_t>(values.size())});
    if (!values.empty()) std::memcpy(t.data, values.data(), values.size() * 4);
    t.constant = true;
    return t;
  }
  void integer(int64_t v) { value(Kind::integer).integer = v; }
  void real(double v) { value(Kind::real).real = v; }
  void boolean(bool v) { value(Kind::boolean).boolean = v; }
  void none() { value(Kind::none); }
  void integers(const std::vector<int64_t>& values) {
    const std::vector<int64_t>& kept = integers_.emplace_back(values);
    value(Kind::int_list).list = {nullptr, kept.data(), static_cast<int32_t>(kept.size())};
  }

  // Argument i, to be spoiled before prepare().
  Value& argument(int i) { return *arguments_[static_cast<size_t>(i)]; }
  const Value& argument(int i) const { return *arguments_[static_cast<size_t>(i)]; }
  int count() const { return static_cast<int>(arguments_.size()); }
  const Kernel& kernel() const { return kernel_; }
  // a result or scratch
  bool writes(int i) const { return kernel_.schema[i] == 'O' || kernel_.schema[i] == 'X'; }
  // Whether a result is the bytes of an operand; whether there is none.
  bool in_place() const {
    const auto read = [&](int j) { return !writes(j) && argument(j).kind == Kind::tensor; };
    for (int i = 0; i < count(); ++i)
      for (int j = 0; writes(i) && argument(i).tensor->numel > 0 && j < count(); ++j)
        if (read(j) && argument(i).tensor->data == argument(j).tensor->data) return true;
    return false;
  }
  bool empty_result() const { return argument(count() - 1).tensor->numel == 0; }
  Tensor& tensor_at(int i) { return const_cast<Tensor&>(*argument(i).tensor); }
  int32_t* sizes_at(int i) { return const_cast<int32_t*>(tensor_at(i).sizes); }

  Isa isa = kBuildIsa;  // of the program

  Status prepare() {
    check_schema();
    std::vector<const Value*> pointers(arguments_.begin(), arguments_.end());
    Arena arena;
    arena.base = tables_;
    arena.bytes = sizeof tables_;
    Call call{pointers.data(), static_cast<int32_t>(pointers.size()), &arena, isa};
    return kernel_.prepare(call, &prepared_);
  }
  // prepare() must agree; then the kernel runs.
  void run() {
    const Status s = prepare();
    ASSERT_TRUE(s.ok()) << "argument " << s.argument << ": " << (s.detail ? s.detail : "");
    run_again();
  }
  void run_again() { prepared_.run(prepared_.args); }
  // The argument that prepare() refuses, -1 when it refuses none.
  int refused() {
    const Status s = prepare();
    EXPECT_TRUE(s.ok() || s.detail != nullptr);
    return s.ok() ? -1 : s.argument;
  }

 private:
  struct AlignedDelete {
    void operator()(uint8_t* p) const { ::operator delete[](p, std::align_val_t{16}); }
  };
  struct Held {
    std::vector<int32_t> sizes;
    std::vector<uint8_t> order;
    std::unique_ptr<uint8_t[], AlignedDelete> data;
    Tensor tensor{};
  };
  Value& value(Kind kind) {
    Value& v = values_.emplace_back();
    v.kind = kind;
    arguments_.push_back(&v);
    return v;
  }
  void check_schema() {
    ASSERT_EQ(std::strlen(kernel_.schema), arguments_.size()) << kernel_.name;
    for (size_t i = 0; i < arguments_.size(); ++i) {
      const Kind k = arguments_[i]->kind;
      ASSERT_TRUE(takes(kernel_.schema[i], k)) << kernel_.name << " argument " << i;
    }
  }

  const Kernel& kernel_;
  std::deque<Held> held_;
  std::deque<Value> values_;
  std::deque<std::vector<int64_t>> integers_;  // of lists
  std::vector<Value*> arguments_;
  Prepared prepared_;
  alignas(16) uint8_t tables_[1024];
};

template <class T>
T* data_of(const Tensor& t) {
  return static_cast<T*>(t.data);
}
template <class T>
std::vector<T> contents(const Tensor& t) {
  return {data_of<T>(t), data_of<T>(t) + t.numel};
}

// Seeded numbers for tests.
struct Random {
  std::mt19937 engine;
  explicit Random(uint32_t seed) : engine(seed) {}
  int32_t in(int32_t low, int32_t high) {
    return std::uniform_int_distribution<int32_t>(low, high)(engine);
  }
  // Any int8, the ends more often than by chance.
  int8_t s8() {
    return static_cast<int8_t>(in(0, 15) == 0 ? -128 : in(0, 15) == 0 ? 127 : in(-128, 127));
  }
  void fill(const Tensor& t) {
    const int32_t bytes = t.numel * (t.type == ScalarType::s16 ? 2 : 1);
    for (int32_t i = 0; i < bytes; ++i) data_of<int8_t>(t)[i] = s8();
  }
  int32_t multiplier() { return in(1 << 30, INT32_MAX); }
  std::vector<int32_t> multipliers(int32_t n) {
    std::vector<int32_t> v(static_cast<size_t>(n));
    for (int32_t& e : v) e = multiplier();
    return v;
  }
  std::vector<int32_t> list(int32_t n, int32_t low, int32_t high) {
    std::vector<int32_t> v(static_cast<size_t>(n));
    for (int32_t& e : v) e = in(low, high);
    return v;
  }
};

}  // namespace deuteron
