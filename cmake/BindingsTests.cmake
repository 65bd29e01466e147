# edgegrad_bindings_tests: native GoogleTest tests of the bindings, so that sanitizers can check them. Substitutes for Emscripten and
# JavaScript are in tests/bindings.
file(GLOB_RECURSE bindings_test_sources CONFIGURE_DEPENDS tests/bindings/*.cpp)
if(NOT bindings_test_sources)
  return()
endif()

file(GLOB binding_sources CONFIGURE_DEPENDS bindings/*.cpp)
# The code that executes GPU commands is JavaScript, library_messages.cpp replaces functions of
# WebAssembly's C library, and terminated_thread.cpp uses them.
list(FILTER binding_sources EXCLUDE REGEX "/(library_messages|terminated_thread|webgpu)\\.cpp$")

# Declares every function marked EG_EXPORT("name") and makes it callable as native::name, its name
# in JavaScript.
set(declarations "")
set(names "")
set(all_names "")
foreach(source IN LISTS binding_sources)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(READ ${source} text)
  string(REGEX MATCHALL "\nEG_EXPORT\\(\"[A-Za-z]+\"\\)[^{]*\\{" exports "${text}")
  foreach(export IN LISTS exports)
    string(REGEX REPLACE ".*EG_EXPORT\\(\"([A-Za-z]+)\"\\)([^{]*[^ ]) *\\{" "\\1;\\2" parts "${export}")
    list(GET parts 0 name)
    list(GET parts 1 declaration)
    string(REGEX REPLACE "^[^(]*[ \n]([a-z_]+)\\(.*" "\\1" function "${declaration}")
    string(APPEND declarations "${declaration};\n")
    string(APPEND names "inline constexpr Export<bindings::${function}> ${name}{\"${name}\"};\n")
    list(APPEND all_names "\"${name}\"")
  endforeach()
endforeach()
list(JOIN all_names ", " all_names)
file(CONFIGURE OUTPUT generated/border_exports.h CONTENT "#pragma once
#include \"border.h\"
#include \"js/export.h\"
namespace eg::bindings {
${declarations}}
namespace eg::testing::js::native {
${names}
/// The names of all these functions.
inline constexpr std::string_view kAll[] = {${all_names}};
}
")

eg_unify(bindings_test_sources bindings_tests tests "${bindings_test_sources}")
add_executable(edgegrad_bindings_tests
  ${bindings_test_sources} ${binding_sources} tests/cpp/support/test_device.cpp)
target_include_directories(edgegrad_bindings_tests PRIVATE
  tests tests/bindings bindings tests/cpp ${CMAKE_CURRENT_BINARY_DIR}/generated)
target_link_libraries(edgegrad_bindings_tests PRIVATE edgegrad_core edgegrad_warnings ${EG_GTEST_LIBRARIES})
# Allocations of the engine can fail (tests/bindings/js/failing_memory.h).
target_link_options(edgegrad_bindings_tests PRIVATE -Wl,--wrap=malloc,--wrap=aligned_alloc)
target_precompile_headers(edgegrad_bindings_tests PRIVATE ${EG_PRECOMPILED} <gtest/gtest.h>)
