// SPDX-License-Identifier: Apache-2.0
#include "kernels/image/windows.h"

namespace deuteron {

bool read_images(const Call& call, int out, int32_t* fields, Status* why) {
  const int32_t *x = call.tensor(0).sizes, *y = call.tensor(out).sizes;
  fields[0] = x[0], fields[1] = x[2], fields[2] = x[3], fields[3] = x[1];
  fields[4] = y[2], fields[5] = y[3];
  return y[0] == x[0] || refuse(why, out, "must have the batch of the input");
}

bool windows_fit(int32_t* fields, const WindowFields& at, int out, int stride, int32_t channels,
                 int32_t rows, Status* why) {
  int32_t one[2] = {1, 1};
  int32_t *steps = fields + at.stride,
          *dilation = at.dilation == kNoField ? one : fields + at.dilation;
  const int32_t *in = fields + 1, *places = fields + 4, *kernel = fields + at.kernel;
  for (int k = 0; k < 2; ++k)
    if (const char* words =
            why_not_window(in[k], places[k], kernel[k], steps[k], fields[at.pad + k], dilation[k]))
      return refuse(why, out, words);
  if (rows == 0) return true;
  struct {
    int32_t in_w, out_h, out_w, kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
  } a = {in[1],    places[0], places[1],   kernel[0],  kernel[1],
         steps[0], steps[1],  dilation[0], dilation[1]};
  if (const char* words = why_not_steps(a, channels, rows)) return refuse(why, stride, words);
  steps[0] = a.stride_h, steps[1] = a.stride_w;
  dilation[0] = a.dilation_h, dilation[1] = a.dilation_w;
  return true;
}

}  // namespace deuteron
