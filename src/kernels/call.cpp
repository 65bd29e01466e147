#include "kernels/call.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/warning.h"
#include "kernels/op_name.h"
#include "runtime/accelerator.h"
#include "runtime/recording.h"
#include "runtime/storage.h"

namespace eg::kernel {
namespace {

// Lists the distinct dtypes of a call's memory.
std::string dtypes_of(const Call& call) {
  SmallVector<DType, 4> dtypes;
  call.for_each_memory([&](const MemoryView& memory, bool) {
    if (std::find(dtypes.begin(), dtypes.end(), memory.dtype) == dtypes.end())
      dtypes.push_back(memory.dtype);
  });
  std::string text;
  for (const DType dtype : dtypes) text += join_text(text.empty() ? "" : ", ", dtype);
  return text;
}

std::string missing_kernel(const Call& call, Device device) {
  return join_text("device '", device, "' has no kernel '", call.name(), "' of ", dtypes_of(call));
}

// Warns that the CPU computes the call: once per kernel, dtypes and device, or each time when
// all warnings are enabled.
void warn_of_fallback(const Call& call, Device device) {
  static std::mutex mutex;
  static std::map<std::string, WarnOnce> warned;
  const std::string message = missing_kernel(call, device);
  const auto once = [&]() -> WarnOnce& {
    const std::lock_guard lock(mutex);
    return warned[message];
  };
  once().warn(message, " (for ", op_name(call),
              "): the CPU computes it, which waits for the device and copies the data both ways.");
}

// A host copy of a device block, which the CPU computes on.
struct HostCopy {
  void* block;
  IntrusivePtr<Storage> copy;
  bool is_written = false;
};

void run_on_cpu_instead(Accelerator& accelerator, const Call& call) {
  // Whole blocks are written back, so no other thread may write to them in the meantime.
  const std::lock_guard lock(accelerator);
  SmallVector<HostCopy, 4> copies;
  call.for_each_memory([&](MemoryView& memory, bool is_written) {
    if (memory.device.is_cpu()) return;
    HostCopy* known = std::find_if(copies.begin(), copies.end(),
                                   [&](const HostCopy& copy) { return copy.block == memory.base; });
    if (known == copies.end()) {
      const std::size_t bytes = accelerator.bytes(memory.base);
      copies.push_back({memory.base, make_intrusive<Storage>(bytes, Device{})});
      known = copies.end() - 1;
      // Memory that is written is copied as well: a kernel may update it or write only a part.
      accelerator.read(memory.base, 0, known->copy->data(), bytes);
    }
    known->is_written |= is_written;
    memory.base = known->copy->data();
    memory.device = {};
  });
  call.compute_on_cpu();
  for (const HostCopy& copy : copies) {
    if (copy.is_written) accelerator.write(copy.block, 0, copy.copy->data(), copy.copy->bytes());
  }
}

// Computes the numbers that the host needs immediately on the device, then reads them back.
bool ran_for_host(Accelerator& there, Device device, const Call& call) {
  struct Number {
    MemoryView* view;
    MemoryView host;
    IntrusivePtr<Storage> made;
  };
  SmallVector<Number, 2> numbers;
  call.for_each_memory([&](MemoryView& memory, bool) {
    if (!memory.device.is_cpu()) return;
    const auto bytes = static_cast<std::size_t>(item_size(memory.dtype));
    numbers.push_back({&memory, memory, make_intrusive<Storage>(bytes, device)});
    memory = {numbers.back().made->data(), 0, memory.dtype, device};
  });
  const bool has_run = there.run(call);
  for (const Number& number : numbers) {
    *number.view = number.host;
    if (has_run) there.read(number.made->data(), 0, number.host.address(), number.made->bytes());
  }
  return has_run;
}

// Rethrows the error of a read. If this thread may not wait, the message says what it would have
// waited for. The caller that runs the op adds the op's name.
[[noreturn]] void rethrow_read_error(const Error& error, const std::string& reason) {
  if (error.code() != ErrorCode::kWouldBlock) throw;
  fail(ErrorCode::kWouldBlock, reason,
       ", but this thread drives the GPU and cannot wait for it. Read the data with "
       "`await x.data()` and compute it on the CPU, or use a variant with threads and do not pass "
       "`gpu`.");
}

}  // namespace

std::string_view op_name(const Call& call) {
  std::string_view op = call.name();
  for (const Field field : call.fields()) {
    if (field.kind == FieldKind::kFormula) op = call.at<Formula>(field).op;
    if (field.kind == FieldKind::kText) op = call.at<std::string_view>(field);
  }
  return op;
}

bool Call::is_off_cpu() const {
  bool is_off = false;
  for_each_memory([&](const MemoryView& memory, bool) { is_off |= !memory.device.is_cpu(); });
  return is_off;
}

Device device_of(const Call& call) {
  std::optional<Device> device;
  call.for_each_memory([&](const MemoryView& memory, bool is_written) {
    if (is_written && memory.device.is_cpu()) return;
    if (!device) device = memory.device;
    check_same_device(call.name(), *device, memory.device);
  });
  return device.value_or(Device{});
}

// A kernel is plain data except for its lists, which may own memory.
OwnedCall::OwnedCall(const Call& call) : type_(call.type_), kernel_(new std::byte[type_->bytes]) {
  std::memcpy(kernel_.get(), call.kernel_, type_->bytes);
  const Call own = this->call();
  for (const Field field : type_->fields) {
    if (field.kind == FieldKind::kList) new (&own.at<Shape>(field)) Shape(call.at<Shape>(field));
    if (field.kind == FieldKind::kOperands)
      new (&own.at<Operands>(field)) Operands(call.at<Operands>(field));
  }
}

OwnedCall::~OwnedCall() {
  if (kernel_ == nullptr) return;
  for (const Field field : type_->fields) {
    if (field.kind == FieldKind::kList) std::destroy_at(&call().at<Shape>(field));
    if (field.kind == FieldKind::kOperands) std::destroy_at(&call().at<Operands>(field));
  }
}

void run_slow_path(const Call& call) {
  Recording* const active = recording();
  if (active != nullptr) active->note(call);
  // The work that running the call requires must not be recorded itself.
  const RecordingGuard unrecorded(nullptr);
  call.is_off_cpu() ? run_off_cpu(call) : call.compute_on_cpu();
}

void run_off_cpu(const Call& call) {
  const Device device = device_of(call);
  Accelerator& there = accelerator(device);
  try {
    if (ran_for_host(there, device, call)) return;
  } catch (const Error& error) {
    rethrow_read_error(error,
                       join_text("the host needs the result of '", call.name(), "' immediately"));
  }
  warn_of_fallback(call, device);
  try {
    run_on_cpu_instead(there, call);
  } catch (const Error& error) {
    rethrow_read_error(error, missing_kernel(call, device));
  }
}

}  // namespace eg::kernel
