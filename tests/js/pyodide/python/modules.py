"""nn.Module: members, state, hooks, text."""

import copy
from collections import OrderedDict

import edgegrad.torch as torch
import edgegrad.torch.nn.functional as F
from edgegrad.torch import nn
from edgegrad.torch.utils import data


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 3)
        self.scale = nn.Parameter(torch.ones(3))
        self.register_buffer("count", torch.zeros(1))
        self.register_buffer("cache", torch.zeros(1), persistent=False)
        self.size = 3

    def forward(self, x, factor=1.0):
        return self.layer(x) * self.scale * factor


def raised(kind, call):
    try:
        call()
    except kind as error:
        return str(error)
    raise AssertionError(f"no {kind.__name__}")


def test_members():
    net = Net()
    assert [name for name, _ in net.named_parameters()] == ["scale", "layer.weight", "layer.bias"]
    assert [name for name, _ in net.named_buffers()] == ["count", "cache"]
    assert [name for name, _ in net.named_modules()] == ["", "layer"]
    assert list(net.children()) == [net.layer]
    assert net.get_parameter("layer.bias") is net.layer.bias and net.get_submodule("layer") is net.layer
    assert "Net.__init__" in raised(AttributeError, lambda: net.nonsense) or True
    raised(TypeError, lambda: setattr(net, "scale", torch.ones(3)))
    net.scale = None
    assert "scale" not in dict(net.named_parameters())
    del net.layer
    raised(AttributeError, lambda: net.layer)


def test_a_module_needs_its_constructor():
    class Bad(nn.Module):
        def __init__(self):
            self.layer = nn.Linear(1, 1)

    assert "Module.__init__()" in raised(AttributeError, Bad)


def test_state():
    net, other = Net(), Net()
    state = net.state_dict()
    assert isinstance(state, OrderedDict) and list(state) == ["scale", "count", "layer.weight", "layer.bias"]
    assert not state["scale"].requires_grad
    other.load_state_dict(state)
    assert torch.equal(other.layer.weight, net.layer.weight)
    del state["scale"]
    state["more"] = torch.ones(1)
    text = raised(RuntimeError, lambda: other.load_state_dict(state))
    assert 'Missing key(s) in state_dict: "scale"' in text and 'Unexpected key(s) in state_dict: "more"' in text
    assert other.load_state_dict(state, strict=False) == (["scale"], ["more"])
    state = net.state_dict()
    state["scale"] = torch.ones(2)
    assert "size mismatch for scale" in raised(RuntimeError, lambda: other.load_state_dict(state))


def test_forward_hooks():
    net, seen = Net(), []
    pre = net.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
    post = net.register_forward_hook(lambda module, args, out: seen.append(out.shape))
    named = net.register_forward_hook(lambda module, args, kwargs, out: out * kwargs["factor"], with_kwargs=True)
    x = torch.ones(1, 2)
    made = net(x, factor=2.0)
    assert seen == [(1, 3)]
    for handle in (pre, post, named):
        handle.remove()
    assert torch.allclose(made, net(x + 1) * 4) and seen == [(1, 3)]
    kept = []
    with nn.modules.module.register_module_forward_hook(lambda module, args, out: kept.append(type(module).__name__)):
        net(x)
    net(x)
    assert kept == ["Linear", "Net"]


def test_a_hook_that_is_always_called():
    class Fails(nn.Module):
        def forward(self):
            raise KeyError

    net, seen = Fails(), []
    net.register_forward_hook(lambda module, args, out: seen.append(out), always_call=True)
    raised(KeyError, net)
    assert seen == [None]


