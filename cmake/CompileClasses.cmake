# How each source of the engine is compiled for WebAssembly. Every user downloads the module, so only code that determines its speed
# is compiled for speed.
#
#   engine   code that every op and every graph node executes
#   kernels  kernels with their own inner loops
#   vectors  elementwise kernels, which are vectors by construction: inlined but not unrolled
#   compact  the same for code that ops execute less often, such as helpers that several of them share
#   small    the rest, as small as possible: the ops themselves
#
# A source has the class of its folder (the longest path below that matches), unless its first line names another one:
# `// compile: engine`.
set(EG_CLASSES engine kernels vectors compact small)
set(folder_classes
  src/autograd=compact src/backend/cpu=kernels src/backend/cpu/linalg=small src/backend/webgpu=small src/base=small
  src/base/heap=engine src/dispatch=compact src/formulas=small src/kernels=small src/ops=small src/runtime=compact
  src/tensor=engine bindings=compact)

set(EG_OPTIONS_engine "")
# Loops that should be unrolled say so in the source.
set(EG_OPTIONS_kernels -O2 "SHELL:-mllvm -unroll-runtime=false")
set(EG_OPTIONS_vectors -Os)
set(EG_OPTIONS_compact -Os)
set(EG_OPTIONS_small -Oz)

# Only these classes have vectors to which relaxed instructions apply. All others are the same in both variants with threads, so the
# compiler's cache has them already when the second is built.
set(EG_VECTOR_OPTIONS "")
if(EG_VARIANT STREQUAL "relaxed")
  set(EG_VECTOR_OPTIONS -mrelaxed-simd)
endif()
foreach(class kernels vectors)
  list(APPEND EG_OPTIONS_${class} ${EG_VECTOR_OPTIONS})
endforeach()

foreach(entry IN LISTS folder_classes)
  string(REPLACE "=" ";" entry ${entry})
  list(GET entry 0 folder)
  list(GET entry 1 class_of_${folder})
  if(NOT IS_DIRECTORY ${CMAKE_SOURCE_DIR}/${folder})
    message(FATAL_ERROR "cmake/CompileClasses.cmake: there is no folder ${folder}")
  endif()
endforeach()

# Sets <prefix>_<class> to the sources of each class. CMake runs again when one of them changes, because its class may have.
function(eg_classify prefix sources)
  foreach(source IN LISTS sources)
    file(STRINGS ${source} class LIMIT_COUNT 1 REGEX "^// compile: ")
    string(REPLACE "// compile: " "" class "${class}")
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE folder)
    while(class STREQUAL "" AND NOT folder STREQUAL "")
      cmake_path(GET folder PARENT_PATH folder)
      set(class "${class_of_${folder}}")
    endwhile()
    if(NOT class IN_LIST EG_CLASSES)
      message(FATAL_ERROR "${source} has no class or an unknown one (\"${class}\"); see cmake/CompileClasses.cmake")
    endif()
    list(APPEND of_${class} ${source})
  endforeach()
  foreach(class IN LISTS EG_CLASSES)
    set(${prefix}_${class} ${of_${class}} PARENT_SCOPE)
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})
endfunction()
