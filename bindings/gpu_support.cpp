#include "gpu_support.h"

#include <algorithm>

namespace eg::bindings {
namespace {

// Removes the text up to and including the next `separator` and returns the part before that.
std::string_view take_until(char separator, std::string_view& text) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

unsigned number_of(std::string_view digits) {
  unsigned number = 0;
  for (const char c : digits) number = 10 * number + static_cast<unsigned>(c - '0');
  return number;
}

}  // namespace

void GpuSupport::read(const std::string& lines) {
  for (std::string_view left = lines; !left.empty();) read_line(take_until('\n', left));
}

void GpuSupport::read_line(std::string_view line) {
  if (line.starts_with('=')) {
    formulas_.add(line.substr(1));
    return;
  }
  kernel_names_.add(take_until(' ', line));
  Kernel& kernel = kernels_.emplace_back();
  kernel.is_for_all = line.starts_with("* ");
  if (kernel.is_for_all) line.remove_prefix(2);
  while (!line.empty()) kernel.dtypes.push_back(number_of(take_until(' ', line)));
}

bool GpuSupport::has(const kernel::Call& call) const {
  const std::uint32_t found = kernel_names_.find(call.name());
  if (found == 0) return false;
  const Kernel& kernel = kernels_[found - 1];
  std::size_t index = 0;
  bool fits = true;
  const auto check_memory = [&](const MemoryView& memory) {
    // Absent memory also has an entry in the list.
    const std::size_t i = kernel.is_for_all ? 0 : index++;
    if (memory.base == nullptr) return;
    const unsigned allowed = i < kernel.dtypes.size() ? kernel.dtypes[i] : 0;
    const unsigned bit = 1U << static_cast<unsigned>(memory.dtype);
    if ((allowed & bit) == 0) fits = false;
  };
  for (const kernel::Field field : call.fields()) {
    using kernel::FieldKind;
    if (is_read_memory(field.kind)) check_memory(call.at<kernel::In>(field).view());
    if (is_written_memory(field.kind)) check_memory(call.at<kernel::Out>(field).view());
    if (field.kind == FieldKind::kFormula) {
      const kernel::Formula& formula = call.at<kernel::Formula>(field);
      if (formula.shader_numbers == nullptr || formulas_.find(formula.op) == 0) fits = false;
    }
    if (field.kind != FieldKind::kOperands) continue;
    for (const kernel::Operand& operand : call.at<kernel::Operands>(field))
      check_memory(operand.memory);
  }
  return fits;
}

}  // namespace eg::bindings
