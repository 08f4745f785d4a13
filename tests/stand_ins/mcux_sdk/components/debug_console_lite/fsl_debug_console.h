#pragma once
int DbgConsole_Putchar(int ch);
