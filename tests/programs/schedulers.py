# A small classifier, trained with every scheduler.

import torch
from torch import nn, optim
from torch.optim import lr_scheduler, swa_utils


def problem(dtype):
    x = torch.randn(60, 4, dtype=dtype)
    y = (x.sin().sum(1) > 0).long() + (x[:, 0] > 0.5).long()
    model = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 3)).to(dtype)
    return x, y, model


def sgd(model):
    return optim.SGD(model.parameters(), lr=0.2, momentum=0.9)


def adam(model):
    return optim.Adam([{"params": model[0].parameters()}, {"params": model[2].parameters(), "lr": 0.01}], lr=0.05)


def scheduled(make, make_optimizer=sgd, steps=30, takes_loss=False):
    def program(record, dtype):
        x, y, model = problem(dtype)
        criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
        optimizer = make_optimizer(model)
        scheduler = make(optimizer)
        for _ in range(steps):
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            scheduler.step(loss.item()) if takes_loss else scheduler.step()
            record(loss)
            record(optimizer.param_groups[-1]["lr"])
        return model.parameters()

    return program


def sequential(o):
    first = lr_scheduler.LinearLR(o, start_factor=0.1, total_iters=5)
    second = lr_scheduler.CosineAnnealingLR(o, T_max=10, eta_min=0.01)
    third = lr_scheduler.ExponentialLR(o, gamma=0.8)
    return lr_scheduler.SequentialLR(o, [first, second, third], milestones=[5, 15])


def chained(o):
    first = lr_scheduler.ConstantLR(o, factor=0.25, total_iters=6)
    second = lr_scheduler.StepLR(o, step_size=8, gamma=0.5)
    third = lr_scheduler.CosineAnnealingWarmRestarts(o, 7)
    return lr_scheduler.ChainedScheduler([first, second, third])


def warm_restarts_by_batch(record, dtype):
    x, y, model = problem(dtype)
    optimizer = sgd(model)
    scheduler = lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=3, T_mult=2, eta_min=1e-3)
    for epoch in range(8):
        for i in range(3):
            loss = nn.functional.nll_loss(model(x[i::3]).log_softmax(1), y[i::3])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step(epoch + i / 3)
            record(loss)
            record(scheduler.get_last_lr()[0])
    return model.parameters()


def plateau_of_validation(record, dtype):
    x, y, model = problem(dtype)
    optimizer = adam(model)
    scheduler = lr_scheduler.ReduceLROnPlateau(
        optimizer, mode="max", factor=0.3, patience=1, threshold=0.02, threshold_mode="abs", cooldown=2, min_lr=[1e-4, 1e-3]
    )
    for _ in range(30):
        model.train()
        loss = nn.functional.cross_entropy(model(x[:40]), y[:40], weight=torch.tensor([1.0, 2.0, 0.5], dtype=dtype))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            right = (model(x[40:]).argmax(1) == y[40:]).float().mean()
        scheduler.step(right)
        record(loss)
        record(optimizer.param_groups[0]["lr"])
    return model.parameters()


def swa(record, dtype):
    x, y, _ = problem(dtype)
    model = nn.Sequential(nn.Linear(4, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 3)).to(dtype)
    averaged = swa_utils.AveragedModel(model)
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.8)
    scheduler = lr_scheduler.CosineAnnealingLR(optimizer, T_max=20)
    swa_scheduler = swa_utils.SWALR(optimizer, swa_lr=0.05, anneal_epochs=4)
    for epoch in range(24):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if epoch > 10:
            averaged.update_parameters(model)
            swa_scheduler.step()
        else:
            scheduler.step()
        record(loss)
    swa_utils.update_bn(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x), batch_size=16), averaged)
    averaged.eval()
    record(nn.functional.cross_entropy(averaged(x), y))
    return list(averaged.parameters()) + list(averaged.module[1].buffers())


