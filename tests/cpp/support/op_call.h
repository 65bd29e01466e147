#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "dispatch/handles/handle_table.h"
#include "ops/op_table.h"

namespace eg::testing {

/// Calls an op of the table as JavaScript does.
class OpCall {
 public:
  ~OpCall() {
    for (const Handle handle : handles_) HandleTable::instance().release(handle);
  }
  OpCall& with(const Tensor& t) {
    handles_.push_back(HandleTable::instance().insert(t));
    return with(handles_.back());
  }
  OpCall& with(double word) {
    words_.push_back(word);
    return *this;
  }
  Results run(std::string_view name, bool in_place = false) const {
    const auto table = op_table();
    const auto found = std::ranges::find(table, name, &OpEntry::name);
    return invoke_op(static_cast<std::size_t>(found - table.begin()), words_.data(), words_.size(),
                     in_place);
  }

 private:
  std::vector<Handle> handles_;
  std::vector<double> words_;
};

}  // namespace eg::testing
