"""torch.optim and its schedulers."""

import copy
import pickle
import warnings

import edgegrad.torch as torch
from edgegrad.torch import nn

S = torch.optim.lr_scheduler


def trained(name, **settings):
    param = nn.Parameter(torch.ones(4))
    optimizer = getattr(torch.optim, name)([param], **settings)
    for _ in range(3):
        optimizer.zero_grad()
        (param**2).sum().backward()
        optimizer.step()
    return param, optimizer


def test_every_optimizer_goes_down_and_continues_from_its_state():
    names = "ASGD Adadelta Adafactor Adagrad Adam AdamW Adamax NAdam RAdam RMSprop Rprop SGD"
    for name in names.split():
        param, optimizer = trained(name)
        assert param[0].item() < 1, name
        state = copy.deepcopy(optimizer.state_dict())
        other = nn.Parameter(param.detach().clone())
        follower = getattr(torch.optim, name)([other])
        follower.load_state_dict(state)
        for one, by in ((param, optimizer), (other, follower)):
            by.zero_grad()
            (one**2).sum().backward()
            by.step()
        assert torch.allclose(param, other), name


def test_groups():
    a, b = nn.Parameter(torch.ones(1)), nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([{"params": [a]}, {"params": [b], "lr": 0.5}], lr=0.1, momentum=0.9)
    assert [group["lr"] for group in optimizer.param_groups] == [0.1, 0.5]
    assert optimizer.param_groups[0]["params"][0] is a and optimizer.param_groups[0]["momentum"] == 0.9
    for group in optimizer.param_groups:
        group["lr"] = 1.0
    optimizer.param_groups[0]["note"] = "mine"
    (a + b).sum().backward()
    optimizer.step()
    assert (a.item(), b.item()) == (0, 0) and optimizer.param_groups[0]["note"] == "mine"
    c = nn.Parameter(torch.ones(1))
    optimizer.add_param_group({"params": c, "lr": 2.0})
    c.sum().backward()
    optimizer.step()
    assert c.item() == -1 and len(optimizer.param_groups) == 3


def test_parameters_whose_data_has_been_replaced():
    param = nn.Parameter(torch.ones(2))
    optimizer = torch.optim.SGD([param], lr=1.0)
    param.data = torch.zeros(3)
    param.sum().backward()
    optimizer.step()
    assert param.tolist() == [-1, -1, -1]


def test_closures():
    param = nn.Parameter(torch.tensor([3.0, 4.0]))
    optimizer = torch.optim.LBFGS([param], lr=1)

    def closure():
        optimizer.zero_grad()
        loss = ((param - 1) ** 2).sum()
        loss.backward()
        return loss

    for _ in range(3):
        loss = optimizer.step(closure)
    assert loss.item() < 1e-6 and torch.allclose(param, torch.ones(2), atol=1e-4)
    plain = torch.optim.SGD([param], lr=0.0)
    with torch.no_grad():
        assert plain.step(closure).item() < 1e-6


def test_an_optimizer_of_ones_own():
    class Signs(torch.optim.Optimizer):
        def __init__(self, params, lr=0.5):
            super().__init__(params, dict(lr=lr))

        @torch.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for param in group["params"]:
                    param -= group["lr"] * param.grad.sign()

    param = nn.Parameter(torch.ones(1))
    optimizer = Signs([param])
    optimizer.zero_grad()
    param.sum().backward()
    optimizer.step()
    assert param.item() == 0.5


def test_hooks_of_steps():
    param, seen = nn.Parameter(torch.ones(1)), []
    optimizer = torch.optim.SGD([param], lr=0.1)
    optimizer.register_step_pre_hook(lambda *args: seen.append("pre"))
    optimizer.register_step_post_hook(lambda *args: seen.append("post"))
    param.sum().backward()
    optimizer.step()
    assert seen == ["pre", "post"]


