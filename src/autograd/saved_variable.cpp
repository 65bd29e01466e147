#include "autograd/saved_variable.h"

#include "autograd/grad_mode.h"
#include "autograd/variable.h"
#include "base/error.h"

namespace eg {
namespace {

std::string_view tensor_type_name(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "torch.FloatTensor";
    case DType::kFloat64:
      return "torch.DoubleTensor";
    case DType::kInt32:
      return "torch.IntTensor";
    case DType::kInt64:
      return "torch.LongTensor";
    case DType::kUInt8:
      return "torch.ByteTensor";
    case DType::kBool:
      return "torch.BoolTensor";
    case DType::kComplex64:
      return "torch.ComplexFloatTensor";
    case DType::kComplex128:
      return "torch.ComplexDoubleTensor";
  }
  return "torch.Tensor";
}

[[noreturn]] void fail_modified(const Tensor& t, std::uint32_t saved_version, const Node* maker,
                                std::uint32_t output_nr) {
  const std::string origin =
      maker == nullptr ? ""
                       : join_text(", which is output ", output_nr, " of ", maker->name(), ',');
  fail(ErrorCode::kModifiedInPlace,
       "one of the variables needed for gradient computation has been modified by an inplace "
       "operation: [",
       tensor_type_name(t.dtype()), ' ', t.shape(), ']', origin, " is at version ", t.version(),
       "; expected version ", saved_version,
       " instead. Hint: enable anomaly detection to find the operation that failed to compute its "
       "gradient, with autograd.detectAnomaly().");
}

}  // namespace

SavedVariable::SavedVariable(const Tensor& t, bool is_output) {
  if (!t.defined()) return;
  saved_version_ = t.version();
  is_output_ = is_output;
  output_nr_ = eg::output_nr(t);
  data_ = is_output ? t.alias() : t;
}

Tensor SavedVariable::unpack(const Node& owner) const {
  if (released_) fail_graph_freed();
  if (!data_.defined()) return {};
  if (data_.version() != saved_version_) {
    const IntrusivePtr<Node> maker = is_output_ ? nullptr : grad_fn(data_);
    fail_modified(data_, saved_version_, is_output_ ? &owner : maker.get(),
                  is_output_ ? output_nr_ : eg::output_nr(data_));
  }
  if (!is_output_ || !is_grad_enabled()) return data_;
  Tensor output = data_.alias();
  AutogradMeta& meta = ensure_autograd_meta(output);
  // The owner is alive: it is running, or somebody is looking into it.
  meta.grad_fn = IntrusivePtr<Node>(const_cast<Node*>(&owner));
  meta.output_nr = output_nr_;
  return output;
}

void SavedVariable::release() {
  // An empty slot stays usable: nodes that saved nothing may run twice.
  if (!data_.defined()) return;
  released_ = true;
  data_.reset();
}

void fail_graph_freed() {
  fail(ErrorCode::kGraphFreed,
       "Trying to backward through the graph a second time (or directly access saved tensors after "
       "they have already been freed). Saved intermediate values of the graph are freed when you "
       "call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward "
       "through the graph a second time or if you need to access saved tensors after calling "
       "backward. (In JavaScript: {retainGraph: true}.)");
}

}  // namespace eg
