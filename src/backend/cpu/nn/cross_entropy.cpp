#include "backend/cpu/nn/cross_entropy.h"

#include <array>

#include "backend/cpu/nn/softmax_rows.h"

namespace eg::cpu {
namespace {

template <class T>
class Problem {
 public:
  explicit Problem(const ClassTargets& targets)
      : targets_(targets),
        rows_(targets.rows),
        weight_(static_cast<const T*>(targets.weight)),
        share_(targets.smoothing / static_cast<double>(targets.rows.size)) {
    if (weight_ == nullptr) total_weight_ = static_cast<double>(rows_.size);
    // Classes without a position have no scores: there may be more of them than can be counted.
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
      if (!is_ignored(t)) out[first + t * rows_.inner] += static_cast<T>(hit(t));
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
          const auto all = static_cast<T>(g * (hit(t) + share_ * total_weight_));
          for_each_vector<T>(0, rows_.size, [&](auto at) {
            at.store(row, all * vec_exp(at.load(x + n * block) - largest[n] - log_sum[n]));
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
              all[lane] = static_cast<T>(grad_at(position) * (hit(t) + share_ * total_weight_));
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
  std::int64_t target(std::int64_t n) const { return targets_.index[n]; }
  bool is_ignored(std::int64_t t) const { return t == targets_.ignore_index; }
  double weight(std::int64_t c) const {
    return weight_ == nullptr ? 1 : static_cast<double>(weight_[c]);
  }
  // The part of the distribution that the target alone has.
  double hit(std::int64_t t) const { return (1 - targets_.smoothing) * weight(t); }

  // Calls visit(position, offset of its first class).
  template <class Visit>
  void for_each_position(Visit&& visit) const {
    for (std::int64_t n = 0; n < targets_.positions(); ++n) {
      visit(n, n / rows_.inner * rows_.size * rows_.inner + n % rows_.inner);
    }
  }

  T loss(const T* x, std::int64_t n, T largest, T log_sum) const {
    const std::int64_t t = target(n);
    if (is_ignored(t)) return T{0};
    const auto cost = [&](std::int64_t c) {
      return static_cast<double>(log_sum) - static_cast<double>(x[c * rows_.inner] - largest);
    };
    double result = hit(t) * cost(t);
    if (share_ != 0) {
      double smooth = 0;
      for (std::int64_t c = 0; c < rows_.size; ++c) smooth += weight(c) * cost(c);
      result += share_ * smooth;
    }
    return static_cast<T>(result);
  }

  void subtract_target(T* row, std::int64_t t, double g) const {
    row[t * rows_.inner] -= static_cast<T>(g * hit(t));
    if (share_ == 0) return;
    for (std::int64_t c = 0; c < rows_.size; ++c)
      row[c * rows_.inner] -= static_cast<T>(g * share_ * weight(c));
  }

  const ClassTargets& targets_;
  const Rows& rows_;
  const T* weight_;
  double share_;  // of every class, by smoothing
  double total_weight_ = 0;
};

template <class Body>
void visit_problem(const ClassTargets& targets, Body&& body) {
  visit_floating(targets.rows.dtype, "cross_entropy",
                 [&]<class T>() { body.template operator()<T>(Problem<T>(targets)); });
}

}  // namespace

std::int64_t find_bad_target(const ClassTargets& targets) {
  const std::int64_t* const end = targets.index + targets.positions();
  const std::int64_t* const bad = std::find_if(targets.index, end, [&](std::int64_t t) {
    return t != targets.ignore_index && (t < 0 || t >= targets.rows.size);
  });
  return bad == end ? targets.ignore_index : *bad;
}

double target_weight(const ClassTargets& targets) {
  double sum = 0;
  visit_floating(targets.rows.dtype, "cross_entropy", [&]<class T>() {
    const T* weight = static_cast<const T*>(targets.weight);
    for (std::int64_t n = 0; n < targets.positions(); ++n) {
      const std::int64_t t = targets.index[n];
      if (t != targets.ignore_index) sum += weight == nullptr ? 1 : static_cast<double>(weight[t]);
    }
  });
  return sum;
}

void nll_losses(const ClassTargets& targets, const void* log_probabilities, void* losses) {
  visit_problem(targets, [&]<class T>(const Problem<T>& problem) {
    problem.nll(static_cast<const T*>(log_probabilities), static_cast<T*>(losses));
  });
}

void target_distribution(const ClassTargets& targets, void* out) {
  visit_problem(targets, [&]<class T>(const Problem<T>& problem) {
    problem.distribution(static_cast<T*>(out));
  });
}

void cross_entropy(const ClassTargets& targets, const void* scores, void* losses, void* largest,
                   void* log_sum) {
  visit_problem(targets, [&]<class T>(const Problem<T>& problem) {
    problem.forward(static_cast<const T*>(scores), static_cast<T*>(losses),
                    static_cast<T*>(largest), static_cast<T*>(log_sum));
  });
}

void cross_entropy_backward(const ClassTargets& targets, const void* scores, const void* largest,
                            const void* log_sum, const void* grad, std::int64_t grad_step,
                            double scale, void* out) {
  visit_problem(targets, [&]<class T>(const Problem<T>& problem) {
    problem.backward(static_cast<const T*>(scores), static_cast<const T*>(largest),
                     static_cast<const T*>(log_sum), static_cast<const T*>(grad), grad_step, scale,
                     static_cast<T*>(out));
  });
}

}  // namespace eg::cpu
