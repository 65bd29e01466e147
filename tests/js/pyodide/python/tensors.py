"""torch.Tensor as PyTorch's: every line of CASES is what it is called and an expression that is true."""

import array
import copy
import pickle
import warnings

import edgegrad.torch as torch
import edgegrad.torch.nn.functional as F
from edgegrad.torch import nn

t = torch.tensor


def raises(kind, call):
    try:
        call()
    except kind:
        return True
    return False


def iadd():
    x = t([1.0])
    y = x
    x += 1
    return x is y and y.item() == 2


def leaf():
    x = torch.ones(2, requires_grad=True)
    x += 1


def seti(index, value):
    x = t([1, 2, 3])
    x[index] = value
    return x.tolist()


def outk():
    out = torch.empty(2)
    made = torch.add(t([1.0, 2.0]), 1, out=out)
    return out.tolist() == [2, 3] and made is out


def dataa():
    p = nn.Parameter(torch.ones(2))
    p.data = torch.zeros(2)
    return p.tolist() == [0, 0]


def data_of_another_shape():
    p = nn.Parameter(torch.ones(2))
    p.data = torch.zeros(3, dtype=torch.float64)
    return p.shape == (3,) and p.dtype is torch.float64 and p.requires_grad


def dc():
    x = torch.ones(2, requires_grad=True)
    y = copy.deepcopy(x)
    return y.requires_grad and y is not x and y.is_leaf


def buf():
    return torch.tensor(array.array("f", [1, 2])).tolist() == [1, 2]


