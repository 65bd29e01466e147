#pragma once

// Hooks that are JavaScript functions.
//
// A hook belongs to the list that runs it: that of a node or of a leaf. JavaScript removes a hook
// from that list by the number of its function (removeHook in hooks.cpp). A hook that is removed by
// another hook of the same pass still runs once, as in PyTorch, because a pass works on a copy of
// the list.

#include <functional>

#include "autograd/graph/node.h"
#include "callbacks.h"

namespace eg::bindings {

/// The list that a hook is registered in, as long as the list exists.
struct HookRegistration {
  std::function<void()> remove;
  /// Returns the node that calls the hook, or null.
  std::function<IntrusivePtr<Node>()> node;
};

/// A JavaScript function in a list of hooks.
class JsHook {
 public:
  explicit JsHook(double id) : function_(id) {}
  ~JsHook();
  JsHook(const JsHook&) = delete;
  JsHook& operator=(const JsHook&) = delete;

  /// Sets the list that the hook is registered in. Neither of its functions may keep the list's
  /// owner alive.
  void set_registration(HookRegistration registration) const;

 protected:
  const JsFunction& function() const { return function_; }

 private:
  JsFunction function_;
};

}  // namespace eg::bindings
