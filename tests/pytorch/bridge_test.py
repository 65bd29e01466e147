"""Tests of the bridge itself: values, calls in both directions, errors, and lifetimes. bridge.test.mjs runs them."""

from __future__ import annotations

import gc
import io
import math
import pathlib
import sys
import threading
import unittest
import weakref

sys.path[:0] = [str(pathlib.Path(__file__).parent / part) for part in ("shim", "support")]

import torch  # noqa: E402

from torch import _bridge as bridge  # noqa: E402


def collect() -> dict:
    """Collects garbage on both sides, and returns what the package says of its memory."""
    gc.collect()
    return bridge.collect()


class Values(unittest.TestCase):
    def test_numbers_keep_their_values(self) -> None:
        for value in (0.5, math.inf, -math.inf, 1e308, 3):
            self.assertEqual(torch.tensor(value, dtype=torch.float64).item(), value)
        self.assertTrue(math.isnan(torch.tensor(math.nan).item()))
        self.assertEqual(math.copysign(1, torch.tensor(-0.0).item()), -1)
        self.assertEqual(torch.tensor(2**62 + 1).item(), 2**62 + 1)
        self.assertEqual(torch.tensor(1 + 2j).item(), 1 + 2j)

    def test_a_whole_float_next_to_integers_is_a_float(self) -> None:
        self.assertIs((torch.tensor([1]) + 2.0).dtype, torch.float32)
        self.assertIs((torch.tensor([1]) + 2).dtype, torch.int64)

    def test_a_tensor_has_one_wrapper(self) -> None:
        x = torch.ones(2, requires_grad=True)
        y = x.view(2)
        self.assertIs(y._base, x)
        x.sum().backward()
        self.assertIs(x.grad, x.grad)


class Calls(unittest.TestCase):
    def test_javascript_calls_python_which_calls_javascript(self) -> None:
        x = torch.ones(1, requires_grad=True)
        seen = []
        x.register_hook(lambda grad: seen.append((grad + 1).item()))
        (x * 3).sum().backward()
        self.assertEqual(seen, [4.0])

    def test_calls_nest_as_deep_as_a_program_needs(self) -> None:
        def nested(depth: int) -> float:
            x = torch.ones(1, requires_grad=True)
            inner: list = []
            x.register_hook(lambda grad: inner.append(nested(depth - 1)) if depth else None)
            with torch.enable_grad():
                x.sum().backward()
            return x.grad.item() + sum(inner)

        self.assertEqual(nested(20), 21.0)

    def test_a_function_of_python_is_differentiated(self) -> None:
        class Double(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, note):
                ctx.note = note
                ctx.save_for_backward(x)
                return x * 2

            @staticmethod
            def backward(ctx, grad):
                (x,) = ctx.saved_tensors
                return grad * ctx.note["factor"] * x, None

        x = torch.tensor([3.0], requires_grad=True)
        y = Double.apply(x, {"factor": 5})
        gc.collect()
        y.backward()
        self.assertEqual(x.grad.tolist(), [15.0])

    def test_keywords_reach_functions_that_take_positions(self) -> None:
        self.assertEqual(torch.ones(2, 3).sum(dim=1, keepdim=True).tolist(), [[3.0], [3.0]])

    def test_threads_take_turns(self) -> None:
        results = {}

        def add(number: int) -> None:
            for _ in range(20):
                results[number] = (torch.full((3,), float(number)) + 1).tolist()

        threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, {number: [number + 1.0] * 3 for number in range(4)})


class Errors(unittest.TestCase):
    def test_an_error_is_of_the_classes_that_its_code_stands_for(self) -> None:
        with self.assertRaises(RuntimeError) as caught:
            torch.ones(2, 3) @ torch.ones(2, 3)
        self.assertEqual(caught.exception.code, "ShapeMismatch")
        self.assertNotIsInstance(caught.exception, TypeError)
        with self.assertRaises(IndexError):
            torch.ones(2)[5]

    def test_an_exception_of_python_passes_through_javascript(self) -> None:
        error = KeyError("mine")

        def fail(grad: torch.Tensor) -> None:
            raise error

        x = torch.ones(1, requires_grad=True)
        x.register_hook(fail)
        with self.assertRaises(KeyError) as caught:
            x.sum().backward()
        self.assertIs(caught.exception, error)

    def test_what_is_missing_is_no_exception_that_a_test_could_expect(self) -> None:
        self.assertFalse(issubclass(bridge.Unsupported, Exception))
        with self.assertRaises(bridge.Unsupported):
            torch.ones(1, dtype=torch.float8_e4m3fnuz)

    def test_a_block_ends_with_its_exception(self) -> None:
        with self.assertRaises(KeyError):
            with torch.autograd.detect_anomaly():
                raise KeyError("mine")
        self.assertEqual(bridge.channel.blocks, 0)

    def test_a_process_that_ends_is_noticed_and_replaced(self) -> None:
        x = torch.ones(1)
        bridge.channel.process.kill()
        with self.assertRaises(bridge.BridgeDied):
            x + x
        bridge.restart()
        self.assertEqual((torch.ones(1) + 1).tolist(), [2.0])


