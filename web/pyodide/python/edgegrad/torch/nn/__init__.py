"""torch.nn."""

from __future__ import annotations

from .._parameter import Buffer, Parameter
from . import functional, init, utils
from .activations import *
from .attention import MultiheadAttention
from .containers import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from .convolution import *
from .dropout import *
from .embedding import Embedding, EmbeddingBag
from .linear import Bilinear, CosineSimilarity, Identity, Linear, PairwiseDistance
from .losses import *
from .module import Module
from .normalization import *
from .pooling import *
from .recurrent import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNBase, RNNCell
from .shape import *
from .transformer import (
    Transformer,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
)
from . import modules


def __getattr__(name: str) -> object:
    import importlib

    if name == "grad":
        return importlib.import_module(f"{__name__}.grad")
    if name.startswith("Lazy"):
        lazy = importlib.import_module(f"{__name__}.lazy")
        if hasattr(lazy, name):
            return getattr(lazy, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}' (edgegrad does not have it)")
