// SPDX-License-Identifier: Apache-2.0
// The harness of the kernel tests (ops/<operator>/kernel_test.cpp). A case is a line with a name:
//   cases.run("1x1, stride", call);  cases.expect(13, expected);     the result, to the bit
//   {13, "must have the batch of the input", size(13, 0, 1)},        a refusal: argument, message,
//   what is wrong with the call
// Every case runs on this machine, on the portable kernel and with AddressSanitizer around each
// tensor. With the name of an emulated board in DEUTERON_KERNEL_BOARD it also runs there, on the
// kernel of that board's instruction set, and must give the same bits: all cases of a test are one
// program (tests/kernels_on_board.cpp).
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "kernels/common/test_call.h"
#include "runtime/test_program.h"

namespace deuteron {

// The cases of one test.
class KernelCases {
 public:
  KernelCases() {
    if (const char* board = std::getenv("DEUTERON_KERNEL_BOARD")) board_ = board;
  }
  ~KernelCases() { run_on_board(); }
  KernelCases(const KernelCases&) = delete;

  // Of the program that the cases are: the board's, where there is one.
  Isa isa() const;

  // Runs the call; what it gives must be expected at once. A failure says the name.
  void run(std::string name, TestCall& call) {
    name_ = std::move(name);
    call_ = &call;
    if (!board_.empty()) write(call);
    SCOPED_TRACE(name_);
    call.isa = isa();
    call.run();
  }
  template <class T>
  void expect(int argument, const std::vector<T>& expected) {
    if (testing::Test::HasFatalFailure()) return;
    EXPECT_EQ(contents<T>(call_->tensor_at(argument)), expected) << name_;
    if (in_program_.empty()) return;
    program_.outputs.push_back(in_program_[static_cast<size_t>(argument)]);
    const Tensor& t = call_->tensor_at(argument);
    Expected e{
        name_, {t.sizes, t.sizes + t.rank}, {t.dim_order, t.dim_order + t.rank}, {}, sizeof(T)};
    e.bytes.resize(expected.size() * sizeof(T));
    if (!e.bytes.empty()) std::memcpy(e.bytes.data(), expected.data(), e.bytes.size());
    expected_.push_back(std::move(e));
  }

 private:
  struct Expected {
    std::string name;
    std::vector<int32_t> sizes;
    std::vector<uint8_t> order, bytes;  // bytes as they lie in memory
    size_t element_bytes;
  };

  // The call as an instruction of the board's program. One that works in place has no constants to
  // read: it stays here.
  void write(const TestCall& call) {
    in_program_.clear();
    if (call.in_place() || call.empty_result()) return;
    for (int i = 0; i < call.count(); ++i)
      in_program_.push_back(add(call.argument(i), call.writes(i)));
    std::vector<int32_t> arguments = in_program_;
    arguments.push_back(arguments.back());
    const std::string name = call.kernel().name;
    const size_t dot = name.rfind('.');
    program_.call(name.substr(0, dot), name.substr(dot + 1), arguments);
  }
  int32_t add(const Value& v, bool written) {
    switch (v.kind) {
      case Kind::integer:
        return program_.integer(v.integer);
      case Kind::real:
        return program_.real(v.real);
      case Kind::boolean:
        return program_.boolean(v.boolean);
      case Kind::int_list: {
        std::vector<int64_t> numbers;
        for (int32_t k = 0; k < v.list.count; ++k) numbers.push_back(v.list.integer(k));
        return program_.ints(numbers);
      }
      case Kind::tensor:
        return add(*v.tensor, written);
      default:
        return program_.none();
    }
  }
  int32_t add(const Tensor& t, bool written) {
    const std::vector<int32_t> sizes(t.sizes, t.sizes + t.rank);
    const std::vector<uint8_t> order(t.dim_order, t.dim_order + t.rank);
    const size_t bytes = static_cast<size_t>(t.numel) * element_bytes(t.type);
    const uint8_t* data = data_of<uint8_t>(t);
    if (!written)
      return program_.constant(t.type, sizes, std::vector<uint8_t>(data, data + bytes), order);
    const int32_t value = program_.planned(t.type, sizes, static_cast<uint32_t>(planned_), order);
    planned_ += (bytes + 15) / 16 * 16;
    return value;
  }

