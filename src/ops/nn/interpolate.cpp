#include "ops/nn/interpolate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "dispatch/factories.h"
#include "dispatch/transfer.h"
#include "dispatch/var.h"
#include "ops/create/copy.h"
#include "ops/index/index.h"
#include "ops/index/index_args.h"
#include "ops/nn/pool.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"

namespace eg {
namespace {

// One of the input elements that each result element is computed from: an index and a weight for
// each result position.
struct Tap {
  std::vector<std::int64_t> index;
  std::vector<double> weight;
};

// How the positions along a dimension of the result are mapped to the input.
struct Axis {
  std::int64_t in;
  std::int64_t out;
  double scale;  ///< input positions per result position
  bool align_corners;
};

double source(const Axis& axis, std::int64_t position) {
  const auto i = static_cast<double>(position);
  return axis.align_corners ? i * axis.scale : (i + 0.5) * axis.scale - 0.5;
}

// Computed in the precision of the tensor, as in PyTorch: a product that rounds to just below an
// integer selects another element.
template <class T>
std::int64_t nearest_index(const Axis& axis, std::int64_t position, bool exact) {
  const T at = (static_cast<T>(position) + (exact ? T{0.5} : T{0})) * static_cast<T>(axis.scale);
  return std::min(static_cast<std::int64_t>(std::floor(at)), axis.in - 1);
}

std::vector<Tap> linear_taps(const Axis& axis) {
  std::vector<Tap> taps(2);
  for (std::int64_t i = 0; i < axis.out; ++i) {
    const double at = std::max(0.0, source(axis, i));
    const std::int64_t low = std::min(static_cast<std::int64_t>(at), axis.in - 1);
    const double share = std::clamp(at - static_cast<double>(low), 0.0, 1.0);
    taps[0].index.push_back(low);
    taps[0].weight.push_back(1 - share);
    taps[1].index.push_back(std::min(low + 1, axis.in - 1));
    taps[1].weight.push_back(share);
  }
  return taps;
}

// Cubic convolution with a = -0.75: near for distances up to 1, far for those up to 2.
double cubic_near(double x) { return (1.25 * x - 2.25) * x * x + 1; }
double cubic_far(double x) { return ((-0.75 * x + 3.75) * x - 6) * x + 3; }

std::vector<Tap> cubic_taps(const Axis& axis) {
  std::vector<Tap> taps(4);
  for (std::int64_t i = 0; i < axis.out; ++i) {
    const double at = source(axis, i);
    const double floor = std::floor(at);
    const double t = at - floor;
    const std::array<double, 4> weights{cubic_far(t + 1), cubic_near(t), cubic_near(1 - t),
                                        cubic_far(2 - t)};
    for (std::size_t k = 0; k < 4; ++k) {
      const std::int64_t position =
          static_cast<std::int64_t>(floor) + static_cast<std::int64_t>(k) - 1;
      taps[k].index.push_back(std::clamp<std::int64_t>(position, 0, axis.in - 1));
      taps[k].weight.push_back(weights[k]);
    }
  }
  return taps;
}

Tensor resample_nearest(const Tensor& input, std::int64_t dim, const Axis& axis, bool exact) {
  std::vector<std::int64_t> index;
  index.reserve(checked_count(axis.out));
  for (std::int64_t i = 0; i < axis.out; ++i) {
    index.push_back(input.dtype() == DType::kFloat64 ? nearest_index<double>(axis, i, exact)
                                                     : nearest_index<float>(axis, i, exact));
  }
  return IndexSelect::call(input, dim, index_tensor(index, input.device()));
}

Tensor resample(const Tensor& input, std::int64_t dim, const std::vector<Tap>& taps) {
  Shape shape(static_cast<std::size_t>(input.ndim()), 1);
  shape[static_cast<std::size_t>(dim)] = static_cast<std::int64_t>(taps[0].index.size());
  std::optional<Var> sum;
  for (const Tap& tap : taps) {
    const Tensor weight = Tensor::empty(shape, input.dtype());
    visit_floating(input.dtype(), "interpolate", [&]<class T>() {
      std::transform(tap.weight.begin(), tap.weight.end(), weight.data_as<T>(),
                     [](double w) { return static_cast<T>(w); });
    });
    const Var term = IndexSelect::call(input, dim, index_tensor(tap.index, input.device())) *
                     moved(weight, input.device());
    sum = sum ? *sum + term : term;
  }
  return sum->tensor();
}

bool is_nearest(InterpolateMode mode) {
  return mode == InterpolateMode::kNearest || mode == InterpolateMode::kNearestExact;
}

// Means of windows. One dimension is treated as a plane of one row, and the mean of a box is the
// mean of the means of its planes.
Tensor resample_area(const Tensor& input, const std::vector<Axis>& axes) {
  if (axes.size() == 2) return AdaptiveAvgPool2d::call(input, {axes[0].out, axes[1].out});
  if (axes.size() == 3) {
    const std::int64_t images = input.size(0);
    const std::int64_t channels = input.size(1);
    const auto& [depth, rows, columns] = std::array{axes[0], axes[1], axes[2]};
    const Tensor planes = AdaptiveAvgPool2d::call(
        Reshape::call(input, {images, channels * depth.in, rows.in, columns.in}),
        {rows.out, columns.out});
    const Tensor stacked =
        Reshape::call(planes, {images, channels, depth.in, rows.out * columns.out});
    return Reshape::call(AdaptiveAvgPool2d::call(stacked, {depth.out, rows.out * columns.out}),
                         {images, channels, depth.out, rows.out, columns.out});
  }
  const Tensor planes = Unsqueeze::call(input, -2);
  return Squeeze::call(AdaptiveAvgPool2d::call(planes, {1, axes[0].out}), Dims{-2});
}

// For a tensor without images or channels, the result may have too many positions to list taps for.
Tensor without_elements(Tensor input, const Shape& shape) {
  for (std::int64_t d = 2; d < input.ndim(); ++d) input = Narrow::call(input, d, 0, 1);
  return Clone::call(Expand::call(input, Dims(shape.begin(), shape.end())));
}

// The number of spatial dimensions a mode is for.
std::int64_t spatial_dims(InterpolateMode mode) {
  if (mode == InterpolateMode::kLinear) return 1;
  return mode == InterpolateMode::kTrilinear ? 3 : 2;
}

void check_mode(const Tensor& input, InterpolateMode mode, std::optional<bool> align_corners) {
  constexpr std::string_view op = Interpolate::doc.name;
  const std::string_view name = enum_names(mode)[static_cast<std::size_t>(mode)];
  check(input.ndim() >= 3 && input.ndim() <= 5 &&
            (is_nearest(mode) || input.ndim() == spatial_dims(mode) + 2 ||
             mode == InterpolateMode::kArea),
        ErrorCode::kInvalidArgument, op, "mode '", name, "' does not support an input of ",
        input.ndim(), " dimensions.");
  check(!(is_nearest(mode) || mode == InterpolateMode::kArea) || !align_corners.has_value(),
        ErrorCode::kInvalidArgument, op, "alignCorners requires a linear or cubic mode.");
}

// A number for each spatial dimension, from a list or from a single number for all.
template <class List>
List per_dimension(const List& given, std::size_t spatial, std::string_view name) {
  if (given.size() == 1) return List(spatial, given[0]);
  check(given.size() == spatial, ErrorCode::kInvalidArgument, Interpolate::doc.name, name,
        " must be one number or one for each of ", spatial, " spatial dimensions, got ",
        given.size(), '.');
  return given;
}

std::vector<Axis> make_axes(const Tensor& input, const std::optional<Dims>& size,
                            const std::optional<Numbers>& scale_factor, bool align_corners,
                            bool recompute) {
  constexpr std::string_view op = Interpolate::doc.name;
  check(!size || !scale_factor, ErrorCode::kInvalidArgument, op,
        "size and scaleFactor cannot be combined.");
  check(size || scale_factor, ErrorCode::kInvalidArgument, op, "size or scaleFactor is required.");
  check(!recompute || !size, ErrorCode::kInvalidArgument, op,
        "size and recomputeScaleFactor cannot be combined.");
  const auto spatial = static_cast<std::size_t>(input.ndim() - 2);
  std::vector<Axis> axes;
  for (std::size_t d = 0; d < spatial; ++d) {
    Axis axis{input.shape()[d + 2], 0, 0, align_corners};
    const auto in = static_cast<double>(axis.in);
    const double factor =
        scale_factor ? per_dimension(*scale_factor, spatial, "scaleFactor")[d] : 0;
    axis.out =
        size ? per_dimension(*size, spatial, "size")[d] : checked_integer(std::floor(in * factor));
    check(axis.in > 0 && axis.out > 0, ErrorCode::kInvalidArgument, op,
          "input and output sizes must be positive, got ", axis.in, " and ", axis.out, '.');
    if (align_corners) {
      axis.scale = axis.out > 1 ? (in - 1) / static_cast<double>(axis.out - 1) : 0;
    } else {
      axis.scale = scale_factor && !recompute ? 1 / factor : in / static_cast<double>(axis.out);
    }
    axes.push_back(axis);
  }
  return axes;
}

}  // namespace

Tensor Interpolate::call(const Tensor& input, const std::optional<Dims>& size,
                         const std::optional<Numbers>& scale_factor, InterpolateMode mode,
                         std::optional<bool> align_corners,
                         std::optional<bool> recompute_scale_factor) {
  check_mode(input, mode, align_corners);
  const std::vector<Axis> axes = make_axes(input, size, scale_factor, align_corners.value_or(false),
                                           recompute_scale_factor.value_or(false));
  Shape shape = input.shape();
  for (std::size_t d = 0; d < axes.size(); ++d) shape[d + 2] = axes[d].out;
  byte_count(shape, input.dtype());
  if (numel(shape) == 0) return without_elements(input, shape);
  if (mode == InterpolateMode::kArea) return resample_area(input, axes);
  Tensor result = input;
  for (std::size_t d = axes.size(); d-- > 0;) {
    const auto dim = static_cast<std::int64_t>(d) + 2;
    if (is_nearest(mode)) {
      result = resample_nearest(result, dim, axes[d], mode == InterpolateMode::kNearestExact);
    } else {
      result =
          resample(result, dim,
                   mode == InterpolateMode::kBicubic ? cubic_taps(axes[d]) : linear_taps(axes[d]));
    }
  }
  return result;
}

}  // namespace eg
