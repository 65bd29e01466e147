#pragma once

// The few ops most tests need, under short names.

#include "dispatch/elementwise.h"
#include "formulas/all.h"
#include "ops/create/copy.h"
#include "ops/create/factory.h"
#include "ops/shape/view.h"

namespace eg::testing {

inline Tensor clone(const Tensor& t) { return Clone::call(t); }
inline Tensor narrow(const Tensor& t, std::int64_t dim, std::int64_t start, std::int64_t length) {
  return Narrow::call(t, dim, start, length);
}
inline Tensor select(const Tensor& t, std::int64_t dim, std::int64_t index) {
  return Select::call(t, dim, index);
}
inline Tensor view_as_self(const Tensor& t) { return View::call(t, t.shape()); }
inline Tensor mul(const Tensor& a, const Operand& b) { return call<op::Mul>(a, b); }
inline Tensor add(const Tensor& a, const Operand& b) { return call<op::Add>(a, b); }
inline Tensor mul_(const Tensor& t, const Operand& other) {
  return call_in_place<op::Mul>(t, other);
}
inline Tensor add_(const Tensor& t, const Operand& other) {
  return call_in_place<op::Add>(t, other);
}
inline Tensor range(const Shape& shape) {
  return Reshape::call(Arange::call(numel(shape), {}, 1, DType::kFloat32), shape);
}
inline Tensor copy_(const Tensor& t, const Operand& source) { return CopyInPlace::call(t, source); }

}  // namespace eg::testing
