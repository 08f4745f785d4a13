// SPDX-License-Identifier: Apache-2.0
/* What the test's main program has from the machine it runs on. */
#pragma once
#include <stdint.h>

int run_models(void);
void write_file(const char* name, const void* data, uint32_t bytes);
void paint_stack(void);
uint32_t stack_used(void);
