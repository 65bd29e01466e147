#include "base/error.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/field_names.h"
#include "base/spelling.h"

namespace eg {

namespace {

// A copy of the characters: a view of the compiler's text would link the whole of that.
struct Name {
  std::array<char, 24> characters;
  std::size_t size;
};

// The names of the enumerators without their k. An enumerator after the last one does not compile.
consteval auto code_names() {
  std::array<Name, static_cast<std::size_t>(ErrorCode::kInternal) + 1> names{};
  for_each_enumerator<ErrorCode>([&](std::string_view enumerator, std::size_t number) {
    Name& name = names.at(number);
    for (const char character : enumerator.substr(1)) name.characters.at(name.size++) = character;
  });
  return names;
}

}  // namespace

std::string_view error_code_name(ErrorCode code) {
  static constexpr auto kNames = code_names();
  const Name& name = kNames[static_cast<std::size_t>(code)];
  return {name.characters.data(), name.size};
}

void append_text(std::string& out, std::string_view text) { out.append(text); }

void append_text(std::string& out, char character) { out.push_back(character); }

namespace {

template <class Integer>
void append_integer(std::string& out, Integer value) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

}  // namespace

void append_text(std::string& out, long long value) { append_integer(out, value); }

void append_text(std::string& out, unsigned long long value) { append_integer(out, value); }

// Formats like printf's "%g", except for ties between two decimal strings. Linking printf, with all
// its formats, would add 5 kB to the download.
void append_text(std::string& out, double value) {
  constexpr int kDigits = 6;
  constexpr double kLeast = 1e5;
  constexpr int kLargestPower = 300;
  if (std::signbit(value)) out += '-';
  const double size = std::abs(value);
  if (!std::isfinite(size)) {
    out += std::isnan(size) ? "nan" : "inf";
    return;
  }
  int exponent = size == 0 ? 0 : static_cast<int>(std::floor(std::log10(size)));
  const int shift = kDigits - 1 - exponent;
  const double moved = shift < 0 ? size / std::pow(10.0, -shift)
                                 : size * std::pow(10.0, std::min(shift, kLargestPower)) *
                                       std::pow(10.0, std::max(shift - kLargestPower, 0));
  double rounded = std::nearbyint(moved);
  if (rounded >= 10 * kLeast) {
    rounded = kLeast;
    ++exponent;
  }
  std::string digits;
  append_integer(digits, static_cast<long long>(rounded));
  if (exponent < -4 || exponent >= kDigits) {
    digits.resize(digits.find_last_not_of('0') + 1);
    out += digits[0];
    if (digits.size() > 1) out.append(".").append(digits, 1);
    out += exponent < 0 ? "e-" : "e+";
    if (std::abs(exponent) < 10) out += '0';
    append_integer(out, std::abs(exponent));
    return;
  }
  if (exponent < 0) digits.insert(0, static_cast<std::size_t>(-exponent), '0');
  const auto point = static_cast<std::size_t>(std::max(exponent, 0)) + 1;
  digits.resize(std::max(point, digits.find_last_not_of('0') + 1));
  out.append(digits, 0, point);
  if (digits.size() > point) out.append(".").append(digits, point);
}

namespace detail {
namespace {

void join_to(std::string& out, const AppendPart* form, const StoredPart* parts) {
  for (; *form != nullptr; ++form, ++parts) (*form)(out, *parts);
}

}  // namespace

std::string join(const AppendPart* form, const StoredPart* parts) {
  std::string text;
  join_to(text, form, parts);
  return text;
}

void throw_error(ErrorCode code, const AppendPart* form, const StoredPart* parts) {
  throw Error(code, join(form, parts));
}

void throw_op_error(ErrorCode code, const char* op, std::size_t op_size, const AppendPart* form,
                    const StoredPart* parts) {
  std::string text = "[" + camel_case({op, op_size}) + "] ";
  join_to(text, form, parts);
  throw Error(code, text);
}

void throw_bug(const AppendPart* form, const StoredPart* parts) {
  throw Error(ErrorCode::kInternal,
              join(form, parts) + " This is a bug in edgegrad, please report it.");
}

}  // namespace detail

void rethrow_named(const Error& error, std::string_view name) {
  const std::string_view message = error.what();
  if (message.starts_with('[')) throw;
  throw Error(error.code(), join_text('[', camel_case(name), "] ", message));
}

}  // namespace eg