def ema(record, dtype):
    x, y, model = problem(dtype)
    # The same as get_ema_multi_avg_fn(0.9) in PyTorch 2.6.
    averaged = swa_utils.AveragedModel(model, avg_fn=lambda old, new, _: 0.9 * old + (1 - 0.9) * new)
    optimizer = sgd(model)
    for _ in range(25):
        loss = nn.functional.multi_margin_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        averaged.update_parameters(model)
        record(loss)
        with torch.no_grad():
            record(nn.functional.multi_margin_loss(averaged(x), y))
    return averaged.parameters()


programs = {
    "StepLR": scheduled(lambda o: lr_scheduler.StepLR(o, step_size=7, gamma=0.5)),
    "MultiStepLR": scheduled(lambda o: lr_scheduler.MultiStepLR(o, milestones=[5, 12, 20], gamma=0.3), adam),
    "ExponentialLR": scheduled(lambda o: lr_scheduler.ExponentialLR(o, gamma=0.9), adam),
    "ConstantLR": scheduled(lambda o: lr_scheduler.ConstantLR(o, factor=0.5, total_iters=8)),
    "LinearLR": scheduled(lambda o: lr_scheduler.LinearLR(o, start_factor=0.2, end_factor=0.7, total_iters=12)),
    "PolynomialLR": scheduled(lambda o: lr_scheduler.PolynomialLR(o, total_iters=20, power=1.5), adam),
    "CosineAnnealingLR": scheduled(lambda o: lr_scheduler.CosineAnnealingLR(o, 12, 0.005)),
    "CosineAnnealingWarmRestarts": scheduled(
        lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 4, T_mult=2, eta_min=0.001), adam
    ),
    "CosineAnnealingWarmRestarts by batch": warm_restarts_by_batch,
    "CyclicLR, triangular": scheduled(
        lambda o: lr_scheduler.CyclicLR(o, base_lr=0.01, max_lr=0.3, step_size_up=4, step_size_down=6)
    ),
    "CyclicLR, triangular2": scheduled(
        lambda o: lr_scheduler.CyclicLR(o, 0.01, 0.3, step_size_up=5, mode="triangular2", base_momentum=0.7, max_momentum=0.95)
    ),
    "CyclicLR, exp_range": scheduled(
        lambda o: lr_scheduler.CyclicLR(o, 0.01, 0.3, step_size_up=5, mode="exp_range", gamma=0.95, cycle_momentum=False)
    ),
    "CyclicLR by a function": scheduled(
        lambda o: lr_scheduler.CyclicLR(o, 0.01, 0.3, step_size_up=5, scale_fn=lambda x: 1 / (5 ** (x * 0.1)), scale_mode="cycle")
    ),
    "OneCycleLR": scheduled(lambda o: lr_scheduler.OneCycleLR(o, max_lr=0.4, total_steps=31)),
    "OneCycleLR, three phases of Adam": scheduled(
        lambda o: lr_scheduler.OneCycleLR(
            o, max_lr=[0.1, 0.05], epochs=6, steps_per_epoch=6, pct_start=0.4, anneal_strategy="linear", three_phase=True
        ),
        adam,
    ),
    "ReduceLROnPlateau": scheduled(
        lambda o: lr_scheduler.ReduceLROnPlateau(o, "min", factor=0.5, patience=0, threshold=0.1), takes_loss=True
    ),
    "ReduceLROnPlateau of validation": plateau_of_validation,
    "LambdaLR": scheduled(lambda o: lr_scheduler.LambdaLR(o, lr_lambda=[lambda e: 0.95**e, lambda e: 1 / (e + 1)]), adam),
    "MultiplicativeLR": scheduled(lambda o: lr_scheduler.MultiplicativeLR(o, lambda e: 0.9 if e % 3 else 1.1)),
    "SequentialLR": scheduled(sequential),
    "ChainedScheduler": scheduled(chained),
    "SWA": swa,
    "EMA": ema,
}
