/* SPDX-License-Identifier: Apache-2.0 */
/* What your board gives to the benchmark. Set up its clocks and its UART, then call
   mlperf_tiny_serve(), which never returns. */
#ifndef MLPERF_TINY_H
#define MLPERF_TINY_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

int mlperf_tiny_get(void);               /* the next byte, or -1: none yet */
void mlperf_tiny_put(char byte);         /* sends a byte; waits for room */
uint32_t mlperf_tiny_microseconds(void); /* since any time, of a clock that does not stop */
#ifdef MLPERF_TINY_ENERGY
void mlperf_tiny_pulse(void); /* pulls the pin of the monitor low for a microsecond or more */
#endif

/* The streaming wake word has these besides. */
#ifndef MLPERF_TINY_STEPS
#define MLPERF_TINY_STEPS 40000 /* of 32 ms, a byte of RAM each: whose results `stop` prints */
#endif
enum mlperf_tiny_pin {
  mlperf_tiny_timestamp,  /* high; low for a moment where energy is to be measured */
  mlperf_tiny_detected,   /* high; low for a moment when the word was said */
  mlperf_tiny_processing, /* high while 32 ms are worked on */
};
void mlperf_tiny_set_pin(enum mlperf_tiny_pin pin, int level);
void mlperf_tiny_listen(int on);        /* begins and ends what brings samples: I2S, by DMA */
const int16_t* mlperf_tiny_heard(void); /* 512 samples of one channel at 16 kHz, the next 32 ms; 0:
                                           not there yet. They stay for 32 ms */

void mlperf_tiny_serve(void);

#ifdef __cplusplus
}
#endif
#endif
