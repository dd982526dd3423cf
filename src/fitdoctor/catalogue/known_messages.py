"""What Keras and TensorFlow say when no judge of a cause has more than the words of the message.

The judges of the causes come first: they compare the message with the program and the data. This table is for a text
without either: a line from a log, a traceback of an older version, a message pasted into a question.
"""

from __future__ import annotations

from fitdoctor.catalogue import Cause, catalogue
from fitdoctor.catalogue.sayings import Saying, findings_from_message, match_message
from fitdoctor.facts import FailureFacts
from fitdoctor.failure.raised_by import is_beside_keras, is_of_another_library, raised_by
from fitdoctor.patterns import pattern
from fitdoctor.records import replace
from fitdoctor.source.models.merge_rules import MERGES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from fitdoctor.diagnosis import Finding

KNOWN: tuple[tuple[str, Saying], ...] = (
    # --- values that became NaN -----------------------------------------------------------------------------
    ("FIT001", Saying(
        pattern(
            r"[Nn]a[Nn] in summary histogram|Inf or NaN global norm|LossTensor is inf or nan"
            r"|NaN loss during training|Model diverged with loss = NaN|NaN or Inf loss encountered"
            r"|Tensor had (?:NaN|Inf|NaN and Inf) values|check_numerics"
        ),
        "a loss, a gradient or a weight became NaN or infinite during training",
        "lower the learning rate, and check the inputs and labels for NaN and for values that are not scaled",
    )),
    # --- inputs ---------------------------------------------------------------------------------------------
    ("FIT101", Saying(
        pattern(
            r"input depth must be evenly divisible by filter depth: (?P<found>\d+) vs (?P<expected>\d+)"
            r"|input and filter must have the same depth: (?P<found_2>\d+) vs\.? (?P<expected_2>\d+)"
            r"|number of input channels must (?:match the kernel's input channels"
            r"|be evenly divisible by the number)|number of (?:input )?channels (?:does not match|of the input)"
        ),
        "a convolution gets images with a different number of channels than its kernel was built for",
        "load the images with the number of channels of the model input: 1 for gray images, 3 for RGB",
        also=("FIT104",),
    )),
    ("FIT101", Saying(
        pattern(
            r"\"?input_length\"? is (?P<expected>\S{1,40}), but received input has shape (?P<found>\([^)]*\))"
            r"|was passed incompatible inputs\. For input '?(?P<name>[^',]{1,80})'?, expected shape"
            r"|Keras symbolic input/output's shape \S.{0,80} is not ?compatible with supplied shape"
        ),
        "the input has a different length than the model was built for",
        "compare the shape of the data with the input shape of the model: `print(x.shape, model.input_shape)`",
    )),
    ("FIT103", Saying(
        pattern(
            r"incompatible with the specified batch size of your Input"
            r"|specified batch sizes of the Input Layers are"
        ),
        "the batch size differs from the one that is fixed in the input shape of the model",
        "remove the batch axis from the input shape: `Input(shape=…)` has none",
    )),
    ("FIT102", Saying(
        pattern(
            r"Image augmentation layers are expecting inputs to be rank|Expected image tensor to have rank"
            r"|Input data in `?\w+`? should have rank 4|Input to `\.fit\(\)` should have rank 4"
            r"|Expected image array to have rank 3|Expected an image array with shape"
            r"|Expected the input image to be rank|Input arrays must be multi-channel 2D images"
        ),
        "the images have a missing or an extra axis",
        "pass one image as (height, width, channels) and several as (images, height, width, channels)",
    )),
    ("FIT304", Saying(
        pattern(
            r"Inputs? (?:to `?\w+`? )?should (?:have rank|be at least) \d|Input should be at least \dD"
            r"|rank must be 3 \(1D conv\) or 4|Pooling inputs's shape must be|Input rank not supported"
            r"|should be passed an `input_shape` ?with at least 3 dimensions"
            r"|(?:convolution )?inputs? must be \d-dimensional|tensor_in must be \d-dimensional"
            r"|only supports? \dD(?: or \dD)? input tensors|Cannot apply softmax to a tensor that is 1D"
            r"|Expected input `x` to have rank 2|does not have enough dimensions for all core dimensions"
        ),
        "a layer gets a tensor with too few or too many axes",
        "compare the axes of the tensor with what the layer expects: `Conv2D` needs (batch, rows, columns, "
        "channels), recurrent layers (batch, steps, features)",
        also=("FIT102",),
    )),
    ("FIT106", Saying(
        pattern(
            r"StringToNumberOp could not correctly convert string|Cast string to \w+ is not supported"
            r"|(?:Unsupported|Invalid) (?:numpy )?(?:dtype|type)[: ]+(?:<U\d+|object|string)"
        ),
        "a string reaches an operation that expects numbers",
        "encode the strings as numbers first, for example with `StringLookup` or `pandas.get_dummies`",
    )),
    ("FIT107", Saying(
        pattern(
            r"Can(?:'t|not) convert (?:non-rectangular )?Python sequence"
            r"|Expected an array data type but received an "
            r"|Please provide as model targets either a single array or a list of arrays|Expected a (?:list"
            r"|tuple) of `numpy\.ndarray` objects"
        ),
        "Python lists are passed where Keras expects arrays of one shape and dtype",
        "convert the data with `numpy.array(…)`; sequences of different lengths need `pad_sequences` first",
        also=("FIT714",),
    )),
    ("FIT108", Saying(
        pattern(
            r"(?:Data and targets|`x` \(images tensor\) and `y` \(labels\)) (?:have|should)\b.{0,12}\bsame length"
            r"|All (?:target|sample_weight) arrays (?:\(y\) )?should have the same number of samples"
            r"|Sample_weight arrays should have the same number|Expected the lengths of `labels` to match"
            r"|Received a (?:list|tuple) of NumPy arrays with different lengths"
            r"|All the arrays in `x` should have the same length"
        ),
        "inputs, labels or sample weights have different numbers of samples",
        "pass one label per sample: compare `len(x)` with `len(y)`",
    )),
    ("FIT109", Saying(
        pattern(
            r"(?:do not|cannot) pass a dictionary as model|The model expects \d+ \w+ arrays, but only received one"
            r"|you are passing a list as input to your model|No data provided for \"|expected no data, but got"
            r"|Passing a dictionary input to a Sequential Model|called with an invalid input structure"
            r"|Expected to be provided an array \(in dict|expected \d+ input\(s\)\. Received \d+ instead"
            r"|is not optional, but None was passed"
            r"|Invalid `?input_shape`? argument .{0,200}: (?:the )?model (?:has|expects)"
            r"|Do not pass inputs that mix Numpy arrays and TensorFlow"
            r"|inputs must be explicitly declared using a keras|Layer \S+ expects \d+ inputs, but it received"
            r"|layer (?:must be called on|accepts inputs) (?:a )?list of"
        ),
        "the number or the names of the inputs differ from those of the model",
        "pass one array per `Input`, in the order of `model.inputs` or as a dict with their names",
    )),
    ("FIT109", Saying(
        pattern(
            r"'NoneType' object has no attribute '(?:shape|ndim|dtype|__len__)'"
            r"|object of type 'NoneType' has no len\(\)"
        ),
        "an input of the model is `None`",
        "pass an array for every input: check the values of `x` before the call",
        raised_in=(
            "check_data_cardinality", "_check_data_cardinality", "<genexpr>", "get_data_adapter",
            "select_data_adapter", "standardize_input_data", "_standardize_user_data",
            "standardize_data_input_list", "convert_to_arrays",
        ),
        of_framework=True,
    )),
    ("FIT105", Saying(
        pattern(r"Unable to get element (?:from the feed )?as bytes|^Unsupported object type \w+"),
        "an array of Python objects is fed to TensorFlow, which expects numbers or strings",
        "convert the array to one dtype: `x.astype(\"float32\")`",
    )),
    ("FIT105", Saying(
        pattern(r"A SciPy sparse matrix was passed to a model that expects dense inputs"),
        "a SciPy sparse matrix is passed to a model with dense inputs",
        "convert it with `.toarray()`, or declare the input with `sparse=True`",
    )),
    ("FIT111", Saying(
        pattern(
            r"Input must be either real or complex|Cannot convert \S.{0,60} to EagerTensor of dtype"
            r"|Expected \w+, (?:but )?got .{1,200} of type '\w+' instead|does not support RaggedTensors"
            r"|only supports RaggedTensors"
        ),
        "a value has a type that the operation does not accept",
        "convert it first, for example with `tf.cast(x, tf.float32)` or `x.astype(\"float32\")`",
    )),
    ("FIT111", Saying(
        pattern(
            r"`?input_tensor\.dtype`? differs from `?dtype`?|non-floating point dtype"
            r"|built with a floating-point dtype|expected dtype=\S+, found dtype=|Expected (?:floating point type"
            r"|numeric or boolean dtype|float or integer dtype), got|Expected \w+ tensor but got \w+|(?:expected"
            r"|Expected) type \w+ but got|The dtype of `?\w+`? Tensor should be float"
            r"|Argument `\w+` must have the same dtype|must have the same dtype"
            r"|could not be converted to (?:the )?(?:requested )?dtype|input must be (?:float|int)\w*, (?:got|but)"
            r"|Data type \w+ (?:does not match|is not supported)"
            r"|No OpKernel was registered to support Op '\w+' with these attrs"
        ),
        "a tensor has a dtype that the operation does not accept",
        "convert it first, for example with `tf.cast(x, tf.float32)` or `x.astype(\"float32\")`",
        also=("FIT601",),
    )),
    ("FIT113", Saying(
        pattern(r"indices(?:\[[\d, ]*\])? = (?P<value>-?\d+) is not in \[0, ?(?P<high>\d+)\)"),
        "index {value} is outside 0..{high} (exclusive): an `Embedding` or a gather has too few rows",
        "set `input_dim` of the `Embedding` to the largest id + 1, or map larger ids to an id for unknown "
        "words",
    )),
    ("FIT113", Saying(
        pattern(r"must be smaller than the embedding layer's input dimension"),
        "an id is larger than the vocabulary of the embedding",
        "use the tokenizer that belongs to the model, and resize the embedding if tokens were added",
    )),
    ("FIT323", Saying(
        pattern(r"Discrepancy between trainable weights and collected"),
        "`trainable` was changed after `compile`, so the change has no effect yet",
        "call `compile` again after `trainable` is set",
        types=("UserWarning",),
    )),
    ("FIT412", Saying(
        pattern(r"triggered tf\.function retracing"),
        "a traced function is traced again at every call",
        "define it once outside the loop, and pass tensors instead of Python numbers",
        types=("UserWarning",),
    )),
    ("FIT114", Saying(
        pattern(
            r"Empty training data|Expected input data to be non-empty|Expect x to be a non-empty"
            r"|samples, which is not sufficient to split it|Received an empty list dataset"
            r"|adapt\(\) received an empty iterable|Resulting \w+ side dataset split will be empty"
            r"|[Ff]ound 0 samples|Cannot set an empty vocabulary"
        ),
        "the data has no samples",
        "check what loads or filters the data: `print(len(x))` before `fit`",
    )),
    # --- labels ---------------------------------------------------------------------------------------------
    ("FIT114", Saying(
        pattern(r"pop from an empty set"),
        "the data has no samples",
        "check what loads or filters the data: `print(len(x))` before the call",
        types=("KeyError",),
        of_framework=True,
    )),
    ("FIT202", Saying(
        pattern(
            r"Rank of labels \(received \d+\) should equal rank of logits minus 1"
            r"|labels must be 1-D, but got shape|expected a dimension of 1, got \d+.{0,200}(?:remove_squeezable"
            r"|sparse_categorical)"
        ),
        "the sparse loss gets labels with a class axis: one-hot labels instead of integer class labels",
        "use `categorical_crossentropy`, or pass integer class labels: `y.argmax(axis=-1)`",
        also=("FIT217",),
    )),
    ("FIT203", Saying(
        pattern(
            r"`labels` out of bound|targets\[\d+\] is out of range|`predictions` out of bound|[Ll]abels? (?:id "
            r"|value )?(?:is |are )?out of (?:bound|range)|All labels must (?:be nonnegative|be in)"
            r"|label must be in|[Ll]abel(?:s)? .{0,40}outside the valid range"
        ),
        "a label is outside the range of classes",
        "number the classes from 0, and use as many units or classes as there are labels",
    )),
    ("FIT205", Saying(
        pattern(
            r"Arguments `target` and `output` must have the same"
            r"|logits and labels must have the same first dimension"
            r"|`?logits`? and `?labels`? must have the same shape"
            r"|`?logits`? and `?labels`? must (?:be broadcastable|have same|be same)"
            r"|Targets `y_true` are expected to be a tensor of shape"
            r"|activations and gradients must have the same batch|logits and targets must have the same shape"
            r"|Mismatch between expected batch size and model output batch size"
        ),
        "labels and outputs have different shapes",
        "compare `y.shape` with `model.output_shape`: the last layer needs one unit per label column",
        also=("FIT217",),
    )),
    ("FIT213", Saying(
        pattern(
            r"`?class_weight`? (?:is )?not supported for 3\+ dimensional"
            r"|`?class_weight`? must be a dict.{0,40}outputs"
            r"|`?class_weight`? is currently not supported when using tf\.distribute"
        ),
        "`class_weight` does not work with these outputs",
        "pass `sample_weight` instead, with one weight per sample or time step",
    )),
    ("FIT214", Saying(
        pattern(
            r"Found a sample_weight (?:array )?|Received sample weight with shape"
            r"|Provided sample weights must have same length|`sample_weight` and `class_weight` cannot be"
            r"|cannot specify `class_weight` and `sample_weight`|when providing a single `sample_weight` array"
            r"|`values` \S.{0,60} vs `sample_weight`|match target structure and sample_weight_modes"
            r"|sample_weight_mode should be|weights can not be broadcast"
        ),
        "the sample weights do not match the labels, or are combined with `class_weight`",
        "pass one weight per sample, as an array with the length of `y`",
    )),
    ("FIT215", Saying(
        pattern(r"Target data is missing|[Tt]arget(?:s)? (?:is|are) missing"),
        "the model has a loss but gets no labels",
        "pass `y` to `fit`, or yield (inputs, labels) pairs",
    )),
    ("FIT216", Saying(
        pattern(
            r"Unknown entr(?:y|ies) in `?(?:loss|loss_weights|sample_weight|sample_weight_mode|metrics"
            r"|target_tensors)\w*`? dictionary|missing from (?:the )?loss(?:_weights)? dictionary"
            r"|missing from `_sample_weight_modes`|When passing a list (?:of lists )?as `?(?:loss|loss_weights"
            r"|metrics|sample_weight_mode|target_tensors)`?|was a list of \d+ elements, but the model has"
            r"|keys that do not correspond to any Model output|In the dict argument `(?:loss|metrics|loss_weights"
            r"|weighted_metrics)`|keys: .{0,200} in the `loss` argument|When providing the `loss_weights` argument"
            r"|Could not interpret loss_weights argument|must match the number of non-None values in `loss`"
            r"|you passed a single tensor as `target_tensors`|Type of `metrics` argument not understood"
            r"|should contain metrics objects|list (?:to|should) be metric objects"
            r"|Error when checking model target: the list of|`metrics` list should be metric objects"
        ),
        "losses, metrics or labels do not match the outputs of the model",
        "pass one loss per output: a list in the order of `model.outputs`, or a dict with "
        "`model.output_names`",
    )),
    ("FIT218", Saying(
        pattern(
            r"R2Score expects 2D inputs|predictions must be [<>]= |Metric \S+ is not compatible with"
            r"|Expected metric, received|MeanTensor input values must always have the same shape"
            r"|Reduction \S+ not implemented"
        ),
        "a metric does not match the labels or the output",
        "use a metric for this kind of output: `Precision`, `Recall` and `AUC` need probabilities between 0 "
        "and 1",
        also=("FIT211",),
    )),
    # --- model ----------------------------------------------------------------------------------------------
    ("FIT301", Saying(
        pattern(
            r"must compile (?:a|your|the) model before|model needs to be compiled before"
            r"|Model must be compiled before|must call `?(?:model\.)?compile\(\)`? before"
        ),
        "the model is trained before it is compiled",
        "call `model.compile(optimizer=…, loss=…)` first",
    )),
    ("FIT303", Saying(
        pattern(
            r"compile\(\) missing \d required positional arguments?: '(?:loss|optimizer)"
            r"|compile\(\) takes at least \d arguments"
        ),
        "`compile` is called without a loss or an optimizer",
        "pass both: `model.compile(optimizer=\"adam\", loss=…)`",
    )),
    ("FIT302", Saying(
        pattern(
            r"\b(?:Dense|Conv\w*|LSTM|GRU|Embedding|Dropout|Adam\w*|SGD|RMSprop|Model|Sequential|Functional"
            r"|\w*(?:Pooling|Checkpoint|Stopping|Board)\w*)(?:\.__init__"
            r"|\.\w+)?\(\) got an unexpected keyword argument '(?P<name>\w+)'"
        ),
        "a Keras function gets an argument that it does not have: `{name}`",
        "check the name of the argument against the documentation of the installed version",
        types=("TypeError",),
        also=("FIT902",),
    )),
    ("FIT302", Saying(
        pattern(
            r"\(\) got an unexpected keyword argument '(?P<name>\w+)'|\(\) takes (?:exactly|at least|at most|from"
            r"|\d).{0,60}arguments?|\(\) missing \d+ required|got multiple values for (?:keyword )?argument"
        ),
        "a function of Keras, or one that Keras calls, does not accept these arguments",
        "compare the call with the signature of the function in the installed version",
        types=("TypeError",),
        also=("FIT314", "FIT902"),
        of_framework=True,
    )),
    ("FIT302", Saying(
        pattern(
            r"Invalid keyword argument\(s\)|[Kk]eyword arguments? not understood"
            r"|Unrecognized (?:keyword )?arguments? |keyword arguments? (?:passed to \S+ )?aren't supported"
            r"|Unexpected keyword arguments?\b|argument\(s\) are not supported|Unknown keywords? argument"
            r"|does not take a `\w+` argument|was passed both positionally and as a keyword"
            r"|is not a valid argument, kwargs should be empty"
        ),
        "a Keras function gets an argument that it does not have",
        "check the name of the argument against the documentation of the installed version",
        also=("FIT902",),
    )),
    ("FIT305", Saying(
        pattern(
            r"merge tensors with different batch sizes|should be called on inputs of the same shape"
            r"|layers of same output shape can be merged|Dimension incompatibility|do batch_dot on inputs"
            r"|batch_dot over axis 0|ConcatOp : (?:Dimensions|Ranks) of|merge layer should be called on a list"
            r"|`?\w+`? layer should be called on (?:a list|exactly 2)|Merge (?:should only be applied to"
            r"|must be called on|can only be called on)|\w+ merge takes exactly 2 layers"
            r"|Shapes of all inputs must match: values\[0\]"
        ),
        "a layer merges tensors whose shapes do not match",
        "pass a list of tensors that have the same shape, except along the axis that is concatenated",
    )),
    ("FIT306", Saying(
        pattern(
            r"Computed output size would be negative|convolution operation resulted in an empty output"
            r"|with dimension 0 at reduction axis|must be smaller than the input length|Negative dimension size"
            r"|results? in a negative (?:output )?(?:dimension|size)|kernel size .{0,60}larger than (?:the )?input"
        ),
        "the input is too small for its convolutions and pooling: nothing is left of it",
        "use larger inputs, fewer pooling layers, or `padding=\"same\"`",
        also=("FIT104",),
    )),
    ("FIT308", Saying(
        pattern(r"must call `?super\(\)\.__init__\(\)`?|forgot to call `?super\(|super\(\w*, ?self\)\.__init__"),
        "a subclass of a Keras class does not call `super().__init__()`",
        "call `super().__init__()` first in its `__init__`",
    )),
    ("FIT309", Saying(
        pattern(
            r"found an instance of type `[^`]{0,100}`\. Expected a symbolic tensor|that isn't a symbolic tensor"
            r"|values (?:in the \S+ )?must be KerasTensors|Unrecognized type for `(?:inputs|outputs)`"
            r"|Argument `input_tensor` must be a KerasTensor|Expected a KerasTensor, but got"
            r"|Inputs to a layer should be tensors|should not pass an EagerTensor to `Input`|(?:Input"
            r"|Output) tensors? (?:to|of) a \S+ must be Keras tensors"
        ),
        "a layer or model is connected to something that is not the output of a Keras layer",
        "call each layer on the output of the previous one, and start with `keras.Input`",
        also=("FIT903",),
    )),
    ("FIT310", Saying(
        pattern(
            r"`call` method of layer \S+ should return a tensor|`call` method should return a Tensor or a list"
            r"|operation outputs must be tensors|returned a non-tensor"
            r"|`?output_shape`? function must return a tuple|`compute_output_shape\(\)` of layer \S+ is returning"
            r"|`get_output_shape_for` method of layer|`get_config\(\)` method of .{0,200} should return a dict"
        ),
        "a method of a layer returns nothing, or not what Keras expects",
        "return the output tensor at the end of `call`",
    )),
    ("FIT310", Saying(
        pattern(
            r"Attempt to convert a value \(None\)|None values not supported"
            r"|Cannot convert (?:a )?None(?:Type)? (?:value )?to|Got unexpected `?None"
        ),
        "`None` reaches an operation that needs a tensor",
        "find what is `None`: a `call`, loss or metric without `return`, labels that are not passed, or an "
        "axis without a size",
        also=("FIT215", "FIT324"),
    )),
    ("FIT312", Saying(
        pattern(
            r"Keras symbolic inputs/outputs do not implement|Output tensors? (?:to"
            r"|of) a \S+ (?:model )?must be the output of a|missing previous layer metadata"
            r"|attribute of KerasTensor is immutable|Cannot iterate over a Tensor"
            r"|not publicly exposed in the TensorFlow API"
            r"|ragged or sparse tensor outputs are currently not supported|has no attribute '_keras_(?:history"
            r"|shape|mask)'|'NoneType' object has no attribute '_?inbound_nodes'"
            r"|A KerasTensor cannot be used as input to a"
        ),
        "an operation that is not a Keras layer is applied between the layers of the model",
        "wrap it in a custom layer or a `Lambda` layer, or use `keras.ops`",
        also=("FIT903",),
    )),
    ("FIT903", Saying(
        pattern(
            r"initialize `\w+` layer with a|(?:isn't|is not) a supported layer type"
            r"|layer need to be a .{0,40}instance|[Oo]ptimizer must have a \"?(?:lr|learning_rate)\"?"
        ),
        "a layer or optimizer is not one of the Keras that is in use",
        "pass a layer object, not its output, and import everything from either `keras` or `tf.keras`",
        also=("FIT309",),
    )),
    ("FIT407", Saying(
        pattern(r"KerasTensor is symbolic|Cannot get value inside|cannot convert it to an int"),
        "the program needs the value of a tensor that has none yet",
        "compute with tensors instead: TensorFlow operations accept them, NumPy and `float()` do not",
    )),
    ("FIT408", Saying(
        pattern(r"(?:KerasTensor|Keras Variable) cannot be used as a boolean|use Python control flow in a layer"),
        "a Python `if` or `while` depends on a symbolic tensor",
        "use `tf.where` or `tf.cond`",
    )),
    ("FIT313", Saying(
        pattern(
            r"can only specify one unknown dimension|total size of new array must be unchanged"
            r"|Target shape and input shape|requested shape (?:has|requires)|Cannot reshape a tensor"
            r"|must have the same (?:total )?(?:size|number of elements)|Size \d+ must be non-negative, not"
            r"|split_dim \d+ \(size = \d+\)"
        ),
        "a reshape needs a different number of elements than the tensor has",
        "let one axis be computed: use -1 for it",
    )),
    ("FIT314", Saying(
        pattern(
            r"accepts an `inputs` argument|positional or keyword arguments that are not inputs to the model"
            r"|can only have `training` and the first argument"
            r"|first argument to `?Layer\.call`? must always be passed"
            r"|Only input tensors may be passed as positional|added to a Sequential model (?:should"
            r"|can only) have a single|but `call\(\)` does not have argument|which does not end in `_shape`"
        ),
        "the `call` or `build` method of a class does not accept the arguments that Keras passes",
        "declare `call(self, inputs, training=None)`, and pass everything else by name",
    )),
    ("FIT315", Saying(
        pattern(
            r"is part of a cycle|disconnected from the outputs|is not connected, no input to return"
            r"|[Gg]raph disconnected|must not already be connected somewhere else"
            r"|could not be added due to missing dependencies|either has loops or disconnected nodes"
            r"|contains the same input multiple times|inputs are redundant|should only appear once"
            r"|multiple inbound nodes|must come from `(?:tf\.)?keras\.(?:layers\.)?Input`"
            r"|single output tensor\. For multi-output layers|cannot add a different Input layer"
        ),
        "the outputs of the model are not connected to its inputs by layers, or a layer is used twice",
        "build the outputs from the same `Input` objects that are passed to `Model`",
    )),
    ("FIT315", Saying(
        pattern(r"share a same `BatchNormalization`|Merge layer cannot be used more than once"),
        "a layer is called more often than it can be",
        "create a new layer for every call",
    )),
    ("FIT324", Saying(
        pattern(
            r"input to \"?Flatten\"? is not fully defined|requires to know the length of its input"
            r"|dimension (?:of the inputs|of the input shape|of input_shape).{0,80} (?:should|must) be defined"
            r"|must get an `input_shape`|have not yet been created|has not (?:yet )?been built|not yet built"
            r"|isn't (?:yet )?built|Input shape must be defined|fixed number of timesteps"
            r"|time dimension is undefined|needs to know its batch size|batch size must be static"
            r"|define explicitly the number of timesteps|(?:should|must) be fully[- ]defined|has no defined (?:in"
            r"|out)put|Input has undefined `axis`|should have a defined dimension|Undefined shapes are not"
            r"|You must (?:pass|provide) an? `(?:input_)?shape`|automatically build the model"
            r"|no layers in the model|must be built|must build the layer before|add an empty model"
            r"|must have a known shape|with a static spatial shape|fully defined height and width|(?:length"
            r"|dimensions) must be statically known|infer the (?:static )?shape of the"
            r"|passed either a `batch_input_shape`|has never been called and thus has no|no inbound nodes"
            r"|created without `input_shape`|We expect a static batch size|`input_shape` as argument"
            r"|not one of the valid types\. Please specify a batch input shape"
        ),
        "a layer or model does not know a size that it needs to create its weights",
        "start the model with `keras.Input(shape=…)`, with numbers for all axes that the layers need",
    )),
    ("FIT709", Saying(
        pattern(
            r"(?:undefined|unknown) rank|statically known rank|unknown TensorShape|dimension of unknown rank"
            r"|tensor has unknown shape|Shape .{0,20}<unknown>|shape is unknown"
        ),
        "a tensor has lost its shape, usually in `tf.py_function`, `tf.numpy_function` or a generator",
        "set it again after that step: `x.set_shape(…)` or `tf.ensure_shape(x, …)`",
    )),
    ("FIT326", Saying(
        pattern(
            r"attribute is reserved|conflicts with an existing read-only @property|can't set attribute '?(?:layers"
            r"|inputs|outputs|metrics|weights)"
        ),
        "the class sets an attribute whose name Keras reserves",
        "choose another name for the attribute",
    )),
    ("FIT328", Saying(
        pattern(
            r"(?:metrics|weighted metrics) with the (?:same )?name|different names for the metrics"
            r"|(?:is )?used \d+ times in the model|duplicate path|variable path is found twice"
            r"|duplicated metrics object|Duplicate (?:node|output) identifier"
            r"|[Uu]nable to (?:synchronously )?create (?:link|dataset|group) \((?:object )?name already exists\)"
            r"|names? (?:of \S+ )?(?:should|must) be unique|already has a layer named"
        ),
        "two layers, metrics or weights have the same name",
        "pass a different `name=` to each",
    )),
    ("FIT327", Saying(
        pattern(
            r"[Nn]o such layer: (?P<name>[^.\n]{1,80})|layer at index \d+ but (?:the )?model only has"
            r"|Provide (?:either a|only a) layer name"
        ),
        "the model has no layer of that name or index",
        "print `[layer.name for layer in model.layers]` and use one of these names",
    )),
    ("FIT327", Saying(
        pattern(r"number of samples that can be divided by the batch size"),
        "a stateful model needs a number of samples that is a multiple of the batch size",
        "drop the samples that are left over, or choose a `batch_size` that divides their number",
    )),
    # --- graphs and variables -------------------------------------------------------------------------------
    ("FIT405", Saying(
        pattern(
            r"is not (?:from the passed-in|an element of this) graph|must be from the same graph"
            r"|not found in (?:the )?(?:current )?graph|Container localhost does not exist"
        ),
        "a tensor or model belongs to another graph or session than the one in use",
        "create and use the model in the same thread, graph and session; TensorFlow 2 needs none of them",
    )),
    ("FIT407", Saying(
        pattern(
            r"Dimension value must be integer or None .{0,40}got value '?<tf\.Tensor"
            r"|Dimension value must be integer or None"
        ),
        "a tensor is used where TensorFlow needs a Python number",
        "use a number that is known before the function is traced, or `tf.reshape` and `tf.ensure_shape` "
        "with `None`",
    )),
    ("FIT406", Saying(
        pattern(
            r"`?[gs]et_session`? is not available|not supported during eager execution"
            r"|not supported when executing eagerly|Session keyword arguments are not|[Ff]etch argument"
            r"|already exists, disallowed|uninitialized value|legacy tf\.layers|Session graph is empty"
            r"|inside Tensorflow graph function|not compatible with eager execution|(?:when|if) eager execution is"
            r"|eager execution must be|only (?:works|work) with the tf\.Estimator"
            r"|but not iterators that have been manu|tf\.placeholder|only supported in (?:TF ?2|tensorflow v2)"
            r"|Attempted to use a closed Session|[Tt]able not initialized|tf\.compat\.v1"
        ),
        "the program uses the graphs and sessions of TensorFlow 1",
        "call functions and models directly, as TensorFlow 2 does, or keep the installed version at 1.x",
        types=(
            "RuntimeError", "ValueError", "TypeError", "FailedPreconditionError", "InvalidArgumentError",
            "NotImplementedError",
        ),
    )),
    ("FIT406", Saying(
        pattern(r"Tensors? (?:is|are) unhashable"),
        "a tensor is used as a key of a dict or in a set, which only TensorFlow 1 allows",
        "use `tensor.ref()` as the key",
        types=("TypeError",),
    )),
    ("FIT406", Saying(
        pattern(r"Can not convert an? \w+ into a (?:Tensor|Operation)"),
        "`session.run` of TensorFlow 1 gets something that is not a tensor or an operation of its graph",
        "pass tensors and operations, or lists of them",
    )),
    ("FIT410", Saying(
        pattern(
            r"`?add_(?:metric|loss)\(?\)?`? (?:method is deprecated|can only be called)"
            r"|callable for the loss value|provide a name for your metric|symbolic Tensor for the metric value"
            r"|when calling `add_metric`|in a control flow branch"
        ),
        "`add_loss` or `add_metric` is called where it does not work",
        "call `add_loss` in the `call` method of a layer, and pass metrics to `compile`",
    )),
    ("FIT502", Saying(
        pattern(r"(?:create|initialize) a variable while in a stateless scope|add new elements of state"),
        "a layer creates its weights too late: while the model is called",
        "create layers in `__init__` and weights in `build`",
    )),
    ("FIT505", Saying(
        pattern(r"has `?None`? for gradient|No gradient(?:s)? (?:defined|provided|exist)|ops without gradient"),
        "the loss does not depend on the weights through operations that have a gradient",
        "replace `argmax`, `round`, comparisons and casts to integers in the loss",
    )),
    ("FIT508", Saying(
        pattern(
            r"[Gg]radients must match trainable variables|len\(gradients\)|list of \(gradient, variable\)"
            r"|grads_and_vars"
        ),
        "the gradients and the variables passed to the optimizer do not match",
        "pass `zip(gradients, model.trainable_variables)`",
    )),
    # --- devices --------------------------------------------------------------------------------------------
    ("FIT601", Saying(
        pattern(r"only supports? (?:the )?NHWC|(?:currently )?only supports the NHWC tensor format"),
        "a layer gets images with the channels first, which TensorFlow does not support on a CPU",
        "use `data_format=\"channels_last\"`, also in `~/.keras/keras.json`, and move the channels to the last "
        "axis",
        also=("FIT104",),
    )),
    ("FIT601", Saying(
        pattern(
            r"Cannot assign a device for|we expect the following devices to be available"
            r"|No OpKernel was registered to support Op|unknown device|device .{0,80}(?:not found|does not exist"
            r"|is not available)|CUDA_ERROR_NO_DEVICE|no CUDA-capable device"
            r"|Could not satisfy (?:explicit )?device specification|No registered '\w+' OpKernel"
        ),
        "the program asks for a device, usually a GPU, that this machine or this TensorFlow does not have",
        "remove the device from the program, or install a TensorFlow that supports it",
        also=("FIT906",),
    )),
    ("FIT602", Saying(
        pattern(r"access resource located in device|resource .{0,100}on (?:a )?different device"),
        "a variable is on another device than the step that reads it",
        "create the model under the same device or strategy scope that trains it",
    )),
    ("FIT604", Saying(
        pattern(
            r"different (?:from the scope|distribution strategy scope|strategy scope|scope)"
            r"|was not created in (?:TPUStrategy|the) scope|create the model under the `?strategy\.scope"
        ),
        "model, optimizer or metrics were created outside the scope of the strategy that trains them",
        "create all of them inside `with strategy.scope():`",
    )),
    ("FIT607", Saying(
        pattern(
            r"Failed to serialize the input pipeline|does not support serialization|[Cc]annot shard"
            r"|shard.{0,40}(?:unsupported|not supported)"
        ),
        "the dataset contains a Python generator or another step that cannot be sent to other devices or "
        "workers",
        "replace the generator with files or `tf.data` operations, or set `AutoShardPolicy.OFF`",
    )),
    ("FIT605", Saying(
        pattern(
            r"must be divisible (?:the )?by (?:the )?number of replicas|Reduction\.(?:SUM"
            r"|NONE)`? .{0,80}loss reduction"
        ),
        "the global batch size or the loss reduction does not suit the number of replicas",
        "use a batch size that is a multiple of the number of replicas, and reduce custom losses with `SUM` "
        "over it",
    )),
    ("FIT606", Saying(
        pattern(
            r"Collective ops is aborted|Horovod has been shut down|HorovodInternalError"
            r"|failed to connect to all addresses|is joining a group with size|is not supported in multi-worker"
            r"|DEADLINE_EXCEEDED|Connection reset by peer|Socket closed|worker .{0,60}(?:unavailable|preempted)"
        ),
        "the workers of the cluster do not reach each other, or do not agree about their number",
        "check `TF_CONFIG` of every worker, and that all of them run the same program",
        types=(
            "UnavailableError", "InternalError", "DeadlineExceededError", "AbortedError", "ValueError",
            "CancelledError", "FailedPreconditionError", "UnknownError",
        ),
    )),
    # --- pipelines ------------------------------------------------------------------------------------------
    ("FIT701", Saying(
        pattern(
            r"cannot have rank 0|Cannot unbatch an input with scalar|[Cc]annot (?:batch|iterate over) a scalar"
            r"|Expected .{0,60}batch(?:ed)? (?:dataset|dimension)"
        ),
        "the dataset yields single samples; `fit` treats their first axis as the batch axis",
        "call `.batch(…)` on the dataset",
    )),
    ("FIT703", Saying(
        pattern(
            r"ran out of data|We cannot draw that many|End of sequence|is closed and has insufficient elements"
            r"|Asked to retrieve element [1-9]\d*, but the Sequence has length [1-9]"
        ),
        "the data has fewer batches than the epochs need",
        "reduce `steps_per_epoch`, or repeat the dataset with `.repeat()`",
    )),
    ("FIT715", Saying(
        pattern(
            r"'(?:numpy\.)?float\d*' object cannot be interpreted as an (?:integer|index)"
            r"|integer argument expected, got float"
        ),
        "a number of steps, epochs or samples is a float",
        "use integer division: `//` instead of `/`",
        raised_in=("fit", "fit_generator", "evaluate", "evaluate_generator", "predict", "predict_generator"),
        of_framework=True,
    )),
    ("FIT703", Saying(
        pattern(r""),
        "a generator ended while `fit` still needed batches, or an exception inside it ended it",
        "let the generator loop forever (`while True`), and call `next` on it once to see what it raises",
        types=("StopIteration",),
        raised_in=("fit_generator", "evaluate_generator", "predict_generator", "fit", "evaluate", "predict"),
        of_framework=True,
        also=("FIT705",),
    )),
    ("FIT704", Saying(
        pattern(
            r"generator for validation data, you must|[Pp]lease specify the (?:number of steps|`?validation_steps)"
            r"|Must specify `?validation_steps|should specify (?:the )?`?(?:steps|validation_steps"
            r"|steps_per_epoch)|must specify (?:the number of steps|a value for)"
            r"|Number of steps could not be inferred|`?(?:steps_per_epoch|validation_steps"
            r"|steps)(?:=None)?`? is only valid for a generator|infer the size of the data"
            r"|infinite (?:number of elements|dataset)|dataset must be finite"
        ),
        "the length of the data is unknown, and no number of steps is set",
        "pass `steps_per_epoch` and `validation_steps` to `fit`, or remove `.repeat()`",
    )),
    ("FIT705", Saying(
        pattern(
            r"requires a non-null input tensor|No (?:\w+ )?(?:images|text files|audio files|files) found"
            r"|must yield at least one batch|(?:PyDataset|Sequence) has length 0|Received an empty batch"
            r"|\(Empty (?:logs|batch_outputs)\)|Found 0 (?:\w+ )?(?:images|files)|length 0\b|Attempting to (?:get"
            r"|unpack)|`?on_epoch_end`? and before `?on_epoch_begin|Dataset had (?:zero|no) elements"
        ),
        "the data yields no batches",
        "check the folder or the dataset: it has no files or samples that match",
    )),
    ("FIT707", Saying(
        pattern(
            r"[Oo]utput of generator should be a tuple|list or tuple of 2 or 3 elements"
            r"|__getitem__\(\) must return a tuple|FeatureSpace can only be called with a dict"
            r"|Data is expected to be in format|(?:generator|[Vv]alidation_data) .{0,60}tuple of"
            r"|tuple \(x, y(?:, sample_weights?)?\)"
        ),
        "a batch does not have the structure that `fit` expects",
        "yield a tuple: (inputs, labels) or (inputs, labels, sample weights)",
    )),
    ("FIT707", Saying(
        pattern(
            r"(?:too many|not enough) values to unpack|need more than \d+ values? to unpack"
            r"|cannot unpack non-iterable \w+ object|'NoneType' object is not (?:iterable|subscriptable"
            r"|an iterator)"
        ),
        "a batch does not have the structure that `fit` expects",
        "yield a tuple: (inputs, labels) or (inputs, labels, sample weights)",
        raised_in=(
            "fit", "fit_generator", "evaluate", "evaluate_generator", "predict", "predict_generator",
            "fit_loop", "model_iteration", "unpack_x_y_sample_weight", "standardize_user_data",
            "_standardize_user_data",
        ),
        of_framework=True,
    )),
    ("FIT708", Saying(
        pattern(r"generator is NOT thread-safe|generator already executing|no marshalling of generators"),
        "several workers read the same Python generator",
        "use a `keras.utils.Sequence` (`PyDataset`), or set `workers=1` and `use_multiprocessing=False`",
    )),
    ("FIT711", Saying(
        pattern(
            r"you should not specify a target|`?validation_split`? (?:argument )?is (?:not|only) supported"
            r"|cannot use `validation_split`|do not specify `steps_per_epoch`|must not be specified (?:for|when)"
        ),
        "`fit` gets arguments that do not fit the kind of data",
        "a dataset or generator contains its labels and batches: remove `y`, `batch_size` and "
        "`validation_split`",
    )),
    ("FIT712", Saying(
        pattern(r"`?validation_data`?,? (?:argument, )?it must contain|`?validation_data`? (?:should|must) be"),
        "`validation_data` does not have the structure that `fit` expects",
        "pass `(x_val, y_val)`, a dataset or a generator",
    )),
    ("FIT714", Saying(
        pattern(
            r"samples must have same shape|Shape of sample \S+ of sequence at position|Unable to concatenate"
            r"|inner dense shapes do not|batch with incompatible shape|Cannot (?:add|batch) tensors? (?:with"
            r"|to the batch)|number of elements does not match"
        ),
        "the samples of one batch have different shapes",
        "resize or pad the samples to one shape before batching",
    )),
    ("FIT909", Saying(
        pattern(r"Unable to open table file|not an sstable"),
        "the checkpoint file has another format than the program expects",
        "pass the prefix of the checkpoint (`model.ckpt`, not `model.ckpt.data-00000-of-00001`), or load an "
        "HDF5 file with Keras",
    )),
    ("FIT716", Saying(
        pattern(
            r"(?:truncated|corrupted) record|is required but could not be found|parse serialized [Ee]xample"
            r"|unknown (?:image )?format|[Uu]nknown image file format|Input is empty|Invalid (?:PNG|JPEG|GIF|BMP"
            r"|WAV)|decode \w+ format using a wrong op|Unable to decode bytes|[Cc]ould not (?:decode|load) image"
            r"|cannot identify image file|(?:jpeg|png|gif)::Uncompress|incomplete or corrupted"
            r"|image file is truncated"
        ),
        "a file of the dataset cannot be decoded",
        "find the file by reading them one by one, and remove or convert it; check the feature names of "
        "TFRecord files",
    )),
    # --- memory and environment -----------------------------------------------------------------------------
    ("FIT802", Saying(
        pattern(r"larger than 2 ?GB|larger than the limit \(2147483647|cannot be larger than 2GB|exceeds? .{0,40}2GiB"),
        "an array of more than 2 GB becomes a constant of the graph",
        "read the data with `tf.data.Dataset.from_generator`, or pass NumPy arrays to `fit` directly",
    )),
    ("FIT806", Saying(
        pattern(
            r"OUT_OF_MEMORY|OOM when|Resource exhausted|failed to allocate|Dst tensor is not initialized"
            r"|Blas \w+ launch failed|ALLOC_FAILED|RESOURCE_EXHAUSTED|Status: out of memory"
        ),
        "the machine or the GPU ran out of memory",
        "use a smaller batch or model, and check that no other process uses the GPU: `nvidia-smi`",
    )),
    ("FIT806", Saying(
        pattern(r"(?i:out of memory|cannot allocate memory)"),
        "the machine or the GPU ran out of memory",
        "use a smaller batch or model, and check that no other process uses the GPU: `nvidia-smi`",
        of_framework=True,
    )),
    ("FIT904", Saying(
        pattern(
            r"got (?:Elemwise|Subtensor|IncSubtensor|DimShuffle|InplaceDimShuffle|Reshape|AbstractConv\w+)\{"
            r"|'TensorVariable'|TensorType\("
        ),
        "the program uses TensorFlow functions, but Keras runs on Theano",
        "set the backend to TensorFlow: `KERAS_BACKEND=tensorflow`, or `~/.keras/keras.json`",
    )),
    ("FIT904", Saying(
        pattern(
            r"(?:only|currently) (?:available|supported|works) (?:only )?with (?:the )?(?:TensorFlow|tensorflow"
            r"|Theano|JAX) backend|not (?:yet )?(?:available|supported) (?:in|with) (?:the )?\S+ backend"
            r"|not supported with backend|Unknown backend|Invalid backend|only be used with the TensorFlow backend"
            r"|must implement (?:the Trainer|a layer mixin)|Available backends are"
        ),
        "the program needs another Keras backend",
        "set the environment variable `KERAS_BACKEND` before Keras is imported",
    )),
    ("FIT906", Saying(
        pattern(
            r"(?i:cudnn|cublas|cusolver|libdevice|ptxas|cufft)|CUDA_ERROR|failed to get convolution algorithm"
            r"|DNN library is not found|dnn implementation|CUDA driver version|CuBLAS|no kernel image is available"
            r"|convolution algorithm|JIT compilation failed"
        ),
        "the GPU libraries do not work with this TensorFlow",
        "install the CUDA and cuDNN versions that this TensorFlow was built with: `pip install "
        "tensorflow[and-cuda]`",
        types=(
            "InternalError", "UnknownError", "NotFoundError", "FailedPreconditionError",
            "UnimplementedError", "RuntimeError", "InvalidArgumentError", "ImportError", "SIGABRT",
        ),
    )),
    ("FIT901", Saying(
        pattern(
            r"(?:requires?|needs?) (?:the )?`?(?P<name>h5py|PIL|SciPy|TensorFlow|tensorflow|pydot|Pillow|requests"
            r"|pandas|tensorflow_io)\b|Could not import (?:PIL|h5py)|This requires the (?P<other>\w+) module"
            r"|you need tensorflow \d|need the TensorFlow module|requires HDF5 and h5py|Op type not registered '"
            r"|without handle data|initial_value must be specified|h5py ?is not available(?!\))|h5pyis not"
            r"|Descriptors cannot (?:not )?be created directly"
            r"|Unable to convert function return value to a Python type! The signature was"
            r"|Registering two gradient with name|Tensorflow package .{0,60}not found"
        ),
        "a package that Keras needs is missing, or has another version than it expects",
        "install the packages together in a fresh environment: `pip install --upgrade tensorflow h5py pillow`",
    )),
    ("FIT901", Saying(
        pattern(
            r"compiled (?:using NumPy|against API version)|numpy\.(?:dtype|ufunc) size changed|DLL load failed"
            r"|undefined symbol|GLIBC\w*_[\d.]+. not found|cannot open shared object"
            r"|module 'numpy' has no attribute"
        ),
        "TensorFlow was built for another version of a package or of the system",
        "install the packages together in a fresh environment: `pip install --upgrade tensorflow`",
        of_framework=True,
    )),
    ("FIT901", Saying(
        pattern(
            r"module '(?P<name>(?:tensorflow|keras|tf_keras)[\w.]*)' has no attribute '(?P<missing>\w+)'"
            r"|cannot import name '?(?P<part>\w+)'? from (?:partially initialized module )?'(?P<from>(?:tensorflow"
            r"|keras|tf_keras)[\w.]*)'"
        ),
        "the installed version does not have a name that the program uses",
        "install the version that the program was written for, or use the replacement of the name",
        types=("AttributeError", "ImportError"),
        also=("FIT902", "FIT907"),
    )),
    ("FIT901", Saying(
        pattern(
            r"'(?:Functional|Sequential|Model|Network|KerasTensor|History|TensorBoard|Progbar\w*|Adam\w*|SGD"
            r"|RMSprop|Adagrad|Adadelta|Nadam|Optimizer|TFOptimizer|OptimizerV2"
            r"|Keras\w*)' object has no attribute '(?P<name>\w+)'"
        ),
        "the installed Keras has no attribute `{name}` here: the program, or a package it uses, was written "
        "for another version",
        "install the version that the program was written for; import everything from either `keras` or "
        "`tf.keras`",
        types=("AttributeError",),
        also=("FIT903", "FIT902"),
    )),
    ("FIT309", Saying(
        pattern(
            r"'(?P<kind>Dense|Conv\dD\w*|LSTM|GRU|SimpleRNN|Embedding|Flatten|Dropout|Activation"
            r"|BatchNormalization|Input(?:Layer)?|\w*Pooling\dD|Concatenate|Add|Lambda|Bidirectional"
            r"|TimeDistributed|Reshape)' object has no attribute '(?:shape|dtype|ndim|get_shape|rank|_keras_\w+"
            r"|op)'"
        ),
        "the layer `{kind}` is passed where its output is needed",
        "call the layer on a tensor: `{kind}(…)(x)`",
        types=("AttributeError",),
    )),
    ("FIT901", Saying(
        pattern(
            r"undefined symbol|cannot open shared object|GLIBC\w*_[\d.]+. not found|wrong ELF class"
            r"|image not found"
        ),
        "a library of TensorFlow, or a custom operation, does not match the installed TensorFlow",
        "install the version that it was built for, or compile it again",
        types=("NotFoundError",),
        also=("FIT906",),
    )),
    ("FIT902", Saying(
        pattern(
            r"has been removed due to security risk|from a legacy (?:TF-)?Keras optimizer"
            r"|`?distribute`? argument in compile is not available|(?:is|are) no longer (?:supported|accepted)"
            r"|was removed in Keras 3|only supports V3|Keras 3 only supports"
        ),
        "the program uses something that this version of Keras no longer has",
        "use its replacement, which the message names",
    )),
    # --- saved models ---------------------------------------------------------------------------------------
    ("FIT909", Saying(
        pattern(
            r"[Ww]eight count mismatch|[Rr]estoring from checkpoint failed|[Ss]hape mismatch in (?:layer|model)"
            r"|but the saved weight has shape|the saved weights have|[Ww]eights must be of equal size"
            r"|specified weight list|with a (?:\s*)weight list of length|weights file lists \d+ variables"
            r"|variables? during loading|number of weights: expected|not found in checkpoint"
            r"|Assign requires shapes of both|legacy format that does not support name"
            r"|[Ww]eight shape \S.{0,60} not compatible|(?:load|restore) .{0,60}based on topology"
            r"|weight file containing \d+ layers|A total of \d+ objects could not be loaded"
            r"|`variable\.assign\(value\)` must match|Shapes of .{0,60}restor"
            r"|[Tt]ensor name .{0,120}not found in checkpoint|saved_model.{0,60}checkpoint either|(?:num"
            r"|number) of (?:saved )?(?:weights|layers) .{0,40}(?:mismatch|differ)"
        ),
        "the saved weights belong to a model with a different architecture",
        "build the model exactly as it was when it was saved, then load the weights",
    )),
    ("FIT909", Saying(
        pattern(
            r"axes don't match array|(?:both shapes must be equal|Shapes? .{0,200}(?:incompatible|not compatible"
            r"|must))|[Cc]annot (?:feed|assign) .{0,200}shape|Dimensions? .{0,80}(?:equal|compatible)"
        ),
        "the saved weights belong to a model with a different architecture",
        "build the model exactly as it was when it was saved, then load the weights",
        raised_in=(
            "load_weights", "load_weights_from_hdf5_group", "load_weights_from_hdf5_group_by_name",
            "set_weights", "restore", "preprocess_weights_for_loading", "load_model", "batch_set_value",
        ),
        of_framework=True,
    )),
    ("FIT908", Saying(
        pattern(
            r"Unknown (?:activation function|layer|object|loss function|metric function|initializer|optimizer"
            r"|regularizer|constraint)\b|Unable to revive model|Could not locate (?:class|function|object)"
            r"|[Nn]o model (?:config )?found in|[Ii]mproper(?:ly)? (?:formatted|config)|[Cc]annot (?:de)?serialize"
            r"|Not JSON Serializable|deserialization of a|deserializ(?:ing|ed)|Deserializing it is unsafe"
            r"|[Uu]nable to (?:reconstruct|load model|serialize)|must override `?get_config"
            r"|SavedModel file does not exist|Could not parse config|HDF5 format requires the model"
            r"|does not contain model configuration|configuration not understood|Could not interpret serialized"
            r"|symbol `[\w.]+` could not be found|not a valid Keras configuration|not an hdf5 file"
            r"|File format not supported|does not implement `get_config|doesn't implement `get_config"
            r"|is not an accessible `\.keras`|accessible `\.keras` zip"
        ),
        "the saved model cannot be written or rebuilt from this file",
        "register custom classes with `@keras.saving.register_keras_serializable()`, implement `get_config`, "
        "and pass `custom_objects` to `load_model`",
    )),
    ("FIT908", Saying(
        pattern(r"not JSON serializable|has no argument|can(?:no|')t pickle|cannot be pickled"),
        "the model cannot be written: a part of it cannot be serialized",
        "save it with `model.save(…)`, and let `get_config` of custom classes return plain numbers and "
        "strings",
        of_framework=True,
    )),
    # --- TensorFlow's own Python code -----------------------------------------------------------------------
    ("FIT403", Saying(
        pattern(
            r"is None at the end of the iteration|same nested structure after one iteration"
            r"|has dtype \w+ (?:before|after)|must be defined before the loop|must also be (?:initialized|defined)"
        ),
        "a variable of a traced loop or branch changes its type, or is set in one place only",
        "give it a tensor of the same dtype and structure before the loop and on every path",
        also=("FIT404",),
    )),
    ("FIT404", Saying(
        pattern(
            r"true_fn.{0,60}false_fn|Cannot reconcile (?:tf\.)?\S+ \S+-th outputs|branch outputs of"
            r"|must have the same number, type, and overall structure"
        ),
        "the branches of `tf.cond` return different structures or dtypes",
        "return the same number of tensors, with the same dtypes, from both branches",
    )),
    ("FIT408", Saying(
        pattern(r"expected to be `?tf\.bool`? scalar|pred must (?:not be a Python bool|be Tensor of type bool)"),
        "the condition of a traced loop or branch is not a single boolean tensor",
        "reduce it first, for example with `tf.reduce_any` or `tf.reduce_all`",
    )),
    ("FIT407", Saying(
        pattern(
            r"[Ss]calar tensor has no `?len|len requires a non-scalar tensor|(?:min|max)\(arg"
            r"|does not support item assignment|'tf\.Variable's is not supported"
        ),
        "a Python operation is applied to a tensor that does not support it",
        "use the TensorFlow operation instead: `tf.size`, `tf.reduce_max`, `variable.assign`",
        of_framework=True,
    )),
    ("FIT909", Saying(
        pattern(
            r"Nothing except the root object matched|Unresolved object in checkpoint"
            r"|not bound to checkpointed values|not assigned a value from checkpoint"
            r"|does not appear to be object-based|Object not restored|not exist in the checkpoint"
            r"|were not restored|checkpoint does not contain serialized"
            r"|Cannot assign value to variable .{0,120}[Ss]hape mismatch"
        ),
        "the checkpoint belongs to a model with a different architecture",
        "build the model exactly as it was when it was saved, then restore the checkpoint",
    )),
    ("FIT406", Saying(
        pattern(
            r"is both fed and fetched|Type of feed value|may not be fed"
            r"|Session context managers are not re-entrant|does not have an initializer|supported in eager mode"
            r"|is undefined when eager execution|TF 1\.x control flows|without a default session"
            r"|graph is different from the session's graph|Cannot determine graph for Op"
        ),
        "the program uses the graphs and sessions of TensorFlow 1",
        "call functions and models directly, as TensorFlow 2 does, or keep the installed version at 1.x",
    )),
    ("FIT704", Saying(
        pattern(r"The dataset is infinite|dataset length is unknown|Dataset` only supports `len`"),
        "the length of the dataset is unknown or infinite",
        "pass `steps_per_epoch`, or set the length with `tf.data.experimental.assert_cardinality`",
        types=("TypeError",),
    )),
    ("FIT714", Saying(
        pattern(r"padded shape .{0,80} is not compatible|Inconsistent shapes: saw|Incompatible shape for value"),
        "the samples of one batch have different shapes",
        "resize or pad the samples to one shape before batching",
    )),
    ("FIT707", Saying(
        pattern(
            r"Incompatible dataset elements|element (?:classes|types|shapes) for the new state must match"
            r"|but got dataset with output|must have the same element structure"
        ),
        "two parts of the pipeline yield elements of different structure",
        "let both yield the same number of tensors, with the same dtypes and shapes",
    )),
    ("FIT706", Saying(
        pattern(
            r"To specify the output signature you need|is not convertible to a tensor with dtype"
            r"|which did not match Tout|Missing required argument: 'Tout'"
        ),
        "a generator or Python function returns something other than what is declared",
        "declare what it yields: `output_signature=…` or `Tout=…`",
    )),
    ("FIT608", Saying(
        pattern(
            r"Mismatching (?:tf\.distribute\.Strategy|ReplicaContext)|Must not nest tf\.distribute"
            r"|Must not be called inside a `?tf\.distribute"
        ),
        "several distribution strategies are used in one place",
        "create one strategy, and use its scope for everything",
    )),
    ("FIT605", Saying(
        pattern(r"is not divisible by `?num_replicas_in_sync|not divisible by the number of (?:replicas|devices)"),
        "the global batch size is not a multiple of the number of replicas",
        "use a multiple: `per_replica * strategy.num_replicas_in_sync`",
    )),
    ("FIT604", Saying(
        pattern(r"DistributedVariable|SyncOnReadVariable|ON_READ variables|in (?:a )?(?:cross-)?replica context"),
        "a variable of a strategy is used outside the context that it belongs to",
        "update it inside `strategy.run(…)`, and create it inside `strategy.scope()`",
    )),
    ("FIT609", Saying(
        pattern(
            r"must be configured at program startup|Cannot set memory growth|Virtual CPUs already set"
            r"|Memory growth cannot differ|Setting memory limit"
        ),
        "the devices are configured too late, or in two ways at once",
        "configure the devices once, before TensorFlow is used, and all GPUs in the same way",
    )),
    ("FIT507", Saying(
        pattern(
            r"Tape is (?:still|not) recording|tape which is not recording|No trainable variables were accessed"
            r"|differentiate a function that returns None|created with persistent=True"
            r"|not tf\.Tensor or tf\.Variable"
        ),
        "`GradientTape` did not record what the gradient is computed of",
        "compute the loss inside the `with tf.GradientTape()` block, and call `gradient` after it",
    )),
    ("FIT314", Saying(
        pattern(
            r"incompatible with input_signature|function was traced with|Could not find matching concrete function"
            r"|Binding inputs to tf\.function failed|missing required arguments"
        ),
        "a traced function or a saved model is called with other arguments than it was traced with",
        "pass tensors with the shapes and dtypes of its signature: `print(f.structured_input_signature)`",
        also=("FIT101",),
    )),
    ("FIT111", Saying(
        pattern(
            r"expected argument #\d+\(zero-based\) to be a Tensor|Expected (?:float|int|string|bool|list"
            r"|DataType)\w* for (?:argument|attr)|to a TensorProto|types matched for|that (?:do not|does not"
            r"|don't all) match|Incompatible type conversion|does not match dtype|Can ?not cast \w+ to"
            r"|Cannot convert (?:the argument `type_value`|a list containing)|dtype must be either"
            r"|Element type not supported|passed to parameter '\w+' of op|is trying to write dtype"
            r"|Expected (?:numeric|tensor)\b.{0,60}got dtype"
        ),
        "a value has a type or dtype that the operation does not accept",
        "convert it first, for example with `tf.cast(x, tf.float32)` or `x.astype(\"float32\")`",
    )),
    ("FIT114", Saying(
        pattern(
            r"Cannot pack an empty list|from empty input list|shorter than minimum length"
            r"|Must pass at least one dataset|variable_list may not be empty|Length of params is currently 0"
            r"|dims of 'image\.shape' must be > 0"
        ),
        "an operation gets an empty list or an empty array",
        "check what loads or filters the data: it yields nothing",
    )),
    ("FIT310", Saying(
        pattern(r"Python functions must return zero or more Tensors"),
        "a traced function returns something that is not a tensor",
        "return tensors, or lists and dicts of them",
    )),
    ("FIT409", Saying(
        pattern(r"should not modify its Python input arguments"),
        "a traced function changes a list or dict that it was called with",
        "return a new list or dict instead",
    )),
    ("FIT503", Saying(
        pattern(r"referencing variables which have been deleted"),
        "a function uses a variable that no object holds any longer",
        "store the variable in an attribute of the model",
    )),
    ("FIT324", Saying(
        pattern(
            r"partially known TensorShape|Shape .{0,60} is not fully defined"
            r"|must be accessible via shape inference|Cannot infer argument `num`|is statically known"
            r"|Rank of convolution must be known|should have known rank"
        ),
        "an operation needs a size that is not known while the function is traced",
        "set the shape before it: `x.set_shape(…)` or `tf.ensure_shape(x, …)`",
        also=("FIT709",),
    )),
    ("FIT405", Saying(
        pattern(r"symbolic output of a Keras layer during eager|from inside a control-flow construct"),
        "a symbolic tensor is used outside the graph that it belongs to",
        "compute it in the same function or model that uses it",
        also=("FIT312",),
    )),
    # --- what operations reject -----------------------------------------------------------------------------
    ("FIT320", Saying(
        pattern(
            r"State \S+ is incompatible with layer|expects \d+ states, but|but was passed \d+ initial states"
            r"|core dimension|is out of bounds for input shape|Dimension \d+ in both shapes must be equal"
            r"|Dimensions must be equal, but are|Shapes must be equal rank|Shape must be (?:at least "
            r"|at most )?rank|must have the same rank|Dimensions \S+ and \S+ are not compatible"
            r"|Incompatible shapes: [\[(]|required broadcastable shapes|shared dimension '|Can not squeeze dim\["
            r"|equal size tensors"
        ),
        "an operation gets tensors whose shapes do not match",
        "print the shapes of its inputs, and compare them with what the operation expects",
        also=("FIT101", "FIT205"),
    )),
)  # fmt: skip
"""The message, and the cause that it shows by its words; the first that matches counts."""

