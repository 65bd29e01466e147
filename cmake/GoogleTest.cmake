# Finds GoogleTest: an installed package, its sources (Debian's libgtest-dev), or from its own repository, in this order. Sets
# EG_GTEST_LIBRARIES. Where a library must be built for a target of its own (WebAssembly, 32 bits), only sources will do.
set(CMAKE_SUPPRESS_DEVELOPER_WARNINGS ON CACHE INTERNAL "")
set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)
set(BUILD_GMOCK OFF)
set(INSTALL_GTEST OFF)

set(EG_GTEST_SOURCES /usr/src/googletest CACHE PATH "Sources of GoogleTest")
if(NOT EMSCRIPTEN AND NOT EG_32_BIT)
  find_package(GTest CONFIG QUIET)
endif()
if(GTest_FOUND)
  set(EG_GTEST_LIBRARIES GTest::gtest GTest::gtest_main)
  return()
endif()

set(EG_GTEST_LIBRARIES gtest gtest_main)
if(EXISTS ${EG_GTEST_SOURCES}/CMakeLists.txt)
  add_subdirectory(${EG_GTEST_SOURCES} googletest EXCLUDE_FROM_ALL SYSTEM)
else()
  message(STATUS "No GoogleTest in ${EG_GTEST_SOURCES}: fetching it")
  include(FetchContent)
  FetchContent_Declare(googletest
    URL https://github.com/google/googletest/archive/refs/tags/release-1.12.1.tar.gz
    URL_HASH SHA256=81964fe578e9bd7c94dfdb09c8e4d6e6759e19967e397dbea48d1c10e45d0df2
    DOWNLOAD_EXTRACT_TIMESTAMP OFF)
  FetchContent_MakeAvailable(googletest)
endif()
