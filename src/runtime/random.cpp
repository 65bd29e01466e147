// compile: kernels

// The generator: seeding, the stream of words, and its state as bytes. random_fill.cpp converts
// words to numbers.

#include "runtime/random.h"

#include <algorithm>
#include <cstring>
#include <utility>

#ifdef __EMSCRIPTEN__
#include <emscripten/emscripten.h>
#else
#include <random>
#endif

#include "base/error.h"
#include "runtime/recorded_thread.h"

namespace eg {
namespace {

constexpr std::size_t kShiftWords = 397;
constexpr std::uint32_t kTwistMatrix = 0x9908b0dfu;

// Positions in the stream of devices are numbers that JavaScript represents exactly.
constexpr std::uint64_t kMaxGroups = std::uint64_t{1} << 53;

// Computes a new state word from the old one, its successor and the word kShiftWords further on
// (mt19937).
inline std::uint32_t twist(std::uint32_t word, std::uint32_t after, std::uint32_t shifted) {
  const std::uint32_t mixed = (word & 0x80000000u) | (after & 0x7fffffffu);
  return shifted ^ (mixed >> 1) ^ ((0u - (after & 1u)) & kTwistMatrix);
}

inline std::uint32_t temper(std::uint32_t y) {
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

std::uint64_t random_bits() {
#ifdef __EMSCRIPTEN__
  // Math.random() is seeded by the system too. std::random_device would make Node load its Web
  // Crypto, which takes longer than making a model.
  std::uint64_t bits = 0;
  for (int i = 0; i < 4; ++i)
    bits = bits << 16 | (static_cast<std::uint64_t>(emscripten_random() * 65536) & 0xffffU);
  return bits;
#else
  std::random_device device;
  const std::uint64_t high = device();
  return high << 32 | device();
#endif
}

// 53 bits, so that both JavaScript and PyTorch can represent it as a number.
std::uint64_t entropy() { return random_bits() & ((std::uint64_t{1} << 53) - 1); }

thread_local bool own_is_used = false;

// The caller sets its state before using it.
Generator& own_generator() {
  thread_local Generator generator(0);
  return generator;
}

void refuse_to_draw() {
  refuse_in_recording("the function draws random numbers,",
                      "Draw them outside and pass them as an input; turn dropout off with eval().");
}

}  // namespace

// The layout of torch.get_rng_state(); the unused fields are zero there too.
struct Generator::TorchState {
  std::uint64_t seed;
  std::int32_t left;
  std::int32_t seeded;
  std::uint64_t next;
  std::array<std::uint64_t, kStateWords> words;
  std::uint64_t device_group;  // a number that PyTorch neither reads nor writes
  double spare_normal;
  double unused_rho;
  std::int32_t has_spare_normal;
  std::int32_t padding;
  float unused_float_normal;
  std::uint32_t unused_has_float_normal;
};

Generator::Generator(std::uint64_t seed) { restart(seed); }

void Generator::restart(std::uint64_t seed) {
  seed_ = seed;
  state_[0] = static_cast<std::uint32_t>(seed);
  for (std::uint32_t i = 1; i < kStateWords; ++i) {
    state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
  }
  left_ = 1;
  next_ = 0;
  spare_normal_.reset();
  device_group_ = 0;
}

void Generator::manual_seed(std::uint64_t seed) {
  const std::lock_guard lock(mutex_);
  restart(seed);
}

std::uint64_t Generator::seed() {
  const std::uint64_t seed = entropy();
  manual_seed(seed);
  return seed;
}

std::uint64_t Generator::initial_seed() const {
  const std::lock_guard lock(mutex_);
  return seed_;
}

std::optional<double> Generator::take_spare_normal() {
  refuse_to_draw();
  return std::exchange(spare_normal_, std::nullopt);
}

void Generator::make_words() {
  constexpr std::size_t kBeforeWrap = kStateWords - kShiftWords;
  std::uint32_t* p = state_.data();
  for (std::size_t i = 0; i < kBeforeWrap; ++i) p[i] = twist(p[i], p[i + 1], p[i + kShiftWords]);
  for (std::size_t i = kBeforeWrap; i < kStateWords - 1; ++i) {
    p[i] = twist(p[i], p[i + 1], p[i - kBeforeWrap]);
  }
  p[kStateWords - 1] = twist(p[kStateWords - 1], p[0], p[kShiftWords - 1]);
  left_ = kStateWords + 1;
  next_ = 0;
}

PhiloxPosition Generator::draw_on_device(std::int64_t groups) {
  refuse_to_draw();
  const std::lock_guard lock(mutex_);
  // The stream begins again after as many numbers as no program draws.
  if (device_group_ + static_cast<std::uint64_t>(groups) > kMaxGroups) device_group_ = 0;
  const PhiloxPosition position{static_cast<std::int64_t>(seed_ & 0xffffffffU),
                                static_cast<std::int64_t>(seed_ >> 32U),
                                static_cast<std::int64_t>(device_group_)};
  device_group_ += static_cast<std::uint64_t>(groups);
  return position;
}

void Generator::draw(std::span<std::uint32_t> words) {
  refuse_to_draw();
  while (!words.empty()) {
    if (left_ == 1) make_words();
    const auto n = static_cast<std::uint32_t>(std::min<std::size_t>(words.size(), left_ - 1));
    for (std::uint32_t i = 0; i < n; ++i) words[i] = temper(state_[next_ + i]);
    left_ -= n;
    next_ += n;
    words = words.subspan(n);
  }
}

std::vector<std::uint8_t> Generator::state() const {
  static_assert(sizeof(TorchState) == 5056);
  const std::lock_guard lock(mutex_);
  TorchState packed{};
  packed.seed = seed_;
  packed.left = static_cast<std::int32_t>(left_);
  packed.seeded = 1;
  packed.next = next_;
  std::copy(state_.begin(), state_.end(), packed.words.begin());
  packed.device_group = device_group_;
  packed.spare_normal = spare_normal_.value_or(0);
  packed.has_spare_normal = spare_normal_.has_value();
  std::vector<std::uint8_t> bytes(sizeof(TorchState));
  std::memcpy(bytes.data(), &packed, sizeof(TorchState));
  return bytes;
}

void Generator::set_state(std::span<const std::uint8_t> bytes) {
  check(bytes.size() == sizeof(TorchState), ErrorCode::kInvalidArgument, "set_state",
        "expected the ", sizeof(TorchState), " bytes of state() or torch.get_rng_state(), got ",
        bytes.size(), " bytes.");
  TorchState packed;
  std::memcpy(&packed, bytes.data(), sizeof(TorchState));
  // left - 1 words are unread, starting with `next`.
  const bool valid = packed.seeded == 1 && packed.left >= 1 && packed.next <= kStateWords &&
                     packed.next + static_cast<std::uint64_t>(packed.left) <= kStateWords + 1;
  check(valid, ErrorCode::kInvalidArgument, "set_state",
        "these bytes are not a valid mt19937 state.");
  const std::lock_guard lock(mutex_);
  seed_ = packed.seed;
  left_ = static_cast<std::uint32_t>(packed.left);
  next_ = static_cast<std::uint32_t>(packed.next);
  std::transform(packed.words.begin(), packed.words.end(), state_.begin(),
                 [](std::uint64_t word) { return static_cast<std::uint32_t>(word); });
  spare_normal_.reset();
  if (packed.has_spare_normal != 0) spare_normal_ = packed.spare_normal;
  // Old versions of PyTorch have a float64 there.
  device_group_ = packed.device_group <= kMaxGroups ? packed.device_group : 0;
}

Generator& default_generator() {
  static Generator generator(entropy());
  return generator;
}

Generator& active_generator() { return own_is_used ? own_generator() : default_generator(); }

void use_own_generator(bool own) { own_is_used = own; }

void manual_seed(std::uint64_t seed) { active_generator().manual_seed(seed); }

}  // namespace eg
