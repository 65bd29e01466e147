#pragma once

// Discrete Fourier transforms of rows.
//
// A size with small prime factors is transformed factor by factor (Stockham's ordering, which needs
// no bit reversal). One with a large prime factor becomes a convolution of a power-of-two size
// (Bluestein). Everything is computed in double, whatever the dtype of the tensors.

#include <complex>

#include "backend/cpu/reduce/rows.h"

namespace eg::cpu {

/// Replaces every row x by scale * sum over k of x[k] exp(-2 pi i j k / size), or its conjugate
/// exponent when `inverse`.
void fft(const Rows& rows, bool inverse, double scale, std::complex<double>* data);

}  // namespace eg::cpu
