# edgegrad_tests: GoogleTest tests of the engine, native and as WebAssembly under Node.
file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS tests/cpp/*.cpp)
if(NOT test_sources)
  return()
endif()

# The first line of a test file may have markers: `// markers: threads, variant` (tests/README.md).
set(EG_TEST_MARKERS "" CACHE STRING "Build only the tests that have one of these markers; empty: all")
foreach(source IN LISTS test_sources)
  file(STRINGS ${source} threads LIMIT_COUNT 1 REGEX "set_num_threads\\(|std::j?thread")
  file(STRINGS ${source} line LIMIT_COUNT 1 REGEX "^// markers: .*threads")
  if(source MATCHES "_test\\.cpp$" AND threads AND NOT line)
    message(FATAL_ERROR "${source} uses threads, so it needs the marker (tests/README.md): // markers: threads")
  endif()
endforeach()
if(EG_TEST_MARKERS)
  list(JOIN EG_TEST_MARKERS "|" markers)
  foreach(source IN LISTS test_sources)
    file(STRINGS ${source} line LIMIT_COUNT 1 REGEX "^// markers: .*(${markers})")
    if(source MATCHES "_test\\.cpp$" AND line STREQUAL "")
      list(REMOVE_ITEM test_sources ${source})
    endif()
  endforeach()
endif()

# Compiling the tests takes most of a build, running them little of a test run. Those that compute products and convolutions in plain
# loops to compare with are an exception, and optimized, and so are those that compare with Eigen.
set(eigen_tests ${CMAKE_SOURCE_DIR}/tests/cpp/matrix/eigen_oracle_test.cpp)
set(optimized_tests
  ${CMAKE_SOURCE_DIR}/tests/cpp/matrix/gemm_test.cpp ${CMAKE_SOURCE_DIR}/tests/cpp/nn/conv_kernel_test.cpp ${eigen_tests})
# Each takes as long as a whole folder.
set(long_tests ${CMAKE_SOURCE_DIR}/tests/cpp/laws/formula_shaders_test.cpp ${CMAKE_SOURCE_DIR}/tests/cpp/support/formulas.cpp)
foreach(source IN LISTS optimized_tests long_tests)
  if(NOT EXISTS ${source})
    message(FATAL_ERROR "cmake/Tests.cmake: there is no ${source}")
  endif()
  if(source IN_LIST test_sources)
    list(APPEND apart_tests ${source})
  endif()
endforeach()
list(REMOVE_ITEM test_sources ${apart_tests})
if(EMSCRIPTEN)
  list(REMOVE_ITEM apart_tests ${eigen_tests}) # long double is emulated there
endif()
eg_unify(test_sources tests tests/cpp "${test_sources}")
list(PREPEND test_sources ${apart_tests})

add_executable(edgegrad_tests ${test_sources})
target_include_directories(edgegrad_tests PRIVATE tests/cpp tools)
target_link_libraries(edgegrad_tests PRIVATE edgegrad_core edgegrad_warnings ${EG_GTEST_LIBRARIES})
target_compile_options(edgegrad_tests PRIVATE ${EG_VECTOR_OPTIONS})
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Tests may mix integer sizes. (Options of a source file come after those of its target and
  # libraries.)
  set_source_files_properties(${test_sources} PROPERTIES COMPILE_OPTIONS -Wno-shorten-64-to-32)
endif()
set_property(SOURCE ${eigen_tests} APPEND PROPERTY COMPILE_OPTIONS -isystem ${EG_EIGEN})
if(EMSCRIPTEN OR CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_options(edgegrad_tests PRIVATE -O0)
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