  void run_on_board();  // tests/kernels_on_board.cpp
  void compare(const Expected& expected, const std::string& path) const;

  std::string board_, name_;
  TestCall* call_ = nullptr;
  test::TestProgram program_;
  size_t planned_ = 0;
  std::vector<int32_t> in_program_;  // the value of each argument of the last call; empty if it is
                                     // not in the program
  std::vector<Expected> expected_;
};

// A case as the line that it is in its table, to be pasted there.
inline std::string line(const char* name, std::initializer_list<int64_t> numbers, uint32_t seed) {
  std::string text = std::string("{\"") + name + "\"";
  for (const int64_t n : numbers) text += ", " + std::to_string(n);
  return text + "} with seed " + std::to_string(seed);
}

// A refusal of prepare(): the argument, its message, and what is wrong with the call.
struct RefusedCall {
  int argument;
  const char* message;
  std::function<void(TestCall&)> spoil;
};

// `make` makes a call that is taken; each refusal spoils one of its own.
inline void expect_refusals(const std::function<TestCall()>& make,
                            const std::vector<RefusedCall>& refusals) {
  EXPECT_EQ(make().refused(), -1);
  for (const RefusedCall& r : refusals) {
    TestCall call = make();
    r.spoil(call);
    const Status s = call.prepare();
    const std::string found =
        s.ok() ? "taken" : std::to_string(s.argument) + " " + (s.detail ? s.detail : "");
    EXPECT_EQ(found, std::to_string(r.argument) + " " + r.message);
  }
}

// What may be wrong with a call: argument i, then where in it.
using Spoil = std::function<void(TestCall&)>;
inline Spoil type(int i, ScalarType t) {
  return [=](TestCall& c) { c.tensor_at(i).type = t; };
}
inline Spoil rank(int i, uint8_t n) {
  return [=](TestCall& c) { c.tensor_at(i).rank = n; };
}
inline Spoil size(int i, int axis, int32_t n) {
  return [=](TestCall& c) { c.sizes_at(i)[axis] = n; };
}
inline Spoil elements(int i, int32_t n) {
  return [=](TestCall& c) { c.tensor_at(i).numel = n; };
}
inline Spoil order(int i, std::vector<uint8_t> dims) {
  return [=](TestCall& c) {
    std::copy(dims.begin(), dims.end(), const_cast<uint8_t*>(c.tensor_at(i).dim_order));
  };
}
inline Spoil misaligned(int i, int bytes) {
  return [=](TestCall& c) { c.tensor_at(i).data = data_of<char>(c.tensor_at(i)) + bytes; };
}
inline Spoil not_constant(int i) {
  return [=](TestCall& c) { c.tensor_at(i).constant = false; };
}
inline Spoil entry(int i, int k, int32_t v) {  // of a tensor of int32
  return [=](TestCall& c) { data_of<int32_t>(c.tensor_at(i))[k] = v; };
}
inline Spoil number(int i, int64_t v) {
  return [=](TestCall& c) { c.argument(i).integer = v; };
}
inline Spoil numbers(int i, int64_t v, int j, int64_t w) {
  return [=](TestCall& c) { c.argument(i).integer = v, c.argument(j).integer = w; };
}
inline Spoil real(int i, double v) {
  return [=](TestCall& c) { c.argument(i).real = v; };
}
inline Spoil item(int i, int k, int64_t v) {  // of a list
  return [=](TestCall& c) {
    static_cast<int64_t*>(const_cast<void*>(c.argument(i).list.data))[k] = v;
  };
}
inline Spoil items(int i, int32_t count) {
  return [=](TestCall& c) { c.argument(i).list.count = count; };
}
inline Spoil absent(int i) {
  return [=](TestCall& c) { c.argument(i).kind = Kind::none; };
}

}  // namespace deuteron
