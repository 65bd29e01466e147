#pragma once

// A type-erased kernel call, for code that works with any kernel: devices that encode calls as
// words, and code that computes a call with other memory. The fields of a kernel are found at
// compile time (base/fields.h) and stored as a table of a few bytes, so a device needs no code per
// kernel.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/fields.h"
#include "base/scalar.h"
#include "kernels/elementwise.h"
#include "kernels/memory.h"
#include "kernels/operand.h"

namespace eg::kernel {

/// The type of a field of a kernel's struct. Nested structs are flattened into their fields.
enum class FieldKind : std::uint8_t {
  kByte,  ///< bool, an enum, a dtype
  kInt64,
  kFloat,
  kDouble,
  kScalar,
  kList,  ///< a Shape, Strides or Dims
  kIn,
  kOptionalIn,
  kOut,
  kOptionalOut,
  kOperands,
  kFormula,
  kText,
};

constexpr bool is_read_memory(FieldKind kind) {
  return kind == FieldKind::kIn || kind == FieldKind::kOptionalIn;
}
constexpr bool is_written_memory(FieldKind kind) {
  return kind == FieldKind::kOut || kind == FieldKind::kOptionalOut;
}

struct Field {
  FieldKind kind;
  std::uint16_t offset;  ///< in bytes, from the start of the kernel's struct
};

namespace detail {

// Returns nullopt for a struct or an array, which consist of several fields.
template <class T>
constexpr std::optional<FieldKind> leaf_kind() {
  if constexpr (std::is_same_v<T, bool> || std::is_enum_v<T>) {
    static_assert(sizeof(T) == 1);
    return FieldKind::kByte;
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return FieldKind::kInt64;
  } else if constexpr (std::is_same_v<T, float>) {
    return FieldKind::kFloat;
  } else if constexpr (std::is_same_v<T, double>) {
    return FieldKind::kDouble;
  } else if constexpr (std::is_same_v<T, Scalar>) {
    return FieldKind::kScalar;
  } else if constexpr (std::is_same_v<T, Shape>) {
    return FieldKind::kList;
  } else if constexpr (std::is_same_v<T, In>) {
    return FieldKind::kIn;
  } else if constexpr (std::is_same_v<T, OptionalIn>) {
    return FieldKind::kOptionalIn;
  } else if constexpr (std::is_same_v<T, Out>) {
    return FieldKind::kOut;
  } else if constexpr (std::is_same_v<T, OptionalOut>) {
    return FieldKind::kOptionalOut;
  } else if constexpr (std::is_same_v<T, Operands>) {
    return FieldKind::kOperands;
  } else if constexpr (std::is_same_v<T, Formula>) {
    return FieldKind::kFormula;
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    return FieldKind::kText;
  } else {
    static_assert(!std::is_arithmetic_v<T>, "integers in kernel structs must be std::int64_t");
    return std::nullopt;
  }
}

template <class T>
inline constexpr std::size_t kArraySize = 0;
template <class T, std::size_t N>
inline constexpr std::size_t kArraySize<std::array<T, N>> = N;

// Calls `add` for every field of a T located at `offset`.
template <class T, class Add>
constexpr void for_each_field(std::size_t offset, const Add& add) {
  constexpr std::optional<FieldKind> kKind = leaf_kind<T>();
  if constexpr (kKind) {
    add(Field{*kKind, static_cast<std::uint16_t>(offset)});
  } else if constexpr (kArraySize<T> > 0) {
    using Element = typename T::value_type;
    for (std::size_t i = 0; i < kArraySize<T>; ++i)
      for_each_field<Element>(offset + i * sizeof(Element), add);
  } else {
    [&]<class... U>(std::tuple<U...>*) {
      std::size_t i = 0;
      (for_each_field<U>(offset + kFieldOffsets<T>[i++], add), ...);
    }(static_cast<FieldsOf<T>*>(nullptr));
  }
}

template <class T>
constexpr std::size_t count_leaves() {
  std::size_t count = 0;
  for_each_field<T>(0, [&](Field) { ++count; });
  return count;
}

template <class Kernel>
inline constexpr auto kFields = [] {
  std::array<Field, count_leaves<Kernel>()> fields{};
  std::size_t count = 0;
  for_each_field<Kernel>(0, [&](Field field) { fields[count++] = field; });
  return fields;
}();

}  // namespace detail

/// The description of a kernel, shared by all of its calls.
struct KernelType {
  std::string_view name;
  std::span<const Field> fields;
  std::size_t bytes;  ///< size of the kernel's struct
  void (*compute_on_cpu)(void* kernel);
};

template <class Kernel>
inline constexpr KernelType kKernelType{
    Kernel::name, detail::kFields<Kernel>, sizeof(Kernel),
    [](void* kernel) { static_cast<Kernel*>(kernel)->compute_on_cpu(); }};

/// A non-owning, type-erased reference to a kernel struct.
class Call {
 public:
  template <class Kernel>
  explicit Call(Kernel& kernel) : type_(&kKernelType<Kernel>), kernel_(&kernel) {}

  std::string_view name() const { return type_->name; }
  std::span<const Field> fields() const { return type_->fields; }
  template <class T>
  T& at(Field field) const {
    return *reinterpret_cast<T*>(static_cast<char*>(kernel_) + field.offset);
  }

  /// Calls `visit(MemoryView&, bool is_written)` for all memory that is present. Memory that is
  /// written may also be read.
  template <class Visit>
  void for_each_memory(const Visit& visit) const {
    const auto visit_one = [&](MemoryView& memory, bool is_written) {
      if (memory.base != nullptr) visit(memory, is_written);
    };
    for (const Field field : fields()) {
      if (is_read_memory(field.kind)) visit_one(at<In>(field).view(), false);
      if (is_written_memory(field.kind)) visit_one(at<Out>(field).view(), true);
      if (field.kind != FieldKind::kOperands) continue;
      bool is_written = true;
      for (Operand& operand : at<Operands>(field))
        visit_one(operand.memory, std::exchange(is_written, false));
    }
  }

  /// Whether any memory of the call is on a device other than the CPU.
  bool is_off_cpu() const;
  /// Computes the kernel on the memory that its views refer to now, which must be on the CPU. The
  /// same call may be computed repeatedly.
  void compute_on_cpu() const { type_->compute_on_cpu(kernel_); }

 private:
  friend class OwnedCall;
  Call(const KernelType* type, void* kernel) : type_(type), kernel_(kernel) {}

  const KernelType* type_;
  void* kernel_;
};

/// An owning copy of a call, to be run later. Its strings are still owned by the original kernel.
class OwnedCall {
 public:
  explicit OwnedCall(const Call& call);
  OwnedCall(OwnedCall&&) noexcept = default;
  OwnedCall& operator=(OwnedCall&&) = delete;
  ~OwnedCall();

  Call call() const { return {type_, kernel_.get()}; }

 private:
  const KernelType* type_;
  std::unique_ptr<std::byte[]> kernel_;
};

/// Returns the device of the call's memory; host numbers, which are CPU memory that is written, do
/// not count. Throws DeviceMismatch when the memory is on several devices.
Device device_of(const Call& call);

/// Runs a call whose memory is on a device other than the CPU (runtime/accelerator.h). When the
/// device lacks the kernel, the CPU computes it on copies of the memory, and a warning is given
/// once. The call must not be used afterwards: its views may have been replaced.
void run_off_cpu(const Call& call);
/// Runs a call on any device, and records it when the thread is recording (runtime/recording.h).
void run_slow_path(const Call& call);

}  // namespace eg::kernel
