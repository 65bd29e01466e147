#include "dispatch/var.h"

#include "autograd/tensor_math.h"
#include "dispatch/elementwise.h"
#include "formulas/all.h"

namespace eg {
namespace {

Operand operand(const Var& x) { return x.is_number() ? Operand(x.number()) : Operand(x.tensor()); }

template <class Op, class... Vars>
Var apply(const Vars&... x) {
  return call<Op>(operand(x)...);
}

}  // namespace

Var operator+(const Var& a, const Var& b) { return apply<op::OpNamed<"add">>(a, b); }
Var operator-(const Var& a, const Var& b) { return apply<op::OpNamed<"sub">>(a, b); }
Var operator*(const Var& a, const Var& b) { return apply<op::OpNamed<"mul">>(a, b); }
Var operator/(const Var& a, const Var& b) { return apply<op::OpNamed<"div">>(a, b); }
Var operator-(const Var& a) { return apply<op::OpNamed<"neg">>(a); }
Var operator==(const Var& a, const Var& b) { return apply<op::OpNamed<"eq">>(a, b); }
Var operator!=(const Var& a, const Var& b) { return apply<op::OpNamed<"ne">>(a, b); }
Var operator<(const Var& a, const Var& b) { return apply<op::OpNamed<"lt">>(a, b); }
Var operator<=(const Var& a, const Var& b) { return apply<op::OpNamed<"le">>(a, b); }
Var operator>(const Var& a, const Var& b) { return apply<op::OpNamed<"gt">>(a, b); }
Var operator>=(const Var& a, const Var& b) { return apply<op::OpNamed<"ge">>(a, b); }
Var operator&(const Var& a, const Var& b) { return apply<op::OpNamed<"logical_and">>(a, b); }
Var operator|(const Var& a, const Var& b) { return apply<op::OpNamed<"logical_or">>(a, b); }
Var operator!(const Var& a) { return apply<op::OpNamed<"logical_not">>(a); }
Var conj(const Var& x) { return x.is_number() ? x : Var(math::conj(x.tensor())); }
Var real(const Var& x) { return x.is_number() ? x : Var(math::real(x.tensor())); }
Var where(const Var& mask, const Var& a, const Var& b) {
  return apply<op::OpNamed<"where">>(mask, a, b);
}
#define EG_WORD(word) \
  Var word(const Var& x) { return apply<op::OpNamed<#word>>(x); }
EG_UNARY_WORDS(EG_WORD)
#undef EG_WORD
#define EG_WORD(word) \
  Var word(const Var& a, const Var& b) { return apply<op::OpNamed<#word>>(a, b); }
EG_BINARY_WORDS(EG_WORD)
#undef EG_WORD

}  // namespace eg
