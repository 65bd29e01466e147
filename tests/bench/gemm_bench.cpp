// Measures GEMM and the thread pool against the limits of the machine, and prints one JSON object
// per line. Rounds over all cases are repeated and the best time of each case counts, so a process
// that occupies a core for a while spoils some rounds of every case instead of all rounds of one.
// Compare only numbers from the same run, and judge a product by `of_ceiling`.
//
//   gemm_bench [rounds=N] [threads=N] [only=TEXT]
//
// ceiling.mjs builds it for WebAssembly and lists the sources, which can also be built natively.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/cpu/matrix/gemm/gemm.h"
#include "backend/cpu/matrix/gemm/vector.h"
#include "runtime/thread_pool.h"

namespace {

using namespace eg;
using namespace eg::gemm;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// --- The ceiling: arithmetic on registers only, as in a 6x8 register tile
// --------------------------

constexpr int kSums = 12;
constexpr std::int64_t kCeilingSteps = 20000;

template <class T>
Vector<T> fused(Vector<T> a, Vector<T> b, Vector<T> c) {
  return multiply_add(a, b, c);
}

template <class T>
Vector<T> separate(Vector<T> a, Vector<T> b, Vector<T> c) {
  const Vector<T> product = a * b;
  return product + c;
}

/// Runs kSums independent chains of c = a * b + c: more chains than the latency of the operation
/// times the number of its units, and no load, store or spill inside the loop.
template <class T, Vector<T> (*Operation)(Vector<T>, Vector<T>, Vector<T>)>
[[gnu::noinline]] T ceiling_loop(std::int64_t steps, const T* from) {
  Vector<T> sum[kSums];
  for (int i = 0; i < kSums; ++i) sum[i] = load(from + i * kLanes<T>);
  const Vector<T> a = load(from);
  const Vector<T> b = load(from + kLanes<T>);
  for (std::int64_t step = 0; step < steps; ++step) {
    EG_GEMM_UNROLL
    for (int i = 0; i < kSums; ++i) sum[i] = Operation(a, b, sum[i]);
    // Keeps the compiler from replacing the steps by a closed form.
    asm volatile("" ::: "memory");
  }
  Vector<T> total = sum[0];
  for (int i = 1; i < kSums; ++i) total += sum[i];
  return total[0] + total[1];
}

template <class T, Vector<T> (*Operation)(Vector<T>, Vector<T>, Vector<T>)>
void run_ceiling() {
  static const std::vector<T> numbers(kSums * kLanes<T>, T(1e-3));
  // Called through a volatile pointer; otherwise the wasm optimizer inlines the loop into a
  // function that is entered once and therefore stays in the engine's baseline tier.
  static T (*volatile loop)(std::int64_t, const T*) = ceiling_loop<T, Operation>;
  static volatile T sink;
  sink = loop(kCeilingSteps, numbers.data());
}

template <class T>
constexpr double kCeilingFlops = 2.0 * kSums * kLanes<T> * kCeilingSteps;

// --- Cases
// ----------------------------------------------------------------------------------------

struct Case {
  std::string group;  // matched by only=
  std::string json;   // JSON members that describe the case
  std::string ceiling;
  double flops;  // per run
  int threads;
  std::function<void()> run;
  int repeats = 1;
  double best = 1e30;

  void measure() {
    set_num_threads(threads);
    const double start = seconds();
    for (int i = 0; i < repeats; ++i) run();
    best = std::min(best, (seconds() - start) / repeats);
  }

