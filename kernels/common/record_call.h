// SPDX-License-Identifier: Apache-2.0
// A kernel's call told instead of kept: what a program's calls come to on a core, found on a host
// by the checks that the core's loader runs.
#pragma once
#include <string_view>

#include "kernels/common/fields.h"
#include "runtime/kernel.h"

namespace deuteron {

#if !defined(DEUTERON_MICROCONTROLLER) || defined(DEUTERON_FORMS)
template <auto kernel>
constexpr std::string_view name_of_kernel() {
#if defined(__clang__)
  constexpr std::string_view kText = __PRETTY_FUNCTION__, kKey = "[kernel = &deuteron::";
#else
  constexpr std::string_view kText = __PRETTY_FUNCTION__, kKey = "[with auto kernel = ";
#endif
  const std::string_view rest = kText.substr(kText.find(kKey) + kKey.size());
  return rest.substr(0, rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"));
}
#endif

// Whether a kernel is one of those that the calls of a firmware's models come to: DEUTERON_FORMS
// has their names, with a colon before and behind each. The others are not linked in then.
#if defined(DEUTERON_FORMS)
template <auto kernel>
constexpr bool is_linked() {
  constexpr std::string_view kAll = DEUTERON_FORMS, kName = name_of_kernel<kernel>();
  for (size_t at = kAll.find(kName); at != kAll.npos; at = kAll.find(kName, at + 1))
    if (kAll[at - 1] == ':' && kAll[at + kName.size()] == ':') return true;
  return false;
}
#else
template <auto kernel>
constexpr bool is_linked() {
  return true;
}
#endif

// What the compiler of a core may use: decides between a kernel and the portable one.
enum class Feature : uint8_t { mve, mve_float, dsp, dsp_float, scalar, soft_float };

#if !defined(DEUTERON_MICROCONTROLLER)
struct KernelShape {
  std::string_view name;  // as C++ spells it in our namespace: "mul_s8_mve"
  const FieldShape*
      parameters;  // a record where the kernel takes a reference; names and offsets are empty
  uint32_t count;
};

// What prepare() of a call with a recorder says it to.
struct CallRecorder {
  // of the core that runs the call: bit i: Feature i; 0: the portable kernels
  uint32_t features = 0;
  void (*record)(void* context, const KernelShape& kernel,
                 const void* const* arguments) = nullptr;  // arguments[i]: where parameter i lies
  void* context = nullptr;
  // may be null: why a kernel that the core has does not serve the call
  void (*refuse)(void* context, const char* why) = nullptr;
};
#endif

template <Feature f>
constexpr bool build_has() {
  switch (f) {
    case Feature::mve:
      return kHasMve;
    case Feature::mve_float:
      return kHasMveFloat;
    case Feature::dsp:
      return kHasDsp;
    case Feature::dsp_float:
      return kHasDspFloat;
    case Feature::scalar:
      return kHasScalar;
    case Feature::soft_float:
      return kHasSoftFloat;
  }
}

// Whether the core of a call has it: on a core a constant.
template <Feature f>
constexpr bool is_for(const Call& call) {
#if defined(DEUTERON_MICROCONTROLLER)
  return (void)call, build_has<f>();
#else
  return call.recorder != nullptr && (call.recorder->features >> static_cast<int>(f) & 1) != 0;
#endif
}

// Whether a kernel of the core serves a call: `why_not` of its arguments is null. Else the reason
// is told where somebody asks.
template <Feature f, auto why_not, class... A>
constexpr bool serves(const Call& call, const A&... arguments) {
  if (!is_for<f>(call)) return false;
  const char* const why = why_not(arguments...);
#if !defined(DEUTERON_MICROCONTROLLER)
  if (why != nullptr && call.recorder->refuse != nullptr)
    call.recorder->refuse(call.recorder->context, why);
#endif
  return why == nullptr;
}

#if !defined(DEUTERON_MICROCONTROLLER)
// For a template, which compilers spell differently: specialize it.
template <auto kernel>
inline constexpr std::string_view kKernelName = name_of_kernel<kernel>();

template <class P>
constexpr FieldShape shape_of_parameter() {
  if constexpr (std::is_reference_v<P>)
    return shape_of_field<std::remove_cv_t<std::remove_reference_t<P>>>("", 0);
  else return shape_of_field<P>("", 0);
}
template <auto kernel, class... P>
void tell(const CallRecorder& recorder, void (*)(P...), const std::decay_t<P>&... arguments) {
  static constexpr FieldShape kParameters[] = {shape_of_parameter<P>()...};
  const void* const places[] = {&arguments...};
  recorder.record(recorder.context, {kKernelName<kernel>, kParameters, sizeof...(P)}, places);
}
#endif

}  // namespace deuteron
