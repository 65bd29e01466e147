#pragma once

// The commands of the stream (stream.h): one struct each, whose fields are encoded in order. The
// player decodes them with the same list, from web/src/generated/stream.ts.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "base/type_list.h"

namespace eg::webgpu {

/// The number of a GPU buffer, counted from 1.
using Block = std::uint32_t;

/// Bytes within a command: their count, then the bytes themselves, padded to a whole word.
using Bytes = std::span<const std::byte>;

/// A string within a command, in UTF-8, encoded like Bytes.
struct Text {
  std::string_view characters;
};

/// Assigns a buffer of `bytes`, rounded up to a multiple of 16, to an unused number.
struct Allocate {
  Block block;
  std::uint32_t bytes;
};

/// Releases a buffer: later commands do not use it.
struct Free {
  Block block;
};

/// From here on, the first `bytes` of the buffer are the memory of a new tensor. What the buffer
/// contained does not matter any more.
struct Use {
  Block block;
  std::uint32_t bytes;
};

/// The content of the buffer is not needed before the next Use, so that its memory may serve others
/// until then.
struct Idle {
  Block block;
};

/// Writes into a buffer at `offset`, a multiple of 4. The padding of the bytes is written as well.
struct Write {
  Block block;
  std::uint32_t offset;
  Bytes bytes;
};

/// Copies `count` bytes of a buffer to an address in the engine's memory, then reports the ticket.
struct Read {
  Block block;
  std::uint32_t offset;
  std::uint32_t count;
  std::uint64_t address;
  std::uint32_t ticket;
};

/// Runs a kernel. Both names are numbers defined by Name. The fields of the kernel's struct follow.
struct Kernel {
  std::uint32_t kernel;
  std::uint32_t op;
};

/// Defines a number for a string; later commands refer to the string by the number.
struct Name {
  std::uint32_t number;
  Text text;
};

/// Stores a GPU timestamp, taken at this point of the stream, in a slot (below 4096).
struct Stamp {
  std::uint32_t slot;
};

/// Copies the timestamps in the first `count` slots to a block, as 64-bit numbers in nanoseconds.
struct Stamps {
  Block block;
  std::uint32_t count;
};

/// Runs the kernels from here to EndRecording, and records them under this number.
struct BeginRecording {
  std::uint32_t recording;
};

struct EndRecording {};

/// Runs the kernels of a recording again.
struct Play {
  std::uint32_t recording;
};

/// Deletes a recording.
struct Forget {
  std::uint32_t recording;
};

/// Every command; see number_of().
using Commands = TypeList<Allocate, Free, Use, Write, Read, Kernel, Name, Stamp, Stamps,
                          BeginRecording, EndRecording, Play, Forget, Idle>;

/// The number of a command in the stream: its position in a list, counted from 1.
template <class Command, class... Listed>
constexpr std::uint32_t number_of(TypeList<Listed...>) {
  std::uint32_t number = 0;
  std::uint32_t position = 0;
  ((++position, number = std::is_same_v<Command, Listed> ? position : number), ...);
  return number;
}

}  // namespace eg::webgpu
