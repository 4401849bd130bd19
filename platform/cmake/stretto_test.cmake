# SPDX-License-Identifier: Apache-2.0
# stretto_test(path [SOURCES file...] [OBJECTS target] [DEPS target...] [TIMEOUT seconds] [DEFINES NAME=VALUE...])
#
# A Catch2 executable from tests/<path>.cpp; each TEST_CASE becomes a CTest test in a process of its own
# (SystemC elaborates once a process), named "<path>:<sentence>", labelled with the suite (the first
# folder of <path>), or "long" if its tags have [.long]: the gate leaves those out. The main program is
# tests/support/catch_main.cpp. A test without a check fails. SOURCES are further files, relative to the calling folder; OBJECTS: it is compiled already, in that target of
# stretto_test_objects(). Default time limit: 900 s a test:
# what hangs ends, what waits for a busy machine does not.
#
#   stretto_test(unit/dma/dma_engine_test DEPS stretto_dma)
#   ninja dma_engine_test && tests/dma_engine_test "a descriptor is executed once"     (in build/)
if(NOT STRETTO_TESTS)
  function(stretto_test)
  endfunction()
  return()
endif()
include(Catch)

function(stretto_test path)
  cmake_parse_arguments(arg "" "TIMEOUT;OBJECTS" "SOURCES;DEPS;DEFINES" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 900)
  endif()
  set(sources ${PROJECT_SOURCE_DIR}/tests/${path}.cpp ${arg_SOURCES})
  get_filename_component(name ${path} NAME)
  string(REGEX REPLACE "/.*" "" suite ${path})
  set(support ${PROJECT_SOURCE_DIR}/tests/support/catch_main.cpp)
  set(optimisation $<$<CONFIG:Release>:-O0>)  # Half of a build from nothing is tests; what they run is compiled with -O3.
  if(NOT TARGET stretto_catch_main)
    add_library(stretto_catch_main OBJECT ${support})
    target_link_libraries(stretto_catch_main PUBLIC stretto_options Catch2::Catch2)
    target_compile_options(stretto_catch_main PRIVATE -O0)
    # What tests have in common to compile, with their options (and without the macro of Catch2's own main program).
    add_library(stretto_test_headers OBJECT ${PROJECT_SOURCE_DIR}/tests/support/test_headers.cpp)
    target_link_libraries(stretto_test_headers PRIVATE stretto_options Catch2::Catch2)
    target_compile_options(stretto_test_headers PRIVATE ${optimisation})
    stretto_parse_once(stretto_test_headers <catch2/catch.hpp> <systemc> <tlm> <functional>)
    # Of tests that run the executable: how, and what they read of its results.
    add_library(stretto_test_runs STATIC ${PROJECT_SOURCE_DIR}/tests/support/run_json.cpp
                ${PROJECT_SOURCE_DIR}/tests/system/process.cpp)
    target_link_libraries(stretto_test_runs PUBLIC stretto_options Catch2::Catch2 Boost::json)
    target_compile_definitions(stretto_test_runs PRIVATE STRETTO_BUILD_DIR="${CMAKE_BINARY_DIR}")
    target_compile_options(stretto_test_runs PRIVATE ${optimisation})
    stretto_parse_once(stretto_test_runs <catch2/catch.hpp> <boost/json.hpp> <filesystem> <fstream> <functional> <map>
                       <set>)
  endif()
  set(headers stretto_test_headers)
  if(Boost::json IN_LIST arg_DEPS)
    set(headers stretto_test_runs)
  elseif(stretto_platform IN_LIST arg_DEPS)
    set(headers stretto_platform_test_headers)
    if(NOT TARGET ${headers})
      add_library(${headers} OBJECT ${PROJECT_SOURCE_DIR}/tests/support/test_headers.cpp)
      target_link_libraries(${headers} PRIVATE stretto_options Catch2::Catch2 stretto_platform)
      target_compile_options(${headers} PRIVATE ${optimisation})
      stretto_parse_once(${headers} <catch2/catch.hpp> <systemc> <tlm> <boost/json.hpp> <boost/program_options.hpp>
                         <fmt/format.h> ${PROJECT_SOURCE_DIR}/platform/jobs/run_request.h
                         ${PROJECT_SOURCE_DIR}/platform/machine/system.h
                         ${PROJECT_SOURCE_DIR}/platform/reproduce/reproduction.h)
    endif()
  endif()
  if(arg_OBJECTS)
    list(TRANSFORM sources REPLACE "^.*/${name}.cpp$" "$<FILTER:$<TARGET_OBJECTS:${arg_OBJECTS}>,INCLUDE,/${name}[.]cpp>")
  endif()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE stretto_catch_main stretto_options Catch2::Catch2 ${arg_DEPS})
  if(Boost::json IN_LIST arg_DEPS)
    target_link_libraries(${name} PRIVATE stretto_test_runs)
  endif()
  target_compile_definitions(${name} PRIVATE ${arg_DEFINES} STRETTO_BUILD_DIR="${CMAKE_BINARY_DIR}")
  target_compile_options(${name} PRIVATE ${optimisation})
  if(STRETTO_UNITY AND NOT (arg_OBJECTS AND NOT arg_SOURCES))
    target_precompile_headers(${name} REUSE_FROM ${headers})
  endif()
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  catch_discover_tests(${name} TEST_PREFIX "${path}:" WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    PROPERTIES LABELS ${suite} TIMEOUT ${arg_TIMEOUT})
  file(STRINGS ${PROJECT_SOURCE_DIR}/tests/${path}.cpp long REGEX "\\[[.]long\\]")
  if(long)
    catch_discover_tests(${name} TEST_SPEC "[.long]" TEST_PREFIX "${path}:" WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
      PROPERTIES LABELS long TIMEOUT ${arg_TIMEOUT})
  endif()
