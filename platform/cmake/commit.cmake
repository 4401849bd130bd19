# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=FOLDER -DFILE=FILE -P commit.cmake: the commit of the sources, "-dirty" if they differ from it,
# "unknown" outside a git checkout. A file beside the executable, not a part of it: a commit compiles and links
# nothing anew, and results of the same code stay those of the same executable.
set(commit unknown)
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --dirty --abbrev=40 --match=
                  OUTPUT_VARIABLE text OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  if(status EQUAL 0)
    set(commit ${text})
  endif()
endif()
file(CONFIGURE OUTPUT ${FILE} CONTENT "${commit}\n")  # Only if it changes.
