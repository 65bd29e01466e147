// Prints the format of what C++ and TypeScript exchange: web/src/generated/border.ts, or with an
// argument web/src/generated/stream.ts, the GPU's stream, which only the player reads.

#include <exception>
#include <iostream>
#include <set>
#include <string>

#include "base/spelling.h"
#include "border_schema.h"

namespace eg::bindings {
namespace {

// kSumSquares -> SumSquares.
std::string_view without_k(std::string_view enumerator) {
  if (enumerator.starts_with('k')) enumerator.remove_prefix(1);
  return enumerator;
}

// kOutOfMemory -> OutOfMemory, but kFloat32 -> float32.
template <class Enum>
std::string public_name(std::string_view enumerator, std::size_t number) {
  if constexpr (std::is_same_v<Enum, DType>)
    return std::string(dtype_name(static_cast<DType>(number)));
  else
    return std::string(without_k(enumerator));
}

// numel -> kNumelWord.
std::string word_name(std::string_view field) {
  std::string text = camel_case(field);
  text[0] = static_cast<char>(std::toupper(text[0]));
  return "k" + text + "Word";
}

/// Writes every declaration once, after the declarations that it refers to.
class Writer {
 public:
  /// A union of the names of all enumerators, and with `list` an array of them.
  template <class Enum>
  void names(const std::string& comment, std::string_view list) {
    std::string type =
        "/** " + comment + " */\nexport type " + std::string(type_name<Enum>()) + " =";
    std::string values;
    for_each_enumerator<Enum>([&](std::string_view enumerator, std::size_t number) {
      const std::string name = public_name<Enum>(enumerator, number);
      type += "\n  | \"" + name + '"';
      values += "  \"" + name + "\",\n";
    });
    declarations_ += type + ";\n\n";
    if (list.empty()) return;
    declarations_ += "/** All of them, in the order of their numbers. */\nexport const " +
                     std::string(list) + ": readonly " + std::string(type_name<Enum>()) +
                     "[] = [\n" + values + "];\n\n";
  }

  /// The first dtypes, for which there are kernels.
  void computed_dtypes() {
    std::string values;
    for_each_enumerator<DType>([&](std::string_view enumerator, std::size_t number) {
      if (number < kComputedDTypeCount)
        values += "  \"" + public_name<DType>(enumerator, number) + "\",\n";
    });
    declarations_ +=
        "/** The dtypes that kernels compute, in the order of their numbers. */\n"
        "export const kComputedDTypes = [\n" +
        values +
        "] as const;\n\n"
        "/** A dtype that kernels compute. */\n"
        "export type ComputedDType = (typeof kComputedDTypes)[number];\n\n";
  }

  /// The position of every word in the frame.
  template <class Words>
  void words() {
    std::size_t position = 0;
    declarations_ += "// " + std::string(type_name<Words>()) + "\n";
    for_each_field_name<Words>([&]<class Field>(std::string_view field) {
      declarations_ +=
          "export const " + word_name(field) + " = " + std::to_string(position++) + ";\n";
    });
    declarations_ += "\n/** The number of " + std::string(type_name<Words>()) +
                     ". */\nexport const k" + std::string(type_name<Words>()) + " = " +
                     std::to_string(position) + ";\n\n";
  }

  template <class Flags>
  void flags() {
    declarations_ += "// " + std::string(type_name<Flags>()) + "\n";
    for_each_flag<Flags>([&](std::string_view name, std::size_t number) {
      declarations_ += "export const " + std::string(name) + " = " + std::to_string(number) + ";\n";
    });
    declarations_ += "\n";
  }

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

  const std::string& declarations() const { return declarations_; }

  /// The declarations, and what refers to all of them.
  std::string stream() const {
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
           "/** What follows a Kernel command in the stream, by the kernel's name. */\n"
           "export const kKernelFields = {\n" +
           kernels_ + "} as const;\n";
  }

 private:
  // The type in TypeScript.
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
      return "ComputedDType";
    } else if constexpr (std::is_enum_v<T>) {
      enumeration<T>();
      return std::string(type_name<T>());
    } else {
      const std::string_view leaf = leaf_type<T>();
      if (leaf == "bool") return "boolean";
      if (leaf == "word" || leaf == "int64" || leaf == "double") return "number";
      if (leaf == "scalar") return "number | bigint";
      if (leaf == "list") return "readonly number[]";
      if (leaf == "memory" || leaf == "result") return "View";
      if (leaf == "optional memory" || leaf == "optional result") return "View | undefined";
      if (leaf == "operands") return "readonly Operand[]";
      if (leaf == "formula") return "Formula";
      if (leaf == "name" || leaf == "text") return "string";
      return "Uint8Array";
    }
  }

  // The description that the reader of a stream uses: the type of a leaf, or the constant of a
  // nested struct.
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

constexpr std::string_view kHead =
    "// Written by tools/border.cpp (npm run generate). Do not edit.\n";

std::string border_ts() {
  Writer writer;
  writer.names<DType>("The element type of a tensor.", "kDTypes");
  writer.computed_dtypes();
  writer.names<ErrorCode>("The codes of `EdgeGradError`.", "");
  WordStructs::for_each([&]<class Words>() { writer.words<Words>(); });
  FlagEnums::for_each([&]<class Flags>() { writer.flags<Flags>(); });
  return std::string(kHead) +
         "//\n"
         "// The words, flags and names that C++ and TypeScript exchange; bindings/words.h "
         "explains them.\n\n"
         "/** What native.borderHash() returns of a module with this format and that of stream.ts. "
         "*/\n"
         "export const kBorderHash = " +
         std::to_string(border_hash()) + ";\n\n" + writer.declarations();
}

std::string stream_ts() {
  Writer writer;
  webgpu::Commands::for_each([&]<class Command>() { writer.command<Command>(); });
  kernel::Kernels::for_each([&]<class Kernel>() { writer.kernel<Kernel>(); });
  return std::string(kHead) +
         "//\n"
         "// The GPU's stream. The fields are explained at the structs: commands in\n"
         "// src/backend/webgpu/commands.h, kernels in src/kernels.\n\n"
         "import type { Formula, Operand, View } from \"../webgpu/stream\";\n"
         "import type { ComputedDType } from \"./border\";\n\n" +
         writer.stream();
}

}  // namespace
}  // namespace eg::bindings

int main(int count, char**) {
  try {
    std::cout << (count > 1 ? eg::bindings::stream_ts() : eg::bindings::border_ts());
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
