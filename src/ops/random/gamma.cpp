// Samples of gamma distributions, and of Dirichlet distributions, which are computed from those.

#include <algorithm>
#include <cmath>
#include <limits>

#include "dispatch/var.h"
#include "ops/create/copy.h"
#include "ops/random/fill.h"
#include "ops/random/reparameterised.h"
#include "ops/random/samples.h"
#include "ops/reduce/reduction.h"
#include "ops/shape/view.h"
#include "runtime/random_samples.h"

namespace eg {
namespace {

// The derivative of StandardGamma, which cannot be differentiated again.
struct StandardGammaGrad {
  static constexpr op::Doc doc{"standard_gamma_grad", "The derivative of gamma samples by alpha."};
  struct Attrs {};

  static Tensor call(const Tensor& alpha, const Tensor& sample) {
    const Tensor shapes = host_values(ToDType::call(detach(alpha), DType::kFloat64));
    const Tensor samples = host_values(ToDType::call(detach(sample), DType::kFloat64));
    const Tensor digammas = digamma(shapes);
    const Tensor slopes = Tensor::empty(alpha.shape(), DType::kFloat64);
    for (std::size_t i = 0; i < elements<double>(slopes).size(); ++i) {
      elements<double>(slopes)[i] = gamma_slope(
          elements<double>(shapes)[i], elements<double>(samples)[i], elements<double>(digammas)[i]);
    }
    const Tensor result = moved(ToDType::call(slopes, alpha.dtype()), alpha.device());
    return record<StandardGammaGrad>(result, {alpha, sample}, {});
  }

  static GradList backward(const Backward<StandardGammaGrad>&) {
    fail(ErrorCode::kNotDifferentiable,
         "[standard_gamma] the second derivative is not implemented.");
  }
};

// The derivative of each element of SampleDirichlet by its own alpha, which cannot be
// differentiated again.
struct DirichletGrad {
  static constexpr op::Doc doc{"dirichlet_grad",
                               "The derivative of Dirichlet samples by their own alpha."};
  struct Attrs {};

  static Tensor call(const Tensor& alpha, const Tensor& sample) {
    const Tensor alphas = host_values(ToDType::call(detach(alpha), DType::kFloat64));
    const Tensor samples = host_values(ToDType::call(detach(sample), DType::kFloat64));
    const Tensor totals =
        packed(Expand::call(Sum::call(alphas, Dims{-1}, true), Dims(alphas.shape())));
    const Tensor digammas = digamma(alphas);
    const Tensor digammas_of_rest = digamma(totals - alphas);
    const Tensor digammas_of_total = digamma(totals);
    const Tensor slopes = Tensor::empty(alpha.shape(), DType::kFloat64);
    for (std::size_t i = 0; i < elements<double>(slopes).size(); ++i) {
      elements<double>(slopes)[i] = beta_slope(
          elements<double>(samples)[i], elements<double>(alphas)[i], elements<double>(totals)[i],
          {elements<double>(digammas)[i], elements<double>(digammas_of_rest)[i],
           elements<double>(digammas_of_total)[i]});
    }
    const Tensor result = moved(ToDType::call(slopes, alpha.dtype()), alpha.device());
    return record<DirichletGrad>(result, {alpha, sample}, {});
  }

  static GradList backward(const Backward<DirichletGrad>&) {
    fail(ErrorCode::kNotDifferentiable,
         "[sample_dirichlet] the second derivative is not implemented.");
  }
};

}  // namespace

Tensor StandardGamma::call(const Tensor& alpha) {
  const Tensor result = visit_floating(alpha.dtype(), doc.name, [&]<class T>() {
    return draw_each<T>(alpha, [](T shape, Generator& generator) {
      return std::max(std::numeric_limits<T>::min(), draw_gamma(shape, generator));
    });
  });
  return record<StandardGamma>(result, {alpha}, {}, {{alpha}, {result, true}});
}

GradList StandardGamma::backward(const Backward<StandardGamma>& b) {
  const Tensor slope = StandardGammaGrad::call(b.saved(0), b.saved(1));
  return {b.grad() * slope};
}

Tensor SampleDirichlet::call(const Tensor& alpha) {
  check(alpha.ndim() > 0, ErrorCode::kShapeMismatch, doc.name,
        "expected an alpha of at least 1 dimension, got a 0-dim tensor.");
  const Tensor result = visit_floating(alpha.dtype(), doc.name, [&]<class T>() {
    // In float64, because in float32 all samples of small alphas could be 0.
    const Tensor wide = host_values(ToDType::call(detach(alpha), DType::kFloat64));
    const Tensor gammas = draw_each<double>(wide, [](double shape, Generator& generator) {
      return std::max(std::numeric_limits<double>::min(), draw_gamma(shape, generator));
    });
    const Tensor parts = gammas / Sum::call(gammas, Dims{-1}, true);
    const Tensor narrow = ToDType::call(parts, alpha.dtype());
    for (T& part : elements<T>(narrow))
      part = std::clamp(part, std::numeric_limits<T>::min(), std::nextafter(T{1}, T{0}));
    return moved(narrow, alpha.device());
  });
  return record<SampleDirichlet>(result, {alpha}, {}, {{alpha}, {result, true}});
}

GradList SampleDirichlet::backward(const Backward<SampleDirichlet>& b) {
  const Var result = b.saved(1);
  const Var grad = b.grad();
  const Var slope = DirichletGrad::call(b.saved(0), b.saved(1));
  const Var mean = Sum::call(grad * result, Dims{-1}, true);
  return {slope * (grad - mean)};
}

}  // namespace eg