_BY_TYPE: tuple[tuple[str, Saying], ...] = (
    ("FIT320", Saying(
        pattern(
            r"(?i:broadcast(?:able)? shapes|not broadcastable|incompatible shapes|(?:shape|dimension|rank|size"
            r"|length|vector|matrix|scalar|depth|\d-d(?:imensional)?)s?\b.{0,120}\b(?:must|should|expected"
            r"|mismatch|match|out of bounds|compatible|equal|but (?:got|is|received|saw))|(?:must|should|expected"
            r"|requires)\b.{0,80}\b(?:shape|dimension|rank|size|length|vector|matrix|scalar|depth"
            r"|\d-d(?:imensional)?)s?\b)|Expected (?:begin|size)\[\d+\] in|In\[[01]\]|Must provide as many biases"
            r"|squeeze dim\[|axis \d+ is out of bounds|not (?:a )?(?:matrix|vector|scalar)\b"
        ),
        "an operation gets tensors whose shapes it does not accept",
        "print the shapes of its inputs, and compare them with what the operation expects",
        types=("InvalidArgumentError",),
        also=("FIT101", "FIT205"),
    )),
    ("FIT320", Saying(
        pattern(
            r"(?i:\b(?:shape|rank|dimension)s?\b.{0,120}\b(?:must|should|expected|mismatch|match|compatible|equal"
            r"|but (?:got|is|received|saw))\b)"
        ),
        "an operation gets a tensor whose shape it does not accept",
        "print the shapes of its inputs, and compare them with what the operation expects",
        types=("ValueError",),
        of_framework=True,
        also=("FIT101", "FIT304"),
    )),
    ("FIT327", Saying(
        pattern(
            r"(?:[Ii]nvalid|[Uu]nknown|[Uu]nsupported(?! operand)|[Uu]nrecognized|[Uu]nexpected|Inappropriate"
            r"|Received(?: an?)?(?: invalid| negative)?) (?:value |valid |mode |type "
            r"|keys? )?(?:received )?(?:for |of )?(?:the )?(?:argument |parameter "
            r"|attribute )?[`'\"]?(?P<name>\w+)|[`'\"](?P<named>\w+)(?:=\w+)?[`'\"](?: argument| parameter"
            r"| value)?.{0,40} (?:must|should|cannot|can(?:no|')t|can only|has to|needs? to|may only|only supports"
            r"|does not support)\b|(?:[Aa]rgument|[Pp]arameter) [`'\"]?(?P<also_named>\w+)[`'\"]? (?:must|should"
            r"|cannot|can only|is expected)"
            r"|Expected (?:argument )?[`'\"]?(?P<expected>\w+)[`'\"]?(?: argument)? (?:to be|>)|(?:must|should"
            r"|can only|may only) be (?:one of|in|either|an?|set|between|[<>]|greater|less|at least|non|positive"
            r"|strictly|specified|provided|evenly divisible|higher|lower|tuple|list)\b|cannot (?:contain|be)\b"
            r"|is not a (?:valid|supported)|not understood|does not support (?:a )?\w+ [<>]=?|(?:Expected|Allowed"
            r"|Supported|Acceptable|Valid) (?:values|one of|formats|modes)|Could not interpret|(?:should"
            r"|must) have (?:an? )?(?:attribute )?`\w+`|is (?:not|only) supported|is unsupported|are not supported"
            r"|can only be used|at the same time|Only one of|[Ii]nvalid \w+ argument|not allowed"
        ),
        "Keras rejects the value of an argument",
        "use one of the values that the message lists",
        types=("ValueError", "TypeError", "Exception", "NotImplementedError"),
    )),
)  # fmt: skip
"""Words that mean this only because Keras or TensorFlow raised the exception."""
_RECEIVED = pattern(r"\b(?:[Rr]eceived|Got|Found|You passed)\b:? ?[`'\"(\[<]?\w+")
"""Without a traceback, the style in which Keras quotes the rejected value."""

