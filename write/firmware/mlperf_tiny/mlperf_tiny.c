/* SPDX-License-Identifier: Apache-2.0 */
/* The serial protocol of MLPerf Tiny's runner, performance and accuracy. Source: mlcommons/tiny
   1afd2c9, benchmark/api/internally_implemented.cpp: commands end with %, answers with m-ready. */
#include <string.h>

#include "mlperf_tiny_commands.h"

static uint8_t arena[MODEL_ARENA_BYTES] __attribute__((aligned(16)));
static union {
  uint8_t bytes[MODEL_DATA_BYTES];
  float numbers[(MODEL_DATA_BYTES + 3) / 4];
} db;
static uint32_t db_bytes, db_at;
static model_input input[MODEL_INPUT_ELEMENTS];
static model_output output[MODEL_OUTPUT_ELEMENTS];

/* Three decimals, of what is not negative. */
static void say_real(float v) {
  const uint32_t thousandths = (uint32_t)(v * 1000 + 0.5f), rest = thousandths % 1000;
  say_number(thousandths / 1000);
  mlperf_tiny_put('.');
  mlperf_tiny_put((char)('0' + rest / 100));
  mlperf_tiny_put((char)('0' + rest / 10 % 10));
  mlperf_tiny_put((char)('0' + rest % 10));
}
static void timestamp(void) {
#ifdef MLPERF_TINY_ENERGY
  mlperf_tiny_pulse();
#else
  say_line("m-lap-us-", mlperf_tiny_microseconds(), "");
#endif
}

static float output_value(int k) { return MODEL_OUTPUT_VALUE(output[k]); }

static void results(void) {
  int k;
  say("m-results-[");
#if MODEL_IS_AUTOENCODER
  float sum = 0;
  for (k = 0; k < MODEL_OUTPUT_ELEMENTS; k++) {
    const float difference = output_value(k) - db.numbers[k];
    sum += difference * difference;
  }
  say_real(sum / MODEL_OUTPUT_ELEMENTS);
#else
  for (k = 0; k < MODEL_OUTPUT_ELEMENTS; k++) {
    if (k > 0) mlperf_tiny_put(',');
    say_real(output_value(k));
  }
#endif
  say("]\r\n");
}

/* False: the data is not that of an input. */
static int load_tensor(void) {
  int k;
  if (db_at != MODEL_DATA_BYTES) {
    say("e-[The input has ");
    say_number(db_at);
    say_line(" bytes, expected ", MODEL_DATA_BYTES, "]");
    return 0;
  }
  for (k = 0; k < MODEL_INPUT_ELEMENTS; k++) input[k] = MODEL_INPUT_STEP(db, k);
  return 1;
}

static void run_model(uint32_t times) {
  const struct MODEL_STRUCT(inputs) in = {.input0 = input};
  const struct MODEL_STRUCT(outputs) out = {.output0 = output};
  while (times-- > 0) (void)MODEL_RUN(arena, &in, &out);
}

static void infer(uint32_t times, uint32_t warm) {
  if (!load_tensor()) return;
  say_line("m-warmup-start-", warm, "");
  run_model(warm);
  say("m-warmup-done\r\n");
  say_line("m-infer-start-", times, "");
  timestamp();
  run_model(times);
  timestamp();
  say("m-infer-done\r\n");
  results();
}

static void store_hex(const char* hex) {
  if (strlen(hex) % 2) {
    say("e-[Insufficent number of hex digits]\r\n"); /* the runner's spelling */
    return;
  }
  for (; *hex; hex += 2) {
    const int byte = byte_of(hex);
    if (byte < 0) {
      say("e-[Invalid hex digit '");
      mlperf_tiny_put(hex[0]);
      mlperf_tiny_put(hex[1]);
      say("']\r\n");
      return;
    }
    if (db_at >= db_bytes) return;
    db.bytes[db_at++] = (uint8_t)byte;
    if (db_at == db_bytes) say("m-load-done\r\n");
  }
}

static void load_buffer(const char* size) {
  const int32_t bytes = number_of(size);
  db_bytes = db_at = 0;
  if (!*size) say("e-[Command 'db load' requires the # of bytes]\r\n");
  else if (bytes <= 0) say("e-[Command 'db load' must be >0 bytes]\r\n");
  else if (bytes > MODEL_DATA_BYTES) {
    say("e-[Supplied buffer size ");
    say_number((uint32_t)bytes);
    say_line(" exceeds maximum of ", MODEL_DATA_BYTES, "]");
  } else {
    db_bytes = (uint32_t)bytes;
    say_line("m-[Expecting ", db_bytes, " bytes]");
  }
}

static void print_buffer(void) {
  uint32_t k;
  for (k = 0; k < db_bytes; k++) {
    if (k % 8 == 0) say("m-buffer-");
    mlperf_tiny_put("0123456789abcdef"[db.bytes[k] >> 4]);
    mlperf_tiny_put("0123456789abcdef"[db.bytes[k] & 15]);
    say(k % 8 == 7 || k + 1 == db_bytes ? "\r\n" : "-");
  }
}

static void buffer(char* rest) {
  const char* what = next_word(&rest);
  if (!*what) say("e-[Command 'db' requires a subcommand]\r\n");
  else if (strcmp(what, "load") == 0) load_buffer(next_word(&rest));
  else if (strcmp(what, "print") == 0) print_buffer();
  else store_hex(what);
}

static void infer_command(char* rest) {
  const char* times = next_word(&rest);
  const char* warm = next_word(&rest);
  const int32_t n = *times ? number_of(times) : 1, w = *warm ? number_of(warm) : 10;
  if (n <= 0) say("e-[Inference iterations must be >0]\r\n");
  else if (w < 0) say("e-[Inference warmup must be >=0]\r\n");
  else infer((uint32_t)n, (uint32_t)w);
}

static void obey(char* command) {
  char* rest = command;
  const char* name = next_word(&rest);
  if (strcmp(name, "name") == 0) say("m-name-dut-[unspecified]\r\n");
  else if (strcmp(name, "timestamp") == 0) timestamp();
  else if (strcmp(name, "profile") == 0)
    say("m-profile-[ULPMark for tinyML Firmware V0.0.1]\r\nm-model-[" MODEL_VERSION "]\r\n");
  else if (strcmp(name, "help") == 0)
    say("name, timestamp, profile, db load N, db HH.., db print, infer N [W], results\r\n");
  else if (strcmp(name, "db") == 0) buffer(rest);
  else if (strcmp(name, "infer") == 0) infer_command(rest);
  else if (strcmp(name, "results") == 0) results();
  else if (*name) {
    say("e-[Unknown command: ");
    say(name);
    say("]\r\n");
  }
}

static void greet(void) {
#ifdef MLPERF_TINY_ENERGY
  say("m-timestamp-mode-energy\r\nm-init-done\r\nm-ready\r\n");
#else
  say("m-timestamp-mode-performance\r\nm-init-done\r\nm-ready\r\n");
#endif
}

static void listen(void) {}
