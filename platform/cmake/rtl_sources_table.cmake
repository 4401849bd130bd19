# SPDX-License-Identifier: Apache-2.0
# cmake -DOUTPUT=FILE -DROWS=ROW;ROW... -P rtl_sources_table.cmake, with ROW = block|folder|source|source...
# See stretto_rtl_sources_table() in stretto_rtl.cmake. The sum is that of the sources one after another.
set(text "// Written by platform/cmake/rtl_sources_table.cmake.\n#include \"platform/adapters/rtl_sources.h\"\n\n")
string(APPEND text "namespace stretto {\n\nstd::map<std::string, RtlSources> rtl_sources() {\n  return {\n")
foreach(row ${ROWS})
  string(REPLACE "|" ";" row "${row}")
  list(POP_FRONT row block folder)
  set(contents "")
  foreach(source ${row})
    file(READ ${source} one)
    string(APPEND contents "${one}")
  endforeach()
  string(SHA256 sum "${contents}")
  string(APPEND text "      {\"${block}\", {R\"(${folder})\", \"${sum}\"}},\n")
endforeach()
string(APPEND text "  };\n}\n\n}  // namespace stretto\n")
file(WRITE ${OUTPUT} "${text}")
