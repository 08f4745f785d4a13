/* SPDX-License-Identifier: Apache-2.0 */
/* For your own firmware: what `deuteron run --on serial:DEVICE` talks to, over a UART or anything
   else that carries bytes. Two functions are yours; then call deuteron_agent_serve() from main,
   after your clocks and the UART are set up, with the UART polled and without interrupts:

     int deuteron_agent_get(void);            the next byte, or -1: none yet
     void deuteron_agent_put(unsigned char);  sends a byte; waits for room

   It reads and writes memory for the host, which puts the runner into the RAM that `--memory`
   names: keep that free of your own. A program (.pte) that your firmware holds, aligned to 16, is
   not sent again where DEUTERON_AGENT_PROGRAM is its address, defined in front of this header. The
   function never returns. Packets are those of GDB's remote serial protocol, so a byte that is
   lost, doubled or flipped is asked for again. C99. */
#ifndef DEUTERON_AGENT_H
#define DEUTERON_AGENT_H
#include <stdint.h>

int deuteron_agent_get(void);
void deuteron_agent_put(unsigned char byte);

/* Its version is the number behind `agent=`: boards/gdb_remote.cpp. */
enum { kDeuteronAgentPacket = 0x100 };
static struct {
  unsigned char packet[kDeuteronAgentPacket + 1];
  uint32_t number, block, lr; /* of the runner's call */
  uint32_t
      pc; /* the call's own address until the host has set where it goes on; 0: behind the call */
} deuteron_agent;

