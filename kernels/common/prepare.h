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
bool stored_in_order(const Tensor& t, const uint8_t* order);

inline constexpr uint8_t kChannelsLast[4] = {0, 2, 3, 1};
bool is_dense(const Tensor& t);
bool is_channels_last(const Tensor& t);

bool same_sizes(const Tensor& a, const Tensor& b);
// Same sizes, and element i of the one lies where element i of the other lies.
bool same_layout(const Tensor& a, const Tensor& b);

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

const char* why_not_image(const Tensor& t);
const char* why_not_dense(const Tensor& t, ScalarType type, int rank);
// int32, an entry for each channel: a bias.
const char* why_not_channel_sums(const Tensor& t, int32_t channels);
// The same in the file, each value in low..high: a requantization parameter of each channel.
const char* why_not_channel_constants(const Tensor& t, int32_t channels, int32_t low, int32_t high);
inline const char* why_not_multipliers(const Tensor& t, int32_t channels) {
  return why_not_channel_constants(t, channels, -INT32_MAX, INT32_MAX);
}
inline const char* why_not_shifts(const Tensor& t, int32_t channels) {
  return why_not_channel_constants(t, channels, -31, 30);
}

// The two numbers of a list such as stride: height, then width.
const char* read_pair(const Call& call, int argument, int32_t low, int32_t high, int32_t* h,
                      int32_t* w);

// For an output without elements, whose other extents may be anything: no loop may run over them.
Status keep_nothing(Prepared* prepared);

// Room in the program's tables for what `run` gets; null where there is none. Then what prepare()
// answers.
void* keep_room(Call& call, Prepared* prepared, void (*run)(const void*), size_t bytes,
                size_t align);
Status kept(const void* room);

// Copies `args` into the program's tables and makes `run` their function: for kernels with a struct
// of their own, which no C program calls.
template <class T, void (*run)(const T&)>
Status keep(Call& call, Prepared* prepared, const T& args) {
  void* room = keep_room(
      call, prepared, [](const void* p) { run(*static_cast<const T*>(p)); }, sizeof(T), alignof(T));
  if (room != nullptr) new (room) T(args);
  return kept(room);
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
  void* room = keep_room(call, prepared, Kept::run, sizeof(Kept), alignof(Kept));
  if (room != nullptr) new (room) Kept{{arguments...}};
  return kept(room);
}

// Of a firmware that knows its models: a program that is none of them may come to a kernel that is
// left out.
Status lacks_form();
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
Room room_for(const Call& call, int64_t bytes, void* scratch, int32_t scratch_bytes);

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
