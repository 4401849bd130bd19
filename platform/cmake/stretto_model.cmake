# SPDX-License-Identifier: Apache-2.0
# stretto_model(name SOURCES file... [DEPS target...])
#
# The static library stretto_<name> from the sources of this folder (paths relative to it, listed one
# by one: a glob would not notice a new file). DEPS are what its headers and sources use.
# Without SOURCES it is a header-only (INTERFACE) library.
#
#   stretto_model(dma SOURCES dma_engine.cpp DEPS stretto_common)
function(stretto_model name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "stretto_model(${name}): what is '${arg_UNPARSED_ARGUMENTS}'? Use SOURCES, DEPS")
  endif()
  if(arg_SOURCES)
    add_library(stretto_${name} STATIC ${arg_SOURCES})
    target_link_libraries(stretto_${name} PUBLIC stretto_options ${arg_DEPS})
    stretto_unity(stretto_${name})
  else()
    add_library(stretto_${name} INTERFACE)
    target_link_libraries(stretto_${name} INTERFACE stretto_options ${arg_DEPS})
  endif()
endfunction()
