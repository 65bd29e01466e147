// The WebGPU device in WebAssembly: the thread that owns the GPU, and the border to the player,
// which is JavaScript (web/src/webgpu).
//
// The thread runs nothing but its event loop. It imports the player's script, which opens the
// device and then calls gpuOpened() or gpuFailed(). From then on it is woken to play what has been
// called. Without threads the only one plays, whenever its event loop gets to it.

#include <array>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <emscripten/bind.h>
#include <emscripten/em_js.h>

#include "autograd/variable.h"
#include "backend/webgpu/device.h"
#include "border.h"
#include "callbacks.h"
#include "dispatch/factories.h"
#include "runtime/inbox.h"

#if EG_THREADS
#include <emscripten/eventloop.h>
#include <emscripten/proxying.h>
#include <pthread.h>
#endif

// clang-format off
EM_JS(void, eg_gpu_start, (const char* url), {
  import(/* @vite-ignore */ UTF8ToString(url)).then(
    (player) => player.start(Object.assign(Module, { wasmMemory, wasmExports })),
    (error) => Module["eg_gpuFailed"](String(error)));
});
EM_JS(void, eg_gpu_play, (const std::uint32_t* words, std::size_t count), {
  Module["gpuPlayer"].play(new Uint32Array(wasmMemory.buffer, words >>> 0, count));
});
EM_JS(void, eg_gpu_play_soon, (), { setTimeout(() => wasmExports["eg_gpuPlay"](), 1); });
// clang-format on

namespace eg::bindings {
namespace {

// What a kernel takes: the dtypes, as bits, of all its memory or of one after the other.
struct Support {
  bool is_for_all = false;
  std::vector<unsigned> dtypes;
};

class GpuPlayer final : public webgpu::Player {
 public:
  // Lines of a name and numbers: "softmax 1 1" for each memory in turn, "copy * 255" for all of
  // it, and "=add" for a formula.
  void set_supported(const std::string& lines);

  void wake(bool now) override;
  bool can_wait() const override;
  bool has(const kernel::Call& call) const override;

#if EG_THREADS
  pthread_t thread{};
#endif

 private:
  std::unordered_map<std::string_view, Support> kernels_;
  std::unordered_map<std::string_view, bool> formulas_;
  std::vector<std::unique_ptr<std::string>> names_;
};

// The numbers of eg.webgpuStats().
std::array<std::uint32_t, 6> player_stats{};

// The one device, from when it is opened until it is lost.
struct Gpu {
  GpuPlayer player;
  std::unique_ptr<webgpu::WebGpuDevice> device;
  std::string adapter;
  std::string url;
  // Who waits for it.
  std::shared_ptr<Inbox> asker;
  std::shared_ptr<JsFunction> answer;
  std::string failure;
};

Gpu& gpu() {
  static auto* const gpu = new Gpu;
  return *gpu;
}

void GpuPlayer::set_supported(const std::string& lines) {
  std::size_t begin = 0;
  while (begin < lines.size()) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    const std::string_view line(lines.data() + begin, end - begin);
    begin = end + 1;
    const std::size_t space = std::min(line.find(' '), line.size());
    const bool is_formula = line.starts_with('=');
    names_.push_back(std::make_unique<std::string>(line.substr(is_formula ? 1 : 0, space)));
    const std::string_view name = *names_.back();
    if (is_formula) {
      formulas_[name] = true;
      continue;
    }
    Support& support = kernels_[name];
    unsigned number = 0;
    for (std::size_t i = space + 1; i <= line.size(); ++i) {
      const char c = i < line.size() ? line[i] : ' ';
      if (c == '*') {
        support.is_for_all = true;
        ++i;
      } else if (c == ' ') {
        support.dtypes.push_back(number);
        number = 0;
      } else {
        number = 10 * number + static_cast<unsigned>(c - '0');
      }
    }
  }
}

bool GpuPlayer::has(const kernel::Call& call) const {
  const auto found = kernels_.find(call.name());
  if (found == kernels_.end()) return false;
  const Support& support = found->second;
  std::size_t place = 0;
  bool fits = true;
  const auto check_memory = [&](const MemoryView& memory) {
    const std::size_t i = support.is_for_all ? 0 : place++;
    if (memory.base == nullptr) return;
    const unsigned allowed = i < support.dtypes.size() ? support.dtypes[i] : 0;
    const unsigned bit = 1U << static_cast<unsigned>(memory.dtype);
    if (memory.device.is_cpu() || (allowed & bit) == 0) fits = false;
  };
  for (const kernel::Field field : call.fields()) {
    using kernel::FieldKind;
    if (field.kind == FieldKind::kIn) check_memory(call.at<kernel::In>(field).view());
    if (field.kind == FieldKind::kOut) check_memory(call.at<kernel::Out>(field).view());
    if (field.kind == FieldKind::kFormula) {
      const kernel::Formula& formula = call.at<kernel::Formula>(field);
      if (formula.shader_numbers == nullptr || !formulas_.contains(formula.op)) fits = false;
    }
    if (field.kind != FieldKind::kOperands) continue;
    const kernel::Operands& operands = call.at<kernel::Operands>(field);
    for (std::size_t i = 0; i < operands.count; ++i) check_memory(operands.all[i].memory);
  }
  return fits;
}

#if EG_THREADS

bool GpuPlayer::can_wait() const { return pthread_equal(pthread_self(), thread) == 0; }

void GpuPlayer::wake(bool now) {
  const auto play_now = [](void*) {
    const std::vector<std::uint32_t> words = gpu().device->take();
    if (!words.empty()) eg_gpu_play(words.data(), words.size());
  };
  const auto play_soon = [](void*) { eg_gpu_play_soon(); };
  emscripten_proxy_async(emscripten_proxy_get_system_queue(), thread,
                         now ? static_cast<void (*)(void*)>(play_now) : play_soon, nullptr);
}

void start_player() {
  const auto run = [](void*) -> void* {
    emscripten_runtime_keepalive_push();
    eg_gpu_start(gpu().url.c_str());
    emscripten_exit_with_live_runtime();
    return nullptr;
  };
  const int error = pthread_create(&gpu().player.thread, nullptr, run, nullptr);
  if (error != 0)
    fail(ErrorCode::kInternal, "[init] no thread for the GPU could be started, error ", error, '.');
  pthread_detach(gpu().player.thread);
}

#else

bool GpuPlayer::can_wait() const { return false; }
void GpuPlayer::wake(bool) { eg_gpu_play_soon(); }
void start_player() { eg_gpu_start(gpu().url.c_str()); }

#endif

void answer_asker(double outcome) {
  gpu().asker->post([answer = std::move(gpu().answer), outcome] { (*answer)({outcome}); });
}

// Called by the player.

void opened(const std::string& supported, const std::string& adapter, double max_block_bytes) {
  Gpu& all = gpu();
  all.player.set_supported(supported);
  all.adapter = adapter;
  const auto most = static_cast<std::size_t>(std::min(max_block_bytes, 2147483648.0));
  // Half of what can be numbered: the adapter does not say how much it has.
  all.device = std::make_unique<webgpu::WebGpuDevice>(
      all.player, webgpu::BlockLimits{most, std::size_t{1} << 31U});
  register_accelerator(DeviceType::kWebGpu, all.device.get());
  answer_asker(1);
}

void failed(const std::string& reason) {
  gpu().failure = reason;
  answer_asker(kFailed);
}

void finish_read(double ticket, const std::string& kind, const std::string& message) {
  std::optional<Error> error;
  if (!kind.empty()) {
    const ErrorCode code = kind == "out-of-memory" ? ErrorCode::kOutOfMemory
                           : kind == "lost"        ? ErrorCode::kDeviceLost
                           : kind == "index"       ? ErrorCode::kIndexOutOfRange
                                                   : ErrorCode::kInternal;
    error.emplace(code, message);
  }
  gpu().device->finish_read(static_cast<std::uint32_t>(ticket), std::move(error));
}

double start(const std::string& url, double answer) {
  const auto function = std::make_shared<JsFunction>(answer);
  return guard([&] {
    gpu().url = url;
    gpu().asker = Inbox::current();
    gpu().answer = function;
    start_player();
    return 0;
  });
}

std::string failure() { return gpu().failure; }
std::string adapter() { return gpu().device == nullptr ? "" : gpu().adapter; }

}  // namespace

