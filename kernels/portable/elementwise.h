// SPDX-License-Identifier: Apache-2.0
// Element by element, with broadcasting over any memory order: up to three inputs, one out.
#pragma once
#include "kernels/portable/strided.h"

namespace deuteron::portable {

struct Elementwise {
  const void* in[3];
  void* out;
  const int32_t* numbers;  // the out's sizes, then strides of each input, then of the out; null if
                           // all are stored alike
  int32_t numel;
  uint8_t rank;
  ScalarType types[3], out_type;
  double parameter[2];
  const void* op;  // what else run needs, in the program text
};

// Fills what is common; null when sizes broadcast to the out's. `inputs` are argument numbers.
inline const char* why_not_broadcast(const Tensor& in, const Tensor& out) {
  if (in.rank > out.rank) return "has a higher rank than the out";
  for (int i = 0; i < in.rank; ++i) {
    const int32_t size = in.sizes[i];
    if (size != 1 && size != out.sizes[out.rank - in.rank + i])
      return "does not broadcast to the out's sizes";
  }
  return nullptr;
}

template <int N>
Status keep_elementwise(Call& call, Prepared* prepared, const int (&inputs)[N], int out, double p0,
                        double p1, void (*run)(const void*), const void* op = nullptr) {
  const Tensor& y = call.tensor(out);
  Elementwise e{};
  e.out = y.data;
  e.out_type = y.type;
  e.numel = y.numel;
  e.rank = y.rank;
  e.parameter[0] = p0;
  e.parameter[1] = p1;
  e.op = op;
  bool alike = true;
  for (int k = 0; k < N; ++k) {
    const Tensor& x = call.tensor(inputs[k]);
    if (!is_known(x.type)) return bad_argument(inputs[k], "float16 is not supported");
    if (const char* why = why_not_broadcast(x, y)) return bad_argument(inputs[k], why);
    e.in[k] = x.data;
    e.types[k] = x.type;
    alike = alike && same_layout(x, y);
  }
  if (!is_known(y.type)) return bad_argument(out, "float16 is not supported");
  if (!alike) {
    int32_t* numbers = call.arena->make<int32_t>(size_t{N + 2} * y.rank);
    if (!numbers) return out_of_memory();
    e.numbers = numbers;
    for (int i = 0; i < y.rank; ++i) numbers[i] = y.sizes[i];
    for (int k = 0; k < N; ++k) {
      const Tensor& x = call.tensor(inputs[k]);
      int32_t strides[kMaxRank];
      strides_of(x, strides);
      int32_t* to = numbers + (k + 1) * y.rank;
      const int added = y.rank - x.rank;
      for (int i = 0; i < y.rank; ++i)
        to[i] = i < added || x.sizes[i - added] == 1 ? 0 : strides[i - added];
    }
    strides_of(y, numbers + (N + 1) * y.rank);
  }
  Elementwise* kept = call.arena->make<Elementwise>();
  if (!kept) return out_of_memory();
  *kept = e;
  *prepared = {run, kept};
  return Status{};
}

// visit(offsets of the inputs and the out) for each element of the out.
template <int N, class Visit>
void each(const Elementwise& e, Visit visit) {
  if (e.numel == 0) return;
  int32_t at[N + 1];
  if (!e.numbers) {
    for (int32_t i = 0; i < e.numel; ++i) {
      for (int k = 0; k <= N; ++k) at[k] = i;
      visit(static_cast<const int32_t*>(at));
    }
    return;
  }
  const int32_t* strides[N + 1];
  for (int k = 0; k <= N; ++k) strides[k] = e.numbers + (k + 1) * e.rank;
  walk<N + 1>(e.rank, e.numbers, strides, visit);
}

}  // namespace deuteron::portable
