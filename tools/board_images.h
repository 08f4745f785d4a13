/* The board runners that the build has put into this program (runtime/ports/firmware.cmake). Empty when it had no cross compiler. */
#pragma once
#ifdef __cplusplus
extern "C" {
#endif
struct deuteron_board_image {
  const char* name;
  const unsigned char *begin, *end; /* an ELF file */
};
extern const struct deuteron_board_image deuteron_board_images[];
extern const int deuteron_board_image_count;
#ifdef __cplusplus
}
#endif