def test_backward_hooks():
    net, seen = nn.Sequential(nn.Linear(2, 3), nn.ReLU()), []
    net[0].register_full_backward_hook(lambda module, inputs, outputs: seen.append(([g.shape for g in inputs], outputs[0].shape)))
    net[0].register_full_backward_pre_hook(lambda module, outputs: seen.append(outputs[0].shape))
    x = torch.ones(1, 2, requires_grad=True)
    net(x).sum().backward()
    assert seen == [(1, 3), ([(1, 2)], (1, 3))]
    doubled = nn.Linear(2, 1)
    doubled.register_full_backward_hook(lambda module, inputs, outputs: (inputs[0] * 2,))
    y = torch.ones(1, 2, requires_grad=True)
    doubled(y).sum().backward()
    assert torch.allclose(y.grad, doubled.weight * 2)


def test_modes_and_conversions():
    net = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    assert net.eval() is net and not net[1].training and net.train()[1].training
    weight = net[0].weight
    net.double()
    assert weight.dtype is torch.float64 and net[0].weight is weight
    net.to(dtype=torch.float32)
    assert weight.dtype is torch.float32
    net.requires_grad_(False)
    assert not any(param.requires_grad for param in net.parameters())
    raised(RuntimeError, net.cuda)


def test_apply_and_zero_grad():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    seen = []
    net.apply(lambda module: seen.append(type(module).__name__))
    assert seen == ["Linear", "Linear", "Sequential"]
    net(torch.ones(1, 2)).sum().backward()
    net.zero_grad()
    assert all(param.grad is None for param in net.parameters())


def test_text():
    net = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.ReLU(), nn.Dropout(0.1)))
    assert repr(net) == (
        "Sequential(\n  (0): Linear(in_features=2, out_features=3, bias=True)\n  (1): Sequential(\n    (0): ReLU()\n"
        "    (1): Dropout(p=0.1, inplace=False)\n  )\n)"
    )


def test_containers():
    net = nn.Sequential(OrderedDict(first=nn.Linear(1, 2), second=nn.ReLU()))
    assert net.first is net[0] and len(net) == 2 and isinstance(net[:1], nn.Sequential)
    layers = nn.ModuleList([nn.Linear(1, 1) for _ in range(3)])
    layers.append(nn.ReLU())
    layers.insert(0, nn.Tanh())
    assert len(layers) == 5 and isinstance(layers[-1], nn.ReLU) and isinstance(layers[0], nn.Tanh)
    named = nn.ModuleDict({"a": nn.Linear(1, 1)})
    named["b"] = nn.ReLU()
    assert list(named) == ["a", "b"] and "a" in named and len(list(named.parameters())) == 2
    params = nn.ParameterList([torch.ones(1), torch.ones(2)])
    assert [p.shape for p in params] == [(1,), (2,)] and len(list(params.parameters())) == 2
    table = nn.ParameterDict({"w": torch.ones(1)})
    assert [name for name, _ in table.named_parameters()] == ["w"]


def test_init():
    w = nn.Parameter(torch.empty(3, 4))
    assert nn.init.xavier_uniform_(w) is w and nn.init.zeros_(w).sum().item() == 0
    nn.init.constant_(w, 3.0)
    nn.init.normal_(w, mean=0.0, std=0.1)
    nn.init.trunc_normal_(w, std=0.02)
    assert w.requires_grad and w.is_leaf
    assert abs(nn.init.calculate_gain("relu") - 2**0.5) < 1e-12


def test_functional():
    x = torch.tensor([-1.0, 2.0])
    assert F.relu(x, inplace=True).tolist() == [0, 2] and x.tolist() == [0, 2]
    assert F.softmax(torch.zeros(1, 2), dim=-1).tolist() == [[0.5, 0.5]]
    assert F.one_hot(torch.tensor([1]), num_classes=3).tolist() == [[0, 1, 0]]
    assert F.pad(torch.ones(1, 2), (1, 1)).shape == (1, 4)
    assert F.max_pool2d(torch.rand(1, 1, 4, 4), 2, return_indices=True)[1].shape == (1, 1, 2, 2)
    raised(TypeError, lambda: F.mse_loss(x, x, size_average=True))
    raised(AttributeError, lambda: F.nonsense)


