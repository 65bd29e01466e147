#pragma once

// What the GPU is to do, as 32-bit words, in the order in which it was called. A player, which owns
// the GPU, takes all words so far and plays them (web/src/webgpu/README.md). A call of a kernel is
// encoded whole, with its numbers, so that the player needs nothing else.
//
// A command is `length << 8 | number` (length in words, this one included), then the fields of its
// struct (commands.h); those of a kernel's struct follow its command, nested structs field by field
// and arrays element by element. The fields of every struct are known at compile time
// (base/fields.h, kernels/call.h), so neither commands nor kernels have encoders of their own.

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

// Appends what a field of a command holds.
inline void append(Words& words, std::uint32_t value) { words.push_back(value); }
void append(Words& words, std::uint64_t value);
void append(Words& words, Bytes bytes);
void append(Words& words, Text text);

/// Appends a command while it is in scope: the length, in its first word, is known at the end.
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

  /// The words so far; the stream is empty afterwards.
  Words take() { return std::exchange(words_, {}); }
  std::size_t size() const { return words_.size(); }

 private:
  /// The number of a text, which is told to the player before it is used.
  std::uint32_t name(std::string_view text);
  void add_field(kernel::Field field, const kernel::Call& call);
  void add_formula(const kernel::Formula& formula);

  Words words_;
  NameTable names_;
};

/// The block that a storage's address stands for.
inline Block block_of(const void* address) {
  return static_cast<Block>(reinterpret_cast<std::uintptr_t>(address));
}
inline void* address_of(Block block) {
  return reinterpret_cast<void*>(std::uintptr_t{block});  // NOLINT: a number, not an address
}

}  // namespace eg::webgpu
