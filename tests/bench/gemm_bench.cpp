// Measures the ceilings of the machine, arithmetic on registers alone, and square products of GEMM,
// and prints one JSON object per line. Rounds over all cases are repeated and the best time of each
// case counts, so a process that occupies a core for a while spoils some rounds of every case
// instead of all rounds of one.
//
//   gemm_bench rounds=N threads=N n=N
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

using Numbers = Vector<float>;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// --- The ceiling: arithmetic on registers only, as in a 6x8 register tile

constexpr int kSums = 12;
constexpr std::int64_t kCeilingSteps = 20000;

Numbers fused(Numbers a, Numbers b, Numbers c) { return multiply_add(a, b, c); }

Numbers separate(Numbers a, Numbers b, Numbers c) {
  const Numbers product = a * b;
  return product + c;
}

/// Runs kSums independent chains of c = a * b + c: more chains than the latency of the operation
/// times the number of its units, and no load, store or spill inside the loop.
template <Numbers (*Operation)(Numbers, Numbers, Numbers)>
[[gnu::noinline]] float ceiling_loop(std::int64_t steps, const float* from) {
  Numbers sum[kSums];
  for (int i = 0; i < kSums; ++i) sum[i] = load(from + i * kLanes<float>);
  const Numbers a = load(from);
  const Numbers b = load(from + kLanes<float>);
  for (std::int64_t step = 0; step < steps; ++step) {
    EG_GEMM_UNROLL
    for (int i = 0; i < kSums; ++i) sum[i] = Operation(a, b, sum[i]);
    // Keeps the compiler from replacing the steps by a closed form.
    asm volatile("" ::: "memory");
  }
  Numbers total = sum[0];
  for (int i = 1; i < kSums; ++i) total += sum[i];
  return total[0] + total[1];
}

template <Numbers (*Operation)(Numbers, Numbers, Numbers)>
void run_ceiling() {
  static const std::vector<float> numbers(kSums * kLanes<float>, 1e-3F);
  // Called through a volatile pointer; otherwise the wasm optimizer inlines the loop into a
  // function that is entered once and therefore stays in the engine's baseline tier.
  static float (*volatile loop)(std::int64_t, const float*) = ceiling_loop<Operation>;
  static volatile float sink;
  sink = loop(kCeilingSteps, numbers.data());
}

// --- Cases

struct Case {
  std::string json;  // JSON members that describe the case
  double flops;      // per run
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

template <Numbers (*Operation)(Numbers, Numbers, Numbers)>
Case ceiling(const char* operation, int threads) {
  const auto run = [threads] {
    // One task per thread, none of which waits for another.
    parallel_for(0, threads, 1, [](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) run_ceiling<Operation>();
    });
  };
  return {std::string(R"("bench":"ceiling","operation":")") + operation + '"',
          2.0 * kSums * kLanes<float> * kCeilingSteps * threads, threads, run};
}

/// The product of two matrices of n x n, each of which may be transposed.
Case product(std::int64_t n, bool a_transposed, bool b_transposed) {
  static std::vector<float> numbers[3];
  for (std::vector<float>& buffer : numbers) {
    for (auto i = static_cast<std::int64_t>(buffer.size()); i < n * n; ++i) {
      buffer.push_back(static_cast<float>(i % 7) - 3);
    }
  }
  const auto run = [=] {
    const auto matrix = [n](int which, bool is_transposed) {
      return Matrix<float>{numbers[which].data(), is_transposed ? 1 : n, is_transposed ? n : 1};
    };
    gemm::gemm<float>(n, n, n, 1.0F, matrix(0, a_transposed), matrix(1, b_transposed), 0.0F,
                      numbers[2].data(), n);
  };
  const std::string layout = {a_transposed ? 'T' : 'N', b_transposed ? 'T' : 'N'};
  return {R"("bench":"gemm","layout":")" + layout + R"(","n":)" + std::to_string(n),
          2.0 * static_cast<double>(n * n * n), 1, run};
}

std::vector<Case> all_cases(int max_threads, std::int64_t n) {
  std::vector<Case> cases;
  for (int threads = 1; threads <= max_threads; threads += std::max(1, max_threads - 1)) {
    cases.push_back(ceiling<separate>("multiply, add", threads));
    cases.push_back(ceiling<fused>("multiply_add", threads));
  }
  if (n == 0) return cases;
  cases.push_back(product(n, false, false));
  cases.push_back(product(n, false, true));
  cases.push_back(product(n, true, false));
  return cases;
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 30;
  int threads = 2;
  std::int64_t n = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("rounds=")) rounds = std::atoi(argv[i] + 7);
    if (argument.starts_with("threads=")) threads = std::atoi(argv[i] + 8);
    if (argument.starts_with("n=")) n = std::atoi(argv[i] + 2);
  }
  set_num_threads(threads);
  start_thread_pool();

  std::vector<Case> cases = all_cases(num_threads(), n);
  // Calibrate twice: the first pass lets the engine compile the hot functions with its optimizing
  // tier.
  for (Case& c : cases) c.calibrate(0.02);
  for (Case& c : cases) c.calibrate(0.005);
  for (int round = 0; round < rounds; ++round) {
    for (Case& c : cases) c.measure();
  }
  for (const Case& c : cases) {
    std::printf("{%s,\"threads\":%d,\"gflops\":%.2f}\n", c.json.c_str(), c.threads,
                c.flops / c.best * 1e-9);
  }
  shutdown_thread_pool();
  return 0;
}
