// deuteron::packed_conv2d_add_shifts: its arguments checked once, at load, as those of deuteron::packed_conv2d_add.
#include "ops/packed_conv2d_add/keep_call.h"
#include "ops/packed_conv2d_add_shifts/kernel.h"

namespace deuteron {
namespace {

struct Forms {
  static constexpr PackedKind kKind = PackedKind::all_shifts;
  static const char* why_not(const PackedConv2dArgs& a) { return why_not_added_rows(a); }

  // A C program calls the form by its name, as of packed_conv2d.
  template <class Conv>
  static Status keep_mve(Call& call, Prepared* prepared, const Conv& conv, const AddedRows& c) {
    if constexpr (!kIsMicrocontroller) {
      const auto rows_bytes = static_cast<int32_t>(packed_conv2d_add_rows_bytes(c.conv, c.rows));
      const PackedMve form = packed_conv2d_mve_form(c.conv, c.scratch_bytes - rows_bytes);
      if (form == PackedMve::in_place)
        return keep_added_as<Feature::mve, packed_conv2d_add_shifts_s8_mve_in_place>(call, prepared, conv, c);
      if (form == PackedMve::columns) return keep_added_as<Feature::mve, packed_conv2d_add_shifts_s8_mve_columns>(call, prepared, conv, c);
      if (form == PackedMve::rows) return keep_added_as<Feature::mve, packed_conv2d_add_shifts_s8_mve_rows>(call, prepared, conv, c);
    }
    return keep_added_as<Feature::mve, packed_conv2d_add_shifts_s8_mve>(call, prepared, conv, c);
  }

  template <class Conv>
  static Status keep_dsp(Call& call, Prepared* prepared, const Conv& conv, const AddedRows& c) {
    if constexpr (build_has<Feature::dsp>())
      return keep_added_in_scratch<packed_conv2d_add_shifts_s8_dsp_in_scratch>(call, prepared, conv, c);
    else return keep_added_as<Feature::dsp, packed_conv2d_add_shifts_s8_dsp>(call, prepared, conv, c);
  }
};

}  // namespace

const Kernel kPackedConv2dAddShiftsMve4x16 = added_kernel<Forms, Packing::mve_4x16>("deuteron::packed_conv2d_add_shifts.mve_4x16");
const Kernel kPackedConv2dAddShiftsDsp4x4 = added_kernel<Forms, Packing::dsp_4x4>("deuteron::packed_conv2d_add_shifts.dsp_4x4");

}  // namespace deuteron
