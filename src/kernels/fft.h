#pragma once

#include <string_view>

#include "kernels/kernel.h"
#include "kernels/rows.h"

namespace eg::kernel {

/// Replaces every row x of complex numbers by scale * sum over k of x[k] exp(-2 pi i j k / size),
/// with the exponent conjugated when `inverse`.
struct Fft {
  static constexpr std::string_view name = "fft";
  Rows rows;
  bool inverse;
  double scale;
  Out x;

  void compute_on_cpu() const;
};

/// Computes the first size / 2 + 1 numbers of the Fft of real rows of an even size.
struct RealFft {
  static constexpr std::string_view name = "real_fft";
  Rows rows;
  double scale;
  In x;
  Out y;

  void compute_on_cpu() const;
};

/// The inverse of RealFft apart from `scale`: computes real rows of an even size from
/// size / 2 + 1 complex numbers. The imaginary parts of the first and the last one are ignored.
struct InverseRealFft {
  static constexpr std::string_view name = "inverse_real_fft";
  Rows rows;
  double scale;
  In x;
  Out y;

  void compute_on_cpu() const;
};

using FftKernels = TypeList<Fft, RealFft, InverseRealFft>;

}  // namespace eg::kernel
