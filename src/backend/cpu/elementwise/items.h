#pragma once

// Copies rows of elements without changing their dtype; only the size of an element matters.

#include <cstddef>
#include <cstdint>

namespace eg::cpu {

/// Copies a row. Arguments: destination, its step, source, its step, number of elements. Steps
/// count elements.
using RowFunction = void (*)(void*, std::int64_t, const void*, std::int64_t, std::int64_t);

/// Returns the function that copies rows of elements of `size` bytes. With a source step of 0 it
/// repeats one element.
RowFunction copy_of_items(std::size_t size);

}  // namespace eg::cpu
