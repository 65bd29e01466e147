#include "support/op_samples.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <set>
#include <stdexcept>

#include "autograd/graph/variable.h"
#include "dispatch/factories.h"
#include "dispatch/handles/handle_table.h"
#include "ops/create/copy.h"
#include "ops/op_table.h"
#include "runtime/random.h"
#include "support/tensors.h"

namespace eg::testing {
namespace {

using Kind = SampleValue::Kind;

// A fixed sequence in [0, 1), so that samples are the same on every machine.
class Sequence {
 public:
  double next() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state_ >> 11) * 0x1p-53;
  }

 private:
  std::uint64_t state_ = 42;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::vector<SampleValue> arguments(char end) {
    std::vector<SampleValue> values;
    skip_space();
    while (!at(end)) {
      values.push_back(value());
      skip_space();
      if (at(',')) ++position_;
      skip_space();
    }
    return values;
  }

 private:
  bool at(char c) const { return position_ < text_.size() ? text_[position_] == c : c == '\0'; }
  void skip_space() {
    while (at(' ')) ++position_;
  }
  bool take(std::string_view word) {
    if (text_.substr(position_, word.size()) != word) return false;
    position_ += word.size();
    return true;
  }

  SampleValue value() {
    SampleValue result;
    if (take("null")) return result;
    if (take("true") || take("false")) {
      result.kind = Kind::kBool;
      result.number = text_[position_ - 2] == 'u' ? 1 : 0;
      return result;
    }
    if (take("T(")) return tensor('T');
    if (take("C(")) return tensor('C');
    if (take("I(")) return tensor('I');
    if (take("B(")) return tensor('B');
    if (take("Q(")) return tensor('Q');
    if (take("[")) {
      result.kind = Kind::kList;
      result.list = arguments(']');
      ++position_;
      return result;
    }
    if (at('"') || at('\'')) return string(text_[position_]);
    return number();
  }

  SampleValue string(char quote) {
    SampleValue result;
    result.kind = Kind::kString;
    const std::size_t end = text_.find(quote, position_ + 1);
    result.text = text_.substr(position_ + 1, end - position_ - 1);
    position_ = end + 1;
    return result;
  }

  SampleValue number() {
    SampleValue result;
    result.kind = Kind::kNumber;
    const double sign = take("-") ? -1 : 1;
    if (take("Infinity")) {
      result.number = sign * std::numeric_limits<double>::infinity();
      return result;
    }
    std::size_t used = 0;
    result.number = sign * std::stod(std::string(text_.substr(position_)), &used);
    position_ += used;
    return result;
  }

  SampleValue tensor(char type) {
    const std::vector<SampleValue> arguments = this->arguments(')');
    ++position_;
    Shape shape;
    for (const SampleValue& size : arguments.at(0).list)
      shape.push_back(static_cast<std::int64_t>(size.number));
    SampleValue result;
    result.kind = Kind::kTensor;
    const auto argument = [&](std::size_t i, double otherwise) {
      return i < arguments.size() ? arguments[i].number : otherwise;
    };
    if (type == 'T') {
      const double low = argument(1, -2);
      const double high = argument(2, 2);
      result.tensor = filled<double>(shape, [&] { return low + (high - low) * sequence_.next(); });
      set_requires_grad(result.tensor, true);
    } else if (type == 'C') {
      const double low = argument(1, -2);
      const double high = argument(2, 2);
      const auto part = [&] { return low + (high - low) * sequence_.next(); };
      result.tensor = filled<std::complex<double>>(shape, [&] {
        const double re = part();
        return std::complex<double>(re, part());
      });
      set_requires_grad(result.tensor, true);
    } else if (type == 'I') {
      const double count = argument(1, 2);
      result.tensor =
          filled<std::int64_t>(shape, [&] { return std::floor(count * sequence_.next()); });
    } else if (type == 'Q') {
      result.tensor =
          filled<std::uint8_t>(shape, [&] { return std::floor(256 * sequence_.next()); });
    } else {
      result.tensor = filled<bool>(shape, [&] { return sequence_.next() < 0.5; });
    }
    return result;
  }

  template <class T, class Next>
  static Tensor filled(const Shape& shape, Next&& next) {
    return testing::generated<T>(shape, [&](std::int64_t) { return next(); });
  }

