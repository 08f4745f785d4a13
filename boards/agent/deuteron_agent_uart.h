/* SPDX-License-Identifier: Apache-2.0 */
/* The two functions that deuteron_agent.h asks for, for the UART of a chip: `deuteron targets
   --chips` prints the UART's base and its kind of registers. Your firmware has set the UART up (its
   clock, its pins, its baud rate, 8 bits without parity). In front of deuteron_agent.h:

     #define DEUTERON_UART_KIND stm32_2
     #define DEUTERON_UART_BASE 0x40004400
     #include "deuteron_agent_uart.h"

   Without DEUTERON_UART_KIND there are deuteron_uart_get_KIND(base) and _put_KIND(base, byte)
   alone. A kind's registers are words of 32 bits, those of kinetis bytes. C99. */
#ifndef DEUTERON_AGENT_UART_H
#define DEUTERON_AGENT_UART_H
#include <stdint.h>

/* kind; a register's type; a byte is there; takes it; there is room; gives it. Registers by
   stm32_1: RM0090, USART: SR, DR. stm32_2: RM0351, USART and LPUART: ISR, RDR, TDR, and ICR, as an
   overrun lasts. nrf: nRF51 Series Reference Manual, UART: RXDRDY, RXD, TXDRDY, TXD; room is waited
   for behind the byte. pl011: DDI 0183, UARTFR, UARTDR. sercom: SAM D5x/E5x data sheet, SERCOM
   USART: INTFLAG, DATA. kinetis: K64 reference manual, UART: S1, D. cmsdk: DDI 0479: STATE, DATA */
#define DEUTERON_UART_KINDS(K)                                                               \
  K(stm32_1, uint32_t, r[0] & 32, r[1], r[0] & 128, r[1] = c)                                \
  K(stm32_2, uint32_t, r[7] & 32, (r[8] = 8, r[9]), r[7] & 128, r[10] = c)                   \
  K(nrf, uint32_t, r[66], (r[66] = 0, r[326]), 1, (r[71] = 0, r[327] = c); while (!r[71]){}) \
  K(pl011, uint32_t, !(r[6] & 16), r[0], !(r[6] & 32), r[0] = c)                             \
  K(sercom, uint32_t, r[6] & 4, r[10], r[6] & 1, r[10] = c)                                  \
  K(kinetis, uint8_t, r[4] & 32, r[7], r[4] & 128, r[7] = c)                                 \
  K(cmsdk, uint32_t, r[1] & 2, r[0], !(r[1] & 1), r[0] = c)

#define DEUTERON_UART_FUNCTIONS(kind, type, is_there, take, has_room, give)      \
  static inline int deuteron_uart_get_##kind(uintptr_t base) {                   \
    volatile type* r = (volatile type*)base;                                     \
    return is_there ? (int)((take)&255) : -1;                                    \
  }                                                                              \
  static inline void deuteron_uart_put_##kind(uintptr_t base, unsigned char c) { \
    volatile type* r = (volatile type*)base;                                     \
    while (!(has_room)) {}                                                       \
    give;                                                                        \
  }
DEUTERON_UART_KINDS(DEUTERON_UART_FUNCTIONS)

#ifdef DEUTERON_UART_KIND
#define DEUTERON_UART_OF2(part, kind) deuteron_uart_##part##_##kind
#define DEUTERON_UART_OF(part, kind) DEUTERON_UART_OF2(part, kind)
int deuteron_agent_get(void) {
  return DEUTERON_UART_OF(get, DEUTERON_UART_KIND)(DEUTERON_UART_BASE);
}
void deuteron_agent_put(unsigned char byte) {
  DEUTERON_UART_OF(put, DEUTERON_UART_KIND)(DEUTERON_UART_BASE, byte);
}
#endif

#endif
