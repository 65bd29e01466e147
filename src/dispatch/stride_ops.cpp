#include "dispatch/stride_ops.h"

#include <algorithm>

#include "autograd/tensor_math.h"
#include "dispatch/factories.h"

namespace eg {
namespace {

// Adds every element of `grad` to the place in `flat` its view element was read from.
template <class T>
void scatter_add(const Tensor& flat, const Tensor& grad, const Strides& strides,
                 std::int64_t offset) {
  T* out = flat.data_as<T>() + offset;
  const T* in = grad.data_as<T>();
  const Shape& shape = grad.shape();
  Dims index(shape.size());
  std::int64_t to = 0;
  std::int64_t from = 0;
  for (std::int64_t n = 0; n < grad.numel(); ++n) {
    out[to] += in[from];
    for (std::size_t d = shape.size(); d-- > 0;) {
      to += strides[d];
      from += grad.strides()[d];
      if (++index[d] < shape[d]) break;
      to -= shape[d] * strides[d];
      from -= shape[d] * grad.strides()[d];
      index[d] = 0;
    }
  }
}

// True when every element surely has an address of its own.
bool is_injective(const Shape& shape, const Strides& strides) {
  SmallVector<std::size_t, 6> order;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != 1) order.push_back(d);
  }
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return strides[a] < strides[b]; });
  std::int64_t reach = 0;
  for (const std::size_t d : order) {
    if (strides[d] <= reach) return false;
    reach += (shape[d] - 1) * strides[d];
  }
  return true;
}

struct StridedScatter {
  static constexpr op::Doc doc{"as_strided_scatter_add", "The gradient of as_strided."};
  struct Attrs {
    AsStrided::Attrs geometry;
  };
  static Tensor call(const Tensor& grad, const AsStrided::Attrs& geometry);
  static GradList backward(const Backward<StridedScatter>& b) {
    const AsStrided::Attrs& g = b.attrs().geometry;
    // Gradients arrive in any layout; the view's strides refer to the input's own.
    const Tensor dense = b.grad().strides() == g.input_strides
                             ? b.grad()
                             : math::clone_with_strides(b.grad(), g.input_strides);
    return {AsStrided::call(dense, g.shape, g.strides, g.offset)};
  }
};

Tensor StridedScatter::call(const Tensor& grad, const AsStrided::Attrs& geometry) {
  const std::int64_t reach =
      std::max(storage_extent(geometry.input_shape, geometry.input_strides),
               geometry.offset + storage_extent(geometry.shape, geometry.strides));
  const Tensor flat = full({std::max<std::int64_t>(reach, 1)}, 0, grad.dtype(), grad.device());
  if (is_injective(geometry.shape, geometry.strides)) {
    copy_data(flat.alias(geometry.shape, geometry.strides, geometry.offset), grad);
  } else {
    visit_floating(grad.dtype(), "as_strided", [&]<class T>() {
      scatter_add<T>(flat, grad, geometry.strides, geometry.offset);
    });
  }
  const Tensor result = flat.alias(geometry.input_shape, geometry.input_strides, 0);
  return record<StridedScatter>(result, {grad}, {geometry});
}

}  // namespace

Tensor AsStrided::call(const Tensor& input, const Dims& size, const Dims& stride,
                       std::optional<std::int64_t> storage_offset) {
  check(size.size() == stride.size(), ErrorCode::kInvalidArgument, "as_strided",
        "mismatch in length of strides and shape: ", size, " and ", stride, '.');
  const std::int64_t offset = storage_offset.value_or(input.offset());
  checked_numel(size, "as_strided");
  for (const std::int64_t step : stride) {
    check(step >= 0, ErrorCode::kInvalidArgument, "as_strided",
          "strides must not be negative, got ", stride, '.');
  }
  const auto capacity =
      static_cast<std::int64_t>(input.storage()->bytes() / item_size(input.dtype()));
  check(offset >= 0 && (numel(size) == 0 || offset + storage_extent(size, stride) <= capacity),
        ErrorCode::kIndexOutOfRange, "as_strided", "size ", size, " with strides ", stride,
        " and offset ", offset, " is out of bounds for storage of ", capacity, " elements.");
  return record_view<AsStrided>(
      input, size, stride, offset,
      {input.shape(), input.strides(), size, stride, offset - input.offset()});
}

GradList AsStrided::backward(const Backward<AsStrided>& b) {
  return {as_strided_gradient(b.grad(), b.attrs())};
}

Tensor as_strided_gradient(const Tensor& grad, const AsStrided::Attrs& geometry) {
  return StridedScatter::call(grad, geometry);
}

namespace math {

Tensor as_strided(const Tensor& t, const Shape& shape, const Strides& strides,
                  std::int64_t offset) {
  return AsStrided::call(t, shape, strides, t.offset() + offset);
}

IntrusivePtr<Node> as_strided_node(const Tensor& base, const Tensor& view) {
  return make_intrusive<FunctionNode<AsStrided>>(
      EdgeList{}, AsStrided::Attrs{base.shape(), base.strides(), view.shape(), view.strides(),
                                   view.offset() - base.offset()});
}

}  // namespace math
}  // namespace eg
