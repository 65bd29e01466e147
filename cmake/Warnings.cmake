# Warnings of our own code; every one is an error.
add_library(edgegrad_warnings INTERFACE)
target_compile_options(edgegrad_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Werror
  -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual -Wunused -Wimplicit-fallthrough)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Its plain -Wshadow objects to constructor parameters named like the members that they set.
  target_compile_options(edgegrad_warnings INTERFACE -Wshadow=local)
  # GCC 12 sees these where there is nothing: in inlined code of its own library, and more so with sanitizers.
  target_compile_options(edgegrad_warnings INTERFACE
    -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
    -Wno-restrict -Wno-dangling-pointer -Wno-free-nonheap-object -Wno-use-after-free)
else()
  # Where a size_t has 32 bits (WebAssembly), no 64-bit size becomes one without a word.
  target_compile_options(edgegrad_warnings INTERFACE -Wshadow -Wshorten-64-to-32)
endif()