  std::string_view text_;
  std::size_t position_ = 0;
  Sequence sequence_;
};

// Encodes arguments as words in the format of dispatch/handles/arguments.h. Owns the handles it
// makes.
class Encoder {
 public:
  ~Encoder() {
    for (const Handle handle : handles_) HandleTable::instance().release(handle);
  }

  void add(const ArgumentInfo& info, const SampleValue& value) {
    std::string_view kind = info.kind;
    if (kind == "tensor?") {
      word(value.kind == Kind::kNull ? 0 : handle(value.tensor));
      return;
    }
    if (kind.ends_with('?')) {
      // If the first word of a kind cannot be -1, then -1 means that the argument is missing; other
      // kinds begin with 0 or 1.
      const bool says_itself =
          kind == "ints?" || kind == "numbers?" || kind == "dtype?" || kind == "operand?";
      if (value.kind == Kind::kNull) {
        word(says_itself ? -1 : 0);
        return;
      }
      if (!says_itself) word(1);
      kind.remove_suffix(1);
    }
    if (kind == "tensor") {
      word(handle(value.tensor));
    } else if (kind == "tensors") {
      word(static_cast<double>(value.list.size()));
      for (const SampleValue& item : value.list) word(handle(item.tensor));
    } else if (kind == "operand" || kind == "scalar") {
      scalar_or_tensor(value);
    } else if (kind == "padding" && value.kind == Kind::kString) {
      word(value.text == "valid" ? -1 : -2);
    } else if (kind == "ints" || kind == "numbers" || kind == "sizes" || kind == "padding") {
      const bool single = value.kind == Kind::kNumber;
      word(single ? 1 : static_cast<double>(value.list.size()));
      if (single) word(value.number);
      for (const SampleValue& item : value.list) {
        const bool is_missing = item.kind == Kind::kNull;
        word(is_missing ? std::numeric_limits<double>::quiet_NaN() : item.number);
      }
    } else if (kind == "choice") {
      const std::string name = value.kind == Kind::kNull ? "null" : value.text;
      std::size_t index = 0;
      while (index < info.choices.size() && info.choices[index] != name) ++index;
      word(static_cast<double>(index));
    } else {
      word(value.number);
    }
  }

  const std::vector<double>& words() const { return words_; }

 private:
  void scalar_or_tensor(const SampleValue& value) {
    if (value.kind == Kind::kTensor) {
      word(0);
      word(handle(value.tensor));
    } else {
      const bool whole = std::floor(value.number) == value.number && std::isfinite(value.number);
      word(value.kind == Kind::kBool ? 3 : whole ? 2 : 1);
      word(value.number);
    }
  }
  double handle(const Tensor& tensor) {
    handles_.push_back(HandleTable::instance().insert(tensor));
    return handles_.back();
  }
  void word(double value) { words_.push_back(value); }

  std::vector<double> words_;
  std::vector<Handle> handles_;
};

void for_each_tensor(std::vector<SampleValue>& values, const std::function<void(Tensor&)>& visit) {
  for (SampleValue& value : values) {
    if (value.kind == Kind::kTensor) visit(value.tensor);
    for_each_tensor(value.list, visit);
  }
}

void for_each_leaf(std::vector<SampleValue>& values, const std::function<void(Tensor&)>& visit) {
  for_each_tensor(values, [&](Tensor& t) {
    if (requires_grad(t)) visit(t);
  });
}

}  // namespace

std::vector<SampleValue> parse_sample(std::string_view text) {
  return Parser(text).arguments('\0');
}

SampleCall::SampleCall(std::size_t op_id, std::vector<ArgumentInfo> arguments,
                       std::string_view sample)
    : op_id_(op_id), arguments_(std::move(arguments)), values_(parse_sample(sample)) {
  if (values_.size() > arguments_.size())
    throw std::invalid_argument("a sample has too many arguments");
  for (std::size_t i = values_.size(); i < arguments_.size(); ++i) {
    values_.push_back(parse_sample(arguments_[i].default_value).at(0));
  }
}

TensorList SampleCall::leaves() const {
  TensorList leaves;
  std::vector<SampleValue> values = values_;
  for_each_leaf(values, [&](Tensor& leaf) { leaves.push_back(leaf); });
  return leaves;
}

