# Derivatives as values: function transforms, higher derivatives, activation checkpointing.

import torch
from torch import nn, optim
from torch.autograd import functional as AF
from torch.nn import functional as F
from torch.nn.utils import parameters_to_vector, vector_to_parameters


def leaves(dtype, *shapes):
    return [(torch.rand(*shape, dtype=dtype) - 0.5).requires_grad_() for shape in shapes]


def mlp(params, x):
    w1, b1, w2, b2 = params
    return F.linear(torch.tanh(F.linear(x, w1, b1)), w2, b2)


def maml(record, dtype):
    """Sines: a step inside, differentiated by the step outside."""
    meta = leaves(dtype, (12, 1), (12,), (1, 12), (1,))
    optimizer = optim.Adam(meta, lr=0.02)
    for _ in range(15):
        total = 0
        for _ in range(3):
            amplitude, phase = torch.rand(1, dtype=dtype) * 4 + 1, torch.rand(1, dtype=dtype) * 3
            x = torch.rand(10, 1, dtype=dtype) * 10 - 5
            y = amplitude * torch.sin(x + phase)
            inner = F.mse_loss(mlp(meta, x[:5]), y[:5])
            grads = torch.autograd.grad(inner, meta, create_graph=True)
            fast = [p - 0.05 * g for p, g in zip(meta, grads)]
            total = total + F.mse_loss(mlp(fast, x[5:]), y[5:])
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        record(total)
    return meta


def per_sample(record, dtype):
    """DP-SGD: gradients of each sample, clipped, summed and blurred. (PyTorch's program would use vmap.)"""
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.GroupNorm(2, 4), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3)).to(dtype)
    x, y = torch.randn(8, 1, 6, 6, dtype=dtype), torch.randint(0, 3, (8,))
    params = list(model.parameters())
    for _ in range(15):
        losses = [F.cross_entropy(model(x[i : i + 1]), y[i : i + 1]) for i in range(8)]
        grads = [torch.autograd.grad(loss, params) for loss in losses]
        norms = torch.stack([torch.stack([g.norm() for g in one]).norm() for one in grads])
        factors = (0.5 / (norms + 1e-6)).clamp(max=1.0)
        with torch.no_grad():
            for i, p in enumerate(params):
                summed = sum(f * one[i] for f, one in zip(factors, grads))
                p.sub_((summed + 0.01 * torch.randn_like(p)) / 8, alpha=0.5)
        record(torch.stack(losses).mean())
        record(norms.max())
    return params


def ensemble(record, dtype):
    """Three networks trained at once. (PyTorch's program would use stack_module_state and vmap.)"""
    models = [nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1)).to(dtype) for _ in range(3)]
    x = torch.randn(3, 12, 3, dtype=dtype)
    y = x.prod(2, keepdim=True)
    params = [torch.stack([dict(m.named_parameters())[n].detach() for m in models]).requires_grad_() for n, _ in models[0].named_parameters()]
    optimizer = optim.Adam(params, lr=0.02)
    for _ in range(15):
        w1, b1, w2, b2 = params
        out = torch.baddbmm(b2.unsqueeze(1), torch.tanh(torch.baddbmm(b1.unsqueeze(1), x, w1.mT)), w2.mT)
        losses = (out - y).square().mean((1, 2))
        optimizer.zero_grad()
        losses.sum().backward()
        optimizer.step()
        for loss in losses:
            record(loss)
    return params


def newton(record, dtype):
    """Newton's method: the Hessian of a function of a vector, and a system of equations."""
    x = nn.Parameter(torch.tensor([-1.2, 1.0, 0.7], dtype=dtype))

    def rosenbrock(v):
        return (100 * (v[1:] - v[:-1] ** 2) ** 2 + (1 - v[:-1]) ** 2).sum()

    for _ in range(5):
        hessian = AF.hessian(rosenbrock, x.detach())
        value, grad = AF.vjp(rosenbrock, x.detach())
        record(value)
        record(hessian.logdet() if torch.det(hessian) > 0 else hessian.sum())
        with torch.no_grad():
            x.sub_(torch.linalg.solve(hessian + 1e-3 * torch.eye(3, dtype=dtype), grad))
    jacobian = AF.jacobian(lambda v: v.sin().cumsum(0), x.detach())
    record(jacobian.sum())
    record(AF.hvp(rosenbrock, x.detach(), torch.ones(3, dtype=dtype))[1].sum())
    record(AF.jvp(lambda v: v.exp() * v.sum(), x.detach(), torch.arange(3, dtype=dtype))[1].sum())
    return [x]