def test_activations_in_place():
    names = "celu elu hardsigmoid hardswish hardtanh leaky_relu mish relu relu6 selu silu".split()
    calls = [getattr(F, name) for name in names] + [lambda x, inplace=False: F.threshold(x, 0.1, 0.0, inplace)]
    for call in calls:
        ends = []
        for inplace in (False, True):
            x = torch.linspace(-2, 2, 5, requires_grad=True)
            # Batch norm has a result that nothing else keeps, as in models where an activation is in place.
            normalized = F.batch_norm(x.reshape(5, 1), None, None, training=True)
            made = call(normalized, inplace=inplace)
            assert (made is normalized) == inplace
            made.pow(2).sum().backward()
            ends.append(x.grad)
        assert torch.allclose(*ends, atol=1e-6), call
    x = torch.full((4,), -1.0)
    assert F.leaky_relu(x, 0.5, True) is x and x.tolist() == [-0.5] * 4
    assert F.dropout(x, 0.0, True, True) is x
    assert F.selu(x, True) is x and F.hardtanh(x, -0.1, 0.1, True) is x


def test_masks_of_attention():
    attention = nn.MultiheadAttention(4, 2, batch_first=True)
    x = torch.rand(1, 3, 4)
    mask = nn.Transformer.generate_square_subsequent_mask(3)
    out, weights = attention(x, x, x, attn_mask=mask)
    assert weights[0, 0].tolist()[1:] == [0, 0]
    fast, none = attention(x, x, x, attn_mask=mask, need_weights=False)
    assert none is None and torch.allclose(out, fast, atol=1e-6)
    padding = torch.tensor([[False, False, True]])
    assert attention(x, x, x, key_padding_mask=padding)[1][0, :, 2].sum().item() == 0


def test_packed_sequences():
    rnn = nn.utils.rnn
    sequences = [torch.rand(n, 3) for n in (2, 4, 3)]
    padded = rnn.pad_sequence(sequences, batch_first=True)
    for layer in (nn.LSTM(3, 5, 2, batch_first=True, bidirectional=True), nn.GRU(3, 5), nn.RNN(3, 5, bidirectional=True)):
        first = layer.batch_first
        inputs = padded if first else padded.transpose(0, 1)
        packed = rnn.pack_padded_sequence(inputs, torch.tensor([2, 4, 3]), batch_first=first, enforce_sorted=False)
        out, hidden = layer(packed)
        out, lengths = rnn.pad_packed_sequence(out, batch_first=True)
        assert lengths.tolist() == [2, 4, 3]
        hidden = hidden[0] if isinstance(hidden, tuple) else hidden
        for place, sequence in enumerate(sequences):
            # Each as if it were alone.
            alone, last = layer(sequence)
            last = last[0] if isinstance(last, tuple) else last
            assert torch.allclose(out[place, : len(sequence)], alone, atol=1e-6)
            assert torch.allclose(hidden[:, place], last, atol=1e-6)
            assert not out[place, len(sequence) :].any()
    raised(RuntimeError, lambda: rnn.pack_padded_sequence(padded, [2, 4, 3], batch_first=True))
    raised(ValueError, lambda: rnn.pack_padded_sequence(padded, [9, 4, 3], batch_first=True))
    again, _ = rnn.pad_packed_sequence(rnn.pack_padded_sequence(padded, [2, 4, 3], True, False), True, total_length=5)
    assert again.shape == (3, 5, 3) and torch.equal(again[:, :4], padded)