TensorList SampleCall::operator()(const TensorList& leaves, bool in_place) const {
  std::vector<SampleValue> values = values_;
  std::size_t next = 0;
  for_each_leaf(values, [&](Tensor& leaf) { leaf = leaves.at(next++); });
  // A leaf cannot be changed in place.
  if (op_table()[op_id_].name.ends_with('_')) values[0].tensor = Clone::call(values[0].tensor);
  Encoder encoder;
  for (std::size_t i = 0; i < values.size(); ++i) encoder.add(arguments_[i], values[i]);
  TensorList floating;
  default_generator().manual_seed(7);
  for (const Tensor& t :
       invoke_op(op_id_, encoder.words().data(), encoder.words().size(), in_place)) {
    if (is_floating(t.dtype())) floating.push_back(t);
  }
  return floating;
}

std::vector<std::int64_t> SampleCall::sizes() const {
  std::set<std::int64_t> sizes;
  std::vector<SampleValue> values = values_;
  for_each_tensor(values, [&](Tensor& t) { sizes.insert(t.shape().begin(), t.shape().end()); });
  return {sizes.begin(), sizes.end()};
}

template <class Reshape>
SampleCall SampleCall::reshaped(Reshape&& reshape) const {
  SampleCall call = *this;
  for_each_tensor(call.values_, [&](Tensor& t) {
    const Shape shape = reshape(t.shape());
    if (shape == t.shape()) return;
    // The part is never larger than the tensor was.
    const Tensor part = detach(t).alias(shape, contiguous_strides(shape), 0);
    const bool is_leaf = requires_grad(t);
    t = contiguous_copy(part);
    set_requires_grad(t, is_leaf);
  });
  return call;
}

SampleCall SampleCall::without(std::int64_t size) const {
  return reshaped([&](Shape shape) {
    std::replace(shape.begin(), shape.end(), size, std::int64_t{0});
    return shape;
  });
}

SampleCall SampleCall::without_but_huge(std::int64_t empty, std::int64_t other,
                                        std::int64_t huge) const {
  return reshaped([&](Shape shape) {
    if (std::find(shape.begin(), shape.end(), empty) == shape.end()) return shape;
    // One of them: more would be too many elements.
    const auto at = std::find(shape.begin(), shape.end(), other);
    if (at != shape.end()) *at = huge;
    std::replace(shape.begin(), shape.end(), empty, std::int64_t{0});
    return shape;
  });
}

SampleCall SampleCall::with_argument(std::size_t i, const SampleValue& value) const {
  SampleCall call = *this;
  call.values_[i] = value;
  return call;
}

std::vector<SampleCall> SampleCall::with_number(double value) const {
  const SampleValue number{
      .kind = Kind::kNumber, .number = value, .text = {}, .tensor = {}, .list = {}};
  std::vector<SampleCall> calls;
  SampleCall all = *this;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const SampleValue& old = values_[i];
    const std::string_view kind = arguments_[i].kind;
    const bool is_list = kind.starts_with("ints") || kind.starts_with("numbers") ||
                         kind == "sizes" || kind == "padding";
    const bool is_number = kind.starts_with("int") || kind.starts_with("number") ||
                           kind.starts_with("scalar") ||
                           (kind.starts_with("operand") && old.kind != Kind::kTensor);
    if (is_list) {
      SampleValue changed = old;
      if (old.kind != Kind::kList)
        changed = {.kind = Kind::kList, .number = 0, .text = {}, .tensor = {}, .list = {number}};
      for (std::size_t k = 0; k < changed.list.size(); ++k) {
        SampleValue one = changed;
        one.list[k] = number;
        calls.push_back(with_argument(i, one));
      }
      std::fill(changed.list.begin(), changed.list.end(), number);
      calls.push_back(with_argument(i, changed));
      all.values_[i] = changed;
    } else if (is_number) {
      calls.push_back(with_argument(i, number));
      all.values_[i] = number;
    }
  }
  calls.push_back(all);
  return calls;
}

SampleCall SampleCall::with_scalars() const {
  return reshaped([](const Shape& shape) { return numel(shape) == 0 ? shape : Shape{}; });
}

}  // namespace eg::testing
