#include "ops/matrix/einsum.h"

#include <algorithm>
#include <string>
#include <vector>

#include "ops/matrix/matmul.h"
#include "ops/reduce/reduction.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"

namespace eg {
namespace {

constexpr std::string_view kOp = "einsum";
// The label of a dimension is its letter. The dimensions of an ellipsis are numbered up from here,
// beginning with the last one.
constexpr int kEllipsis = 256;

using Labels = std::vector<int>;

template <class... Parts>
void require(bool condition, const Parts&... parts) {
  check(condition, ErrorCode::kInvalidArgument, kOp, parts...);
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// A term of the equation; kEllipsis stands for all dimensions of its "...".
Labels parse_term(std::string_view term) {
  Labels labels;
  for (std::size_t i = 0; i < term.size(); ++i) {
    if (term[i] == ' ') continue;
    if (term[i] == '.') {
      const bool is_first = std::find(labels.begin(), labels.end(), kEllipsis) == labels.end();
      require(is_first && term.substr(i, 3) == "...",
              "expected one \"...\" at most and no other "
              "dots in the term \"",
              term, "\".");
      labels.push_back(kEllipsis);
      i += 2;
    } else {
      require(is_letter(term[i]), "subscripts must be letters, got the term \"", term, "\".");
      labels.push_back(term[i]);
    }
  }
  return labels;
}

std::vector<Labels> parse_terms(std::string_view text) {
  std::vector<Labels> terms;
  while (true) {
    const std::size_t comma = text.find(',');
    terms.push_back(parse_term(text.substr(0, comma)));
    if (comma == std::string_view::npos) return terms;
    text.remove_prefix(comma + 1);
  }
}

// Replaces an ellipsis by `count` labels.
void expand_ellipsis(Labels& labels, std::int64_t count) {
  const auto at = std::find(labels.begin(), labels.end(), kEllipsis);
  if (at == labels.end()) return;
  Labels dims;
  for (std::int64_t d = count; d > 0; --d) dims.push_back(kEllipsis + static_cast<int>(d));
  const auto after = labels.erase(at);
  labels.insert(after, dims.begin(), dims.end());
}

// The number of dimensions that the ellipsis of operand `i` stands for.
std::int64_t ellipsis_size(const Labels& labels, const Tensor& operand, std::size_t i) {
  const auto named = static_cast<std::int64_t>(labels.size());
  const bool has_ellipsis = std::find(labels.begin(), labels.end(), kEllipsis) != labels.end();
  if (!has_ellipsis) {
    require(named == operand.ndim(), "operand ", i, " has ", operand.ndim(),
            " dimensions, but its term has ", named, " subscripts and no ellipsis.");
    return 0;
  }
  require(named - 1 <= operand.ndim(), "operand ", i, " has ", operand.ndim(),
          " dimensions, but its term has ", named - 1, " subscripts besides the ellipsis.");
  return operand.ndim() - (named - 1);
}

// The result of an equation without "->": the ellipsis, then the letters that appear once, in
// alphabetical order.
Labels implied_result(const std::vector<Labels>& terms, std::int64_t ellipsis) {
  Labels result;
  Labels all;
  for (std::int64_t d = ellipsis; d > 0; --d) result.push_back(kEllipsis + static_cast<int>(d));
  for (const Labels& term : terms) all.insert(all.end(), term.begin(), term.end());
  for (int letter = 'A'; letter <= 'z'; ++letter) {
    if (std::count(all.begin(), all.end(), letter) == 1) result.push_back(letter);
  }
  return result;
}

// The operand with one dimension per label in `order`; those it lacks have size one.
Tensor align(Tensor operand, Labels labels, const Labels& order) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto again =
        std::find(labels.begin() + static_cast<std::ptrdiff_t>(i) + 1, labels.end(), labels[i]);
    if (again == labels.end()) continue;
    const auto first = static_cast<std::int64_t>(i);
    const auto second = static_cast<std::int64_t>(again - labels.begin());
    require(operand.size(first) == operand.size(second), "subscript ", static_cast<char>(labels[i]),
            " is repeated in a term, but its dimensions have sizes ", operand.size(first), " and ",
            operand.size(second), '.');
    operand = Movedim::call(Diagonal::call(operand, 0, first, second), {-1}, {first});
    labels.erase(again);
    --i;
  }
  Dims dims;
  Shape shape;
  for (const int label : order) {
    const auto found = std::find(labels.begin(), labels.end(), label);
    if (found != labels.end()) dims.push_back(found - labels.begin());
    shape.push_back(found == labels.end()
                        ? 1
                        : operand.shape()[static_cast<std::size_t>(found - labels.begin())]);
  }
  return Reshape::call(Permute::call(operand, dims), shape);
}

void check_sizes(const TensorList& operands, const Labels& order) {
  for (std::size_t d = 0; d < order.size(); ++d) {
    std::int64_t size = 1;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const std::int64_t own = operands[i].shape()[d];
      const std::string name =
          order[d] > kEllipsis ? std::string("...") : std::string(1, static_cast<char>(order[d]));
      check(own == 1 || size == 1 || own == size, ErrorCode::kShapeMismatch, kOp, "subscript ",
            name, " has size ", own, " in operand ", i, ", but size ", size, " before.");
      if (own != 1) size = own;
    }
  }
}

