#include "support/fake_player.h"

#include <bit>
#include <chrono>
#include <cstring>
#include <functional>
#include <string>

#include "base/type_list.h"
#include "kernels/attention.h"
#include "kernels/class_loss.h"
#include "kernels/conv.h"
#include "kernels/copy.h"
#include "kernels/decompositions.h"
#include "kernels/dropout.h"
#include "kernels/fft.h"
#include "kernels/index.h"
#include "kernels/linalg.h"
#include "kernels/matmul.h"
#include "kernels/norm.h"
#include "kernels/optim.h"
#include "kernels/order.h"
#include "kernels/pool.h"
#include "kernels/reduce.h"
#include "kernels/scan.h"
#include "kernels/softmax.h"

namespace eg::testing {
namespace {

using kernel::Call;
using kernel::Field;
using kernel::FieldKind;

// What it plays: all kernels but elementwise formulas, which the stream names without their code,
// and those whose structs hold numbers of the host.
using Played =
    TypeList<kernel::Attend, kernel::AttendBackward, kernel::MeanLoss, kernel::NllLosses,
             kernel::TargetDistribution, kernel::CrossEntropy, kernel::CrossEntropyBackward,
             kernel::Convolve, kernel::ConvolveBackwardInput, kernel::ConvolveBackwardWeight,
             kernel::Copy, kernel::Qr, kernel::Dropout, kernel::Fft, kernel::TakeRows,
             kernel::PutRows, kernel::AddRows, kernel::TakeElements, kernel::PutElements,
             kernel::AddElements, kernel::MultiplyElements, kernel::FindTrue, kernel::ClearTriangle,
             kernel::MatrixProduct, kernel::RowNorm, kernel::RowNormBackwardInput,
             kernel::RowNormBackwardParameters, kernel::SgdStep, kernel::AdamStep,
             kernel::RmspropStep, kernel::AdagradStep, kernel::OrderRows, kernel::ModeRows,
             kernel::RunningExtreme, kernel::MaxPool, kernel::MaxPoolBackward, kernel::MaxPoolPick,
             kernel::AvgPool, kernel::AvgPoolBackward, kernel::Reduce, kernel::ArgReduce,
             kernel::Scan, kernel::Recurrence, kernel::Softmax, kernel::SoftmaxBackward>;

// What is not waited for is played so much later.
constexpr std::chrono::milliseconds kSoon{20};

}  // namespace

// The words of a batch, one after the other.
class FakePlayer::Reader {
 public:
  explicit Reader(const std::vector<std::uint32_t>& words) : words_(words) {}

  bool at_end() const { return place_ >= words_.size(); }
  std::size_t place() const { return place_; }
  std::uint32_t word() { return words_.at(place_++); }
  std::int64_t int64() {
    const std::uint64_t low = word();
    return static_cast<std::int64_t>(low | std::uint64_t{word()} << 32U);
  }
  double real() { return std::bit_cast<double>(int64()); }
  const char* bytes(std::size_t count) {
    const char* begin = reinterpret_cast<const char*>(&words_.at(place_));
    place_ += (count + 3) / 4;
    return begin;
  }
  void expect(std::uint32_t tag) {
    invariant(word() == tag, "a field of another kind than the struct has");
  }

 private:
  const std::vector<std::uint32_t>& words_;
  std::size_t place_ = 0;
};

FakePlayer::FakePlayer(webgpu::BlockLimits limits)
    : device_(*this, limits), thread_([this] { run(); }) {}

FakePlayer::~FakePlayer() {
  {
    const std::lock_guard lock(mutex_);
    must_end_ = true;
    woken_.notify_one();
  }
  thread_.join();
}

void FakePlayer::wake(bool now) {
  const std::lock_guard lock(mutex_);
  has_work_ = true;
  is_awaited_ |= now;
  woken_.notify_one();
}

bool FakePlayer::can_wait() const { return std::this_thread::get_id() != thread_.get_id(); }

bool FakePlayer::has(const Call& call) const {
  bool is_played = false;
  Played::for_each([&]<class K>() { is_played |= K::name == call.name(); });
  return is_played;
}

void FakePlayer::begin_anew() {
  {
    const std::lock_guard lock(gpu_mutex_);
    blocks_.clear();
    names_.clear();
    recordings_.clear();
  }
  device_.begin_anew(kLimits);
}

std::size_t FakePlayer::recordings() {
  const std::lock_guard lock(gpu_mutex_);
  return recordings_.size();
}

void FakePlayer::fail_next(Error error) {
  const std::lock_guard lock(mutex_);
  failure_ = std::move(error);
}

void FakePlayer::run() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      woken_.wait(lock, [&] { return has_work_ || must_end_; });
      if (!has_work_) return;
      woken_.wait_for(lock, kSoon, [&] { return is_awaited_ || must_end_; });
      has_work_ = is_awaited_ = false;
    }
    if (const int most = most_delay_us; most > 0) {
      const auto delay = random_() % static_cast<unsigned>(most);
      std::this_thread::sleep_for(std::chrono::microseconds(delay));
    }
    play(device_.take());
  }
}

