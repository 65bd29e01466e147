#pragma once

// Tree: a formula as an expression tree, for translating it into another language.
//
// Evaluated on trees, a formula of this folder returns the tree of its operators, words, operands
// and numbers. tools/wgsl.h generates shaders from these trees. Trees are not needed at run time,
// where Constants extracts the numbers of a formula.

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "formulas/vocabulary.h"

namespace eg::op {

class Tree {
 public:
  /// An operator or a word with its inputs. Without inputs it is an operand, or a number if it has
  /// no name.
  struct Node {
    std::string_view name;
    double value = 0;
    std::vector<Tree> inputs;
  };

  Tree(double value) : Tree({}, value, {}) {}
  static Tree operand(std::string_view name) { return {name, 0, {}}; }

  const Node& operator*() const { return *node_; }
  const Node* operator->() const { return node_.get(); }

  friend Tree operator+(const Tree& a, const Tree& b) { return {"+", 0, {a, b}}; }
  friend Tree operator-(const Tree& a, const Tree& b) { return {"-", 0, {a, b}}; }
  friend Tree operator*(const Tree& a, const Tree& b) { return {"*", 0, {a, b}}; }
  friend Tree operator/(const Tree& a, const Tree& b) { return {"/", 0, {a, b}}; }
  friend Tree operator-(const Tree& a) { return {"-", 0, {a}}; }
  friend Tree operator==(const Tree& a, const Tree& b) { return {"==", 0, {a, b}}; }
  friend Tree operator!=(const Tree& a, const Tree& b) { return {"!=", 0, {a, b}}; }
  friend Tree operator<(const Tree& a, const Tree& b) { return {"<", 0, {a, b}}; }
  friend Tree operator<=(const Tree& a, const Tree& b) { return {"<=", 0, {a, b}}; }
  friend Tree operator>(const Tree& a, const Tree& b) { return {">", 0, {a, b}}; }
  friend Tree operator>=(const Tree& a, const Tree& b) { return {">=", 0, {a, b}}; }
  friend Tree operator&(const Tree& a, const Tree& b) { return {"&", 0, {a, b}}; }
  friend Tree operator|(const Tree& a, const Tree& b) { return {"|", 0, {a, b}}; }
  friend Tree operator!(const Tree& a) { return {"!", 0, {a}}; }
  // Only gradients use these, and shaders of gradients exist only for real numbers.
  friend Tree conj(const Tree& a) { return a; }
  friend Tree real(const Tree& a) { return a; }
  friend Tree where(const Tree& mask, const Tree& a, const Tree& b) {
    return {"where", 0, {mask, a, b}};
  }
#define EG_WORD(word) \
  friend Tree word(const Tree& a) { return {#word, 0, {a}}; }
  EG_UNARY_WORDS(EG_WORD)
#undef EG_WORD
#define EG_WORD(word) \
  friend Tree word(const Tree& a, const Tree& b) { return {#word, 0, {a, b}}; }
  EG_BINARY_WORDS(EG_WORD)
#undef EG_WORD

 private:
  Tree(std::string_view name, double value, std::vector<Tree> inputs)
      : node_(std::make_shared<const Node>(Node{name, value, std::move(inputs)})) {}

  std::shared_ptr<const Node> node_;
};

}  // namespace eg::op
