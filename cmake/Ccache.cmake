# Compiles through ccache when it is there; its store is ccache's own default, outside the build folders.
find_program(EG_CCACHE ccache)
if(EG_CCACHE)
  set(settings
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime # a precompiled header is hashed by content
    CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}) # another checkout of the same sources hits too
  if(EMSCRIPTEN)
    # ccache does not know em++ by its name. Its version stands for the compiler: em++ itself is only a launcher.
    list(APPEND settings CCACHE_COMPILERTYPE=clang "CCACHE_COMPILERCHECK=string:${EMSCRIPTEN_VERSION}-${CMAKE_CXX_COMPILER_VERSION}")
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env ${settings} ${EG_CCACHE})
endif()
