#include "base/name_table.h"

namespace eg {

std::uint32_t NameTable::find(std::string_view text) const {
  const auto found = numbers_.find(text);
  return found == numbers_.end() ? 0 : found->second;
}

std::uint32_t NameTable::add(std::string_view text) {
  texts_.push_back(std::make_unique<std::string>(text));
  const auto number = static_cast<std::uint32_t>(texts_.size());
  numbers_.emplace(*texts_.back(), number);
  return number;
}

}  // namespace eg
