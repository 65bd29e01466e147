#pragma once

// Hooks that are JavaScript functions.
//
// A hook belongs to the list that runs it: of a node, of a leaf. JavaScript gets the number of its
// function, and with it removes the hook from that list (remove_hook in hooks.cpp). A hook that
// another hook of the same pass removes still runs once, as in PyTorch: a pass works on a copy of
// the list.

#include <functional>

#include "autograd/graph/node.h"
#include "callbacks.h"

namespace eg::bindings {

/// The list that a hook is in, as long as that exists.
struct HookPlace {
  std::function<void()> remove;
  /// The node whose run calls the hook, or null.
  std::function<IntrusivePtr<Node>()> node;
};

/// A JavaScript function in some list of hooks.
class JsHook {
 public:
  explicit JsHook(double id) : function_(id) {}
  ~JsHook();
  JsHook(const JsHook&) = delete;
  JsHook& operator=(const JsHook&) = delete;

  /// Says where the hook is: neither function may keep the list's owner alive.
  void set_place(HookPlace place) const;

 protected:
  const JsFunction& function() const { return function_; }

 private:
  JsFunction function_;
};

}  // namespace eg::bindings
