// SPDX-License-Identifier: Apache-2.0
// Depthwise windows of any size with the M-profile Vector Extension: 8 channels at a time, each as
// columns of taps that lie one after the other, so that a window is one run of bytes and the next
// one begins `stride_w` columns behind it. VMLADAV multiplies 16 taps at once. Schedule:
// kernels/depthwise_conv2d/columns_mve.S.
#pragma once
#include <arm_mve.h>

#include <cstring>

#include "kernels/depthwise_conv2d/kernel.h"
#include "kernels/depthwise_conv2d/strip_mve.h"
#include "kernels/image/window.h"

namespace deuteron {

inline constexpr int32_t kColumnChannels = 8, kColumnTaps = 64;

// Channel after channel: windows `step` bytes apart, four at a time. What lies behind the taps of a
// window, up to 32 or 64 bytes and also of a window behind the last, is read and does not count.
struct MveColumns {
  const int8_t* from;
  int8_t* y;
  const int8_t* filter;             // for each channel the taps, and zeros up to kColumnTaps
  const MveChannelFinish* finish;   // of each channel
  int32_t channels, channel_bytes;  // bytes of `from` from a channel to the next
  int32_t back_from, back_y;  // not 0: there is a group more, and the first of `groups` begins so
                              // many bytes before its end
  int32_t groups, step, y_step;  // at least one group; bytes of y from a window to the next
  int32_t y_min, y_max;
};
extern "C" void deuteron_columns_2_mve(const MveColumns* a);  // up to 32 taps
extern "C" void deuteron_columns_4_mve(const MveColumns* a);

class DepthwiseColumns {
 public:
  // `room`: for columns, of `bytes`. A column has room for the rows of a few windows below one
  // another, where vectors have lanes for them: the taps that a window does not see are 0.
  DepthwiseColumns(const DepthwiseConv2dArgs& a, int8_t* room, int32_t bytes)
      : a_(a), room_(room), taps_(a.kernel_h * a.kernel_w), vectors_(taps_ <= 32 ? 2 : 4) {
    if (taps_ > kColumnTaps || a.stride_w > kMaxReach / kColumnTaps)
      return;  // a step of so many columns would not fit int32
    const int32_t most = 16 * vectors_ / a.kernel_w,
                  below = a.dilation_h == 1 ? (most - a.kernel_h) / a.stride_h + 1 : 1;
    rows_ = below < a.out_h ? below : a.out_h;
    height_ = a.kernel_h + (rows_ - 1) * a.stride_h;
    // the next window's first vector is read
    const int32_t behind = a.stride_w * height_ + 16 * vectors_;
    const int32_t columns = (bytes / kColumnChannels - behind) / height_;
    windows_ = columns < a.kernel_w ? 0 : (columns - a.kernel_w) / a.stride_w + 1;
    windows_ = windows_ >= a.out_w ? a.out_w : windows_ / 4 * 4;
    columns_ = (windows_ - 1) * a.stride_w + a.kernel_w;
    channel_bytes_ = columns_ * height_ + behind;
  }

  // Whether the call has its form.
  bool serves() const {
    if (a_.x_offset < -127 || a_.x_offset > 128 || windows_ < 4) return false;
    return a_.dilation_w == 1 || a_.kernel_w == 1;
  }

  // About how many instructions 8 channels of a row of outputs take. serves() holds.
  int32_t instructions() const {
    const int32_t parts = (a_.out_w + windows_ - 1) / windows_,
                  copied = height_ * (6 * columns_ + 60) / rows_;
    return parts * (kColumnChannels * (70 + (windows_ + 3) / 4 * (14 + 8 * vectors_)) + copied);
  }

  // One image.
  void run(const int8_t* x, const int8_t* weight, const int32_t* bias, int8_t* y) {
    for (int32_t c = 0; c < a_.out_c; c += kColumnChannels) {
      const int32_t count = a_.out_c - c < kColumnChannels ? a_.out_c - c : kColumnChannels;
      fill_filters(weight, bias, c, count);
      for (int32_t i = 0; i < kColumnChannels; ++i)
        own_[i] = static_cast<uint16_t>((c + i) / a_.depth_multiplier - c / a_.depth_multiplier);
      for (int32_t top = 0; top < a_.out_h; top += rows_)
        for (int32_t begin = 0; begin < a_.out_w; begin += windows_) {
          // the last ones overlap
          const int32_t oh = top + rows_ > a_.out_h ? a_.out_h - rows_ : top;
          const int32_t ow = begin + windows_ > a_.out_w ? a_.out_w - windows_ : begin;
          fill_columns(x + c / a_.depth_multiplier, oh * a_.stride_h - a_.pad_h,
                       ow * a_.stride_w - a_.pad_w, count);
          for (int32_t r = 0; r < rows_; ++r)
            run_windows(count, r * a_.stride_h, y + ((oh + r) * a_.out_w + ow) * a_.out_c + c);
        }
    }
  }

