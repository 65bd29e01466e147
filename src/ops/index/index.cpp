#include "ops/index/index.h"

#include "dispatch/factories.h"
#include "dispatch/precision.h"
#include "formulas/all.h"
#include "ops/create/copy.h"
#include "ops/index/index_args.h"
#include "ops/shape/view.h"
#include "ops/sparse/sparse_gradient.h"
#include "ops/sparse/sparse_shape.h"

namespace eg {
namespace {

// The gradient of index_select and embedding: slices added to a tensor of zeros.
struct IndexSelectGradient {
  static constexpr op::Doc doc{"index_select_backward", "The gradient of index_select."};
  struct Attrs {
    std::int64_t dim;
    std::int64_t skip;
  };
  static constexpr std::array<std::string_view, 1> saved_names{"index"};
  static Tensor call(const Tensor& grad, const Shape& input_shape, std::int64_t dim,
                     const Tensor& index, std::int64_t skip = -1) {
    const Tensor result = full(input_shape, 0, grad.dtype(), grad.device());
    run(kernel::AddRows{rows_along(input_shape, dim, index), packed(grad).memory(), result.memory(),
                        skip});
    return record<IndexSelectGradient>(result, {grad}, {dim, skip}, {{index}});
  }
  static GradList backward(const Backward<IndexSelectGradient>& b) {
    const Tensor index = b.saved(0);
    const Tensor rows = IndexSelect::call(b.grad(), b.attrs().dim, index);
    if (b.attrs().skip < 0) return {rows};
    const Tensor skipped = eg::call<op::Eq>(index, Scalar(b.attrs().skip));
    return {eg::call<op::MaskedFill>(rows, Unsqueeze::call(skipped, 1), 0)};
  }
};

// The gradient of gather.
struct GatherGradient {
  static constexpr op::Doc doc{"gather_backward", "The gradient of gather."};
  struct Attrs {
    std::int64_t dim;
  };
  static constexpr std::array<std::string_view, 1> saved_names{"index"};
  static Tensor call(const Tensor& grad, const Shape& input_shape, std::int64_t dim,
                     const Tensor& index) {
    const Tensor result = full(input_shape, 0, grad.dtype(), grad.device());
    run(kernel::AddElements{elements_along(result.strides(), dim, index), packed(grad).memory(),
                            result.memory()});
    return record<GatherGradient>(result, {grad}, {dim}, {{index}});
  }
  static GradList backward(const Backward<GatherGradient>& b) {
    return {Gather::call(b.grad(), b.attrs().dim, b.saved(0))};
  }
};

// scatter() with reduce: 'multiply'.
struct ScatterMultiply {
  static constexpr op::Doc doc{"scatter", "input multiplied by src at index along dim."};
  struct Attrs {};
  static Tensor call(const Tensor& input, std::int64_t dim, const Tensor& index,
                     const Tensor& src) {
    const Tensor part = fit_source(input, dim, index, src, doc.name);
    const Tensor picks = checked_index(index, size_along(input, dim), dim, doc.name);
    const Tensor result = contiguous_copy(input);
    run(kernel::MultiplyElements{elements_along(result.strides(), dim, picks),
                                 packed(part).memory(), result.memory()});
    return record<ScatterMultiply>(result, {input, part}, {});
  }
  static GradList backward(const Backward<ScatterMultiply>&) {
    fail(ErrorCode::kNotDifferentiable,
         "[scatter] reduce: 'multiply' is not differentiable. Multiply the result of gather() "
         "instead.");
  }
};

}  // namespace

Tensor IndexSelect::call(const Tensor& input, std::int64_t dim, const Tensor& index) {
  if (input.is_sparse()) return index_select_sparse(input, dim, index);
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  const Tensor picks = checked_index_vector(index, size_along(input, d), d, doc.name);
  Shape shape = input.shape();
  if (shape.empty()) {
    check(picks.numel() == 1, ErrorCode::kShapeMismatch, doc.name,
          "a 0-dim tensor has one element to select, got ", picks.numel(), " indices.");
  } else {
    shape[static_cast<std::size_t>(d)] = picks.numel();
  }
  const Tensor result = Tensor::empty(shape, input.dtype(), input.device());
  run(kernel::TakeRows{rows_along(input.shape(), d, picks), packed(input).memory(),
                       result.memory()});
  return record<IndexSelect>(result, {input}, {input.shape(), d}, {{picks}});
}

GradList IndexSelect::backward(const Backward<IndexSelect>& b) {
  return {IndexSelectGradient::call(b.grad(), b.attrs().input_shape, b.attrs().dim, b.saved(0))};
}

Tensor IndexAdd::call(const Tensor& input, std::int64_t dim, const Tensor& index,
                      const Tensor& source, Scalar alpha) {
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  const Tensor picks = check_sources(input, d, index, source, doc.name);
  check_factor(doc.name, "alpha", alpha, input.dtype());
  const Tensor scaled = alpha.to<double>() == 1
                            ? source
                            : ToDType::call(eg::call<op::Mul>(source, alpha), input.dtype());
  const Tensor result = contiguous_copy(input);
  run(kernel::AddRows{rows_along(input.shape(), d, picks), packed(scaled).memory(),
                      result.memory()});
  return record<IndexAdd>(result, {input, scaled}, {input.shape(), d}, {{picks}});
}

GradList IndexAdd::backward(const Backward<IndexAdd>& b) {
  GradList grads(2);
  if (b.needs(0)) grads[0] = b.grad();
  if (b.needs(1)) grads[1] = IndexSelect::call(b.grad(), b.attrs().dim, b.saved(0));
  return grads;
}

Tensor IndexCopy::call(const Tensor& input, std::int64_t dim, const Tensor& index,
                       const Tensor& source) {
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  const Tensor picks = check_sources(input, d, index, source, doc.name);
  const Tensor result = contiguous_copy(input);
  run(kernel::PutRows{rows_along(input.shape(), d, picks), packed(source).memory(),
                      result.memory()});
  return record_linear<IndexCopy>(
      result, {input, source}, {input.shape(), d}, {{picks}},
      [&](const TensorList& of) { return call(of[0], d, picks, of[1]); });
}

GradList IndexCopy::backward(const Backward<IndexCopy>& b) {
  GradList grads(2);
  if (b.needs(0)) grads[0] = IndexFill::call(b.grad(), b.attrs().dim, b.saved(0), 0);
  if (b.needs(1)) grads[1] = IndexSelect::call(b.grad(), b.attrs().dim, b.saved(0));
  return grads;
}

Tensor IndexFill::call(const Tensor& input, std::int64_t dim, const Tensor& index,
                       const Operand& value) {
  check(value.tensor().ndim() == 0, ErrorCode::kShapeMismatch, doc.name,
        "value must be a number or a 0-dim tensor, got shape ", value.tensor().shape(), '.');
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  const Tensor picks = checked_index_vector(index, size_along(input, d), d, doc.name);
  // Through a mask, which an index that occurs twice sets once.
  const Tensor mask = full({size_along(input, d)}, 0, DType::kBool, input.device());
  run(kernel::PutRows{rows_along(mask.shape(), 0, picks),
                      full(picks.shape(), 1, DType::kBool, input.device()).memory(),
                      mask.memory()});
  Shape along(input.shape().size(), 1);
  if (!along.empty()) along[static_cast<std::size_t>(d)] = mask.numel();
  return eg::call<op::MaskedFill>(input, Reshape::call(mask, along), element_for(input, value));
}

Tensor Gather::call(const Tensor& input, std::int64_t dim, const Tensor& index, bool sparse_grad) {
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  // An index without elements takes nothing, whatever its shape.
  if (const Tensor none = index_fitting(index, input); none.shape() != index.shape())
    return Reshape::call(call(input, d, none, sparse_grad), index.shape());
  const Shape sizes = at_least_1d(index.shape());
  const Shape available = at_least_1d(input.shape());
  check(sizes.size() == available.size(), ErrorCode::kShapeMismatch, doc.name,
        "index and input must have the same number of dimensions, got shapes ", index.shape(),
        " and ", input.shape(), '.');
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    check(static_cast<std::int64_t>(k) == d || sizes[k] <= available[k], ErrorCode::kShapeMismatch,
          doc.name, "index of shape ", index.shape(), " exceeds input of shape ", input.shape(),
          " in dimension ", k, "; only dimension ", d, " may be larger.");
  }
  const Tensor picks = checked_index(index, size_along(input, d), d, doc.name);
  const Tensor result = Tensor::empty(index.shape(), input.dtype(), input.device());
  run(kernel::TakeElements{elements_along(input.strides(), d, picks), input.memory(),
                           result.memory()});
  return record<Gather>(result, {input}, {input.shape(), d, sparse_grad}, {{picks}});
}

