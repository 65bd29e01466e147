#pragma once

// A tensor in the vocabulary of formulas.
//
// A Var is a tensor or a plain number. Its operators and words call the ops of the same name, so a
// gradient formula evaluated on Vars is itself recorded, and composites read as mathematics:
//
//   const Var x = input;   return log(1 + exp(x));

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

  friend Var operator+(const Var& a, const Var& b);
  friend Var operator-(const Var& a, const Var& b);
  friend Var operator*(const Var& a, const Var& b);
  friend Var operator/(const Var& a, const Var& b);
  friend Var operator-(const Var& a);
  friend Var operator==(const Var& a, const Var& b);
  friend Var operator!=(const Var& a, const Var& b);
  friend Var operator<(const Var& a, const Var& b);
  friend Var operator<=(const Var& a, const Var& b);
  friend Var operator>(const Var& a, const Var& b);
  friend Var operator>=(const Var& a, const Var& b);
  friend Var operator&(const Var& a, const Var& b);
  friend Var operator|(const Var& a, const Var& b);
  friend Var operator!(const Var& a);
  friend Var conj(const Var& x);
  friend Var real(const Var& x);
  friend Var where(const Var& mask, const Var& a, const Var& b);
#define EG_WORD(word) friend Var word(const Var& x);
  EG_UNARY_WORDS(EG_WORD)
#undef EG_WORD
#define EG_WORD(word) friend Var word(const Var& a, const Var& b);
  EG_BINARY_WORDS(EG_WORD)
#undef EG_WORD

 private:
  Tensor tensor_;
  double value_ = 0;
};

}  // namespace eg
