#include "dispatch/own_result.h"

#include "autograd/graph/variable.h"

namespace eg {

void own_result(const Tensor& result) {
  AutogradMeta* meta = autograd_meta(result);
  if (meta == nullptr || meta->view == nullptr || meta->view->base.use_count() > 1) return;
  meta->view.reset();
}

}  // namespace eg
