# SPDX-License-Identifier: Apache-2.0
# stretto_rtl_block(name [PREFIX V<other>] [PARAMETERS NAME=VALUE...])
#
# Verilates the module <name> of rtl/<name>/ into the class V<name>; include "V<name>.h" (before
# <systemc>: it does not compile after it) and link stretto_verilated, which holds all blocks (one
# library: the Verilator runtime is compiled once).
# rtl/<name>/<name>.f is the one file list: a path per line from the repository root, '//' comments.
# PARAMETERS override top parameters; give such a variant a PREFIX of its own.
# The library stretto_verilated_checked is the same with assertions (bound properties) compiled in: it
# stops with file, line and label when one fails. Tests link it; it exists once somebody links it.
# The test lint.<prefix> runs Verilator's full lint (-Wall), where a warning is an error.
#
# Call it from rtl/<name>/CMakeLists.txt, which rtl/CMakeLists.txt includes (not add_subdirectory:
# verilate() needs its target in the same directory).
function(stretto_rtl_block name)
  cmake_parse_arguments(arg "" "PREFIX" "PARAMETERS" ${ARGN})
  if(NOT arg_PREFIX)
    set(arg_PREFIX V${name})
  endif()
  set(list_file ${PROJECT_SOURCE_DIR}/rtl/${name}/${name}.f)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list_file})
  file(STRINGS ${list_file} sources REGEX "^[^/]")
  list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/)
  list(TRANSFORM arg_PARAMETERS PREPEND -G)
  set(flags --x-assign fast --x-initial fast -Wno-fatal -Wno-lint -Wno-style -I${PROJECT_SOURCE_DIR} ${arg_PARAMETERS})
  set(trace "")
  if(STRETTO_TRACE)
    set(trace TRACE_FST)
  endif()
  set(common SOURCES ${sources} PREFIX ${arg_PREFIX} TOP_MODULE ${name} OPT_FAST -O3 OPT_SLOW -O1)
  verilate(stretto_verilated ${common} ${trace} VERILATOR_ARGS ${flags} --noassert)
  verilate(stretto_verilated_checked ${common} VERILATOR_ARGS ${flags} --assert)
  add_test(NAME lint.${arg_PREFIX} COMMAND ${VERILATOR_BIN} --lint-only -Wall --top ${name}
           -I${PROJECT_SOURCE_DIR} ${arg_PARAMETERS} ${sources})
  set_tests_properties(lint.${arg_PREFIX} PROPERTIES LABELS lint)
endfunction()