// The sum over `summed` of a * b, which have the same number of dims. Summed dims remain, with size
// one.
Tensor multiply_and_sum(Tensor a, Tensor b, const Dims& summed) {
  if (summed.empty()) return a * b;
  Dims batch;
  Dims of_a;
  Dims of_b;
  Dims contracted;
  Dims alone_in_a;
  Dims alone_in_b;
  for (std::int64_t d = 0; d < a.ndim(); ++d) {
    const bool in_a = a.size(d) != 1;
    const bool in_b = b.size(d) != 1;
    const bool is_summed = std::find(summed.begin(), summed.end(), d) != summed.end();
    if (is_summed && in_a != in_b) (in_a ? alone_in_a : alone_in_b).push_back(d);
    (is_summed ? contracted : in_a == in_b ? batch : in_a ? of_a : of_b).push_back(d);
  }
  if (!alone_in_a.empty()) a = Sum::call(a, alone_in_a, true);
  if (!alone_in_b.empty()) b = Sum::call(b, alone_in_b, true);
  const auto join = [](std::initializer_list<Dims> groups) {
    Dims all;
    for (const Dims& group : groups) all.append(group.begin(), group.end());
    return all;
  };
  const auto size_of = [](const Tensor& t, const Dims& dims) {
    std::int64_t size = 1;
    for (const std::int64_t d : dims) size *= t.size(d);
    return size;
  };
  const std::int64_t rows = size_of(a, of_a);
  const std::int64_t columns = size_of(b, of_b);
  const std::int64_t batches = size_of(a, batch);
  const std::int64_t inner = size_of(a, contracted);
  const Tensor left = Reshape::call(Permute::call(a, join({batch, of_a, contracted, of_b})),
                                    {batches, rows, inner});
  const Tensor right = Reshape::call(Permute::call(b, join({batch, contracted, of_b, of_a})),
                                     {batches, inner, columns});
  const Dims order = join({batch, of_a, of_b, contracted});
  Shape shape;
  Dims back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::int64_t d = order[i];
    shape.push_back(i >= order.size() - contracted.size() ? 1
                    : a.size(d) != 1                      ? a.size(d)
                                                          : b.size(d));
    back[static_cast<std::size_t>(d)] = static_cast<std::int64_t>(i);
  }
  return Permute::call(Reshape::call(Bmm::call(left, right), shape), back);
}

}  // namespace

Tensor einsum(std::string_view equation, const TensorList& operands) {
  require(!operands.empty(), "expected at least one operand.");
  const std::size_t arrow = equation.find("->");
  std::vector<Labels> terms = parse_terms(equation.substr(0, arrow));
  require(terms.size() == operands.size(), "the equation has ", terms.size(),
          " terms, but there are ", operands.size(), " operands.");
  std::int64_t ellipsis = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const std::int64_t size = ellipsis_size(terms[i], operands[i], i);
    expand_ellipsis(terms[i], size);
    ellipsis = std::max(ellipsis, size);
  }

  Labels order;
  if (arrow == std::string_view::npos) {
    order = implied_result(terms, ellipsis);
  } else {
    order = parse_term(equation.substr(arrow + 2));
    expand_ellipsis(order, ellipsis);
  }
  const std::size_t kept = order.size();
  const auto appears = [&](int label) {
    return label > kEllipsis || std::any_of(terms.begin(), terms.end(), [&](const Labels& term) {
             return std::find(term.begin(), term.end(), label) != term.end();
           });
  };
  for (std::size_t d = 0; d < kept; ++d) {
    const char name = static_cast<char>(order[d]);
    require(std::count(order.begin(), order.end(), order[d]) == 1, "the result repeats subscript ",
            name, '.');
    require(appears(order[d]), "subscript ", name, " of the result is in no operand.");
  }
  for (const Labels& term : terms) {
    for (const int label : term) {
      if (std::find(order.begin(), order.end(), label) == order.end()) order.push_back(label);
    }
  }

  TensorList aligned;
  for (std::size_t i = 0; i < terms.size(); ++i)
    aligned.push_back(align(operands[i], terms[i], order));
  check_sizes(aligned, order);

  // The dims that are summed when operand `i` is multiplied, because no later operand has them.
  const auto summed_at = [&](std::size_t i) {
    Dims dims;
    for (std::size_t d = kept; d < order.size(); ++d) {
      const auto has = [&](const Labels& term) {
        return std::find(term.begin(), term.end(), order[d]) != term.end();
      };
      const auto last = std::find_if(terms.rbegin(), terms.rend(), has);
      if (terms.rend() - last == static_cast<std::ptrdiff_t>(i) + 1)
        dims.push_back(static_cast<std::int64_t>(d));
    }
    return dims;
  };
  Tensor result = aligned[0];
  if (const Dims summed = summed_at(0); !summed.empty()) result = Sum::call(result, summed, true);
  for (std::size_t i = 1; i < aligned.size(); ++i)
    result = multiply_and_sum(result, aligned[i], summed_at(i));
  return Reshape::call(result, Shape(std::span<const std::int64_t>(result.shape().data(), kept)));
}

Tensor Einsum::call(const Dims& equation, const TensorList& operands) {
  std::string text;
  for (const std::int64_t code : equation) text.push_back(static_cast<char>(code));
  return einsum(text, operands);
}

}  // namespace eg
