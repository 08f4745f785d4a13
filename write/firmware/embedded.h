// SPDX-License-Identifier: Apache-2.0
/* What a firmware project is made of, put into this program by the build
 * (write/firmware/embed.cmake). */
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

/* A constant of the runtime, a kernel or what else its objects define: where it lies in this
 * program, its name, and its source. */
struct deuteron_constant {
  const void* address;
  const char *name, *path;
};
extern const struct deuteron_constant
    deuteron_constants[]; /* write/firmware/kernel_sources.cmake */
extern const int deuteron_constant_count;
#ifdef __cplusplus
}
#endif