  /// Chooses `repeats` so that a measurement takes about `wanted` seconds.
  void calibrate(double wanted) {
    set_num_threads(threads);
    run();
    const double start = seconds();
    int runs = 0;
    do {
      run();
      ++runs;
    } while (seconds() - start < wanted);
    repeats = runs;
  }
};

enum class Layout { kNN, kNT, kTN, kTT };

constexpr const char* kLayoutNames[] = {"NN", "NT", "TN", "TT"};

template <class T>
constexpr const char* kTypeName = sizeof(T) == 4 ? "f32" : "f64";

template <class T>
std::vector<T>& numbers(int which) {
  static std::vector<T> buffers[3];
  return buffers[which];
}

template <class T>
Case product(std::int64_t m, std::int64_t n, std::int64_t k, Layout layout, int threads) {
  const auto room = [](int which, std::int64_t count) {
    auto& buffer = numbers<T>(which);
    for (std::size_t i = buffer.size(); i < static_cast<std::size_t>(count); ++i) {
      buffer.push_back(static_cast<T>(i % 7) - T(3));
    }
  };
  room(0, m * k);
  room(1, k * n);
  room(2, m * n);
  Case result;
  result.group = "gemm";
  result.json = std::string("\"bench\":\"gemm\",\"type\":\"") + kTypeName<T> +
                "\",\"m\":" + std::to_string(m) + ",\"n\":" + std::to_string(n) +
                ",\"k\":" + std::to_string(k) + ",\"layout\":\"" +
                kLayoutNames[static_cast<int>(layout)] +
                "\",\"threads\":" + std::to_string(threads);
  result.ceiling = kTypeName<T>;
  result.flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  result.threads = threads;
  result.run = [=] {
    const bool a_transposed = layout == Layout::kTN || layout == Layout::kTT;
    const bool b_transposed = layout == Layout::kNT || layout == Layout::kTT;
    const Matrix<T> a{numbers<T>(0).data(), a_transposed ? 1 : k, a_transposed ? m : 1};
    const Matrix<T> b{numbers<T>(1).data(), b_transposed ? 1 : n, b_transposed ? k : 1};
    gemm::gemm<T>(m, n, k, T(1), a, b, T(0), numbers<T>(2).data(), n);
  };
  return result;
}

template <class T>
Case batch(std::int64_t count, std::int64_t m, std::int64_t n, std::int64_t k, Layout layout,
           int threads) {
  Case result = product<T>(count * m, n, k, layout, threads);
  product<T>(m, count * n, k, layout, threads);
  result.group = "batch";
  result.json = "\"bench\":\"batch\",\"count\":" + std::to_string(count) + "," +
                product<T>(m, n, k, layout, threads).json.substr(15);
  result.run = [=] {
    const Matrix<T> a{numbers<T>(0).data(), k, 1};
    const bool b_transposed = layout == Layout::kNT;
    const Matrix<T> b{numbers<T>(1).data(), b_transposed ? 1 : n, b_transposed ? k : 1};
    batched_gemm<T>(count, m, n, k, T(1), a, m * k, b, k * n, T(0), numbers<T>(2).data(), m * n, n);
  };
  return result;
}

template <class T, Vector<T> (*Operation)(Vector<T>, Vector<T>, Vector<T>)>
Case ceiling(const char* operation, int threads) {
  Case result;
  result.group = "ceiling";
  result.json = std::string("\"bench\":\"ceiling\",\"type\":\"") + kTypeName<T> +
                "\",\"operation\":\"" + operation + "\",\"threads\":" + std::to_string(threads);
  result.flops = kCeilingFlops<T> * threads;
  result.threads = threads;
  result.run = [threads] {
    // One task per thread, none of which waits for another.
    parallel_for(0, threads, 1, [](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) run_ceiling<T, Operation>();
    });
  };
  return result;
}

/// The cost of a parallel_for with an empty body. Calls are `pause_us` apart, so that the other
/// threads are still spinning or already asleep.
Case wake(double pause_us, int threads) {
  Case result;
  result.group = "wake";
  result.json = "\"bench\":\"wake\",\"pause_us\":" + std::to_string(static_cast<int>(pause_us)) +
                ",\"threads\":" + std::to_string(threads);
  result.flops = 0;
  result.threads = threads;
  result.run = [=] {
    const double until = seconds() + pause_us * 1e-6;
    while (pause_us > 0 && seconds() < until) {
    }
    parallel_for(0, threads, 1, [](std::int64_t, std::int64_t) {});
  };
  return result;
}

