#include "backend/cpu/vector/half_rows.h"

#include <cstring>

#include "base/half.h"

namespace eg::cpu {
namespace {

using Floats = float __attribute__((vector_size(16)));
using Words = std::uint32_t __attribute__((vector_size(16)));
using Halves = std::uint16_t __attribute__((vector_size(8)));

constexpr std::int64_t kLanes = 4;

template <Floats (*kConvert)(Words)>
void widen(const std::uint16_t* halves, float* floats, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += kLanes) {
    Halves bits;
    std::memcpy(&bits, halves + i, sizeof bits);
    const Floats values = kConvert(__builtin_convertvector(bits, Words));
    std::memcpy(floats + i, &values, sizeof values);
  }
}

template <Words (*kConvert)(Floats)>
void narrow(const float* floats, std::uint16_t* halves, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += kLanes) {
    Floats values;
    std::memcpy(&values, floats + i, sizeof values);
    const Halves bits = __builtin_convertvector(kConvert(values), Halves);
    std::memcpy(halves + i, &bits, sizeof bits);
  }
}

}  // namespace

void widen_halves(DType dtype, const std::uint16_t* halves, float* floats, std::int64_t count) {
  const bool is_float16 = dtype == DType::kFloat16;
  (is_float16 ? widen<half::from_float16<Floats, Words>>
              : widen<half::from_bfloat16<Floats, Words>>)(halves, floats, count);
}

void narrow_halves(DType dtype, const float* floats, std::uint16_t* halves, std::int64_t count) {
  const bool is_float16 = dtype == DType::kFloat16;
  (is_float16 ? narrow<half::to_float16<Words, Floats>>
              : narrow<half::to_bfloat16<Words, Floats>>)(floats, halves, count);
}

}  // namespace eg::cpu
