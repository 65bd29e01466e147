"""torch.save, torch.load, pickle and copies."""

import copy
import io
import pickle

import edgegrad.torch as torch
from edgegrad.torch import nn


def saved(value, **options):
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file, **options)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 1)
        self.register_buffer("scale", torch.ones(1))

    def forward(self, x):
        return self.layer(x) * self.scale


def test_values_of_every_kind():
    value = {
        "state": nn.Linear(2, 1).state_dict(),
        "epoch": 3,
        "tuple": (torch.tensor([1, 2]), torch.tensor([0.5, -2.0], dtype=torch.bfloat16)),
        "half": torch.tensor([0.5], dtype=torch.float16),
        "parameter": nn.Parameter(torch.ones(1)),
        "complex": torch.tensor([1 + 2j]),
        "bool": torch.tensor([True, False]),
        "size": torch.Size([1, 2]),
        "dtype": torch.float32,
        "device": torch.device("cpu"),
        "scalar": torch.tensor(2.5),
        "empty": torch.zeros(0, 3),
    }
    found = saved(value)
    assert list(found["state"]) == ["weight", "bias"] and found["epoch"] == 3
    assert found["state"]["weight"].tolist() == value["state"]["weight"].tolist()
    assert found["tuple"][1].tolist() == [0.5, -2] and found["tuple"][1].dtype is torch.bfloat16
    assert found["half"].item() == 0.5 and type(found["parameter"]) is nn.Parameter
    assert found["complex"].item() == 1 + 2j and found["bool"].tolist() == [True, False]
    assert found["size"] == (1, 2) and found["dtype"] is torch.float32 and found["device"] == torch.device("cpu")
    assert found["scalar"].item() == 2.5 and found["empty"].shape == (0, 3)


def test_a_shared_tensor_is_shared_again():
    x = torch.ones(2)
    found = saved([x, x])
    assert found[0] is found[1]


def test_modules_need_trust():
    net = nn.Sequential(nn.Linear(2, 1), nn.ReLU())
    try:
        saved(net)
    except pickle.UnpicklingError as error:
        assert "weights_only=False" in str(error)
    else:
        raise AssertionError("not refused")
    assert saved(net, weights_only=False)[0].weight.tolist() == net[0].weight.tolist()


def test_a_file_on_the_disk():
    torch.save(torch.ones(2), "/tmp/one.pt")
    assert torch.load("/tmp/one.pt").tolist() == [1, 1]


def test_modules_can_be_copied_and_pickled():
    net = Net()
    for made in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert made.layer.weight is not net.layer.weight
        assert made.layer.weight.tolist() == net.layer.weight.tolist()
        assert list(made.state_dict()) == ["scale", "layer.weight", "layer.bias"]
        made.layer.weight.data.fill_(7)
    assert 7 not in net.layer.weight


def test_tied_parameters_remain_tied():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    net[1].weight = net[0].weight
    made = copy.deepcopy(net)
    assert made[0].weight is made[1].weight and len(list(made.parameters())) == 3
