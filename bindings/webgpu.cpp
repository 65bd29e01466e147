// The WebGPU device in WebAssembly: the thread that owns the GPU, and the interface to the player,
// which executes the recorded commands and is written in JavaScript (web/src/webgpu).
//
// The thread only runs its event loop. It imports the player's script, which opens the device and
// then calls opened() or failed(). From then on the thread is woken to execute recorded commands.
// Where there are no threads, or where init() received a GPU or a device, which cannot be sent to
// another thread, the main thread executes the commands in its event loop; then no thread may block
// on them.
//
// All of this starts when the device is first used. A lost GPU stays lost until init() is called
// again, which opens a new one on the same thread.

#include <array>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <emscripten/bind.h>
#include <emscripten/em_js.h>

#include "autograd/engine/engine.h"
#include "autograd/graph/variable.h"
#include "backend/webgpu/device.h"
#include "base/sharing.h"
#include "base/thread.h"
#include "border.h"
#include "callbacks.h"
#include "dispatch/factories.h"
#include "gpu_support.h"
#include "runtime/inbox.h"
#include "words.h"

#if EG_THREADS
#include <emscripten/eventloop.h>
#include <emscripten/proxying.h>
#include <emscripten/threading.h>
#include <pthread.h>
#endif

// clang-format off
EM_JS(void, eg_gpu_start, (const char* url), {
  import(/* @vite-ignore */ UTF8ToString(url)).then(
    (player) => player.start(Object.assign(Module, { wasmMemory, wasmExports })),
    (error) => Module["eg_gpuFailed"](String(error), false));
});
EM_JS(void, eg_gpu_play, (const std::uint32_t* words, std::size_t count), {
  Module["gpuPlayer"].play(new Uint32Array(wasmMemory.buffer, words >>> 0, count));
});
EM_JS(void, eg_gpu_close, (), {
  Module["gpuPlayer"].close().then(() => Module["eg_gpuClosed"]());
});
EM_JS(void, eg_gpu_play_soon, (), { setTimeout(() => wasmExports["eg_gpuPlayWhenQuiet"](), 1); });
EM_JS(void, eg_gpu_play_next, (), { setTimeout(() => wasmExports["eg_gpuPlay"](), 0); });
EM_JS(bool, eg_is_node, (), { return ENVIRONMENT_IS_NODE; });
// clang-format on

namespace eg::bindings {

// Executes all recorded commands. Must be called on the player's thread.
EG_EXPORT("gpuPlay") void play();

namespace {

// The player's thread.
class GpuPlayer final : public webgpu::Player {
 public:
  void wake(bool now) override;
  bool can_wait() const override;
  bool has_clock() const override { return has_gpu_clock; }
  bool has(const kernel::Call& call) const override { return support.has(call); }

  /// Makes the player open its device, on the thread that then executes its commands.
  void open();
  /// Makes the player close its device; returns false if it runs on the main thread.
  bool close();

  GpuSupport support;
  bool has_gpu_clock = false;
  bool plays_on_main_thread = false;

 private:
#if EG_THREADS
  pthread_t thread_{};
  bool has_thread_ = false;
#endif
};

// The numbers of eg.webgpuStats().
std::array<double, 8> player_stats{};

// The WebGPU device, and the callers that wait until it is open.
struct Gpu {
  GpuPlayer player;
  std::string url;
  bool is_allowed = false;

