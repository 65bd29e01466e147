# edgegrad_tests: GoogleTest tests of the engine, native and as WebAssembly under Node.
file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS tests/cpp/*.cpp)
if(NOT test_sources)
  return()
endif()

# Built from source, so that it uses the sanitizers and the target of this build.
set(googletest /usr/src/googletest)
if(NOT EXISTS ${googletest}/CMakeLists.txt)
  message(STATUS "No GoogleTest sources (Debian: libgtest-dev): no edgegrad_tests")
  return()
endif()
set(CMAKE_SUPPRESS_DEVELOPER_WARNINGS ON CACHE INTERNAL "")
set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)
set(BUILD_GMOCK OFF)
set(INSTALL_GTEST OFF)
add_subdirectory(${googletest} googletest EXCLUDE_FROM_ALL SYSTEM)

add_executable(edgegrad_tests ${test_sources})
target_include_directories(edgegrad_tests PRIVATE tests/cpp tools)
target_link_libraries(edgegrad_tests PRIVATE edgegrad_core edgegrad_warnings gtest gtest_main)
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Tests may mix integer sizes. (Options of a source file come after those of its target and
  # libraries.)
  set_source_files_properties(${test_sources} PROPERTIES COMPILE_OPTIONS -Wno-shorten-64-to-32)
endif()
if(EMSCRIPTEN OR CMAKE_BUILD_TYPE STREQUAL "Debug")
  # Compiling the tests takes most of a build, running them little of a test run, except for those
  # that compute products and convolutions in plain loops to compare with.
  target_compile_options(edgegrad_tests PRIVATE -O0)
  set(optimized_tests tests/cpp/matrix/gemm_test.cpp tests/cpp/nn/conv_kernel_test.cpp)
  set_property(SOURCE ${optimized_tests} APPEND PROPERTY COMPILE_OPTIONS -O1)
  set_source_files_properties(${optimized_tests} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endif()
target_precompile_headers(edgegrad_tests PRIVATE ${EG_PRECOMPILED} <gtest/gtest.h>)

if(EMSCRIPTEN)
  # The package.json of the repository says "type": "module", but this program is CommonJS.
  file(WRITE ${CMAKE_BINARY_DIR}/package.json "{ \"type\": \"commonjs\" }\n")
  target_link_options(edgegrad_tests PRIVATE
    -O1 --pre-js ${CMAKE_SOURCE_DIR}/tests/cpp/support/environment.js
    -sENVIRONMENT=node,worker -sEXIT_RUNTIME=1 -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=4GB -sINITIAL_MEMORY=64MB
    -sSTACK_SIZE=1MB -Wno-pthreads-mem-growth)
  if(EG_THREADS)
    target_link_options(edgegrad_tests PRIVATE
      -sPROXY_TO_PTHREAD -sDEFAULT_PTHREAD_STACK_SIZE=1MB -sPTHREAD_POOL_SIZE=10 -sPTHREAD_POOL_SIZE_STRICT=0)
  endif()
endif()
