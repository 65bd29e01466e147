// Smaller versions of the functions with which the C and C++ libraries report errors that do not
// occur in practice. The originals pull in printf, with all floating-point formats, and the
// messages of all system errors, which together add 6 kB to the download.

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <emscripten/console.h>

namespace {

// Formats %s, %d and %u, the only conversions in those messages; truncates the result. The size of
// the argument of any other conversion is unknown, so the rest of the format is copied unchanged.
int format_to(char* out, std::size_t size, std::string_view format, va_list arguments) {
  std::size_t written = 0;
  const auto append = [&](std::string_view part) {
    written += part.copy(out + written, size - 1 - written);
  };
  for (;;) {
    const std::size_t mark = format.find('%');
    append(format.substr(0, mark));
    if (mark == std::string_view::npos) break;
    format.remove_prefix(mark);
    if (format.starts_with("%d")) {
      append(std::to_string(va_arg(arguments, int)));
    } else if (format.starts_with("%u")) {
      append(std::to_string(va_arg(arguments, unsigned)));
    } else if (format.starts_with("%s")) {
      append(va_arg(arguments, const char*));
    } else {
      append(format);
      break;
    }
    format.remove_prefix(2);
  }
  out[written] = '\0';
  return static_cast<int>(written);
}

}  // namespace

extern "C" {

int snprintf(char* out, std::size_t size, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int written = format_to(out, size, format, arguments);
  va_end(arguments);
  return written;
}

// Reports an unrecoverable error and ends the program.
[[noreturn]] void abort_message(const char* format, ...) {
  std::array<char, 1024> text{};
  va_list arguments;
  va_start(arguments, format);
  format_to(text.data(), text.size(), format, arguments);
  va_end(arguments);
  emscripten_console_error(text.data());
  std::abort();
}

// Describes the error of a failed mutex or thread operation.
int strerror_r(int error, char* text, std::size_t size) {
  std::snprintf(text, size, "error %d", error);
  return 0;
}
}
