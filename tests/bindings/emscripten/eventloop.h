#pragma once

extern "C" {
void emscripten_runtime_keepalive_push();
/// Runs the event loop of this thread until it is ended.
void emscripten_exit_with_live_runtime();
}
