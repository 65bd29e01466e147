// The profiler of backward calls.

#include "autograd/profiler.h"

#include <string>
#include <vector>

#include <emscripten/bind.h>

#include "border.h"

namespace eg::bindings {
namespace {

std::vector<ProfilerEvent>& events() {
  static thread_local std::vector<ProfilerEvent> all;
  return all;
}

// Returns the events of the last profile that has ended, one per line.
std::string profiled() {
  std::string text;
  guard([&] {
    for (const ProfilerEvent& event : events()) {
      text += join_text(event.name, '\t', event.sequence_nr, '\t', event.thread, '\t',
                        static_cast<int>(event.device.type), '\t');
      append_number(text, event.start);
      text += '\t';
      append_number(text, event.duration);
      text += '\t';
      append_number(text, event.device_duration);
      text += '\n';
    }
    events().clear();
    return 0;
  });
  return text;
}

}  // namespace

// Starts a profile and returns its number.
EG_EXPORT("startProfiler")
double start_profiler() {
  return guard<StackNeed::kToEnd>([] { return static_cast<double>(Profiler::start()); });
}

// Returns the time in microseconds on the clock of the profile's events.
EG_EXPORT("profilerNow")
double profiler_now() { return Profiler::now(); }

// Ends the profile with this number.
EG_EXPORT("stopProfiler")
double stop_profiler(double first) {
  return guard([&] {
    events() = Profiler::stop(static_cast<std::size_t>(first));
    return 0;
  });
}

EMSCRIPTEN_BINDINGS(profiler) { emscripten::function("eg_profiled", &profiled); }

}  // namespace eg::bindings