endfunction()

# stretto_test_compilation(target): as tests are compiled.
function(stretto_test_compilation target)
  target_compile_definitions(${target} PRIVATE STRETTO_BUILD_DIR="${CMAKE_BINARY_DIR}")
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O0>)
  if(STRETTO_UNITY)
    target_precompile_headers(${target} REUSE_FROM stretto_test_headers)
  endif()
endfunction()

# stretto_test_objects(name source... DEPS target...): tests that are compiled once, for their executables and for mutants.
function(stretto_test_objects name)
  cmake_parse_arguments(arg "" "" "DEPS" ${ARGN})
  add_library(${name} OBJECT ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${arg_DEPS} stretto_options Catch2::Catch2)
  stretto_test_compilation(${name})
endfunction()

# stretto_mutants(model tests [source ...]): the model with a fault each, as mutants.txt beside the caller has them: one
# file changed, the rest as it is; of a header, with the sources that include it. Tests are those of the OBJECT library
# `tests` that must fail, and say why.
function(stretto_mutants model tests)
  set(folder ${PROJECT_SOURCE_DIR}/models/${model})
  # A mutant's source takes the place of the library's, which has to be a member of its own.
  set_target_properties(stretto_${model} PROPERTIES UNITY_BUILD OFF)
  set(common <systemc> <tlm> <tlm_utils/simple_initiator_socket.h> <tlm_utils/simple_target_socket.h> <algorithm> <deque>
      <functional> <map> <memory> <optional> <string> <vector>)
  stretto_parse_once(stretto_${model} ${common})
  set(mutants ${CMAKE_CURRENT_SOURCE_DIR}/mutants.txt)
  set(mutate ${PROJECT_SOURCE_DIR}/tests/support/mutate.py)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${mutants})
  list(TRANSFORM ARGN PREPEND ${folder}/ OUTPUT_VARIABLE includers)
  set(headers stretto_${model}_mutant_headers)
  add_library(${headers} OBJECT ${PROJECT_SOURCE_DIR}/tests/support/test_headers.cpp)
  target_link_libraries(${headers} PRIVATE stretto_${model} stretto_fabric Catch2::Catch2)
  target_compile_options(${headers} PRIVATE -O0)
  stretto_parse_once(${headers} ${common})
  file(STRINGS ${mutants} rows REGEX "^[^#]")
  foreach(row ${rows})
    if(row MATCHES "^  (.+) => (.+)$")
      set(test "unit/${model}/mutants: ${name}: ${CMAKE_MATCH_2}")
      string(REPLACE " " "[ \n]+" says "${CMAKE_MATCH_2}")  # Catch2 breaks its lines.
      add_test(NAME ${test} COMMAND ${model}_${name} ${CMAKE_MATCH_1})
      set_tests_properties(${test} PROPERTIES LABELS unit TIMEOUT 60 PASS_REGULAR_EXPRESSION "${says}")
      continue()
    endif()
    string(REGEX MATCH "^([^ ]+) ([^:]+):" match "${row}")
    set(name ${CMAKE_MATCH_1})
    set(source ${CMAKE_MATCH_2})
    set(changed ${CMAKE_CURRENT_BINARY_DIR}/${name}/models/${model}/${source})
    add_custom_command(OUTPUT ${changed} DEPENDS ${folder}/${source} ${mutants} ${mutate} VERBATIM
      COMMAND ${Python3_EXECUTABLE} ${mutate} ${mutants} ${name} ${folder}/${source} ${changed})
    set(sources ${changed})
    if(source MATCHES "[.]h$")
      list(APPEND sources ${includers})
    endif()
    set(mutant ${model}_${name})
    add_executable(${mutant} ${sources} $<TARGET_OBJECTS:${tests}>)
    target_include_directories(${mutant} BEFORE PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${name})
    target_compile_options(${mutant} PRIVATE -O0)
    if(STRETTO_UNITY)
      target_precompile_headers(${mutant} REUSE_FROM ${headers})
    endif()
    target_link_libraries(${mutant} PRIVATE stretto_catch_main stretto_${model} stretto_fabric Catch2::Catch2)
    set_target_properties(${mutant} PROPERTIES OUTPUT_NAME ${name}
                          RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/${model}_mutants)
  endforeach()
endfunction()
