#include "support/fake_player.h"

#include <bit>
#include <chrono>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>

#include "base/fields.h"
#include "base/type_list.h"
#include "kernels/all.h"

namespace eg::testing {
namespace {

using kernel::Call;
using kernel::Field;
using kernel::FieldKind;

// The kernels that it plays. It cannot play elementwise formulas, because their code is not in the
// stream, nor kernels whose structs contain numbers of the host.
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

// Batches that no thread waits for are played after this delay.
constexpr std::chrono::milliseconds kSoon{20};

}  // namespace

// Reads the words of a batch in order.
class FakePlayer::Reader {
 public:
  explicit Reader(const std::vector<std::uint32_t>& words) : words_(words) {}

  bool at_end() const { return position_ >= words_.size(); }
  std::size_t position() const { return position_; }
  std::uint32_t word() { return words_.at(position_++); }
  std::int64_t int64() {
    const std::uint64_t low = word();
    return static_cast<std::int64_t>(low | std::uint64_t{word()} << 32U);
  }
  double real() { return std::bit_cast<double>(int64()); }

  template <class Command>
  Command command() {
    Command command{};
    std::apply([this](auto&... fields) { (this->read(fields), ...); }, fields_of(command));
    return command;
  }

 private:
  void read(std::uint32_t& value) { value = word(); }
  void read(std::uint64_t& value) { value = static_cast<std::uint64_t>(int64()); }
  void read(webgpu::Bytes& bytes) {
    const std::size_t count = word();
    bytes = std::as_bytes(std::span(words_).subspan(position_)).first(count);
    position_ += (count + 3) / 4;
  }
  void read(webgpu::Text& text) {
    webgpu::Bytes bytes;
    read(bytes);
    text.characters = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  const std::vector<std::uint32_t>& words_;
  std::size_t position_ = 0;
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
  if (now) ++waits;
  woken_.notify_one();
}

bool FakePlayer::can_wait() const { return std::this_thread::get_id() != thread_.get_id(); }

bool FakePlayer::has(const Call& call) const {
  bool is_played = false;
  Played::for_each([&]<class K>() { is_played |= K::name == call.name(); });
  return is_played;
}

void FakePlayer::reopen() {
  {
    const std::lock_guard lock(gpu_mutex_);
    blocks_.clear();
    names_.clear();
    recordings_.clear();
  }
  device_.reopen(kLimits);
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
    const std::lock_guard lock(playing_mutex_);
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
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(reader.position());
    const std::uint32_t number = reader.word() & 0xFFU;
    webgpu::Commands::for_each([&]<class Command>() {
      if (number != webgpu::number_of<Command>(webgpu::Commands())) return;
      play(reader.command<Command>(), reader);
      if (!std::is_same_v<Command, webgpu::Kernel> || recording_ == nullptr) return;
      const auto end = words.begin() + static_cast<std::ptrdiff_t>(reader.position());
      recording_->insert(recording_->end(), begin, end);
    });
  }
}

void FakePlayer::play(const webgpu::Allocate& command, Reader&) {
  blocks_[command.block].assign(command.bytes, '\x7B');
}

void FakePlayer::play(const webgpu::Free& command, Reader&) { blocks_.erase(command.block); }

void FakePlayer::play(const webgpu::Use&, Reader&) {}

void FakePlayer::play(const webgpu::Idle&, Reader&) {}

void FakePlayer::play(const webgpu::Write& command, Reader&) {
  if (!command.bytes.empty())
    std::memcpy(memory_at(command.block, command.offset), command.bytes.data(),
                command.bytes.size());
}

void FakePlayer::play(const webgpu::Name& command, Reader&) {
  names_[command.number] = std::string(command.text.characters);
}

// A microsecond per kernel.
void FakePlayer::play(const webgpu::Stamp& command, Reader&) {
  times_[command.slot] = static_cast<std::uint64_t>(kernels) * 1000;
}

void FakePlayer::play(const webgpu::Stamps& command, Reader&) {
  std::memcpy(memory_at(command.block, 0), times_.data(), command.count * sizeof times_[0]);
}

void FakePlayer::play(const webgpu::BeginRecording& command, Reader&) {
  recording_ = &recordings_[command.recording];
}

void FakePlayer::play(const webgpu::EndRecording&, Reader&) { recording_ = nullptr; }

void FakePlayer::play(const webgpu::Play& command, Reader&) {
  play_commands(recordings_.at(command.recording));
}

void FakePlayer::play(const webgpu::Forget& command, Reader&) {
  recordings_.erase(command.recording);
}

void FakePlayer::play(const webgpu::Read& command, Reader&) {
  void* const to = reinterpret_cast<void*>(static_cast<std::uintptr_t>(command.address));
  std::memcpy(to, memory_at(command.block, command.offset), command.count);
  std::optional<Error> failure;
  {
    const std::lock_guard lock(mutex_);
    failure.swap(failure_);
  }
  device_.finish_read(command.ticket, std::move(failure));
}

void FakePlayer::play(const webgpu::Kernel& command, Reader& reader) {
  ++kernels;
  const std::string& name = names_.at(command.kernel);
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
        call.at<std::uint8_t>(field) = static_cast<std::uint8_t>(reader.word());
        break;
      case FieldKind::kInt64:
        call.at<std::int64_t>(field) = reader.int64();
        break;
      case FieldKind::kFloat:
        call.at<float>(field) = static_cast<float>(reader.real());
        break;
      case FieldKind::kDouble:
        call.at<double>(field) = reader.real();
        break;
      case FieldKind::kScalar:
        call.at<Scalar>(field) =
            reader.word() == 0 ? Scalar(reader.real()) : Scalar(reader.int64());
        break;
      case FieldKind::kList:
        new (&call.at<Shape>(field)) Shape(list());
        break;
      case FieldKind::kIn:
      case FieldKind::kOptionalIn:
      case FieldKind::kOut:
      case FieldKind::kOptionalOut:
        call.at<kernel::In>(field).view() = memory();
        break;
      default:
        fail(ErrorCode::kInternal, "no field that is played");
    }
  };
  Played::for_each([&]<class K>() {
    if (K::name != name) return;
    // Filled field by field, because the struct's memory views have no default.
    alignas(K) std::array<std::byte, sizeof(K)> bytes{};
    K* const played = reinterpret_cast<K*>(bytes.data());
    const Call call(*played);
    for (const Field field : call.fields()) read_field(call, field);
    call.compute_on_cpu();
    std::destroy_at(played);
  });
}

}  // namespace eg::testing
