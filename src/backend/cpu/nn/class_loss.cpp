#include "kernels/class_loss.h"

#include <array>

#include "backend/cpu/nn/softmax_rows.h"
#include "kernels/reduce.h"

namespace eg::cpu {
namespace {

using kernel::ClassTargets;

template <class T>
class Problem {
 public:
  explicit Problem(const ClassTargets& targets)
      : targets_(targets),
        rows_(targets.rows),
        index_(targets.index.as<std::int64_t>()),
        weight_(targets.weight.as<T>()),
        share_(targets.smoothing / static_cast<double>(targets.rows.size)) {
    if (weight_ == nullptr) total_weight_ = static_cast<double>(rows_.size);
    // If there are no positions there are no scores either, and the number of classes may be too
    // large to iterate over.
    else if (share_ != 0)
      for (std::int64_t c = 0; c < rows_.size; ++c) total_weight_ += weight(c);
  }

  void nll(const T* log_probabilities, T* losses) const {
    for_each_position([&](std::int64_t n, std::int64_t first) {
      const std::int64_t t = target(n);
      losses[n] = is_ignored(t)
                      ? T{0}
                      : static_cast<T>(-weight(t) * log_probabilities[first + t * rows_.inner]);
    });
  }

  void distribution(T* out) const {
    for_each_position([&](std::int64_t n, std::int64_t first) {
      const std::int64_t t = target(n);
      for (std::int64_t c = 0; c < rows_.size; ++c) {
        out[first + c * rows_.inner] = is_ignored(t) ? T{0} : static_cast<T>(share_ * weight(c));
      }
      if (!is_ignored(t)) out[first + t * rows_.inner] += static_cast<T>(target_share(t));
    });
  }

  void forward(const T* x, T* losses, T* largest, T* log_sum) const {
    const std::int64_t block = rows_.size * rows_.inner;
    for_each_row(
        rows_,
        [&](std::int64_t n) {
          const T* row = x + n * block;
          largest[n] = largest_of(row, rows_.size);
          log_sum[n] = log_sum_exp(row, rows_.size, largest[n]);
          losses[n] = loss(row, n, largest[n], log_sum[n]);
        },
        [&](std::int64_t o, std::int64_t begin, std::int64_t end) {
          const std::int64_t n = o * rows_.inner;
          for_each_vector<T>(begin, end, [&](auto at) {
            const Vec<T> m = largest_of_columns<T>(at, x + o * block, rows_);
            at.store(largest + n, m);
            at.store(log_sum + n, log_sum_exp_columns<T>(at, x + o * block, rows_, m));
          });
          for (std::int64_t i = begin; i < end; ++i) {
            losses[n + i] = loss(x + o * block + i, n + i, largest[n + i], log_sum[n + i]);
          }
        });
  }

  void backward(const T* x, const T* largest, const T* log_sum, const T* grad,
                std::int64_t grad_step, double scale, T* out) const {
    const std::int64_t block = rows_.size * rows_.inner;
    const auto grad_at = [&](std::int64_t n) {
      return scale * static_cast<double>(grad[n * grad_step]);
    };
    for_each_row(
        rows_,
        [&](std::int64_t n) {
          const std::int64_t t = target(n);
          T* row = out + n * block;
          if (is_ignored(t)) {
            std::fill_n(row, rows_.size, T{0});
            return;
          }
          const double g = grad_at(n);
          const auto all = static_cast<T>(g * (target_share(t) + share_ * total_weight_));
          const Vec<T> factor = splat(all);
          const Vec<T> m = splat(largest[n]);
          const Vec<T> s = splat(log_sum[n]);
          for_each_vector<T>(0, rows_.size, [&](auto at) {
            at.store(row, factor * exp_at<T>(at, at.load(x + n * block) - m - s));
          });
          subtract_target(row, t, g);
        },
        [&](std::int64_t o, std::int64_t begin, std::int64_t end) {
          const std::int64_t n = o * rows_.inner;
          for_each_vector<T>(begin, end, [&](auto at) {
            std::array<T, kLanes<T>> all{};
            for (std::size_t lane = 0; lane < at.count; ++lane) {
              const std::int64_t position = n + at.begin + static_cast<std::int64_t>(lane);
              const std::int64_t t = target(position);
              if (is_ignored(t)) continue;
              all[lane] =
                  static_cast<T>(grad_at(position) * (target_share(t) + share_ * total_weight_));
            }
            const Vec<T> factor = std::bit_cast<Vec<T>>(all);
            const Vec<T> m = at.load(largest + n);
            const Vec<T> s = at.load(log_sum + n);
            for (std::int64_t i = o * block; i < (o + 1) * block; i += rows_.inner) {
              at.store(out + i, factor * vec_exp(at.load(x + i) - m - s));
            }
          });
          for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t t = target(n + i);
            if (!is_ignored(t)) subtract_target(out + o * block + i, t, grad_at(n + i));
          }
        });
  }