static int deuteron_agent_digit(int c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int deuteron_agent_byte(void) {
  int c;
  do c = deuteron_agent_get();
  while (c < 0);
  return c;
}

/* A whole packet, or -1 for one that came spoilt. */
static int deuteron_agent_receive(void) {
  int n = 0, c, high, low;
  unsigned char sum = 0;
  do c = deuteron_agent_byte();
  while (c != '$');
  while ((c = deuteron_agent_byte()) != '#') {
    if (c == '$') {
      n = 0;
      sum = 0;
      continue;
    }
    if (n == kDeuteronAgentPacket) return -1;
    deuteron_agent.packet[n++] = (unsigned char)c;
    sum = (unsigned char)(sum + c);
  }
  high = deuteron_agent_digit(deuteron_agent_byte());
  low = deuteron_agent_digit(deuteron_agent_byte());
  deuteron_agent.packet[n] = 0;
  return high < 0 || low < 0 || (high << 4 | low) != sum ? -1 : n;
}

static unsigned char deuteron_agent_sum;
static void deuteron_agent_send(int c) {
  deuteron_agent_sum = (unsigned char)(deuteron_agent_sum + c);
  deuteron_agent_put((unsigned char)c);
}
static void deuteron_agent_hex(unsigned char byte) {
  deuteron_agent_send("0123456789abcdef"[byte >> 4]);
  deuteron_agent_send("0123456789abcdef"[byte & 15]);
}
static void deuteron_agent_begin(void) {
  deuteron_agent_put('$');
  deuteron_agent_sum = 0;
}
static void deuteron_agent_end(void) {
  const unsigned char sum = deuteron_agent_sum;
  deuteron_agent_put('#');
  deuteron_agent_hex(sum);
}
static void deuteron_agent_text(const char* text) {
  while (*text) deuteron_agent_send(*text++);
}
static void deuteron_agent_say(const char* text) {
  deuteron_agent_begin();
  deuteron_agent_text(text);
  deuteron_agent_end();
}

static const unsigned char* deuteron_agent_number(const unsigned char* p, uint32_t* value) {
  *value = 0;
  for (; deuteron_agent_digit(*p) >= 0; p++)
    *value = *value << 4 | (uint32_t)deuteron_agent_digit(*p);
  return *p ? p + 1 : p;
}

/* Registers of the processor want words. */
static void deuteron_agent_read(uint32_t from, uint32_t bytes) {
  uint32_t k, word;
  deuteron_agent_begin();
  if (((from | bytes) & 3) == 0)
    for (; bytes; bytes -= 4, from += 4)
      for (word = *(const volatile uint32_t*)(uintptr_t)from, k = 0; k < 4; k++, word >>= 8)
        deuteron_agent_hex((unsigned char)word);
  else
    for (; bytes; bytes--) deuteron_agent_hex(*(const volatile unsigned char*)(uintptr_t)from++);
  deuteron_agent_end();
}
static void deuteron_agent_write(uint32_t to, uint32_t bytes, const unsigned char* hex) {
  uint32_t k, word;
  const uint32_t step = ((to | bytes) & 3) == 0 ? 4 : 1;
  for (; bytes; bytes -= step, to += step) {
    for (word = 0, k = 0; k < step; k++, hex += 2)
      word |= (uint32_t)(deuteron_agent_digit(hex[0]) << 4 | deuteron_agent_digit(hex[1])) << 8 * k;
    if (step == 4) *(volatile uint32_t*)(uintptr_t)to = word;
    else *(volatile unsigned char*)(uintptr_t)to = (unsigned char)word;
  }
}

/* Bytes as they are; before a sign of the protocol stands }, and it is xor 0x20. 0: another number
 * of them than was said. */
static int deuteron_agent_store(uint32_t to, uint32_t bytes, const unsigned char* p,
                                const unsigned char* end) {
  for (; bytes && p < end; bytes--, p++) {
    unsigned char byte = *p;
    if (byte == '}' && p + 1 < end) byte = *++p ^ 0x20;
    *(volatile unsigned char*)(uintptr_t)to++ = byte;
  }
  return bytes == 0 && p == end;
}

/* GDB's checksum of memory: the polynomial 0x04c11db7, most significant bit first. */
static uint32_t deuteron_agent_crc(uint32_t from, uint32_t bytes) {
  uint32_t crc = 0xffffffff;
  for (; bytes; bytes--, from++) {
    int bit;
    crc ^= (uint32_t) * (const volatile unsigned char*)(uintptr_t)from << 24;
    for (bit = 0; bit < 8; bit++) crc = crc << 1 ^ (crc >> 31 ? 0x04c11db7u : 0);
  }
  return crc;
}

static int32_t deuteron_agent_call(uint32_t number, uint32_t block);
#define DEUTERON_AGENT_CALL ((uint32_t)(uintptr_t)&deuteron_agent_call)

/* Registers by GDB's numbers: 0 and 1 of the call, 14 and 15, 25 (xPSR: a thread's); 32: the
 * function that the runner calls. */
static uint32_t* deuteron_agent_register(uint32_t number) {
  static uint32_t other;
  other = number == 25 ? 1u << 24 : number == 32 ? DEUTERON_AGENT_CALL : 0;
  return number == 0    ? &deuteron_agent.number
         : number == 1  ? &deuteron_agent.block
         : number == 14 ? &deuteron_agent.lr
         : number == 15 ? &deuteron_agent.pc
                        : &other;
}

static void deuteron_agent_registers(const unsigned char* p, int writes) {
  uint32_t number, value, k, *r;
  p = deuteron_agent_number(p, &number);
  r = deuteron_agent_register(number);
  if (writes) {
    for (k = value = 0; k < 4; k++, p += 2)
      value |= (uint32_t)(deuteron_agent_digit(p[0]) << 4 | deuteron_agent_digit(p[1])) << 8 * k;
    *r = value;
    deuteron_agent_say("OK");
    return;
  }
  value = *r;
  deuteron_agent_begin();
  for (k = 0; k < 4; k++, value >>= 8) deuteron_agent_hex((unsigned char)value);
  deuteron_agent_end();
}

/* qSupported, qCRC:FROM,BYTES */
static void deuteron_agent_query(const unsigned char* p) {
  uint32_t from, bytes, k, crc;
  if (p[0] != 'C' || p[1] != 'R') {
    deuteron_agent_begin();
    if (p[0] == 'S') {
      deuteron_agent_text("PacketSize=f0;agent=1");
#ifdef DEUTERON_AGENT_PROGRAM
      deuteron_agent_text(";program=");
      for (k = 0, from = (uint32_t)(uintptr_t)(DEUTERON_AGENT_PROGRAM); k < 4; k++, from <<= 8)
        deuteron_agent_hex((unsigned char)(from >> 24));
#endif
    }
    deuteron_agent_end();
    return;
  }
  p = deuteron_agent_number(p + 4, &from);
  deuteron_agent_number(p, &bytes);
  crc = deuteron_agent_crc(from, bytes);
  deuteron_agent_begin();
  deuteron_agent_send('C');
  for (k = 0; k < 4; k++, crc <<= 8) deuteron_agent_hex((unsigned char)(crc >> 24));
  deuteron_agent_end();
}

/* Until the host lets the processor run: behind the call, or where it has put the program counter.
 */
static void deuteron_agent_serve(void) {
  for (;;) {
    const unsigned char* p = deuteron_agent.packet + 1;
    uint32_t a, b;
    const int n = deuteron_agent_receive();
    if (n <= 0) {
      deuteron_agent_put(n < 0 ? '-' : '+');
      if (n == 0) deuteron_agent_say("");
      continue;
    }
    deuteron_agent_put('+');
    switch (deuteron_agent.packet[0]) {
      case '?':
        deuteron_agent_say("S05");
        break;
      case 'q':
        deuteron_agent_query(p);
        break;
      case 'X':
        p = deuteron_agent_number(p, &a);
        p = deuteron_agent_number(p, &b);
        deuteron_agent_say(deuteron_agent_store(a, b, p, deuteron_agent.packet + n) ? "OK" : "E01");
        break;
      case 'm':
        p = deuteron_agent_number(p, &a);
        deuteron_agent_number(p, &b);
        deuteron_agent_read(a, b);
        break;
      case 'M':
        p = deuteron_agent_number(p, &a);
        p = deuteron_agent_number(p, &b);
        if ((uint32_t)(deuteron_agent.packet + n - p) != 2 * b) {
          deuteron_agent_say("E01");
          break;
        }
        deuteron_agent_write(a, b, p);
        deuteron_agent_say("OK");
        break;
      case 'p':
      case 'P':
        deuteron_agent_registers(p, deuteron_agent.packet[0] == 'P');
        break;
      case 'c':
        if (deuteron_agent.pc == 0) return;
        if ((deuteron_agent.pc | 1) ==
            (DEUTERON_AGENT_CALL | 1)) { /* said twice, and meant for an earlier call */
          deuteron_agent_say("S05");
          break;
        }
        a = deuteron_agent.pc | 1;
        deuteron_agent.pc = 0;
        ((void (*)(void))(uintptr_t)a)();
        break;
      default:
        deuteron_agent_say("");
    }
  }
}

/* The runner asks its host. */
static int32_t deuteron_agent_call(uint32_t number, uint32_t block) {
  deuteron_agent.number = number;
  deuteron_agent.block = block;
  deuteron_agent.lr = 0;
  deuteron_agent.pc = DEUTERON_AGENT_CALL;
  deuteron_agent_say("S05");
  deuteron_agent_serve();
  return (int32_t)deuteron_agent.number;
}

#endif