GradList Gather::backward(const Backward<Gather>& b) {
  const auto& [shape, dim, is_sparse] = b.attrs();
  if (is_sparse) return {sparse_gradient_of_elements(b.grad(), shape, dim, b.saved(0))};
  return {GatherGradient::call(b.grad(), shape, dim, b.saved(0))};
}

Tensor Scatter::call(const Tensor& input, std::int64_t dim, const Tensor& given, const Operand& src,
                     ScatterMode reduce) {
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  const Tensor index = index_fitting(given, input);
  const Tensor source = src.tensor().is_wrapped_number()
                            ? Expand::call(element_for(input, src), index.shape())
                            : src.tensor();
  if (reduce == ScatterMode::kAdd) return ScatterAdd::call(input, d, index, source);
  if (reduce == ScatterMode::kMultiply) return ScatterMultiply::call(input, d, index, source);
  const Tensor part = fit_source(input, d, index, source, doc.name);
  const Tensor picks = checked_index(index, size_along(input, d), d, doc.name);
  const Tensor result = contiguous_copy(input);
  run(kernel::PutElements{elements_along(result.strides(), d, picks), packed(part).memory(),
                          result.memory()});
  return record_linear<Scatter>(result, {input, part}, {input.shape(), d}, {{picks}},
                                [&](const TensorList& of) { return call(of[0], d, picks, of[1]); });
}

