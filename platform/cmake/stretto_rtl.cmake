# SPDX-License-Identifier: Apache-2.0
# STRETTO_BLOCKS: the names in rtl/blocks.txt. Of each block STRETTO_BLOCK_CLASS_<name> (request_ring: RequestRing),
# STRETTO_BLOCK_PLACE_<name> and STRETTO_BLOCK_SENTENCE_<name>.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/rtl/blocks.txt)
file(STRINGS ${PROJECT_SOURCE_DIR}/rtl/blocks.txt rows REGEX "^[^#]")
set(STRETTO_BLOCKS "")
foreach(row ${rows})
  if(NOT row MATCHES "^([a-z][a-z0-9_]*) +(gpu|channel) +(.+)$")
    message(FATAL_ERROR "rtl/blocks.txt: '${row}' is not: name, gpu or channel, sentence")
  endif()
  set(block ${CMAKE_MATCH_1})
  set(STRETTO_BLOCK_PLACE_${block} ${CMAKE_MATCH_2})
  set(STRETTO_BLOCK_SENTENCE_${block} "${CMAKE_MATCH_3}")
  list(APPEND STRETTO_BLOCKS ${block})
  set(STRETTO_BLOCK_CLASS_${block} "")
  string(REPLACE "_" ";" words ${block})
  foreach(word ${words})
    string(SUBSTRING ${word} 0 1 first)
    string(SUBSTRING ${word} 1 -1 rest)
    string(TOUPPER ${first} first)
    string(APPEND STRETTO_BLOCK_CLASS_${block} ${first}${rest})
  endforeach()
endforeach()

# stretto_rtl_block(name [PREFIX V<other>] [PARAMETERS NAME=VALUE...])
#
# Verilates the module <name> of rtl/<name>/ into the class V<name>; include "V<name>.h" (before
# <systemc>: it does not compile after it).
# rtl/<name>/<name>.f is the one file list: a path per line from the repository root, '//' comments.
# PARAMETERS override top parameters; give such a variant a PREFIX of its own.
# -DSTRETTO_RTL_<name>=DIR takes DIR/<name>.f instead: bring your own RTL, see rtl/README.md.
# <name>_props.sv beside the list or else in rtl/<name>/, if there, has the properties that it binds to the
# module; flavour checked.
# The test lint.<prefix> runs Verilator's full lint (-Wall), where a warning is an error.
#
# Every block exists in two flavours, each a library that holds all blocks (the Verilator runtime is
# compiled once a library); those that nobody links are not compiled:
#   fast      stretto_verilated           what simulations run
#   checked   stretto_verilated_checked   assertions (bound properties) compiled in: stops with file, line
#                                         and label when one fails; with signals to look at (stretto run
#                                         --waves, and what a failing test saw)
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
  stretto_rtl_sources(${name} sources folder)
  list(TRANSFORM arg_PARAMETERS PREPEND -G)
  set(properties "")
  foreach(place ${PROJECT_SOURCE_DIR}/rtl/${name} ${folder})
    if(EXISTS ${place}/${name}_props.sv)
      set(properties ${place}/${name}_props.sv)
    endif()
  endforeach()
  stretto_verilate(${name} ${arg_PREFIX} SOURCES ${sources} PROPERTIES ${properties} ARGS ${arg_PARAMETERS})
  add_test(NAME lint.${arg_PREFIX} COMMAND ${VERILATOR_BIN} --lint-only -Wall --top ${name}
           -I${PROJECT_SOURCE_DIR} ${arg_PARAMETERS} ${sources} ${properties})
  set_tests_properties(lint.${arg_PREFIX} PROPERTIES LABELS lint)
endfunction()

