// SPDX-License-Identifier: Apache-2.0
/* A plugin of QEMU's code generator: how often each translated block runs, for each call of a
   program (marks.h). Inside a block everything runs once each time, so this tells which
   instructions ran how often, at a small cost. Debian's QEMU 7.2 loads plugins and ships no header
   for them: what is used of version 1 of its interface is declared here. Source: QEMU's
   documentation, "TCG Plugins". Argument: fd=N, a file that is open already. It gets a line for
   each call of the program, and before it one for each block that ran in it: ADDRESS INSTRUCTIONS
   RUNS            the first in hexadecimal, without 0x end
   With waits=C:L:V:M a line WAIT CYCLES more for each call, of two memories: what the processor has
   never written, constants and the program, where a line of L bytes takes C cycles when a load
   leaves the one before it, and what it has, with V cycles for a line of M bytes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boards/cycles/marks.h"

typedef uint64_t qemu_plugin_id_t;
typedef struct qemu_info_t qemu_info_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_RW = 3 };
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t,
                                           void (*)(qemu_plugin_id_t, struct qemu_plugin_tb*));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb*, enum qemu_plugin_op, void*,
                                              uint64_t);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn*, void (*)(unsigned, void*),
                                            enum qemu_plugin_cb_flags, void*);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb*);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb*);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb*, size_t);
const void* qemu_plugin_insn_data(const struct qemu_plugin_insn*);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn*,
                                      void (*)(unsigned, uint32_t, uint64_t, void*),
                                      enum qemu_plugin_cb_flags, enum qemu_plugin_mem_rw, void*);
unsigned qemu_plugin_mem_size_shift(uint32_t);
_Bool qemu_plugin_mem_is_store(uint32_t);

#define EXPORT __attribute__((visibility("default")))
EXPORT extern int qemu_plugin_version;
EXPORT int qemu_plugin_version = 1;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc, char** argv);

/* A block is never forgotten: QEMU may translate an address again, and then it is another block. */
struct Block {
  uint64_t runs;    /* since the beginning, by QEMU's generated code */
  uint64_t before;  /* runs when counting began or went on */
  uint64_t of_call; /* those that count, up to the last pause */
  uint32_t address, instructions;
  struct Block* next;
};
static struct Block* blocks;
static FILE* out;

/* ---- waits */

struct Memory {
  uint32_t cycles, line; /* of a line, and its bytes */
  uint64_t last;         /* the one that was read last */
};
static struct Memory constants, variables;
static int has_waits, counts_waits;
static uint64_t waits; /* of the call */

/* A bit for each 16 bytes that the processor has written, by pages of 64 KB. */
enum { kPage = 1 << 16, kGranule = 16 };
static uint8_t* written[kPage];

static uint8_t* bits_of(uint32_t address) {
  uint8_t** page = &written[address / kPage];
  if (!*page) *page = calloc(kPage / kGranule / 8, 1);
  if (!*page) abort();
  return *page + address % kPage / kGranule / 8;
}

static void access_memory(unsigned cpu, uint32_t info, uint64_t at, void* data) {
  (void)cpu, (void)data;
  const uint32_t address = (uint32_t)at;
  const uint8_t bit = (uint8_t)(1 << address / kGranule % 8);
  if (qemu_plugin_mem_is_store(info)) {
    *bits_of(address) |= bit;
    return;
  }
  if (!counts_waits) return;
  struct Memory* m = *bits_of(address) & bit ? &variables : &constants;
  if (!m->line) return;
  const uint64_t first = address / m->line,
                 last = (address + (1u << qemu_plugin_mem_size_shift(info)) - 1) / m->line;
  waits += m->cycles * ((first != m->last) + (last - first));
  m->last = last;
}

static void start_counting(void) {
  counts_waits = has_waits;
  for (struct Block* b = blocks; b; b = b->next) b->before = b->runs;
}
static void stop_counting(void) {
  counts_waits = 0;
  for (struct Block* b = blocks; b; b = b->next) b->of_call += b->runs - b->before;
}
static void begin(void) {
  waits = 0, constants.last = variables.last = UINT64_MAX;
  for (struct Block* b = blocks; b; b = b->next) b->of_call = 0;
  start_counting();
}
static void end(void) {
  stop_counting();
  for (struct Block* b = blocks; b; b = b->next)
    if (b->of_call)
      fprintf(out, "%x %u %llu\n", b->address, b->instructions, (unsigned long long)b->of_call);
  if (has_waits) fprintf(out, "wait %llu\n", (unsigned long long)waits);
  fputs("end\n", out);
  fflush(out);
}

static void reach_mark(unsigned cpu, void* mark) {
  (void)cpu;
  switch ((uintptr_t)mark) {
    case DEUTERON_MARK_BEGIN:
      begin();
      break;
    case DEUTERON_MARK_END:
      end();
      break;
    case DEUTERON_MARK_PAUSE:
      stop_counting();
      break;
    default:
      start_counting();
      break;
  }
}

static int is_mark(uint16_t code) {
  return code == DEUTERON_MARK_BEGIN || code == DEUTERON_MARK_END || code == DEUTERON_MARK_PAUSE ||
         code == DEUTERON_MARK_RESUME;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb* tb) {
  (void)id;
  struct Block* b = calloc(1, sizeof *b);
  if (!b) abort();
  b->address = (uint32_t)qemu_plugin_tb_vaddr(tb);
  b->instructions = (uint32_t)qemu_plugin_tb_n_insns(tb);
  for (uint32_t k = 0; k < b->instructions; k++) {
    struct qemu_plugin_insn* instruction = qemu_plugin_tb_get_insn(tb, k);
    uint16_t code; /* no longer instruction begins like a mark; QEMU's size says too much at the end
                      of a page */
    memcpy(&code, qemu_plugin_insn_data(instruction), sizeof code);
    if (is_mark(code))
      qemu_plugin_register_vcpu_insn_exec_cb(instruction, reach_mark, QEMU_PLUGIN_CB_NO_REGS,
                                             (void*)(uintptr_t)code);
    if (has_waits)
      qemu_plugin_register_vcpu_mem_cb(instruction, access_memory, QEMU_PLUGIN_CB_NO_REGS,
                                       QEMU_PLUGIN_MEM_RW, NULL);
  }
  b->next = blocks;
  blocks = b;
  qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &b->runs, 1);
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc, char** argv) {
  (void)info;
  for (int k = 0; k < argc; k++)
    if (strncmp(argv[k], "fd=", 3) == 0) out = fdopen(atoi(argv[k] + 3), "w");
    else if (strncmp(argv[k], "waits=", 6) == 0)
      has_waits = sscanf(argv[k] + 6, "%u:%u:%u:%u", &constants.cycles, &constants.line,
                         &variables.cycles, &variables.line) == 4;
  if (!out) return 1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  return 0;
}
