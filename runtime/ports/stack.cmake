# SPDX-License-Identifier: Apache-2.0
# Prints how much stack an image takes at most, from its instructions: cmake -DOBJDUMP=... -DIMAGE=firmware.elf -DCORES=cortex_m -P stack.cmake
# What each function does is read by frames.cmake of the cores. A frame is the sum of all that is taken from sp, wherever; a call, or a branch to
# another function, adds the callee's. That holds for C++, assembly and libraries alike. A call through a pointer goes to every function that `pointers` names for its caller, else to those
# whose addresses the caller itself holds. A caller without either, a frame of no fixed size and recursion have no bound: that is said, with
# the function's name.
# An interrupt leaves a frame on the stack of main, and its handler runs on another.
cmake_minimum_required(VERSION 3.20)

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
  "extremum<" "[(](int|long), (signed char|short) const[*], (int|long), (signed char|short) const[*], (int|long), (signed char|short)[*][)]$"
  "widen_window[(]" "[(]signed char const[*], long, long, short[*][)]$")

execute_process(COMMAND ${OBJDUMP} -d -C --no-show-raw-insn ${IMAGE} OUTPUT_FILE ${IMAGE}.text RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${OBJDUMP} cannot read ${IMAGE}")
endif()
file(READ ${IMAGE}.text text)
file(REMOVE ${IMAGE}.text)
include(${CMAKE_CURRENT_LIST_DIR}/${CORES}/frames.cmake)

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