def test_schedulers():
    def rates(make, *args):
        param = nn.Parameter(torch.ones(1))
        optimizer = torch.optim.SGD([param], lr=0.1)
        scheduler = make(optimizer)
        found = []
        for _ in range(4):
            param.sum().backward()
            optimizer.step()
            scheduler.step(*args)
            found.append(round(optimizer.param_groups[0]["lr"], 5))
        assert abs(scheduler.get_last_lr()[0] - found[-1]) < 1e-5
        scheduler.load_state_dict(scheduler.state_dict())
        return found

    assert rates(lambda o: S.StepLR(o, step_size=2, gamma=0.5)) == [0.1, 0.05, 0.05, 0.025]
    assert rates(lambda o: S.ExponentialLR(o, gamma=0.9)) == [0.09, 0.081, 0.0729, 0.06561]
    assert rates(lambda o: S.LambdaLR(o, lr_lambda=lambda epoch: 0.5**epoch)) == [0.05, 0.025, 0.0125, 0.00625]
    assert rates(lambda o: S.MultiStepLR(o, milestones=[1, 3])) == [0.01, 0.01, 0.001, 0.001]
    assert rates(lambda o: S.CosineAnnealingLR(o, T_max=4)) == [0.08536, 0.05, 0.01464, 0]
    assert rates(lambda o: S.CosineAnnealingWarmRestarts(o, T_0=2)) == [0.05, 0.1, 0.05, 0.1]
    assert rates(lambda o: S.ReduceLROnPlateau(o, patience=0), 1.0) == [0.1, 0.01, 0.001, 0.0001]
    assert rates(lambda o: S.SequentialLR(o, [S.ConstantLR(o, 0.5, 2), S.ExponentialLR(o, 0.9)], milestones=[2]))[:1] == [0.05]
    assert rates(lambda o: S.OneCycleLR(o, max_lr=1.0, total_steps=10))[1] == 1


def test_clipping_and_scaling():
    param = nn.Parameter(torch.ones(4))
    (param * 10).sum().backward()
    assert abs(nn.utils.clip_grad_norm_([param], 1.0).item() - 20) < 1e-3 and abs(param.grad.norm().item() - 1) < 1e-3
    nn.utils.clip_grad_value_([param], 0.1)
    assert param.grad.max().item() <= 0.1 + 1e-7
    scaler = torch.amp.GradScaler(init_scale=4.0)
    assert scaler.scale(torch.tensor(1.0)).item() == 4 and scaler.get_scale() == 4
    optimizer = torch.optim.SGD([param], lr=1.0)
    optimizer.zero_grad()
    scaler.scale(param.sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert param[0].item() == 0


def test_averages():
    net = nn.Linear(1, 1, bias=False)
    average = torch.optim.swa_utils.AveragedModel(net)
    for value in (1.0, 3.0):
        net.weight.data.fill_(value)
        average.update_parameters(net)
    assert average.module.weight.item() == 2


def test_a_copy_of_a_group_is_a_dictionary_of_its_own():
    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.5)
    copied = copy.deepcopy(optimizer.param_groups)
    del copied
    torch.flush()
    optimizer.param_groups[0]["lr"] = 0.25
    assert optimizer.param_groups[0]["lr"] == 0.25
    try:
        copy.copy(optimizer.param_groups[0]._group)
    except TypeError:
        return
    raise AssertionError("an object of JavaScript was copied")


def test_copies_and_pickles_of_optimizers_go_on_alike():
    for name, settings in (("Adam", {"lr": 0.1}), ("SGD", {"lr": 0.1, "momentum": 0.9}), ("RMSprop", {})):
        _, optimizer = trained(name, **settings)
        optimizer.param_groups[0]["note"] = "mine"
        for copied in (copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))):
            follower = copied(optimizer)
            other = follower.param_groups[0]["params"][0]
            param = optimizer.param_groups[0]["params"][0]
            assert other is not param and torch.equal(other, param)
            assert follower.param_groups[0]["note"] == "mine" and follower.defaults == optimizer.defaults
            before = param.detach().clone()
            for one, by in ((param, optimizer), (other, follower)):
                one.grad = torch.ones(4)
                by.step()
            assert torch.equal(param, other) and not torch.equal(param, before), name


