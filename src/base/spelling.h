#pragma once

// Names in snake_case, which the engine uses, and in camelCase, which JavaScript uses.

#include <string>
#include <string_view>

namespace eg {

/// "index_select" -> "indexSelect", "copy_" -> "copy_": a trailing underscore marks in-place ops.
std::string camel_case(std::string_view snake);

}  // namespace eg
