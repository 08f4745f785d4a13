// SPDX-License-Identifier: Apache-2.0
/* Stands in for Zephyr's header on a host: what the sample of a module calls. */
#pragma once
#include <stdio.h>
#define printk printf
