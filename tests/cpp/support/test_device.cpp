#include "support/test_device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#ifndef __EMSCRIPTEN__
#include <sys/mman.h>
#endif

#include "base/error.h"
#include "kernels/call.h"
#include "runtime/accelerator.h"
#include "runtime/memory.h"

namespace eg::testing {
namespace {

// Addresses at which nothing can be read or written.
class Nowhere {
 public:
  Nowhere() {
#ifdef __EMSCRIPTEN__
    next_ = reinterpret_cast<char*>(0xF0000000U);  // NOLINT: beyond the memory of the module
#else
    void* const reserved =
        mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) std::abort();
    next_ = static_cast<char*>(reserved);
#endif
  }

  void* take() {
    if (!free_.empty()) {
      void* const address = free_.back();
      free_.pop_back();
      return address;
    }
    if (++count_ * kStep > kBytes) std::abort();
    // Reserved, because freeing a block must not need memory.
    if (free_.capacity() < count_) free_.reserve(2 * count_);
    return next_ += kStep;
  }
  void give_back(void* address) { free_.push_back(address); }

 private:
  static constexpr std::size_t kStep = 64;
  static constexpr std::size_t kBytes = std::size_t{64} << 20U;

  char* next_ = nullptr;
  std::size_t count_ = 0;
  std::vector<void*> free_;
};

class TestDevice final : public Accelerator {
 public:
  TestDevice() {
    register_accelerator(DeviceType::kTest, this);
    if (std::getenv("EG_TEST_DEVICE") != nullptr) set_default_device(kTestDevice);  // NOLINT: once
  }

  void* allocate(std::size_t bytes) override {
    void* const memory = allocate_bytes(bytes);
    // Large odd numbers, so that code which expects zeros fails.
    if (bytes > 0) std::memset(memory, 0x7B, std::min(bytes, kMostNoise));
    const std::lock_guard lock(*this);
    try {
      void* const block = nowhere_.take();
      blocks_[block] = {static_cast<char*>(memory), bytes};
      return block;
    } catch (...) {
      // The address is lost, one of a million.
      free_bytes(memory, bytes);
      throw;
    }
  }

  void free(void* block) override {
    const std::lock_guard lock(*this);
    const Block& freed = at(block);
    free_bytes(freed.memory, freed.bytes);
    blocks_.erase(block);
    nowhere_.give_back(block);
  }

  std::size_t bytes(void* block) override {
    const std::lock_guard lock(*this);
    return at(block).bytes;
  }

  void write(void* block, std::size_t offset, const void* from, std::size_t bytes) override {
    const std::lock_guard lock(*this);
    std::memcpy(at(block).memory + offset, from, bytes);
  }

  void read(void* block, std::size_t offset, void* to, std::size_t bytes) override {
    const std::lock_guard lock(*this);
    std::memcpy(to, at(block).memory + offset, bytes);
  }

  bool run(const kernel::Call& call) override {
    const std::lock_guard lock(*this);
    if (lacking == call.name()) return false;
    call.for_each_memory([&](MemoryView& memory, bool) {
      memory.base = at(memory.base).memory;
      memory.device = {};
    });
    call.compute_on_cpu();
    return true;
  }

  std::string_view lacking;

 private:
  struct Block {
    char* memory = nullptr;
    std::size_t bytes = 0;
  };

  // Only the beginning is filled: memory that is never touched costs nothing, however large it is.
  static constexpr std::size_t kMostNoise = std::size_t{1} << 20U;

  Block& at(void* block) {
    const auto found = blocks_.find(block);
    check(found != blocks_.end(), ErrorCode::kInternal, "test device", "no such block.");
    return found->second;
  }

  Nowhere nowhere_;
  std::unordered_map<void*, Block> blocks_;
};

// Never destroyed: tensors of other static objects may outlive it.
TestDevice& device = *new TestDevice;  // NOLINT

}  // namespace

LacksKernel::LacksKernel(const char* name) { device.lacking = name; }
LacksKernel::~LacksKernel() { device.lacking = {}; }

}  // namespace eg::testing
