# Which thread-local variables the running thread uses (bindings/threads.cpp).

	.text
	.globaltype	__tls_base, i32
	.globl	eg_thread_locals
	.type	eg_thread_locals,@function
eg_thread_locals:
	.functype	eg_thread_locals () -> (i32)
	global.get	__tls_base
	end_function

	.globl	eg_use_thread_locals
	.type	eg_use_thread_locals,@function
eg_use_thread_locals:
	.functype	eg_use_thread_locals (i32) -> ()
	local.get	0
	global.set	__tls_base
	end_function
