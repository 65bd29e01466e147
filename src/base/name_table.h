#pragma once

// Numbers for texts.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace eg {

class NameTable {
 public:
  /// The number of a text, counted from 1 in the order of add(); 0 for one that was never added.
  std::uint32_t find(std::string_view text) const;
  /// Adds a copy of a text that is not there yet, and returns its number.
  std::uint32_t add(std::string_view text);

 private:
  struct Entry {
    std::string text;
    std::uint32_t number;
  };
  std::vector<Entry> entries_;  // in the order of their texts
};

}  // namespace eg
