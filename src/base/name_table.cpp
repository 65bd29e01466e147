#include "base/name_table.h"

#include <algorithm>

namespace eg {
namespace {

template <class Entries>
auto lower_bound_of(Entries& entries, std::string_view text) {
  return std::lower_bound(entries.begin(), entries.end(), text,
                          [](const auto& entry, std::string_view t) { return entry.text < t; });
}

}  // namespace

std::uint32_t NameTable::find(std::string_view text) const {
  const auto place = lower_bound_of(entries_, text);
  return place == entries_.end() || place->text != text ? 0 : place->number;
}

std::uint32_t NameTable::add(std::string_view text) {
  const auto number = static_cast<std::uint32_t>(entries_.size() + 1);
  entries_.insert(lower_bound_of(entries_, text), {std::string(text), number});
  return number;
}

}  // namespace eg
