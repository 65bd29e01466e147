#pragma once

// Copying elements of which only the size matters: rows of one dtype, whatever it is.

#include <cstddef>
#include <cstdint>

namespace eg::cpu {

/// Writes a row: to, its step, from, its step, and how many elements; steps count elements.
using RowFunction = void (*)(void*, std::int64_t, const void*, std::int64_t, std::int64_t);

/// The copy of rows of elements of so many bytes. A row of step 0 is one element again and again.
RowFunction copy_of_items(std::size_t size);

}  // namespace eg::cpu
