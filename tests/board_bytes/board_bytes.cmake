# SPDX-License-Identifier: Apache-2.0
# An image for each board that loads a program in every form which one changed byte or a cut gives it (main.cpp). Included by the root CMakeLists.txt
# after boards/boards.cmake, whose objects it links. `ctest -R board_bytes` changes each bit of a few programs; docs/fuzzing.md has the long run.
set(images "")
foreach(board IN LISTS BOARDS)
  set(object ${BOARD_DIR}/${board}/tests/board_bytes/main.cpp.o)
  compile_for_board(${board} ${PROJECT_SOURCE_DIR}/tests/board_bytes/main.cpp ${object} -O2)
  file(GLOB_RECURSE isa_sources CONFIGURE_DEPENDS kernels/*_${ISA_${board}}.S kernels/*_${ISA_${board}}.cpp)
  set(objects ${object})
  foreach(source IN LISTS RUNTIME_SOURCES MODEL_${board} SOURCES_${board} isa_sources)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${source})
    if(NOT name MATCHES "^boards/runner/")
      list(APPEND objects ${BOARD_DIR}/${board}/${name}.o)
    endif()
  endforeach()
  set(image ${BOARD_DIR}/${board}.bytes.elf)
  string(REPLACE ";" "\n" list_of_objects "${objects}")
  file(GENERATE OUTPUT ${BOARD_DIR}/${board}.bytes.objects CONTENT "${list_of_objects}\n")
  add_custom_command(OUTPUT ${image}
    COMMAND ${LINK_${board}} @${BOARD_DIR}/${board}.bytes.objects -nostartfiles -Wl,--gc-sections
            -L${PROJECT_SOURCE_DIR}/runtime/ports -T${PROJECT_SOURCE_DIR}/boards/${board}/memory.ld -lm -o ${image}
    DEPENDS ${objects} ${LINKER_SCRIPTS} ${BOARD_DIR}/${board}.bytes.objects COMMENT "${board}: image that changes each byte" VERBATIM)
  list(APPEND images ${image})
endforeach()
add_custom_target(board_bytes DEPENDS ${images})

# Programs of ours, one of them for the NPU.
set(changed_mps3-an547 on_boards/dw.cortex-m55)
set(changed_mps2-an385 on_boards/dw.cortex-m3)
set(changed_mps2-an505 on_boards/dw.cortex-m33 pte/neutron.pte)
foreach(board IN LISTS BOARDS)
  foreach(file IN LISTS changed_${board})
    if(NOT EMULATOR_${CORES_${board}} OR DEUTERON_SANITIZE)
      continue()
    endif()
    get_filename_component(name ${file} NAME)
    add_test(NAME board_bytes_${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus
             COMMAND ${EMULATE_${board}} -kernel ${BOARD_DIR}/${board}.bytes.elf -nodefaults -no-user-config -display none -monitor none
                     -serial null -parallel null -semihosting-config enable=on,target=native,arg=${file})
    set_tests_properties(board_bytes_${name} PROPERTIES LABELS release TIMEOUT 300)
  endforeach()
endforeach()
