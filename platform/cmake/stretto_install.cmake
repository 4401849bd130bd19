# SPDX-License-Identifier: Apache-2.0
# cmake --install build --prefix DIR: a tree that may be moved.
#
#   bin/stretto, bin/stretto-kernel      the simulator; builds a kernel outside of the source tree
#   bin/stretto-transform                rewrites kernels
#   share/stretto/                       machines/, workloads/, targets/, compiler/, the completion of bash
#   share/stretto/doc/                   all documents, placed as in the source tree: doc/README.md first
#   lib/stretto/sw/                      firmware/*.elf, kernels/*.elf (but those that are wrong on purpose), graphs/
#   lib/libstretto_cudart.so             what host programs call: cuda_runtime.h, nccl.h
#   lib/libtally_client.so               preloaded: sends calls of a program to a server
#   lib/libstretto_*.a, lib/cmake/       models and find_package(stretto): stretto::hbm, stretto::gpu, ...
#   include/stretto/                     headers, rooted as in the source tree: "models/common/component.h"
set(models common reference riscv cp gpu hbm dma fabric card host)
set(targets stretto_options)
foreach(model ${models})
  list(APPEND targets stretto_${model})
  set_target_properties(stretto_${model} PROPERTIES EXPORT_NAME ${model})
endforeach()
set_target_properties(stretto_options PROPERTIES EXPORT_NAME options)

set_target_properties(stretto PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
install(TARGETS stretto stretto-transform RUNTIME DESTINATION bin)
set_target_properties(tally_client PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS stretto_cudart tally_client LIBRARY DESTINATION lib)
install(DIRECTORY platform/machines platform/workloads tests/reproduction/targets
        DESTINATION share/stretto FILES_MATCHING PATTERN *.yaml)
install(DIRECTORY sw/compiler DESTINATION share/stretto FILES_MATCHING PATTERN *.py)
install(FILES ${CMAKE_BINARY_DIR}/commit LICENSE platform/scripts/stretto-completion.bash DESTINATION share/stretto)
set(documents README.md)
foreach(folder models rtl platform sw tests waves)
  file(GLOB_RECURSE found RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${folder}/*.md ${folder}/*.svg)
  list(APPEND documents ${found})
endforeach()
foreach(document ${documents})
  get_filename_component(folder ${document} DIRECTORY)
  install(FILES ${document} DESTINATION share/stretto/doc/${folder})
endforeach()
install(PROGRAMS tests/support/timeline_check.py DESTINATION share/stretto)
install(DIRECTORY models DESTINATION include/stretto FILES_MATCHING PATTERN *.h)
install(DIRECTORY sw/include DESTINATION include/stretto/sw FILES_MATCHING PATTERN *.h)
install(DIRECTORY sw/kernels DESTINATION include/stretto/sw FILES_MATCHING PATTERN *.h)
install(TARGETS ${targets} EXPORT stretto ARCHIVE DESTINATION lib)
install(EXPORT stretto NAMESPACE stretto:: FILE stretto-targets.cmake DESTINATION lib/cmake/stretto)
install(FILES platform/cmake/stretto-config.cmake DESTINATION lib/cmake/stretto)

if(STRETTO_SW)
  get_property(wrong GLOBAL PROPERTY STRETTO_WRONG_ELFS)
  list(JOIN wrong "|" wrong)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/sw/firmware ${CMAKE_BINARY_DIR}/sw/kernels DESTINATION lib/stretto/sw
          FILES_MATCHING PATTERN *.elf REGEX "/(${wrong}|transform_[a-z]*)\\.elf$" EXCLUDE
          REGEX "/(CMakeFiles|[^/]*\\.dir)$" EXCLUDE)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/sw/graphs DESTINATION lib/stretto/sw
          FILES_MATCHING PATTERN *.elf PATTERN *.json)
  list(JOIN STRETTO_KERNEL_FLAGS " " STRETTO_KERNEL_FLAGS_TEXT)
  string(REPLACE "-I${PROJECT_SOURCE_DIR}" "" STRETTO_KERNEL_FLAGS_TEXT "${STRETTO_KERNEL_FLAGS_TEXT}")
  list(JOIN STRETTO_KERNEL_LINK_FLAGS " " STRETTO_KERNEL_LINK_FLAGS_TEXT)
  configure_file(platform/scripts/stretto-kernel.in ${CMAKE_BINARY_DIR}/stretto-kernel @ONLY
                 FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  install(PROGRAMS ${CMAKE_BINARY_DIR}/stretto-kernel DESTINATION bin)
endif()
