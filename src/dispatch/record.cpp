#include "dispatch/record.h"

#include <algorithm>
#include <cctype>

#include "autograd/graph_task.h"

namespace eg {

std::string node_name(std::string_view op) {
  std::string name;
  bool upper = true;
  for (const char c : op) {
    if (c == '_') {
      upper = true;
      continue;
    }
    name += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = false;
  }
  return name + "Backward0";
}

bool should_record(std::span<const Tensor> inputs) {
  return is_grad_enabled() && std::any_of(inputs.begin(), inputs.end(),
                                          [](const Tensor& t) { return requires_grad(t); });
}

EdgeList collect_edges(std::span<const Tensor> inputs) {
  EdgeList edges;
  for (const Tensor& input : inputs) edges.push_back(gradient_edge(input));
  return edges;
}

void track_view(const Tensor& view, const Tensor& base, CreationMeta creation_meta) {
  if (is_grad_enabled())
    set_view(view, base, creation_meta);
  else if (GraphTask::current() == nullptr)
    set_view(view, base, CreationMeta::kNoGradMode);
}

}  // namespace eg
