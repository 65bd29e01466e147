# Warnings for the project's own code; all of them are errors.
add_library(edgegrad_warnings INTERFACE)
target_compile_options(edgegrad_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Werror
  -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual -Wunused -Wimplicit-fallthrough)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC's plain -Wshadow rejects constructor parameters named like the members that they initialise.
  target_compile_options(edgegrad_warnings INTERFACE -Wshadow=local)
  # GCC 12 reports false positives of these: in inlined code of its own library, and more often with
  # sanitizers.
  target_compile_options(edgegrad_warnings INTERFACE
    -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
    -Wno-restrict -Wno-dangling-pointer -Wno-free-nonheap-object -Wno-use-after-free)
else()
  # Where size_t has 32 bits (WebAssembly), a 64-bit size must not be narrowed implicitly.
  target_compile_options(edgegrad_warnings INTERFACE -Wshadow -Wshorten-64-to-32)
endif()
