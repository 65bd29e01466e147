# Every optimizer on a small regression.

import torch
from torch import nn, optim


def problem(dtype):
    x = torch.randn(48, 6, dtype=dtype)
    y = torch.sin(x.sum(1, keepdim=True))
    model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
    return x, y, model.to(dtype)


class NAdam(optim.Optimizer):
    """NAdam of PyTorch 2.6: the product of momenta of 1.13 has one factor too many."""

    def __init__(self, params, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, momentum_decay=4e-3):
        super().__init__(params, dict(lr=lr))
        self.options = betas, eps, weight_decay, momentum_decay

    @torch.no_grad()
    def step(self):
        (beta1, beta2), eps, weight_decay, momentum_decay = self.options
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state.update(step=0, mu_product=torch.tensor(1.0), m=torch.zeros_like(p), v=torch.zeros_like(p))
                state["step"] += 1
                step, lr = state["step"], group["lr"]
                grad = p.grad.add(p, alpha=weight_decay)
                mu = beta1 * (1.0 - 0.5 * (0.96 ** (step * momentum_decay)))
                mu_next = beta1 * (1.0 - 0.5 * (0.96 ** ((step + 1) * momentum_decay)))
                state["mu_product"] *= mu
                product = state["mu_product"].item()
                state["m"].lerp_(grad, 1 - beta1)
                state["v"].mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
                denom = state["v"].div(1 - beta2**step).sqrt().add_(eps)
                p.addcdiv_(grad, denom, value=-lr * (1.0 - mu) / (1.0 - product))
                p.addcdiv_(state["m"], denom, value=-lr * mu_next / (1.0 - product * mu_next))


class ASGD(optim.ASGD):
    """Keeps its rate with the precision of the parameters, as PyTorch does where theirs is the default dtype."""

    def step(self):
        usual = torch.get_default_dtype()
        torch.set_default_dtype(self.param_groups[0]["params"][0].dtype)
        super().step()
        torch.set_default_dtype(usual)


def trained(make, steps=40, sign=1, decay=0, decayed_lr=0):
    """`decay` is what decoupled_weight_decay does, which PyTorch 1.13 has not everywhere."""

    def program(record, dtype):
        x, y, model = problem(dtype)
        optimizer = make(list(model.parameters()))
        for _ in range(steps):
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            (sign * loss).backward()
            if decay:
                with torch.no_grad():
                    for p in model.parameters():
                        p.mul_(1 - decayed_lr * decay)
            optimizer.step()
            record(loss)
        return model.parameters()

    return program


def lbfgs(**options):
    def program(record, dtype):
        x, y, model = problem(dtype)
        optimizer = optim.LBFGS(model.parameters(), **options)

        def closure():
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            return loss

        for _ in range(4):
            record(optimizer.step(closure))
        return model.parameters()

    return program


def groups(record, dtype):
    x, y, model = problem(dtype)
    optimizer = optim.SGD(
        [{"params": model[0].parameters(), "lr": 0.05, "nesterov": True}, {"params": [model[2].weight], "weight_decay": 0.1}],
        lr=0.1,
        momentum=0.8,
    )
    for step in range(40):
        if step == 15:
            optimizer.add_param_group({"params": [model[2].bias], "lr": 0.2, "dampening": 0.1})
        if step == 25:
            for group in optimizer.param_groups:
                group["lr"] *= 0.5
        optimizer.zero_grad()
        loss = nn.functional.huber_loss(model(x), y, delta=0.7)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.3)
        optimizer.step()
        record(loss)
    return model.parameters()


def frozen_then_thawed(record, dtype):
    x, y, model = problem(dtype)
    model[0].requires_grad_(False)
    optimizer = optim.AdamW(filter(lambda p: p.requires_grad, model.parameters()), lr=0.02, weight_decay=0.05)
    for step in range(40):
        if step == 20:
            model[0].requires_grad_(True)
            optimizer.add_param_group({"params": model[0].parameters()})
        loss = nn.functional.smooth_l1_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), 0.02)
        optimizer.step()
        record(loss)
    return model.parameters()


