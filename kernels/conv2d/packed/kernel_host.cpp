// SPDX-License-Identifier: Apache-2.0
// A band of the padded image is copied, as the form wants elements; then windows are places in it,
// and what a step reads of a window stands a fixed way behind its place. So nothing is gathered for
// each window, whatever its taps are. Weights are brought into the order of the steps: once for a
// program that is loaded, else at every call.
#include "kernels/conv2d/packed/kernel_host.h"

#include <cstring>

#include "kernels/image/window.h"
#include "kernels/integer/requantize.h"

namespace deuteron {
namespace {

// bytes of an image: with two panels they stay in a first-level cache
constexpr int64_t kBand = 1 << 15;
constexpr int64_t kRoom = 192 << 10;  // where the rows of one output row take more
// of a call whose weights nobody has brought into their order
constexpr int64_t kWeightsRoom = 1 << 18;
constexpr int32_t kMostWindows = 256;

// Elements side by side in a window, and the steps that they take. The last step reads on; those
// weights are zero.
struct Runs {
  Runs(const PackedConv2dArgs& a, const HostDotForm& form)
      : taps(a.dilation_w == 1 ? a.kernel_w : 1),
        count(a.kernel_h * (a.kernel_w / taps)),
        elements(taps * a.in_c),
        in_step(kHostStep / form.element_bytes),
        steps((elements + in_step - 1) / in_step) {}

  int32_t taps, count, elements, in_step, steps;
};

// What of the image lies in the room at once: the columns and rows of so many windows.
struct Band {
  Band(const PackedConv2dArgs& a, const HostDotForm& form) {
    const int64_t reach_h = int64_t{a.kernel_h - 1} * a.dilation_h + 1,
                  reach_w = int64_t{a.kernel_w - 1} * a.dilation_w + 1;
    const int64_t column = int64_t{a.in_c} * form.element_bytes, most = kRoom / reach_h / column;
    if (most < reach_w) return;
    const int64_t fit_w = (most - reach_w) / a.stride_w + 1;
    windows_w = static_cast<int32_t>(fit_w < a.out_w ? fit_w : a.out_w);
    columns = static_cast<int32_t>(int64_t{windows_w - 1} * a.stride_w + reach_w);
    row_bytes = static_cast<int32_t>(columns * column);
    const int64_t rows_in_band = kBand / row_bytes,
                  fit_h = rows_in_band < reach_h ? 1 : (rows_in_band - reach_h) / a.stride_h + 1;
    windows_h = static_cast<int32_t>(fit_h < a.out_h ? fit_h : a.out_h);
  }
  bool has_room() const { return windows_w > 0; }

  int32_t windows_w = 0, windows_h = 0, columns = 0, row_bytes = 0;
};

// A part of a band: its first window, and how many there are.
struct Part {
  int32_t oh, ow, rows, columns;
};

void fill_band(const PackedConv2dArgs& a, const HostDotForm& form, const Band& band,
               const Part& part, const int8_t* image, uint8_t* to) {
  const int32_t ih = part.oh * a.stride_h - a.pad_h, iw = part.ow * a.stride_w - a.pad_w;
  const int32_t rows = (part.rows - 1) * a.stride_h + (a.kernel_h - 1) * a.dilation_h + 1,
                column = a.in_c * form.element_bytes;
  const Taps w = taps_inside(iw, band.columns, 1, a.in_w);
  const auto zero = static_cast<int8_t>(a.x_zero);
  if (ih >= 0 && ih + rows <= a.in_h && iw == 0 && band.columns == a.in_w)
    return form.copy(image + ih * a.in_w * a.in_c, rows * a.in_w * a.in_c, to);
  for (int32_t r = 0; r < rows; ++r, to += band.row_bytes) {
    const int32_t h = ih + r;
    if (h < 0 || h >= a.in_h || w.first == w.end) {
      form.fill(zero, band.columns * a.in_c, to);
      continue;
    }
    form.fill(zero, w.first * a.in_c, to);
    form.copy(image + (h * a.in_w + iw + w.first) * a.in_c, (w.end - w.first) * a.in_c,
              to + w.first * column);
    form.fill(zero, (band.columns - w.end) * a.in_c,
              to + w.end * column);  // behind what copy() may have written
  }
}

// Windows of a part, in their order, as kernels want them.
class WindowList {
 public:
  WindowList(const HostPackedConv2d& conv, const Band& band, const Part& part, const uint8_t* room,
             int8_t* y)
      : a_(conv.args),
        part_(part),
        row_(int64_t{a_.stride_h} * band.row_bytes),
        step_(int64_t{a_.stride_w} * a_.in_c * conv.form->element_bytes),
        room_(room),
        y_(y) {}