def pinn(record, dtype):
    """Burgers' equation: derivatives of a network by its inputs are part of its loss."""
    net = nn.Sequential(nn.Linear(2, 12), nn.Tanh(), nn.Linear(12, 12), nn.Tanh(), nn.Linear(12, 1)).to(dtype)
    x = (torch.rand(20, 1, dtype=dtype) * 2 - 1).requires_grad_()
    t = torch.rand(20, 1, dtype=dtype).requires_grad_()
    optimizer = optim.LBFGS(net.parameters(), lr=0.5, max_iter=3, history_size=5)

    def closure():
        optimizer.zero_grad()
        u = net(torch.cat([x, t], 1))
        u_x, u_t = torch.autograd.grad(u, (x, t), torch.ones_like(u), create_graph=True)
        (u_xx,) = torch.autograd.grad(u_x.sum(), x, create_graph=True)
        residual = u_t + u * u_x - 0.01 / 3.141592653589793 * u_xx
        start = net(torch.cat([x, torch.zeros_like(t)], 1)) + torch.sin(3.141592653589793 * x)
        loss = residual.square().mean() + start.square().mean()
        loss.backward()
        return loss

    for _ in range(5):
        record(optimizer.step(closure))
    return net.parameters()


def wgan_gp(record, dtype):
    critic = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1)).to(dtype)
    generator = nn.Sequential(nn.Linear(2, 16), nn.ELU(), nn.Linear(16, 2)).to(dtype)
    c_optimizer = optim.RMSprop(critic.parameters(), lr=5e-3)
    g_optimizer = optim.RMSprop(generator.parameters(), lr=5e-3)
    for step in range(15):
        real = torch.randn(12, 2, dtype=dtype) * 0.2 + 1
        fake = generator(torch.randn(12, 2, dtype=dtype))
        share = torch.rand(12, 1, dtype=dtype)
        between = (share * real + (1 - share) * fake).detach().requires_grad_(True)
        grad = torch.autograd.grad(critic(between).sum(), between, create_graph=True)[0]
        penalty = ((grad.norm(2, dim=1) - 1) ** 2).mean()
        c_loss = critic(fake.detach()).mean() - critic(real).mean() + 10 * penalty
        c_optimizer.zero_grad()
        c_loss.backward()
        c_optimizer.step()
        record(c_loss)
        if step % 3 == 2:
            g_loss = -critic(fake).mean()
            g_optimizer.zero_grad()
            g_loss.backward()
            g_optimizer.step()
            record(g_loss)
    return [*critic.parameters(), *generator.parameters()]


