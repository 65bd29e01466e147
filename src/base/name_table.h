#pragma once

// Numbers for texts.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace eg {

class NameTable {
 public:
  /// The number of a text, counted from 1 in the order of add(); 0 for one that was never added.
  std::uint32_t find(std::string_view text) const;
  /// Adds a copy of a text that is not there yet, and returns its number.
  std::uint32_t add(std::string_view text);

 private:
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
  std::vector<std::unique_ptr<std::string>> texts_;
};

}  // namespace eg
