/* SPDX-License-Identifier: Apache-2.0 */
/* The serial protocol of MLPerf Tiny's streaming wake word. Source: mlcommons/tiny 1afd2c9,
   benchmark/reference_submissions/streaming_wakeword/sww_ref_l4r5zi/Core/Src/sww_ref_util.c, and
   what its clients read, benchmark/runner/script.py and stream_wav_uart.py. */
#include <string.h>

#include "mlperf_tiny_commands.h"
#include "mlperf_tiny_front_end.h"

/* As on the reference board: of an int8 output whose steps are 1/256. */
enum { kDetects = 115, kPulseMicroseconds = 2 };

static uint8_t arena[MODEL_ARENA_BYTES] __attribute__((aligned(16)));
static int16_t samples[kWindow]; /* the newest */
static model_input input[MODEL_INPUT_ELEMENTS];
static model_output output[MODEL_OUTPUT_ELEMENTS];
static union {
  uint8_t bytes[MODEL_DATA_BYTES];
  int16_t samples[kStride];
} db;
static uint32_t db_bytes, db_at;
static int8_t activations[MLPERF_TINY_STEPS + 1];
static uint32_t steps;
static int is_listening, has_begun;

static void pulse(enum mlperf_tiny_pin pin, int level) {
  const uint32_t begin = mlperf_tiny_microseconds();
  mlperf_tiny_set_pin(pin, level);
  while (mlperf_tiny_microseconds() - begin < kPulseMicroseconds) {}
  mlperf_tiny_set_pin(pin, !level);
}

static void say_steps(const int8_t* v, uint32_t count, uint32_t in_line) {
  uint32_t k;
  say("[");
  for (k = 0; k < count; k++) {
    if (v[k] < 0) mlperf_tiny_put('-');
    say_number((uint32_t)(v[k] < 0 ? -v[k] : v[k]));
    if (k + 1 < count) say(", ");
    if (k % in_line == in_line - 1) say("\r\n");
  }
  say("]\r\n");
}

/* Takes 32 ms more, and says how sure the model is now. */
static void run_step(const int16_t* heard) {
  const struct MODEL_STRUCT(inputs) in = {.input0 = input};
  const struct MODEL_STRUCT(outputs) out = {.output0 = output};
  const int16_t before = samples[kStride - 1];
  if (!has_begun) {
    MODEL_RESET(arena);
    has_begun = 1;
  }
  memmove(samples, samples + kStride, sizeof(samples) / 2);
  memcpy(samples + kStride, heard, sizeof(samples) / 2);
  memmove(input, input + kFeatures, MODEL_INPUT_ELEMENTS - kFeatures);
  mlperf_tiny_features(samples, before, input + MODEL_INPUT_ELEMENTS - kFeatures);
  (void)MODEL_RUN(arena, &in, &out);
}

static void listen(void) {
  const int16_t* heard = is_listening ? mlperf_tiny_heard() : 0;
  if (!heard) return;
  mlperf_tiny_set_pin(mlperf_tiny_processing, 1);
  run_step(heard);
  /* The first one gives the runner its time. */
  if (steps == 0 || output[0] > kDetects) pulse(mlperf_tiny_detected, 0);
  if (steps < MLPERF_TINY_STEPS) activations[steps] = output[0];
  steps++;
  mlperf_tiny_set_pin(mlperf_tiny_processing, 0);
}

static void start(void) {
  if (is_listening) {
    say("It listens already. Ignoring request\r\n");
    return;
  }
  memset(samples, 0, sizeof(samples));
  memset(input, 0, sizeof(input));
  steps = 0;
  has_begun = 0;
  pulse(mlperf_tiny_timestamp, 0);
  pulse(mlperf_tiny_processing, 1);
  is_listening = 1;
  mlperf_tiny_listen(1);
  say("Listening for audio ...\r\n");
}

static void stop(void) {
  if (!is_listening) {
    say("It does not listen. Ignoring request\r\n");
    return;
  }
  mlperf_tiny_listen(0);
  is_listening = 0;
  pulse(mlperf_tiny_timestamp, 0);
  say("Streaming stopped.\r\ntarget activations: \r\n");
  say_steps(activations, steps < MLPERF_TINY_STEPS ? steps : MLPERF_TINY_STEPS, 16);
}

static void extract(void) {
  if (db_at != MODEL_DATA_BYTES) {
    say_line("e-[The audio has ", db_at, " bytes]");
    return;
  }
  run_step(db.samples);
  say("m-features-");
  say_steps(input + MODEL_INPUT_ELEMENTS - kFeatures, kFeatures, kFeatures + 1);
  say("m-activations-");
  say_steps(output, MODEL_OUTPUT_ELEMENTS, MODEL_OUTPUT_ELEMENTS + 1);
}

static void store_hex(const char* hex) {
  for (; *hex && db_at < db_bytes; hex += 2) {
    const int byte = byte_of(hex);
    if (byte < 0) {
      say("Error: no pairs of hex digits\r\n");
      return;
    }
    db.bytes[db_at++] = (uint8_t)byte;
  }
  if (db_at == db_bytes) say("m-load-done\r\n");
  else say_line("", db_at, " bytes received");
}

static void buffer(char* rest) {
  const char *what = next_word(&rest), *argument = next_word(&rest);
  const int32_t number = number_of(argument);
  uint32_t k;
  if (strcmp(what, "load") == 0) {
    if (number <= 0 || number > MODEL_DATA_BYTES) {
      say_line("Error: Transfer size must be 1 to ", MODEL_DATA_BYTES, "");
      return;
    }
    db_bytes = (uint32_t)number;
    db_at = 0;
    say_line("Expecting ", db_bytes, " bytes");
  } else if (strcmp(what, "setptr") == 0) {
    if (number >= 0 && (uint32_t)number <= db_bytes) db_at = (uint32_t)number;
  } else if (strcmp(what, "getptr") == 0) say_line("m-buff-ptr-", db_at, "");
  else if (strcmp(what, "print") == 0) {
    say("m-buffer-");
    for (k = 0; k < db_bytes; k++) {
      if (k) mlperf_tiny_put('-');
      mlperf_tiny_put("0123456789abcdef"[db.bytes[k] >> 4]);
      mlperf_tiny_put("0123456789abcdef"[db.bytes[k] & 15]);
    }
    say("\r\n");
  } else if (*what) store_hex(what);
  else say("Error: db requires a sub-command\r\n");
}

static void greet(void) { pulse(mlperf_tiny_timestamp, 0); }

static void obey(char* command) {
  char* rest = command;
  const char* name;
  say("Received command: "); /* stream_wav_uart.py compares it */
  say(command);
  say("\r\n");
  name = next_word(&rest);
  if (strcmp(name, "name") == 0) say("m-name-dut-[unspecified]\r\n");
  else if (strcmp(name, "profile") == 0)
    say("m-profile-[MLPerf Tiny Firmware V0.1.0]\r\nm-model-[" MODEL_VERSION "]\r\n");
  else if (strcmp(name, "timestamp") == 0) pulse(mlperf_tiny_timestamp, 0);
  else if (strcmp(name, "start") == 0) start();
  else if (strcmp(name, "stop") == 0) stop();
  else if (strcmp(name, "db") == 0) buffer(rest);
  else if (strcmp(name, "extract_uart_stream") == 0) extract();
  else if (strcmp(name, "help") == 0)
    say("name, profile, timestamp, start, stop, db load N, db HH.., db print, extract_uart_stream"
        "\r\n");
  else if (*name) {
    say("Unrecognized command ");
    say(name);
    say("\r\n");
  }
}
