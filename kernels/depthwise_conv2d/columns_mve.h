// SPDX-License-Identifier: Apache-2.0
// Depthwise windows of any size with the M-profile Vector Extension: 8 channels at a time, each as
// columns of taps that lie one after the other, so that a window is one run of bytes and the next
// one begins `stride_w` columns behind it. VMLADAV multiplies 16 taps at once. Schedule:
// kernels/depthwise_conv2d/columns_mve.S.
#pragma once
#include <arm_mve.h>

#include <cstring>

#include "kernels/depthwise_conv2d/columns_plan.h"
#include "kernels/depthwise_conv2d/strip_mve.h"

namespace deuteron {

static_assert(sizeof(MvePatch) == kGroupBytes && kStripColumn == 64);

// Channel after channel: windows `step` bytes apart, in groups of four. What lies behind the taps
// of a window, up to 32 or 64 bytes and also of a window behind the last, is read and does not
// count.
struct MveColumns {
  const int8_t* from;
  int8_t* y;
  const int8_t* filter;            // for each channel the taps, and zeros up to kColumnTaps
  const MveChannelFinish* finish;  // of each channel
  int32_t step, y_step;            // bytes of y from a window to the next
  int32_t y_min, y_max, channels;
  int32_t channel_bytes;    // of `from` from a channel to the next
  const MvePatch* patches;  // of all groups, and two more
  int32_t further;          // groups behind the first
};
extern "C" void deuteron_columns_2_mve(const MveColumns* a);  // up to 32 taps
extern "C" void deuteron_columns_4_mve(const MveColumns* a);

class DepthwiseColumns : ColumnsPlan {
 public:
  DepthwiseColumns(const DepthwiseConv2dArgs& a, int8_t* room, int32_t bytes)
      : ColumnsPlan(a, bytes), a_(a), room_(room) {}
  bool serves() const { return ColumnsPlan::serves(a_); }
  int32_t instructions() const { return ColumnsPlan::instructions(a_); }

  // One image.
  void run(const int8_t* x, const int8_t* weight, const int32_t* bias, int8_t* y) {
    const int32_t step = a_.stride_w * height, row = a_.out_w * a_.out_c;
    auto* const patches = reinterpret_cast<MvePatch*>(room_ + kColumnChannels * channel_bytes);
    list_patches(patches, rows, windows, 4, {a_.stride_h, 4 * step, windows % 4 * step}, a_.out_c,
                 row);
    MveColumns d{room_,    nullptr,  filters_, finish_,       step,    a_.out_c,
                 a_.y_min, a_.y_max, 0,        channel_bytes, patches, 0};
    d.further = rows * ((windows + 3) / 4) - 1;
    for (int32_t c = 0; c < a_.out_c; c += kColumnChannels) {
      d.channels = a_.out_c - c < kColumnChannels ? a_.out_c - c : kColumnChannels;
      fill_filters(weight, bias, c, d.channels);
      for (int32_t i = 0; i < kColumnChannels; ++i)
        own_[i] = static_cast<uint16_t>((c + i) / a_.depth_multiplier - c / a_.depth_multiplier);
      for (int32_t begin = 0; begin < a_.out_w; begin += windows) {
        // the last ones overlap
        const int32_t ow = begin + windows > a_.out_w ? a_.out_w - windows : begin;
        // what lies outside x; of a whole row all channels have it at the same places
        if (c == 0 || windows < a_.out_w)
          std::memset(room_, -a_.x_offset, static_cast<size_t>(kColumnChannels * channel_bytes));
        for (int32_t top = 0; top < a_.out_h; top += rows) {
          const int32_t oh = top + rows > a_.out_h ? a_.out_h - rows : top;
          fill_columns(x + c / a_.depth_multiplier, oh * a_.stride_h - a_.pad_h,
                       ow * a_.stride_w - a_.pad_w, d.channels);
          d.y = y + oh * row + ow * a_.out_c + c;
          (vectors == 2 ? deuteron_columns_2_mve : deuteron_columns_4_mve)(&d);
        }
      }
    }
  }