_BY_TYPE_ALONE: tuple[tuple[str, Saying], ...] = tuple(
    (cause, Saying(pattern(""), problem, remedy, types=types, also=also))
    for cause, types, problem, remedy, also in (
        ("FIT716", ("DataLossError",), "a data file is damaged or has another format than the program expects",
         "write or download the file again", ("FIT908",)),
        ("FIT703", ("OutOfRangeError",), "the data ended before the epoch did",
         "repeat the dataset with `.repeat()`, or reduce `steps_per_epoch`", ("FIT705",)),
        ("FIT606", ("UnavailableError", "DeadlineExceededError"), "another process of the cluster does not answer",
         "check `TF_CONFIG` and that every worker runs", ()),
        ("FIT327", ("UnimplementedError",), "TensorFlow has no implementation of this operation for these arguments",
         "change the value, dtype, shape or device that the message names", ("FIT601", "FIT111")),
        ("FIT906", ("InternalError",), "TensorFlow failed inside, which is mostly a matter of the GPU or its memory",
         "check the GPU with `nvidia-smi`, and try the program with `CUDA_VISIBLE_DEVICES=-1`", ("FIT806",)),
        ("FIT408", ("OperatorNotAllowedInGraphError",), "Python control flow is applied to a symbolic tensor",
         "use `tf.cond`, `tf.while_loop` or `tf.where`", ()),
    )
)  # fmt: skip
"""Exceptions that only TensorFlow raises, and for one reason."""

