# SPDX-License-Identifier: Apache-2.0
# stretto_firmware(name SOURCES file... [LINKER_SCRIPT file] [DEFINES NAME=VALUE...] [FLAGS flag...])
#   build/sw/firmware/<name>.elf: RV64IMAC bare metal for the command processor. With LINKER_SCRIPT
#   the program brings its own start code (-nostartfiles); picolibc's string functions are there.
#
# stretto_kernel(name SOURCES file... [ENTRY symbol] [DEFINES NAME=VALUE...] [FLAGS flag...])
#   build/sw/kernels/<name>.elf: RV64IMA static PIE (ET_DYN) for wavefronts, freestanding, relocations
#   kept and nothing relaxed, so that tools can transform it. Compiled by GCC, linked by LLVM's lld
#   because GNU ld for riscv64-unknown-elf refuses -pie. ENTRY defaults to _start.
#
# With `OF other CHANGES file... DEFINES ...` instead of SOURCES either has the objects of another one of the calling
# folder, but for the files that DEFINES concern, which are compiled anew.
#
# Paths are relative to the calling folder; includes are rooted at the repository. FLAGS are added when
# compiling. -misa-spec=2.2 makes CSR instructions part of I, as picolibc's multilibs expect.

set(STRETTO_FIRMWARE_FLAGS -march=rv64imac -misa-spec=2.2 -mabi=lp64 -mcmodel=medany
    --specs=picolibc.specs -O2 -g -Wall -Wextra -std=gnu11 -ffunction-sections -fdata-sections
    -I${PROJECT_SOURCE_DIR})
set(STRETTO_KERNEL_FLAGS -march=rv64ima -misa-spec=2.2 -mabi=lp64 -mcmodel=medany -fPIE
    -ffreestanding -fno-tree-loop-distribute-patterns -O2 -Wall -Wextra -std=gnu11
    -I${PROJECT_SOURCE_DIR})

set(STRETTO_KERNEL_LINK_FLAGS -pie --no-dynamic-linker --emit-relocs --no-relax -z norelro -z text --fatal-warnings)

# Compiles `sources` with the RISC-V compiler into objects below this build folder; `out` gets their paths.
function(stretto_riscv_objects name out sources flags)
  set(objects "")
  foreach(source IN LISTS sources)
    get_filename_component(path ${source} ABSOLUTE)
    string(MAKE_C_IDENTIFIER ${source} stem)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.dir/${stem}.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/${name}.dir
      COMMAND ${STRETTO_CCACHE} ${STRETTO_RISCV_GCC} ${flags} -MD -MF ${object}.d -c ${path} -o ${object}
      DEPENDS ${path} DEPFILE ${object}.d VERBATIM
      COMMENT "RISC-V: ${name}: ${source}")
    list(APPEND objects ${object})
  endforeach()
  set(${out} ${objects} PARENT_SCOPE)
endfunction()

# `out` gets the objects of a program: those of `sources` or, with `of`, of that program with these in place of its own.
function(stretto_riscv_program name out of sources flags)
  list(REMOVE_ITEM sources "")
  stretto_riscv_objects(${name} objects "${sources}" "${flags}")
  if(of)
    get_property(all DIRECTORY PROPERTY stretto_objects_of_${of})
    foreach(object ${objects})
      cmake_path(GET object FILENAME file)
      list(FIND all ${CMAKE_CURRENT_BINARY_DIR}/${of}.dir/${file} place)
      if(place EQUAL -1)
        message(FATAL_ERROR "${name}: ${of} has none of the files that it changes: ${sources}")
      endif()
      list(REMOVE_AT all ${place})
      list(INSERT all ${place} ${object})
    endforeach()
    set(objects ${all})
  endif()
  set_property(DIRECTORY PROPERTY stretto_objects_of_${name} ${objects})
  set(${out} ${objects} PARENT_SCOPE)
endfunction()

# Programs with a fault, for tests, are not installed: those that are defined while STRETTO_WRONG is ON.
function(stretto_note_wrong name)
  if(STRETTO_WRONG)
    set_property(GLOBAL APPEND PROPERTY STRETTO_WRONG_ELFS ${name})
  endif()
endfunction()

function(stretto_firmware name)
  stretto_note_wrong(${name})
  cmake_parse_arguments(arg "" "LINKER_SCRIPT;OF" "SOURCES;CHANGES;DEFINES;FLAGS" ${ARGN})
  if(NOT STRETTO_SW)
    return()
  endif()
  list(TRANSFORM arg_DEFINES PREPEND -D)
  set(flags ${STRETTO_FIRMWARE_FLAGS} ${arg_FLAGS} ${arg_DEFINES})
  stretto_riscv_program(${name} objects "${arg_OF}" "${arg_SOURCES};${arg_CHANGES}" "${flags}")
  set(script "")
  if(arg_LINKER_SCRIPT)
    get_filename_component(script ${arg_LINKER_SCRIPT} ABSOLUTE)
    get_filename_component(script_folder ${script} DIRECTORY)
    file(GLOB included ${script_folder}/*.ld)
    list(APPEND flags -nostartfiles -T${script} -L${script_folder})
  endif()
  set(elf ${CMAKE_BINARY_DIR}/sw/firmware/${name}.elf)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/sw/firmware)
  add_custom_command(OUTPUT ${elf} DEPENDS ${objects} ${included} VERBATIM
    COMMAND ${STRETTO_RISCV_GCC} ${flags} -Wl,--gc-sections -Wl,-Map=${elf}.map ${objects} -o ${elf}
    COMMENT "RISC-V: link firmware ${name}.elf")
  add_custom_target(stretto_firmware_${name} DEPENDS ${elf})
  add_dependencies(stretto_sw stretto_firmware_${name})
endfunction()

function(stretto_kernel name)
  stretto_note_wrong(${name})
  cmake_parse_arguments(arg "" "ENTRY;OF" "SOURCES;CHANGES;DEFINES;FLAGS" ${ARGN})
  if(NOT STRETTO_SW)
    return()
  endif()
  if(NOT arg_ENTRY)
    set(arg_ENTRY _start)
  endif()
  list(TRANSFORM arg_DEFINES PREPEND -D)
  set(flags ${STRETTO_KERNEL_FLAGS} ${arg_FLAGS} ${arg_DEFINES})
  stretto_riscv_program(${name} objects "${arg_OF}" "${arg_SOURCES};${arg_CHANGES}" "${flags}")
  set(elf ${CMAKE_BINARY_DIR}/sw/kernels/${name}.elf)
  file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/sw/kernels)
  add_custom_command(OUTPUT ${elf} DEPENDS ${objects} VERBATIM
    COMMAND ${STRETTO_LLD} ${STRETTO_KERNEL_LINK_FLAGS} -e ${arg_ENTRY} ${objects} -o ${elf}
    COMMENT "RISC-V: link kernel ${name}.elf")
  add_custom_target(stretto_kernel_${name} DEPENDS ${elf})
  add_dependencies(stretto_sw stretto_kernel_${name})
endfunction()