CASES = r"""
add scalar int | (t([1,2])+1).tolist() == [2,3]
float scalar lifts int tensor | (t([1,2])*2.0).dtype == torch.float32
int scalar keeps int | (t([1,2])*2).dtype == torch.int64
bool scalar | (t([1,2])+True).tolist() == [2,3]
complex scalar | (t([1.,2.])*(1+2j)).dtype == torch.complex64
radd | (1+t([1.])).item() == 2
rsub | (1-t([3.])).item() == -2
rtruediv | (6/t([3.])).item() == 2
rpow | (2**t([3.])).item() == 8
rmod | (7%t([4])).item() == 3
rfloordiv | (7//t([2])).item() == 3
floordiv negative | (t([-7])//2).item() == -4
mod negative | (t([-7])%3).item() == 2
matmul op | (t([[1.,2.]])@t([[3.],[4.]])).item() == 11
rmatmul unsupported list | raises(TypeError, lambda: [1,2]@t([1.,2.]))
neg abs pos | (-t([1.])).item()==-1 and abs(t([-2.])).item()==2 and (+t([1.])).item()==1
invert bool | (~t([True,False])).tolist() == [False,True]
and or xor | (t([True,True])&t([True,False])).tolist()==[True,False] and (t([1])|2).item()==3
shift | (t([1])<<3).item() == 8
compare chain returns tensor | (t([1,2])<2).dtype == torch.bool
eq none | (t([1])==None) is False
in-place iadd keeps identity | iadd()
in-place on leaf raises | raises(RuntimeError, leaf)
index int | t([[1,2],[3,4]])[1].tolist() == [3,4]
index negative | t([1,2,3])[-1].item() == 3
slice step | t([1,2,3,4])[::2].tolist() == [1,3]
slice negative bounds | t([1,2,3,4])[-3:-1].tolist() == [2,3]
slice negative step refused | raises(ValueError, lambda: t([1,2])[::-1])
slice past end | t([1,2])[1:100].tolist() == [2]
ellipsis | torch.zeros(2,3,4)[...,0].shape == (2,3)
none | t([1,2])[:,None].shape == (2,1)
bool mask | t([1,2,3])[t([True,False,True])].tolist() == [1,3]
bool mask list | t([1,2,3])[[True,False,True]].tolist() == [1,3]
int list | t([1,2,3])[[2,0]].tolist() == [3,1]
tuple of tensors | t([[1,2],[3,4]])[t([0,1]),t([1,0])].tolist() == [2,3]
scalar bool index | t([1,2])[True].shape == (1,2)
range index | t([1,2,3])[range(2)].tolist() == [1,2]
setitem int | seti(0, 9) == [9,2,3]
setitem slice scalar | seti(slice(0,2), 0) == [0,0,3]
setitem mask | seti(t([True,False,True]), 7) == [7,2,7]
setitem tensor | seti(slice(1,3), t([5,6])) == [1,5,6]
index out of range | raises(IndexError, lambda: t([1,2])[5])
shape is Size | torch.zeros(2,3).shape == (2,3) and repr(torch.zeros(2,3).shape) == 'torch.Size([2, 3])' and torch.zeros(2,3).shape.numel()==6
size(dim) | torch.zeros(2,3).size(-1) == 3 and torch.zeros(2,3).size() == (2,3)
T 2d | t([[1,2]]).T.shape == (2,1)
len iter unpack | (lambda a,b: a.item()+b.item())(*t([1,2])) == 3
iterate 0-d raises | raises(TypeError, lambda: list(t(1)))
contains | 2 in t([1,2])
bool of many raises | raises(RuntimeError, lambda: bool(t([1,2])))
int float index | int(t(3.7))==3 and float(t(2))==2.0 and [0,1,2][t(1)]==1
item types | type(t(1).item()) is int and type(t(1.).item()) is float and type(t(True).item()) is bool
item big int | t(2**53+1).item() == 2**53+1
complex item | t(1+2j).item() == 1+2j
format | f"{t(3.14159):.2f}" == '3.14'
repr | repr(t([1.,2.5])) == 'tensor([1.0000, 2.5000])'
repr int grad | 'requires_grad=True' in repr(torch.ones(2, requires_grad=True))
hash identity | len({t([1]),t([1])}) == 2
keyword dim keepdim | t([[1.,2.]]).sum(dim=1, keepdim=True).shape == (1,1)
kw input | torch.sum(input=t([1.,2.])).item() == 3
namedtuple max | t([[1,3,2]]).max(dim=1).indices.item() == 1
sort unpack | (lambda v,i: i.tolist())(*t([3,1,2]).sort()) == [1,2,0]
varargs view | torch.zeros(6).view(2,3).shape == torch.zeros(6).view((2,3)).shape
view -1 | torch.zeros(6).view(-1,2).shape == (3,2)
permute varargs | torch.zeros(2,3,4).permute(2,0,1).shape == (4,2,3)
expand -1 | torch.zeros(1,3).expand(2,-1).shape == (2,3)
torch.cat | torch.cat([t([1]),t([2])]).tolist() == [1,2]
torch.stack dim | torch.stack((t([1]),t([2])), dim=1).shape == (1,2)
where scalar | torch.where(t([True,False]), 1.0, 0.0).tolist() == [1.0,0.0]
einsum | torch.einsum('ij,jk->ik', torch.ones(2,3), torch.ones(3,2)).sum().item() == 12
arange float | torch.arange(0,1,0.25).dtype == torch.float32
full int | torch.full((2,), 3).dtype == torch.int64
dtype conversions | t([1.5]).long().item() == 1 and t([1]).float().dtype == torch.float32
to dtype kw | t([1]).to(dtype=torch.float64).dtype == torch.float64
new_zeros | t([1.],).new_zeros(2).shape == (2,)
out= | outk()
data assign | dataa()
from array buffer | buf()
int8 | t([1], dtype=torch.int8).dtype.itemsize == 1
Tensor subclass isinstance | isinstance(nn.Parameter(torch.ones(1)), torch.Tensor)
unbiased | t([1.,2.]).std(unbiased=False).item() == 0.5
inplace relu | F.relu(t([-1.,1.]), inplace=True).tolist() == [0,1]
cross_entropy options | abs(F.cross_entropy(t([[1.,2.]]), t([1]), label_smoothing=0.1).item() - 0.3633) < 1e-3
data assign of another shape | data_of_another_shape()
deepcopy | dc()
pickle | pickle.loads(pickle.dumps(t([1.,2.]))).tolist()==[1,2]
pickle of a parameter | type(pickle.loads(pickle.dumps(nn.Parameter(t([1.]))))) is nn.Parameter
clamp keyword | t([1.,5.]).clamp(max=2).tolist() == [1,2]
default in the middle | F.cross_entropy(t([[1.,2.]]), t([1]), reduction='sum').ndim == 0
axis for dim | t([[1.,2.]]).sum(axis=0).tolist() == [1,2]
unknown keyword | raises(TypeError, lambda: t([1.]).sum(nonsense=1))
too many arguments | raises(TypeError, lambda: t([1.]).relu(1, 2, 3))
missing name | raises(AttributeError, lambda: torch.nonsense)
missing method | raises(AttributeError, lambda: t([1.]).nonsense())
memory_format changes nothing | torch.rand(1, 1, 2, 2).contiguous(memory_format=torch.channels_last).is_contiguous()
pin_memory refused | raises(NotImplementedError, lambda: torch.zeros(2, pin_memory=True))
cuda refused | raises(RuntimeError, lambda: torch.zeros(2).to('cuda'))
cuda not available | torch.cuda.is_available() is False
wrong shapes are RuntimeError | raises(RuntimeError, lambda: torch.ones(2) + torch.ones(3))
errors have codes | code_of(lambda: torch.ones(2) + torch.ones(3)) == 'ShapeMismatch'
out of memory | raises(torch.OutOfMemoryError, lambda: torch.empty(1 << 17, 1 << 17))
limits of integers remain numbers | t([0, 5]).clamp(min=1.0).tolist() == [1, 5]
a float of a factory is a number | torch.full((2,), 3.0).tolist() == [3, 3]
ragged list | raises(ValueError, lambda: t([[1,2],[3]]))
text in a list | raises(TypeError, lambda: t(['a']))
overflow | raises(RuntimeError, lambda: t([300], dtype=torch.uint8))
memoryview | torch.tensor(memoryview(array.array('d', [1.5]))).dtype is torch.float64
frombuffer | torch.frombuffer(bytes([1,0,2,0]), dtype=torch.int16).tolist() == [1,2]
empty list | t([]).shape == (0,)
nested empty | t([[],[]]).shape == (2,0)
tensors in a list | t([t(1.), t(2.)]).tolist() == [1,2]
tolist of empty | torch.zeros(2,0).tolist() == [[],[]]
half values | t([0.5], dtype=torch.float16).tolist() == [0.5]
bool tolist | t([True]).tolist() == [True]
Size slice | type(torch.zeros(2,3,4).shape[1:]) is torch.Size
Size arithmetic | torch.zeros(2).shape + (3,) == (2,3)
dtype pickles | pickle.loads(pickle.dumps(torch.float32)) is torch.float32
Parameter repr | repr(nn.Parameter(t([1.]))).startswith('Parameter containing:\ntensor([1.]')
float literal in where | torch.where(t([True]), t([1]), 2.5).tolist() == [1.0]
pow of int and negative float | (t([4])**0.5).item() == 2
rdiv of ints | (1/t([4])).item() == 0.25
inplace on ints | imul()
setitem list | setlist() == [[7,8],[0,0]]
device constructor | torch.device('webgpu:0').type == 'webgpu'
finfo | torch.finfo(torch.float32).max > 3e38
result_type | torch.result_type(t([1]), 1.5) is torch.float32
legacy tensor | torch.Tensor(2,3).shape == (2,3) and torch.Tensor([1,2]).dtype is torch.float32
FloatTensor | torch.FloatTensor([1]).dtype is torch.float32
Generator | torch.rand(2, generator=torch.Generator().manual_seed(1)).tolist() == torch.rand(2, generator=torch.Generator().manual_seed(1)).tolist()
manual_seed | (torch.manual_seed(3), torch.rand(1))[1].item() == (torch.manual_seed(3), torch.rand(1))[1].item()
complex list | t([1+2j]).imag.tolist() == [2]
as_tensor is itself | (lambda x: torch.as_tensor(x) is x)(t([1.]))
in-place method is itself | (lambda x: x.add_(1) is x)(t([1.]))
docs | 'sum' in torch.sum.__doc__.lower()
"""


