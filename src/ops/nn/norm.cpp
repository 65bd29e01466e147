#include "ops/nn/norm.h"

#include <algorithm>
#include <limits>

#include "dispatch/factories.h"
#include "dispatch/optional_memory.h"
#include "kernels/norm.h"
#include "ops/nn/norm_gradients.h"

namespace eg {
namespace {

// The dimensions to normalize over, and what else backward needs besides tensors.
struct NormAttrs {
  std::int64_t rows;
  std::int64_t width;
  Shape normalized_shape;
  /// The shape of the statistics, which broadcasts to the input: 1 for every normalized dim.
  Shape statistics_shape;
  double eps;
};

NormAttrs check_shapes(std::string_view op, const Tensor& input, const Dims& normalized_shape,
                       double eps) {
  check(!normalized_shape.empty(), ErrorCode::kShapeMismatch, op,
        "normalizedShape must have at least one size, got [].");
  const Shape& shape = input.shape();
  const std::size_t dims = std::min(normalized_shape.size(), shape.size());
  check(
      std::equal(normalized_shape.begin(), normalized_shape.end(), shape.end() - dims, shape.end()),
      ErrorCode::kShapeMismatch, op, "the last sizes of input must be normalizedShape, ",
      normalized_shape, ", got shape ", shape, '.');
  const std::size_t first = shape.size() - dims;
  NormAttrs attrs{1, numel(normalized_shape), normalized_shape, shape, eps};
  for (std::size_t d = 0; d < first; ++d) attrs.rows *= shape[d];
  std::fill(attrs.statistics_shape.begin() + first, attrs.statistics_shape.end(), 1);
  return attrs;
}

// The parameter, or an undefined tensor when there is none.
Tensor check_parameter(std::string_view op, std::string_view name,
                       const std::optional<Tensor>& parameter, const Tensor& input,
                       const Dims& normalized_shape) {
  if (!parameter) return {};
  check(parameter->shape() == normalized_shape, ErrorCode::kShapeMismatch, op, name,
        " must have the shape normalizedShape, ", normalized_shape, ", got ", parameter->shape(),
        '.');
  check(parameter->dtype() == input.dtype(), ErrorCode::kDtypeMismatch, op, name, " must be ",
        input.dtype(), " like input, got ", parameter->dtype(), '.');
  check_same_device(op, input.device(), parameter->device());
  return *parameter;
}

// The tensors that backward reads. Without a mean it is RMS norm.
struct SavedNorm {
  Tensor input;
  Tensor weight;
  Tensor mean;
  Tensor rstd;
};

GradList fused_gradients(const NormAttrs& attrs, const SavedNorm& saved, const Tensor& grad,
                         const NormNeeds& needs) {
  const SavedNorm norm{packed(saved.input), packed(saved.weight), saved.mean, saved.rstd};
  const Tensor g = packed(grad);
  GradList grads(3);
  for (std::size_t i = 0; i < 3; ++i) {
    if (needs[i])
      grads[i] = Tensor::empty(i == 0 ? g.shape() : attrs.normalized_shape, g.dtype(), g.device());
  }
  if (needs[0]) {
    run(kernel::RowNormBackwardInput{attrs.rows, attrs.width, norm.input.memory(),
                                     optional_memory(norm.weight), optional_memory(norm.mean),
                                     norm.rstd.memory(), g.memory(), grads[0].memory()});
  }
  if (needs[1] || needs[2]) {
    run(kernel::RowNormBackwardParameters{
        attrs.rows, attrs.width, norm.input.memory(), optional_memory(norm.mean),
        norm.rstd.memory(), g.memory(), optional_memory(grads[1]), optional_memory(grads[2])});
  }
  return grads;
}

// The node of both ops. As in PyTorch, layer_norm is recorded as native_layer_norm.
template <bool kCentered>
struct NormNode {
  static constexpr op::Doc doc =
      kCentered ? op::Doc{"native_layer_norm", LayerNorm::doc.text} : RmsNorm::doc;
  using Attrs = NormAttrs;
  static constexpr std::array<std::string_view, 4> saved_names{"input", "weight", "result1",
                                                               "result2"};
  static GradList backward(const Backward<NormNode>& b) {
    const SavedNorm saved{b.saved(0), b.saved(1), b.saved(2), b.saved(3)};
    const NormNeeds needs{b.needs(0), b.needs(1), b.needs(2)};
    if (!ops_are_differentiated()) return fused_gradients(b.attrs(), saved, b.grad(), needs);
    const auto& [rows, width, normalized_shape, statistics_shape, eps] = b.attrs();
    return norm_gradients({static_cast<double>(width), eps, kCentered, statistics_shape,
                           normalized_shape, saved.input, saved.weight},
                          b.grad(), needs);
  }
};

template <bool kCentered>
Tensor normalize(std::string_view op, const Tensor& input, const Tensor& weight, const Tensor& bias,
                 const NormAttrs& attrs) {
  check(is_floating(input.dtype()), ErrorCode::kDtypeMismatch, op,
        "expected float32 or float64, got ", input.dtype(), ". Convert with to('float32').");
  SavedNorm norm{packed(input), packed(weight), {}, {}};
  const Tensor packed_bias = packed(bias);
  const Tensor out = Tensor::empty(input.shape(), input.dtype(), input.device());
  norm.rstd = Tensor::empty(attrs.statistics_shape, input.dtype(), input.device());
  if (kCentered) norm.mean = Tensor::empty(attrs.statistics_shape, input.dtype(), input.device());
  run(kernel::RowNorm{attrs.rows, attrs.width, attrs.eps, norm.input.memory(),
                      optional_memory(norm.weight), optional_memory(packed_bias), out.memory(),
                      optional_memory(norm.mean), norm.rstd.memory()});
  return record<NormNode<kCentered>>(out, {input, weight, bias}, attrs,
                                     {Save{input}, Save{weight}, Save{norm.mean}, Save{norm.rstd}});
}

}  // namespace

Tensor LayerNorm::call(const Tensor& input, const Dims& normalized_shape,
                       const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                       double eps) {
  NormAttrs attrs = check_shapes(doc.name, input, normalized_shape, eps);
  return normalize<true>(doc.name, input,
                         check_parameter(doc.name, "weight", weight, input, normalized_shape),
                         check_parameter(doc.name, "bias", bias, input, normalized_shape), attrs);
}

Tensor RmsNorm::call(const Tensor& input, const Dims& normalized_shape,
                     const std::optional<Tensor>& weight, std::optional<double> eps) {
  const double dtype_eps = input.dtype() == DType::kFloat64 ? std::numeric_limits<double>::epsilon()
                                                            : std::numeric_limits<float>::epsilon();
  NormAttrs attrs = check_shapes(doc.name, input, normalized_shape, eps.value_or(dtype_eps));
  return normalize<false>(doc.name, input,
                          check_parameter(doc.name, "weight", weight, input, normalized_shape), {},
                          attrs);
}

}  // namespace eg
