// SPDX-License-Identifier: Apache-2.0
// What the bindings of convolutions on packed weights have in common: how a call is read, and how a
// host keeps it.
#pragma once
#include "kernels/common/kernels.h"
#include "kernels/conv2d/packed/read_call.h"
#include "kernels/dense/packed_call.h"
#include "runtime/instruction_set.h"

#if defined(DEUTERON_HOST_KERNELS)
#include "kernels/common/arena_host.h"
#include "kernels/conv2d/packed/kernel_host.h"
#endif

namespace deuteron {

#if !defined(DEUTERON_MICROCONTROLLER)
template <>
inline constexpr std::string_view kKernelName<packed_conv2d_s8<Packing::mve_4x16>> =
    "packed_conv2d_s8<Packing::mve_4x16>";
template <>
inline constexpr std::string_view kKernelName<packed_conv2d_s8<Packing::dsp_4x4>> =
    "packed_conv2d_s8<Packing::dsp_4x4>";
template <>
inline constexpr std::string_view kKernelName<packed_conv2d_s8<Packing::scalar_1x4>> =
    "packed_conv2d_s8<Packing::scalar_1x4>";
#endif

struct PackedCall {
  const PackedConv2dArgs& args;
  bool constant;  // the weights
  const int8_t *x, *packed;
  void* scratch;
  int32_t scratch_bytes;
  int8_t* y;
};

template <Feature f, auto kernel>
Status keep_in_scratch(Call& call, Prepared* prepared, const PackedCall& c) {
  return keep_for<f, kernel>(call, prepared, c.args, c.x, c.packed, c.scratch, c.scratch_bytes,
                             c.y);
}

#if defined(DEUTERON_HOST_KERNELS)
// With weights in the order of the host's kernels, where there are such kernels and memory. False:
// not kept.
template <Packing p, PackedKind kind>
bool keep_on_host(Call& call, Prepared* prepared, const PackedCall& c) {
  if (call.recorder != nullptr || !c.constant || host_dot_forms().count == 0) return false;
  const HostDotForm& form = host_dot_forms().kernel[0];
  const auto order = [&](void* room) {
    return order_packed_conv2d<p, kind == PackedKind::behind_relu>(c.args, form, c.packed, room);
  };
  return keep_ordered<HostPackedConv2d, run_packed_conv2d>(
      prepared, packed_conv2d_host_bytes(c.args, form), order, c.x, c.y);
}
#endif

// Kernels: the functions of an operator. Its kKind, the portable one of a packing, and those that
// choose when they run, mve and dsp; what they come to, mve_alone, mve_in_place, mve_columns,
// mve_apart, mve_rows, dsp_alone and dsp_windows, which a C program calls by name; dsp_in_scratch
// for a core. For a core names for the forms would be more flash than the choice. Of packed_conv2d
// scalar, scalar_alone and scalar_in_scratch too.
template <class Kernels>
Status keep_mve(Call& call, Prepared* prepared, const PackedCall& c) {
  if constexpr (!kIsMicrocontroller) switch (packed_conv2d_mve_form(c.args, c.scratch_bytes)) {
      case PackedMve::any:
        break;
      case PackedMve::alone:
        return keep_for<Feature::mve, Kernels::mve_alone>(call, prepared, c.args, c.x, c.packed,
                                                          c.y);
      case PackedMve::in_place:
        return keep_for<Feature::mve, Kernels::mve_in_place>(call, prepared, c.args, c.x, c.packed,
                                                             c.y);
      case PackedMve::columns:
        return keep_in_scratch<Feature::mve, Kernels::mve_columns>(call, prepared, c);
      case PackedMve::apart:
        return keep_in_scratch<Feature::mve, Kernels::mve_apart>(call, prepared, c);
      case PackedMve::rows:
        return keep_in_scratch<Feature::mve, Kernels::mve_rows>(call, prepared, c);
    }
  return keep_in_scratch<Feature::mve, Kernels::mve>(call, prepared, c);
}

template <class Kernels>
Status keep_dsp(Call& call, Prepared* prepared, const PackedCall& c) {
  if constexpr (build_has<Feature::dsp>()) {
    const Room room = room_for(call, packed_conv2d_windows_bytes(c.args, Packing::dsp_4x4),
                               c.scratch, c.scratch_bytes);
    return keep<Kernels::dsp_in_scratch>(call, prepared, c.args, c.x, c.packed, room.data,
                                         room.bytes, c.y);
  } else if (packed_conv2d_is_alone(c.args)) {
    return keep_in_scratch<Feature::dsp, Kernels::dsp_alone>(call, prepared, c);
  } else if (const PackedConv2dArgs& a = c.args;
             Kernels::kKind == PackedKind::all_shifts || !a.has_shifts) {
    return keep_in_scratch<Feature::dsp, Kernels::dsp_windows>(call, prepared, c);
  } else {
    return keep_in_scratch<Feature::dsp, Kernels::dsp>(call, prepared, c);
  }
}

template <class Kernels>
Status keep_scalar(Call& call, Prepared* prepared, const PackedCall& c) {
  const int64_t bytes = packed_conv2d_windows_bytes(c.args, Packing::scalar_1x4);
  if constexpr (build_has<Feature::scalar>()) {
    const Room room = room_for(call, bytes, c.scratch, c.scratch_bytes);
    return keep<Kernels::scalar_in_scratch>(call, prepared, c.args, c.x, c.packed, room.data,
                                            room.bytes, c.y);
  } else if (bytes == 0) {
    return keep_for<Feature::scalar, Kernels::scalar_alone>(call, prepared, c.args, c.x, c.packed,
                                                            c.y);
  } else if (c.scratch_bytes >= bytes) {
    return keep_in_scratch<Feature::scalar, Kernels::scalar_in_scratch>(call, prepared, c);
  } else {
    return keep_in_scratch<Feature::scalar, Kernels::scalar>(call, prepared, c);
  }
}

// By the kernel of the core's instruction set; on a host by its own, or the portable one.
template <class Kernels, Packing p>
Status keep_packed(Call& call, Prepared* prepared, const PackedCall& c) {
  if constexpr (p == Packing::mve_4x16)
    if (is_for<Feature::mve>(call)) return keep_mve<Kernels>(call, prepared, c);
  if constexpr (p == Packing::dsp_4x4)
    if (is_for<Feature::dsp>(call)) return keep_dsp<Kernels>(call, prepared, c);
  if constexpr (p == Packing::scalar_1x4)
    if (is_for<Feature::scalar>(call)) return keep_scalar<Kernels>(call, prepared, c);
#if defined(DEUTERON_HOST_KERNELS)
  if (keep_on_host<p, Kernels::kKind>(call, prepared, c)) return Status{};
#endif
  if constexpr (kIsMicrocontroller) return wrong_packing(kPackedWeights, p);
  else return keep<Kernels::template portable<p>>(call, prepared, c.args, c.x, c.packed, c.y);
}

template <class Kernels, Packing p>
Status prepare_packed(Call& call, Prepared* prepared) {
  constexpr int kScratch = last_of(kPackedRow) - 1, kOut = last_of(kPackedRow);
  PackedConv2dArgs a{};
  Status s = read_row(call, kPackedRow, &a);
  if (!s.ok() || !packed_call_fits<p, int8_bytes<p>, Kernels::kKind>(call, kOut, a, &s)) return s;
  if (call.tensor(kOut).numel == 0) return keep_nothing(prepared);
  const Tensor &packed = call.tensor(kPackedWeights), &scratch = call.tensor(kScratch);
  if (scratch.numel < packed_conv2d_least_scratch_bytes(a, p))
    return bad_argument(kScratch, "must hold the windows");
  return keep_packed<Kernels, p>(
      call, prepared,
      {a, packed.constant, static_cast<const int8_t*>(call.tensor(kPackedX).data),
       static_cast<const int8_t*>(packed.data), scratch.data, scratch.numel,
       static_cast<int8_t*>(call.tensor(kOut).data)});
}

template <class Kernels, Packing p>
constexpr Kernel packed_kernel(const char* name) {
  return kernel_by<kPackedRow>(name, prepare_packed<Kernels, p>);
}

}  // namespace deuteron
