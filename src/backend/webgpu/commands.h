#pragma once

// The commands of the stream (stream.h): one struct each, whose fields follow each other in the
// stream. The player reads them by the same list, from web/src/generated/border.ts.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "base/type_list.h"

namespace eg::webgpu {

/// The number of a GPU buffer; numbers begin at 1.
using Block = std::uint32_t;

/// Bytes within a command: their number, then the bytes themselves, padded to a whole word.
using Bytes = std::span<const std::byte>;

/// A text within a command, in UTF-8: like Bytes.
struct Text {
  std::string_view characters;
};

/// A free number gets a buffer, of `bytes` rounded up to 16.
struct Allocate {
  Block block;
  std::uint32_t bytes;
};

/// The buffer is no longer needed by what follows.
struct Free {
  Block block;
};

/// Writes into a buffer, from `offset`, a multiple of 4. What pads the bytes is written as well.
struct Write {
  Block block;
  std::uint32_t offset;
  Bytes bytes;
};

/// Copies bytes of a buffer to an address in the engine's memory, then reports the ticket.
struct Read {
  Block block;
  std::uint32_t offset;
  std::uint32_t count;
  std::uint64_t address;
  std::uint32_t ticket;
};

/// Runs a kernel, both names as numbers (Name). The fields of the kernel's struct follow.
struct Kernel {
  std::uint32_t kernel;
  std::uint32_t op;
};

/// From here on the number stands for the text.
struct Name {
  std::uint32_t number;
  Text text;
};

/// Stores the GPU's time at this point of the stream in a slot (below 4096).
struct Stamp {
  std::uint32_t slot;
};

/// Copies the times in the first slots to a block, as 64-bit numbers of nanoseconds.
struct Stamps {
  Block block;
  std::uint32_t count;
};

/// The kernels from here to EndRecording are run, and kept under this number.
struct BeginRecording {
  std::uint32_t recording;
};

struct EndRecording {};

/// Runs the kernels of a recording again.
struct Play {
  std::uint32_t recording;
};

/// The recording will not be played again.
struct Forget {
  std::uint32_t recording;
};

/// Every command; see number_of().
using Commands = TypeList<Allocate, Free, Write, Read, Kernel, Name, Stamp, Stamps, BeginRecording,
                          EndRecording, Play, Forget>;

/// The number of a command in the stream: its position in a list, counted from 1.
template <class Command, class... Listed>
constexpr std::uint32_t number_of(TypeList<Listed...>) {
  std::uint32_t number = 0;
  std::uint32_t position = 0;
  ((++position, number = std::is_same_v<Command, Listed> ? position : number), ...);
  return number;
}

}  // namespace eg::webgpu
