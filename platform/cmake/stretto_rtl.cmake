# SPDX-License-Identifier: Apache-2.0
# stretto_rtl_block(name [PREFIX V<other>] [PARAMETERS NAME=VALUE...])
#
# Verilates the module <name> of rtl/<name>/ into the class V<name>; include "V<name>.h" (before
# <systemc>: it does not compile after it).
# rtl/<name>/<name>.f is the one file list: a path per line from the repository root, '//' comments.
# PARAMETERS override top parameters; give such a variant a PREFIX of its own.
# rtl/<name>/<name>_props.sv, if there, has the properties that it binds to the module; flavour checked.
# The test lint.<prefix> runs Verilator's full lint (-Wall), where a warning is an error.
#
# Every block exists in three flavours, each a library that holds all blocks (the Verilator runtime is
# compiled once a library); those that nobody links are not compiled:
#   fast      stretto_verilated           what simulations run
#   checked   stretto_verilated_checked   assertions (bound properties) compiled in: stops with file, line
#                                         and label when one fails
#   traced    stretto_verilated_traced    with signals to look at (stretto run --waves)
# An executable says which one it wants: set_target_properties(<executable> PROPERTIES
# STRETTO_RTL_FLAVOUR checked); without that it is fast. See platform/adapters/CMakeLists.txt.
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
  set(properties ${PROJECT_SOURCE_DIR}/rtl/${name}/${name}_props.sv)
  if(NOT EXISTS ${properties})
    set(properties "")
  endif()
  stretto_verilate(${name} ${arg_PREFIX} SOURCES ${sources} PROPERTIES ${properties} ARGS ${arg_PARAMETERS})
  add_test(NAME lint.${arg_PREFIX} COMMAND ${VERILATOR_BIN} --lint-only -Wall --top ${name}
           -I${PROJECT_SOURCE_DIR} ${arg_PARAMETERS} ${sources} ${properties})
  set_tests_properties(lint.${arg_PREFIX} PROPERTIES LABELS lint)
endfunction()

# The class `prefix` from the module `top` in all flavours.
function(stretto_verilate top prefix)
  cmake_parse_arguments(arg "" "" "SOURCES;PROPERTIES;ARGS" ${ARGN})
  set(flags --x-assign fast --x-initial fast -Wno-fatal -Wno-lint -Wno-style -I${PROJECT_SOURCE_DIR} ${arg_ARGS})
  set(common PREFIX ${prefix} TOP_MODULE ${top} OPT_FAST -O3 OPT_SLOW -O1)
  verilate(stretto_verilated SOURCES ${arg_SOURCES} ${common} VERILATOR_ARGS ${flags} --noassert)
  verilate(stretto_verilated_checked SOURCES ${arg_SOURCES} ${arg_PROPERTIES} ${common} VERILATOR_ARGS ${flags} --assert)
  verilate(stretto_verilated_traced SOURCES ${arg_SOURCES} ${common} TRACE VERILATOR_ARGS ${flags} --noassert)
endfunction()
