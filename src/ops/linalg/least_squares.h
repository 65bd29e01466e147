#pragma once

// Pseudo-inverses and least squares.

#include "dispatch/function_op.h"

namespace eg {

struct Pinv {
  static constexpr op::Doc doc{"pinv",
                               "The pseudo-inverse: singular values of at most max(atol, rtol * "
                               "largest) count as zero. With hermitian, A is its own adjoint."};
  static constexpr std::string_view node_name = "LinalgPinvBackward0";
  static constexpr std::array args{Arg{"A"}, Arg{"atol", "null"}, Arg{"rtol", "null"},
                                   Arg{"hermitian", "false"}};
  static constexpr std::array<std::string_view, 4> samples{"T([3, 2])", "T([2, 2, 3])", "T([3, 3])",
                                                           "T([3, 3]), null, null, true"};
  static Tensor call(const Tensor& a, std::optional<double> atol = {},
                     std::optional<double> rtol = {}, bool hermitian = false);

  struct Attrs {};
  static constexpr std::array<std::string_view, 2> saved_names{"self", "result"};
  static GradList backward(const Backward<Pinv>& b);
};

/// LAPACK's drivers for least squares. They differ in what they return besides the solution.
enum class LstsqDriver : std::uint8_t { kGelsy, kGels, kGelsd, kGelss };
constexpr std::array<std::string_view, 4> enum_names(LstsqDriver) {
  return {"gelsy", "gels", "gelsd", "gelss"};
}

struct Lstsq {
  static constexpr op::Doc doc{
      "lstsq",
      "[solution, residuals, rank, singularValues]: the X of least norm that minimizes |A X - B|. "
      "Squared residuals are returned for a tall A of full rank by all drivers but gelsy, singular "
      "values by gelsd and gelss, and the rank by all but gels."};
  static constexpr std::array args{Arg{"A"}, Arg{"B"}, Arg{"rcond", "null"},
                                   Arg{"driver", "'gelsy'"}};
  static constexpr std::array<std::string_view, 3> samples{
      "T([4, 2]), T([4, 3]), null, 'gels'", "T([2, 2, 3]), T([2, 2])", "T([3, 3]), T([3, 1])"};
  static constexpr std::array<std::string_view, 4> results{"solution", "residuals", "rank",
                                                           "singularValues"};
  static TensorList call(const Tensor& a, const Tensor& b, std::optional<double> rcond = {},
                         LstsqDriver driver = LstsqDriver::kGelsy);
};

using LeastSquaresOps = TypeList<Pinv, Lstsq>;

}  // namespace eg