 private:
  std::int64_t target(std::int64_t n) const { return index_[n]; }
  bool is_ignored(std::int64_t t) const { return t == targets_.ignore_index; }
  double weight(std::int64_t c) const {
    return weight_ == nullptr ? 1 : static_cast<double>(weight_[c]);
  }
  // The share of the distribution assigned to the target class in addition to smoothing.
  double target_share(std::int64_t t) const { return (1 - targets_.smoothing) * weight(t); }

  // Calls visit(position, offset of its first class).
  template <class Visit>
  void for_each_position(Visit&& visit) const {
    for (std::int64_t n = 0; n < rows_.positions(); ++n) {
      visit(n, n / rows_.inner * rows_.size * rows_.inner + n % rows_.inner);
    }
  }

  T loss(const T* x, std::int64_t n, T largest, T log_sum) const {
    const std::int64_t t = target(n);
    if (is_ignored(t)) return T{0};
    const auto cost = [&](std::int64_t c) {
      return static_cast<double>(log_sum) - static_cast<double>(x[c * rows_.inner] - largest);
    };
    double result = target_share(t) * cost(t);
    if (share_ != 0) {
      double smooth = 0;
      for (std::int64_t c = 0; c < rows_.size; ++c) smooth += weight(c) * cost(c);
      result += share_ * smooth;
    }
    return static_cast<T>(result);
  }

  void subtract_target(T* row, std::int64_t t, double g) const {
    row[t * rows_.inner] -= static_cast<T>(g * target_share(t));
    if (share_ == 0) return;
    for (std::int64_t c = 0; c < rows_.size; ++c)
      row[c * rows_.inner] -= static_cast<T>(g * share_ * weight(c));
  }

  const ClassTargets& targets_;
  const Rows& rows_;
  const std::int64_t* index_;
  const T* weight_;
  double share_;  // of every class, due to label smoothing
  double total_weight_ = 0;
};

template <class Body>
void visit_problem(const ClassTargets& targets, DType dtype, Body&& body) {
  visit_floating(dtype, "cross_entropy",
                 [&]<class T>() { body.template operator()<T>(Problem<T>(targets)); });
}

}  // namespace
}  // namespace eg::cpu

namespace eg::kernel {

using cpu::Problem;

void FindBadTarget::compute_on_cpu() const {
  const auto* const begin = targets.index.as<std::int64_t>();
  const auto* const end = begin + targets.rows.positions();
  const auto* const found = std::find_if(begin, end, [&](std::int64_t t) {
    return t != targets.ignore_index && (t < 0 || t >= targets.rows.size);
  });
  check(found == end, ErrorCode::kIndexOutOfRange, op, "target ", found == end ? 0 : *found,
        " is not a class: there are ", targets.rows.size, " classes.");
  if (checked) std::copy(begin, end, checked.as<std::int64_t>());
}

void MeanLoss::compute_on_cpu() const {
  const auto* const index = targets.index.as<std::int64_t>();
  const std::int64_t count = targets.rows.positions();
  double total = 0;
  visit_floating(losses.dtype(), name, [&]<class T>() {
    const T* weight = targets.weight.as<T>();
    for (std::int64_t n = 0; n < count; ++n) {
      const std::int64_t t = index[n];
      if (t != targets.ignore_index)
        total += weight == nullptr ? 1 : static_cast<double>(weight[t]);
    }
    *total_weight.as<T>() = static_cast<T>(total);
  });
  const Reduction sum{.fold = Fold::kSum, .compute = losses.dtype(), .divisor = total};
  Reduce{sum, {count}, {0}, losses, {1}, {}, mean}.compute_on_cpu();
}

void NllLosses::compute_on_cpu() const {
  cpu::visit_problem(targets, losses.dtype(), [&]<class T>(const Problem<T>& problem) {
    problem.nll(log_probabilities.as<T>(), losses.as<T>());
  });
}

void TargetDistribution::compute_on_cpu() const {
  cpu::visit_problem(targets, distribution.dtype(), [&]<class T>(const Problem<T>& problem) {
    problem.distribution(distribution.as<T>());
  });
}

void CrossEntropy::compute_on_cpu() const {
  cpu::visit_problem(targets, scores.dtype(), [&]<class T>(const Problem<T>& problem) {
    problem.forward(scores.as<T>(), losses.as<T>(), largest.as<T>(), log_sum.as<T>());
  });
}

void CrossEntropyBackward::compute_on_cpu() const {
  cpu::visit_problem(targets, scores.dtype(), [&]<class T>(const Problem<T>& problem) {
    const double total = total_weight ? static_cast<double>(*total_weight.as<T>()) : 1;
    const double scale = total == 0 ? 0 : 1 / total;
    problem.backward(scores.as<T>(), largest.as<T>(), log_sum.as<T>(), grad.as<T>(), grad_step,
                     scale, grad_scores.as<T>());
  });
}

}  // namespace eg::kernel
