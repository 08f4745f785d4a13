# SPDX-License-Identifier: Apache-2.0
# Arm's compiler for bare metal, as Debian packages it.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
find_program(CMAKE_CXX_COMPILER arm-none-eabi-g++ REQUIRED)
find_program(CMAKE_C_COMPILER arm-none-eabi-gcc REQUIRED)
find_program(TOOL_SIZE arm-none-eabi-size REQUIRED)
set(CMAKE_ASM_COMPILER ${CMAKE_C_COMPILER})
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
