// SPDX-License-Identifier: Apache-2.0
// A call of a device kernel: what every operator is lowered to. The memory planner, the writer and
// the report know only this.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/tensor/constant.h"
#include "base/tensor/type.h"
#include "runtime/deuteron.h"

namespace deuteron {

// How a kernel sees a tensor: logical sizes and which of them lies where in memory. One value may
// be seen in several ways.
struct Face {
  Shape sizes;
  Axes order;
  bool operator==(const Face&) const = default;
};
Face plain_face(const Shape& storage);  // sizes as stored, order 0,1,2,..
Face channels_last_face(
    const Shape& storage);                    // [n,h,w,c] seen as sizes n,c,h,w with order 0,2,3,1
Face elementwise_face(const Shape& storage);  // channels last for rank 4, else plain: the same for
                                              // every operator that does not care

struct KernelArg {
  enum class Kind : u8 { input, output, integer, real, boolean, integers, inputs, none };
  Kind kind = Kind::none;
  // input, output: index into the node's inputs or outputs; integer, boolean: the value
  i64 integer = 0;
  double real = 0;
  std::vector<i64> integers;  // integers: the values; inputs: indexes into the node's inputs, each
                              // seen as it is stored, -1: none
  Face face;                  // input, output
  bool operator==(const KernelArg&) const = default;
};

// What another processor gets: the program of a delegate, in the bytes that its backend reads.
struct DelegateBlob {
  std::string id;  // "NeutronBackend"
  std::vector<u8> processed;
  std::vector<std::pair<std::string, std::string>> options;  // compile specs
  i64 weights_bytes = 0;                                     // of `processed`, for the report
  bool operator==(const DelegateBlob&) const = default;
};

// Bytes of a scratch tensor that our own kernel needs and those that it uses, where the stock
// kernel asks for others.
struct OwnScratch {
  i64 least = 0, most = 0;
  bool operator==(const OwnScratch&) const = default;
};

struct CallNumbers;  // ops/kernel_call/numbers.h

struct KernelCall {
  std::string name;             // "cortex_m::quantized_conv2d"
  std::string overload;         // "out"
  std::vector<KernelArg> args;  // in schema order, outs last, without the repeated return value
  std::vector<std::pair<i64, i64>> in_place;  // (output, input): may be the same bytes
  bool writes_state = false;            // its one pair of in_place is a state's old and new value
  std::vector<OwnScratch> own_scratch;  // of the last outputs; empty: the planned bytes
  i64 macs = 0;                         // multiply-adds, for the report
  std::shared_ptr<const DelegateBlob>
      delegate;  // set: a call of this delegate and not of a kernel; `name` is its backend's
  std::shared_ptr<const CallNumbers>
      numbers;  // what it was made of, where passes may make another call of that
  bool operator==(const KernelCall&) const = default;
};

// A lowering's result before the graph has values for it. In `call`, inputs count the node's
// operands and then `constants`; outputs count the node's results and then `scratch`.
struct NewConstant {
  Type type;
  Constant data;
};
struct Lowered {
  KernelCall call;
  std::vector<NewConstant> constants;
  std::vector<Type>
      scratch;  // tensors that nobody reads: plain bytes, or a second result that is not wanted
};

// Builds a Lowered argument by argument, in schema order.
class CallBuilder {
 public:
  CallBuilder(std::string name, size_t operands, size_t results)
      : operands_(operands), results_(results) {
    lowered_.call.name = std::move(name);
    lowered_.call.overload = "out";
  }
  CallBuilder& in(i64 operand, Face face);
  CallBuilder& all_in();  // every operand, as one list
  CallBuilder& out(i64 result, Face face);
  CallBuilder& constant(Type type, Constant data, Face face);
  template <class T>
  CallBuilder& constant(DType dtype, Shape shape, std::vector<T> data) {
    Face face = plain_face(shape);
    return constant(Type{dtype, std::move(shape), {}}, constant_of(std::move(data)),
                    std::move(face));
  }
  CallBuilder& scratch(i64 bytes);
  CallBuilder& scratch(i64 bytes, OwnScratch own);  // all scratch of a call, or none
  CallBuilder& scratch(Type type, Face face);
  CallBuilder& overload(std::string name);  // "out" unless told
  CallBuilder& integer(i64 v);
  CallBuilder& real(double v);
  CallBuilder& boolean(bool v);
  CallBuilder& integers(std::vector<i64> v);
  CallBuilder& none();
  CallBuilder& may_share(i64 result, i64 operand);  // result may overwrite operand in place
  CallBuilder& numbers(CallNumbers);
  Lowered done() { return std::move(lowered_); }

 private:
  Lowered lowered_;
  size_t operands_, results_;
};

}  // namespace deuteron
