// The profiler of backward calls.

#include "autograd/profiler.h"

#include <string>

#include <emscripten/bind.h>

#include "border.h"

namespace eg::bindings {
namespace {

// A line per event, a tab between its fields.
std::string stop_profiler(double first) {
  std::string text;
  for (const ProfilerEvent& event : Profiler::stop(static_cast<std::size_t>(first))) {
    text += join_text(event.name, '\t', event.sequence_nr, '\t', event.thread, '\t',
                      static_cast<int>(event.device.type), '\t');
    append_number(text, event.start, 15);
    text += '\t';
    append_number(text, event.duration, 15);
    text += '\n';
  }
  return text;
}

}  // namespace

EG_EXPORT("startProfiler")
double start_profiler() { return static_cast<double>(Profiler::start()); }

EMSCRIPTEN_BINDINGS(profiler) { emscripten::function("eg_stopProfiler", &stop_profiler); }

}  // namespace eg::bindings
