// Sparse tensors: what they are made of, and ops on them with their derivatives.

#include "ops/sparse/sparse.h"

#include <cmath>

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "ops/create/copy.h"
#include "ops/elementwise/overload.h"
#include "ops/index/index.h"
#include "ops/matrix/matmul.h"
#include "ops/reduce/reduction.h"
#include "ops/shape/join.h"
#include "ops/shape/slice.h"
#include "ops/shape/view.h"
#include "ops/sparse/sparse_parts.h"
#include "support/errors.h"
#include "support/forward_check.h"
#include "support/gradcheck.h"
#include "support/tensors.h"

namespace eg {
namespace {

using testing::expect_error;
using testing::forward_check;
using testing::gradcheck_one;
using testing::random_leaf;
using testing::tensor;
using testing::values;
using Values = std::vector<double>;

Tensor coo(const Tensor& elements, const std::vector<std::int64_t>& rows,
           const std::vector<std::int64_t>& columns, const Dims& size) {
  std::vector<std::int64_t> at = rows;
  at.insert(at.end(), columns.begin(), columns.end());
  const Tensor indices = tensor<std::int64_t>(at, {2, static_cast<std::int64_t>(rows.size())});
  return SparseTensor::call(elements, indices, std::nullopt, size, false);
}

// A matrix of 3 x 4 with 5 values, two of them at the same position.
Tensor matrix_of(const Tensor& elements) {
  return coo(elements, {2, 0, 1, 0, 2}, {1, 3, 0, 3, 2}, {3, 4});
}

// A matrix of 3 x 3 that is not singular, whatever the 5 values are that are less than 1.
Tensor square_of(const Tensor& elements) {
  const Tensor diagonal = coo(tensor({4, 5, 6}), {0, 1, 2}, {0, 1, 2}, {3, 3});
  const Tensor rest = coo(elements, {0, 0, 1, 2, 2}, {1, 2, 2, 0, 1}, {3, 3});
  return call<op::Add>(ToDType::call(diagonal, elements.dtype()), rest);
}

struct Case {
  const char* name;
  Tensor (*function)(const TensorList& inputs);
  std::vector<Shape> others;
};

class SparseOp : public ::testing::TestWithParam<Case> {};

Tensor dense(const Tensor& t) { return ToDense::call(t); }

const std::vector<Case> kCases{
    {"to_dense", [](const TensorList& x) { return dense(matrix_of(x[0])); }, {}},
    {"coalesce", [](const TensorList& x) { return dense(Coalesce::call(matrix_of(x[0]))); }, {}},
    {"csr", [](const TensorList& x) { return dense(to_csr(matrix_of(x[0]))); }, {}},
    {"values",
     [](const TensorList& x) { return SparseValues::call(Coalesce::call(matrix_of(x[0])), true); },
     {}},
    {"clone", [](const TensorList& x) { return dense(Clone::call(matrix_of(x[0]))); }, {}},
    {"transpose",
     [](const TensorList& x) { return dense(Transpose::call(matrix_of(x[0]), 0, 1)); },
     {}},
    {"sum", [](const TensorList& x) { return Sum::call(matrix_of(x[0])); }, {}},
    {"sum_dim", [](const TensorList& x) { return dense(Sum::call(matrix_of(x[0]), Dims{0})); }, {}},
    {"sum_keepdim",
     [](const TensorList& x) { return dense(Sum::call(matrix_of(x[0]), Dims{1}, true)); },
     {}},
    {"sin", [](const TensorList& x) { return dense(call<op::Sin>(matrix_of(x[0]))); }, {}},
    {"scale",
     [](const TensorList& x) { return dense(call<op::Mul>(matrix_of(x[0]), Operand(3))); },
     {}},
    {"mul_dense",
     [](const TensorList& x) { return dense(call<op::Mul>(x[1], matrix_of(x[0]))); },
     {{3, 4}}},
    {"mul_row",
     [](const TensorList& x) { return dense(call<op::Mul>(matrix_of(x[0]), x[1])); },
     {{4}}},
    {"mul_sparse",
     [](const TensorList& x) {
       return dense(call<op::Mul>(matrix_of(x[0]), coo(x[1], {0, 2}, {3, 0}, {3, 4})));
     },
     {{2}}},
    {"add_dense",
     [](const TensorList& x) { return call<op::Add>(x[1], matrix_of(x[0])); },
     {{3, 4}}},
    {"add_sparse",
     [](const TensorList& x) {
       return dense(call<op::Add>(matrix_of(x[0]), coo(x[1], {0, 2}, {3, 0}, {3, 4})));
     },
     {{2}}},
    {"sub_sparse",
     [](const TensorList& x) {
       return dense(call<op::Sub>(matrix_of(x[0]), coo(x[1], {0, 2}, {3, 0}, {3, 4})));
     },
     {{2}}},
    {"mm", [](const TensorList& x) { return Mm::call(matrix_of(x[0]), x[1]); }, {{4, 5}}},
    {"mm_dense_sparse",
     [](const TensorList& x) { return Mm::call(x[1], matrix_of(x[0])); },
     {{2, 3}}},
    {"mm_sparse",
     [](const TensorList& x) {
       return dense(Mm::call(matrix_of(x[0]), coo(x[1], {3, 1, 3}, {0, 1, 1}, {4, 2})));
     },
     {{3}}},
    {"mm_csr",
     [](const TensorList& x) {
       return dense(
           Mm::call(to_csr(matrix_of(x[0])), to_csr(coo(x[1], {3, 1, 3}, {0, 1, 1}, {4, 2}))));
     },
     {{3}}},
    {"solve", [](const TensorList& x) { return SparseSolve::call(square_of(x[0]), x[1]); }, {{3}}},
    {"solve_matrix",
     [](const TensorList& x) { return SparseSolve::call(to_csr(square_of(x[0])), x[1]); },
     {{3, 2}}},
    {"unsqueeze",
     [](const TensorList& x) { return dense(Unsqueeze::call(matrix_of(x[0]), 1)); },
     {}},
    {"permute_values",
     [](const TensorList& x) { return dense(Permute::call(ToSparse::call(x[1], 1), {0, 2, 1})); },
     {{2, 3, 4}}},
    {"expand",
     [](const TensorList& x) {
       return dense(Expand::call(Unsqueeze::call(matrix_of(x[0]), 1), {2, 3, 2, 4}));
     },
     {}},
    {"index_select",
     [](const TensorList& x) {
       return dense(IndexSelect::call(matrix_of(x[0]), 0, tensor<std::int64_t>({2, 0, 2})));
     },
     {}},
    {"index_select_values",
     [](const TensorList& x) {
       return dense(IndexSelect::call(ToSparse::call(x[1], 1), 1, tensor<std::int64_t>({2, 2})));
     },
     {{2, 3}}},
    {"cat_values",
     [](const TensorList& x) {
       return dense(Cat::call({ToSparse::call(x[1], 1), ToSparse::call(x[2], 1)}, 1));
     },
     {{2, 3}, {2, 1}}},
    {"mul_broadcast",
     [](const TensorList& x) {
       return dense(call<op::Mul>(coo(x[1], {0, 2}, {0, 0}, {3, 1}), matrix_of(x[0])));
     },
     {{2}}},
    {"mul_other_dims",
     [](const TensorList& x) {
       return dense(call<op::Mul>(matrix_of(x[0]), ToSparse::call(x[1], 1)));
     },
     {{3, 4}}},
    {"batch_csr",
     [](const TensorList& x) { return dense(call<op::Sin>(ToSparseCsr::call(x[1]))); },
     {{2, 3, 4}}},
    {"hybrid_csr",
     [](const TensorList& x) { return dense(call<op::Sin>(ToSparseCsr::call(x[1], 1))); },
     {{2, 3, 4}}},
    {"mv", [](const TensorList& x) { return Mv::call(matrix_of(x[0]), x[1]); }, {{4}}},
    {"addmm",
     [](const TensorList& x) { return Addmm::call(x[2], matrix_of(x[0]), x[1], 2, 3); },
     {{4, 2}, {3, 2}}},
    {"mask",
     [](const TensorList& x) {
       return SparseValues::call(SparseMask::call(x[1], detach(matrix_of(x[0]))), true);
     },
     {{3, 4}}},
    {"to_sparse",
     [](const TensorList& x) { return dense(call<op::Sin>(ToSparse::call(x[1]))); },
     {{3, 4}}},
    {"to_sparse_hybrid",
     [](const TensorList& x) { return dense(call<op::Sin>(ToSparse::call(x[1], 1))); },
     {{3, 4}}},
    {"sampled",
     [](const TensorList& x) {
       return dense(SparseSampled::call(detach(matrix_of(x[0])), x[1], x[2]));
     },
     {{3, 2}, {2, 4}}},
};

TensorList inputs_of(const Case& c) {
  TensorList inputs{random_leaf({5}, 1)};
  for (std::size_t i = 0; i < c.others.size(); ++i)
    inputs.push_back(random_leaf(c.others[i], static_cast<unsigned>(i) + 2));
  return inputs;
}

TEST_P(SparseOp, GradientsAreThoseOfDifferences) {
  EXPECT_TRUE(gradcheck_one(GetParam().function, inputs_of(GetParam())));
}

TEST_P(SparseOp, TangentsAgreeWithGradients) {
  const auto function = [](const TensorList& x) { return TensorList{GetParam().function(x)}; };
  EXPECT_TRUE(forward_check(function, inputs_of(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(All, SparseOp, ::testing::ValuesIn(kCases),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(SparseTensors, HaveValuesAtPositions) {
  const Tensor t = matrix_of(tensor({1, 2, 3, 4, 5}));
  EXPECT_EQ(values(dense(t)), (Values{0, 0, 0, 6, 3, 0, 0, 0, 0, 1, 5, 0}));
  const Tensor one_each = Coalesce::call(t);
  EXPECT_EQ(values(one_each.sparse().values), (Values{6, 3, 1, 5}));
  EXPECT_EQ(values(one_each.sparse().pattern->indices), (Values{0, 1, 2, 2, 3, 0, 1, 2}));
  const Tensor csr = to_csr(t);
  EXPECT_EQ(values(csr.sparse().pattern->row_starts), (Values{0, 1, 2, 4}));
  EXPECT_EQ(values(csr.sparse().pattern->indices), (Values{3, 0, 1, 2}));
  EXPECT_EQ(values(dense(csr)), values(dense(t)));
}

TEST(SparseTensors, MultiplyLikeDenseOnes) {
  const Tensor t = matrix_of(tensor({1, 2, 3, 4, 5}));
  for (const std::int64_t width : {1, 3, 16, 21}) {
    const Tensor d = testing::generated<float>({4, width}, [](auto i) { return i % 7; });
    EXPECT_EQ(values(Mm::call(t, d)), values(Mm::call(dense(t), d))) << width;
    const Tensor e = testing::generated<float>({width, 3}, [](auto i) { return i % 5; });
    EXPECT_EQ(values(Mm::call(e, t)), values(Mm::call(e, dense(t)))) << width;
  }
}

TEST(SparseTensors, MultiplyEachOtherLikeDenseOnes) {
  const Tensor a = call<op::Floor>(testing::generated<float>(
      {40, 30}, [](auto i) { return i % 7 == 0 || i / 30 == 5 ? i % 5 : 0; }));
  const Tensor b =
      testing::generated<float>({30, 50}, [](auto i) { return i % 11 == 0 ? i % 3 : 0; });
  const auto product = values(Mm::call(a, b));
  EXPECT_EQ(values(dense(Mm::call(ToSparse::call(a), ToSparseCsr::call(b)))), product);
  const Tensor csr = Mm::call(ToSparseCsr::call(a), ToSparseCsr::call(b));
  EXPECT_EQ(layout(csr), Layout::kSparseCsr);
  EXPECT_EQ(values(dense(csr)), product);
}

TEST(SparseTensors, HaveTheSameGradientsOfProductsWithAndWithoutAGraph) {
  for (const DType dtype : {DType::kFloat64, DType::kComplex128}) {
    const Tensor a = detach(
        ToDType::call(testing::generated<float>({6, 5}, [](auto i) { return i % 3; }), dtype));
    const Tensor b = detach(ToDType::call(
        testing::generated<float>({5, 7}, [](auto i) { return i % 4 == 0 ? i : 0; }), dtype));
    const Tensor x = ToSparseCsr::call(a);
    const Tensor y = ToSparseCsr::call(b);
    set_requires_grad(x, true);
    set_requires_grad(y, true);
    const Tensor out = Mm::call(x, y);
    const Tensor g = call<op::Mul>(detach(out), detach(out));
    GradOptions options;
    options.retain_graph = true;
    const TensorList fused = grad({out}, {x, y}, {g}, options);
    options.create_graph = true;
    const TensorList composed = grad({out}, {x, y}, {g}, options);
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_EQ(values(ToDType::call(dense(fused[i]), DType::kFloat64)),
                values(ToDType::call(dense(detach(composed[i])), DType::kFloat64)));
  }
}

TEST(SparseTensors, SolveEquations) {
  // The Laplacian of a path, which is positive, then one that is not symmetric, and one with a zero
  // on its diagonal.
  for (const Values& rows :
       {Values{2, -1, 0, -1, 2, -1, 0, -1, 2}, Values{2, -1, 0, 1, 3, 4, 0, 2, 5},
        Values{0, 1, 0, 1, 0, 2, 3, 0, 1}}) {
    const Tensor a = tensor(std::vector<double>(rows), {3, 3});
    const Tensor x = tensor(std::vector<double>{1, 2, 3});
    const Tensor b = Mv::call(a, x);
    const Tensor found = SparseSolve::call(ToSparseCsr::call(a), b);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(values(found)[i], values(x)[i], 1e-12);
  }
}

TEST(SparseTensors, ThatAreSingularHaveNoSolution) {
  for (const Values& rows : {Values{1, 2, 2, 4}, Values{1, 0, 0, 0}, Values{0, 0, 0, 0}}) {
    const Tensor a = ToSparse::call(tensor(std::vector<double>(rows), {2, 2}));
    expect_error(ErrorCode::kInvalidArgument, "the matrix is singular",
                 [&] { (void)SparseSolve::call(a, tensor(std::vector<double>{1, 2})); });
  }
}

TEST(SparseTensors, InBatchesAreMatricesOfEquallyManyValues) {
  const Tensor d = tensor({0, 1, 2, 0, 3, 0, 0, 4}, {2, 2, 2});
  const Tensor t = ToSparseCsr::call(d);
  EXPECT_EQ(t.sparse().pattern->nnz_of_each(), 2);
  EXPECT_EQ(values(dense(t)), values(d));
  const TensorList parts = SparseIndices::call(t);
  EXPECT_EQ(values(parts[0]), (Values{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(values(parts[1]), (Values{1, 0, 0, 1}));
  const Tensor again =
      SparseTensor::call(SparseValues::call(t, true), parts[1], parts[0], Dims{2, 2, 2}, true);
  EXPECT_EQ(values(dense(again)), values(d));
  EXPECT_EQ(values(dense(Transpose::call(t, 1, 2))), values(Transpose::call(d, 1, 2)));
  EXPECT_EQ(values(dense(ToSparse::call(t))), values(d));
  expect_error(ErrorCode::kInvalidArgument, "equally many values",
               [] { (void)ToSparseCsr::call(tensor({0, 1, 0, 0, 3, 0, 0, 1}, {2, 2, 2})); });
}

TEST(SparseTensors, OfComplexNumbersKnowInfinity) {
  const Tensor z = matrix_of(tensor({1, 1, INFINITY, 1, 0}));
  const Tensor found = Overload<op::Isinf>::call(ToDType::call(z, DType::kComplex64));
  EXPECT_EQ(values(dense(found)), (Values{0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(SparseTensors, AreCopiedIntoOthers) {
  const Tensor t = matrix_of(tensor({1, 2, 3, 4, 5}));
  const Tensor other = coo(tensor({7}), {1}, {1}, {3, 4});
  (void)CopyInPlace::call(t, other);
  EXPECT_EQ(values(dense(t)), values(dense(other)));
  expect_error(ErrorCode::kInvalidArgument, "source: expected a sparse tensor",
               [&] { (void)CopyInPlace::call(t, dense(t)); });
  expect_error(ErrorCode::kInvalidArgument, "input: expected a sparse tensor",
               [&] { (void)CopyInPlace::call(dense(t), t); });
}

TEST(SparseTensors, OfEveryDTypeBecomeDense) {
  for (std::size_t i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    const Tensor t = matrix_of(ToDType::call(tensor({1, 1, 0, 1, 1}), dtype));
    const Tensor expected = dtype == DType::kBool ? tensor({0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1, 0})
                                                  : tensor({0, 0, 0, 2, 0, 0, 0, 0, 0, 1, 1, 0});
    EXPECT_EQ(values(ToDType::call(dense(t), DType::kFloat32)), values(expected))
        << dtype_name(dtype);
  }
}

TEST(SparseTensors, OfNothingAreZero) {
  const Tensor none = coo(tensor(std::vector<float>{}), {}, {}, {2, 3});
  EXPECT_EQ(values(dense(none)), (Values(6, 0)));
  EXPECT_EQ(values(dense(Coalesce::call(none))), (Values(6, 0)));
  EXPECT_EQ(values(dense(call<op::Add>(none, none))), (Values(6, 0)));
  EXPECT_EQ(values(Mm::call(none, testing::full({3, 2}, 1, DType::kFloat32))), (Values(4, 0)));
  EXPECT_EQ(values(Sum::call(none)), (Values{0}));
  EXPECT_EQ(values(dense(ToSparse::call(dense(none)))), (Values(6, 0)));
  EXPECT_EQ(values(dense(call<op::Mul>(none, testing::full({2, 3}, 1, DType::kFloat32)))),
            (Values(6, 0)));
}

TEST(SparseTensors, AreCheckedWhenTheyAreMade) {
  const Tensor two = tensor({1, 2});
  expect_error(ErrorCode::kIndexOutOfRange, "", [&] { (void)coo(two, {0, 3}, {0, 0}, {3, 4}); });
  expect_error(ErrorCode::kIndexOutOfRange, "", [&] { (void)coo(two, {0, -1}, {0, 0}, {3, 4}); });
  expect_error(ErrorCode::kShapeMismatch, "expected values of shape [1]",
               [&] { (void)coo(two, {0}, {0}, {3, 4}); });
  expect_error(ErrorCode::kShapeMismatch, "more than the 1 dimensions of size",
               [&] { (void)coo(two, {0, 1}, {0, 0}, {3}); });
  const Tensor indices = tensor<std::int64_t>({1, 0}, {1, 2});
  expect_error(ErrorCode::kInvalidArgument, "isCoalesced",
               [&] { (void)SparseTensor::call(two, indices, std::nullopt, Dims{4}, true); });
  const auto csr = [&](const std::vector<std::int64_t>& starts,
                       const std::vector<std::int64_t>& columns) {
    return SparseTensor::call(two, tensor(columns), tensor(starts), Dims{2, 3}, true);
  };
  EXPECT_EQ(values(dense(csr({0, 2, 2}, {0, 2}))), (Values{1, 0, 2, 0, 0, 0}));
  expect_error(ErrorCode::kInvalidArgument, "colIndices", [&] { (void)csr({0, 2, 2}, {2, 0}); });
  expect_error(ErrorCode::kInvalidArgument, "crowIndices", [&] { (void)csr({0, 1, 1}, {0, 2}); });
  expect_error(ErrorCode::kInvalidArgument, "crowIndices", [&] { (void)csr({2, 0, 2}, {0, 2}); });
  expect_error(ErrorCode::kShapeMismatch, "crowIndices", [&] { (void)csr({0, 2}, {0, 2}); });
}

TEST(SparseTensors, HaveNoMemoryForKernels) {
  const Tensor t = matrix_of(tensor({1, 2, 3, 4, 5}));
  expect_error(ErrorCode::kInvalidArgument, "expected a dense tensor", [&] { (void)t.memory(); });
  expect_error(ErrorCode::kInvalidArgument, "expected a dense tensor", [&] { (void)t.data(); });
  expect_error(ErrorCode::kInvalidArgument, "does not keep zeros", [&] { (void)call<op::Cos>(t); });
}

}  // namespace
}  // namespace eg
