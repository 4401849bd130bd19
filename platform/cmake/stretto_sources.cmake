# SPDX-License-Identifier: Apache-2.0
# stretto_present(variable): drops files that do not exist from the list, with a warning each, so that
# one missing file stops its own target and not the configuration of all others.
function(stretto_present variable)
  set(present "")
  foreach(file IN LISTS ${variable})
    get_filename_component(path ${file} ABSOLUTE)
    if(EXISTS ${path} OR EXISTS ${file})
      list(APPEND present ${file})
    else()
      message(WARNING "${path} does not exist; built without it")
      set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    endif()
  endforeach()
  set(${variable} ${present} PARENT_SCOPE)
endfunction()
