// deuteron::packed_conv2d_shifts: its arguments checked once, at load, as those of deuteron::packed_conv2d.
#include "ops/packed_conv2d/keep_call.h"
#include "ops/packed_conv2d_shifts/kernel.h"

namespace deuteron {
namespace {

struct Forms {
  static constexpr PackedKind kKind = PackedKind::all_shifts;

  template <class Args>
  static Status keep_mve(Call& call, Prepared* prepared, const PackedCall<Args>& c) {
    if constexpr (!kIsMicrocontroller) switch (packed_conv2d_mve_form(c.args, c.scratch_bytes)) {
        case PackedMve::any:
          break;
        case PackedMve::alone:
        case PackedMve::in_place:
          return keep_for<Feature::mve, packed_conv2d_shifts_s8_mve_in_place>(call, prepared, c.args, c.x, c.packed, c.y);
        case PackedMve::columns:
          return keep_in_scratch<Feature::mve, packed_conv2d_shifts_s8_mve_columns>(call, prepared, c);
        case PackedMve::rows:
          return keep_in_scratch<Feature::mve, packed_conv2d_shifts_s8_mve_rows>(call, prepared, c);
      }
    return keep_in_scratch<Feature::mve, packed_conv2d_shifts_s8_mve>(call, prepared, c);
  }

  template <class Args>
  static Status keep_dsp(Call& call, Prepared* prepared, const PackedCall<Args>& c) {
    if constexpr (build_has<Feature::dsp>()) {
      const Room room = room_for(call, packed_conv2d_windows_bytes(c.args), c.scratch, c.scratch_bytes);
      return keep<packed_conv2d_shifts_s8_dsp_in_scratch>(call, prepared, c.args, c.x, c.packed, room.data, room.bytes, c.y);
    } else if (packed_conv2d_is_alone(c.args)) {
      return keep_in_scratch<Feature::dsp, packed_conv2d_shifts_s8_dsp>(call, prepared, c);
    } else {
      return keep_in_scratch<Feature::dsp, packed_conv2d_shifts_s8_dsp_windows>(call, prepared, c);
    }
  }
};

}  // namespace

const Kernel kPackedConv2dShiftsMve4x16 = packed_kernel<Forms, Packing::mve_4x16>("deuteron::packed_conv2d_shifts.mve_4x16");
const Kernel kPackedConv2dShiftsDsp4x4 = packed_kernel<Forms, Packing::dsp_4x4>("deuteron::packed_conv2d_shifts.dsp_4x4");

}  // namespace deuteron
