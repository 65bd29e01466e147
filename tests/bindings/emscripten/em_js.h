#pragma once

// In a native build, EM_JS only declares the function; js/module.cpp defines it.
#define EM_JS(result, name, parameters, ...) extern "C" result name parameters
