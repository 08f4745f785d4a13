// SPDX-License-Identifier: Apache-2.0
/* boards.txt with cores.txt, and the runners that the build has put into this program
 * (boards/boards.cmake). */
#pragma once
#ifdef __cplusplus
extern "C" {
#endif
struct deuteron_cores { /* a row of cores.txt; "": there is none */
  const char *name, *prefix, *packages, *headers, *macro, *emulator, *emulator_package, *flags;
};
extern const struct deuteron_cores deuteron_all_cores[];
struct deuteron_board {
  const char* name;
  const struct deuteron_cores* cores;
  const char *runs, *machine, *target, *isa, *npu;
  unsigned memory_mb;
  const char* flags; /* of the compiler, with spaces between them */
  const unsigned char *begin,
      *end; /* the runner, an ELF file; null: not emulated, or built without the cross compiler */
  const unsigned char *parts,
      *parts_end; /* the runner for chips with this core, a relocatable ELF file; null likewise */
};
extern const struct deuteron_board deuteron_boards[];
extern const int deuteron_board_count;
extern const unsigned char deuteron_block_counts[],
    deuteron_block_counts_end[]; /* boards/cycles/block_counts.c, a shared library */
#ifdef __cplusplus
}
#endif
