# The target of the compilation: instruction set, threads, exceptions, floating point, sanitizers. These
# flags apply to every target, including GoogleTest, because objects built without them cannot be linked.

# Headers only. Emscripten's CMake looks for headers in its own folders unless told otherwise.
find_path(EG_EIGEN Eigen/Core PATHS /usr/include/eigen3 /usr/local/include/eigen3 /opt/homebrew/include/eigen3
  NO_CMAKE_FIND_ROOT_PATH REQUIRED)

# Results must be the same on every machine: no implicit contraction to FMA, and NaN and infinity are
# preserved.
add_compile_options(-fno-math-errno -ffp-contract=off)

set(EG_THREADS 1)
if(EG_VARIANT STREQUAL "single")
  set(EG_THREADS 0)
endif()
add_compile_definitions(EG_THREADS=${EG_THREADS})

if(EMSCRIPTEN)
  # Emscripten provides the SSE headers: code written for SSE 4.1 is compiled to WebAssembly SIMD.
  add_compile_options(-msimd128 -msse4.1 -fwasm-exceptions)
  # RTTI would add 5 kB to the download. (Embind then identifies types only by number.)
  add_compile_options(-fno-rtti)
  add_compile_definitions(EMSCRIPTEN_HAS_UNBOUND_TYPE_NAMES=0)
  add_link_options(-fno-rtti)
  add_link_options(-fwasm-exceptions)
  # malloc is implemented by the engine's heap (src/base/heap/c_heap.cpp).
  add_link_options(-sMALLOC=none)
  if(EG_THREADS)
    add_compile_options(-pthread)
    add_link_options(-pthread)
  endif()
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_compile_options(-msse4.1)
  if(EG_32_BIT)
    # Floating point in SSE registers instead of the 80-bit x87 registers that are the default in
    # 32-bit mode.
    add_compile_options(-m32 -mfpmath=sse)
    add_link_options(-m32)
  endif()
endif()

if(EG_SANITIZE)
  add_compile_options(-fsanitize=${EG_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${EG_SANITIZE})
endif()

set(THREADS_PREFER_PTHREAD_FLAG ${EG_THREADS})
find_package(Threads REQUIRED)
