// SPDX-License-Identifier: Apache-2.0
// libjpeg (turbo) tells faults by longjmp: between setjmp and its calls there is nothing here that
// has a destructor.
#include <csetjmp>
#include <cstdio>

#include "base/data/decode_image.h"

#include <jpeglib.h>

namespace deuteron {
namespace {

// a progressive file has about ten, and each takes as long as all of its pixels
constexpr int kMostScans = 100;

struct JpegDecoder {
  jpeg_decompress_struct jpeg;
  jpeg_error_mgr errors;
  jpeg_progress_mgr progress;
  jmp_buf begin;
  const AcceptImage& accept;
  ImageSize size;
  bool accepted = false;
  std::vector<uint8_t> pixels;
  char fault[JMSG_LENGTH_MAX] = "";
};
JpegDecoder& decoder_of(j_common_ptr jpeg) { return *static_cast<JpegDecoder*>(jpeg->client_data); }

[[noreturn]] void on_error(j_common_ptr jpeg) {
  JpegDecoder& d = decoder_of(jpeg);
  d.errors.format_message(jpeg, d.fault);
  std::longjmp(d.begin, 1);
}
// A warning says that the data are damaged and that something was made up for them.
void on_message(j_common_ptr jpeg, int level) {
  if (level < 0) on_error(jpeg);
}
void on_progress(j_common_ptr jpeg) {
  JpegDecoder& d = decoder_of(jpeg);
  if (d.jpeg.input_scan_number <= kMostScans) return;
  std::snprintf(d.fault, sizeof d.fault, "it has more than %d scans", kMostScans);
  std::longjmp(d.begin, 1);
}

void read_pixels(JpegDecoder& d, std::span<const std::byte> file) {
  jpeg_decompress_struct& jpeg = d.jpeg;
  jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&jpeg, TRUE);
  const bool grey = jpeg.num_components == 1;
  if (!grey && jpeg.num_components != 3) {
    std::snprintf(d.fault, sizeof d.fault, "it has %d colour components, and grey or RGB is taken",
                  jpeg.num_components);
    std::longjmp(d.begin, 1);
  }
  jpeg.out_color_space = grey ? JCS_GRAYSCALE : JCS_RGB;
  d.size = {jpeg.image_height, jpeg.image_width, grey ? 1 : 3};
  if (!(d.accepted = d.accept(d.size))) return;
  jpeg_start_decompress(&jpeg);
  const size_t row = static_cast<size_t>(d.size.width * d.size.channels);
  d.pixels.resize(row * static_cast<size_t>(d.size.height));
  while (jpeg.output_scanline < jpeg.output_height) {
    JSAMPROW line = d.pixels.data() + jpeg.output_scanline * row;
    jpeg_read_scanlines(&jpeg, &line, 1);
  }
  jpeg_finish_decompress(&jpeg);
}

bool read_jpeg(JpegDecoder& d, std::span<const std::byte> file) {
  if (setjmp(d.begin) != 0) return jpeg_destroy_decompress(&d.jpeg), false;
  jpeg_create_decompress(&d.jpeg);
  d.jpeg.progress = &d.progress;
  read_pixels(d, file);
  return jpeg_destroy_decompress(&d.jpeg), true;
}

}  // namespace

std::string decode_jpeg(std::span<const std::byte> file, const AcceptImage& accept, Image* image) {
  JpegDecoder d{{}, {}, {}, {}, accept, {}, false, {}, ""};
  d.jpeg.err = jpeg_std_error(&d.errors);
  d.jpeg.client_data = &d;
  d.errors.error_exit = on_error;
  d.errors.emit_message = on_message;
  d.progress.progress_monitor = on_progress;
  if (!read_jpeg(d, file)) return d.fault;
  image->size = d.size;
  image->pixels.assign(d.pixels.begin(), d.pixels.end());
  return "";
}

}  // namespace deuteron