# The sources of the block `name`: those of its list file, which is the user's if there is one, and the folder of
# the list. A path in a user's list is taken from beside the list if it exists there, else from the repository root.
# What a run says of its RTL comes from here, too: the global properties STRETTO_RTL_SOURCES_<name>, _FOLDER_<name>.
function(stretto_rtl_sources name result folder_result)
  set(STRETTO_RTL_${name} "" CACHE PATH "Folder with ${name}.f: RTL to use instead of rtl/${name}")
  set(folder ${PROJECT_SOURCE_DIR}/rtl/${name})
  if(STRETTO_RTL_${name})
    get_filename_component(folder ${STRETTO_RTL_${name}} ABSOLUTE BASE_DIR ${CMAKE_SOURCE_DIR})
    message(STATUS "RTL of ${name}: ${folder}")
  endif()
  set(list_file ${folder}/${name}.f)
  if(NOT IS_DIRECTORY ${folder})
    message(FATAL_ERROR "STRETTO_RTL_${name}: there is no folder ${folder}")
  elseif(NOT EXISTS ${list_file})
    message(FATAL_ERROR "STRETTO_RTL_${name}: ${folder} has no ${name}.f (a source per line, the module ${name} last)")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list_file})
  file(STRINGS ${list_file} lines REGEX "^[^/]")
  set(sources "")
  foreach(line ${lines})
    if(EXISTS ${folder}/${line})
      list(APPEND sources ${folder}/${line})
    elseif(EXISTS ${PROJECT_SOURCE_DIR}/${line})
      list(APPEND sources ${PROJECT_SOURCE_DIR}/${line})
    else()
      message(FATAL_ERROR "${list_file}: no file '${line}' beside it or from the repository root")
    endif()
  endforeach()
  if(NOT sources)
    message(FATAL_ERROR "${list_file} names no source")
  endif()
  set_property(GLOBAL PROPERTY STRETTO_RTL_SOURCES_${name} ${sources})
  file(RELATIVE_PATH shown ${PROJECT_SOURCE_DIR} ${folder})
  if(STRETTO_RTL_${name})
    set(shown ${folder})
  endif()
  set_property(GLOBAL PROPERTY STRETTO_RTL_FOLDER_${name} ${shown})
  set(${result} ${sources} PARENT_SCOPE)
  set(${folder_result} ${folder} PARENT_SCOPE)
endfunction()

# Writes `output`, the C++ source of rtl_sources() (platform/adapters/rtl_sources.h), whenever RTL changes.
function(stretto_rtl_sources_table output)
  set(rows "")
  set(all "")
  foreach(block ${ARGN})
    get_property(sources GLOBAL PROPERTY STRETTO_RTL_SOURCES_${block})
    get_property(folder GLOBAL PROPERTY STRETTO_RTL_FOLDER_${block})
    list(JOIN sources "|" list)
    list(APPEND rows "${block}|${folder}|${list}")
    list(APPEND all ${sources})
  endforeach()
  set(script ${PROJECT_SOURCE_DIR}/platform/cmake/rtl_sources_table.cmake)
  add_custom_command(OUTPUT ${output} DEPENDS ${all} ${script} VERBATIM
                     COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} "-DROWS=${rows}" -P ${script})
endfunction()

# The class `prefix` from the module `top` in both flavours.
function(stretto_verilate top prefix)
  cmake_parse_arguments(arg "" "" "SOURCES;PROPERTIES;ARGS" ${ARGN})
  set(flags --x-assign fast --x-initial fast -Wno-fatal -Wno-lint -Wno-style -I${PROJECT_SOURCE_DIR} ${arg_ARGS})
  set(common PREFIX ${prefix} TOP_MODULE ${top} OPT_SLOW -O1)
  set(coverage "")
  if(STRETTO_COVERAGE)
    set(coverage --coverage-line --coverage-toggle)
  endif()
  verilate(stretto_verilated SOURCES ${arg_SOURCES} ${common} OPT_FAST -O3 VERILATOR_ARGS ${flags} --noassert)
  verilate(stretto_verilated_checked SOURCES ${arg_SOURCES} ${arg_PROPERTIES} ${common} OPT_FAST -O1 TRACE
           VERILATOR_ARGS ${flags} --assert ${coverage})
endfunction()