void* FakePlayer::memory_at(std::uint32_t block, std::size_t offset) {
  return blocks_.at(block).data() + offset;
}

void FakePlayer::play(const std::vector<std::uint32_t>& words) {
  if (words.empty()) return;
  const std::lock_guard lock(gpu_mutex_);
  ++batches;
  play_commands(words);
}

void FakePlayer::play_commands(const std::vector<std::uint32_t>& words) {
  Reader reader(words);
  while (!reader.at_end()) {
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(reader.place());
    switch (reader.word() & 0xFFU) {
      case 1: {  // allocate
        const std::uint32_t block = reader.word();
        blocks_[block].assign(reader.word(), '\x7B');
        break;
      }
      case 2:  // free
        blocks_.erase(reader.word());
        break;
      case 3: {  // write
        const std::uint32_t block = reader.word();
        const std::uint32_t offset = reader.word();
        const std::uint32_t bytes = reader.word();
        if (bytes > 0) std::memcpy(memory_at(block, offset), reader.bytes(bytes), bytes);
        break;
      }
      case 4:
        play_read(reader);
        break;
      case 5: {
        play_kernel(reader);
        const auto end = words.begin() + static_cast<std::ptrdiff_t>(reader.place());
        if (recording_ != nullptr) recording_->insert(recording_->end(), begin, end);
        break;
      }
      case 8:  // stamp: a microsecond per kernel
        times_[reader.word()] = static_cast<std::uint64_t>(kernels) * 1000;
        break;
      case 9: {  // stamps
        const std::uint32_t block = reader.word();
        std::memcpy(memory_at(block, 0), times_.data(), reader.word() * sizeof times_[0]);
        break;
      }
      case 10:  // begin recording
        recording_ = &recordings_[reader.word()];
        break;
      case 11:  // end recording
        recording_ = nullptr;
        break;
      case 12:  // play
        play_commands(recordings_.at(reader.word()));
        break;
      case 13:  // forget
        recordings_.erase(reader.word());
        break;
      default: {  // name
        const std::uint32_t number = reader.word();
        const std::uint32_t length = reader.word();
        names_[number] = std::string(reader.bytes(length), length);
      }
    }
  }
}

void FakePlayer::play_read(Reader& reader) {
  const std::uint32_t block = reader.word();
  const std::uint32_t offset = reader.word();
  const std::uint32_t bytes = reader.word();
  void* const to = reinterpret_cast<void*>(static_cast<std::uintptr_t>(reader.int64()));
  const std::uint32_t ticket = reader.word();
  std::memcpy(to, memory_at(block, offset), bytes);
  std::optional<Error> failure;
  {
    const std::lock_guard lock(mutex_);
    failure.swap(failure_);
  }
  device_.finish_read(ticket, std::move(failure));
}

void FakePlayer::play_kernel(Reader& reader) {
  ++kernels;
  const std::string& name = names_.at(reader.word());
  reader.word();  // the op
  const auto memory = [&]() -> MemoryView {
    const std::uint32_t block = reader.word();
    const std::int64_t offset = reader.word();
    const auto dtype = static_cast<DType>(reader.word());
    if (block == 0) return {};
    return {memory_at(block, 0), offset, dtype, {}};
  };
  const auto list = [&] {
    Shape values;
    for (std::uint32_t left = reader.word(); left > 0; --left) values.push_back(reader.int64());
    return values;
  };
  const auto read_field = [&](const Call& call, Field field) {
    switch (field.kind) {
      case FieldKind::kByte:
        reader.expect(1);
        call.at<std::uint8_t>(field) = static_cast<std::uint8_t>(reader.word());
        break;
      case FieldKind::kInt64:
        reader.expect(2);
        call.at<std::int64_t>(field) = reader.int64();
        break;
      case FieldKind::kFloat:
        reader.expect(3);
        call.at<float>(field) = static_cast<float>(reader.real());
        break;
      case FieldKind::kDouble:
        reader.expect(3);
        call.at<double>(field) = reader.real();
        break;
      case FieldKind::kScalar:
        reader.expect(3);
        call.at<Scalar>(field) = reader.real();
        break;
      case FieldKind::kList:
        reader.expect(4);
        call.at<Shape>(field) = list();
        break;
      case FieldKind::kIn:
        reader.expect(5);
        call.at<kernel::In>(field) = memory();
        break;
      case FieldKind::kOut:
        reader.expect(6);
        call.at<kernel::Out>(field) = memory();
        break;
      default:
        fail(ErrorCode::kInternal, "no field that is played");
    }
  };
  Played::for_each([&]<class K>() {
    if (K::name != name) return;
    K played{};
    const Call call(played);
    for (const Field field : call.fields()) read_field(call, field);
    call.compute_on_cpu();
  });
}

}  // namespace eg::testing
