#pragma once

// Discrete Fourier transforms along a dimension.
//
// The gradient of a transform between complex tensors is the transform in the other direction.
// Transforms of real numbers compute half of the spectrum.

#include "dispatch/function_op.h"

namespace eg {

/// Which transform divides by the size: the inverse, both by its square root, or the forward one.
enum class FftNorm : std::uint8_t { kBackward, kOrtho, kForward };
constexpr std::array<std::string_view, 3> enum_names(FftNorm) {
  return {"backward", "ortho", "forward"};
}

struct Fft {
  static constexpr op::Doc doc{
      "fft", "Discrete Fourier transform along dim, of input cut or zero-padded to size n."};
  static constexpr std::array args{Arg{"input"}, Arg{"n", "null"}, Arg{"dim", "-1"},
                                   Arg{"norm", "'backward'"}};
  static constexpr std::array<std::string_view, 4> samples{
      "C([2, 4])", "T([3, 2]), null, 0", "C([5]), 3, -1, 'ortho'", "T([3]), 4, 0, 'forward'"};
  static Tensor call(const Tensor& input, std::optional<std::int64_t> n = {}, std::int64_t dim = -1,
                     FftNorm norm = FftNorm::kBackward);
};

struct Ifft {
  static constexpr op::Doc doc{"ifft", "The inverse of fft."};
  static constexpr std::array args = Fft::args;
  static constexpr std::array samples = Fft::samples;
  static Tensor call(const Tensor& input, std::optional<std::int64_t> n = {}, std::int64_t dim = -1,
                     FftNorm norm = FftNorm::kBackward);
};

struct Rfft {
  static constexpr op::Doc doc{
      "rfft",
      "fft of real numbers without the second half of the result, which mirrors the first."};
  static constexpr std::array args = Fft::args;
  static constexpr std::array<std::string_view, 4> samples{
      "T([2, 4])", "T([3, 2]), null, 0", "T([5]), 3, -1, 'ortho'", "T([3]), 4, 0, 'forward'"};
  static Tensor call(const Tensor& input, std::optional<std::int64_t> n = {}, std::int64_t dim = -1,
                     FftNorm norm = FftNorm::kBackward);
};

struct Irfft {
  static constexpr op::Doc doc{
      "irfft",
      "The inverse of rfft: n real numbers, by default 2 (size - 1). Imaginary parts that the "
      "spectrum of a real signal cannot have are ignored."};
  static constexpr std::array args = Fft::args;
  static constexpr std::array<std::string_view, 4> samples{
      "C([2, 3])", "C([3, 2]), 5, 0", "C([4]), 3, -1, 'ortho'", "C([2]), 6, 0, 'forward'"};
  static Tensor call(const Tensor& input, std::optional<std::int64_t> n = {}, std::int64_t dim = -1,
                     FftNorm norm = FftNorm::kBackward);
};

using FftOps = TypeList<Fft, Ifft, Rfft, Irfft>;

}  // namespace eg
