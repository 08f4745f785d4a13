# SPDX-License-Identifier: Apache-2.0
# The compiler for bare metal of the board's cores, as Debian packages it.
include(${CMAKE_CURRENT_LIST_DIR}/settings.cmake)
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR ${CORES})
find_program(CMAKE_CXX_COMPILER ${COMPILER_PREFIX}g++ REQUIRED)
find_program(CMAKE_C_COMPILER ${COMPILER_PREFIX}gcc REQUIRED)
find_program(TOOL_SIZE ${COMPILER_PREFIX}size REQUIRED)
set(CMAKE_ASM_COMPILER ${CMAKE_C_COMPILER})
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