 private:
  // Taps of 8 channels in columns, zeros behind them, and the sums that outputs begin with. Outside
  // the image x is its zero point, whose products are in there too.
  void fill_filters(const int8_t* weight, const int32_t* bias, int32_t c, int32_t count) {
    const mve_pred16_t here = vctp16q(static_cast<uint32_t>(count));
    const uint16x8_t places = vmulq_n_u16(vidupq_n_u16(0, 1), kColumnTaps);
    std::memset(filters_, 0, sizeof filters_);
    for (int32_t h = 0; h < a_.kernel_h; ++h)
      for (int32_t w = 0; w < a_.kernel_w; ++w)
        vstrbq_scatter_offset_p_s16(
            filters_ + w * height_ + h, places,
            vldrbq_z_s16(weight + (h * a_.kernel_w + w) * a_.out_c + c, here), here);
    fill_finishes(a_, bias, c, count, filters_, true, finish_);
  }

  // `count` pixels of 8 channels or fewer, one every `from_step` bytes, to columns `to_step` bytes
  // apart; from null: the zero point. as_they_lie: all 8, and each reads a channel of its own.
  template <bool as_they_lie>
  void copy(const int8_t* from, int32_t from_step, int32_t pixels, int8_t* to, int32_t to_step,
            mve_pred16_t here) const {
    const uint16x8_t places =
        vmulq_n_u16(vidupq_n_u16(0, 1), static_cast<uint16_t>(channel_bytes_));
    const int16x8_t outside = vdupq_n_s16(static_cast<int16_t>(-a_.x_offset));
    if (from == nullptr)
      for (; pixels > 0; --pixels, to += to_step)
        vstrbq_scatter_offset_p_s16(to, places, outside, here);
    else if (as_they_lie)
      for (; pixels > 0; --pixels, to += to_step, from += from_step)
        vstrbq_scatter_offset_s16(to, places, vldrbq_s16(from));
    else if (a_.depth_multiplier == 1)
      for (; pixels > 0; --pixels, to += to_step, from += from_step)
        vstrbq_scatter_offset_p_s16(to, places, vldrbq_z_s16(from, here), here);
    else {
      const uint16x8_t own = vld1q_u16(own_);
      for (; pixels > 0; --pixels, to += to_step, from += from_step)
        vstrbq_scatter_offset_p_s16(to, places, vldrbq_gather_offset_z_s16(from, own, here), here);
    }
  }

  // The columns of all windows from row ih, column iw of the image on, which may lie outside.
  void fill_columns(const int8_t* x, int32_t ih, int32_t iw, int32_t count) {
    const mve_pred16_t here = vctp16q(static_cast<uint32_t>(count));
    const int32_t columns = columns_, step = height_;
    const int32_t left = iw < 0 ? (-iw < columns ? -iw : columns) : 0;
    const int32_t reach = a_.in_w - iw < columns ? a_.in_w - iw : columns,
                  inside = reach > left ? reach - left : 0;
    for (int32_t h = 0; h < height_; ++h, ih += a_.dilation_h) {
      int8_t* const to = room_ + h;
      const bool has_row = ih >= 0 && ih < a_.in_h;
      copy<false>(nullptr, 0, has_row ? left : columns, to, step, here);
      if (!has_row) continue;
      const int8_t* const from = x + (ih * a_.in_w + iw + left) * a_.in_c;
      if (count == kColumnChannels && a_.depth_multiplier == 1)
        copy<true>(from, a_.in_c, inside, to + left * step, step, here);
      else copy<false>(from, a_.in_c, inside, to + left * step, step, here);
      copy<false>(nullptr, 0, columns - left - inside, to + (left + inside) * step, step, here);
    }
  }

  // A row of windows; the taps of the first begin at byte `top` of each channel.
  void run_windows(int32_t count, int32_t top, int8_t* y) const {
    const int32_t step = a_.stride_w * height_, back = windows_ % 4 == 0 ? 0 : 4 - windows_ % 4;
    const MveColumns d{room_ + top,    y,           filters_,        finish_,      count,
                       channel_bytes_, back * step, back * a_.out_c, windows_ / 4, step,
                       a_.out_c,       a_.y_min,    a_.y_max};
    (vectors_ == 2 ? deuteron_columns_2_mve : deuteron_columns_4_mve)(&d);
  }

  const DepthwiseConv2dArgs& a_;
  int8_t* const room_;
  const int32_t taps_, vectors_;
  int32_t rows_ = 0, height_ = 0;  // of windows; of a column
  int32_t windows_ = 0, columns_ = 0, channel_bytes_ = 0;
  MveChannelFinish finish_[kColumnChannels];
  uint16_t
      own_[kColumnChannels];  // input channels of 8 output channels, counted from that of the first
  alignas(16) int8_t filters_[kColumnChannels * kColumnTaps];
};

}  // namespace deuteron
