#pragma once

// A call of any kernel, for code that does not know which: devices that write calls down as words,
// or that compute them with other memory. What the fields of a kernel are is found at compile time
// (base/fields.h) and kept as a table of a few bytes, so a kernel costs a device no code.

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

/// What a field of a kernel's struct is. Structs in structs are taken apart.
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
  std::uint16_t offset;  ///< in bytes, from the beginning of the kernel
};

namespace detail {

// Nothing for a struct or an array of fields.
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
    static_assert(!std::is_arithmetic_v<T>, "whole numbers of kernels are int64");
    return std::nullopt;
  }
}

template <class T>
inline constexpr std::size_t kArraySize = 0;
template <class T, std::size_t N>
inline constexpr std::size_t kArraySize<std::array<T, N>> = N;

// Hands every field of a T that begins at `offset` to `add`.
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

/// What is the same for all calls of a kernel.
struct KernelType {
  std::string_view name;
  std::span<const Field> fields;
  std::size_t bytes;  ///< of its struct
  void (*compute_on_cpu)(void* kernel);
};

template <class Kernel>
inline constexpr KernelType kKernelType{
    Kernel::name, detail::kFields<Kernel>, sizeof(Kernel),
    [](void* kernel) { static_cast<Kernel*>(kernel)->compute_on_cpu(); }};

/// A kernel struct whose type is not known. Does not own it.
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

  /// Calls `visit(MemoryView&, bool is_written)` for all memory that is there. What is written may
  /// be read too.
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

  /// True when its memory is another device's; numbers of the host do not count.
  bool is_off_cpu() const;
  /// With the memory that its views name now, which has to be the CPU's. The same call may be
  /// computed again.
  void compute_on_cpu() const { type_->compute_on_cpu(kernel_); }

 private:
  friend class OwnCall;
  Call(const KernelType* type, void* kernel) : type_(type), kernel_(kernel) {}

  const KernelType* type_;
  void* kernel_;
};

/// A copy of a call, to be made later. The texts in it stay the kernel's.
class OwnCall {
 public:
  explicit OwnCall(const Call& call);
  OwnCall(OwnCall&&) noexcept = default;
  OwnCall& operator=(OwnCall&&) = delete;
  ~OwnCall();

  Call call() const { return {type_, kernel_.get()}; }

 private:
  const KernelType* type_;
  std::unique_ptr<std::byte[]> kernel_;
};

/// The device of all memory but the host's numbers, which are written; throws DeviceMismatch.
Device device_of(const Call& call);

/// Runs a call with memory of a device that is not the CPU (runtime/accelerator.h): there, or where
/// that device lacks the kernel on the CPU with copies of its memory, which it says once. What the
/// call holds is not there afterwards.
void run_off_cpu(const Call& call);
/// The same for any call of a thread that may be recorded (runtime/recording.h).
void run_elsewise(const Call& call);

}  // namespace eg::kernel
