#include "backend/cpu/elementwise/convert.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <type_traits>

#include "backend/cpu/vector/half_rows.h"
#include "base/float8.h"

namespace eg::cpu {
namespace {

template <class To, class From>
To convert(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != From{0};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // Where a C++ cast is undefined, the result is that of x86, which PyTorch's users see.
    if constexpr (sizeof(To) < sizeof(std::int64_t)) {
      return static_cast<To>(convert<std::int64_t>(value));
    } else {
      constexpr auto kLimit = static_cast<From>(9223372036854775808.0);
      if constexpr (std::is_unsigned_v<To>) {
        if (value >= kLimit && value < 2 * kLimit) return static_cast<To>(value);
        return static_cast<To>(convert<std::int64_t>(value));
      }
      const bool fits = value >= -kLimit && value < kLimit;
      return fits ? static_cast<To>(value) : std::numeric_limits<To>::min();
    }
  } else {
    return static_cast<To>(value);
  }
}

template <class To, class From>
void convert_row(void* to, std::int64_t to_step, const void* from, std::int64_t from_step,
                 std::int64_t count) {
  auto* out = static_cast<To*>(to);
  const auto* in = static_cast<const From*>(from);
  for (std::int64_t i = 0; i < count; ++i) out[i * to_step] = convert<To>(in[i * from_step]);
}

RowFunction row_function(DType to, DType from) {
  return visit_dtype(to, [&]<class To>() {
    return visit_dtype(from, [&]<class From>() -> RowFunction { return convert_row<To, From>; });
  });
}

constexpr std::int64_t kTile = 256;

// Elements of a computed dtype, packed.
struct Tile {
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(bytes.data());
  }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(bytes.data());
  }

  alignas(16) std::array<char, kTile * sizeof(std::int64_t)> bytes;
};

void load_bytes(float (*convert)(std::uint8_t), const void* from, std::int64_t from_step,
                Tile& tile, std::int64_t count) {
  const auto* in = static_cast<const std::uint8_t*>(from);
  for (std::int64_t i = 0; i < count; ++i) tile.as<float>()[i] = convert(in[i * from_step]);
}

void store_bytes(std::uint8_t (*convert)(float), void* to, std::int64_t to_step, const Tile& tile,
                 std::int64_t count) {
  auto* out = static_cast<std::uint8_t*>(to);
  for (std::int64_t i = 0; i < count; ++i) out[i * to_step] = convert(tile.as<float>()[i]);
}

template <class Stored, class Computed>
void load_integers(const void* from, std::int64_t from_step, Tile& tile, std::int64_t count) {
  convert_row<Computed, Stored>(tile.as<Computed>(), 1, from, from_step, count);
}

template <class Stored, class Computed>
void store_integers(void* to, std::int64_t to_step, const Tile& tile, std::int64_t count) {
  convert_row<Stored, Computed>(to, to_step, tile.as<Computed>(), 1, count);
}

// Converts elements of a stored dtype to the one that they are computed in.
void load(DType dtype, const void* from, std::int64_t from_step, Tile& tile, std::int64_t count) {
  switch (dtype) {
    case DType::kInt8:
      return load_integers<std::int8_t, std::int32_t>(from, from_step, tile, count);
    case DType::kInt16:
      return load_integers<std::int16_t, std::int32_t>(from, from_step, tile, count);
    case DType::kUInt16:
      return load_integers<std::uint16_t, std::int32_t>(from, from_step, tile, count);
    case DType::kUInt32:
      return load_integers<std::uint32_t, std::int64_t>(from, from_step, tile, count);
    case DType::kUInt64:
      return copy_of_items(8)(tile.bytes.data(), 1, from, from_step, count);
    case DType::kFloat8E5m2:
      return load_bytes(from_float8_e5m2_bits, from, from_step, tile, count);
    case DType::kFloat8E4m3fn:
      return load_bytes(from_float8_e4m3fn_bits, from, from_step, tile, count);
    default:
      std::array<std::uint16_t, kTile> halves{};
      copy_of_items(2)(halves.data(), 1, from, from_step, count);
      widen_halves(dtype, halves.data(), tile.as<float>(), count);
  }
}

// The inverse of load(); of an integer the last bits stay.
void store(DType dtype, void* to, std::int64_t to_step, const Tile& tile, std::int64_t count) {
  switch (dtype) {
    case DType::kInt8:
      return store_integers<std::int8_t, std::int32_t>(to, to_step, tile, count);
    case DType::kInt16:
      return store_integers<std::int16_t, std::int32_t>(to, to_step, tile, count);
    case DType::kUInt16:
      return store_integers<std::uint16_t, std::int32_t>(to, to_step, tile, count);
    case DType::kUInt32:
      return store_integers<std::uint32_t, std::int64_t>(to, to_step, tile, count);
    case DType::kUInt64:
      return copy_of_items(8)(to, to_step, tile.bytes.data(), 1, count);
    case DType::kFloat8E5m2:
      return store_bytes(float8_e5m2_bits, to, to_step, tile, count);
    case DType::kFloat8E4m3fn:
      return store_bytes(float8_e4m3fn_bits, to, to_step, tile, count);
    default:
      std::array<std::uint16_t, kTile> halves{};
      narrow_halves(dtype, tile.as<float>(), halves.data(), count);
      copy_of_items(2)(to, to_step, halves.data(), 1, count);
  }
}