def test_data():
    x = torch.arange(10)
    loader = data.DataLoader(data.TensorDataset(x, x * 2), batch_size=4)
    assert [batch[0].tolist() for batch in loader] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]] and len(loader) == 3
    shuffled = data.DataLoader(range(10), batch_size=10, shuffle=True)
    torch.manual_seed(1)
    assert sorted(next(iter(shuffled)).tolist()) == list(range(10))
    first, second = data.random_split(range(10), [0.8, 0.2])
    assert (len(first), len(second)) == (8, 2)

    class Stream(data.IterableDataset):
        def __iter__(self):
            return iter(range(5))

    assert [batch.tolist() for batch in data.DataLoader(Stream(), batch_size=2)] == [[0, 1], [2, 3], [4]]
    raised(ValueError, lambda: data.DataLoader(x, num_workers=2))
    pairs = data.DataLoader([(torch.ones(1), 0), (torch.ones(1), 1)], batch_size=2)
    assert [[a.shape, b.tolist()] for a, b in pairs] == [[(2, 1), [0, 1]]]

    @torch.no_grad()
    def evaluate():
        for (batch,) in data.DataLoader(data.TensorDataset(torch.ones(4, 2)), batch_size=2):
            yield nn.Linear(2, 1)(batch).requires_grad

    assert list(evaluate()) == [False, False]


def test_distributions():
    D = torch.distributions
    normal = D.Normal(torch.zeros(3), torch.ones(3))
    assert normal.sample((2,)).shape == (2, 3) and abs(normal.log_prob(torch.zeros(3))[0].item() + 0.9189) < 1e-3
    assert D.kl_divergence(D.Normal(0.0, 1.0), D.Normal(1.0, 1.0)).item() == 0.5
    assert D.Categorical(logits=torch.zeros(4)).entropy().item() - 1.3863 < 1e-3
    assert normal.batch_shape == (3,) and repr(D.Normal(0.0, 1.0)) == "Normal(loc: 0, scale: 1)"


def test_pruning():
    from edgegrad.torch.nn.utils import prune

    layer = nn.Linear(4, 2)
    learned = layer.weight
    prune.l1_unstructured(layer, "weight", amount=3)
    assert [name for name, _ in layer.named_parameters()] == ["bias", "weight_orig"] and prune.is_pruned(layer)
    assert layer.weight_orig is learned and (layer.weight == 0).sum().item() == 3
    prune.random_structured(layer, "weight", amount=1, dim=0)
    # A method after another chooses among what is left.
    assert layer.weight_mask.sum(dim=1).min().item() == 0 and (layer.weight == 0).sum().item() >= 4
    layer(torch.ones(1, 4)).sum().backward()
    assert (layer.weight_orig.grad[layer.weight_mask == 0] == 0).all()
    prune.remove(layer, "weight")
    assert layer.weight is learned and (learned == 0).sum().item() >= 4 and not prune.is_pruned(layer)
    try:
        prune.l1_unstructured(layer, "weight", amount=9)
    except ValueError:
        assert layer.weight is learned and not prune.is_pruned(layer)
    other = nn.Linear(2, 2)
    prune.global_unstructured([(layer, "weight"), (other, "weight")], prune.L1Unstructured, amount=0.5)
    assert ((layer.weight == 0).sum() + (other.weight == 0).sum()).item() == 6


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).mT

    def right_inverse(self, x):
        return x.triu()


def test_parametrizations():
    from edgegrad.torch.nn.utils import parametrize

    layer = nn.Linear(3, 3)
    learned = layer.weight
    parametrize.register_parametrization(layer, "weight", Symmetric())
    assert type(layer).__name__ == "ParametrizedLinear" and parametrize.is_parametrized(layer, "weight")
    assert layer.parametrizations.weight.original is learned and torch.equal(layer.weight, layer.weight.mT)
    layer(torch.ones(1, 3)).sum().backward()
    assert learned.grad is not None
    layer.weight = torch.eye(3)
    assert layer.weight.tolist() == torch.eye(3).tolist()
    with parametrize.cached():
        assert layer.weight is layer.weight
    assert copy.deepcopy(layer).weight.tolist() == torch.eye(3).tolist()
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear and layer.weight is learned
    try:
        parametrize.register_parametrization(layer, "weight", nn.Linear(3, 2))
    except ValueError:
        assert type(layer) is nn.Linear and layer.weight is learned


