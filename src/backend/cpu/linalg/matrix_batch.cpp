#include "backend/cpu/linalg/matrix_batch.h"

#include "runtime/thread_pool.h"

namespace eg::cpu {
void report(const kernel::Breakdown& breakdown, std::int64_t matrix, std::int64_t order) {
  if (breakdown.matrix) *breakdown.matrix.as<std::int64_t>() = matrix;
  if (breakdown.order) *breakdown.order.as<std::int64_t>() = order;
}

void for_each_matrix(std::int64_t count, std::int64_t work, const kernel::Breakdown& breakdown,
                     const std::function<std::int64_t(std::int64_t)>& factorize) {
  std::vector<std::int64_t> bad(checked_count(count));
  const std::int64_t grain = kMinElementsPerTask / std::max(std::int64_t{1}, work) + 1;
  parallel_for(0, count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) bad[static_cast<std::size_t>(i)] = factorize(i);
  });
  const auto first = std::find_if(bad.begin(), bad.end(), [](std::int64_t o) { return o != 0; });
  if (first == bad.end())
    report(breakdown);
  else
    report(breakdown, first - bad.begin(), *first);
}

}  // namespace eg::cpu
