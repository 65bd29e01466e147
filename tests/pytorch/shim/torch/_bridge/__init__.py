"""The bridge to edgegrad in a Node process, without anything that is PyTorch's."""

from .blocks import BODY, Block, Mode
from .calls import (
    call,
    call_later,
    Encoded,
    camel,
    collect,
    construct,
    emulated,
    encode_call,
    function,
    get,
    has,
    load_names,
    lookup,
    method,
    names,
    set_property,
    snake,
    write_out,
)
from .channel import channel
from .errors import BridgeDied, EdgeGradError, Unsupported, error_of
from .values import (
    JSFunction,
    JSObject,
    adopt,
    callable_id,
    classes,
    decode,
    encode,
    held,
    live,
    opaque,
    tensor_classes,
    undefined,
)


def restart() -> None:
    """Starts Node, after ending the process that runs."""
    channel.stop()
    live.clear()
    held.clear()
    channel.start()
    load_names()
