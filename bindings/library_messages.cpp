// Functions with which the C and C++ libraries say what never happens, in shorter versions: theirs
// bring printf along, with floating point in all formats, and the sentences for all errors of a
// system, together 6 kB of the download.

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <emscripten/console.h>

namespace {

// Knows %s and %d, which is all that those messages have; cuts what does not fit.
int format_to(char* out, std::size_t size, std::string_view format, va_list arguments) {
  std::size_t written = 0;
  const auto append = [&](std::string_view part) {
    written += part.copy(out + written, size - 1 - written);
  };
  for (;;) {
    const std::size_t mark = format.find('%');
    append(format.substr(0, mark));
    if (mark == std::string_view::npos) break;
    if (format[mark + 1] == 'd') {
      append(std::to_string(va_arg(arguments, int)));
    } else if (format[mark + 1] == 's') {
      append(va_arg(arguments, const char*));
    } else {
      // std::to_string(double), which is for tests to find.
      std::abort();
    }
    format.remove_prefix(mark + 2);
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

// Ends a program that cannot go on.
[[noreturn]] void abort_message(const char* format, ...) {
  std::array<char, 1024> text{};
  va_list arguments;
  va_start(arguments, format);
  format_to(text.data(), text.size(), format, arguments);
  va_end(arguments);
  emscripten_console_error(text.data());
  std::abort();
}

// What a mutex or a thread failed with.
int strerror_r(int error, char* text, std::size_t size) {
  std::snprintf(text, size, "error %d", error);
  return 0;
}
}
