# Compiles the sources of a folder in one go: they include the same headers, which take most of the time of a build.
# Off for clang-tidy and for editors, which want each file alone.
option(EG_UNITY "Compile the sources of a folder together" ON)

# Sets `result` to sources that include `sources`, one for each folder of them; `root` is a folder of the include path. Unlike CMake's
# own unity builds, these name files by relative paths, so that ccache recognizes them in other checkouts.
function(eg_unify result name root sources)
  set(unified ${sources})
  if(EG_UNITY)
    set(unified "")
    foreach(source IN LISTS sources)
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_SOURCE_DIR}/${root})
      cmake_path(GET source PARENT_PATH folder)
      string(REPLACE "/" "_" file "${name}_${folder}.cpp")
      list(APPEND files ${file})
      string(APPEND text_${file} "#include \"${source}\"\n")
    endforeach()
    list(REMOVE_DUPLICATES files)
    foreach(file IN LISTS files)
      set(path ${CMAKE_CURRENT_BINARY_DIR}/unity/${file})
      file(CONFIGURE OUTPUT ${path} CONTENT "${text_${file}}" @ONLY)
      list(APPEND unified ${path})
    endforeach()
  endif()
  set(${result} ${unified} PARENT_SCOPE)
endfunction()
