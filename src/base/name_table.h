#pragma once

// Assigns small integers to strings.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace eg {

class NameTable {
 public:
  /// Returns the number of a string, counted from 1 in the order of add(), or 0 if it was never
  /// added.
  std::uint32_t find(std::string_view text) const;
  /// Adds a copy of a string that is not in the table yet, and returns its number.
  std::uint32_t add(std::string_view text);

 private:
  struct Entry {
    std::string text;
    std::uint32_t number;
  };
  std::vector<Entry> entries_;  // sorted by text
};

}  // namespace eg