def test_state_by_parameter():
    param, optimizer = trained("Adam", lr=0.1)
    own = optimizer.state[param]
    assert set(own) == {"step", "exp_avg", "exp_avg_sq"} and own["step"].item() == 3
    assert len(optimizer.state) == 1 and param in optimizer.state
    own["exp_avg"] = torch.zeros(4)
    optimizer.state["note"] = 1
    assert optimizer.state[param]["exp_avg"].sum().item() == 0 and optimizer.state_dict()["state"]["note"] == 1
    del optimizer.state[param]
    assert param not in optimizer.state


def test_rates_that_are_tensors():
    param, rate = nn.Parameter(torch.ones(1)), torch.tensor(0.5)
    optimizer = torch.optim.SGD([param], lr=rate)
    assert optimizer.param_groups[0]["lr"] is rate
    param.sum().backward()
    optimizer.step()
    rate.fill_(0.25)
    optimizer.step()
    assert param.item() == 0.25
    S.ExponentialLR(optimizer, gamma=0.5).step()
    assert optimizer.param_groups[0]["lr"] is rate and rate.item() == 0.125


def test_names_of_parameters():
    net = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(net.named_parameters(), lr=0.1)
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["weight", "bias"]


def test_hooks_of_states_and_of_all_optimizers():
    from edgegrad.torch.optim.optimizer import register_optimizer_step_post_hook

    param, seen = nn.Parameter(torch.ones(1)), []
    optimizer = torch.optim.SGD([param], lr=0.1)
    handle = register_optimizer_step_post_hook(lambda one, args, keywords: seen.append(one is optimizer))
    param.sum().backward()
    optimizer.step()
    handle.remove()
    optimizer.step()
    assert seen == [True]

    def faster(one, state):
        state["param_groups"][0]["lr"] = 0.5

    optimizer.register_state_dict_post_hook(lambda one, state: {**state, "more": 1})
    optimizer.register_load_state_dict_pre_hook(faster)
    state = optimizer.state_dict()
    assert state["more"] == 1
    optimizer.load_state_dict(state)
    assert optimizer.param_groups[0]["lr"] == 0.5


def test_the_state_of_an_optimizer_of_ones_own():
    class Momentum(torch.optim.Optimizer):
        def __init__(self, params, lr=0.5):
            super().__init__(params, {"lr": lr})

        @torch.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for param in group["params"]:
                    own = self.state[param]
                    own["sum"] = own.get("sum", 0) + param.grad
                    param -= group["lr"] * own["sum"]

    param = nn.Parameter(torch.ones(1))
    optimizer = Momentum([param])
    param.sum().backward()
    optimizer.step()
    other = Momentum([nn.Parameter(param.detach().clone())], lr=0.1)
    other.load_state_dict(optimizer.state_dict())
    assert other.param_groups[0]["lr"] == 0.5 and other.state[other.param_groups[0]["params"][0]]["sum"].item() == 1
    copied = copy.deepcopy(optimizer)
    assert copied.state[copied.param_groups[0]["params"][0]]["sum"].item() == 1


def test_states_and_copies_of_schedulers():
    def made():
        optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0)
        return optimizer, S.CosineAnnealingLR(optimizer, T_max=10)

    optimizer, scheduler = made()
    for _ in range(3):
        optimizer.step()
        scheduler.step()
    state = scheduler.state_dict()
    assert state["last_epoch"] == 3 and state["T_max"] == 10
    other_optimizer, other = made()
    other.load_state_dict(pickle.loads(pickle.dumps(state)))
    other_optimizer.load_state_dict(optimizer.state_dict())
    copied = copy.deepcopy(scheduler)
    assert copied.optimizer is not optimizer
    for one in (scheduler, other, copied):
        one.optimizer.step()
        one.step()
    assert scheduler.get_last_lr() == other.get_last_lr() == copied.get_last_lr()


def test_a_scheduler_of_ones_own():
    class Halves(S.LRScheduler):
        def get_lr(self):
            return [rate * 0.5**self.last_epoch for rate in self.base_lrs]

    optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=1.0)
    scheduler = Halves(optimizer)
    scheduler.step()
    scheduler.step()
    assert optimizer.param_groups[0]["lr"] == 0.25 and scheduler.get_last_lr() == [0.25]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        scheduler.step(5)
    assert optimizer.param_groups[0]["lr"] == 0.5**5 and len(seen) == 1
