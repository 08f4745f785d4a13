// SPDX-License-Identifier: Apache-2.0
// Where the math functions of the C library put their error. The library's own pulls in its state
// for files and locales, 1 KB of RAM.
extern "C" int* __errno() {
  static int value;
  return &value;
}