class Lifetimes(unittest.TestCase):
    def test_tensors_go_when_python_lets_go(self) -> None:
        before = collect()
        kept = [torch.ones(10) for _ in range(50)]
        self.assertGreaterEqual(collect()["jsHandles"], before["jsHandles"] + 50)
        kept.clear()
        self.assertEqual(collect()["jsHandles"], before["jsHandles"])

    def test_functions_and_objects_of_python_go_when_javascript_lets_go(self) -> None:
        collect()
        before = len(bridge.held.objects)
        x = torch.ones(1, requires_grad=True)
        x.register_hook(lambda grad: None)
        self.assertGreater(len(bridge.held.objects), before)
        del x
        collect()
        self.assertEqual(len(bridge.held.objects), before)

    def test_what_python_stores_in_a_context_goes_with_its_node(self) -> None:
        class Note:
            pass

        class Identity(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.note = Note()
                kept.append(weakref.ref(ctx.note))
                return x.clone()

            @staticmethod
            def backward(ctx, grad):
                return grad

        kept: list = []
        y = Identity.apply(torch.ones(1, requires_grad=True))
        collect()
        self.assertIsNotNone(kept[0]())
        del y
        collect()
        self.assertIsNone(kept[0]())


class Modules(unittest.TestCase):
    def test_a_module_keeps_its_class_and_attributes_when_its_wrapper_goes(self) -> None:
        class Scaled(torch.nn.Module):
            def __init__(self, factor: float) -> None:
                super().__init__()
                self.factor = factor

            def forward(self, x):
                return x * self.factor

        model = torch.nn.Sequential(Scaled(3.0))
        gc.collect()
        self.assertIsInstance(model[0], Scaled)
        self.assertEqual(model[0].factor, 3.0)
        self.assertEqual(model(torch.ones(1)).item(), 3.0)

    def test_a_hook_changes_the_state_dict_that_javascript_made(self) -> None:
        model = torch.nn.Linear(1, 1)
        model.register_state_dict_post_hook(lambda module, state, prefix, _: state.pop(f"{prefix}bias"))
        with self.assertRaises(RuntimeError):
            model.state_dict()
        model = torch.nn.Linear(1, 1)

        def without_bias(module, state, prefix, _):
            del state[f"{prefix}bias"]

        model.register_state_dict_post_hook(without_bias)
        self.assertEqual(list(model.state_dict()), ["weight"])

    def test_a_block_gets_what_its_body_is_given(self) -> None:
        with torch.autograd.graph.allow_mutation_on_saved_tensors() as context:
            x = torch.ones(2, requires_grad=True)
            y = x.clone()
            z = y * y
            y.add_(1)
            self.assertEqual(len(list(context.cloned.items())), 1)
            z.sum().backward()
        self.assertEqual(x.grad.tolist(), [2.0, 2.0])


class Promises(unittest.TestCase):
    def test_files_are_written_and_read(self) -> None:
        file = io.BytesIO()
        torch.save({"weight": torch.tensor([1.0, 2.0]), "steps": 3}, file)
        file.seek(0)
        loaded = torch.load(file)
        self.assertEqual(loaded["weight"].tolist(), [1.0, 2.0])
        self.assertEqual(loaded["steps"], 3)

    def test_a_promise_cannot_be_awaited_inside_of_a_function(self) -> None:
        x = torch.ones(1, requires_grad=True)
        x.register_hook(lambda grad: torch.save(1, io.BytesIO()))
        with self.assertRaises(bridge.Unsupported):
            x.sum().backward()


if __name__ == "__main__":
    unittest.main()
