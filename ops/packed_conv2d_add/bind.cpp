// deuteron::packed_conv2d_add: its arguments checked once, at load. The overload says the packing (ops/dense/packing.h). A host runs each
// by the portable kernel, a core only that of its instruction set.
#include "ops/dense/packed_call.h"
#include "ops/device/kernels.h"
#include "ops/linear_add/fields.h"
#include "ops/packed_conv2d/read_call.h"
#include "ops/packed_conv2d_add/rows.h"
#include "runtime/instruction_set.h"

#if defined(DEUTERON_HOST_KERNELS)
#include "ops/device/arena_host.h"
#include "ops/packed_conv2d/kernel_host.h"
#endif

namespace deuteron {

#if !defined(DEUTERON_MICROCONTROLLER)
template <>
inline constexpr std::string_view kKernelName<packed_conv2d_add_s8<Packing::mve_4x16>> = "packed_conv2d_add_s8<Packing::mve_4x16>";
template <>
inline constexpr std::string_view kKernelName<packed_conv2d_add_s8<Packing::dsp_4x4>> = "packed_conv2d_add_s8<Packing::dsp_4x4>";
#endif

namespace {

enum { kYZero = kPackedXZero + 1, kOther, kXFactor, kOtherFactor, kFirst, kScratch, kOut };

#if defined(DEUTERON_HOST_KERNELS)
// A host has memory for the whole result of the convolution.
struct HostConvAdd {
  HostPackedConv2d conv;
  LinearAddArgs sum;
  const int8_t* other;
  int8_t* result;
};
void run_host_conv_add(const HostConvAdd& c, const int8_t* x, int8_t* y) {
  run_packed_conv2d(c.conv, x, c.result);
  linear_add_s8(c.sum, c.result, c.other, y);
}

// With weights in the order of the host's kernels, where there are such kernels and memory. False: not kept.
template <Packing p>
bool keep_on_host(Call& call, Prepared* prepared, const AddedRows& c) {
  if (call.recorder != nullptr || !call.tensor(kPackedWeights).constant || host_dot_forms().count == 0) return false;
  const HostDotForm& form = host_dot_forms().kernel[0];
  const int64_t ordered = packed_conv2d_host_bytes(c.conv, form);
  if (ordered == 0) return false;
  const auto order = [&](void* room) {
    auto* const behind = static_cast<int8_t*>(room) + ordered;
    return HostConvAdd{order_packed_conv2d<p>(c.conv, form, c.packed, room), c.sum, c.other, behind};
  };
  return keep_ordered<HostConvAdd, run_host_conv_add>(prepared, ordered + c.sum.count, order, c.x, c.y);
}
#endif

template <Packing p>
Status keep_packed_add(Call& call, Prepared* prepared, const AddedRows& c) {
  if constexpr (p == Packing::mve_4x16)
    if (is_for<Feature::mve>(call))
      return keep_for<Feature::mve, packed_conv2d_add_s8_mve>(call, prepared, c.conv, c.sum, c.x, c.packed, c.other, c.rows, c.scratch,
                                                              c.scratch_bytes, c.y);
  if constexpr (p == Packing::dsp_4x4)
    if (is_for<Feature::dsp>(call))
      return keep_for<Feature::dsp, packed_conv2d_add_s8_dsp>(call, prepared, c.conv, c.sum, c.x, c.packed, c.other, c.rows, c.scratch,
                                                              c.scratch_bytes, c.y);
#if defined(DEUTERON_HOST_KERNELS)
  if (keep_on_host<p>(call, prepared, c)) return Status{};
#endif
  if constexpr (kIsMicrocontroller) return wrong_packing(kPackedWeights, p);
  else return keep<packed_conv2d_add_s8<p>>(call, prepared, c.conv, c.sum, c.x, c.packed, c.other, c.rows, c.scratch, c.scratch_bytes, c.y);
}

template <Packing p>
Status prepare(Call& call, Prepared* prepared) {
  PackedConv2dArgs a;
  if (Status s = read_packed_call<p>(call, kYZero, kScratch, kOut, a); !s.ok()) return s;
  const Tensor &x = call.tensor(kPackedX), &other = call.tensor(kOther), &scratch = call.tensor(kScratch), &y = call.tensor(kOut);
  if (const char* why = why_not_image(other)) return bad_argument(kOther, why);
  for (int i = 0; i < 4; ++i)
    if (other.sizes[i] != y.sizes[i]) return bad_argument(kOther, "must have the shape of the result");
  for (int i = kXFactor; i <= kFirst; ++i)
    if (!lies_in(call.integer(i), INT32_MIN, INT32_MAX)) return bad_argument(i, "is out of range");
  if (y.numel == 0) return keep_nothing(prepared);
  if (const char* why = why_not_packed_conv2d_add(a)) return bad_argument(kOut, why);
  if (scratch.numel < packed_conv2d_add_least_scratch_bytes(a, p)) return bad_argument(kScratch, "must hold a row and the windows");
  const int32_t rows = scratch.numel < packed_conv2d_add_scratch_bytes(a, p) ? 1 : packed_conv2d_add_rows(a);
  if (x.data == y.data) return bad_argument(kOut, "must lie apart from the input");  // the kernel works in place of `other` alone
  const auto number = [&](int i) { return static_cast<int32_t>(call.integer(i)); };
  const LinearAddArgs sum{y.numel, y.numel, number(kXFactor), number(kOtherFactor), number(kFirst)};
  const auto bytes = [](const Tensor& t) { return static_cast<const int8_t*>(t.data); };
  return keep_packed_add<p>(call, prepared,
                            {a, sum, bytes(x), bytes(call.tensor(kPackedWeights)), bytes(other), rows, scratch.data, scratch.numel,
                             static_cast<int8_t*>(y.data)});
}

}  // namespace

const Kernel kPackedConv2dAddMve4x16 = {"deuteron::packed_conv2d_add.mve_4x16", "TTLLLLIITIIIXO", prepare<Packing::mve_4x16>, true};
const Kernel kPackedConv2dAddDsp4x4 = {"deuteron::packed_conv2d_add.dsp_4x4", "TTLLLLIITIIIXO", prepare<Packing::dsp_4x4>, true};

}  // namespace deuteron
