#pragma once

#include <pthread.h>

struct em_proxying_queue;

extern "C" {
em_proxying_queue* emscripten_proxy_get_system_queue();
/// Makes the event loop of `thread` call `work(argument)`; returns 0 if there is no such thread.
int emscripten_proxy_async(em_proxying_queue* queue, pthread_t thread, void (*work)(void*),
                           void* argument);
}
