// deuteron::packed_conv2d_add: its arguments checked once, at load. The overload says the packing (ops/dense/packing.h). A host runs each
// by the portable kernel, a core only that of its instruction set.
#include "ops/packed_conv2d_add/keep_call.h"

namespace deuteron {
namespace {

struct Forms {
  static constexpr PackedKind kKind = PackedKind::any_shifts;
  static const char* why_not(const PackedConv2dArgs& a) { return why_not_packed_conv2d_add(a); }

  // A C program calls the form by its name, as of packed_conv2d.
  template <class Conv>
  static Status keep_mve(Call& call, Prepared* prepared, const Conv& conv, const AddedRows& c) {
    if constexpr (!kIsMicrocontroller) {
      const auto rows_bytes = static_cast<int32_t>(packed_conv2d_add_rows_bytes(c.conv, c.rows));
      const PackedMve form = packed_conv2d_mve_form(c.conv, c.scratch_bytes - rows_bytes);
      if (form == PackedMve::in_place) return keep_added_as<Feature::mve, packed_conv2d_add_s8_mve_in_place>(call, prepared, conv, c);
      if (form == PackedMve::columns) return keep_added_as<Feature::mve, packed_conv2d_add_s8_mve_columns>(call, prepared, conv, c);
      if (form == PackedMve::rows) return keep_added_as<Feature::mve, packed_conv2d_add_s8_mve_rows>(call, prepared, conv, c);
    }
    return keep_added_as<Feature::mve, packed_conv2d_add_s8_mve>(call, prepared, conv, c);
  }

  template <class Conv>
  static Status keep_dsp(Call& call, Prepared* prepared, const Conv& conv, const AddedRows& c) {
    if constexpr (build_has<Feature::dsp>()) return keep_added_in_scratch<packed_conv2d_add_s8_dsp_in_scratch>(call, prepared, conv, c);
    else return keep_added_as<Feature::dsp, packed_conv2d_add_s8_dsp>(call, prepared, conv, c);
  }
};

}  // namespace

const Kernel kPackedConv2dAddMve4x16 = added_kernel<Forms, Packing::mve_4x16>("deuteron::packed_conv2d_add.mve_4x16");
const Kernel kPackedConv2dAddDsp4x4 = added_kernel<Forms, Packing::dsp_4x4>("deuteron::packed_conv2d_add.dsp_4x4");

}  // namespace deuteron
