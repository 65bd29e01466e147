#include "base/spelling.h"

namespace eg {
namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

}  // namespace

std::string camel_case(std::string_view snake) {
  std::string camel;
  for (std::size_t i = 0; i < snake.size(); ++i) {
    const bool is_start =
        snake[i] == '_' && i > 0 && i + 1 < snake.size() && is_lower(snake[i + 1]);
    camel += is_start ? static_cast<char>(snake[++i] - 'a' + 'A') : snake[i];
  }
  return camel;
}

}  // namespace eg
