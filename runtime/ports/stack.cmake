# Prints how much stack an image takes at most, from its instructions: cmake -DOBJDUMP=... -DIMAGE=firmware.elf -P stack.cmake
# Every function's frame is the sum of all that it takes from sp, wherever; a call, or a branch to another function, adds the callee's. That holds
# for C++, assembly and libraries alike. A call through a pointer goes to every function that `pointers` names for its caller, else to those
# whose addresses the caller itself holds. A caller without either, a frame of no fixed size and recursion have no bound: that is said, with
# the function's name.
# An interrupt leaves a frame on the stack of main, and its handler runs on another.
cmake_minimum_required(VERSION 3.20)
set(interrupt_frame 112)  # Armv7-M and Armv8-M: 26 words with floating point, and one to align them to 8

# Callers of pointers, and what these point to: patterns of demangled names, so that the type of the pointer's target is among them.
set(prepare "[(]deuteron::Call&, deuteron::Prepared[*][)]$")
set(backend "^deuteron::neutron_(check|use|prepare|open|close|start|stop)[(]")
set(pointers
  "^deuteron::(Loader::|measure|[(]anonymous namespace[)]::(measure_calls|check_any_call|check_calls|check_structure|prepare)[(]|Program::(load|measure))" "${prepare}|${backend}"
  "^deuteron::(start_backends|stop_backends|check_delegate_call|check_overlap|[(]anonymous namespace[)]::collect_delegate_uses|Program::unload)" "${backend}"
  "^deuteron::Program::run_delegate" "^deuteron::neutron_run[(]"
  "^deuteron::Program::run[(]" "[(]void const[*][)]$"
  "^deuteron::(DelegateCall::(tensor|option)|[(]anonymous namespace[)]::scratch_argument)" "^deuteron::[(]anonymous namespace[)]::(tensor_of|option_of)[(]"
  "^deuteron::neutron_run[(]" "^neutronRunBlocking$|^neutron(Resume|Suspend)$|^deuteron::[(]anonymous namespace[)]::(tensor_of|option_of)[(]"
  "^deuteron::neutron_[a-z_]+[(]" "^neutron(Init|Deinit|GetModelContextSize|ModelPrepare|ModelUnprepare|SetConfig|Resume|Suspend)$|^deuteron::[(]anonymous namespace[)]::(tensor_of|option_of)[(]"
  "^neutronRunBlocking$" "^deuteron::count_part[(]|^[(]anonymous namespace[)]::simulate[(]"
  "^deuteron::count_part[(]" "^[(]anonymous namespace[)]::simulate[(]|do_nothing[(]void[*][)]$"
  "raw_count[(]|hide_from_board_clock[(]" "^[(]anonymous namespace[)]::run[(]void[*][)]$|do_nothing[(]void[*][)]$|part_of_nothing[(]|::run_step[(]"
  "simulate[(]void[*][)]$" "^neutron_kernel_"
  "^neutron_kernel_MemCpy$" "^deuteron::[(]anonymous namespace[)]::(copy_by_memmove|wait_for_nothing)[(]"
  "^deuteron::neutron::(check_calls|[(]anonymous namespace[)]::check_[a-z_]+)[(]" "_FUN[(]deuteron::neutron::Layout const&, deuteron::neutron::Kind, void const[*][)]$"
  "^deuteron::neutron::cost_of[(]" "_FUN[(]deuteron::neutron::Machine const&, deuteron::neutron::Kind, void const[*][)]$"
  "run_pairwise[(]|keep_operands[(]" "[(]float, float, float[)]$|[(]long long, long long, long long[)]$"
  "keep_unary[(]" "[(]float, float, float[)]$|[(]long long[)]$"
  "KeptReduction" "Reduction const&[)]$"
  "run_indexed" "StridedCopy.*[(]void const[*][)]$|ByteCopy.*[(]void const[*][)]$"
  "widen_window[(]" "[(]signed char const[*], long, long, short[*][)]$")

