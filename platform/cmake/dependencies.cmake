# SPDX-License-Identifier: Apache-2.0
# Finds every tool and library the build needs and, if some are missing or have the wrong version,
# names all of them at once with the Debian package that cures it.
#
# Targets to link: PkgConfig::SYSTEMC (comes with stretto_options), yaml-cpp, Boost::program_options,
# Boost::json, PkgConfig::LIBELF, PkgConfig::LIBCRYPTO (SHA-256), PkgConfig::SQLITE, Eigen3::Eigen, fmt::fmt.

set(stretto_missing "")

# Records `what` (cure: apt package) as missing unless the condition `found` holds.
macro(stretto_require found what package)
  string(REPLACE " " ";" stretto_condition "${found}")
  if(NOT (${stretto_condition}))
    string(APPEND stretto_missing "\n  ${what}: apt-get install ${package}")
  endif()
endmacro()

find_package(PkgConfig QUIET)
stretto_require(PKG_CONFIG_FOUND "pkg-config" "pkg-config")
if(PKG_CONFIG_FOUND)
  pkg_check_modules(SYSTEMC QUIET IMPORTED_TARGET systemc>=2.3.4)
  pkg_check_modules(LIBELF QUIET IMPORTED_TARGET libelf)
  pkg_check_modules(LIBCRYPTO QUIET IMPORTED_TARGET libcrypto>=3.0)
  pkg_check_modules(SQLITE QUIET IMPORTED_TARGET sqlite3)
endif()
stretto_require(SYSTEMC_FOUND "SystemC 2.3.4 (pkg-config systemc)" "libsystemc-dev")
stretto_require(LIBELF_FOUND "libelf" "libelf-dev")
stretto_require(LIBCRYPTO_FOUND "libcrypto 3" "libssl-dev")
stretto_require(SQLITE_FOUND "SQLite 3" "libsqlite3-dev")

find_package(Boost 1.81 QUIET CONFIG COMPONENTS program_options json)
stretto_require("Boost_FOUND AND TARGET Boost::program_options AND TARGET Boost::json"
                "Boost 1.81 with program_options and json (the 1.74 -dev packages conflict with it)"
                "libboost1.81-dev libboost-program-options1.81-dev libboost-json1.81-dev")
find_package(yaml-cpp 0.7 QUIET CONFIG)
stretto_require(yaml-cpp_FOUND "yaml-cpp 0.7" "libyaml-cpp-dev")
find_package(fmt 9 QUIET CONFIG)
stretto_require(fmt_FOUND "fmt 9" "libfmt-dev")
find_package(Eigen3 3.4 QUIET CONFIG)
stretto_require(Eigen3_FOUND "Eigen 3.4" "libeigen3-dev")
# Debian's, which has the packages of platform/scripts/install.sh, not another that comes first in PATH.
if(NOT DEFINED Python3_EXECUTABLE AND EXISTS /usr/bin/python3)
  set(Python3_EXECUTABLE /usr/bin/python3)
endif()
find_package(Python3 3.9 QUIET COMPONENTS Interpreter)
stretto_require(Python3_FOUND "Python 3" "python3")
if(Python3_FOUND)
  execute_process(COMMAND ${Python3_EXECUTABLE} -c "import yaml" RESULT_VARIABLE result ERROR_QUIET)
  stretto_require("result EQUAL 0" "Python module yaml" "python3-yaml")
endif()

if(STRETTO_RTL)
  find_package(verilator QUIET CONFIG HINTS /usr/share/verilator)
  stretto_require("verilator_FOUND AND verilator_VERSION VERSION_GREATER_EQUAL 5.0"
                  "Verilator 5 (found: ${verilator_VERSION})" "verilator")
  find_package(ZLIB QUIET)
  stretto_require(ZLIB_FOUND "zlib (waveforms)" "zlib1g-dev")
endif()
if(STRETTO_TESTS)
  find_package(Catch2 2.13 QUIET CONFIG)  # Version 3 has another header and is refused by this call.
  stretto_require(Catch2_FOUND "Catch2 2.13 (version 3 has another header)" "catch2")
endif()
if(STRETTO_SW)
  find_program(STRETTO_RISCV_GCC riscv64-unknown-elf-gcc)
  find_program(STRETTO_LLD NAMES ld.lld-14 ld.lld)
  stretto_require(STRETTO_RISCV_GCC "RISC-V compiler riscv64-unknown-elf-gcc"
                  "gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf")
  stretto_require(STRETTO_LLD "LLVM linker ld.lld-14 (GNU ld for bare metal cannot link a PIE)" "lld-14")
  if(STRETTO_RISCV_GCC)
    execute_process(COMMAND ${STRETTO_RISCV_GCC} --print-file-name=picolibc.specs
                    OUTPUT_VARIABLE specs OUTPUT_STRIP_TRAILING_WHITESPACE)
    stretto_require("EXISTS ${specs}" "picolibc for RISC-V" "picolibc-riscv64-unknown-elf")
  endif()
endif()

if(stretto_missing)
  message(FATAL_ERROR "Missing for the build:${stretto_missing}\n"
                      "All of it at once (Debian 12): bash platform/scripts/install.sh")
endif()

find_program(STRETTO_CCACHE ccache)
if(STRETTO_CCACHE)
  # Relative paths below the source tree: another checkout or build folder finds what this one compiled. With
  # precompiled headers only if macros of the time, which no source has, are not looked for.
  set(STRETTO_CCACHE ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros ${STRETTO_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${STRETTO_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${STRETTO_CCACHE})
endif()