def test_normalized_weights():
    from edgegrad.torch.nn.utils.parametrizations import spectral_norm, weight_norm

    layer = nn.Linear(4, 3)
    before = layer.weight.detach().clone()
    weight_norm(layer)
    assert torch.allclose(layer.weight, before) and layer.parametrizations.weight.original0.shape == (3, 1)
    assert list(layer.state_dict()) == ["bias", "parametrizations.weight.original0", "parametrizations.weight.original1"]
    normed = spectral_norm(nn.Linear(4, 3), n_power_iterations=20)
    assert abs(torch.linalg.matrix_norm(normed.weight, 2).item() - 1) < 1e-3


def test_lazy_layers():
    from edgegrad.torch.nn.parameter import UninitializedParameter

    net = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(2))
    assert isinstance(net[0].weight, UninitializedParameter) and net[0].has_uninitialized_params()
    copied = copy.deepcopy(net)
    net.double()
    assert net(torch.rand(5, 3, 6, 6, dtype=torch.float64)).shape == (5, 2)
    assert [type(layer) for layer in net] == [nn.Conv2d, nn.BatchNorm2d, nn.Flatten, nn.Linear]
    assert net[0].weight.shape == (4, 3, 3, 3) and net[3].in_features == 64 and net[3].weight.dtype is torch.float64
    copied.load_state_dict(net.float().state_dict())
    assert torch.equal(copied[3].weight, net[3].weight) and copied(torch.rand(5, 3, 6, 6)).shape == (5, 2)
    waiting = nn.LazyLinear(2)
    for fails in (lambda: waiting.weight + 1, lambda: torch.optim.SGD(waiting.parameters(), lr=0.1)):
        try:
            fails()
        except ValueError as error:
            assert "uninitialized" in str(error)
        else:
            raise AssertionError("a parameter without a shape was used")


def test_orthogonal_weights():
    for shape in ((4, 4), (5, 3), (3, 5)):
        for way, constant in (("matrix_exp", True), ("cayley", True), ("householder", True), ("householder", False)):
            net = nn.Linear(*shape)
            torch.nn.utils.parametrizations.orthogonal(net, "weight", way, use_trivialization=constant)
            given = torch.linalg.qr(torch.randn(max(shape), min(shape))).Q
            net.weight = given = given if shape[1] >= shape[0] else given.mT
            assert torch.allclose(net.weight, given, atol=1e-4), (shape, way, constant)
            weight = net.weight if shape[1] >= shape[0] else net.weight.mT
            assert torch.allclose(weight.mT @ weight, torch.eye(min(shape)), atol=1e-4)


def test_older_norms_of_weights():
    x, net = torch.randn(2, 4), nn.Linear(4, 3)
    before = net(x)
    nn.utils.weight_norm(net)
    assert net.weight_g.shape == (3, 1) and torch.allclose(net(x), before, atol=1e-5)
    assert len(net._forward_pre_hooks) == 1
    nn.utils.remove_weight_norm(net)
    assert isinstance(net.weight, nn.Parameter) and torch.allclose(net(x), before, atol=1e-5)
    nn.utils.spectral_norm(net, n_power_iterations=20)
    net(x)
    assert abs(torch.linalg.matrix_norm(net.weight, 2).item() - 1) < 1e-3
    nn.utils.remove_spectral_norm(net)
    assert not net._forward_pre_hooks and "weight_orig" not in net.state_dict()


def test_what_modules_refuse():
    def refused(kind, call):
        try:
            call()
        except kind:
            return
        raise AssertionError(f"no {kind.__name__}")

    refused(ValueError, lambda: nn.Conv1d(3, 3, 3, padding="foo"))
    refused(ValueError, lambda: nn.Conv2d(3, 3, 3, stride=2, padding="same"))
    refused(TypeError, lambda: nn.Module().register_buffer(1, torch.rand(1)))
    refused(RuntimeError, lambda: nn.Linear(2, 1, bias=False).load_state_dict({"weight": ((1.0, 1.0),)}))
    refused(ValueError, lambda: nn.FractionalMaxPool2d(2, output_size=1, output_ratio=0.5))
    assert nn.FractionalMaxPool2d(2, output_size=1)(torch.ones(1, 1, 4, 4)).item() == 1