BY_MESSAGE, BY_TYPE = "raised here", "raised by TensorFlow here"
"""The subject of a finding says what it rests on."""


def known_by_words(failure: FailureFacts) -> dict[str, Cause]:
    """Return the cause that a message shows by its words alone, with a judge that says so; {} if there is none."""
    row = next(_rows(failure), None)
    if row is None:
        return {}
    identity, saying, subject = row
    cause = replace(catalogue()[identity], judges=[])

    def from_words(failure: FailureFacts) -> Iterator[Finding]:
        yield from findings_from_message(cause, failure, (saying,), subject)

    cause.after_failure(from_words)
    return {identity: cause}


_OF_ANOTHER_TASK = "Check the task logs for an earlier error"


def _rows(failure: FailureFacts) -> Iterator[tuple[str, Saying, str]]:
    """Yield the rows that match: id, words, and what the finding rests on."""
    if _OF_ANOTHER_TASK in failure.message:
        return  # the error of that task is the reason
    beside = is_beside_keras(failure)
    elsewhere = is_of_another_library(failure.frames) or bool(raised_by(failure))
    if elsewhere and not beside and failure.type != "SIGABRT":
        return
    quoted = any(frame.library for frame in failure.frames) or _RECEIVED.search(failure.message)
    tables = [(KNOWN, BY_MESSAGE)]
    if not beside:
        tables += [(_BY_TYPE if quoted else _BY_TYPE[:-1], BY_TYPE), (_BY_TYPE_ALONE, BY_TYPE)]
    for table, subject in tables:
        for identity, saying in table:
            merges = identity == "FIT320" and failure.layer_class in MERGES
            if not merges and match_message(failure, saying) is not None:
                yield identity, saying, subject