 private:
  // Taps of 8 channels in columns, zeros behind them, and the sums that outputs begin with. Outside
  // the image x is its zero point, whose products are in there too.
  void fill_filters(const int8_t* weight, const int32_t* bias, int32_t c, int32_t count) {
    const mve_pred16_t here = vctp16q(static_cast<uint32_t>(count));
    const uint16x8_t places = vmulq_n_u16(vidupq_n_u16(0, 1), kColumnTaps);
    for (int8_t* at = filters_; at != filters_ + sizeof filters_; at += 16)
      vst1q_s8(at, vdupq_n_s8(0));
    for (int32_t h = 0; h < a_.kernel_h; ++h)
      for (int32_t w = 0; w < a_.kernel_w; ++w)
        vstrbq_scatter_offset_p_s16(
            filters_ + w * height + h, places,
            vldrbq_z_s16(weight + (h * a_.kernel_w + w) * a_.out_c + c, here), here);
    fill_finishes(a_, bias, c, count, filters_, true, finish_);
  }

  // Two rows of a column.
  struct Rows {
    const int8_t* row[2];
    int32_t next[2];  // bytes from a pixel to the next
  };
  // `pixels` of 8 channels or fewer to columns below one another, of both rows, or of one where the
  // height is odd. as_they_lie: of both, all 8, and each reads a channel of its own.
  template <bool as_they_lie>
  void copy(const Rows& from, int32_t pixels, int8_t* to, int32_t count) const {
    const uint16x8_t places = vmulq_n_u16(vidupq_n_u16(0, 1), static_cast<uint16_t>(channel_bytes));
    const uint16x8_t own = vld1q_u16(own_);
    const mve_pred16_t here = vctp16q(static_cast<uint32_t>(count));
    const auto load = [&](const int8_t* at) {
      return as_they_lie ? vldrbq_s16(at) : vldrbq_gather_offset_z_s16(at, own, here);
    };
    const int8_t *upper = from.row[0], *lower = from.row[1];
    const int32_t next_upper = from.next[0], next_lower = from.next[1], column = height;
    for (; pixels > 0; --pixels, upper += next_upper, lower += next_lower, to += column)
      if (as_they_lie || height % 2 == 0)
        vstrhq_scatter_offset_s16(reinterpret_cast<int16_t*>(to), places,
                                  vsliq_n_s16(load(upper), load(lower), 8));
      else vstrbq_scatter_offset_s16(to, places, load(upper));
  }

  // The columns of all windows from row ih, column iw of the image on, which may lie outside.
  void fill_columns(const int8_t* x, int32_t ih, int32_t iw, int32_t count) {
    alignas(16) int8_t outside[16];
    vst1q_s8(outside, vdupq_n_s8(static_cast<int8_t>(-a_.x_offset)));
    const int32_t columns = (windows - 1) * a_.stride_w + a_.kernel_w, reach = a_.in_w - iw,
                  left = iw < 0 ? -iw : 0, inside = (reach < columns ? reach : columns) - left;
    const bool is_even = height % 2 == 0,
               as_they_lie = is_even && count == kColumnChannels && a_.depth_multiplier == 1;
    for (int32_t h = 0; h < height; h += is_even ? 2 : 1) {
      Rows two;
      int32_t r = ih + h * a_.dilation_h;
      for (int32_t i = 0; i < 2; ++i, r += a_.dilation_h) {
        const bool has_row = r >= 0 && r < a_.in_h;
        two.row[i] = has_row ? x + (r * a_.in_w + iw + left) * a_.in_c : outside;
        two.next[i] = has_row ? a_.in_c : 0;
      }
      int8_t* const to = room_ + h + left * height;
      if (as_they_lie) copy<true>(two, inside, to, count);
      else copy<false>(two, inside, to, count);
    }
  }

  const DepthwiseConv2dArgs& a_;
  int8_t* const room_;
  MveChannelFinish finish_[kColumnChannels];
  uint16_t
      own_[kColumnChannels];  // input channels of 8 output channels, counted from that of the first
  alignas(16) int8_t filters_[kColumnChannels * kColumnTaps];
};

}  // namespace deuteron