def code_of(call):
    try:
        call()
    except torch.EdgeGradError as error:
        return error.code


def imul():
    x = t([2, 3])
    x *= 2
    x //= 3
    return x.tolist() == [1, 2]


def setlist():
    x = torch.zeros(2, 2, dtype=torch.int64)
    x[0] = [7, 8]
    return x.tolist()


def test_every_case():
    bad = []
    for line in CASES.strip().splitlines():
        name, code = line.split(" | ", 1)
        try:
            if not eval(code, globals()):
                bad.append(f"{name}: {code}")
        except Exception as error:
            bad.append(f"{name}: {type(error).__name__}: {error}")
    assert not bad, "\n".join(bad)


def test_text_is_as_in_pytorch():
    assert repr(t([1.0, 2.5])) == "tensor([1.0000, 2.5000])"
    assert repr(torch.ones(2, requires_grad=True)) == "tensor([1., 1.], requires_grad=True)"
    assert f"{t(3.14159):.2f}" == "3.14"
    assert str(torch.device("cpu")) == "cpu" and repr(torch.device("cpu")) == "device(type='cpu')"
    assert repr(torch.float32) == "torch.float32" and repr(t([1]).shape) == "torch.Size([1])"


async def test_item_async():
    assert await t(2.5).item_async() == 2.5


