#include "ops/index/distinct.h"

#include "dispatch/factories.h"
#include "kernels/distinct.h"
#include "ops/create/copy.h"
#include "ops/shape/slice.h"

namespace eg {
namespace {

Tensor numbers(std::int64_t count, Device device) {
  return Tensor::empty({count}, DType::kInt64, device);
}

// The first `count` elements; a copy unless those are all.
Tensor kept(const Tensor& all, std::int64_t count) {
  if (count == all.numel()) return all;
  const Tensor result = numbers(count, all.device());
  copy_data(result, Narrow::call(all, 0, 0, count));
  return result;
}

}  // namespace

TensorList DistinctElements::call(const Tensor& input, bool consecutive, bool with_inverse) {
  const Tensor x = packed(detach(input));
  const std::int64_t size = x.numel();
  const Tensor firsts = numbers(size, x.device());
  const Tensor counts = numbers(size, x.device());
  const Tensor inverse = numbers(with_inverse ? size : 0, x.device());
  std::int64_t number = 0;
  if (size > 0) {
    run(kernel::FindDistinct{consecutive, size, x.memory(), firsts.memory(), counts.memory(),
                             with_inverse ? kernel::Out(inverse.memory()) : kernel::OptionalOut(),
                             kernel::host_number(number)});
  }
  return {kept(firsts, number), inverse, kept(counts, number)};
}

}  // namespace eg
