#pragma once

// The format of everything that C++ and TypeScript exchange as numbers, described once for two
// readers: tools/border.cpp writes it down as web/src/generated/border.ts, and border_hash() makes
// one number of it, by which a module and a script of different builds recognize each other.

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "backend/webgpu/commands.h"
#include "base/dtype.h"
#include "base/error.h"
#include "base/field_names.h"
#include "kernels/all.h"
#include "ops/op_table.h"
#include "words.h"

namespace eg::bindings {

/// The type of a field that is not a struct itself, as border.ts and its readers call it; empty for
/// structs and arrays.
template <class T>
consteval std::string_view leaf_type() {
  if constexpr (std::is_same_v<T, bool>)
    return "bool";
  else if constexpr (std::is_same_v<T, DType>)
    return "dtype";
  else if constexpr (std::is_enum_v<T>)
    return "byte";
  else if constexpr (std::is_same_v<T, std::uint32_t>)
    return "word";
  else if constexpr (std::is_same_v<T, std::uint64_t> || std::is_same_v<T, std::int64_t>)
    return "int64";
  else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
    return "double";
  else if constexpr (std::is_same_v<T, Scalar>)
    return "scalar";
  else if constexpr (std::is_same_v<T, Shape>)
    return "list";
  else if constexpr (std::is_same_v<T, kernel::In>)
    return "memory";
  else if constexpr (std::is_same_v<T, kernel::OptionalIn>)
    return "optional memory";
  else if constexpr (std::is_same_v<T, kernel::Out>)
    return "result";
  else if constexpr (std::is_same_v<T, kernel::OptionalOut>)
    return "optional result";
  else if constexpr (std::is_same_v<T, kernel::Operands>)
    return "operands";
  else if constexpr (std::is_same_v<T, kernel::Formula>)
    return "formula";
  else if constexpr (std::is_same_v<T, std::string_view>)
    return "name";
  else if constexpr (std::is_same_v<T, webgpu::Text>)
    return "text";
  else if constexpr (std::is_same_v<T, webgpu::Bytes>)
    return "bytes";
  else
    return "";
}

template <class T>
inline constexpr std::size_t kArraySize = 0;
template <class T, std::size_t N>
inline constexpr std::size_t kArraySize<std::array<T, N>> = N;

namespace detail {

/// FNV-1a over texts, each with its end.
class Hash {
 public:
  constexpr void add(std::string_view text) {
    for (const char character : text) add_byte(static_cast<unsigned char>(character));
    add_byte(0);
  }
  constexpr void add(std::uint32_t number) {
    for (int shift = 0; shift < 32; shift += 8) add_byte(number >> shift & 0xFFU);
  }
  constexpr std::uint32_t value() const { return value_; }

 private:
  constexpr void add_byte(std::uint32_t byte) { value_ = (value_ ^ byte) * 16777619U; }
  std::uint32_t value_ = 2166136261U;
};

template <class Enum>
consteval std::uint32_t enum_hash() {
  Hash hash;
  for_each_enumerator<Enum>([&](std::string_view name, std::size_t number) {
    hash.add(name);
    hash.add(static_cast<std::uint32_t>(number));
  });
  return hash.value();
}

template <class T>
constexpr void hash_type(Hash& hash);

// A constant of its own for each struct: compilers limit how long one may be computed.
template <class Struct>
inline constexpr std::uint32_t kStructHash = [] {
  Hash hash;
  for_each_field_name<Struct>([&]<class Field>(std::string_view name) {
    hash.add(name);
    hash_type<Field>(hash);
  });
  return hash.value();
}();

template <class T>
constexpr void hash_type(Hash& hash) {
  if constexpr (kArraySize<T> > 0) {
    hash.add(static_cast<std::uint32_t>(kArraySize<T>));
    hash_type<typename T::value_type>(hash);
  } else if constexpr (leaf_type<T>().empty()) {
    hash.add(kStructHash<T>);
  } else {
    hash.add(leaf_type<T>());
    if constexpr (std::is_enum_v<T>) hash.add(enum_hash<T>());
  }
}

}  // namespace detail

/// Identifies the format of the ops and their arguments, of words and flags, and of the commands
/// and kernels of the GPU's stream.
inline std::uint32_t border_hash() {
  static constexpr std::uint32_t kFormat = [] {
    detail::Hash hash;
    hash.add(detail::enum_hash<DType>());
    hash.add(detail::enum_hash<DeviceType>());
    hash.add(detail::enum_hash<ErrorCode>());
    WordStructs::for_each([&]<class Words>() { hash.add(detail::kStructHash<Words>); });
    FlagEnums::for_each([&]<class Flags>() {
      for_each_flag<Flags>([&](std::string_view name, std::size_t number) {
        hash.add(name);
        hash.add(static_cast<std::uint32_t>(number));
      });
    });
    webgpu::Commands::for_each([&]<class Command>() {
      hash.add(type_name<Command>());
      hash.add(detail::kStructHash<Command>);
    });
    kernel::Kernels::for_each([&]<class Kernel>() {
      hash.add(Kernel::name);
      hash.add(detail::kStructHash<Kernel>);
    });
    return hash.value();
  }();
  return kFormat ^ op_table_hash();
}

}  // namespace eg::bindings
