"""Memory: what Python lets go is free at once, or when its collector has run."""

import gc
import sys

import edgegrad.torch as torch
import edgegrad.torch.nn.functional as F
from edgegrad.torch import nn


def used():
    return torch.memory()["cpuBytes"]


def training_step():
    net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    x, y = torch.rand(32, 8), torch.randint(0, 4, (32,))

    def step():
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def interrupted_step():
    step = training_step()

    def run():
        with torch.no_grad():
            torch.rand(4).add(1)
        step()
        return None

    return run


def test_a_loop_needs_no_more_memory():
    step = training_step()
    for _ in range(5):
        step()
    before = torch.memory()
    for _ in range(200):
        step()
    after = torch.memory()
    assert (after["tensors"], after["handles"]) == (before["tensors"], before["handles"])
    assert after["cpuBytes"] == before["cpuBytes"]


def test_a_tensor_is_free_when_nothing_names_it():
    before = used()
    x = torch.rand(1000, 1000)
    assert used() >= before + 4_000_000
    del x
    assert used() == before


def test_many_dead_tensors_are_let_go_together():
    before = used()
    for _ in range(100):
        torch.rand(1000)
    assert used() == before


def test_the_same_tensor_twice_is_counted():
    x = torch.ones(2)
    same = x.to(torch.float32)
    del same
    torch.flush()
    assert x.tolist() == [1, 1]


class Node:
    pass


def test_cycles_are_collected_by_bytes():
    gc.collect()
    before, most = used(), 0
    gc.disable()
    try:
        # Python's collector is off and knows nothing of bytes; edgegrad calls it.
        for i in range(700):
            node = Node()
            node.self, node.tensor = node, torch.empty(1024, 1024)
            if i % 50 == 0:
                most = max(most, used() - before)
    finally:
        gc.enable()
    assert 256 << 20 < most < 3 << 30, most
    del node
    gc.collect()
    assert used() <= before + 1000


def test_errors_keep_what_their_frames_name():
    before = used()

    def bad():
        x = torch.rand(1000, 1000)
        raise ValueError(x.shape)

    for _ in range(20):
        try:
            bad()
        except ValueError:
            pass
    assert used() == before
    assert not hasattr(sys, "last_exc") or sys.last_exc is None


def test_generators_keep_their_tensors():
    before = used()

    @torch.no_grad()
    def rows():
        x = torch.rand(1000, 1000)
        while True:
            yield x.mean().item()

    running = rows()
    next(running)
    assert used() > before and torch.is_grad_enabled()
    del running
    assert used() == before


def hooks():
    for _ in range(50):
        w = torch.rand(100).requires_grad_()

        def hook(grad, w=w):
            return grad * w.detach()

        w.register_hook(hook)
        (w * 2).register_hook(hook)
        (w * 2).sum().backward()


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.own = torch.ones(10)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 * x


def functions():
    x = torch.rand(100).requires_grad_()
    for _ in range(50):
        Square.apply(x).sum().backward()
        x.grad = None
