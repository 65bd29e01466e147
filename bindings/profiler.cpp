// The profiler of backward calls.

#include "autograd/profiler.h"

#include <sstream>

#include <emscripten/bind.h>

#include "border.h"

namespace eg::bindings {
namespace {

double start_profiler() { return static_cast<double>(Profiler::start()); }

// A line per event, a tab between its fields.
std::string stop_profiler(double first) {
  std::ostringstream text;
  text.precision(15);
  for (const ProfilerEvent& event : Profiler::stop(static_cast<std::size_t>(first))) {
    text << event.name << '\t' << event.sequence_nr << '\t' << event.thread << '\t'
         << static_cast<int>(event.device.type) << '\t' << event.start << '\t' << event.duration
         << '\n';
  }
  return text.str();
}

}  // namespace

EMSCRIPTEN_BINDINGS(profiler) {
  emscripten::function("startProfiler", &start_profiler);
  emscripten::function("stopProfiler", &stop_profiler);
}

}  // namespace eg::bindings
