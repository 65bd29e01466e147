#pragma once

// Eigen's solvers of sparse equations.

#include <sstream>
#include <string>

#include "backend/cpu/linalg/eigen.h"

namespace eg::cpu {

struct NoText;

}  // namespace eg::cpu

/// What SparseLU writes the number of a column to, for a message that nobody reads. Its real stream
/// would bring all of the C++ library's locales: 120 kB of WebAssembly.
template <>
class std::basic_ostringstream<char, eg::cpu::NoText, std::allocator<char>> {
 public:
  basic_ostringstream& operator<<(std::ptrdiff_t) { return *this; }
  std::string str() const { return {}; }
};

#define ostringstream basic_ostringstream<char, eg::cpu::NoText>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>
#undef ostringstream
