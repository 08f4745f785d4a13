# SPDX-License-Identifier: Apache-2.0
# A firmware for an emulated board: our own start-up, loaded where it runs; `cmake --build build --target run` starts it in QEMU.
target_compile_definitions(firmware PRIVATE DEUTERON_BOARD_MAP="boards/${BOARD}/map.h")
set(LINKER_FOLDERS ${ports} ${CMAKE_CURRENT_SOURCE_DIR}/deuteron)

add_custom_target(run COMMAND ${EMULATE} -kernel $<TARGET_FILE:firmware> -icount shift=0,sleep=off -nodefaults -no-user-config -display none
  -monitor none -serial null -parallel null -semihosting-config enable=on,target=native DEPENDS firmware VERBATIM USES_TERMINAL)
