"""What TensorFlow's kernels on a CPU do with memory: which share, reuse or keep the buffers of their inputs.

Taken from TensorFlow's kernels and checked against its own allocator (see benchmarks/bench_memory.py).
"""

from __future__ import annotations

import math

from fitdoctor.memory.step import Operation, Step

SHARES = frozenset(
    "Identity Reshape Squeeze ExpandDims StopGradient PreventGradient Bitcast EnsureShape Snapshot "
    "PlaceholderWithDefault CheckNumerics TensorListGetItem".split()
)
"""The output is the first input's buffer."""

SHARES_EACH = frozenset({"IdentityN"})
"""Each output shares the buffer of the input at its position."""

REUSES = frozenset(
    "Abs Acos Acosh Add AddN AddV2 Asin Asinh Atan Atan2 Atanh BatchNormWithGlobalNormalization BiasAdd Ceil "
    "ClipByValue Cos Cosh Cumsum Digamma Div DivNoNan Elu EluGrad Erf Erfc Exp Expm1 Floor FloorDiv FloorMod Inv InvGrad "
    "LeakyRelu LeakyReluGrad Lgamma Log Log1p LogSoftmax LogicalAnd LogicalNot LogicalOr Maximum Minimum Mod Mul "
    "MulNoNan Neg OnesLike Pow RealDiv Reciprocal ReciprocalGrad Relu Relu6 Relu6Grad ReluGrad Rint Round Rsqrt "
    "RsqrtGrad Select SelectV2 Selu SeluGrad Sigmoid SigmoidGrad Sign Sin Sinh Softmax Softplus SoftplusGrad Softsign "
    "SoftsignGrad Sqrt SqrtGrad Square SquaredDifference Sub Tan Tanh TanhGrad TruncateDiv TruncateMod Xdivy Xlog1py "
    "Xlogy ZerosLike".split()
)
"""The output reuses the buffer of an input of its size that is no longer needed."""

READS = frozenset({"ReadVariableOp"})
UPDATES = frozenset(
    "AssignAddVariableOp AssignSubVariableOp ResourceScatterAdd ResourceScatterSub ResourceScatterUpdate "
    "ResourceScatterMul ResourceScatterDiv ResourceScatterMax ResourceScatterMin ResourceScatterNdUpdate "
    "ResourceScatterNdAdd ResourceStridedSliceAssign".split()
)
"""Change a variable in place, or in a copy while the old value is still read."""
ASSIGNS = frozenset({"AssignVariableOp"})

LIST_STARTS = frozenset({"TensorListReserve", "EmptyTensorList"})
LIST_ADDS = frozenset({"TensorListPushBack", "TensorListSetItem"})
LIST_COPIES = frozenset({"TensorListFromTensor"})
LIST_POPS = frozenset({"TensorListPopBack"})

LOOPS = frozenset({"While", "StatelessWhile"})
BRANCHES = frozenset({"If", "StatelessIf", "Case", "StatelessCase"})

_MATRIX = frozenset({"MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum"})
_CONVOLUTION = frozenset(
    "Conv2D Conv3D DepthwiseConv2dNative Conv2DBackpropInput Conv2DBackpropFilter Conv3DBackpropInputV2 "
    "Conv3DBackpropFilterV2 DepthwiseConv2dNativeBackpropInput DepthwiseConv2dNativeBackpropFilter".split()
)
FREE = frozenset(
    "Const Placeholder NoOp Shape ShapeN Size Rank ReadVariableOp VarIsInitializedOp TensorListReserve "
    "EmptyTensorList TensorListElementShape TensorListLength ConcatOffset BroadcastGradientArgs".split()
) | (SHARES - {"CheckNumerics"})
"""Operations that take almost no time."""

_FLOPS = 2e10
_BYTES = 4e9
_START = 3e-6


def seconds(operation: Operation, step: Step, batch: int) -> float:
    """Return roughly how long a kernel takes, only to order two threads."""
    if operation.type in FREE:
        return _START / 3
    sizes = [step.tensors[tensor] for tensor in (*operation.inputs, *operation.outputs)]
    moved = sum(tensor.bytes(batch) or 0 for tensor in sizes)
    return _START + moved / _BYTES + _multiplications(operation, step, batch) / _FLOPS


def is_cheap(operation: Operation, cost: float) -> bool:
    """Whether the executor runs the kernel at once instead of passing it to another thread."""
    return operation.type in FREE or cost < 2 * _START


def _multiplications(operation: Operation, step: Step, batch: int) -> float:
    if operation.type in _MATRIX and len(operation.inputs) == 2:
        sizes = [step.tensors[t].elements(batch) or 0 for t in (*operation.inputs, *operation.outputs)]
        return 2 * math.sqrt(math.prod(sizes))
    if operation.type in _CONVOLUTION and len(operation.inputs) >= 2:
        place = operation.outputs[0] if "BackpropFilter" in operation.type else operation.inputs[1]
        kernel = step.tensors[place]
        pictures = [step.tensors[t].elements(batch) or 0 for t in (*operation.inputs, *operation.outputs)]
        channels = kernel.dims[-1].at(batch) if kernel.dims else 1
        return 2 * max(pictures) * (kernel.elements(batch) or 0) / max(channels, 1)
    return 0.0
