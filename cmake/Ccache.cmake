# Compiles through ccache if it is installed. The cache is in ccache's default location, outside the
# build folders.
find_program(EG_CCACHE ccache)
if(EG_CCACHE)
  set(settings
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime # hash a precompiled header by content
    CCACHE_DEPEND=1 # what was not cached is not preprocessed a second time
    CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}) # share hits between checkouts of the same sources
  if(EMSCRIPTEN)
    # ccache does not recognise em++ by its name. The compiler is identified by its version, because em++ itself
    # is only a launcher.
    list(APPEND settings CCACHE_COMPILERTYPE=clang "CCACHE_COMPILERCHECK=string:${EMSCRIPTEN_VERSION}-${CMAKE_CXX_COMPILER_VERSION}")
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env ${settings} ${EG_CCACHE})
endif()
