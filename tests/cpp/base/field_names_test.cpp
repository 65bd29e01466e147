// The names of fields, enumerators and types, at compile time.

#include "base/field_names.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/shape.h"
#include "kernels/softmax.h"

namespace eg {

// Not in an unnamed namespace, because their fields are named by a variable with external linkage.
namespace field_names_test {

struct Inner {
  std::int64_t first_part;
  std::int64_t second;
};
struct Outer {
  bool flag;
  Inner inner;
  std::array<std::int64_t, 2> pair;
  Shape list;
};
struct Nothing {};
enum class Fruit : std::uint8_t { kApple, kPear = 3, kPlum };

}  // namespace field_names_test

namespace {

using namespace field_names_test;

template <class Struct>
std::vector<std::string> names() {
  std::vector<std::string> result;
  for_each_field_name<Struct>(
      [&]<class Field>(std::string_view name) { result.emplace_back(name); });
  return result;
}

TEST(FieldNames, AreThoseOfTheStruct) {
  EXPECT_EQ(names<Outer>(), (std::vector<std::string>{"flag", "inner", "pair", "list"}));
  EXPECT_EQ(names<Inner>(), (std::vector<std::string>{"first_part", "second"}));
  EXPECT_TRUE(names<Nothing>().empty());
  EXPECT_EQ(names<kernel::Softmax>(), (std::vector<std::string>{"kind", "rows", "x", "y"}));
}

TEST(FieldNames, ComeWithTheTypes) {
  std::vector<std::size_t> sizes;
  for_each_field_name<Inner>(
      [&]<class Field>(std::string_view) { sizes.push_back(sizeof(Field)); });
  EXPECT_EQ(sizes, (std::vector<std::size_t>{8, 8}));
}

TEST(EnumeratorNames, SkipNumbersWithoutAName) {
  std::vector<std::pair<std::string, std::size_t>> found;
  for_each_enumerator<Fruit>(
      [&](std::string_view name, std::size_t number) { found.emplace_back(name, number); });
  EXPECT_EQ(found, (std::vector<std::pair<std::string, std::size_t>>{
                       {"kApple", 0}, {"kPear", 3}, {"kPlum", 4}}));
}

TEST(TypeNames, HaveNoNamespace) {
  EXPECT_EQ(type_name<kernel::SoftmaxBackward>(), "SoftmaxBackward");
  EXPECT_EQ(type_name<Fruit>(), "Fruit");
}

}  // namespace
}  // namespace eg
