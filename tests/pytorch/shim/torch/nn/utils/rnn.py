"""torch.nn.utils.rnn."""

from . import functions_of

__getattr__ = functions_of("nn.utils.rnn")
