# SPDX-License-Identifier: Apache-2.0
# stretto_unity(target), stretto_parse_once(target header...)
#
# With -DSTRETTO_UNITY=ON the C++ sources of a folder are compiled as one: SystemC and the standard library are parsed
# once a folder instead of once a file, which is most of the time of a file. For builds from nothing (continuous
# integration, the gate's assertions); one that is worked on is quicker without. Sources of a folder thus share one set
# of names.
function(stretto_unity target)
  if(NOT STRETTO_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    get_filename_component(folder ${source} DIRECTORY)
    cmake_path(IS_PREFIX CMAKE_CURRENT_SOURCE_DIR "${source}" below)
    if(below)
      file(RELATIVE_PATH folder ${CMAKE_CURRENT_SOURCE_DIR} ${folder})
    endif()
    string(REGEX REPLACE "[^a-z0-9_]" "_" folder "here/${folder}")
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${folder})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# Headers that most sources of a target begin with, parsed once for all of them; with -DSTRETTO_UNITY=ON only, since a
# source that lacks an include would compile.
function(stretto_parse_once target)
  if(STRETTO_UNITY)
    list(TRANSFORM ARGN REPLACE ".+" "$<$<COMPILE_LANGUAGE:CXX>:\\0>" OUTPUT_VARIABLE headers)
    target_precompile_headers(${target} PRIVATE ${headers})
  endif()
endfunction()
