#pragma once

// A string as a template argument: Family<"Views", ...>.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace eg {

template <std::size_t kSize>
struct Name {
  std::array<char, kSize> text;
  consteval Name(const char (&literal)[kSize]) { std::copy_n(literal, kSize, text.begin()); }
  constexpr std::string_view view() const { return {text.data(), kSize - 1}; }
};

}  // namespace eg