  // The next ones. 0: there are no more.
  int32_t take() {
    int32_t here = 0;
    while (oh_ < part_.rows && here < kMostWindows) {
      const int32_t rest = part_.columns - ow_, most = kMostWindows - here,
                    count = rest < most ? rest : most;
      const uint8_t* at = room_ + oh_ * row_ + ow_ * step_;
      int8_t* place = y_ + (part_.oh + oh_) * a_.y_row + (part_.ow + ow_) * a_.y_step;
      for (int32_t i = 0; i < count; ++i)
        windows[here + i] = at + i * step_, places[here + i] = place + i * a_.y_step;
      here += count, ow_ += count;
      if (ow_ == part_.columns) ow_ = 0, ++oh_;
    }
    return here;
  }

  const uint8_t* windows[kMostWindows];
  int8_t* places[kMostWindows];

 private:
  const PackedConv2dArgs& a_;
  const Part part_;
  const int64_t row_, step_;
  const uint8_t* const room_;
  int8_t* const y_;
  int32_t oh_ = 0, ow_ = 0;
};

void run_part(const HostPackedConv2d& conv, const Band& band, const Part& part, const uint8_t* room,
              int8_t* y) {
  WindowList list(conv, band, part, room, y);
  HostDot dot{nullptr, 0, 0, conv.offsets, conv.steps, conv.end, conv.args.y_zero};
  while (const int32_t here = list.take())
    for (int32_t f = 0; f < conv.filters; f += dot.filters) {
      const int32_t rest = conv.filters - f;
      dot.panels = conv.panels + f / kHostPanel * host_panel_bytes(conv.steps);
      dot.filters = rest < kHostPanels * kHostPanel ? rest : kHostPanels * kHostPanel;
      dot.channel = conv.first + f;
      conv.form->run(dot, list.windows, list.places, here);
    }
}

// A filter among the packed ones: where tiles overlap, the last one counts.
struct PackedFilter {
  PackedFilter(const PackedConv2dArgs& a, Packing p, int32_t f)
      : tile(f / packed_tile(p)), number(f % packed_tile(p)) {
    const int32_t last = packed_tiles(a.out_c, packed_tile(p)) - 1,
                  begin = first_of_tile(a.out_c, last, packed_tile(p));
    if (f >= begin) tile = last, number = f - begin;
  }
  int32_t tile, number;
};

// One filter's weights times `sign`, its lane of each step of a panel. Gives their sum.
template <Packing p, bool is_behind_relu>
uint32_t put_filter(const PackedConv2dArgs& a, const HostDotForm& form, const int8_t* tile,
                    int32_t number, int32_t sign, int8_t* lane) {
  const Runs runs(a, form);
  const int32_t length = a.length();
  uint32_t sum = 0;
  for (int32_t kh = 0; kh < a.kernel_h; ++kh)
    for (int32_t kw = 0; kw < a.kernel_w; ++kw) {
      const int32_t tap = p == Packing::mve_4x16 ? kw * a.kernel_h + kh : kh * a.kernel_w + kw;
      const int32_t run = (kh * a.kernel_w + kw) / runs.taps, begin = kw % runs.taps * a.in_c;
      for (int32_t c = 0; c < a.in_c; ++c) {
        const int32_t stored = sign * packed_weight<p>(tile, length, number, tap * a.in_c + c);
        const auto w = static_cast<int8_t>(is_behind_relu ? behind_relu<p>(stored) : stored);
        const int32_t at = begin + c;
        int8_t* to = lane + (run * runs.steps + at / runs.in_step) * kHostPanelStep +
                     at % runs.in_step * form.element_bytes;
        const int16_t wide = w;  // its low byte stands first
        std::memcpy(to, &wide, static_cast<size_t>(form.element_bytes));
        sum += static_cast<uint32_t>(int32_t{w});
      }
    }
  return sum;
}

// The filters from number `first` on, up to a panel.
template <Packing p, bool is_behind_relu = false>
void put_panel(const PackedConv2dArgs& a, const HostDotForm& form, const int8_t* packed,
               int32_t first, HostEnd end, int32_t steps, int8_t* panel) {
  std::memset(panel, 0, static_cast<size_t>(host_panel_bytes(steps)));
  auto& numbers = *reinterpret_cast<HostPanelNumbers*>(panel);
  const int32_t length = a.length();
  for (int32_t i = 0; i < kHostPanel && first + i < a.out_c; ++i) {
    const PackedFilter f(a, p, first + i);
    const int8_t* tile = packed + f.tile * packed_tile_bytes(p, length);
    PackedNumbers n = packed_numbers<p>(tile, length, f.number);
    // Not all forms have room for the 128 of a filter that stands negated.
    const int32_t sign = p == Packing::dsp_4x4 && n.multiplier < 0 ? -1 : 1;
    if (sign < 0) n = {subtract_wrapping(0, n.first), subtract_wrapping(0, n.multiplier)};
    const uint32_t sum = put_filter<p, is_behind_relu>(a, form, tile, f.number, sign,
                                                       panel + sizeof numbers + i * kHostStep);
    const uint32_t zero = is_behind_relu ? static_cast<uint32_t>(a.x_zero) * sum
                                         : 0;  // is in the first of the others
    numbers.first[i] = static_cast<int32_t>(static_cast<uint32_t>(n.first) - zero -
                                            static_cast<uint32_t>(form.offset) * sum);
    numbers.multiplier[i] =
        p == Packing::mve_4x16 && end == HostEnd::plain ? n.multiplier * 2 : n.multiplier;
    if (end == HostEnd::shifted)
      numbers.shift[i] = packed_int(packed + packed_bytes(p, a.out_c, length) +
                                    (f.tile * packed_tile(p) + f.number) * kShiftBytes);
  }
}

// Multipliers of mve_4x16 are for quotients by 2^31. Twice as large they are for 2^32, as long as
// all of them stay int32.
template <Packing p>
HostEnd end_of(const PackedConv2dArgs& a, const int8_t* packed) {
  if (a.has_shifts) return HostEnd::shifted;
  if constexpr (p != Packing::mve_4x16) return HostEnd::plain;
  for (int32_t f = 0; f < a.out_c; ++f) {
    const PackedFilter at(a, p, f);
    const int32_t m = packed_numbers<p>(packed + at.tile * packed_tile_bytes(p, a.length()),
                                        a.length(), at.number)
                          .multiplier;
    if (m >= 1 << 30 || m < -(1 << 30)) return HostEnd::doubled;
  }
  return HostEnd::plain;
}

void put_offsets(const PackedConv2dArgs& a, const HostDotForm& form, int32_t* offsets) {
  const Runs runs(a, form);
  const Band band(a, form);
  const int32_t in_row = a.kernel_w / runs.taps, column = a.in_c * form.element_bytes;
  for (int32_t run = 0; run < runs.count; ++run)
    for (int32_t k = 0; k < runs.steps; ++k)
      *offsets++ = run / in_row * a.dilation_h * band.row_bytes +
                   run % in_row * a.dilation_w * column + k * kHostStep;
}

int64_t offsets_bytes(int64_t steps) { return (steps * 4 + 63) / 64 * 64; }

}  // namespace

int64_t packed_conv2d_host_bytes(const PackedConv2dArgs& a, const HostDotForm& form) {
  if (!Band(a, form).has_room()) return 0;
  const Runs runs(a, form);
  const int64_t steps = int64_t{runs.count} * runs.steps,
                panels = (a.out_c + kHostPanel - 1) / kHostPanel;
  return offsets_bytes(steps) + panels * host_panel_bytes(steps);
}

template <Packing p, bool is_behind_relu>
HostPackedConv2d order_packed_conv2d(const PackedConv2dArgs& a, const HostDotForm& form,
                                     const int8_t* packed, void* room) {
  const Runs runs(a, form);
  const int32_t steps = runs.count * runs.steps;
  auto* const offsets = static_cast<int32_t*>(room);
  auto* const panels = static_cast<int8_t*>(room) + offsets_bytes(steps);
  const HostEnd end = end_of<p>(a, packed);
  put_offsets(a, form, offsets);
  for (int32_t f = 0; f < a.out_c; f += kHostPanel)
    put_panel<p, is_behind_relu>(a, form, packed, f, end, steps,
                                 panels + f / kHostPanel * host_panel_bytes(steps));
  return {a, &form, panels, offsets, steps, 0, a.out_c, end};
}

void run_packed_conv2d(const HostPackedConv2d& conv, const int8_t* x, int8_t* y) {
  alignas(64) uint8_t room[kRoom + kHostSlack];
  const PackedConv2dArgs& a = conv.args;
  const Band band(a, *conv.form);
  for (int32_t n = 0; n < a.n; ++n, x += a.in_h * a.in_w * a.in_c, y += a.out_h * a.y_row)
    for (int32_t oh = 0; oh < a.out_h; oh += band.windows_h)
      for (int32_t ow = 0; ow < a.out_w; ow += band.windows_w) {
        const int32_t rows = a.out_h - oh, columns = a.out_w - ow;
        const Part part{oh, ow, rows < band.windows_h ? rows : band.windows_h,
                        columns < band.windows_w ? columns : band.windows_w};
        fill_band(a, *conv.form, band, part, x, room);
        run_part(conv, band, part, room, y);
      }
}

template <Packing p>
bool packed_conv2d_s8_host(const PackedConv2dArgs& a, const int8_t* x, const int8_t* packed,
                           const HostDotForm& form, int8_t* y) {
  if (packed_conv2d_host_bytes(a, form) == 0) return false;
  const Runs runs(a, form);
  const int32_t steps = runs.count * runs.steps;
  const int64_t at_once = (kWeightsRoom - offsets_bytes(steps)) / host_panel_bytes(steps);
  if (at_once < 1) return false;
  alignas(64) int8_t room[kWeightsRoom];
  auto* const offsets = reinterpret_cast<int32_t*>(room);
  int8_t* const panels = room + offsets_bytes(steps);
  const HostEnd end = end_of<p>(a, packed);
  put_offsets(a, form, offsets);
  const int64_t most = at_once * kHostPanel;
  for (int32_t first = 0, here = 0; first < a.out_c; first += here) {
    here = static_cast<int32_t>(a.out_c - first < most ? a.out_c - first : most);
    for (int32_t f = 0; f < here; f += kHostPanel)
      put_panel<p>(a, form, packed, first + f, end, steps,
                   panels + f / kHostPanel * host_panel_bytes(steps));
    run_packed_conv2d({a, &form, panels, offsets, steps, first, here, end}, x, y);
  }
  return true;
}

template HostPackedConv2d order_packed_conv2d<Packing::mve_4x16>(const PackedConv2dArgs&,
                                                                 const HostDotForm&, const int8_t*,
                                                                 void*);
template HostPackedConv2d order_packed_conv2d<Packing::dsp_4x4>(const PackedConv2dArgs&,
                                                                const HostDotForm&, const int8_t*,
                                                                void*);
template HostPackedConv2d order_packed_conv2d<Packing::scalar_1x4>(const PackedConv2dArgs&,
                                                                   const HostDotForm&,
                                                                   const int8_t*, void*);
template HostPackedConv2d order_packed_conv2d<Packing::mve_4x16, true>(const PackedConv2dArgs&,
                                                                       const HostDotForm&,
                                                                       const int8_t*, void*);
template HostPackedConv2d order_packed_conv2d<Packing::dsp_4x4, true>(const PackedConv2dArgs&,
                                                                      const HostDotForm&,
                                                                      const int8_t*, void*);
template bool packed_conv2d_s8_host<Packing::mve_4x16>(const PackedConv2dArgs&, const int8_t*,
                                                       const int8_t*, const HostDotForm&, int8_t*);
template bool packed_conv2d_s8_host<Packing::dsp_4x4>(const PackedConv2dArgs&, const int8_t*,
                                                      const int8_t*, const HostDotForm&, int8_t*);
template bool packed_conv2d_s8_host<Packing::scalar_1x4>(const PackedConv2dArgs&, const int8_t*,
                                                         const int8_t*, const HostDotForm&,
                                                         int8_t*);

}  // namespace deuteron
