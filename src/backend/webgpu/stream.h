#pragma once

// The commands for the GPU, encoded as 32-bit words in the order of the calls. A player, which owns
// the GPU, takes the words recorded so far and plays them (web/src/webgpu/README.md). A kernel call
// is encoded completely, including its numbers, so the player needs no other information.
//
// A command is `length << 8 | number` (the length in words, including this one), followed by the
// fields of its struct (commands.h). The fields of a kernel's struct follow its command, nested
// structs field by field and arrays element by element. The fields of every struct are known at
// compile time (base/fields.h, kernels/call.h), so commands and kernels need no encoders of their
// own.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "backend/webgpu/commands.h"
#include "base/fields.h"
#include "base/name_table.h"
#include "kernels/call.h"

namespace eg::webgpu {

using Words = std::vector<std::uint32_t>;

// Append the value of a command's field.
inline void append(Words& words, std::uint32_t value) { words.push_back(value); }
void append(Words& words, std::uint64_t value);
void append(Words& words, Bytes bytes);
void append(Words& words, Text text);

/// Appends a command while in scope. The destructor fills in the length, which is in the first
/// word.
template <class Command>
class CommandWriter {
 public:
  explicit CommandWriter(Words& words) : words_(words), begin_(words.size()) {
    words_.push_back(number_of<Command>(Commands()));
  }
  CommandWriter(const CommandWriter&) = delete;
  CommandWriter& operator=(const CommandWriter&) = delete;
  ~CommandWriter() { words_[begin_] |= static_cast<std::uint32_t>(words_.size() - begin_) << 8U; }

  void write(const Command& command) {
    std::apply([this](const auto&... fields) { (append(words_, fields), ...); },
               fields_of(command));
  }

 private:
  Words& words_;
  std::size_t begin_;
};

class Stream {
 public:
  /// Appends a command: a struct of commands.h.
  template <class Command>
  void add(const Command& command) {
    CommandWriter<Command>(words_).write(command);
  }
  void add_kernel(const kernel::Call& call);

  /// Returns the words recorded so far and empties the stream.
  Words take() { return std::exchange(words_, {}); }
  std::size_t size() const { return words_.size(); }

 private:
  /// Returns the number of a string, defining it in the stream on first use.
  std::uint32_t name(std::string_view text);
  void add_field(kernel::Field field, const kernel::Call& call);
  void add_formula(const kernel::Formula& formula);

  Words words_;
  NameTable names_;
};

/// Converts between blocks and the addresses that identify them in a Storage.
inline Block block_of(const void* address) {
  return static_cast<Block>(reinterpret_cast<std::uintptr_t>(address));
}
inline void* address_of(Block block) {
  return reinterpret_cast<void*>(std::uintptr_t{block});  // NOLINT: a number, not an address
}

}  // namespace eg::webgpu
