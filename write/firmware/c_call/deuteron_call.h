// SPDX-License-Identifier: Apache-2.0
/* Calls of kernels that keep arguments of their own: each run makes them ready, with the checks of
 * a program's loader, and runs them. */
#ifndef DEUTERON_CALL_H
#define DEUTERON_CALL_H
#include <stdbool.h>
#include <stdint.h>

/* `elements` of the program format's type `type`; order[k]: the axis at storage position k.
 * `constant`: the call may read it beforehand. */
struct deuteron_tensor {
  void* data;
  const int32_t* sizes;
  const uint8_t* order;
  int32_t elements;
  uint8_t rank;
  int8_t type;
  bool constant;
};

/* An argument of the runtime's kind `kind`. A number, its bits where it is real; or `count` items:
   numbers, truth values, a text, or pointers to tensors, null for none. One tensor is a list of
   one. */
struct deuteron_value {
  uint8_t kind;
  int32_t count;
  int64_t number;
  const void* items;
};

/* `memory`: room for the call, at a multiple of 16. */
struct deuteron_call {
  const struct deuteron_value* arguments;
  int32_t count;
  uint8_t isa;
  void* memory;
  uint32_t memory_bytes;
};
#endif
