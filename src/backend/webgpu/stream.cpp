#include "backend/webgpu/stream.h"

#include <bit>
#include <cstring>

#include "kernels/op_name.h"

namespace eg::webgpu {
namespace {

using kernel::Call;
using kernel::Field;
using kernel::FieldKind;
using Words = std::vector<std::uint32_t>;

enum class Command : std::uint8_t {
  kAllocate = 1,
  kFree,
  kWrite,
  kRead,
  kKernel,
  kName,
  kCopy,
  kStamp,
  kStamps,
  kBeginRecording,
  kEndRecording,
  kPlay,
  kForget,
};

// What says in the stream what a field is.
enum class Tag : std::uint8_t {
  kNumber = 1,
  kInt64,
  kDouble,
  kList,
  kIn,
  kOut,
  kOperands,
  kText,
  kDoubles,
};

// A command for a scope: its first word is its length, which is known at the end.
class Writer {
 public:
  Writer(Words& words, Command command) : words_(words), begin_(words.size()) {
    words_.push_back(static_cast<std::uint32_t>(command));
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { words_[begin_] |= static_cast<std::uint32_t>(words_.size() - begin_) << 8U; }

 private:
  Words& words_;
  std::size_t begin_;
};

void add(Words& words, std::size_t value) { words.push_back(static_cast<std::uint32_t>(value)); }

void add(Words& words, Tag tag) { words.push_back(static_cast<std::uint32_t>(tag)); }

void add_long(Words& words, std::uint64_t value) {
  words.push_back(static_cast<std::uint32_t>(value));
  words.push_back(static_cast<std::uint32_t>(value >> 32U));
}

void add_list(Words& words, const Shape& list) {
  add(words, list.size());
  for (const std::int64_t value : list) add_long(words, static_cast<std::uint64_t>(value));
}

void add_memory(Words& words, const MemoryView& memory) {
  add(words, block_of(memory.base));
  add(words, static_cast<std::size_t>(memory.offset));
  add(words, static_cast<std::size_t>(memory.dtype));
}

void add_bytes(Words& words, const void* from, std::size_t bytes) {
  const std::size_t end = words.size();
  words.resize(end + (bytes + 3) / 4);
  if (bytes > 0) std::memcpy(&words[end], from, bytes);
}

void add_double(Words& words, double value) {
  add(words, Tag::kDouble);
  add_long(words, std::bit_cast<std::uint64_t>(value));
}

void add_int64(Words& words, std::int64_t value) {
  add(words, Tag::kInt64);
  add_long(words, static_cast<std::uint64_t>(value));
}

void add_operands(Words& words, const kernel::Operands& operands) {
  add(words, operands.size());
  for (const kernel::Operand& operand : operands) {
    add_memory(words, operand.memory);
    add_list(words, operand.strides);
  }
}

}  // namespace

void Stream::allocate(Block block, std::size_t bytes) {
  const Writer command(words_, Command::kAllocate);
  add(words_, block);
  add(words_, bytes);
}

void Stream::free(Block block) {
  const Writer command(words_, Command::kFree);
  add(words_, block);
}

void Stream::write(Block block, std::size_t offset, const void* from, std::size_t bytes) {
  const Writer command(words_, Command::kWrite);
  add(words_, block);
  add(words_, offset);
  add(words_, bytes);
  add_bytes(words_, from, bytes);
}

void Stream::read(Block block, std::size_t offset, std::size_t bytes, const void* to,
                  std::uint32_t ticket) {
  const Writer command(words_, Command::kRead);
  add(words_, block);
  add(words_, offset);
  add(words_, bytes);
  add_long(words_, reinterpret_cast<std::uintptr_t>(to));
  add(words_, ticket);
}

void Stream::kernel(const Call& call) {
  // Texts are told before: a command cannot begin within another.
  const std::uint32_t called = name(call.name());
  const std::uint32_t op = name(kernel::op_name(call));
  const Writer command(words_, Command::kKernel);
  add(words_, called);
  add(words_, op);
  for (const Field field : call.fields()) this->field(field, call);
}

void Stream::stamp(std::uint32_t slot) {
  const Writer command(words_, Command::kStamp);
  add(words_, slot);
}

void Stream::stamps(Block block, std::uint32_t count) {
  const Writer command(words_, Command::kStamps);
  add(words_, block);
  add(words_, count);
}

void Stream::begin_recording(std::uint32_t recording) {
  const Writer command(words_, Command::kBeginRecording);
  add(words_, recording);
}

void Stream::end_recording() { const Writer command(words_, Command::kEndRecording); }

void Stream::play(std::uint32_t recording) {
  const Writer command(words_, Command::kPlay);
  add(words_, recording);
}

void Stream::forget(std::uint32_t recording) {
  const Writer command(words_, Command::kForget);
  add(words_, recording);
}

std::uint32_t Stream::name(std::string_view text) {
  if (const std::uint32_t known = names_.find(text); known != 0) return known;
  const std::uint32_t number = names_.add(text);
  const Writer command(words_, Command::kName);
  add(words_, number);
  add(words_, text.size());
  add_bytes(words_, text.data(), text.size());
  return number;
}

void Stream::formula(const kernel::Formula& formula) {
  const bool is_value = formula.gradient_of == kernel::Formula::kForward;
  const op::ShaderNumbers numbers = formula.shader_numbers(formula.params, !is_value);
  add(words_, Tag::kText);
  add(words_, name(formula.op));
  add(words_, Tag::kNumber);
  add(words_, numbers.form);
  add(words_, Tag::kNumber);
  words_.push_back(std::bit_cast<std::uint32_t>(formula.gradient_of));
  add(words_, Tag::kDoubles);
  add(words_, numbers.constants.size());
  for (const double value : numbers.constants)
    add_long(words_, std::bit_cast<std::uint64_t>(value));
}

void Stream::field(Field field, const Call& call) {
  switch (field.kind) {
    case FieldKind::kByte:
      add(words_, Tag::kNumber);
      return add(words_, call.at<std::uint8_t>(field));
    case FieldKind::kInt64:
      return add_int64(words_, call.at<std::int64_t>(field));
    case FieldKind::kFloat:
      return add_double(words_, static_cast<double>(call.at<float>(field)));
    case FieldKind::kDouble:
      return add_double(words_, call.at<double>(field));
    case FieldKind::kScalar:
      return add_double(words_, call.at<Scalar>(field).to<double>());
    case FieldKind::kList:
      add(words_, Tag::kList);
      return add_list(words_, call.at<Shape>(field));
    case FieldKind::kIn:
      add(words_, Tag::kIn);
      return add_memory(words_, call.at<kernel::In>(field).view());
    case FieldKind::kOut:
      add(words_, Tag::kOut);
      return add_memory(words_, call.at<kernel::Out>(field).view());
    case FieldKind::kOperands:
      add(words_, Tag::kOperands);
      return add_operands(words_, call.at<kernel::Operands>(field));
    case FieldKind::kText:
      add(words_, Tag::kText);
      return add(words_, name(call.at<std::string_view>(field)));
    case FieldKind::kFormula:
      return formula(call.at<kernel::Formula>(field));
  }
}

}  // namespace eg::webgpu
