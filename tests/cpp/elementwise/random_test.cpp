// markers: threads

#include "runtime/random.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "runtime/random_math.h"
#include "support/golden_random.h"

namespace eg {
namespace {

using golden::RandomCall;
using Bytes = std::vector<std::uint8_t>;

// std::vector<bool> has no data() for a span.
template <class T>
class Filled {
 public:
  explicit Filled(std::size_t size) : data_(new T[size]()), size_(size) {}
  std::span<T> span() const { return {data_.get(), size_}; }

 private:
  std::unique_ptr<T[]> data_;
  std::size_t size_;
};

std::uint64_t digest(std::span<const std::uint8_t> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

template <class T>
std::span<const std::uint8_t> bytes_of(std::span<T> values) {
  return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()};
}

// PyTorch's nn modules: which parameters they have, in which order, and how each is filled.
void fill_module(const RandomCall& call, std::span<float> all, Generator& generator) {
  const auto parameter = [&](double size) {
    const std::span<float> first = all.first(static_cast<std::size_t>(size));
    all = all.subspan(first.size());
    return first;
  };
  const auto weight_and_bias = [&](double outputs, double fan_in) {
    // kaiming_uniform_(weight, a=sqrt(5)), in PyTorch's arithmetic.
    const double slope = std::sqrt(5.0);
    const double std = std::sqrt(2.0 / (1 + slope * slope)) / std::sqrt(fan_in);
    const double bound = std::sqrt(3.0) * std;
    fill_uniform(parameter(outputs * fan_in), -bound, bound, generator);
    const double bias_bound = 1 / std::sqrt(fan_in);
    fill_uniform(parameter(outputs), -bias_bound, bias_bound, generator);
  };
  if (call.op == "nn.Linear") {
    weight_and_bias(call.args[1], call.args[0]);
  } else if (call.op == "nn.Conv2d") {
    weight_and_bias(call.args[1], call.args[0] * call.args[2] * call.args[2]);
  } else if (call.op == "nn.Embedding") {
    fill_normal(parameter(call.args[0] * call.args[1]), 0, 1, generator);
  } else if (call.op == "nn.LSTM") {
    const double inputs = call.args[0], hidden = call.args[1], gates = 4 * hidden;
    const double bound = 1 / std::sqrt(hidden);
    for (const double size : {gates * inputs, gates * hidden, gates, gates}) {
      fill_uniform(parameter(size), -bound, bound, generator);
    }
  } else {
    FAIL() << "no rule for " << call.op;
  }
  EXPECT_TRUE(all.empty()) << call.op;
}

template <class T>
void fill_real(const RandomCall& call, std::span<T> out, Generator& generator) {
  const auto argument = [&](std::size_t i) { return call.args.at(i); };
  if (call.op == "rand") {
    fill_uniform(out, 0, 1, generator);
  } else if (call.op == "uniform_") {
    fill_uniform(out, argument(0), argument(1), generator);
  } else if (call.op == "randn") {
    fill_normal(out, 0, 1, generator);
  } else if (call.op == "normal_") {
    fill_normal(out, argument(0), argument(1), generator);
  } else if (call.op == "normal_t_") {
    fill_normal_singly(out, argument(0), argument(1), generator);
  } else if (call.op == "exponential_") {
    fill_exponential(out, argument(0), generator);
  } else if (call.op == "bernoulli") {
    std::vector<T> p(out.size());
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = static_cast<T>(i) / static_cast<T>(p.size());
    fill_bernoulli(out, std::span<const T>(p), generator);
  } else if constexpr (std::same_as<T, float>) {
    fill_module(call, out, generator);
  } else {
    FAIL() << "no rule for " << call.op;
  }
}

template <class T>
void fill(const RandomCall& call, std::span<T> out, Generator& generator) {
  if (call.op == "state") {
    const Bytes state = generator.state();
    ASSERT_EQ(state.size(), out.size_bytes());
    std::memcpy(out.data(), state.data(), state.size());
  } else if (call.op == "randint" || (call.op == "random_" && !call.args.empty())) {
    fill_randint(out, static_cast<std::int64_t>(call.args[0]),
                 static_cast<std::int64_t>(call.args[1]), generator);
  } else if (call.op == "random_") {
    fill_random(out, generator);
  } else if (call.op == "bernoulli_") {
    fill_bernoulli(out, call.args[0], generator);
  } else if (call.op == "dropout") {
    fill_bernoulli(out, 1 - call.args[0], generator);
  } else if (call.op == "randperm") {
    if constexpr (!std::same_as<T, bool>) fill_randperm(out, generator);
  } else if constexpr (RandomReal<T>) {
    fill_real(call, out, generator);
  } else {
    FAIL() << "no rule for " << call.op;
  }
}

// PyTorch computes float64 normals with the C library, we with random_math; the results differ by a
// few units in the last place.
template <class T>
bool is_exact(const RandomCall& call) {
  return !std::same_as<T, double> || (!call.op.starts_with("randn") &&
                                      !call.op.starts_with("normal") && call.op != "exponential_");
}

template <class T>
void replay(const RandomCall& call, Generator& generator) {
  const Filled<T> filled(call.size);
  const std::span<T> out = filled.span();
  fill(call, out, generator);
  if (call.values.empty()) {
    EXPECT_EQ(call.size == 0 ? 0 : digest(bytes_of(out)), call.digest);
    return;
  }
  ASSERT_EQ(call.values.size(), call.size);
  for (std::size_t i = 0; i < call.size; ++i) {
    const double got = static_cast<double>(out[i]);
    if (is_exact<T>(call)) {
      EXPECT_EQ(got, call.values[i]) << "element " << i;
    } else {
      EXPECT_NEAR(got, call.values[i], 1e-15 * (1 + std::abs(call.values[i]))) << "element " << i;
    }
  }
}

void replay_any(const RandomCall& call, Generator& generator) {
  if (call.dtype == "float32") return replay<float>(call, generator);
  if (call.dtype == "float64") return replay<double>(call, generator);
  if (call.dtype == "int64") return replay<std::int64_t>(call, generator);
  if (call.dtype == "int32") return replay<std::int32_t>(call, generator);
  if (call.dtype == "uint8") return replay<std::uint8_t>(call, generator);
  if (call.dtype == "bool") return replay<bool>(call, generator);
  FAIL() << "unknown dtype " << call.dtype;
}

TEST(Random, GivesPyTorchsNumbersAfterManualSeed) {
#ifdef __i386__
  GTEST_SKIP() << "conversions by x87 keep more digits than a float has";
#endif
  Generator generator(0);
  for (const golden::RandomSequence& sequence : golden::random_sequences()) {
    generator.manual_seed(sequence.seed);
    std::size_t index = 0;
    for (const RandomCall& call : sequence.calls) {
      SCOPED_TRACE("seed " + std::to_string(sequence.seed) + ", call " + std::to_string(index++) +
                   ": " + std::string(call.op) + " " + std::string(call.dtype));
      replay_any(call, generator);
    }
  }
}

TEST(Random, DefaultGeneratorFollowsManualSeed) {
  manual_seed(0);
  std::vector<float> out(2);
  fill_uniform(std::span(out), 0, 1);
  EXPECT_EQ(out[0], 0.49625658988952637f);
  EXPECT_EQ(out[1], 0.7682217955589294f);
  EXPECT_EQ(default_generator().initial_seed(), 0u);
}

TEST(Random, SeedComesFromTheSystemAndFitsANumber) {
  Generator generator(0);
  const std::uint64_t first = generator.seed();
  const std::uint64_t second = generator.seed();
  EXPECT_NE(first, second);
  EXPECT_LT(first, std::uint64_t{1} << 53);
  EXPECT_EQ(generator.initial_seed(), second);
}

// These bits are specific to this implementation; the test checks that every build produces them.
TEST(Random, Float64NormalsAreTheSameInEveryBuild) {
  Generator generator(0);
  std::vector<double> out(10007);
  fill_normal(std::span(out), 0.3, 1.7, generator);
  EXPECT_EQ(digest(bytes_of(std::span(out))), 0x5d9c2d53c1303aacu);
  fill_normal_singly(std::span(out), 0.3, 1.7, generator);
  EXPECT_EQ(digest(bytes_of(std::span(out))), 0x28133cb596911268u);
  fill_exponential(std::span(out), 0.7, generator);
  EXPECT_EQ(digest(bytes_of(std::span(out))), 0x708f99a7a3b3e235u);
}

TEST(Random, FillingInPiecesReadsTheSameTape) {
  Generator generator(9);
  std::vector<float> whole(2000), pieces(2000);
  fill_uniform(std::span(whole), -1, 1, generator);
  generator.manual_seed(9);
  for (std::size_t begin = 0, size = 1; begin < pieces.size();
       begin += size, size = size * 3 % 101) {
    size = std::min(size, pieces.size() - begin);
    fill_uniform(std::span(pieces).subspan(begin, size), -1, 1, generator);
  }
  EXPECT_EQ(whole, pieces);
}

TEST(Random, EmptyFillsReadNothing) {
  Generator generator(1);
  const Bytes before = generator.state();
  fill_uniform(std::span<float>(), 0, 1, generator);
  fill_normal(std::span<double>(), 0, 1, generator);
  fill_randint(std::span<std::int32_t>(), 0, 5, generator);
  fill_random(std::span<std::uint8_t>(), generator);
  fill_randperm(std::span<std::int64_t>(), generator);
  fill_bernoulli(std::span<bool>(), 0.5, generator);
  fill_bernoulli(std::span<float>(), std::span<const float>(), generator);
  fill_exponential(std::span<float>(), 1, generator);
  EXPECT_EQ(generator.state(), before);
}

TEST(RandomState, RestoresTheTapeAndTheSpareNormal) {
  Generator generator(4);
  std::vector<float> skipped(777), short_fill(3);
  fill_uniform(std::span(skipped), 0, 1, generator);
  fill_normal(std::span(short_fill), 0, 1, generator);
  const Bytes state = generator.state();

  std::vector<float> first(40), second(40);
  fill_normal(std::span(first).first(5), 0, 1, generator);
  fill_normal(std::span(first).subspan(5), 0, 1, generator);
  Generator other(99);
  other.set_state(state);
  EXPECT_EQ(other.initial_seed(), 4u);
  fill_normal(std::span(second).first(5), 0, 1, other);
  fill_normal(std::span(second).subspan(5), 0, 1, other);
  EXPECT_EQ(first, second);
}

TEST(RandomState, ManualSeedForgetsTheSpareNormal) {
  Generator generator(4);
  std::vector<float> first(3), second(3);
  fill_normal(std::span(first), 0, 1, generator);
  generator.manual_seed(4);
  fill_normal(std::span(second), 0, 1, generator);
  EXPECT_EQ(first, second);
}

template <class Call>
void expect_refused(std::string_view sentence, Call call) {
  try {
    call();
    ADD_FAILURE() << "no error; expected: " << sentence;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string_view(error.what()).find(sentence), std::string_view::npos)
        << error.what();
  }
}

TEST(RandomState, RefusesBytesFromElsewhere) {
  Generator generator(4);
  const Bytes state = generator.state();
  expect_refused("5056 bytes", [&] { generator.set_state(std::span(state).first(100)); });
  expect_refused("not a valid mt19937 state", [&] { generator.set_state(Bytes(5056)); });
  Bytes past_the_end = state;
  past_the_end[16] = 1;    // the next word is the second,
  past_the_end[9] = 0x02;  // with more left than there are
  past_the_end[8] = 0x71;
  expect_refused("not a valid mt19937 state", [&] { generator.set_state(past_the_end); });
  EXPECT_EQ(generator.state(), state);
}

TEST(RandomArguments, AreCheckedBeforeAnythingIsDrawn) {
  Generator generator(4);
  const Bytes state = generator.state();
  std::vector<float> real(20, 7.0f);
  std::vector<std::uint8_t> bytes(300, 7);
  std::vector<float> p(20, 0.5f);
  p[19] = 1.5f;
  const double nan = std::nan("");
  const std::span<float> r(real);
  const std::span<std::uint8_t> b(bytes);

  expect_refused("expected from <= to, got from=2 and to=1",
                 [&] { fill_uniform(r, 2, 1, generator); });
  expect_refused("from is out of bounds for float32", [&] { fill_uniform(r, nan, 1, generator); });
  expect_refused("to is out of bounds for float32", [&] { fill_uniform(r, 0, 1e39, generator); });
  expect_refused("to - from that fits into float32",
                 [&] { fill_uniform(r, -3e38, 3e38, generator); });
  expect_refused("expected std >= 0, got -1", [&] { fill_normal(r, 0, -1, generator); });
  expect_refused("expected std >= 0, got nan", [&] { fill_normal(r.first(3), 0, nan, generator); });
  expect_refused("expected from < to, got from=5 and to=5",
                 [&] { fill_randint(r, 5, 5, generator); });
  expect_refused("to - 1 is out of bounds for uint8", [&] { fill_randint(b, 0, 257, generator); });
  expect_refused("from is out of bounds for uint8", [&] { fill_randint(b, -1, 2, generator); });
  expect_refused("expected n <= 255 for uint8", [&] { fill_randperm(b, generator); });
  expect_refused("expected p from 0 to 1, got 1.5", [&] { fill_bernoulli(r, 1.5, generator); });
  expect_refused("expected p from 0 to 1, got nan", [&] { fill_bernoulli(b, nan, generator); });
  expect_refused("expected p from 0 to 1, got 1.5",
                 [&] { fill_bernoulli(r, std::span<const float>(p), generator); });
  expect_refused("expected lambda > 0, got 0", [&] { fill_exponential(r, 0, generator); });

  EXPECT_EQ(generator.state(), state);
  EXPECT_EQ(real, std::vector<float>(20, 7.0f));
  EXPECT_EQ(bytes, std::vector<std::uint8_t>(300, 7));
}

TEST(RandomRandint, ExtremeRangesStayInside) {
  Generator generator(4);
  std::vector<std::int64_t> whole(100);
  constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::lowest();
  constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();
  fill_randint(std::span(whole), kLowest, kHighest, generator);
  EXPECT_LT(*std::min_element(whole.begin(), whole.end()), 0);
  EXPECT_GT(*std::max_element(whole.begin(), whole.end()), 0);
  std::vector<float> real(100);
  fill_randint(std::span(real), kLowest, kHighest, generator);
  fill_randint(std::span(real), kHighest - 1, kHighest, generator);
  EXPECT_EQ(real[0], 0x1p63f);
}

#if EG_THREADS
TEST(RandomThreads, AFillIsOnePieceOfTheTape) {
  constexpr std::size_t kSize = 5000;
  Generator generator(8);
  std::vector<std::int32_t> tape(2 * kSize);
  fill_random(std::span(tape), generator);

  generator.manual_seed(8);
  std::vector<std::int32_t> here(kSize), there(kSize);
  std::thread thread([&] { fill_random(std::span(there), generator); });
  fill_random(std::span(here), generator);
  thread.join();
  const std::vector<std::int32_t>& first = here[0] == tape[0] ? here : there;
  const std::vector<std::int32_t>& second = here[0] == tape[0] ? there : here;
  std::vector<std::int32_t> joined = first;
  joined.insert(joined.end(), second.begin(), second.end());
  EXPECT_EQ(joined, tape);
}
#endif

TEST(RandomMath, FusedMultiplyAddRoundsOnce) {
  // a * b + c is just above the middle of two float32 numbers, and float64 rounds it to the middle.
  const float a = 1 + 0x1p-12f, b = 1 + 0x1p-12f, c = 0x1p-80f;
  EXPECT_EQ(fused_multiply_add(a, b, c), std::fma(a, b, c));
  EXPECT_NE(fused_multiply_add(a, b, c), static_cast<float>(static_cast<double>(a) * b + c));
  EXPECT_EQ(fused_multiply_add(-a, b, -c), std::fma(-a, b, -c));
  EXPECT_EQ(fused_multiply_add(a, b, -c), std::fma(a, b, -c));
}

// The distance in units in the last place of the true value.
double error_in_ulps(double got, double exact) {
  if (got == exact) return 0;
  const double ulp = std::nextafter(std::abs(exact), 1e300) - std::abs(exact);
  return std::abs(got - exact) / ulp;
}

TEST(RandomMath, LogAndSinCosAreWithinTwoUlpsOfTheCLibrary) {
  Generator generator(11);
  std::vector<double> u(20000);
  fill_uniform(std::span(u), 0, 1, generator);
  u.insert(u.end(), {0.0, 0x1p-53, 0.25, 1 - 0.70710678118654752, 0.5, 1 - 0x1p-53});
  for (const double v : u) {
    EXPECT_LE(error_in_ulps(unit_log(1 - v), std::log(1 - v)), 2) << v;
    const double angle = v * 6.283185307179586;
    const SinCos got = unit_sincos(angle);
    EXPECT_LE(error_in_ulps(got.sin, std::sin(angle)), 2) << angle;
    EXPECT_LE(error_in_ulps(got.cos, std::cos(angle)), 2) << angle;
  }
  for (int quarter = 0; quarter <= 4; ++quarter) {
    const double angle = quarter * 1.5707963267948966;
    const SinCos got = unit_sincos(angle);
    EXPECT_LE(error_in_ulps(got.sin, std::sin(angle)), 2) << angle;
    EXPECT_LE(error_in_ulps(got.cos, std::cos(angle)), 2) << angle;
  }
}

TEST(RandomMath, BoxMullerTakesTheExtremeWords) {
  std::array<std::uint32_t, 16> words;
  std::array<float, 16> out;
  words.fill(0);  // uniform 0: radius 0
  box_muller_16(words, out, 2, 3);
  for (const float value : out) EXPECT_EQ(value, 2.0f);
  words.fill(0xffffffffu);  // the largest uniform: the largest radius, almost a full turn
  box_muller_16(words, out, 0, 1);
  const double radius = std::sqrt(-2 * std::log(0x1p-24));
  const double angle = (1 - 0x1p-24f) * 6.2831853071795864769f;
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(out[i] / (radius * std::cos(angle)), 1, 3e-7);
    EXPECT_NEAR(out[i + 8] / (radius * std::sin(angle)), 1, 3e-7);
  }
}

}  // namespace
}  // namespace eg