std::vector<Case> all_cases(int max_threads) {
  std::vector<Case> cases;
  std::vector<int> thread_counts = {1};
  if (max_threads > 1) thread_counts.push_back(max_threads);
  for (const int threads : thread_counts) {
    cases.push_back(ceiling<float, separate<float>>("multiply, add", threads));
    cases.push_back(ceiling<float, fused<float>>("multiply_add", threads));
    cases.push_back(ceiling<double, fused<double>>("multiply_add", threads));
    for (const Layout layout : {Layout::kNN, Layout::kNT, Layout::kTN, Layout::kTT}) {
      for (const std::int64_t n : {64, 96, 128, 192, 256, 384, 512, 1024, 2048}) {
        if (layout != Layout::kTT || n == 512) {
          cases.push_back(product<float>(n, n, n, layout, threads));
        }
      }
      if (layout != Layout::kTT) cases.push_back(product<double>(512, 512, 512, layout, threads));
    }
    // Small depth, as in a transformer: this shows the overhead around the register tile.
    for (const Layout layout : {Layout::kNN, Layout::kNT, Layout::kTN}) {
      cases.push_back(product<float>(512, 192, 64, layout, threads));
      cases.push_back(product<float>(512, 256, 64, layout, threads));
      cases.push_back(product<float>(512, 64, 256, layout, threads));
    }
    // Products in training steps: forward NT, input gradient NN, weight gradient TN.
    using enum Layout;
    for (const auto& [m, n, k, layout] : {std::tuple{64, 128, 784, kNT},
                                          {128, 784, 64, kTN},
                                          {64, 784, 128, kNN},
                                          {64, 10, 256, kNT},
                                          {10, 256, 64, kTN},
                                          {64, 256, 10, kNN},
                                          {64, 512, 784, kNT},
                                          {512, 784, 64, kTN},
                                          {512, 64, 512, kNT},
                                          {1, 512, 784, kNT},
                                          {512, 784, 1, kTN},
                                          {1, 784, 512, kNN},
                                          {784, 1, 512, kNN},
                                          {4, 4, 4, kNN},
                                          {8, 8, 8, kNN},
                                          {16, 16, 16, kNN},
                                          {32, 32, 32, kNN},
                                          {2, 512, 512, kNN},
                                          {4, 512, 512, kNT},
                                          {6, 512, 512, kNN},
                                          {512, 6, 512, kNN},
                                          {512, 10, 512, kNT}}) {
      cases.push_back(product<float>(m, n, k, layout, threads));
    }
    cases.push_back(batch<float>(32, 64, 64, 16, kNT, threads));
    cases.push_back(batch<float>(32, 64, 16, 64, kNN, threads));
    cases.push_back(batch<float>(256, 4, 4, 4, kNN, threads));
  }
  cases.push_back(wake(0, 1));
  for (const double pause : {0, 20, 1000}) cases.push_back(wake(pause, max_threads));
  return cases;
}

double best_ceiling(const std::vector<Case>& cases, std::string_view type, int threads) {
  double best = 0;
  const std::string wanted = std::string("\"type\":\"") + std::string(type) + "\"";
  for (const Case& c : cases) {
    if (c.group != "ceiling" || c.threads != threads) continue;
    if (c.json.find(wanted) != std::string::npos) best = std::max(best, c.flops / c.best);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 30;
  int threads = 2;
  std::string only;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("rounds=")) rounds = std::atoi(argv[i] + 7);
    if (argument.starts_with("threads=")) threads = std::atoi(argv[i] + 8);
    if (argument.starts_with("only=")) only = argument.substr(5);
  }
  set_num_threads(threads);
  start_thread_pool();
  threads = num_threads();

  std::vector<Case> cases = all_cases(threads);
  std::erase_if(cases, [&](const Case& c) {
    return c.group != "ceiling" && !only.empty() && c.json.find(only) == std::string::npos;
  });
  // Calibrate twice: the first pass lets the engine compile the hot functions with its optimizing
  // tier.
  for (Case& c : cases) c.calibrate(0.02);
  for (Case& c : cases) c.calibrate(0.005);
  for (int round = 0; round < rounds; ++round) {
    for (Case& c : cases) c.measure();
  }
  for (const Case& c : cases) {
    std::printf("{%s,\"us\":%.3f", c.json.c_str(), c.best * 1e6);
    if (c.flops > 0) std::printf(",\"gflops\":%.2f", c.flops / c.best * 1e-9);
    if (!c.ceiling.empty()) {
      const double ceiling = best_ceiling(cases, c.ceiling, c.threads);
      std::printf(",\"of_ceiling\":%.3f", c.flops / c.best / ceiling);
    }
    std::printf("}\n");
  }
  shutdown_thread_pool();
  return 0;
}
