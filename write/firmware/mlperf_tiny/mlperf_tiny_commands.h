/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that end with %, and answers that end with m-ready: included by the one file that obeys
   them. */
#ifndef MLPERF_TINY_COMMANDS_H
#define MLPERF_TINY_COMMANDS_H
#include <stdint.h>

#include "mlperf_tiny.h"
#include "mlperf_tiny_model.h"

static void greet(void);
static void obey(char* command);
static void listen(void); /* between the bytes of commands */

static inline void say(const char* text) {
  while (*text) mlperf_tiny_put(*text++);
}
static inline void say_number(uint32_t v) {
  char digits[11];
  int k = 10;
  digits[k] = 0;
  do digits[--k] = (char)('0' + v % 10);
  while (v /= 10);
  say(digits + k);
}
static inline void say_line(const char* begin, uint32_t number, const char* end) {
  say(begin);
  say_number(number);
  say(end);
  say("\r\n");
}

/* The next word of a command, and its end; empty: there is none. */
static inline char* next_word(char** rest) {
  char* word = *rest;
  while (*word == ' ') word++;
  *rest = word;
  while (**rest && **rest != ' ') (*rest)++;
  if (**rest) *(*rest)++ = 0;
  return word;
}
/* As atoi: what is no number is 0. -1: negative. */
static inline int32_t number_of(const char* text) {
  int32_t v = 0;
  if (*text == '-') return -1;
  for (; *text >= '0' && *text <= '9' && v < 100000000; text++) v = 10 * v + (*text - '0');
  return v;
}
static inline int digit_of(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}
/* Of two hexadecimal digits; -1: these are none. */
static inline int byte_of(const char* hex) {
  const int high = digit_of(hex[0]), low = high < 0 ? -1 : digit_of(hex[1]);
  return low < 0 ? -1 : high << 4 | low;
}

void mlperf_tiny_serve(void) {
  char command[MODEL_COMMAND_BYTES + 1]; /* longer ones are cut, as there */
  int length = 0;
  greet();
  for (;;) {
    const int c = mlperf_tiny_get();
    listen();
    if (c < 0) continue;
    if (c == '%') {
      command[length] = 0;
      length = 0;
      obey(command);
      say("m-ready\r\n");
    } else if (c != '\r' && c != '\n' && length < MODEL_COMMAND_BYTES) command[length++] = (char)c;
  }
}
#endif