def checkpointed(record, dtype):
    from torch.utils.checkpoint import checkpoint

    blocks = nn.ModuleList([nn.Sequential(nn.Linear(6, 6), nn.GELU(), nn.Dropout(0.2)) for _ in range(3)]).to(dtype)
    head = nn.Linear(6, 1).to(dtype)
    x = torch.randn(10, 6, dtype=dtype)
    params = [*blocks.parameters(), *head.parameters()]
    optimizer = optim.Adadelta(params, lr=1.0, eps=1e-3)
    for _ in range(15):
        h = x
        for block in blocks:
            h = checkpoint(block, h, use_reentrant=False)
        loss = (head(h).squeeze(1) - x.sum(1)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        record(loss)
    return params


class StraightThrough(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        ctx.scale = scale
        return torch.sign(x) * scale

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x.abs() <= 1) * ctx.scale, None


def binarised(record, dtype):
    """A Function of one's own, a hook on a tensor, one on a module, one after a gradient."""
    first, second = nn.Linear(5, 16).to(dtype), nn.Linear(16, 2).to(dtype)
    x, y = torch.randn(20, 5, dtype=dtype), torch.randint(0, 2, (20,))
    seen = []
    second.register_forward_hook(lambda module, args, out: out * 1.5)
    first.register_full_backward_hook(lambda module, grad_in, grad_out: seen.append(grad_out[0].norm().item()))
    first.weight.register_hook(lambda grad: grad.clamp(-0.01, 0.01))
    params = [*first.parameters(), *second.parameters()]
    optimizer = optim.SGD(params, lr=0.3, momentum=0.5)
    for _ in range(15):
        loss = F.cross_entropy(second(StraightThrough.apply(first(x), 0.8)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        record(loss)
        record(seen[-1])
    return params


def vectors(record, dtype):
    """Random search and averages in the space of all parameters, as a vector."""
    model = nn.Sequential(nn.Linear(4, 6), nn.Sigmoid(), nn.Linear(6, 1)).to(dtype)
    x = torch.randn(16, 4, dtype=dtype)
    y = x.prod(1, keepdim=True)
    center = parameters_to_vector(model.parameters()).detach()
    for _ in range(12):
        noise = torch.randn(6, center.numel(), dtype=dtype)
        scores = []
        for one in noise:
            vector_to_parameters(center + 0.1 * one, model.parameters())
            scores.append(F.mse_loss(model(x), y).detach())
        scores = torch.stack(scores)
        weights = (scores - scores.mean()) / scores.std()
        center = center - 0.05 * (weights @ noise) / 6
        record(scores.mean())
    vector_to_parameters(center, model.parameters())
    return model.parameters()


def ode(record, dtype):
    """A neural ODE by Runge-Kutta, forwards and backwards through the solver."""
    net = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2)).to(dtype)
    true = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]], dtype=dtype)

    def solve(f, y, steps, h):
        path = [y]
        for _ in range(steps):
            k1 = f(y)
            k2 = f(y + h / 2 * k1)
            k3 = f(y + h / 2 * k2)
            k4 = f(y + h * k3)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            path.append(y)
        return torch.stack(path)

    y0 = torch.tensor([[2.0, 0.0]], dtype=dtype)
    with torch.no_grad():
        wanted = solve(lambda y: y**3 @ true, y0, 20, 0.025)
    optimizer = optim.RMSprop(net.parameters(), lr=0.01)
    for _ in range(12):
        loss = (solve(lambda y: net(y**3), y0, 20, 0.025) - wanted).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        record(loss)
    return net.parameters()


def teacher(record, dtype):
    """A student follows a teacher, which is a moving average of it: copies, buffers and states."""
    import copy

    student = nn.Sequential(nn.Linear(4, 8, bias=False), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3)).to(dtype)
    average = copy.deepcopy(student).requires_grad_(False)
    optimizer = optim.AdamW(student.parameters(), lr=0.02)
    for step in range(15):
        x = torch.randn(12, 4, dtype=dtype)
        with torch.no_grad():
            wanted = average(x + 0.1 * torch.randn_like(x)).softmax(1)
        loss = F.kl_div(student(x).log_softmax(1), wanted, reduction="batchmean") + F.cross_entropy(student(x), x[:, :3].argmax(1))
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for a, p in zip(average.parameters(), student.parameters()):
                a.mul_(0.9).add_(p, alpha=0.1)
        if step == 7:
            average.load_state_dict(student.state_dict())
        record(loss)
    return [*student.parameters(), *average.parameters(), average[1].running_mean, average[1].running_var]


programs = {
    "MAML": maml,
    "gradients of each sample": per_sample,
    "ensemble": ensemble,
    "Newton": newton,
    "PINN": pinn,
    "WGAN-GP": wgan_gp,
    "checkpoints of activations": checkpointed,
    "functions and hooks of one's own": binarised,
    "parameters as a vector": vectors,
    "neural ODE": ode,
    "student and teacher": teacher,
}
