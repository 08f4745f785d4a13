# SPDX-License-Identifier: Apache-2.0
# An image for each board: random cases of each against the portable kernel (main.cpp). Included
# by the root CMakeLists.txt after boards/boards.cmake, whose objects it links. `ctest -R board_kernels` runs them.
file(GLOB BOARD_KERNEL_SOURCES CONFIGURE_DEPENDS tests/board_kernels/*.cpp)
set(images "")
foreach(board IN LISTS BOARDS)
  file(GLOB_RECURSE kernels CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} kernels/*_${ISA_${board}}.S
       kernels/*_${ISA_${board}}.cpp kernels/*/kernel.cpp)
  file(GLOB ports CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} runtime/ports/*.cpp runtime/ports/${CORES_${board}}/*.cpp)
  list(APPEND kernels ${ports} runtime/decimal.cpp)
  list(TRANSFORM kernels PREPEND ${BOARD_DIR}/${board}/)
  list(TRANSFORM kernels APPEND .o)
  set(objects "")
  foreach(source IN LISTS BOARD_KERNEL_SOURCES)
    get_filename_component(name ${source} NAME)
    set(object ${BOARD_DIR}/${board}/tests/board_kernels/${name}.o)
    compile_for_board(${board} ${source} ${object} -O1)  # emulated: a test whose own code is slow takes as long as it takes to run it
    list(APPEND objects ${object})
  endforeach()
  set(image ${BOARD_DIR}/${board}.kernels.elf)
  add_custom_command(OUTPUT ${image}
    COMMAND ${LINK_${board}} ${objects} ${kernels} -nostartfiles -Wl,--gc-sections -L${PROJECT_SOURCE_DIR}/runtime/ports
            -T${PROJECT_SOURCE_DIR}/boards/${board}/memory.ld -lm -o ${image}
    DEPENDS ${objects} ${kernels} ${LINKER_SCRIPTS} COMMENT "${board}: image of the kernels' random cases" VERBATIM)
  list(APPEND images ${image})
  if(EMULATOR_${CORES_${board}} AND NOT DEUTERON_SANITIZE)
    add_test(NAME board_kernels_${board} COMMAND ${EMULATE_${board}} -kernel ${image} -icount shift=0 -nodefaults -no-user-config -display none
             -monitor none -serial null -parallel null -semihosting-config enable=on,target=native,arg=all)
    set_tests_properties(board_kernels_${board} PROPERTIES LABELS release TIMEOUT 300)
  endif()
endforeach()
add_custom_target(board_kernels ALL DEPENDS ${images})
if(NOT DEUTERON_SANITIZE)
  add_test(NAME kernel_set COMMAND python3 ${PROJECT_SOURCE_DIR}/tests/kernel_set.py ${PROJECT_BINARY_DIR})
  set_tests_properties(kernel_set PROPERTIES LABELS release SKIP_RETURN_CODE 77)
endif()
