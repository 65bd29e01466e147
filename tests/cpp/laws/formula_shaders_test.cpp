// markers: no-device

// Formulas in other forms than kernels: their trees and numbers, and the shaders generated from
// them.

#include "formula_shaders.h"

#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "formulas/all.h"
#include "formulas/constants.h"
#include "formulas/forms.h"

namespace eg {
namespace {

using op::ConstantList;
using op::Constants;
using op::Tree;

std::vector<double> numbers(const ConstantList& list) { return {list.begin(), list.end()}; }
std::vector<double> numbers(Constants formula) {
  ConstantList list;
  take_constants(formula, list);
  return numbers(list);
}

// A formula of one operand as float32 text, evaluated once.
wgsl::Text text_of(const Tree& tree, wgsl::Type type = wgsl::Type::kFloat32) {
  wgsl::Shader shader;
  shader.add({tree});
  return shader.text(type);
}

TEST(Constants, AreListedFromLeftToRight) {
  const Constants x;
  EXPECT_EQ(numbers(1 - x * 2 + where(x < 3, 4, -x)), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(numbers(pow(5, exp(x / 6)) + 7), (std::vector<double>{5, 6, 7}));
}

TEST(Constants, OfAPartThatIsUsedTwiceAreListedTwice) {
  const Constants scale = Constants() * 2;
  EXPECT_EQ(numbers(scale / (scale + 3)), (std::vector<double>{2, 2, 3}));
  EXPECT_EQ(numbers(Constants() - Constants()), std::vector<double>{});
}

TEST(Constants, AreWhatAFormulaMakesOfItsParameters) {
  EXPECT_EQ(numbers(op::forward_constants<op::Celu>({.alpha = 4})),
            (std::vector<double>{0, 1, 0.25, 4}));
  EXPECT_EQ(numbers(op::gradient_constants<op::Addcmul>({.value = 3})),
            (std::vector<double>{3, 3}));
}

TEST(Constants, AreNoneWhereTheTextHoldsAll) {
  EXPECT_EQ(op::forward_constants<op::Sinc>({}).size(), 0);
  EXPECT_EQ(op::gradient_constants<op::Gelu>({}).size(), 0);
}

TEST(Constants, HaveRoomForEveryFormula) {
  wgsl::AllFormulas::for_each([]<class Op>() {
    EXPECT_LT(op::forward_constants<Op>({}).size(), ConstantList::kMost) << Op::doc.name;
    EXPECT_LT(op::gradient_constants<Op>({}).size(), ConstantList::kMost) << Op::doc.name;
  });
}

TEST(Forms, AreTheChoicesOfAnOpOrWhatItSays) {
  EXPECT_EQ(op::kFormCount<op::Tanh>, 1);
  EXPECT_EQ(op::kFormCount<op::LeakyRelu>, 1);
  EXPECT_EQ(op::kFormCount<op::Gelu>, 2);
  EXPECT_EQ(op::form_of<op::Gelu>({.approximate = 1}), 1);
  EXPECT_EQ(op::kFormCount<op::Round>, 3);
  EXPECT_EQ(op::form_of<op::Round>({.decimals = -3}), 2);
}

TEST(ShaderText, SharesWhatIsUsedTwice) {
  const Tree x = Tree::operand("a");
  const wgsl::Text text = text_of(exp(x * x) + 1 / exp(x * x));
  EXPECT_EQ(text.lets, std::vector<std::string>{"t0 = exp_f32(a * a)"});
  EXPECT_EQ(text.results, std::vector<std::string>{"t0 + (1f / t0)"});
}

TEST(ShaderText, LooksAtBitsForWhatCompilersAssumeNotToBe) {
  const Tree x = Tree::operand("a");
  EXPECT_EQ(text_of(x != x).results[0], "is_nan_f32(a)");
  EXPECT_EQ(text_of(x - x == 0).results[0], "is_finite_f32(a)");
  EXPECT_EQ(text_of(x * 0).results[0], "times_zero_f32(a)");
  EXPECT_EQ(text_of(x * 0, wgsl::Type::kInt32).results[0], "a * 0i");
}

TEST(ShaderText, WritesNumbersAsAKernelTakesThem) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(wgsl::literal(0.1, wgsl::Type::kFloat32), "0.1f");
  EXPECT_EQ(wgsl::literal(-1e300, wgsl::Type::kFloat32), "(-3.4028235e+38f)");
  EXPECT_EQ(wgsl::literal(kInfinity, wgsl::Type::kFloat32), "infinity_f32()");
  EXPECT_EQ(wgsl::literal(-kInfinity, wgsl::Type::kInt32), "-2147483648i");
  EXPECT_EQ(wgsl::literal(300, wgsl::Type::kUInt8), "255u");
  EXPECT_EQ(wgsl::literal(-2, wgsl::Type::kInt64), "vec2(4294967294u, 4294967295u)");
  EXPECT_EQ(wgsl::literal(kInfinity, wgsl::Type::kInt64), "vec2(4294967295u, 2147483647u)");
}

TEST(ShaderText, CallsWordsForPairs) {
  const Tree x = Tree::operand("a");
  EXPECT_EQ(text_of(-x - x * x, wgsl::Type::kInt64).results[0],
            "sub_i64(neg_i64(a), mul_i64(a, a))");
  EXPECT_EQ(text_of((x < 0) | (x != x), wgsl::Type::kInt64).results[0],
            "less_i64(a, vec2(0u, 0u)) | differ_i64(a, a)");
}

TEST(ShaderText, KeepsEightBitsOfSmallIntegers) {
  const Tree x = Tree::operand("a");
  EXPECT_EQ(text_of(-x * 3, wgsl::Type::kUInt8).results[0], "(((0u - a) & 255u) * 3u) & 255u");
}

TEST(ShaderText, KeepsNumbersAndMagnitudesRealBesideComplexNumbers) {
  const Tree x = Tree::operand("a");
  const auto text = [](const Tree& tree) {
    return text_of(tree, wgsl::Type::kComplex64).results[0];
  };
  EXPECT_EQ(text(2 * x + 1), "(2f * a) + vec2(1f, 0f)");
  EXPECT_EQ(text(x * x / 3), "mul_c64(a, a) / 3f");
  EXPECT_EQ(text(1 / exp(x)), "div_c64(vec2(1f, 0f), exp_c64(a))");
  EXPECT_EQ(text(abs(x)), "vec2(abs_c64(a), 0f)");
  EXPECT_EQ(text(where(abs(x) < 0.5, 0, -x)), "select(-a, vec2(0f, 0f), abs_c64(a) < 0.5f)");
}

TEST(ShaderText, ComparesComplexNumbersByBits) {
  const Tree x = Tree::operand("a");
  const auto text = [](const Tree& tree) {
    return text_of(tree, wgsl::Type::kComplex64).results[0];
  };
  EXPECT_EQ(text(x == 1), "!differ_c64(a, vec2(1f, 0f))");
  EXPECT_EQ(text(x != x), "is_nan_c64(a)");
  EXPECT_EQ(text(x - x == 0), "is_finite_c64(a)");
  EXPECT_EQ(text((x == x) & (x - x != 0)), "(!is_nan_c64(a)) & (!is_finite_c64(a))");
}

TEST(ShaderText, TakesNumbersThatVaryFromUniforms) {
  const Tree x = Tree::operand("a");
  wgsl::Shader shader;
  shader.add({2 * x + 5 + x * 5, 2 * x + 6 + x * 6});
  EXPECT_EQ(shader.slots(), std::vector<std::size_t>{1});
  EXPECT_EQ(shader.text(wgsl::Type::kFloat32).results[0], "((2f * a) + k1) + (a * k1)");
}

TEST(ShaderText, IsRefusedToAFormulaThatIsAnotherOneForOtherParameters) {
  const Tree x = Tree::operand("a");
  wgsl::Shader shader;
  EXPECT_THROW(shader.add({exp(x), log(x)}), std::runtime_error);
}

// In WebAssembly the checkout cannot be read.
#ifndef __EMSCRIPTEN__
void expect_content(const std::string& path, const std::string& expected) {
  std::ifstream file(path);
  if (!file) GTEST_SKIP() << "run in the checkout to compare " << path;
  std::ostringstream content;
  content << file.rdbuf();
  EXPECT_TRUE(content.str() == expected) << path << " is out of date: npm run generate";
}

TEST(FormulaShaders, AreThoseOfTheGeneratedFile) {
  expect_content("web/src/generated/formula_shaders.json", wgsl::formula_shaders());
}

TEST(FormulaShaders, AreTestedWithTheNumbersOfTheirFormulas) {
  expect_content("tests/golden/formula_constants.json", wgsl::formula_constants());
}
#endif

}  // namespace
}  // namespace eg
