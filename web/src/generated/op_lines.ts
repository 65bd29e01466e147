// Written by scripts/generating/generate_ops.mjs from op_table.json. Do not edit.

/** One line for each op, in the order of their ids; dispatch/op_lines.ts parses them. */
export const kOpLines = `\
add:mi input:operand other:operand alpha:number(other)=1
sub:mi input:operand other:operand alpha:number(other)=1
mul:mi input:operand other:operand
div:mi input:operand other:operand roundingMode:choice(null|floor|trunc)=null
neg:mi input:operand
reciprocal:mi input:operand
square:mi input:operand
fmod:mi input:operand other:operand
remainder:mi input:operand other:operand
floor_divide:mi input:operand other:operand
lerp:mi input:operand end:operand weight:operand
addcmul:mi input:operand tensor1:operand tensor2:operand value:number(tensor1)=1
addcdiv:mi input:operand tensor1:operand tensor2:operand value:number(tensor1)=1
eq:mi input:operand other:operand
ne:mi input:operand other:operand
lt:mi input:operand other:operand
le:mi input:operand other:operand
gt:mi input:operand other:operand
ge:mi input:operand other:operand
logical_and:mi input:operand other:operand
logical_or:mi input:operand other:operand
logical_xor:mi input:operand other:operand
logical_not:mi input:operand
signbit:m input:operand
isnan:m input:operand
isinf:m input:operand
isfinite:m input:operand
where:mf condition:operand input:operand other:operand
masked_fill:mi input:operand mask:operand value:operand
maximum:mi input:operand other:operand
minimum:mi input:operand other:operand
fmax:mi input:operand other:operand
fmin:mi input:operand other:operand
clamp:mi input:operand min:operand?=null max:operand?=null
clamp_min:mi input:operand min:operand
clamp_max:mi input:operand max:operand
heaviside:mi input:operand values:operand
nan_to_num:mi input:operand nan:number?=null posinf:number?=null neginf:number?=null
copysign:mi input:operand other:operand
abs:mi input:operand
sign:mi input:operand
sgn:mi input:operand
floor:mi input:operand
ceil:mi input:operand
round:mi input:operand decimals:number=0
trunc:mi input:operand
frac:mi input:operand
exp:mi input:operand
exp2:mi input:operand
expm1:mi input:operand
log:mi input:operand
log2:mi input:operand
log10:mi input:operand
log1p:mi input:operand
sqrt:mi input:operand
rsqrt:mi input:operand
pow:mi input:operand exponent:operand
logaddexp:mi input:operand other:operand
logaddexp2:mi input:operand other:operand
xlogy:mi input:operand other:operand
xlog1py:mi input:operand other:operand
entr:mi input:operand
logit:mi input:operand eps:number=-1
sin:mi input:operand
cos:mi input:operand
tan:mi input:operand
asin:mi input:operand
acos:mi input:operand
atan:mi input:operand
atan2:mi input:operand other:operand
hypot:mi input:operand other:operand
sinc:mi input:operand
sinh:mi input:operand
cosh:mi input:operand
tanh:mi input:operand
asinh:mi input:operand
acosh:mi input:operand
atanh:mi input:operand
erf:mi input:operand
erfc:mi input:operand
erfcx:mi input:operand
ndtr:mi input:operand
log_ndtr:mi input:operand
erfinv:mi input:operand
ndtri:mi input:operand
lgamma:mi input:operand
digamma:mi input:operand
polygamma:mf n:operand input:operand
zeta:mi input:operand other:operand
gammainc:mi input:operand other:operand
gammaincc:mi input:operand other:operand
i0e:mi input:operand
i1e:mi input:operand
i0:mi input:operand
i1:mi input:operand
bitwise_and:mi input:operand other:operand
bitwise_or:mi input:operand other:operand
bitwise_xor:mi input:operand other:operand
bitwise_not:mi input:operand
bitwise_left_shift:mi input:operand other:operand
bitwise_right_shift:mi input:operand other:operand
gcd:mi input:operand other:operand
lcm:mi input:operand other:operand
relu:mi input:operand
relu6:mi input:operand
leaky_relu:mi input:operand negativeSlope:number=0.01
elu:mi input:operand alpha:number=1
selu:mi input:operand
celu:mi input:operand alpha:number=1
sigmoid:mi input:operand
logsigmoid:mi input:operand
silu:mi input:operand
mish:mi input:operand
gelu:mi input:operand approximate:choice(none|tanh)=none
softplus:mi input:operand beta:number=1 threshold:number=20
softsign:mi input:operand
tanhshrink:mi input:operand
softshrink:mi input:operand lambd:number=0.5
hardshrink:mi input:operand lambd:number=0.5
hardtanh:mi input:operand minVal:number=-1 maxVal:number=1
hardsigmoid:mi input:operand
hardswish:mi input:operand
clone:m input:tensor
contiguous:m input:tensor
to_dtype: input:tensor dtype:dtype
copy_:m input:tensor source:operand
fill_:m input:tensor value:operand
zero_:m input:tensor
as_strided:m input:tensor size:ints stride:ints storageOffset:int?=null
view:m input:tensor shape:ints
view_dtype: input:tensor dtype:dtype
reshape:m input:tensor shape:ints
view_as:m input:tensor other:tensor
flatten:m input:tensor startDim:int=0 endDim:int=-1
unflatten:m input:tensor dim:int sizes:ints
transpose:mi input:tensor dim0:int dim1:int
swapaxes:mi input:tensor axis0:int axis1:int
t:mi input:tensor
permute:m input:tensor dims:ints
movedim:m input:tensor source:ints destination:ints
squeeze:mi input:tensor dim:ints?=null
unsqueeze:mi input:tensor dim:int
expand:m input:tensor size:ints
expand_as:m input:tensor other:tensor
broadcast_to:m input:tensor shape:ints
detach:m input:tensor
slice: input:tensor dim:int=0 start:int?=null end:int?=null step:int=1
narrow:m input:tensor dim:int start:int length:int
select:m input:tensor dim:int index:int
split_with_sizes:ms input:tensor splitSizes:ints dim:int=0
split:ms input:tensor splitSize:ints dim:int=0
chunk:ms input:tensor chunks:int dim:int=0
unbind:ms input:tensor dim:int=0
diagonal:m input:tensor offset:int=0 dim1:int=0 dim2:int=1
unfold:m input:tensor dimension:int size:int step:int
cat: tensors:tensors dim:int=0
stack: tensors:tensors dim:int=0
hstack: tensors:tensors
vstack: tensors:tensors
meshgrid:s tensors:tensors indexing:choice(ij|xy)=ij
repeat:m input:tensor repeats:ints
tile:m input:tensor dims:ints
flip:m input:tensor dims:ints
roll:m input:tensor shifts:ints dims:ints?=null
rot90:m input:tensor k:int=1 dims:ints=[0,1]
tril:mi input:tensor diagonal:int=0
triu:mi input:tensor diagonal:int=0
diag:m input:tensor diagonal:int=0
trace:m input:tensor
fill_diagonal_:m input:tensor fillValue:scalar wrap:bool=false
index_select:m input:tensor dim:int index:tensor
index_add:mi input:tensor dim:int index:tensor source:tensor alpha:scalar(source)=1
index_copy:mi input:tensor dim:int index:tensor source:tensor
index_fill:mi input:tensor dim:int index:tensor value:operand
gather:m input:tensor dim:int index:tensor sparseGrad:bool=false
scatter:mi input:tensor dim:int index:tensor src:operand reduce:choice(none|add|multiply)=none
scatter_add:mi input:tensor dim:int index:tensor src:tensor
scatter_reduce:mi input:tensor dim:int index:tensor src:tensor reduce:choice(sum|prod|mean|amax|amin) includeSelf:bool=true
index_reduce:mi input:tensor dim:int index:tensor source:tensor reduce:choice(sum|prod|mean|amax|amin) includeSelf:bool=true
take_along_dim:m input:tensor indices:tensor dim:int?=null
take:m input:tensor index:tensor
masked_select:m input:tensor mask:tensor
masked_scatter:mi input:tensor mask:tensor source:tensor
nonzero:m input:tensor
repeat_interleave:m input:tensor repeats:operand dim:int?=null
one_hot:m input:tensor numClasses:int=-1
searchsorted:m sortedSequence:tensor input:operand outInt32:bool=false right:bool=false side:choice(null|left|right)=null sorter:tensor?=null
bucketize:m input:operand boundaries:tensor outInt32:bool=false right:bool=false
embedding:m input:tensor weight:tensor paddingIdx:int?=null sparse:bool=false
index: input:tensor indices:tensors dims:ints
index_put:m input:tensor indices:tensors values:operand accumulate:bool=false
index_put_:m input:tensor indices:tensors values:operand accumulate:bool=false dims:ints?=null
zeros: size:ints dtype:dtype?=null
ones: size:ints dtype:dtype?=null
full: size:ints fillValue:scalar dtype:dtype?=null
empty: size:ints dtype:dtype?=null
arange: start:scalar end:scalar?=null step:scalar=1 dtype:dtype?=null
linspace: start:number end:number steps:int dtype:dtype?=null
eye: n:int m:int?=null dtype:dtype?=null
zeros_like: input:tensor dtype:dtype?=null
ones_like: input:tensor dtype:dtype?=null
full_like: input:tensor fillValue:scalar dtype:dtype?=null
empty_like: input:tensor dtype:dtype?=null
rand:g size:ints dtype:dtype?=null
randn:g size:ints dtype:dtype?=null
randint:g low:int high:ints size:ints?=null dtype:dtype?=null
randperm:g n:int dtype:dtype?=null
rand_like:g input:tensor dtype:dtype?=null
randn_like:g input:tensor dtype:dtype?=null
uniform_:mg input:tensor from:number=0 to:number=1
normal_:mg input:tensor mean:number=0 std:number=1
random_:mg input:tensor from:scalar?=null to:scalar?=null
exponential_:mg input:tensor lambd:number=1
bernoulli_:mg input:tensor p:number=0.5
bernoulli:mg input:tensor
dropout:m input:tensor p:number=0.5 training:bool=true
sum:m input:tensor dim:ints?=null keepdim:bool=false dtype:dtype?=null
mean:m input:tensor dim:ints?=null keepdim:bool=false dtype:dtype?=null
prod:m input:tensor dim:int?=null keepdim:bool=false dtype:dtype?=null
any:m input:tensor dim:ints?=null keepdim:bool=false
all:m input:tensor dim:ints?=null keepdim:bool=false
amax:m input:tensor dim:ints?=null keepdim:bool=false
amin:m input:tensor dim:ints?=null keepdim:bool=false
max:mo input:tensor dim:operand?=null keepdim:bool=false
min:mo input:tensor dim:operand?=null keepdim:bool=false
argmax:m input:tensor dim:int?=null keepdim:bool=false
argmin:m input:tensor dim:int?=null keepdim:bool=false
var:m input:tensor dim:ints?=null correction:number=1 keepdim:bool=false unbiased:bool?=null
std:m input:tensor dim:ints?=null correction:number=1 keepdim:bool=false unbiased:bool?=null
norm: input:tensor p:number=2 dim:ints?=null keepdim:bool=false
logsumexp:m input:tensor dim:ints keepdim:bool=false
nansum:m input:tensor dim:ints?=null keepdim:bool=false dtype:dtype?=null
nanmean:m input:tensor dim:ints?=null keepdim:bool=false dtype:dtype?=null
count_nonzero:m input:tensor dim:ints?=null
aminmax:ms input:tensor dim:int?=null keepdim:bool=false
var_mean:ms input:tensor dim:ints?=null correction:number=1 keepdim:bool=false unbiased:bool?=null
std_mean:ms input:tensor dim:ints?=null correction:number=1 keepdim:bool=false unbiased:bool?=null
prelu:m input:tensor weight:tensor
threshold:mi input:tensor threshold:scalar value:scalar
isclose:m input:tensor other:tensor rtol:number=0.00001 atol:number=1e-8 equalNan:bool=false
softmax:m input:tensor dim:int dtype:dtype?=null
log_softmax:m input:tensor dim:int dtype:dtype?=null
softmin:m input:tensor dim:int dtype:dtype?=null
cross_entropy:m input:tensor target:tensor weight:tensor?=null ignoreIndex:int=-100 reduction:choice(none|mean|sum)=mean labelSmoothing:number=0
nll_loss:m input:tensor target:tensor weight:tensor?=null ignoreIndex:int=-100 reduction:choice(none|mean|sum)=mean
mse_loss:m input:tensor target:tensor reduction:choice(none|mean|sum)=mean
l1_loss:m input:tensor target:tensor reduction:choice(none|mean|sum)=mean
smooth_l1_loss:m input:tensor target:tensor reduction:choice(none|mean|sum)=mean beta:number=1
huber_loss:m input:tensor target:tensor reduction:choice(none|mean|sum)=mean delta:number=1
binary_cross_entropy:m input:tensor target:tensor weight:tensor?=null reduction:choice(none|mean|sum)=mean
binary_cross_entropy_with_logits:m input:tensor target:tensor weight:tensor?=null reduction:choice(none|mean|sum)=mean posWeight:tensor?=null
kl_div:m input:tensor target:tensor reduction:choice(none|mean|sum|batchmean)=mean logTarget:bool=false
margin_ranking_loss:m input1:tensor input2:tensor target:tensor margin:number=0 reduction:choice(none|mean|sum)=mean
hinge_embedding_loss:m input:tensor target:tensor margin:number=1 reduction:choice(none|mean|sum)=mean
soft_margin_loss:m input:tensor target:tensor reduction:choice(none|mean|sum)=mean
cosine_embedding_loss:m input1:tensor input2:tensor target:tensor margin:number=0 reduction:choice(none|mean|sum)=mean
triplet_margin_loss:m anchor:tensor positive:tensor negative:tensor margin:number=1 p:number=2 eps:number=0.000001 swap:bool=false reduction:choice(none|mean|sum)=mean
multi_margin_loss:m input:tensor target:tensor p:number=1 margin:number=1 weight:tensor?=null reduction:choice(none|mean|sum)=mean
multilabel_margin_loss:m input:tensor target:tensor reduction:choice(none|mean|sum)=mean
multilabel_soft_margin_loss:m input:tensor target:tensor weight:tensor?=null reduction:choice(none|mean|sum)=mean
poisson_nll_loss:m input:tensor target:tensor logInput:bool=true full:bool=false eps:number=1e-8 reduction:choice(none|mean|sum)=mean
gaussian_nll_loss:m input:tensor target:tensor var:operand full:bool=false eps:number=0.000001 reduction:choice(none|mean|sum)=mean
mm:m input:tensor mat2:tensor
bmm:m input:tensor mat2:tensor
mv:m input:tensor vec:tensor
dot:m input:tensor tensor:tensor
matmul:m input:tensor other:tensor
addmm:mi input:tensor mat1:tensor mat2:tensor beta:scalar(input)=1 alpha:scalar(mat1)=1
baddbmm:mi input:tensor batch1:tensor batch2:tensor beta:scalar(input)=1 alpha:scalar(batch1)=1
linear:m input:tensor weight:tensor bias:tensor?=null
bilinear:m input1:tensor input2:tensor weight:tensor bias:tensor?=null
outer:m input:tensor vec2:tensor
einsum: equation:ints operands:tensors
quantize:ms input:tensor bits:int=8 groupSize:int?=null
dequantize:m input:tensor scale:tensor bits:int=8 groupSize:int?=null
quantized_linear:m input:tensor weight:tensor scale:tensor bias:tensor?=null bits:int=8 groupSize:int?=null
det:m input:tensor
slogdet:ms input:tensor
inverse:m input:tensor
cholesky:m input:tensor upper:bool=false
solve:m A:tensor B:tensor left:bool=true
kron:m input:tensor other:tensor
cross:m input:tensor other:tensor dim:int=-1
qr:ms A:tensor mode:choice(reduced|complete|r)=reduced
svd:ms A:tensor fullMatrices:bool=true
svdvals:m A:tensor
eigh:ms A:tensor UPLO:choice(L|U)=L
eigvalsh:m A:tensor UPLO:choice(L|U)=L
eig:ms A:tensor
eigvals:m A:tensor
balance_ratios: A:tensor
solve_triangular:m A:tensor B:tensor upper:bool left:bool=true unitriangular:bool=false
lu_factor:ms A:tensor pivot:bool=true
lu:ms A:tensor pivot:bool=true
pinv:m A:tensor atol:number?=null rtol:number?=null hermitian:bool=false
lstsq:ms A:tensor B:tensor rcond:number?=null driver:choice(gelsy|gels|gelsd|gelss)=gelsy
addmv:mi input:tensor mat:tensor vec:tensor beta:scalar(input)=1 alpha:scalar(vec)=1
addr:mi input:tensor vec1:tensor vec2:tensor beta:scalar(input)=1 alpha:scalar(vec1)=1
addbmm:mi input:tensor batch1:tensor batch2:tensor beta:scalar(input)=1 alpha:scalar(batch1)=1
renorm:mi input:tensor p:number dim:int maxnorm:number
layer_norm:m input:tensor normalizedShape:ints weight:tensor?=null bias:tensor?=null eps:number=0.00001
rms_norm:m input:tensor normalizedShape:ints weight:tensor?=null eps:number?=null
batch_norm:m input:tensor runningMean:tensor? runningVar:tensor? weight:tensor?=null bias:tensor?=null training:bool=false momentum:number=0.1 eps:number=0.00001
group_norm:m input:tensor numGroups:int weight:tensor?=null bias:tensor?=null eps:number=0.00001
instance_norm:m input:tensor runningMean:tensor?=null runningVar:tensor?=null weight:tensor?=null bias:tensor?=null useInputStats:bool=true momentum:number=0.1 eps:number=0.00001
normalize:m input:tensor p:number=2 dim:ints=1 eps:number=1e-12
cosine_similarity:m x1:tensor x2:tensor dim:int=1 eps:number=1e-8
pairwise_distance:m x1:tensor x2:tensor p:number=2 eps:number=0.000001 keepdim:bool=false
cdist:m x1:tensor x2:tensor p:number=2
glu:m input:tensor dim:int=-1
pad:m input:tensor pad:ints mode:choice(constant|reflect|replicate|circular)=constant value:number?=null
interpolate:m input:tensor size:ints?=null scaleFactor:numbers?=null mode:choice(nearest|linear|bilinear|bicubic|trilinear|nearest-exact|area)=nearest alignCorners:bool?=null recomputeScaleFactor:bool?=null
max_pool1d:mo input:tensor kernelSize:ints stride:ints?=null padding:ints=0 dilation:ints=1 ceilMode:bool=false returnIndices:bool=false
max_pool2d:mo input:tensor kernelSize:ints stride:ints?=null padding:ints=0 dilation:ints=1 ceilMode:bool=false returnIndices:bool=false
avg_pool1d:m input:tensor kernelSize:ints stride:ints?=null padding:ints=0 ceilMode:bool=false countIncludePad:bool=true
avg_pool2d:m input:tensor kernelSize:ints stride:ints?=null padding:ints=0 ceilMode:bool=false countIncludePad:bool=true divisorOverride:int?=null
adaptive_avg_pool2d:m input:tensor outputSize:sizes
adaptive_max_pool2d:mo input:tensor outputSize:sizes returnIndices:bool=false
conv1d:m input:tensor weight:tensor bias:tensor?=null stride:ints=1 padding:padding=0 dilation:ints=1 groups:int=1
conv2d:m input:tensor weight:tensor bias:tensor?=null stride:ints=1 padding:padding=0 dilation:ints=1 groups:int=1
conv_transpose1d:m input:tensor weight:tensor bias:tensor?=null stride:ints=1 padding:ints=0 outputPadding:ints=0 groups:int=1 dilation:ints=1
conv_transpose2d:m input:tensor weight:tensor bias:tensor?=null stride:ints=1 padding:ints=0 outputPadding:ints=0 groups:int=1 dilation:ints=1
scaled_dot_product_attention:m query:tensor key:tensor value:tensor attnMask:tensor?=null dropoutP:number=0 isCausal:bool=false scale:number?=null enableGqa:bool=false
lstm_steps:s inputGates:tensor hidden:tensor state:tensor weight:tensor bias:tensor?=null reverse:bool=false
gru_steps:s inputGates:tensor hidden:tensor weight:tensor bias:tensor?=null reverse:bool=false
rnn_steps:s inputGates:tensor hidden:tensor weight:tensor bias:tensor?=null nonlinearity:choice(tanh|relu)=tanh reverse:bool=false
sparse_tensor: values:tensor indices:tensor rowStarts:tensor? size:ints isCoalesced:bool
sparse_values: input:tensor recorded:bool
sparse_indices:s input:tensor
coalesce: input:tensor
to_sparse: input:tensor sparseDim:int?=null
to_sparse_csr: input:tensor denseDim:int?=null
to_dense: input:tensor
sparse_mask: input:tensor mask:tensor
sparse_sampled: mask:tensor mat1:tensor mat2:tensor
sparse_solve: input:tensor b:tensor
sort:ms input:tensor dim:int=-1 descending:bool=false stable:bool=false
argsort:m input:tensor dim:int=-1 descending:bool=false stable:bool=false
msort:m input:tensor
topk:ms input:tensor k:int dim:int=-1 largest:bool=true sorted:bool=true
kthvalue:ms input:tensor k:int dim:int=-1 keepdim:bool=false
median:mo input:tensor dim:int?=null keepdim:bool=false
nanmedian:mo input:tensor dim:int?=null keepdim:bool=false
mode:ms input:tensor dim:int=-1 keepdim:bool=false
cummax:ms input:tensor dim:int
cummin:ms input:tensor dim:int
distinct_elements:s input:tensor consecutive:bool withInverse:bool
cumsum:mi input:tensor dim:int dtype:dtype?=null
cumprod:mi input:tensor dim:int dtype:dtype?=null
logcumsumexp:m input:tensor dim:int
diff:m input:tensor n:int=1 dim:int=-1 prepend:tensor?=null append:tensor?=null
multinomial:mg input:tensor numSamples:int replacement:bool=false
poisson:mg input:tensor
binomial:mg count:tensor prob:tensor
normal:g mean:operand std:operand=1 size:ints?=null dtype:dtype?=null
rrelu:m input:tensor lower:number=0.125 upper:number=0.3333333333333333 training:bool=false
standard_gamma: alpha:tensor
sample_dirichlet: alpha:tensor
geometric_:mg input:tensor p:number
cauchy_:mg input:tensor median:number=0 sigma:number=1
log_normal_:mg input:tensor mean:number=1 std:number=2
view_as_real:m input:tensor
view_as_complex:m input:tensor
real:m input:tensor
imag:m input:tensor
conj:m input:tensor
angle:m input:tensor
complex:m real:tensor imag:tensor
polar:m abs:tensor angle:tensor
fft:m input:tensor n:int?=null dim:int=-1 norm:choice(backward|ortho|forward)=backward
ifft:m input:tensor n:int?=null dim:int=-1 norm:choice(backward|ortho|forward)=backward
rfft:m input:tensor n:int?=null dim:int=-1 norm:choice(backward|ortho|forward)=backward
irfft:m input:tensor n:int?=null dim:int=-1 norm:choice(backward|ortho|forward)=backward
check_step_:s params:tensors grads:tensors states:tensors
sgd_step_:s params:tensors grads:tensors momentumBuffers:tensors lr:number momentum:number dampening:number weightDecay:number nesterov:bool maximize:bool first:bool
adam_step_:s params:tensors grads:tensors expAvgs:tensors expAvgSqs:tensors maxExpAvgSqs:tensors step:int lr:number beta1:number beta2:number eps:number weightDecay:number decoupled:bool maximize:bool
rmsprop_step_:s params:tensors grads:tensors squareAvgs:tensors momentumBuffers:tensors gradAvgs:tensors lr:number alpha:number eps:number weightDecay:number momentum:number maximize:bool
adagrad_step_:s params:tensors grads:tensors sums:tensors lr:number eps:number weightDecay:number maximize:bool`;
