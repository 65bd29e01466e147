"""Runs the cells of a notebook, which share their names."""

import contextlib
import inspect
import linecache
import sys
import traceback
from collections.abc import Coroutine, Iterator
from typing import Any

import _page
from pyodide.code import CodeRunner

names: dict[str, Any] = {"__name__": "__main__", "plot": _page.plot}
MOST_CELLS = 400  # of a table
count = 0


def run(code: str) -> Coroutine[Any, Any, None] | None:
    """Runs a cell and shows the value of its last expression, unless that ends with a semicolon; shows what it raises.

    Returns what is to be awaited if the cell awaits something. Other cells run without the event loop, so that an interrupt raises in
    them, and not in the loop that would go on with them.
    """
    global count
    count += 1
    cell = f"<cell {count}>"
    linecache.cache[cell] = (len(code), None, code.splitlines(keepends=True), cell)
    with showing(cell):
        runner = CodeRunner(code, filename=cell).compile()
        if runner.code.co_flags & inspect.CO_COROUTINE:
            return wait(runner, cell)
        show(runner.run(names))


async def wait(runner: CodeRunner, cell: str) -> None:
    with showing(cell):
        show(await runner.run_async(names))


@contextlib.contextmanager
def showing(cell: str) -> Iterator[None]:
    try:
        yield
    except BaseException as error:  # KeyboardInterrupt and SystemExit as well.
        show_error(error, cell)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


def show(value: Any) -> None:
    """Prints a value, unless it is None; a small vector or matrix as a table."""
    if value is None:
        return
    names["_"] = value
    torch = sys.modules.get("edgegrad.torch")
    is_tensor = torch is not None and isinstance(value, torch.Tensor)
    if not is_tensor or value.is_sparse or not 1 <= value.dim() <= 2 or not 0 < value.numel() <= MOST_CELLS:
        _page.text("log", repr(value))
        return
    rows = value.detach().reshape(-1, value.shape[-1]).tolist()
    texts = ["\t".join(map(cell_text, row)) for row in rows]
    dtype = str(value.dtype).removeprefix("torch.")
    _page.table(repr(value), f"{dtype} {list(value.shape)}", "\n".join(texts))


def cell_text(value: Any) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def show_error(error: BaseException, cell: str) -> None:
    if isinstance(error, SyntaxError) and error.filename == cell:
        _page.error(f"{type(error).__name__}: {error.msg}", error.lineno)
        return
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith("<cell ")]
    own = [i for i, frame in enumerate(frames) if frame.filename == cell]
    last = own[-1] if own else -1
    if isinstance(error, KeyboardInterrupt):
        text = "Interrupted."
        sweep()
    else:
        text = traceback.format_exception_only(error)[-1].strip()
    # What the line has called in other cells.
    text += "".join(f"\n  in {frame.name}, of another cell, line {frame.lineno}: {frame.line}" for frame in frames[last + 1 :])
    _page.error(text, frames[last].lineno if own else None)


def sweep() -> None:
    """Frees what an interrupt has left between a call and its result."""
    torch = sys.modules.get("edgegrad.torch")
    if torch is not None:
        torch.sweep()
