#pragma once

// The samples of all function ops, for laws that loop over them.

#include <string>
#include <vector>

#include "support/op_samples.h"

namespace eg::testing {

/// One sample of one op.
struct SampleCase {
  std::string label;
  std::string sample;
  std::size_t op_id;
  std::vector<ArgumentInfo> arguments;
  bool is_view_in_place;
  bool has_gradient_of_its_own;

  SampleCall call() const { return {op_id, arguments, sample}; }
};

std::vector<SampleCase> sample_cases();

}  // namespace eg::testing
