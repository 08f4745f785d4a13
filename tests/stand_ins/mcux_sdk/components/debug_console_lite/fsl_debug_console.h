// SPDX-License-Identifier: Apache-2.0
#pragma once
int DbgConsole_Putchar(int ch);
