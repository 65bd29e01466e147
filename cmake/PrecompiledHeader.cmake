# Headers that most files need and that seldom change, compiled once per build.
set(EG_PRECOMPILED
  <algorithm> <array> <atomic> <cmath> <complex> <functional> <memory> <mutex> <optional> <span> <string> <vector>)
if(EMSCRIPTEN OR CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Without a time stamp, identical headers produce identical files, so ccache keeps hitting.
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
else()
  add_compile_options(-fpch-preprocess) # lets ccache handle precompiled headers
endif()
