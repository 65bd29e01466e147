# Builds every tools/*.cpp as a native program of that name.
file(GLOB tool_sources CONFIGURE_DEPENDS tools/*.cpp)
foreach(source IN LISTS tool_sources)
  cmake_path(GET source STEM name)
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE bindings)
  target_link_libraries(${name} PRIVATE edgegrad_core edgegrad_warnings)
endforeach()
