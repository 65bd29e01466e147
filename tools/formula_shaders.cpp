// Prints the shaders of all elementwise ops (web/src/generated/formula_shaders.json), or with an
// argument tests/golden/formula_constants.json.

#include "formula_shaders.h"

#include <exception>
#include <iostream>

int main(int count, char**) {
  try {
    std::cout << (count > 1 ? eg::wgsl::formula_constants() : eg::wgsl::formula_shaders());
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
