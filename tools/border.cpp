// Prints web/src/generated/border.ts: the format of the data that C++ and TypeScript exchange.

#include <cctype>
#include <exception>
#include <iostream>
#include <set>
#include <string>

#include "border_schema.h"

namespace eg::bindings {
namespace {

std::string camel_case(std::string_view snake) {
  std::string text;
  bool is_start = false;
  for (const char character : snake) {
    if (character != '_') text += is_start ? static_cast<char>(std::toupper(character)) : character;
    is_start = character == '_';
  }
  return text;
}

// kSumSquares -> SumSquares.
std::string_view without_k(std::string_view enumerator) {
  if (enumerator.starts_with('k')) enumerator.remove_prefix(1);
  return enumerator;
}

/// Writes every declaration once, after the declarations that it refers to.
class Writer {
 public:
  template <class Command>
  void command() {
    interface<Command>();
    const std::string name(type_name<Command>());
    command_types_ += "  readonly " + name + ": " + name + ";\n";
    commands_ += "  " + name + ": " + fields_of_struct<Command>() + ",\n";
  }

  template <class Kernel>
  void kernel() {
    interface<Kernel>();
    const std::string name(Kernel::name);
    kernels_ += "  " + name + ": " + fields_of_struct<Kernel>() + ",\n";
    kernel_types_ += "  readonly " + name + ": " + std::string(type_name<Kernel>()) + ";\n";
  }

  std::string text() const {
    return declarations_ +
           "/** The structs of commands. */\n"
           "export interface Commands {\n" +
           command_types_ +
           "}\n\n"
           "/** The commands of a stream: a command's number is its position, counted from 1. */\n"
           "export const kCommandFields = {\n" +
           commands_ +
           "} as const;\n\n"
           "/** The structs of kernels by the kernels' names. */\n"
           "export interface Kernels {\n" +
           kernel_types_ +
           "}\n\n"
           "/** The fields that follow a Kernel command in the stream, by the kernel's name. */\n"
           "export const kKernelFields = {\n" +
           kernels_ + "} as const;\n";
  }

 private:
  // The TypeScript type of a field.
  template <class T>
  std::string type() {
    if constexpr (kArraySize<T> > 0) {
      std::string text = "readonly [";
      for (std::size_t i = 0; i < kArraySize<T>; ++i)
        text += (i > 0 ? ", " : "") + type<typename T::value_type>();
      return text + "]";
    } else if constexpr (leaf_type<T>().empty()) {
      interface<T>();
      return std::string(type_name<T>());
    } else if constexpr (std::is_same_v<T, DType>) {
      return "DType";
    } else if constexpr (std::is_enum_v<T>) {
      enumeration<T>();
      return std::string(type_name<T>());
    } else {
      const std::string_view leaf = leaf_type<T>();
      if (leaf == "bool") return "boolean";
      if (leaf == "word" || leaf == "int64" || leaf == "double") return "number";
      if (leaf == "list") return "readonly number[]";
      if (leaf == "memory") return "View";
      if (leaf == "optional memory") return "View | undefined";
      if (leaf == "operands") return "readonly Operand[]";
      if (leaf == "formula") return "Formula";
      if (leaf == "name" || leaf == "text") return "string";
      return "Uint8Array";
    }
  }

  // The description of a field for the reader: the type of a leaf, or the constant of a nested
  // struct.
  template <class T>
  std::string fields() {
    if constexpr (kArraySize<T> > 0) {
      std::string text = "[";
      for (std::size_t i = 0; i < kArraySize<T>; ++i)
        text += (i > 0 ? ", " : "") + fields<typename T::value_type>();
      return text + "]";
    } else if constexpr (leaf_type<T>().empty()) {
      const std::string name = "k" + std::string(type_name<T>());
      if (declared_.insert(name).second)
        declarations_ += "const " + name + " = " + fields_of_struct<T>() + " as const;\n\n";
      return name;
    } else {
      return '"' + std::string(leaf_type<T>()) + '"';
    }
  }

  template <class Struct>
  std::string fields_of_struct() {
    std::string text = "{";
    for_each_field_name<Struct>([&]<class Field>(std::string_view name) {
      text += (text.size() > 1 ? ", " : " ") + camel_case(name) + ": " + fields<Field>();
    });
    return text + (text.size() > 1 ? " }" : "}");
  }

  template <class Struct>
  void interface() {
    const std::string name(type_name<Struct>());
    if (!declared_.insert(name).second) return;
    std::string text = "export interface " + name + " {\n";
    for_each_field_name<Struct>([&]<class Field>(std::string_view field) {
      text += "  readonly " + camel_case(field) + ": " + type<Field>() + ";\n";
    });
    declarations_ += text + "}\n\n";
  }

  template <class Enum>
  void enumeration() {
    const std::string name(type_name<Enum>());
    if (!declared_.insert(name).second) return;
    std::string text = "export enum " + name + " {\n";
    for_each_enumerator<Enum>([&](std::string_view enumerator, std::size_t number) {
      text += "  " + std::string(without_k(enumerator)) + " = " + std::to_string(number) + ",\n";
    });
    declarations_ += text + "}\n\n";
  }

  std::set<std::string> declared_;
  std::string declarations_;
  std::string commands_;
  std::string command_types_;
  std::string kernels_;
  std::string kernel_types_;
};

std::string border_ts() {
  Writer writer;
  webgpu::Commands::for_each([&]<class Command>() { writer.command<Command>(); });
  kernel::Kernels::for_each([&]<class Kernel>() { writer.kernel<Kernel>(); });
  return "// Written by tools/border.cpp (npm run generate). Do not edit.\n"
         "//\n"
         "// The format of the data that C++ and TypeScript exchange. The fields are documented at "
         "the\n"
         "// structs: commands in src/backend/webgpu/commands.h, kernels in src/kernels.\n\n"
         "import type { DType } from \"../webgpu/dtype\";\n"
         "import type { Formula, Operand, View } from \"../webgpu/stream\";\n\n"
         "/** The value of native.borderHash() for a module with this format. */\n"
         "export const kBorderHash = " +
         std::to_string(border_hash()) + ";\n\n" + writer.text();
}

}  // namespace
}  // namespace eg::bindings

int main() {
  try {
    std::cout << eg::bindings::border_ts();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
