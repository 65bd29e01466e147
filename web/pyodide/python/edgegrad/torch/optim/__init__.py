"""torch.optim: the optimizers of edgegrad, one call of JavaScript for a step."""

from __future__ import annotations

from . import lr_scheduler, swa_utils
from .optimizer import Optimizer, optimizer

ASGD, Adadelta, Adafactor, Adagrad = map(optimizer, ("ASGD", "Adadelta", "Adafactor", "Adagrad"))
Adam, AdamW, Adamax, LBFGS = map(optimizer, ("Adam", "AdamW", "Adamax", "LBFGS"))
NAdam, RAdam, RMSprop, Rprop = map(optimizer, ("NAdam", "RAdam", "RMSprop", "Rprop"))
SGD, SparseAdam = map(optimizer, ("SGD", "SparseAdam"))
__all__ = ["Optimizer", "lr_scheduler", "swa_utils"]
