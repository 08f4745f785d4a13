# SPDX-License-Identifier: Apache-2.0
# Part of runtime/ports/stack.cmake, as cortex_m/frames.cmake is. A function that calls through a pointer holds the addresses that objdump remarks.
# There are no tables of jumps (-fno-jump-tables), so that a jump through a register is a call, but for those of the compiler's own library.
set(interrupt_frame 0)  # the processor saves nothing, and the handler has a stack of its own
string(REGEX REPLACE "[;@][^\n]*" "" text "${text}")
string(REPLACE "[" "(" text "${text}")
string(REPLACE "]" ")" text "${text}")
# A function begins; takes from sp; loads what is taken; goes to a function or through a register; holds an address.
set(lines "\n[0-9a-f]+ <[^\n]+>:|\n[^\n]*\t(addi|add|sub)\tsp,sp,[^\n]*|\n[^\n]*\t(lui|li|addi?)\tt[0-6],[^\n]*|\n[^\n]*\t(jal|j|jalr|jr|b[a-z]+)\t[^\n]*|\n[^\n]* # [0-9a-f]+ <[^\n]*")
string(REGEX MATCHALL "${lines}" rows "${text}")

set(functions "")
foreach(row IN LISTS rows)
  if(row MATCHES "^\n0*([0-9a-f]+) <(.+)>:$")
    set(function ${CMAKE_MATCH_1})
    set(name_${function} "${CMAKE_MATCH_2}")
    set(frame_${function} 0)
    set(calls_${function} "")
    set(words_${function} "")
    list(APPEND functions ${function})
    set(register "")
    continue()
  endif()
  if(NOT row MATCHES "<reset" AND row MATCHES " # ([0-9a-f]+) <")  # its address is also the sign of a float
    list(APPEND words_${function} ${CMAKE_MATCH_1})
  endif()
  if(row MATCHES "\tjal\tt0,[0-9a-f]+ <__riscv_save")  # of the libraries: saves registers in a frame that it leaves
    math(EXPR frame_${function} "${frame_${function}} + 64")
  elseif(row MATCHES "\taddi?\tsp,sp,-([0-9]+)")
    math(EXPR frame_${function} "${frame_${function}} + ${CMAKE_MATCH_1}")
  elseif(row MATCHES "\tlui\t(t[0-6]),0x([0-9a-f]+)")  # a frame of more than 2 KB is a number in a register
    set(register ${CMAKE_MATCH_1})
    math(EXPR large "(0x${CMAKE_MATCH_2} << 12) & 0xffffffff")
  elseif(row MATCHES "\tli\t(t[0-6]),(-?[0-9]+)")
    set(register ${CMAKE_MATCH_1})
    math(EXPR large "${CMAKE_MATCH_2} & 0xffffffff")
  elseif(row MATCHES "\taddi?\t(t[0-6]),t[0-6],(-?[0-9]+)" AND CMAKE_MATCH_1 STREQUAL register)
    math(EXPR large "(${large} + ${CMAKE_MATCH_2}) & 0xffffffff")
  elseif(row MATCHES "\t(add|sub)\tsp,sp,([a-z][a-z0-9]*)")
    if(NOT CMAKE_MATCH_2 STREQUAL register)
      set(unbounded_${function} "takes a frame of no fixed size")
    elseif(CMAKE_MATCH_1 STREQUAL add AND large GREATER 0x7fffffff)
      math(EXPR frame_${function} "${frame_${function}} + 0x100000000 - ${large}")
    elseif(CMAKE_MATCH_1 STREQUAL sub AND large LESS 0x80000000)
      math(EXPR frame_${function} "${frame_${function}} + ${large}")
    endif()
  elseif(row MATCHES "[+]0x[0-9a-f]+>")
    continue()  # into the function itself
  elseif(row MATCHES "\t(jalr|jr)\t")
    if(NOT row MATCHES "\tjr\tra" AND NOT name_${function} MATCHES "^(__|mem(cpy|move|set)$)")
      set(through_pointer_${function} TRUE)
    endif()
  elseif(row MATCHES "\t(jal|j|b[a-z]+)\t([a-z0-9]+,)*([0-9a-f]+) <")
    if(CMAKE_MATCH_1 STREQUAL jal OR NOT CMAKE_MATCH_3 STREQUAL function)  # else a loop that begins with the function
      list(APPEND calls_${function} ${CMAKE_MATCH_3})
    endif()
  endif()
endforeach()
