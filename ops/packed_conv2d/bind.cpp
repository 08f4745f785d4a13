// deuteron::packed_conv2d: its arguments checked once, at load. The overload says the packing (ops/dense/packing.h). A host runs each by
// the portable kernel, a core only that of its instruction set.
#include "ops/dense/packed_call.h"
#include "ops/device/kernels.h"
#include "ops/packed_conv2d/read_call.h"
#include "runtime/instruction_set.h"

#if defined(DEUTERON_HOST_KERNELS)
#include "ops/device/arena_host.h"
#include "ops/packed_conv2d/kernel_host.h"
#endif

namespace deuteron {

#if !defined(DEUTERON_MICROCONTROLLER)
template <>
inline constexpr std::string_view kKernelName<packed_conv2d_s8<Packing::mve_4x16>> = "packed_conv2d_s8<Packing::mve_4x16>";
template <>
inline constexpr std::string_view kKernelName<packed_conv2d_s8<Packing::dsp_4x4>> = "packed_conv2d_s8<Packing::dsp_4x4>";
#endif

namespace {

enum { kX = kPackedX, kPacked, kYZero = kPackedXZero + 1, kScratch, kOut };

template <class Args>  // PackedConv2dArgs, or where they lie in the file
struct PackedCall {
  const Args& args;
  bool constant;  // the weights
  const int8_t *x, *packed;
  void* scratch;
  int32_t scratch_bytes;
  int8_t* y;
};
#if defined(DEUTERON_HOST_KERNELS)
// With weights in the order of the host's kernels, where there are such kernels and memory. False: not kept.
template <Packing p, class Args>
bool keep_on_host(Call& call, Prepared* prepared, const PackedCall<Args>& c) {
  if (call.recorder != nullptr || !c.constant || host_dot_forms().count == 0) return false;
  const HostDotForm& form = host_dot_forms().kernel[0];
  const auto order = [&](void* room) { return order_packed_conv2d<p>(c.args, form, c.packed, room); };
  return keep_ordered<HostPackedConv2d, run_packed_conv2d>(prepared, packed_conv2d_host_bytes(c.args, form), order, c.x, c.y);
}
#endif

template <Feature f, auto kernel, class Args>
Status keep_in_scratch(Call& call, Prepared* prepared, const PackedCall<Args>& c) {
  return keep_for<f, kernel>(call, prepared, c.args, c.x, c.packed, c.scratch, c.scratch_bytes, c.y);
}
// A core has one kernel, which chooses when it runs: names for the forms would be more flash than the choice.
template <class Args>
Status keep_mve(Call& call, Prepared* prepared, const PackedCall<Args>& c) {
  if constexpr (!kIsMicrocontroller) switch (packed_conv2d_mve_form(c.args, c.scratch_bytes)) {
      case PackedMve::any:
        break;
      case PackedMve::alone:
        return keep_for<Feature::mve, packed_conv2d_s8_mve_alone>(call, prepared, c.args, c.x, c.packed, c.y);
      case PackedMve::in_place:
        return keep_for<Feature::mve, packed_conv2d_s8_mve_in_place>(call, prepared, c.args, c.x, c.packed, c.y);
      case PackedMve::columns:
        return keep_in_scratch<Feature::mve, packed_conv2d_s8_mve_columns>(call, prepared, c);
      case PackedMve::rows:
        return keep_in_scratch<Feature::mve, packed_conv2d_s8_mve_rows>(call, prepared, c);
    }
  return keep_in_scratch<Feature::mve, packed_conv2d_s8_mve>(call, prepared, c);
}

template <Packing p, class Args>
Status keep_packed(Call& call, Prepared* prepared, const PackedCall<Args>& c) {
  if constexpr (p == Packing::mve_4x16)
    if (is_for<Feature::mve>(call)) return keep_mve(call, prepared, c);
  if constexpr (p == Packing::dsp_4x4)
    if (is_for<Feature::dsp>(call)) {
      if constexpr (build_has<Feature::dsp>()) {
        const Room room = room_for(call, packed_conv2d_windows_bytes(c.args), c.scratch, c.scratch_bytes);
        return keep<packed_conv2d_s8_dsp_in_scratch>(call, prepared, c.args, c.x, c.packed, room.data, room.bytes, c.y);
      } else if (packed_conv2d_is_alone(c.args)) {
        return keep_in_scratch<Feature::dsp, packed_conv2d_s8_dsp_alone>(call, prepared, c);
      } else if (const PackedConv2dArgs& a = c.args; !a.has_shifts) {
        return keep_in_scratch<Feature::dsp, packed_conv2d_s8_dsp_windows>(call, prepared, c);
      } else {
        return keep_in_scratch<Feature::dsp, packed_conv2d_s8_dsp>(call, prepared, c);
      }
    }
#if defined(DEUTERON_HOST_KERNELS)
  if (keep_on_host<p>(call, prepared, c)) return Status{};
#endif
  if constexpr (kIsMicrocontroller) return wrong_packing(kPacked, p);
  else return keep<packed_conv2d_s8<p>>(call, prepared, c.args, c.x, c.packed, c.y);
}

template <Packing p>
Status prepare(Call& call, Prepared* prepared) {
  PackedConv2dArgs a{};
  if (Status s = read_packed_call<p>(call, kYZero, kScratch, kOut, a); !s.ok()) return s;
  if (call.tensor(kOut).numel == 0) return keep_nothing(prepared);
  const Tensor& scratch = call.tensor(kScratch);
  if (scratch.numel < packed_conv2d_least_scratch_bytes(a, p)) return bad_argument(kScratch, "must hold the windows");
  if (tell_words(call, a)) return keep_nothing(prepared);
  return keep_packed<p, PackedConv2dArgs>(
      call, prepared,
      {a, call.tensor(kPacked).constant, static_cast<const int8_t*>(call.tensor(kX).data),
       static_cast<const int8_t*>(call.tensor(kPacked).data), scratch.data, scratch.numel, static_cast<int8_t*>(call.tensor(kOut).data)});
}

template <Packing p>
bool prepare_ready(const ReadyCall& ready, Prepared* prepared) {
  const Operand &x = ready.operands[0], &packed = ready.operands[1], &scratch = ready.operands[2], &y = ready.operands[3];
  const InFile<PackedConv2dArgs> a{checked_packed_call<p>(ready, y, scratch)};
  if (a.at == nullptr || scratch.bytes < packed_conv2d_least_scratch_bytes(a, p)) return false;
  Call call{nullptr, 0, ready.arena, ready.isa};
  return keep_packed<p, InFile<PackedConv2dArgs>>(
             call, prepared,
             {a, packed.constant, static_cast<const int8_t*>(x.data), static_cast<const int8_t*>(packed.data), scratch.data, scratch.bytes,
              static_cast<int8_t*>(y.data)})
      .ok();
}
template <Packing p>
constexpr ReadyForm kReady = kLoadsPlans ? ReadyForm{"TTXO", sizeof(PackedConv2dArgs) / 4, prepare_ready<p>} : ReadyForm{};

template <Packing p>
constexpr auto kPrepare = kLoadsPlansOnly ? nullptr : prepare<p>;

}  // namespace

const Kernel kPackedConv2dMve4x16 = {"deuteron::packed_conv2d.mve_4x16", "TTLLLLIIXO", kPrepare<Packing::mve_4x16>, false,
                                     kReady<Packing::mve_4x16>};
const Kernel kPackedConv2dDsp4x4 = {"deuteron::packed_conv2d.dsp_4x4", "TTLLLLIIXO", kPrepare<Packing::dsp_4x4>, false,
                                    kReady<Packing::dsp_4x4>};

}  // namespace deuteron
