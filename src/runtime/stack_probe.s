# The stack of WebAssembly cannot be measured, but every function checks on entry that its frame fits, and throws JavaScript's error
# for a stack overflow if it does not. The frame of this function has 32 KiB: in a branch that never runs, it holds 2,048 vectors that
# are all alive at once. With `levels` above 0 it calls itself, so that (levels + 1) * 32 KiB must fit.
#
# In assembly, because a compiler takes a minute for such a function in C++. src/runtime/native_stack.h calls it.

	.text
	.globl	eg_probe_stack
	.type	eg_probe_stack,@function
eg_probe_stack:
	.functype	eg_probe_stack (i32) -> (v128)
	local.get	0
	i32.const	0
	i32.lt_s
	if	v128
	.rept	2048
	i32.const	-1
	call	eg_probe_stack
	.endr
	.rept	2047
	v128.or
	.endr
	else
	local.get	0
	if	v128
	local.get	0
	i32.const	1
	i32.sub
	call	eg_probe_stack
	else
	v128.const	0, 0
	end_if
	end_if
	end_function
