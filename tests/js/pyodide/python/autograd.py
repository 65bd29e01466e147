"""Modes, hooks, custom functions, derivatives, and torch.func."""

import traceback

import edgegrad.torch as torch
from edgegrad.torch import nn

t = torch.tensor
X = torch.ones(1, requires_grad=True)


def test_grad_is_the_same_object():
    x = torch.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    assert x.grad is x.grad and x.grad.tolist() == [2, 2]
    x.grad = None
    assert x.grad is None


def test_modes_as_blocks():
    with torch.no_grad():
        assert not (X * 2).requires_grad
        with torch.enable_grad():
            assert (X * 2).requires_grad
    with torch.inference_mode():
        assert not (X * 2).requires_grad and (X * 2).is_inference()
    with torch.set_grad_enabled(False):
        assert not (X * 2).requires_grad
    assert torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    assert not torch.is_grad_enabled()
    torch.set_grad_enabled(True)
    assert torch.is_grad_enabled()


def test_modes_as_decorators():
    @torch.no_grad
    def plain():
        return (X * 2).requires_grad

    @torch.no_grad()
    def called():
        """With a name."""
        return (X * 2).requires_grad

    @torch.inference_mode()
    def inference():
        return (X * 2).requires_grad

    assert (plain(), called(), inference()) == (False, False, False)
    assert called.__name__ == "called" and called.__doc__ == "With a name."


def test_modes_around_generators():
    @torch.no_grad()
    def rows():
        for _ in range(2):
            got = yield (X * 2).requires_grad
            assert got is None

    assert [(inside, (X * 2).requires_grad) for inside in rows()] == [(False, True)] * 2
    running = rows()
    next(running)
    running.close()
    assert torch.is_grad_enabled()


def test_a_mode_ends_with_an_error():
    try:
        with torch.no_grad():
            raise KeyError
    except KeyError:
        assert torch.is_grad_enabled()


def test_autocast():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype is torch.bfloat16
        with torch.autocast("cpu", enabled=False):
            assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype is torch.float32
    try:
        torch.autocast("cuda")
    except RuntimeError as error:
        assert "webgpu" in str(error)


def test_detect_anomaly():
    x = torch.zeros(1, requires_grad=True)
    try:
        with torch.autograd.detect_anomaly():
            (x.sqrt() * 0).sum().backward()
    except torch.EdgeGradError as error:
        assert error.code == "AnomalyNan"
    else:
        raise AssertionError("no error")


def test_hooks_on_tensors():
    x = torch.ones(1, requires_grad=True)
    handle = x.register_hook(lambda grad: grad * 3)
    (x * 2).sum().backward()
    assert x.grad.item() == 6
    handle.remove()
    x.grad = None
    (x * 2).sum().backward()
    assert x.grad.item() == 2
    seen = []
    x.register_post_accumulate_grad_hook(lambda param: seen.append(param is x))
    (x * 2).sum().backward()
    assert seen == [True]


def test_an_error_in_a_hook_is_pythons():
    x = torch.ones(1, requires_grad=True)

    def bad(grad):
        return 1 // 0

    x.register_hook(bad)
    try:
        (x * 2).sum().backward()
    except ZeroDivisionError as error:
        assert "bad" in [frame.name for frame in traceback.extract_tb(error.__traceback__)]
    else:
        raise AssertionError("no error")


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x)
        ctx.k = k
        return x * x * k

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        assert ctx.needs_input_grad == (True, False)
        return grad * 2 * x * ctx.k, None


def test_custom_functions():
    x = t([3.0], requires_grad=True)
    Square.apply(x, 2.0).sum().backward()
    assert x.grad.item() == 12


