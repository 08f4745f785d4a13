// SPDX-License-Identifier: Apache-2.0
/* A library that is loaded before the program (LD_PRELOAD) and lets one thing fail, for
 * tests/faults.py: FAULTS_COUNT=FILE     nothing fails; FILE gets the number of allocations and of
 * writes FAULTS_MEMORY=N       the N-th allocation of C++ (operator new) fails FAULTS_WRITE=N the
 * N-th write() to a file fails: no space is left FAULTS_SHORT=1        every write() takes one
 * byte, or none since a signal came FAULTS_KILL=N         the process is killed (SIGKILL) at its
 * N-th allocation An exception needs memory too, so that malloc() itself never fails here. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_long allocations, writes;
static long memory_at, write_at, kill_at;
static int is_short;
static const char* count_file;

static long number(const char* name) {
  const char* text = getenv(name);
  return text ? atol(text) : 0;
}

__attribute__((constructor)) static void begin(void) {
  memory_at = number("FAULTS_MEMORY");
  write_at = number("FAULTS_WRITE");
  kill_at = number("FAULTS_KILL");
  is_short = number("FAULTS_SHORT") != 0;
  count_file = getenv("FAULTS_COUNT");
}

__attribute__((destructor)) static void end(void) {
  if (!count_file) return;
  FILE* file = fopen(count_file, "w");
  if (!file) return;
  fprintf(file, "%ld %ld\n", (long)allocations, (long)writes);
  fclose(file);
}

typedef void* (*New)(size_t);
typedef void* (*NewAligned)(size_t, size_t);
void* _Znwm(size_t); /* operator new(size_t) */
void* _ZnwmSt11align_val_t(size_t, size_t);

/* As operator new does it: the handler throws. */
static void no_memory(void) {
  void (*(*handler)(void))(void) =
      (void (*(*)(void))(void))dlsym(RTLD_DEFAULT, "_ZSt15get_new_handlerv");
  if (handler && handler()) handler()();
  ((void (*)(void))dlsym(RTLD_DEFAULT, "_ZSt17__throw_bad_allocv"))();
}

static int fails(void) {
  const long n = ++allocations;
  if (n == 1)
    kill_at = number("FAULTS_KILL"); /* constructors of other libraries may come before ours */
  if (n == kill_at) raise(SIGKILL);
  return n == memory_at;
}

void* _Znwm(size_t bytes) {
  static New real;
  if (fails()) no_memory();
  if (!real) real = (New)dlsym(RTLD_NEXT, "_Znwm");
  return real(bytes);
}

void* _ZnwmSt11align_val_t(size_t bytes, size_t alignment) {
  static NewAligned real;
  if (fails()) no_memory();
  if (!real) real = (NewAligned)dlsym(RTLD_NEXT, "_ZnwmSt11align_val_t");
  return real(bytes, alignment);
}

/* Only files: what is said on the terminal is said. */
ssize_t write(int file, const void* data, size_t bytes) {
  static ssize_t (*real)(int, const void*, size_t);
  if (!real) real = (ssize_t(*)(int, const void*, size_t))dlsym(RTLD_NEXT, "write");
  struct stat s;
  if (file <= 2 || fstat(file, &s) != 0 || !S_ISREG(s.st_mode)) return real(file, data, bytes);
  const long n = ++writes;
  if (n == write_at) return errno = ENOSPC, -1;
  if (is_short && bytes > 1) {
    if (n % 3 == 0) return errno = EINTR, -1;
    bytes = 1 + bytes / 3;
  }
  return real(file, data, bytes);
}