execute_process(COMMAND ${OBJDUMP} -d -C --no-show-raw-insn ${IMAGE} OUTPUT_FILE ${IMAGE}.text RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${OBJDUMP} cannot read ${IMAGE}")
endif()
file(READ ${IMAGE}.text text)
file(REMOVE ${IMAGE}.text)
string(REGEX REPLACE "[;@][^\n]*" "" text "${text}")  # objdump's remarks
string(REPLACE "[" "(" text "${text}")
string(REPLACE "]" ")" text "${text}")
# A function begins; takes from sp; branches to the begin of a function; calls through a register; holds an address.
set(lines "\n[0-9a-f]+ <[^\n]+>:|\n[^\n]*\t(push|vpush|stmdb\tsp!|vstmdb\tsp!|sub|subw|sub[.]w|bl|blx|bx|b[a-z]*[.][nw]|b[.]w|[.]word|pop)\t?[^\n]*|\n[^\n]*\\(sp, #-[0-9]+\\)![^\n]*|\n[^\n]*\tbl[^\n]*")
string(REGEX MATCHALL "${lines}" rows "${text}")

set(functions "")
set(popped "")
foreach(row IN LISTS rows)
  set(was_popped "${popped}")
  set(popped "")
  if(row MATCHES "^\n0*([0-9a-f]+) <(.+)>:$")
    set(function ${CMAKE_MATCH_1})
    set(name_${function} "${CMAKE_MATCH_2}")
    set(frame_${function} 0)
    set(calls_${function} "")
    set(words_${function} "")
    list(APPEND functions ${function})
  elseif(row MATCHES "\tv?(push|stmdb)[.w]*\t(sp!, )?{([^}]+)}")
    string(REGEX REPLACE ", *" ";" registers "${CMAKE_MATCH_3}")
    foreach(register IN LISTS registers)
      set(bytes 4)
      if(register MATCHES "^d[0-9]")
        set(bytes 8)
      endif()
      if(register MATCHES "^[a-z]+([0-9]+)-[a-z]+([0-9]+)$")
        math(EXPR bytes "${bytes} * (${CMAKE_MATCH_2} - ${CMAKE_MATCH_1} + 1)")
      endif()
      math(EXPR frame_${function} "${frame_${function}} + ${bytes}")
    endforeach()
  elseif(row MATCHES "\tsub[sw.]*\tsp, (sp, )?#([0-9]+)")
    math(EXPR frame_${function} "${frame_${function}} + ${CMAKE_MATCH_2}")
  elseif(row MATCHES "\tsub[sw.]*\tsp, ")
    set(unbounded_${function} "takes a frame of no fixed size")
  elseif(row MATCHES "[(]sp, #-([0-9]+)[)]!")
    math(EXPR frame_${function} "${frame_${function}} + ${CMAKE_MATCH_1}")
  elseif(row MATCHES "\t[.]word\t0x0*([0-9a-f]+)")
    list(APPEND words_${function} ${CMAKE_MATCH_1})
  elseif(row MATCHES "\tpop\t{(r[0-9]+)}")
    set(popped ${CMAKE_MATCH_1})  # and `bx` behind it returns
  elseif(row MATCHES "\tblx?[.w]*\t(r[0-9]+|ip|sl|fp)")
    set(through_pointer_${function} TRUE)
  elseif(row MATCHES "\tbx\t(r[0-9]+|ip|sl|fp)")
    if(NOT CMAKE_MATCH_1 STREQUAL was_popped)
      set(through_pointer_${function} TRUE)
    endif()
  elseif(row MATCHES "[+]0x[0-9a-f]+>")
    continue()  # into the function itself
  elseif(row MATCHES "\t(b[a-z]*)[.nw]*\t0*([0-9a-f]+) <")
    set(branch ${CMAKE_MATCH_1})
    set(to ${CMAKE_MATCH_2})
    if(branch MATCHES "^blx?$" OR NOT to STREQUAL function)  # else a loop that begins with the function
      list(APPEND calls_${function} ${to})
    endif()
  endif()
endforeach()

foreach(function IN LISTS functions)
  if(NOT through_pointer_${function})
    continue()
  endif()
  set(named FALSE)
  set(rules "${pointers}")
  while(rules AND NOT named)
    list(POP_FRONT rules caller targets)
    if(name_${function} MATCHES "${caller}")
      set(named TRUE)
      foreach(other IN LISTS functions)
        if(name_${other} MATCHES "${targets}")
          list(APPEND calls_${function} ${other})
        endif()
      endforeach()
    endif()
  endwhile()
  foreach(word IN LISTS words_${function})  # the lowest bit of an address says Thumb
    math(EXPR word "0x${word} & ~1" OUTPUT_FORMAT HEXADECIMAL)
    string(SUBSTRING ${word} 2 -1 word)
    if(DEFINED name_${word})
      set(named TRUE)
      list(APPEND calls_${function} ${word})
    endif()
  endforeach()
  if(NOT named)
    set(unbounded_${function} "calls through a pointer that stack.cmake does not know")
  endif()
endforeach()

# Depth first. Properties `depth_F`, and `why_F` where there is no bound, `deepest_F` for the way down.
function(visit function)
  get_property(depth GLOBAL PROPERTY depth_${function})
  if(depth)
    return()
  endif()
  set_property(GLOBAL PROPERTY depth_${function} open)
  set(most 0)
  set(why "")
  if(unbounded_${function})
    set(why "${name_${function}} ${unbounded_${function}}")
  endif()
  set(callees ${calls_${function}})
  list(REMOVE_DUPLICATES callees)
  foreach(callee IN LISTS callees)
    if(NOT DEFINED name_${callee})
      continue()
    endif()
    visit(${callee})
    get_property(depth GLOBAL PROPERTY depth_${callee})
    if(depth STREQUAL open)
      set(why "${name_${function}} calls ${name_${callee}}, which may have called it")
      continue()
    endif()
    get_property(below GLOBAL PROPERTY why_${callee})
    if(below)
      set(why "${below}")
    endif()
    if(depth GREATER most)
      set(most ${depth})
      set_property(GLOBAL PROPERTY deepest_${function} ${callee})
    endif()
  endforeach()
  math(EXPR depth "${most} + ${frame_${function}}")
  set_property(GLOBAL PROPERTY depth_${function} ${depth})
  set_property(GLOBAL PROPERTY why_${function} "${why}")
endfunction()

function(print_bound what pattern)
  set(most 0)
  set(why "")
  foreach(function IN LISTS functions)
    if(name_${function} MATCHES "${pattern}")
      visit(${function})
      get_property(depth GLOBAL PROPERTY depth_${function})
      get_property(below GLOBAL PROPERTY why_${function})
      if(below)
        set(why "${below}")
      endif()
      if(depth GREATER_EQUAL most)
        set(most ${depth})
        set(deepest ${function})
      endif()
    endif()
  endforeach()
  math(EXPR most "${most} + ${ARGN} + 0")
  string(LENGTH "${what}" width)
  math(EXPR width "32 - ${width}")
  string(REPEAT " " ${width} gap)
  string(LENGTH "${most}" width)
  math(EXPR width "10 - ${width}")
  string(REPEAT " " ${width} before)
  if(why)
    message(NOTICE "${what}${gap}  no bound: ${why}")
  elseif(most GREATER 0)
    message(NOTICE "${what}${gap}${before}${most} of stack at most")
    if(SHOW_WAY)
      while(deepest)
        message(NOTICE "  ${frame_${deepest}} ${name_${deepest}}")
        get_property(deepest GLOBAL PROPERTY deepest_${deepest})
      endwhile()
    endif()
  endif()
endfunction()

print_bound("load" "^deuteron::Program::load[(]" 0)
print_bound("run" "^deuteron::Program::run[(][)]" 0)
print_bound("all, and an interrupt's frame" "^(main|prepare_and_run)$" ${interrupt_frame})