def test_custom_functions_of_the_newer_form_and_several_results():
    class Both(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x + 1, x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.count = len(output)

        @staticmethod
        def backward(ctx, first, second):
            return first + second * ctx.count

    x = t([3.0], requires_grad=True)
    a, b = Both.apply(x)
    (a + b).sum().backward()
    assert x.grad.item() == 3


def test_custom_functions_are_differentiated_twice():
    x = t(3.0, requires_grad=True)
    y = Square.apply(x, 1.0)
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    assert g.item() == 6
    g.backward()
    assert x.grad.item() == 2


def test_double_backward():
    x = t(2.0, requires_grad=True)
    (g,) = torch.autograd.grad(x**3, x, create_graph=True)
    (h,) = torch.autograd.grad(g, x)
    assert (g.item(), h.item()) == (12, 12)


def test_unused_inputs():
    x, y = t(1.0, requires_grad=True), t(1.0, requires_grad=True)
    try:
        torch.autograd.grad(x * 2, y)
    except RuntimeError:
        pass
    else:
        raise AssertionError("no error")
    assert torch.autograd.grad(x * 2, [x, y], allow_unused=True)[1] is None


def test_func():
    assert torch.vmap(lambda x: x * 2)(t([1.0, 2.0])).tolist() == [2, 4]
    assert torch.func.grad(lambda x: x**2)(t(3.0)).item() == 6
    per_sample = torch.func.vmap(torch.func.grad(lambda w, x: (w * x).sum()), in_dims=(None, 0))
    assert per_sample(torch.ones(2), t([[1.0, 2.0], [3.0, 4.0]])).tolist() == [[1, 2], [3, 4]]
    assert torch.vmap(lambda one: {"y": one["t"] * 2})({"t": torch.ones(3)})["y"].shape == (3,)
    assert torch.func.jacrev(lambda x: x**2)(t([1.0, 2.0])).tolist() == [[2, 0], [0, 4]]
    assert torch.func.hessian(lambda x: (x**3).sum())(t([1.0, 2.0])).tolist() == [[6, 0], [0, 12]]
    value, back = torch.func.vjp(lambda x: x**2, t([3.0]))
    assert value.item() == 9 and back(torch.ones(1))[0].item() == 6
    value, tangent = torch.func.jvp(lambda x: x**2, (t([3.0]),), (torch.ones(1),))
    assert tangent.item() == 6


def test_functional_call_and_ensembles():
    net = nn.Linear(2, 1)
    zero = {name: torch.zeros_like(param) for name, param in net.named_parameters()}
    assert torch.func.functional_call(net, zero, (torch.ones(1, 2),)).item() == 0
    assert net.weight.abs().sum().item() > 0
    models = [nn.Linear(2, 1) for _ in range(3)]
    params, _ = torch.func.stack_module_state(models)
    x = torch.rand(4, 2)
    made = torch.vmap(lambda p, x: torch.func.functional_call(net, p, (x,)), (0, None))(params, x)
    assert torch.allclose(made, torch.stack([model(x) for model in models]), atol=1e-6)


def test_forward_mode_and_saved_tensors():
    ad = torch.autograd.forward_ad
    with ad.dual_level():
        assert ad.unpack_dual(ad.make_dual(t(2.0), t(1.0)) ** 2).tangent.item() == 4
    packed = []
    with torch.autograd.graph.saved_tensors_hooks(lambda x: packed.append(1) or x.detach(), lambda x: x):
        x = t(2.0, requires_grad=True)
        y = x**2
    y.backward()
    assert packed and x.grad.item() == 4


def test_checkpoint():
    from edgegrad.torch.utils.checkpoint import checkpoint

    x = t(2.0, requires_grad=True)
    checkpoint(lambda x, k=1: x**2 * k, x, use_reentrant=False, k=3).backward()
    assert x.grad.item() == 12


def let_go():
    """Lets go of what is dead, more than once, so that tensors which JavaScript has lent are free, too."""
    for _ in range(3):
        torch.ones(1)
        torch.flush()


def test_what_vjp_and_linearize_return_keeps_its_inputs():
    _, pull = torch.func.vjp(lambda x, y: x * y, t([2.0, 3.0]), t([5.0, 7.0]))
    let_go()
    assert [one.tolist() for one in pull(torch.ones(2))] == [[5, 7], [2, 3]]
    let_go()
    assert [one.tolist() for one in pull(torch.ones(2))] == [[5, 7], [2, 3]]
    _, push = torch.func.linearize(lambda x: x**2, t([2.0, 3.0]))
    let_go()
    assert push(torch.ones(2)).tolist() == [4, 6]


def test_results_of_custom_functions_outlive_their_tangents():
    class Pair(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x.clone(), y.clone()

        @staticmethod
        def jvp(ctx, x_tangent, y_tangent):
            torch.flush()
            dead = [torch.ones(1) for _ in range(31)]
            # The next one that dies lets them all go.
            del dead
            return x_tangent, y_tangent

    ad = torch.autograd.forward_ad
    with ad.dual_level():
        made = Pair.apply(ad.make_dual(t(2.0), t(3.0)), ad.make_dual(t(4.0), t(5.0)))
        assert [tuple(one.item() for one in ad.unpack_dual(result)) for result in made] == [(2, 3), (4, 5)]


def test_gradcheck_and_functional():
    x = torch.rand(3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: x.sin(), (x,))
    assert torch.autograd.functional.jacobian(lambda x: x**2, t([1.0, 2.0])).tolist() == [[2, 0], [0, 4]]


def test_capture():
    w = nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([w], lr=0.1)

    def step(x):
        optimizer.zero_grad()
        loss = (w * x).sum()
        loss.backward()
        optimizer.step()
        return loss

    captured = torch.capture(step, torch.ones(2))
    before = w.tolist()
    captured(torch.ones(2))
    assert all(abs(a - 0.1 - b) < 1e-6 for a, b in zip(before, w.tolist()))
