# SPDX-License-Identifier: Apache-2.0
# find_package(stretto CONFIG): the models as libraries, stretto::hbm and so on; see models/README.md.
# Headers are included as "models/hbm/hbm.h".
include(CMakeFindDependencyMacro)
find_dependency(PkgConfig)
pkg_check_modules(SYSTEMC REQUIRED QUIET IMPORTED_TARGET systemc>=2.3.4)
pkg_check_modules(LIBELF REQUIRED QUIET IMPORTED_TARGET libelf)
pkg_check_modules(LIBCRYPTO REQUIRED QUIET IMPORTED_TARGET libcrypto>=3.0)
include(${CMAKE_CURRENT_LIST_DIR}/stretto-targets.cmake)
