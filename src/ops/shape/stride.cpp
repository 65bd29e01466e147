#include "ops/shape/stride.h"

#include <algorithm>
#include <cstdlib>

#include "autograd/tensor_math.h"
#include "dispatch/factories.h"
#include "dispatch/transfer.h"
#include "dispatch/var.h"
#include "ops/complex/complex.h"
#include "ops/create/copy.h"

namespace eg {
namespace {

// Adds every element of `grad` to the element of `flat` from which the view element was read.
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

// The positions of the input and the view of as_strided in a buffer just large enough for both.
struct BufferLayout {
  explicit BufferLayout(const AsStrided::Attrs& g) {
    const std::int64_t input_extent = storage_extent(g.input_shape, g.input_strides);
    const std::int64_t view_extent = storage_extent(g.shape, g.strides);
    // If both are empty, the offset is not used and may be huge.
    if (input_extent == 0 && view_extent == 0) return;
    (g.offset < 0 ? input : view) = std::abs(g.offset);
    size = std::max({size, input + input_extent, view + view_extent});
  }
  std::int64_t input = 0;  ///< the position of the input's first element
  std::int64_t view = 0;
  std::int64_t size = 1;
};

struct StridedScatter {
  static constexpr op::Doc doc{"as_strided_scatter_add", "The gradient of as_strided."};
  struct Attrs {
    AsStrided::Attrs geometry;
  };
  static Tensor call(const Tensor& grad, const AsStrided::Attrs& geometry);
  static GradList backward(const Backward<StridedScatter>& b) {
    // Uses a buffer for both input and view, because neither needs to contain the other.
    const AsStrided::Attrs& g = b.attrs().geometry;
    const BufferLayout buffer(g);
    const Tensor flat =
        call(b.grad(), {{buffer.size}, {1}, g.input_shape, g.input_strides, buffer.input});
    return {AsStrided::call(flat, g.shape, g.strides, buffer.view)};
  }
};

Tensor StridedScatter::call(const Tensor& grad, const AsStrided::Attrs& geometry) {
  const BufferLayout buffer(geometry);
  const Tensor flat = full({buffer.size}, 0, grad.dtype(), grad.device());
  if (is_injective(geometry.shape, geometry.strides)) {
    copy_data(flat.alias(geometry.shape, geometry.strides, buffer.view), grad);
  } else {
    const Tensor host = on_host(flat);
    visit_any_dtype(grad.dtype(), [&]<class T>() {
      scatter_add<T>(host, on_host(grad), geometry.strides, buffer.view);
    });
    if (!flat.is_same(host)) copy_data(flat, host);
  }
  const Tensor result = flat.alias(geometry.input_shape, geometry.input_strides, buffer.input);
  return record<StridedScatter>(result, {grad}, {geometry});
}

}  // namespace

Tensor AsStrided::call(const Tensor& input, const Dims& size, const Dims& stride,
                       std::optional<std::int64_t> storage_offset) {
  check(size.size() == stride.size(), ErrorCode::kInvalidArgument, "as_strided",
        "size and stride must have the same length, got ", size, " and ", stride, '.');
  const std::int64_t offset = storage_offset.value_or(input.offset());
  check_shape(size);
  for (const std::int64_t step : stride) {
    check(step >= 0, ErrorCode::kInvalidArgument, "as_strided",
          "strides must not be negative, got ", stride, '.');
  }
  const auto capacity =
      static_cast<std::int64_t>(input.storage()->bytes() / item_size(input.dtype()));
  check(offset >= 0 && view_fits(size, stride, offset, capacity), ErrorCode::kIndexOutOfRange,
        "as_strided", "size ", size, " with strides ", stride, " and offset ", offset,
        " does not fit the storage of ", capacity, " elements.");
  return record_view<AsStrided>(
      input, size, stride, offset,
      {input.shape(), input.strides(), size, stride, offset - input.offset()});
}

GradList AsStrided::backward(const Backward<AsStrided>& b) {
  const Attrs& attrs = b.attrs();
  const Tensor grad = attrs.view_is_complex ? ViewAsReal::call(b.grad()) : b.grad();
  const Tensor result = as_strided_gradient(grad, attrs);
  return {attrs.input_is_complex ? ViewAsComplex::call(result) : result};
}

Tensor as_strided_gradient(const Tensor& grad, const AsStrided::Attrs& geometry) {
  if (is_stored(grad.dtype())) {
    const Tensor wide = ToDType::call(grad, computed_dtype(grad.dtype()));
    return ToDType::call(as_strided_gradient(wide, geometry), grad.dtype());
  }
  if (is_injective(geometry.input_shape, geometry.input_strides)) {
    return StridedScatter::call(grad, geometry);
  }
  // Elements of the input that share a memory location share its gradient.
  const BufferLayout buffer(geometry);
  const auto scatter = [&](const Tensor& t, const Strides& strides, std::int64_t offset) {
    return StridedScatter::call(t, {{buffer.size}, {1}, t.shape(), strides, offset});
  };
  const Tensor ones = full(geometry.input_shape, 1, grad.dtype(), grad.device());
  const Tensor counts = scatter(ones, geometry.input_strides, buffer.input);
  const Var share = scatter(grad, geometry.strides, buffer.view) / maximum(counts, 1);
  return AsStrided::call(share, geometry.input_shape, geometry.input_strides, buffer.input);
}

namespace math {

ViewGeometry::ViewGeometry(const Tensor& base, const Tensor& view)
    : dtype(view.dtype()), shape(view.shape()), strides(view.strides()) {
  const bool differ = is_complex(base.dtype()) != is_complex(view.dtype());
  const auto position = [&](const Tensor& t) {
    return differ && is_complex(t.dtype()) ? 2 * t.offset() : t.offset();
  };
  offset = position(view) - position(base);
}

Tensor view_part(const Tensor& t, const ViewGeometry& view) {
  if (is_complex(t.dtype()) == is_complex(view.dtype)) {
    return AsStrided::call(t, view.shape, view.strides, t.offset() + view.offset);
  }
  if (is_complex(t.dtype())) {
    const Tensor parts = ViewAsReal::call(t);
    return AsStrided::call(parts, view.shape, view.strides, parts.offset() + view.offset);
  }
  const PairGeometry pairs(view.shape, view.strides);
  return ViewAsComplex::call(
      AsStrided::call(t, pairs.shape, pairs.strides, t.offset() + view.offset));
}

IntrusivePtr<Node> view_part_node(const Tensor& base, const Tensor& view) {
  const ViewGeometry geometry(base, view);
  AsStrided::Attrs attrs{base.shape(), base.strides(), geometry.shape, geometry.strides,
                         geometry.offset};
  if (is_complex(base.dtype()) != is_complex(view.dtype())) {
    attrs.input_is_complex = is_complex(base.dtype());
    attrs.view_is_complex = !attrs.input_is_complex;
    Shape& shape = attrs.input_is_complex ? attrs.input_shape : attrs.shape;
    Strides& strides = attrs.input_is_complex ? attrs.input_strides : attrs.strides;
    const PairGeometry pairs(shape, strides);
    shape = pairs.shape;
    strides = pairs.strides;
  }
  return make_intrusive<FunctionNode<AsStrided>>(EdgeList{}, std::move(attrs));
}

}  // namespace math
}  // namespace eg