GradList Scatter::backward(const Backward<Scatter>& b) {
  GradList grads(2);
  if (b.needs(0)) grads[0] = Scatter::call(b.grad(), b.attrs().dim, b.saved(0), 0);
  if (b.needs(1)) grads[1] = Gather::call(b.grad(), b.attrs().dim, b.saved(0));
  return grads;
}

Tensor ScatterAdd::call(const Tensor& input, std::int64_t dim, const Tensor& given,
                        const Tensor& src) {
  const std::int64_t d = wrap_dim(dim, input.ndim(), doc.name);
  const Tensor index = index_fitting(given, input);
  const Tensor part = fit_source(input, d, index, src, doc.name);
  const Tensor picks = checked_index(index, size_along(input, d), d, doc.name);
  const Tensor result = contiguous_copy(input);
  run(kernel::AddElements{elements_along(result.strides(), d, picks), packed(part).memory(),
                          result.memory()});
  return record<ScatterAdd>(result, {input, part}, {input.shape(), d}, {{picks}});
}

GradList ScatterAdd::backward(const Backward<ScatterAdd>& b) {
  GradList grads(2);
  if (b.needs(0)) grads[0] = b.grad();
  if (b.needs(1)) grads[1] = Gather::call(b.grad(), b.attrs().dim, b.saved(0));
  return grads;
}

// Rows of stored dtypes are only copied; the kernels of other devices have none of them.
Tensor Embedding::call(const Tensor& input, const Tensor& weight,
                       std::optional<std::int64_t> padding_idx, bool sparse) {
  if (is_stored(weight.dtype()) && !weight.device().is_cpu()) {
    CallOperands operands(Precision::kComputed);
    Tensor result = call(input, operands.prepared(weight), padding_idx, sparse);
    operands.finish({&result, 1});
    return result;
  }
  check(weight.ndim() == 2, ErrorCode::kShapeMismatch, doc.name,
        "weight must be a matrix, got shape ", weight.shape(), '.');
  const std::int64_t rows = weight.size(0);
  std::int64_t padding = -1;
  if (padding_idx.has_value()) {
    check(-rows <= *padding_idx && *padding_idx < rows, ErrorCode::kInvalidArgument, doc.name,
          "paddingIdx must be a row of weight, which has ", rows, ", got ", *padding_idx, '.');
    padding = *padding_idx < 0 ? *padding_idx + rows : *padding_idx;
  }
  const Tensor index = checked_index(input, rows, 0, doc.name);
  const Tensor picks = index.alias({index.numel()}, {1}, index.offset());
  Shape shape = input.shape();
  shape.push_back(weight.size(1));
  const Tensor result = Tensor::empty(shape, weight.dtype(), weight.device());
  run(kernel::TakeRows{rows_along(weight.shape(), 0, picks), packed(weight).memory(),
                       result.memory()});
  return record<Embedding>(result, {weight}, {rows, padding, sparse}, {{picks}});
}

GradList Embedding::backward(const Backward<Embedding>& b) {
  const Tensor picks = b.saved(0);
  const std::int64_t width = b.grad().size(-1);
  const auto [row_count, padding, is_sparse] = b.attrs();
  if (is_sparse) {
    const Tensor rows = Reshape::call(b.grad(), {picks.numel(), width});
    return {sparse_gradient_of_rows(rows, {row_count, width}, picks, padding)};
  }
  const Tensor grad = ToDType::call(b.grad(), computed_dtype(b.grad().dtype()));
  return {IndexSelectGradient::call(Reshape::call(grad, {picks.numel(), width}), {row_count, width},
                                    0, picks, padding)};
}

}  // namespace eg
