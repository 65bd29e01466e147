# The WebAssembly module of the npm package: edgegrad-<variant>.mjs and .wasm, and edgegrad-<variant>.linked.wasm, which
# is the same before Binaryen's optimisation and lists all references between functions and data. scripts/split uses it.
file(GLOB_RECURSE binding_sources CONFIGURE_DEPENDS bindings/*.cpp)
if(NOT binding_sources)
  return()
endif()

eg_classify(bindings "${binding_sources}")
eg_unify(bindings_compact bindings bindings "${bindings_compact}")
set(binding_objects "")
foreach(class engine compact)
  set(part edgegrad_bindings_${class})
  add_library(${part} OBJECT ${bindings_${class}})
  target_include_directories(${part} PRIVATE bindings)
  target_link_libraries(${part} PRIVATE edgegrad_core edgegrad_warnings)
  target_precompile_headers(${part} PRIVATE ${EG_PRECOMPILED} <emscripten/bind.h>)
  target_compile_options(${part} PRIVATE ${EG_OPTIONS_${class}})
  list(APPEND binding_objects $<TARGET_OBJECTS:${part}>)
endforeach()

# The engine's objects are linked first: of an inline function that is in several objects, the linker takes the first
# copy, and the copies compiled for size are in most objects.
set(linked_objects $<TARGET_OBJECTS:edgegrad_engine> ${binding_objects})
add_executable(edgegrad_wasm ${linked_objects})
add_executable(edgegrad_linked ${linked_objects})
add_dependencies(edgegrad_wasm edgegrad_linked)
set_target_properties(edgegrad_wasm PROPERTIES OUTPUT_NAME edgegrad-${EG_VARIANT} SUFFIX .mjs)
set_target_properties(edgegrad_linked PROPERTIES OUTPUT_NAME edgegrad-${EG_VARIANT}.linked SUFFIX .wasm)
set(threads_object "")
if(EG_THREADS)
  set(threads_object ",PThread")
endif()
set(link_options
  --bind -sMODULARIZE -sEXPORT_ES6 -sEXPORT_NAME=createEdgegrad -sENVIRONMENT=web,worker,node
  -sALLOW_MEMORY_GROWTH -sINITIAL_MEMORY=32MB -sMAXIMUM_MEMORY=4GB -sSTACK_SIZE=1MB -Wno-pthreads-mem-growth
  -sFILESYSTEM=0 -sASSERTIONS=0 -sWASM_BIGINT
  # The names of functions, which scripts/building/function_order.mjs removes, and unused memory at the start with room for a byte
  # for each function: scripts/split records there which of them run.
  --profiling-funcs -sGLOBAL_BASE=16384
  # No `new Function`: the content security policy of a page, or a flag of Node.js, may forbid it.
  -sDYNAMIC_EXECUTION=0
  # Exports are used directly from wasmExports under their C++ names (-lexports.js), without a wrapper for each.
  -sEXPORT_KEEPALIVE=0 -lexports.js
  # Functions with a single caller are not inlined merely for that reason: a separate function can be placed next to
  # similar ones (scripts/building/function_order.mjs), which saves more than a call costs. Zeros between data segments are kept,
  # because they compress to nothing, while code that fills memory piece by piece does not. A second pass at the end
  # coalesces local variables and orders them by use, which saves 1 kB.
  -sBINARYEN_EXTRA_PASSES=--one-caller-inline-max-function-size=0,--skip-pass=memory-packing,--coalesce-locals,--reorder-locals,--vacuum
  # The oldest engines with wasm exceptions and SIMD; no code is generated for older ones.
  -sMIN_CHROME_VERSION=95 -sMIN_FIREFOX_VERSION=100 -sMIN_SAFARI_VERSION=160400 -sMIN_NODE_VERSION=200000
  -sINCOMING_MODULE_JS_API=locateFile,wasmBinary,wasmMemory,instantiateWasm,print,printErr,onAbort,mainScriptUrlOrBlob
  -sEXPORTED_RUNTIME_METHODS=HEAP8,HEAPU8,HEAP16,HEAPU16,HEAP32,HEAPU32,HEAPF32,HEAPF64,wasmMemory,wasmExports${threads_object})
set(scripts stubs.js parts.js timers.js)
list(TRANSFORM scripts PREPEND ${CMAKE_SOURCE_DIR}/bindings/)
foreach(script ${scripts})
  list(APPEND link_options --pre-js=${script})
endforeach()
if(EG_THREADS)
  # The number of workers to start initially is the option poolSize of createEdgegrad(), which does not wait for them
  # to start.
  set(worker ${CMAKE_SOURCE_DIR}/bindings/worker.js)
  list(APPEND scripts ${worker})
  list(APPEND link_options
    --post-js=${worker} -sDEFAULT_PTHREAD_STACK_SIZE=1MB -sPTHREAD_POOL_SIZE=Module["poolSize"]|0 -sPTHREAD_POOL_DELAY_LOAD=1
    -sPTHREAD_POOL_SIZE_STRICT=0)
endif()
set_property(TARGET edgegrad_wasm APPEND PROPERTY LINK_DEPENDS ${scripts})
foreach(part edgegrad_wasm edgegrad_linked)
  target_link_libraries(${part} PRIVATE edgegrad_core)
  target_link_options(${part} PRIVATE ${link_options})
endforeach()
target_link_options(edgegrad_linked PRIVATE --oformat=bare -Wl,--emit-relocs)
