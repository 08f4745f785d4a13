// SPDX-License-Identifier: Apache-2.0
// What prepare() asks of a call's arguments, in one wording for all kernels, and how it keeps what
// run needs. A check named why_not_... gives null when all is well, else the words for
// Status::detail: no strings are made on a device.
#pragma once
#include <initializer_list>
#include <new>
#include <tuple>
#include <type_traits>

#include "kernels/common/record_call.h"

namespace deuteron {

// True when the bytes lie in memory as if the dimensions were stored in `order`: dimensions of one
// element may stand anywhere.
inline bool stored_in_order(const Tensor& t, const uint8_t* order) {
  int k = 0;
  for (int i = 0; i < t.rank; ++i) {
    if (t.sizes[order[i]] == 1) continue;
    while (t.sizes[t.dim_order[k]] == 1) ++k;
    if (t.dim_order[k++] != order[i]) return false;
  }
  return true;
}

inline constexpr uint8_t kDense[kMaxRank] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
inline constexpr uint8_t kChannelsLast[4] = {0, 2, 3, 1};
// Most orders are the very one that is asked for.
inline bool is_dense(const Tensor& t) {
  int i = 0;
  while (i < t.rank && t.dim_order[i] == i) ++i;
  return i == t.rank || stored_in_order(t, kDense);
}
inline bool is_channels_last(const Tensor& t) {
  if (t.rank != 4) return false;
  uint32_t order, last;
  __builtin_memcpy(&order, t.dim_order, sizeof order);
  __builtin_memcpy(&last, kChannelsLast, sizeof last);
  return order == last || stored_in_order(t, kChannelsLast);
}

inline bool same_sizes(const Tensor& a, const Tensor& b) {
  if (a.rank != b.rank) return false;
  if (a.sizes == b.sizes) return true;  // equal shapes of a file lie in one place
  for (int i = 0; i < a.rank; ++i)
    if (a.sizes[i] != b.sizes[i]) return false;
  return true;
}
// Same sizes, and element i of the one lies where element i of the other lies.
inline bool same_layout(const Tensor& a, const Tensor& b) {
  return same_sizes(a, b) && (a.dim_order == b.dim_order || stored_in_order(a, b.dim_order));
}

inline bool is_aligned(const Tensor& t, uintptr_t bytes) {
  return reinterpret_cast<uintptr_t>(t.data) % bytes == 0;
}
inline bool lies_in(int64_t v, int64_t low, int64_t high) { return v >= low && v <= high; }
inline bool is_s8(int64_t v) { return lies_in(v, -128, 127); }
inline bool is_s32(int64_t v) { return lies_in(v, INT32_MIN, INT32_MAX); }

// The two numbers of requantize(). A multiplier of INT32_MIN has no positive counterpart: no writer
// makes it.
inline bool is_multiplier(int64_t v) { return lies_in(v, -INT32_MAX, INT32_MAX); }
inline bool is_shift(int64_t v) { return lies_in(v, -31, 30); }

inline const char* why_not_image(const Tensor& t) {
  if (t.type != ScalarType::s8) return "must be int8";
  if (t.rank != 4) return "must have rank 4";
  if (!is_channels_last(t)) return "must be stored channels-last";
  return nullptr;
}

inline const char* why_not_dense(const Tensor& t, ScalarType type, int rank) {
  if (t.type != type) return "has the wrong dtype";
  if (t.rank != rank) return "has the wrong rank";
  if (!is_dense(t)) return "must be stored in the order of its dimensions";
  return nullptr;
}

// int32, an entry for each channel: a bias.
inline const char* why_not_channel_sums(const Tensor& t, int32_t channels) {
  if (t.type != ScalarType::s32) return "must be int32";
  if (!is_aligned(t, 4)) return "must be 4-aligned";
  if (t.numel != channels) return "must have one entry for each output channel";
  return nullptr;
}

// The same in the file, each value in low..high: a requantization parameter of each channel.
inline const char* why_not_channel_constants(const Tensor& t, int32_t channels, int32_t low,
                                             int32_t high) {
  if (const char* why = why_not_channel_sums(t, channels)) return why;
  if (!t.constant) return "must be a constant";
  const int32_t* v = static_cast<const int32_t*>(t.data);
  for (int32_t i = 0; i < channels; ++i)
    if (v[i] < low || v[i] > high) return "has a value out of range";
  return nullptr;
}
inline const char* why_not_multipliers(const Tensor& t, int32_t channels) {
  return why_not_channel_constants(t, channels, -INT32_MAX, INT32_MAX);
}
inline const char* why_not_shifts(const Tensor& t, int32_t channels) {
  return why_not_channel_constants(t, channels, -31, 30);
}

// The two numbers of a list such as stride: height, then width.
inline const char* read_pair(const Call& call, int argument, int32_t low, int32_t high, int32_t* h,
                             int32_t* w) {
  if (call.list(argument).count != 2) return "must have two numbers";
  const int64_t a = call.list_integer(argument, 0), b = call.list_integer(argument, 1);
  if (!lies_in(a, low, high) || !lies_in(b, low, high)) return "is out of range";
  *h = static_cast<int32_t>(a);
  *w = static_cast<int32_t>(b);
  return nullptr;
}

// For an output without elements, whose other extents may be anything: no loop may run over them.
inline Status keep_nothing(Prepared* prepared) {
  prepared->args = nullptr;
  prepared->run = [](const void*) {};
  return Status{};
}

// Copies `args` into the program's tables and makes `run` their function: for kernels with a struct
// of their own, which no C program calls.
template <class T, void (*run)(const T&)>
Status keep(Call& call, Prepared* prepared, const T& args) {
  T* kept = call.arena->make<T>();
  if (kept == nullptr) return out_of_memory();
  *kept = args;
  prepared->args = kept;
  prepared->run = [](const void* p) { run(*static_cast<const T*>(p)); };
  return Status{};
}

// The arguments of a kernel as the program's tables keep them.
template <auto kernel, class... Kept>
struct KeptCall {
  std::tuple<Kept...> arguments;
  static void run(const void* kept) {
    std::apply([](const auto&... a) { kernel(a...); },
               static_cast<const KeptCall*>(kept)->arguments);
  }
};
template <auto kernel>
struct KeptCallOf;
template <class... P, void (*kernel)(P...)>
struct KeptCallOf<kernel> {
  using Type = KeptCall<kernel, std::decay_t<P>...>;
};

// Copies the kernel's arguments into the program's tables, for `run` to call it with; or tells
// them, where somebody asks.
template <auto kernel, class... A>
Status keep(Call& call, Prepared* prepared, const A&... arguments) {
#if !defined(DEUTERON_MICROCONTROLLER)
  if (call.recorder != nullptr)
    return tell<kernel>(*call.recorder, kernel, arguments...), keep_nothing(prepared);
#endif
  using Kept = typename KeptCallOf<kernel>::Type;
  void* room = call.arena->make<Kept>();
  if (room == nullptr) return out_of_memory();
  prepared->args = new (room) Kept{{arguments...}};
  prepared->run = Kept::run;
  return Status{};
}

// Of a firmware that knows its models: a program that is none of them may come to a kernel that is
// left out.
inline Status lacks_form() {
  Status s;
  s.code = Code::missing_kernel;
  s.detail = "takes a loop that no model of this firmware takes: build it with -DALL_FORMS=ON";
  return s;
}
template <auto kernel, class... A>
Status keep_linked(Call& call, Prepared* prepared, const A&... arguments) {
  if constexpr (is_linked<kernel>()) return keep<kernel>(call, prepared, arguments...);
  else return lacks_form();
}

// The scratch of a call, or, where the file gives less than `bytes`, memory that the program's
// calls share. Without memory `data` is null: then the load has failed.
struct Room {
  void* data;
  int32_t bytes;
};
inline Room room_for(const Call& call, int64_t bytes, void* scratch, int32_t scratch_bytes) {
  if (scratch_bytes >= bytes) return {scratch, scratch_bytes};
  return {call.arena->share(static_cast<size_t>(bytes)), static_cast<int32_t>(bytes)};
}

// The same with a kernel that only cores with the feature have; where is_for<f>(call).
template <Feature f, auto kernel, class... A>
Status keep_for(Call& call, Prepared* prepared, const A&... arguments) {
  if constexpr (build_has<f>()) return keep<kernel>(call, prepared, arguments...);
#if !defined(DEUTERON_MICROCONTROLLER)
  tell<kernel>(*call.recorder, kernel, arguments...);
#endif
  return keep_nothing(prepared);
}

// Whether two kernels are one: as types, because gcc's undefined-behaviour sanitizer takes no
// comparison of addresses for a constant.
template <auto kernel>
struct KernelType {};
template <auto a, auto b>
inline constexpr bool kIsOneKernel = std::is_same_v<KernelType<a>, KernelType<b>>;

// The fastest one that the call's core has. Where there is no other, the portable kernel stands for
// it.
template <auto portable, auto mve, auto dsp = portable, auto scalar = portable, class... A>
Status keep_fastest(Call& call, Prepared* prepared, const A&... arguments) {
  if constexpr (!kIsOneKernel<mve, portable>)
    if (is_for<Feature::mve>(call))
      return keep_for<Feature::mve, mve>(call, prepared, arguments...);
  if constexpr (!kIsOneKernel<dsp, portable>)
    if (is_for<Feature::dsp>(call))
      return keep_for<Feature::dsp, dsp>(call, prepared, arguments...);
  if constexpr (!kIsOneKernel<scalar, portable>)
    if (is_for<Feature::scalar>(call))
      return keep_for<Feature::scalar, scalar>(call, prepared, arguments...);
  return keep<portable>(call, prepared, arguments...);
}

}  // namespace deuteron
