/* SPDX-License-Identifier: Apache-2.0 */
/* What your board gives to the benchmark. Set up its clocks and its UART, then call
   mlperf_tiny_serve(), which never returns. */
#ifndef MLPERF_TINY_H
#define MLPERF_TINY_H
#include <stdint.h>

int mlperf_tiny_get(void);               /* the next byte, or -1: none yet */
void mlperf_tiny_put(char byte);         /* sends a byte; waits for room */
uint32_t mlperf_tiny_microseconds(void); /* since any time, of a clock that does not stop */
#ifdef MLPERF_TINY_ENERGY
void mlperf_tiny_pulse(void); /* pulls the pin of the monitor low for a microsecond or more */
#endif

#ifdef __cplusplus
extern "C" {
#endif
void mlperf_tiny_serve(void);
#ifdef __cplusplus
}
#endif
#endif
