#pragma once

// A tensor in the vocabulary of formulas.
//
// A Var is a tensor or a plain number. Its operators and words call the ops of the same name, so a
// gradient formula evaluated on Vars is itself recorded. They take tensors too, and a Var is a
// tensor where one is expected, so composites read as mathematics:
//
//   Tensor softplus(const Tensor& x) { return log(1 + exp(x)); }

#include "formulas/vocabulary.h"
#include "tensor/tensor.h"

namespace eg {

class Var {
 public:
  Var(double value) : value_(value) {}
  Var(Tensor tensor) : tensor_(std::move(tensor)) {}

  bool is_number() const { return !tensor_.defined(); }
  double number() const { return value_; }
  const Tensor& tensor() const { return tensor_; }
  operator Tensor() const& { return tensor_; }
  operator Tensor() && { return std::move(tensor_); }

 private:
  Tensor tensor_;
  double value_ = 0;
};

Var operator+(const Var& a, const Var& b);
Var operator-(const Var& a, const Var& b);
Var operator*(const Var& a, const Var& b);
Var operator/(const Var& a, const Var& b);
Var operator-(const Var& a);
Var operator==(const Var& a, const Var& b);
Var operator!=(const Var& a, const Var& b);
Var operator<(const Var& a, const Var& b);
Var operator<=(const Var& a, const Var& b);
Var operator>(const Var& a, const Var& b);
Var operator>=(const Var& a, const Var& b);
Var operator&(const Var& a, const Var& b);
Var operator|(const Var& a, const Var& b);
Var operator!(const Var& a);
Var conj(const Var& x);
Var real(const Var& x);
Var where(const Var& mask, const Var& a, const Var& b);
#define EG_WORD(word) Var word(const Var& x);
EG_UNARY_WORDS(EG_WORD)
#undef EG_WORD
#define EG_WORD(word) Var word(const Var& a, const Var& b);
EG_BINARY_WORDS(EG_WORD)
#undef EG_WORD

}  // namespace eg
