# SPDX-License-Identifier: Apache-2.0
# Fails when an image has anything of a heap in it. No exceptions: newlib's string and math functions need none.
execute_process(COMMAND ${NM} ${IMAGE} OUTPUT_VARIABLE symbols RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${NM} cannot read ${IMAGE}")
endif()
string(REGEX MATCHALL "[^\n]* (_?malloc(_r)?|_?calloc(_r)?|_?realloc(_r)?|_?free(_r)?|_sbrk(_r)?|_Zn[wa][^\n]*|_Zd[la][^\n]*|__cxa_throw|_impure_ptr)\n" found
       "${symbols}")
if(found)
  file(REMOVE ${IMAGE})
  list(JOIN found "" found)
  message(FATAL_ERROR "${IMAGE} uses a heap, or something else that a board does not have:\n${found}")
endif()
