// Empty on purpose: Eigen includes the MMX header with SSE, and Emscripten, which has no MMX, ships none.
