// SPDX-License-Identifier: Apache-2.0
/* The same on a computer. */
#include <stdio.h>

#include "port.h"

void write_file(const char* name, const void* data, uint32_t bytes) {
  FILE* file = fopen(name, "wb");
  if (file == NULL) return;
  fwrite(data, 1, bytes, file);
  fclose(file);
}
void paint_stack(void) {}
uint32_t stack_used(void) { return 0; }
int main(void) { return run_models(); }
