#include "kernels/distinct.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "backend/cpu/index/entries.h"
#include "base/checked_int.h"

namespace eg::cpu {
namespace {

// Collects runs of equal elements as the elements arrive in order. Records the first element of
// each run and, until finish(), where the run starts.
class Runs {
 public:
  explicit Runs(const kernel::FindDistinct& call)
      : firsts_(call.firsts.as<std::int64_t>()),
        starts_(call.counts.as<std::int64_t>()),
        inverse_(call.inverse ? call.inverse.as<std::int64_t>() : nullptr) {}

  /// Adds the next element, whose index is `index`.
  void add(std::int64_t index, bool is_first_of_run) {
    // Written unconditionally: a branch would be mispredicted.
    firsts_[number_] = index;
    starts_[number_] = size_++;
    number_ += is_first_of_run ? 1 : 0;
    if (inverse_ != nullptr) inverse_[index] = number_ - 1;
  }

  /// Turns the starts of the runs into their lengths and returns the number of runs.
  std::int64_t finish() {
    for (std::int64_t run = 0; run + 1 < number_; ++run)
      starts_[run] = starts_[run + 1] - starts_[run];
    starts_[number_ - 1] = size_ - starts_[number_ - 1];
    return number_;
  }

 private:
  std::int64_t* firsts_;
  std::int64_t* starts_;
  std::int64_t* inverse_;
  std::int64_t number_ = 0;
  std::int64_t size_ = 0;
};

std::int64_t find_consecutive(const kernel::FindDistinct& call) {
  Runs runs(call);
  visit_dtype(call.x.dtype(), [&]<class T>() {
    const T* x = call.x.as<T>();
    runs.add(0, true);
    for (std::int64_t i = 1; i < call.size; ++i) runs.add(i, x[i] != x[i - 1]);
  });
  return runs.finish();
}

std::int64_t find_by_order(const kernel::FindDistinct& call) {
  Entries entries(checked_count(call.size));
  load_entries(call.x, {0, 1}, 0, call.size, false, entries.data());
  sort_entries(entries);
  const std::uint64_t nan = key_of_nan(call.x.dtype());
  Runs runs(call);
  std::uint64_t last = ~entries.front().key;
  for (const Entry& entry : entries) {
    runs.add(entry.index, entry.key != last || (nan != 0 && entry.key == nan));
    last = entry.key;
  }
  return runs.finish();
}

// An entry of the table of all values between the smallest and the largest one.
struct Value {
  std::int64_t first;
  std::int64_t count;
};

template <class T>
std::int64_t find_in_table(const kernel::FindDistinct& call, T least, std::int64_t values) {
  const T* x = call.x.as<T>();
  const auto slot = [&](std::int64_t i) {
    return static_cast<std::size_t>(static_cast<std::int64_t>(x[i]) -
                                    static_cast<std::int64_t>(least));
  };
  std::vector<Value> table(static_cast<std::size_t>(values));
  // Backwards, so that the first occurrence is written last.
  for (std::int64_t i = call.size; i-- > 0;) {
    Value& value = table[slot(i)];
    value.first = i;
    ++value.count;
  }
  std::int64_t number = 0;
  for (Value& value : table) {
    if (value.count == 0) continue;
    call.firsts.as<std::int64_t>()[number] = value.first;
    call.counts.as<std::int64_t>()[number] = value.count;
    value.first = number++;
  }
  if (call.inverse) {
    for (std::int64_t i = 0; i < call.size; ++i)
      call.inverse.as<std::int64_t>()[i] = table[slot(i)].first;
  }
  return number;
}

std::int64_t find_distinct(const kernel::FindDistinct& call) {
  // A table with at most this many values per element is faster than sorting.
  constexpr std::int64_t kMostPerElement = 2;
  constexpr std::int64_t kSmallTable = 256;
  return visit_dtype(call.x.dtype(), [&]<class T>() {
    if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::int32_t>) {
      const T* x = call.x.as<T>();
      const auto [least, most] = std::minmax_element(x, x + call.size);
      const std::uint64_t range =
          static_cast<std::uint64_t>(*most) - static_cast<std::uint64_t>(*least);
      const std::int64_t limit = std::max(kSmallTable, kMostPerElement * call.size);
      if (range < static_cast<std::uint64_t>(limit))
        return find_in_table<T>(call, *least, static_cast<std::int64_t>(range) + 1);
    }
    return find_by_order(call);
  });
}

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

void FindDistinct::compute_on_cpu() const {
  *number.as<std::int64_t>() =
      consecutive ? cpu::find_consecutive(*this) : cpu::find_distinct(*this);
}

}  // namespace eg::kernel