def accumulated(record, dtype):
    x, y, model = problem(dtype)
    optimizer = optim.Adam(model.parameters(), lr=0.02, amsgrad=True, weight_decay=0.01)
    for _ in range(30):
        optimizer.zero_grad()
        for xs, ys in zip(x.chunk(3), y.chunk(3)):
            loss = nn.functional.mse_loss(model(xs), ys) / 3
            loss.backward()
            record(loss)
        optimizer.step()
    return model.parameters()


programs = {
    "NAdam": trained(lambda p: NAdam(p, lr=0.01)),
    "NAdam with weight decay": trained(lambda p: NAdam(p, 0.02, (0.8, 0.99), 1e-7, 0.05, 0.01)),
    "NAdam with decoupled weight decay": trained(lambda p: NAdam(p, lr=0.02), decay=0.1, decayed_lr=0.02),
    "RAdam": trained(lambda p: optim.RAdam(p, lr=0.03)),
    "RAdam with weight decay": trained(lambda p: optim.RAdam(p, lr=0.02, betas=(0.8, 0.9), weight_decay=0.05)),
    "RAdam with decoupled weight decay": trained(
        lambda p: optim.RAdam(p, lr=0.02, betas=(0.8, 0.9)), decay=0.1, decayed_lr=0.02
    ),
    "Adadelta": trained(lambda p: optim.Adadelta(p)),
    "Adadelta with its options": trained(lambda p: optim.Adadelta(p, lr=0.5, rho=0.8, eps=1e-4, weight_decay=0.02)),
    "Adadelta maximizing": trained(lambda p: optim.Adadelta(p, eps=1e-4, maximize=True), sign=-1),
    "Adamax": trained(lambda p: optim.Adamax(p, lr=0.02)),
    "Adamax with weight decay, maximizing": trained(
        lambda p: optim.Adamax(p, 0.02, (0.85, 0.95), weight_decay=0.02, maximize=True), sign=-1
    ),
    "ASGD": trained(lambda p: ASGD(p, lr=0.1)),
    "ASGD with its options": trained(lambda p: ASGD(p, 0.1, lambd=1e-2, alpha=0.6, t0=10, weight_decay=0.01)),
    "Rprop": trained(lambda p: optim.Rprop(p)),
    "Rprop with its options": trained(lambda p: optim.Rprop(p, 0.005, etas=(0.4, 1.3), step_sizes=(1e-5, 0.1))),
    "LBFGS": lbfgs(lr=0.5, max_iter=6, history_size=4),
    "LBFGS with strong Wolfe": lbfgs(line_search_fn="strong_wolfe", max_iter=5),
    "LBFGS with few evaluations": lbfgs(lr=1, max_iter=5, max_eval=4, line_search_fn="strong_wolfe", history_size=2),
    "Adam, amsgrad": trained(lambda p: optim.Adam(p, lr=0.02, amsgrad=True, betas=(0.7, 0.9))),
    "Adam maximizing": trained(lambda p: optim.Adam(p, lr=0.02, maximize=True, weight_decay=0.01), sign=-1),
    "AdamW, amsgrad, maximizing": trained(
        lambda p: optim.AdamW(p, lr=0.02, amsgrad=True, weight_decay=0.1, maximize=True), sign=-1
    ),
    "RMSprop, centered with momentum": trained(
        lambda p: optim.RMSprop(p, lr=0.005, alpha=0.9, momentum=0.5, centered=True, weight_decay=0.01)
    ),
    "RMSprop": trained(lambda p: optim.RMSprop(p)),
    "Adagrad with its options": trained(
        lambda p: optim.Adagrad(p, lr=0.1, lr_decay=0.01, weight_decay=0.01, initial_accumulator_value=0.1)
    ),
    "SGD, Nesterov": trained(lambda p: optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True, weight_decay=1e-3)),
    "SGD, dampened, maximizing": trained(
        lambda p: optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.3, maximize=True), sign=-1
    ),
    "parameter groups": groups,
    "frozen, then thawed": frozen_then_thawed,
    "accumulated gradients": accumulated,
}
