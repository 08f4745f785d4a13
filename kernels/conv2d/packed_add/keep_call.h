// SPDX-License-Identifier: Apache-2.0
// What the bindings of a convolution and addition in one call have in common: how a call is read,
// and how a host keeps it.
#pragma once
#include "kernels/common/kernels.h"
#include "kernels/conv2d/packed/read_call.h"
#include "kernels/conv2d/packed_add/rows.h"
#include "kernels/dense/packed_call.h"
#include "kernels/linear/packed_add/fields.h"
#include "runtime/instruction_set.h"

#if defined(DEUTERON_HOST_KERNELS)
#include "kernels/common/arena_host.h"
#include "kernels/conv2d/packed/kernel_host.h"
#endif

namespace deuteron {

#if !defined(DEUTERON_MICROCONTROLLER)
template <>
inline constexpr std::string_view kKernelName<packed_conv2d_add_s8<Packing::mve_4x16>> =
    "packed_conv2d_add_s8<Packing::mve_4x16>";
template <>
inline constexpr std::string_view kKernelName<packed_conv2d_add_s8<Packing::dsp_4x4>> =
    "packed_conv2d_add_s8<Packing::dsp_4x4>";
template <>
inline constexpr std::string_view kKernelName<packed_conv2d_add_s8<Packing::scalar_1x4>> =
    "packed_conv2d_add_s8<Packing::scalar_1x4>";
#endif

namespace packed_add {
struct Numbers {
  PackedConv2dArgs conv;
  int32_t x_factor, other_factor, first;
};
using Args = Numbers;
inline constexpr Argument kRow[] = {DEUTERON_PACKED_WINDOW,
                                    number(Is::step, DEUTERON_PACKED_FIELD(y_zero)),
                                    input(Is::s8_image),
                                    number(Is::int32, DEUTERON_FIELD(x_factor)),
                                    number(Is::int32, DEUTERON_FIELD(other_factor)),
                                    number(Is::int32, DEUTERON_FIELD(first)),
                                    scratch(Is::room),
                                    output(Is::s8_image)};
inline constexpr int kOther = kPackedXZero + 2, kScratch = last_of(kRow) - 1, kOut = last_of(kRow);
}  // namespace packed_add

#if defined(DEUTERON_HOST_KERNELS)
// A host has memory for the whole result of the convolution.
struct HostConvAdd {
  HostPackedConv2d conv;
  LinearAddArgs sum;
  const int8_t* other;
  int8_t* result;
};
inline void run_host_conv_add(const HostConvAdd& c, const int8_t* x, int8_t* y) {
  run_packed_conv2d(c.conv, x, c.result);
  (c.conv.args.has_shifts ? linear_add_q21_s8 : linear_add_s8)(c.sum, c.result, c.other, y);
}

// With weights in the order of the host's kernels, where there are such kernels and memory. False:
// not kept.
template <Packing p>
bool keep_added_on_host(Call& call, Prepared* prepared, const AddedRows& c) {
  if (call.recorder != nullptr || host_dot_forms().count == 0) return false;
  const HostDotForm& form = host_dot_forms().kernel[0];
  const int64_t ordered = packed_conv2d_host_bytes(c.conv, form);
  if (ordered == 0) return false;
  const auto order = [&](void* room) {
    auto* const behind = static_cast<int8_t*>(room) + ordered;
    return HostConvAdd{order_packed_conv2d<p>(c.conv, form, c.packed, room), c.sum, c.other,
                       behind};
  };
  return keep_ordered<HostConvAdd, run_host_conv_add>(prepared, ordered + c.sum.count, order, c.x,
                                                      c.y);
}
#endif

template <Feature f, auto kernel>
Status keep_added_as(Call& call, Prepared* prepared, const AddedRows& c) {
  return keep_for<f, kernel>(call, prepared, c.conv, c.sum, c.x, c.packed, c.other, c.rows,
                             c.scratch, c.scratch_bytes, c.y);
}
// With room for the rows of c and for both windows of dsp_4x4.
template <auto kernel>
Status keep_added_in_scratch(Call& call, Prepared* prepared, const AddedRows& c) {
  const int64_t bytes = packed_conv2d_add_rows_bytes(c.conv, c.rows) +
                        packed_conv2d_windows_bytes(c.conv, Packing::dsp_4x4);
  const Room room = room_for(call, bytes, c.scratch, c.scratch_bytes);
  return keep<kernel>(call, prepared, c.conv, c.sum, c.x, c.packed, c.other, c.rows, room.data,
                      room.bytes, c.y);
}

// Kernels: the functions of an operator, as kernels/conv2d/packed/keep_call.h says, and why_not().
template <class Kernels>
Status keep_added_mve(Call& call, Prepared* prepared, const AddedRows& c) {
  if constexpr (!kIsMicrocontroller) {
    const auto rows_bytes = static_cast<int32_t>(packed_conv2d_add_rows_bytes(c.conv, c.rows));
    const PackedMve form = packed_conv2d_mve_form(c.conv, c.scratch_bytes - rows_bytes);
    if (form == PackedMve::in_place)
      return keep_added_as<Feature::mve, Kernels::mve_in_place>(call, prepared, c);
    if (form == PackedMve::columns)
      return keep_added_as<Feature::mve, Kernels::mve_columns>(call, prepared, c);
    if (form == PackedMve::rows)
      return keep_added_as<Feature::mve, Kernels::mve_rows>(call, prepared, c);
  }
  return keep_added_as<Feature::mve, Kernels::mve>(call, prepared, c);
}

template <class Kernels>
Status keep_added_dsp(Call& call, Prepared* prepared, const AddedRows& c) {
  if constexpr (build_has<Feature::dsp>())
    return keep_added_in_scratch<Kernels::dsp_in_scratch>(call, prepared, c);
  else return keep_added_as<Feature::dsp, Kernels::dsp>(call, prepared, c);
}

template <class Kernels, Packing p>
Status keep_added(Call& call, Prepared* prepared, const AddedRows& c,
                  [[maybe_unused]] bool constant_weights) {
  if constexpr (p == Packing::mve_4x16)
    if (is_for<Feature::mve>(call)) return keep_added_mve<Kernels>(call, prepared, c);
  if constexpr (p == Packing::dsp_4x4)
    if (is_for<Feature::dsp>(call)) return keep_added_dsp<Kernels>(call, prepared, c);
  if constexpr (p == Packing::scalar_1x4)  // whose scratch holds the windows
    if (is_for<Feature::scalar>(call))
      return keep_added_as<Feature::scalar, Kernels::scalar>(call, prepared, c);
#if defined(DEUTERON_HOST_KERNELS)
  if (constant_weights && keep_added_on_host<p>(call, prepared, c)) return Status{};
#endif
  if constexpr (kIsMicrocontroller) return wrong_packing(kPackedWeights, p);
  else
    return keep<packed_conv2d_add_s8<p>>(call, prepared, c.conv, c.sum, c.x, c.packed, c.other,
                                         c.rows, c.scratch, c.scratch_bytes, c.y);
}

template <class Kernels, Packing p>
Status prepare_added(Call& call, Prepared* prepared) {
  using namespace packed_add;
  Numbers numbers{};
  PackedConv2dArgs& a = numbers.conv;
  Status s = read_row(call, kRow, &numbers);
  if (!s.ok() || !packed_call_fits<p, int8_bytes<p>, Kernels::kKind>(call, kOut, a, &s)) return s;
  const Tensor &other = call.tensor(kOther), &y = call.tensor(kOut);
  if (!same_sizes(other, y)) return bad_argument(kOther, "must have the shape of the result");
  if (y.numel == 0) return keep_nothing(prepared);
  if (const char* why = Kernels::why_not(a)) return bad_argument(kOut, why);
  const Tensor &x = call.tensor(kPackedX), &packed = call.tensor(kPackedWeights),
               &scratch = call.tensor(kScratch);
  if (scratch.numel < packed_conv2d_add_least_scratch_bytes(a, p))
    return bad_argument(kScratch, "must hold a row and the windows");
  const int32_t rows =
      scratch.numel < packed_conv2d_add_scratch_bytes(a, p) ? 1 : packed_conv2d_add_rows(a);
  if (x.data == y.data)
    return bad_argument(
        kOut, "must lie apart from the input");  // the kernel works in place of `other` alone
  const LinearAddArgs sum{y.numel, y.numel, numbers.x_factor, numbers.other_factor, numbers.first};
  const auto bytes = [](const Tensor& t) { return static_cast<int8_t*>(t.data); };
  return keep_added<Kernels, p>(
      call, prepared,
      {a, sum, bytes(x), bytes(packed), bytes(other), rows, scratch.data, scratch.numel, bytes(y)},
      packed.constant);
}

template <class Kernels, Packing p>
constexpr Kernel added_kernel(const char* name) {
  return kernel_by<packed_add::kRow>(name, prepare_added<Kernels, p>, kInPlace);
}

}  // namespace deuteron
