#pragma once

// Of a function that is JavaScript, a native build keeps the declaration: js/module.cpp defines it.
#define EM_JS(result, name, parameters, ...) extern "C" result name parameters