EG_EXPORT("readLater")
double read_later(Handle handle, double answer) {
  const auto function = std::make_shared<JsFunction>(answer);
  return guard([&] {
    const Tensor from = packed(detach(handles().get(handle)));
    const Tensor to = Tensor::empty(from.shape(), from.dtype());
    const auto tell = [to, from, function, asker = Inbox::current()](std::optional<Error> error) {
      asker->post([to, function, error] {
        double outcome = kFailed;
        try {
          if (error) throw *error;
          outcome = handles().insert(to);
        } catch (...) {
          keep_error();
        }
        (*function)({outcome});
      });
    };
    const MemoryView memory = from.memory();
    gpu().device->read_later(memory.base, static_cast<std::size_t>(memory.offset), to.data(),
                             byte_count(to.shape(), to.dtype()), tell);
    return 0;
  });
}

// Written by the player after every batch.
EG_EXPORT("gpuStatsAddress")
double stats_address() { return reinterpret_cast<std::uintptr_t>(player_stats.data()); }

EG_EXPORT("gpuStats")
double gpu_stats() {
  if (gpu().device == nullptr) return 0;
  std::vector<double>& words = frame(player_stats.size());
  std::copy(player_stats.begin(), player_stats.end(), words.begin());
  return static_cast<double>(player_stats.size());
}

EG_EXPORT("gpuPlay")
void play() {
  const std::vector<std::uint32_t> words = gpu().device->take();
  if (!words.empty()) eg_gpu_play(words.data(), words.size());
}

EG_EXPORT("gpuMemory")
double gpu_memory() {
  return guard([] {
    if (gpu().device == nullptr) return 0;
    const webgpu::MemoryUse use = gpu().device->memory_use();
    std::vector<double>& words = frame(3);
    words[0] = static_cast<double>(use.bytes);
    words[1] = static_cast<double>(use.peak_bytes);
    words[2] = static_cast<double>(use.blocks);
    return 3;
  });
}

EMSCRIPTEN_BINDINGS(webgpu) {
  emscripten::function("eg_gpuOpened", &opened);
  emscripten::function("eg_gpuFailed", &failed);
  emscripten::function("eg_gpuFinishRead", &finish_read);
  emscripten::function("eg_startGpu", &start);
  emscripten::function("eg_gpuFailure", &failure);
  emscripten::function("eg_gpuAdapter", &adapter);
}

}  // namespace eg::bindings
