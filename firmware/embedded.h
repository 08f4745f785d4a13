/* What a firmware project is made of, put into this program by the build (firmware/embed.cmake). */
#pragma once
#ifdef __cplusplus
extern "C" {
#endif
struct deuteron_embedded_file {
  const char* path; /* in the checkout */
  const char *begin, *end;
};
extern const struct deuteron_embedded_file deuteron_runtime_files[];
extern const int deuteron_runtime_file_count;
#ifdef __cplusplus
}
#endif