// The conversion of uint64 to or from floats, which int64 would spoil from 2^63 on; null for other
// dtypes.
RowFunction uint64_function(DType to, DType from) {
  if (from == DType::kUInt64) {
    if (to == DType::kFloat32) return convert_row<float, std::uint64_t>;
    if (to == DType::kFloat64) return convert_row<double, std::uint64_t>;
  } else if (to == DType::kUInt64) {
    if (from == DType::kFloat32) return convert_row<std::uint64_t, float>;
    if (from == DType::kFloat64) return convert_row<std::uint64_t, double>;
  }
  return nullptr;
}

// Converts rows to or from stored dtypes, via those that they are computed in. A page loads this
// code when it first has such a dtype.
[[gnu::noinline]] void convert_stored(void* to, DType to_dtype, std::int64_t to_step,
                                      const void* from, DType from_dtype, std::int64_t from_step,
                                      std::int64_t count) {
  Tile loaded;
  Tile converted;
  const DType to_computed = computed_dtype(to_dtype);
  const DType from_computed = computed_dtype(from_dtype);
  const RowFunction from_uint64 = uint64_function(to_computed, from_dtype);
  const RowFunction to_uint64 = uint64_function(to_dtype, from_computed);
  const RowFunction convert_computed = from_uint64 != nullptr ? from_uint64
                                       : to_uint64 != nullptr
                                           ? to_uint64
                                           : row_function(to_computed, from_computed);
  for (std::int64_t done = 0; done < count; done += kTile) {
    const std::int64_t some = std::min(count - done, kTile);
    const void* source = element_at(from, from_dtype, done * from_step);
    void* const target = element_at(to, to_dtype, done * to_step);
    std::int64_t step = from_step;
    if (is_stored(from_dtype) && from_uint64 == nullptr) {
      load(from_dtype, source, from_step, loaded, some);
      source = loaded.bytes.data();
      step = 1;
    }
    if (!is_stored(to_dtype) || to_uint64 != nullptr) {
      convert_computed(target, to_step, source, step, some);
      continue;
    }
    convert_computed(converted.bytes.data(), 1, source, step, some);
    store(to_dtype, target, to_step, converted, some);
  }
}

void* second_part(void* data, DType dtype) {
  return static_cast<char*>(data) + item_size(dtype) / 2;
}
const void* second_part(const void* data, DType dtype) {
  return static_cast<const char*>(data) + item_size(dtype) / 2;
}

}  // namespace

PartConversion::PartConversion(DType to, DType from) : to_(to), from_(from) {
  if (to == from)
    convert_ = copy_of_items(item_size(to));
  else if (!is_stored(to) && !is_stored(from))
    convert_ = row_function(to, from);
}

void PartConversion::operator()(void* to, std::int64_t to_step, const void* from,
                                std::int64_t from_step, std::int64_t count) const {
  if (convert_ != nullptr)
    convert_(to, to_step, from, from_step, count);
  else
    convert_stored(to, to_, to_step, from, from_, from_step, count);
}

void RowConversion::convert(void* to, std::int64_t to_step, const void* from,
                            std::int64_t from_step, std::int64_t count) const {
  if (!is_complex(to_) && !is_complex(from_)) {
    convert_parts_(to, to_step, from, from_step, count);
  } else if (is_complex(to_) && is_complex(from_)) {
    if (to_step == 1 && from_step == 1) return convert_parts_(to, 1, from, 1, 2 * count);
    convert_parts_(to, 2 * to_step, from, 2 * from_step, count);
    convert_parts_(second_part(to, to_), 2 * to_step, second_part(from, from_), 2 * from_step,
                   count);
  } else if (is_complex(to_)) {
    constexpr double kZero = 0;
    convert_parts_(to, 2 * to_step, from, from_step, count);
    PartConversion(real_dtype(to_), DType::kFloat64)(second_part(to, to_), 2 * to_step, &kZero, 0,
                                                     count);
  } else {
    convert_parts_(to, to_step, from, 2 * from_step, count);
    if (to_ == DType::kBool)
      add_imaginary_truth(static_cast<bool*>(to), to_step, from, from_step, count);
  }
}

// A complex number whose real part is zero is still true if its imaginary part is not zero.
void RowConversion::add_imaginary_truth(bool* to, std::int64_t to_step, const void* from,
                                        std::int64_t from_step, std::int64_t count) const {
  for (std::int64_t i = 0; i < count; ++i) {
    bool has_imaginary = false;
    const auto* part = static_cast<const char*>(second_part(from, from_)) +
                       i * from_step * static_cast<std::int64_t>(item_size(from_));
    convert_parts_(&has_imaginary, 1, part, 1, 1);
    to[i * to_step] |= has_imaginary;
  }
}

void convert_elements(void* to, DType to_dtype, std::int64_t to_step, const void* from,
                      DType from_dtype, std::int64_t from_step, std::int64_t count) {
  RowConversion(to_dtype, from_dtype)(to, to_step, from, from_step, count);
}

}  // namespace eg::cpu
