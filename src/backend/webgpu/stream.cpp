#include "backend/webgpu/stream.h"

#include <bit>
#include <cstring>

#include "kernels/op_name.h"

namespace eg::webgpu {
namespace {

using kernel::Call;
using kernel::Field;
using kernel::FieldKind;

void append_int64(Words& words, std::int64_t value) {
  append(words, static_cast<std::uint64_t>(value));
}

void append_double(Words& words, double value) {
  append(words, std::bit_cast<std::uint64_t>(value));
}

// Whether it is an integer, then its 64 bits.
void append_scalar(Words& words, const Scalar& value) {
  append(words, std::uint32_t{value.is_float() ? 0U : 1U});
  if (value.is_float()) {
    append_double(words, value.to<double>());
  } else {
    append_int64(words, value.to<std::int64_t>());
  }
}

void append_count(Words& words, std::size_t count) {
  append(words, static_cast<std::uint32_t>(count));
}

void append_list(Words& words, const Shape& list) {
  append_count(words, list.size());
  for (const std::int64_t value : list) append_int64(words, value);
}

void append_memory(Words& words, const MemoryView& memory) {
  append(words, block_of(memory.base));
  append_count(words, static_cast<std::size_t>(memory.offset));
  append(words, static_cast<std::uint32_t>(memory.dtype));
}

void append_operands(Words& words, const kernel::Operands& operands) {
  append_count(words, operands.size());
  for (const kernel::Operand& operand : operands) {
    append_memory(words, operand.memory);
    append_list(words, operand.strides);
  }
}

}  // namespace

void append(Words& words, std::uint64_t value) {
  words.push_back(static_cast<std::uint32_t>(value));
  words.push_back(static_cast<std::uint32_t>(value >> 32U));
}

void append(Words& words, Bytes bytes) {
  append_count(words, bytes.size());
  const std::size_t end = words.size();
  words.resize(end + (bytes.size() + 3) / 4);
  if (!bytes.empty()) std::memcpy(&words[end], bytes.data(), bytes.size());
}

void append(Words& words, Text text) { append(words, std::as_bytes(std::span(text.characters))); }

void Stream::add_kernel(const Call& call) {
  // Names are defined first, because a command cannot begin within another one.
  const Kernel names{name(call.name()), name(kernel::op_name(call))};
  CommandWriter<Kernel> writer(words_);
  writer.write(names);
  for (const Field field : call.fields()) add_field(field, call);
}

std::uint32_t Stream::name(std::string_view text) {
  if (const std::uint32_t known = names_.find(text); known != 0) return known;
  const std::uint32_t number = names_.add(text);
  add(Name{number, {text}});
  return number;
}

// A formula is encoded as its op (whose name already has a number, because op_name() returned it),
// its form, the input whose gradient it is (or -1), and its constants.
void Stream::add_formula(const kernel::Formula& formula) {
  const bool is_value = formula.gradient_of == kernel::Formula::kForward;
  const op::ShaderNumbers numbers = formula.shader_numbers(formula.params, !is_value);
  append(words_, name(formula.op));
  append_count(words_, numbers.form);
  append(words_, std::bit_cast<std::uint32_t>(formula.gradient_of));
  append_count(words_, numbers.constants.size());
  for (const double value : numbers.constants) append_double(words_, value);
}

void Stream::add_field(Field field, const Call& call) {
  switch (field.kind) {
    case FieldKind::kByte:
      return append(words_, std::uint32_t{call.at<std::uint8_t>(field)});
    case FieldKind::kInt64:
      return append_int64(words_, call.at<std::int64_t>(field));
    case FieldKind::kFloat:
      return append_double(words_, static_cast<double>(call.at<float>(field)));
    case FieldKind::kDouble:
      return append_double(words_, call.at<double>(field));
    case FieldKind::kScalar:
      return append_scalar(words_, call.at<Scalar>(field));
    case FieldKind::kList:
      return append_list(words_, call.at<Shape>(field));
    case FieldKind::kIn:
    case FieldKind::kOptionalIn:
      return append_memory(words_, call.at<kernel::In>(field).view());
    case FieldKind::kOut:
    case FieldKind::kOptionalOut:
      return append_memory(words_, call.at<kernel::Out>(field).view());
    case FieldKind::kOperands:
      return append_operands(words_, call.at<kernel::Operands>(field));
    case FieldKind::kText:
      return append(words_, name(call.at<std::string_view>(field)));
    case FieldKind::kFormula:
      return add_formula(call.at<kernel::Formula>(field));
  }
}

}  // namespace eg::webgpu