  std::mutex mutex;
  std::condition_variable changed;
  enum class State : std::uint8_t { kClosed, kOpening, kOpen, kFailed } state = State::kClosed;
  struct Waiter {
    std::shared_ptr<Inbox> inbox;
    std::shared_ptr<JsFunction> answer;
  };
  std::vector<Waiter> waiters;
  // At most one for each thread; told of every loss.
  std::vector<Waiter> loss_listeners;
  // Once opened, the device object is never destroyed, even if the GPU is lost, because tensors
  // refer to it.
  std::unique_ptr<webgpu::WebGpuDevice> device;
  std::string adapter;
  std::string failure;
  // Whether what was passed to init() could not be used.
  bool is_refused = false;
};

// The outcome of opening with the GPU or device that init() received.
constexpr double kRefused = -2;

Gpu& gpu() {
  static auto* const gpu = new Gpu;
  return *gpu;
}

// Runs work on the thread of a mailbox, which also destroys it: no copy stays here. In a build
// without threads, nothing would process the mailbox, so it runs directly.
void run_on(Inbox& inbox, std::function<void()> work) {
  if (&inbox == Inbox::current().get())
    work();
  else
    inbox.post(std::move(work));
}

#if EG_THREADS

bool GpuPlayer::can_wait() const {
  return !plays_on_main_thread && pthread_equal(pthread_self(), thread_) == 0;
}

void GpuPlayer::wake(bool now) {
  const auto play_now = [](void*) { play(); };
  const auto play_soon = [](void*) { eg_gpu_play_soon(); };
  emscripten_proxy_async(emscripten_proxy_get_system_queue(), thread_,
                         now ? static_cast<void (*)(void*)>(play_now) : play_soon, nullptr);
}

void GpuPlayer::open() {
  if (plays_on_main_thread) {
    thread_ = emscripten_main_runtime_thread_id();
    has_thread_ = true;
  }
  if (has_thread_) {
    const auto start = [](void*) { eg_gpu_start(gpu().url.c_str()); };
    emscripten_proxy_async(emscripten_proxy_get_system_queue(), thread_, start, nullptr);
    return;
  }
  const auto run = [](void*) -> void* {
    emscripten_runtime_keepalive_push();
    eg_gpu_start(gpu().url.c_str());
    emscripten_exit_with_live_runtime();
    return nullptr;
  };
  const ThreadMemory memory("init");
  share_objects();
  const int error = pthread_create(&thread_, nullptr, run, nullptr);
  check(error == 0, ErrorCode::kOutOfMemory, "init",
        "the system cannot start a thread for the GPU, error ", error, ": too many are running.");
  pthread_detach(thread_);
  has_thread_ = true;
}

bool GpuPlayer::close() {
  if (plays_on_main_thread) return false;
  const auto run = [](void*) { eg_gpu_close(); };
  return emscripten_proxy_async(emscripten_proxy_get_system_queue(), thread_, run, nullptr) != 0;
}

// A page's main thread cannot start a worker while it is blocked.
bool can_wait_for_opening() {
  return !gpu().player.plays_on_main_thread &&
         (eg_is_node() || !emscripten_is_main_runtime_thread());
}

#else

bool GpuPlayer::can_wait() const { return false; }
void GpuPlayer::wake(bool now) { now ? eg_gpu_play_next() : eg_gpu_play_soon(); }
void GpuPlayer::open() { eg_gpu_start(gpu().url.c_str()); }
bool GpuPlayer::close() { return false; }
bool can_wait_for_opening() { return false; }

#endif

// Must be called with the mutex locked.
void begin_opening() {
  Gpu& all = gpu();
  if (all.state == Gpu::State::kOpening) return;
  all.player.open();
  all.state = Gpu::State::kOpening;
}

void opening_ended(Gpu::State state) {
  Gpu& all = gpu();
  std::vector<Gpu::Waiter> waiters;
  {
    const std::lock_guard lock(all.mutex);
    all.state = state;
    all.changed.notify_all();
    waiters.swap(all.waiters);
  }
  const double failed = all.is_refused ? kRefused : kFailed;
  const double outcome = state == Gpu::State::kOpen ? 1 : failed;
  for (const Gpu::Waiter& waiter : waiters) {
    run_on(*waiter.inbox, [answer = waiter.answer, outcome] { (*answer)({outcome}); });
  }
}

// Opens the device at its first use, if init() has not opened it.
void open_on_first_use() {
  Gpu& all = gpu();
  check(all.is_allowed, ErrorCode::kDeviceUnavailable, "webgpu",
        "init() was called with webgpu: 'off'. Call `await shutdown()` and init() without it.");
  check(can_wait_for_opening(), ErrorCode::kDeviceUnavailable, "webgpu",
        "the device is not open, and this thread cannot block until it is. Open it first with "
        "`await init({ webgpu: 'required' })`.");
  std::unique_lock lock(all.mutex);
  begin_opening();
  all.changed.wait(lock, [&] { return all.state != Gpu::State::kOpening; });
  check(all.state == Gpu::State::kOpen, ErrorCode::kDeviceUnavailable, "webgpu", all.failure);
}

// Called by the player.

void opened(const std::string& supported, const std::string& adapter, double max_block_bytes,
            bool has_clock) {
  Gpu& all = gpu();
  const auto most = static_cast<std::size_t>(std::min(max_block_bytes, 2147483648.0));
  const webgpu::BlockLimits limits{most, std::uint64_t{1} << 30U};
  if (all.device == nullptr) {
    all.player.support.read(supported);
    all.player.has_gpu_clock = has_clock;
    all.device = std::make_unique<webgpu::WebGpuDevice>(all.player, limits);
    register_accelerator(DeviceType::kWebGpu, all.device.get());
  } else {
    all.device->reopen(limits);
  }
  all.adapter = adapter;
  Engine::instance().start_ahead(Device{DeviceType::kWebGpu}.index,
                                 [] { opening_ended(Gpu::State::kOpen); });
}

void failed(const std::string& reason, bool is_refused) {
  gpu().failure = reason;
  gpu().is_refused = is_refused;
  opening_ended(Gpu::State::kFailed);
}

// The state changes before readers learn of the loss, because they may call init() at once.
void lost(const std::string& reason) {
  std::vector<Gpu::Waiter> listeners;
  {
    const std::lock_guard lock(gpu().mutex);
    gpu().state = Gpu::State::kClosed;
    listeners = gpu().loss_listeners;
  }
  const Error error = gpu().device->lose(reason);
  for (const Gpu::Waiter& listener : listeners) {
    run_on(*listener.inbox, [answer = listener.answer, error] {
      try {
        throw Error(error);
      } catch (...) {
        store_error();
      }
      (*answer)({kFailed});
    });
  }
}

void closed() {
  const std::lock_guard lock(gpu().mutex);
  gpu().state = Gpu::State::kClosed;
  gpu().changed.notify_all();
}

void finish_read(double ticket, const std::string& kind, const std::string& message) {
  std::optional<Error> error;
  if (!kind.empty()) {
    const ErrorCode code = kind == "out-of-memory" ? ErrorCode::kOutOfMemory
                           : kind == "lost"        ? ErrorCode::kDeviceLost
                           : kind == "index"       ? ErrorCode::kIndexOutOfRange
                           : kind == "argument"    ? ErrorCode::kInvalidArgument
                                                   : ErrorCode::kInternal;
    error.emplace(code, message);
  }
  gpu().device->finish_read(static_cast<std::uint32_t>(ticket), std::move(error));
}

// Returns why the device could not be opened.
std::string failure() { return gpu().failure; }

// Returns the adapter as JSON; "" without a device.
std::string adapter() {
  const std::lock_guard lock(gpu().mutex);
  return gpu().state == Gpu::State::kOpen ? gpu().adapter : "";
}

// Allows a WebGPU device. `url` is the script of its player, which runs on the main thread or on a
// separate one.
void allow(const std::string& url, bool plays_on_main_thread) {
  gpu().is_allowed = true;
  gpu().url = url;
  gpu().player.plays_on_main_thread = plays_on_main_thread;
}

}  // namespace

// Registers the WebGPU device, which is opened at its first use, or rejected if it is not allowed.
EG_EXPORT("connectGpu")
void connect() { set_accelerator_opener(DeviceType::kWebGpu, &open_on_first_use); }

// Opens the WebGPU device unless it is open; then calls the function `answer`, with kFailed if that
// failed, and with kRefused if what init() was given cannot be used.
EG_EXPORT("openGpu")
double open(double answer) {
  return guard<StackNeed::kMuch>([&] {
    const auto function = received<JsFunction>(answer);
    Gpu& all = gpu();
    std::unique_lock lock(all.mutex);
    if (all.state != Gpu::State::kOpen) {
      begin_opening();
      all.waiters.push_back({Inbox::current(), function});
      return 0;
    }
    lock.unlock();
    (*function)({1});
    return 0;
  });
}

// Makes the GPU's thread close the device, and waits for it, but only for a limited time because
// the process is about to end.
EG_EXPORT("closeGpu")
void close() {
  if (!NativeCall::is_possible()) return;
  constexpr std::chrono::seconds kTimeout{10};
  Gpu& all = gpu();
  std::unique_lock lock(all.mutex);
  if (all.state != Gpu::State::kOpen || !all.player.close()) return;
  all.changed.wait_for(lock, kTimeout, [&] { return all.state == Gpu::State::kClosed; });
}

EG_EXPORT("gpuIsLost")
double is_lost() { return gpu().device != nullptr && gpu().device->is_lost() ? 1 : 0; }

// Calls the function `answer` with a tensor of the same values on the CPU, or with kFailed.
EG_EXPORT("readLater")
double read_later(Handle handle, double answer) {
  return guard<StackNeed::kMuch>([&] {
    const auto function = received<JsFunction>(answer);
    const Tensor& asked = handles().get(handle);
    check_host_access(asked.storage()->data(), asked.device());
    const Tensor from = packed(detach(asked));
    const Tensor to = Tensor::empty(from.shape(), from.dtype());
    // Given back to this thread, so that the GPU's thread releases no tensors.
    auto owned = std::make_shared<const TensorList>(TensorList{to, from});
    auto notify = [owned = std::move(owned), function,
                   waiter = Inbox::current()](std::optional<Error> error) mutable {
      run_on(*waiter,
             [owned = std::move(owned), function = std::move(function), error = std::move(error)] {
               double outcome = kFailed;
               try {
                 if (error) throw *error;
                 outcome = handles().insert(owned->front());
               } catch (...) {
                 store_error();
               }
               (*function)({outcome});
             });
    };
    const MemoryView memory = from.memory();
    gpu().device->read_later(memory.base, static_cast<std::size_t>(memory.offset), to.data(),
                             byte_count(to.shape(), to.dtype()), std::move(notify));
    return 0;
  });
}

// Calls `listener` with kFailed at every loss, after which the error is that of takeError(),
// instead of this thread's previous one; 0 only removes that.
EG_EXPORT("whenGpuLost")
double when_lost(double listener) {
  return guard([&] {
    Gpu::Waiter waiter{Inbox::current(), nullptr};
    if (listener != 0) waiter.answer = received<JsFunction>(listener);
    std::vector<Gpu::Waiter> removed;
    const std::lock_guard lock(gpu().mutex);
    std::vector<Gpu::Waiter>& all = gpu().loss_listeners;
    const auto own = std::ranges::find(all, waiter.inbox, &Gpu::Waiter::inbox);
    if (own != all.end()) {
      removed.push_back(std::move(*own));
      all.erase(own);
    }
    if (waiter.answer != nullptr) all.push_back(std::move(waiter));
    return 0;
  });
}

// Writes the number of the block of a packed tensor on the device, the first byte and the number of
// bytes of its elements. With `is_written`, the tensor gets a new version.
EG_EXPORT("gpuPlace")
double place(Handle handle, bool is_written) {
  return guard<StackNeed::kMuch>([&] {
    const Tensor& tensor = handles().get(handle);
    const MemoryView memory = tensor.memory();
    gpu().device->check_not_lost(memory.base);
    if (is_written) {
      check(!requires_grad(tensor), ErrorCode::kInvalidArgument, "toGPUBuffer",
            "a tensor that requires a gradient cannot be written from outside: pass "
            "x.detach(), whose changes backward() notices.");
      check_inplace(tensor, false);
      tensor.bump_version();
    }
    std::vector<double>& words = frame(3);
    words[0] = static_cast<double>(webgpu::block_of(memory.base));
    words[1] = static_cast<double>(memory.offset);
    words[2] = static_cast<double>(byte_count(tensor.shape(), tensor.dtype()));
    return 3;
  });
}

// Returns the address of the counters that the player writes after every batch.
EG_EXPORT("gpuStatsAddress")
double stats_address() { return reinterpret_cast<std::uintptr_t>(player_stats.data()); }

// Writes the counters of the player, which are those of webgpuStats; returns 0 without a device.
EG_EXPORT("gpuStats")
double gpu_stats() {
  if (gpu().device == nullptr) return 0;
  std::vector<double>& words = frame(player_stats.size());
  std::copy(player_stats.begin(), player_stats.end(), words.begin());
  return static_cast<double>(player_stats.size());
}

void play() {
  if (gpu().device == nullptr) return;
  const std::vector<std::uint32_t> words = gpu().device->take();
  if (words.empty()) return;
  const JavaScriptCall call;
  eg_gpu_play(words.data(), words.size());
}

EG_EXPORT("gpuPlayWhenQuiet")
void play_when_quiet() {
  if (gpu().device->has_grown())
    eg_gpu_play_soon();
  else
    play();
}

// Writes the bytes in use, their maximum so far, and the number of buffers; returns 0 without a
// device.
EG_EXPORT("gpuMemory")
double gpu_memory() {
  return guard([] {
    if (gpu().device == nullptr) return 0;
    const webgpu::MemoryUse use = gpu().device->memory_use();
    return static_cast<int>(
        write_words(frame(), GpuMemoryWords{.gpu_bytes = static_cast<double>(use.bytes),
                                            .gpu_peak_bytes = static_cast<double>(use.peak_bytes),
                                            .gpu_buffers = static_cast<double>(use.blocks)}));
  });
}

EMSCRIPTEN_BINDINGS(webgpu) {
  emscripten::function("eg_gpuOpened", &opened);
  emscripten::function("eg_gpuFailed", &failed);
  emscripten::function("eg_gpuLost", &lost);
  emscripten::function("eg_gpuClosed", &closed);
  emscripten::function("eg_gpuFinishRead", &finish_read);
  emscripten::function("eg_allowGpu", &allow);
  emscripten::function("eg_gpuFailure", &failure);
  emscripten::function("eg_gpuAdapter", &adapter);
}

}  // namespace eg::bindings
