#pragma once

// Eigen, as the engine and its tests include it: its settings must be the same wherever it is seen.
// Its own vectors are off, because they know no WebAssembly: the compiler makes them.

#define EIGEN_DONT_PARALLELIZE
#define EIGEN_DONT_VECTORIZE
#define EIGEN_MPL2_ONLY
#define EIGEN_NO_IO

#include <Eigen/Eigenvalues>