def test_the_default_device():
    assert torch.get_default_device() == torch.device("cpu")
    torch.set_default_device("cpu")
    with torch.device("cpu") as inner:
        assert inner == torch.zeros(2).device == torch.tensor([1.0]).device == torch.get_default_device()
    torch.set_default_device("cuda")
    try:
        assert torch.get_default_device().type == "cuda"
        with torch.device("cpu"):
            assert torch.arange(3).device.type == "cpu"
        for make in (lambda: torch.zeros(2), lambda: torch.tensor([1]), lambda: torch.nn.Linear(2, 2)):
            try:
                make()
            except Exception as error:
                assert "cuda" in str(error)
            else:
                raise AssertionError("a tensor on a device that is not there")
    finally:
        torch.set_default_device(None)
    assert torch.zeros(1).device.type == "cpu"


def test_keywords_of_either_zero():
    x = torch.ones(2)
    for _ in range(2):
        for zero, sign in ((0.0, False), (-0.0, True)):
            assert x.masked_fill(mask=x > 0, value=zero).signbit().tolist() == [sign] * 2
            assert F.threshold(x, threshold=2.0, value=zero).signbit().tolist() == [sign] * 2


def test_mixed_precision_for_cuda_warns_and_does_nothing():
    from edgegrad.torch.cuda.amp import GradScaler, autocast

    x = torch.ones(2, 2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scaler = GradScaler()
        with autocast(), torch.autocast("cuda", dtype=torch.float16):
            assert (x @ x).dtype == torch.float32
    assert len(caught) == 3 and all("no CUDA" in str(one.message) for one in caught)
    assert not scaler.is_enabled() and scaler.scale(x.sum()).item() == 4
    assert not torch.cuda.amp.GradScaler(enabled=False).is_enabled()


def test_dtypes_and_layouts_are_printed_as_in_pytorch():
    assert repr(torch.ones(1, dtype=torch.float64)) == "tensor([1.], dtype=torch.float64)"
    assert repr(torch.tensor([2], dtype=torch.int32)) == "tensor([2], dtype=torch.int32)"
    assert repr(torch.ones(1).to_sparse()).endswith("nnz=1, layout=torch.sparse_coo)")
    assert repr(torch.ones(1, dtype=torch.float64).to_sparse()).endswith("nnz=1, dtype=torch.float64, layout=torch.sparse_coo)")
    assert (torch.ones(1, requires_grad=True) * 2).grad_fn.name() == "MulBackward0"


def test_set_shares_memory_and_keeps_the_object():
    a, b = torch.zeros(3), torch.ones(2)
    same = a.set_(b)
    b.add_(1)
    assert same is a and a.tolist() == [2, 2] and a.shape == (2,)
    try:
        a.set_(torch.ones(2, dtype=torch.int64))
    except RuntimeError:
        return
    raise AssertionError("a tensor of another dtype was taken")


def test_unbiased_by_position():
    x = torch.tensor([[1.0, 3.0]])
    assert x.var(1, False).item() == 1 and torch.var(x, False).item() == 1 and torch.std(x, [1], False, True).shape == (1, 1)
