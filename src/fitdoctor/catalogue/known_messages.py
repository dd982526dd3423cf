"""What Keras and TensorFlow say when no judge of a cause has more than the words of the message.

The judges of the causes come first: they compare the message with the program and the data. This table is for a text
without either: a line from a log, a traceback of an older version, a message pasted into a question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fitdoctor.catalogue import Cause, catalogue
from fitdoctor.catalogue.rules import Rule, findings_from_failure, match_message
from fitdoctor.diagnosis import Confidence, Finding
from fitdoctor.facts import FailureFacts
from fitdoctor.failure.frames import is_framework
from fitdoctor.failure.raised_by import (
    KERAS_CALL,
    is_beside_keras,
    is_of_another_library,
    raised_by,
    raised_by_backend,
)
from fitdoctor.records import replace
from fitdoctor.source.models.merge_rules import MERGES
from fitdoctor.source.project import NO_FILES

KNOWN: tuple[tuple[str, Rule], ...] = (
    # --- values that became NaN -----------------------------------------------------------------------------
    ("FIT001", Rule(
        re.compile(
            r"[Nn]a[Nn] in summary histogram|Inf or NaN global norm|LossTensor is inf or nan"
            r"|NaN loss during training|Model diverged with loss = NaN|NaN or Inf loss encountered"
            r"|Tensor had (?:NaN|Inf|NaN and Inf) values|check_numerics"
        ),
        "a loss, a gradient or a weight became NaN or infinite during training",
        "lower the learning rate, and check the inputs and labels for NaN and for values that are not scaled",
    )),
    # --- inputs ---------------------------------------------------------------------------------------------
    ("FIT101", Rule(
        re.compile(
            r"input depth must be evenly divisible by filter depth: (?P<found>\d+) vs (?P<expected>\d+)"
            r"|input and filter must have the same depth: (?P<found_2>\d+) vs\.? (?P<expected_2>\d+)"
            r"|number of input channels must (?:match the kernel's input channels"
            r"|be evenly divisible by the number)|number of (?:input )?channels (?:does not match|of the input)"
        ),
        "a convolution gets images with a different number of channels than its kernel was built for",
        "load the images with the number of channels of the model input: 1 for gray images, 3 for RGB",
        also=("FIT104",),
    )),
    ("FIT101", Rule(
        re.compile(
            r"\"?input_length\"? is (?P<expected>\S{1,40}), but received input has shape (?P<found>\([^)]*\))"
            r"|was passed incompatible inputs\. For input '?(?P<name>[^',]{1,80})'?, expected shape"
            r"|Keras symbolic input/output's shape \S.{0,80} is not ?compatible with supplied shape"
        ),
        "the input has a different length than the model was built for",
        "compare the shape of the data with the input shape of the model: `print(x.shape, model.input_shape)`",
    )),
    ("FIT103", Rule(
        re.compile(
            r"incompatible with the specified batch size of your Input"
            r"|specified batch sizes of the Input Layers are"
        ),
        "the batch size differs from the one that is fixed in the input shape of the model",
        "remove the batch axis from the input shape: `Input(shape=…)` has none",
    )),
    ("FIT114", Rule(
        re.compile(r"(?:array|data|shape)\b[^\n(]{0,30} shape:? ?\(0[,)]"),
        "the data has no samples: its first axis has length 0",
        "check what loads or filters the data: `print(len(x))` before the call",
        types=("ValueError",),
        of_framework=True,
    )),
    ("FIT102", Rule(
        re.compile(
            r"Image augmentation layers are expecting inputs to be rank|Expected image tensor to have rank"
            r"|Input data in `?\w+`? should have rank 4|Input to `\.fit\(\)` should have rank 4"
            r"|Expected image array to have rank 3|Expected an image array with shape"
            r"|Expected the input image to be rank|Input arrays must be multi-channel 2D images"
        ),
        "the images have a missing or an extra axis",
        "pass one image as (height, width, channels) and several as (images, height, width, channels)",
    )),
    ("FIT304", Rule(
        re.compile(
            r"Inputs? (?:to `?\w+`? )?should (?:have rank|be at least) \d|Input should be at least \dD"
            r"|rank must be 3 \(1D conv\) or 4|Pooling inputs's shape must be|Input rank not supported"
            r"|should be passed an `input_shape` ?with at least 3 dimensions"
            r"|(?:convolution )?inputs? must be \d-dimensional|tensor_in must be \d-dimensional"
            r"|only supports? \dD(?: or \dD)? input tensors|Cannot apply softmax to a tensor that is 1D"
            r"|Expected input `x` to have rank 2|Convolution expects input with rank \d, got \d"
            r"|does not have enough dimensions for all core dimensions"
        ),
        "a layer gets a tensor with too few or too many axes",
        "compare the axes of the tensor with what the layer expects: `Conv2D` needs (batch, rows, columns, "
        "channels), recurrent layers (batch, steps, features)",
        also=("FIT102",),
    )),
    ("FIT304", Rule(
        re.compile(
            r"is incompatible with (?:the )?layer\b.{0,80}expected (?:min_)?ndim=(?P<expected>\d+), "
            r"found ndim=(?P<found>\d+)"
        ),
        "a layer expects {expected} axes including the batch axis, but its input has {found}",
        "compare the shape of the data with the input shape of the model, and batch the dataset: "
        "`print(x.shape, model.input_shape)`",
        also=("FIT102", "FIT701"),
    )),
    ("FIT107", Rule(
        re.compile(r"`sequences` must be a list of iterables|`sequences` must be iterable"),
        "`pad_sequences` receives something other than a list of sequences",
        "convert generators to lists first: `pad_sequences([list(one) for one in sequences])`",
    )),
    ("FIT106", Rule(
        re.compile(
            r"StringToNumberOp could not correctly convert string|Cast string to \w+ is not supported"
            r"|(?:Unsupported|Invalid) (?:numpy )?(?:dtype|type)[: ]+(?:<U\d+|object|string)"
        ),
        "a string reaches an operation that expects numbers",
        "encode the strings as numbers first, for example with `StringLookup` or `pandas.get_dummies`",
    )),
    ("FIT111", Rule(
        re.compile(r"Cast \w+ to string is not supported"),
        "numbers reach an operation that expects strings",
        "pass the text itself: the model encodes it",
    )),
    ("FIT107", Rule(
        re.compile(
            r"Can(?:'t|not) convert (?:non-rectangular )?Python sequence|Failed to convert elements of "
            r"|Expected an array data type but received an "
            r"|Please provide as model targets either a single array or a list of arrays|Expected a (?:list"
            r"|tuple) of `numpy\.ndarray` objects|data should be a Numpy array, or list/dict of Numpy arrays"
        ),
        "a list or another Python object is passed where Keras expects arrays of one shape and dtype",
        "convert the data with `numpy.array(…)`; sequences of different lengths need `pad_sequences` first",
        also=("FIT714",),
    )),
    ("FIT108", Rule(
        re.compile(
            r"(?i:input arrays should have the same number of samples)"
            r"|(?:Data and targets|(?i:`?x`? \(images tensor\) and `?y`? \(labels\))) (?:have|should)\b.{0,12}\bsame length"
            r"|All (?:target|sample_weight) arrays (?:\(y\) )?should have the same number of samples"
            r"|Sample_weight arrays should have the same number|Expected the lengths of `labels` to match"
            r"|Received a (?:list|tuple) of NumPy arrays with different lengths"
            r"|All the arrays in `x` should have the same length"
        ),
        "inputs, labels or sample weights have different numbers of samples",
        "pass one label per sample: compare `len(x)` with `len(y)`",
    )),
    ("FIT303", Rule(
        re.compile(r"checking model target: expected no data, but got"),
        "labels are passed, but no output of the model has a loss",
        "pass a loss for the output to `compile`",
    )),
    ("FIT109", Rule(
        re.compile(
            r"features should be a dictionary of"
            r"|(?:do not|cannot) pass a dictionary as model|The model expects \d+ \w+ arrays, but only received one"
            r"|you are passing a list as input to your model|No data provided for \"|expected no data, but got"
            r"|Passing a dictionary input to a Sequential Model|called with an invalid input structure"
            r"|Expected to be provided an array \(in dict|expected \d+ input\(s\)\. Received \d+ instead"
            r"|is not optional, but None was passed"
            r"|Invalid `?input_shape`? argument .{0,200}: (?:the )?model (?:has|expects)"
            r"|Do not pass inputs that mix Numpy arrays and TensorFlow|does not have the expected inputs keys"
            r"|inputs must be explicitly declared using a keras|Layer \S+ expects \d+ inputs, but it received"
            r"|layer (?:must be called on|accepts inputs) (?:a )?list of"
        ),
        "the number or the names of the inputs differ from those of the model",
        "pass one array per `Input`, in the order of `model.inputs` or as a dict with their names",
    )),
    ("FIT109", Rule(
        re.compile(
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
    ("FIT105", Rule(
        re.compile(r"Unable to get element (?:from the feed )?as bytes|Unsupported feed type|^Unsupported object type \w+"),
        "an array of Python objects is fed to TensorFlow, which expects numbers or strings",
        "convert the array to one dtype: `x.astype(\"float32\")`",
    )),
    ("FIT105", Rule(
        re.compile(r"A SciPy sparse matrix was passed to a model that expects dense inputs"),
        "a SciPy sparse matrix is passed to a model with dense inputs",
        "convert it with `.toarray()`, or declare the input with `sparse=True`",
    )),
    ("FIT111", Rule(
        re.compile(
            r"Input must be either real or complex|Incompatible types: <dtype"
            r"|Cannot convert \S.{0,60} to EagerTensor of dtype \w+"
            r"|Expected \w+, (?:but )?got .{1,200} of type '\w+' instead|does not support RaggedTensors"
            r"|only supports RaggedTensors"
            r"|Value for attr '\w+' of "
            r"|expected argument #\d+\(zero-based\) to be a Tensor|Expected (?:float|int|string|bool|list"
            r"|DataType)\w* for (?:argument|attr)|to a TensorProto|types matched for|that (?:do not|does not"
            r"|don't all) match|Incompatible type conversion|does not match dtype|Can ?not cast \w+ to"
            r"|Cannot convert (?:the argument `type_value`|a list containing)|dtype must be either"
            r"|Element type not supported|passed to parameter '\w+' of op|is trying to write dtype"
            r"|Expected (?:numeric|tensor)\b.{0,60}got dtype"
        ),
        "a value has a type or dtype that the operation does not accept",
        "convert it first to the type that the message names, for example with `tf.cast(x, tf.float32)`",
    )),
    ("FIT111", Rule(
        re.compile(r"Tensor conversion requested dtype string for Tensor with dtype (?P<found>\w+)"),
        "a tensor of dtype {found} is passed where strings are expected",
        "pass strings: missing values turn a column of texts into numbers or objects, so replace them and use "
        "`.astype(str)`",
    )),
    ("FIT111", Rule(
        re.compile(r"Tensor conversion requested dtype (?P<expected>\w+) for Tensor with dtype (?P<found>\w+)"),
        "a tensor of dtype {found} is passed where {expected} is expected",
        "convert it first: `tf.cast(x, tf.{expected})`",
    )),
    ("FIT111", Rule(
        re.compile(
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
    ("FIT203", Rule(
        re.compile(r"indices\[\d+\] = \[[-\d, ]+\] is out of bounds: need 0 <= index < \["),
        "an index is outside the tensor that it points into; mostly, a label is larger than the number of classes",
        "number the labels from 0, and give the output one unit per class",
        also=("FIT113",),
        confidence=Confidence.POSSIBLE,
    )),
    ("FIT113", Rule(
        re.compile(r"indices(?:\[[\d, ]*\])? = (?P<value>-\d+) is not in \[0, ?(?P<high>\d+)\)"),
        "index {value} is negative, but an `Embedding` or a gather expects ids from 0 up to {high} (exclusive)",
        "map missing and unknown values to a separate id, and do not subtract 1 from ids that start at 0",
    )),
    ("FIT113", Rule(
        re.compile(r"indices(?:\[[\d, ]*\])? = (?P<value>\d+) is not in \[0, ?(?P<high>\d+)\)"),
        "index {value} is outside 0..{high} (exclusive): an `Embedding` or a gather has too few rows",
        "set `input_dim` of the `Embedding` to the largest id + 1, or map larger ids to an id for unknown "
        "words",
    )),
    ("FIT113", Rule(
        re.compile(r"must be smaller than the embedding layer's input dimension|does not index into param"),
        "an id or index is larger than the table that it selects from",
        "use the tokenizer that belongs to the model, and resize the embedding if tokens were added",
    )),
    ("FIT323", Rule(
        re.compile(r"Discrepancy between trainable weights and collected"),
        "`trainable` was changed after `compile`, so the change has no effect yet",
        "call `compile` again after `trainable` is set",
        types=("UserWarning",),
    )),
    ("FIT412", Rule(
        re.compile(r"triggered tf\.function retracing"),
        "a traced function is traced again at every call",
        "define it once outside the loop, and pass tensors instead of Python numbers",
        types=("UserWarning",),
    )),
    ("FIT114", Rule(
        re.compile(
            r"Empty training data|Expected input data to be non-empty|Expect x to be a non-empty"
            r"|samples, which is not sufficient to split it|Received an empty list dataset"
            r"|adapt\(\) received an empty iterable|Resulting \w+ side dataset split will be empty"
            r"|[Ff]ound 0 samples|Cannot set an empty vocabulary"
        ),
        "the data has no samples",
        "check what loads or filters the data: `print(len(x))` before `fit`",
    )),
    # --- labels ---------------------------------------------------------------------------------------------
    ("FIT705", Rule(
        re.compile(r""),
        "the generator has no samples, so it cannot compute where a batch begins",
        "check the folder that it reads: it finds no file that matches",
        types=("ZeroDivisionError",),
        place=re.compile(r"preprocessing/(?:image|sequence)\.py:|image/\w*iterator\.py:|legacy/preprocessing/image\.py:"),
        also=("FIT114",),
    )),
    ("FIT107", Rule(
        re.compile(r"indices are out-of-bounds|not in index|None of \[|positional indexers are out-of-bounds"),
        "a pandas object is passed to a version of Keras that takes its rows by position, as of an array",
        "pass arrays: `x.to_numpy()` (`x.values` in older versions of pandas)",
        types=("IndexError", "KeyError"),
        place=re.compile(r"/pandas/"),
        of_framework=True,
    )),
    ("FIT705", Rule(
        re.compile(r"local variable '(?:logs|epoch_logs|batch_logs|batch_index|index_array|val_outs)'"),
        "the data yields no batches, so Keras has no result of the epoch",
        "check the number of samples and of steps: both must be at least 1",
        types=("UnboundLocalError",),
        also=("FIT114",),
    )),
    ("FIT705", Rule(
        re.compile(r"'NoneType' object has no attribute 'items'"),
        "the epoch had no batches, so Keras has no results to report",
        "check the number of samples and of steps; if the model has its own `train_step`, return a dict of metrics from it",
        types=("AttributeError",),
        raised_in=("_pythonify_logs", "Trainer._pythonify_logs"),
        also=("FIT114", "FIT316"),
    )),
    ("FIT114", Rule(
        re.compile(r"zero-size array to reduction operation"),
        "an array is empty where Keras looks for its largest or smallest value",
        "check what loads or filters the data: `print(len(y))` before the call",
        of_framework=True,
    )),
    ("FIT114", Rule(
        re.compile(r"pop from an empty set"),
        "the data has no samples",
        "check what loads or filters the data: `print(len(x))` before the call",
        types=("KeyError",),
        of_framework=True,
    )),
    ("FIT202", Rule(
        re.compile(
            r"Rank of labels \(received \d+\) should equal rank of logits minus 1"
            r"|labels must be 1-D, but got shape|expected a dimension of 1, got \d+.{0,200}(?:remove_squeezable"
            r"|sparse_categorical)"
        ),
        "the sparse loss gets labels with a class axis: one-hot labels instead of integer class labels",
        "use `categorical_crossentropy`, or pass integer class labels: `y.argmax(axis=-1)`",
        also=("FIT217",),
    )),
    ("FIT203", Rule(
        re.compile(
            r"Saw a non-null label \(index >= num_classes - 1\)"
            r"|`labels` out of bound|targets\[\d+\] is out of range|`predictions` out of bound|[Ll]abels? (?:id "
            r"|value )?(?:is |are )?out of (?:bound|range)|All labels must (?:be nonnegative|be in)"
            r"|label must be in|[Ll]abel(?:s)? .{0,40}outside the valid range"
        ),
        "a label is outside the range of classes",
        "number the classes from 0, and use as many units or classes as there are labels",
    )),
    ("FIT107", Rule(
        re.compile(r"logits and labels must have the same shape \((?P<output>\(.{1,40}\)) vs \(\)\)"),
        "the labels are a list of numbers, each of which Keras takes for the labels of one output",
        "pass the labels as one array: `numpy.array(labels)`",
    )),
    ("FIT205", Rule(
        re.compile(
            r"Arguments `target` and `output` must have the same"
            r"|logits and labels must have the same first dimension"
            r"|`?logits`? and `?labels`? must have the same shape"
            r"|`?logits`? and `?labels`? must (?:be broadcastable|have same|be same)"
            r"|Targets `y_true` are expected to be a tensor of shape"
            r"|activations and gradients must have the same batch|logits and targets must have the same shape"
            r"|Mismatch between expected batch size and model output batch size"
            r"|Condition x == y did not hold.{0,80}(?i:crossentropy|cross_entropy|loss)"
        ),
        "labels and outputs have different shapes",
        "compare `y.shape` with `model.output_shape`: the last layer needs one unit per label column",
        also=("FIT217",),
    )),
    ("FIT212", Rule(
        re.compile(r"`class_weight` must contain all classes in the data\. The classes \{(?P<classes>[^}]{1,200})\}"),
        "the labels contain the classes {classes}, which have no weight in `class_weight`",
        "add a weight for every class that the labels contain",
    )),
    ("FIT213", Rule(
        re.compile(
            r"`?class_weight`? (?:is )?not supported for 3\+ dimensional"
            r"|`?class_weight`? must be a dict.{0,40}outputs"
            r"|`?class_weight`? is currently not supported when using tf\.distribute"
        ),
        "`class_weight` does not work with these outputs",
        "pass `sample_weight` instead, with one weight per sample or time step",
    )),
    ("FIT214", Rule(
        re.compile(
            r"Found a sample_weight (?:array )?|Received sample weight with shape"
            r"|Provided sample weights must have same length|`sample_weight` and `class_weight` cannot be"
            r"|cannot specify `class_weight` and `sample_weight`|when providing a single `sample_weight` array"
            r"|`values` \S.{0,60} vs `sample_weight`|match target structure and sample_weight_modes"
            r"|sample_weight_mode should be|weights can not be broadcast"
        ),
        "the sample weights do not match the labels, or are combined with `class_weight`",
        "pass one weight per sample, as an array with the length of `y`",
    )),
    ("FIT215", Rule(
        re.compile(r"Target data is missing|[Tt]arget(?:s)? (?:is|are) missing"),
        "the model has a loss but gets no labels",
        "pass `y` to `fit`, or yield (inputs, labels) pairs",
    )),
    ("FIT216", Rule(
        re.compile(
            r"For a model with multiple outputs"
            r"|Unknown entr(?:y|ies) in `?(?:loss|loss_weights|sample_weight|sample_weight_mode|metrics"
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
    ("FIT216", Rule(
        re.compile(r"Metric should be a callable, (?:found|received): <?(?P<kind>[\w.]+)"),
        "`metrics` contains an object of the class `{kind}`, which is not a metric",
        "pass a function of `y_true` and `y_pred`, or an instance of a subclass of `keras.metrics.Metric`",
    )),
    ("FIT302", Rule(
        re.compile(r"^'?Unknown (?P<kind>loss|metric) function'?\.?$"),
        "Keras does not know the {kind} that is passed by its name",
        "pass the function itself, without quotes",
    )),
    ("FIT218", Rule(
        re.compile(
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
    ("FIT301", Rule(
        re.compile(
            r"must compile (?:a|your|the) model before|model needs to be compiled before"
            r"|Model must be compiled before|must call `?(?:model\.)?compile\(\)`? before"
        ),
        "the model is trained before it is compiled",
        "call `model.compile(optimizer=…, loss=…)` first",
    )),
    ("FIT303", Rule(
        re.compile(
            r"compile\(\) missing \d required positional arguments?: '(?:loss|optimizer)"
            r"|compile\(\) takes at least \d arguments"
        ),
        "`compile` is called without a loss or an optimizer",
        "pass both: `model.compile(optimizer=\"adam\", loss=…)`",
    )),
    ("FIT901", Rule(
        re.compile(r"^(?:\w+\.)?(?P<name>get_updates|_create_slots|_resource_apply_\w+)\(\) (?:missing|takes|got)"),
        "an optimizer defines `{name}` with the arguments of another version of Keras",
        "use a built-in optimizer, or install the version that this one was written for",
        types=("TypeError",),
        also=("FIT314",),
    )),
    ("FIT908", Rule(
        re.compile(r"__init__\(\) (?:missing|got an unexpected|takes) "),
        "a class of the saved model cannot be created again from what the file says",
        "let `get_config` of custom classes return every argument of `__init__`, and accept `**kwargs`; or rebuild the "
        "model in code and call `load_weights`",
        types=("TypeError",),
        raised_in=("from_config", "deserialize_keras_object", "model_from_config", "_deserialize_model"),
        also=("FIT901",),
    )),
    ("FIT302", Rule(
        re.compile(
            r"\b(?:\w*cross_?entropy\w*|Dense|Conv\w*|LSTM|GRU|Embedding|Dropout|Adam\w*|SGD|RMSprop|Model|Sequential|Functional"
            r"|\w*(?:Pooling|Checkpoint|Stopping|Board)\w*)(?:\.__init__"
            r"|\.\w+)?\(\) got an unexpected keyword argument '(?P<name>\w+)'"
        ),
        "a Keras function gets an argument that it does not have: `{name}`",
        "check the name of the argument against the documentation of the installed version",
        types=("TypeError",),
        also=("FIT902",),
    )),
    ("FIT302", Rule(
        KERAS_CALL,
        "a Keras function is called with arguments that it does not have",
        "compare the call with the signature of the function in the installed version",
        types=("TypeError",),
        also=("FIT902", "FIT901"),
    )),
    ("FIT302", Rule(
        re.compile(
            r"(?<!call\(\) )(?<!call__\(\) )got (?:an unexpected|multiple values for) keyword argument "
            r"'(?P<name>training|mask|dtype|ragged|sparse"
            r"|batch_shape|batch_input_shape|input_shape|input_dim|lr|learning_rate|decay|kernel_size|data_format"
            r"|dim_ordering|border_mode|nb_epoch|nb_filter|inputs|outputs|epochs|filters|padding|return_sequences|input_length|trainable|kernel_initializer|recurrent_activation|units)'"
        ),
        "a class of Keras, or a function that Keras calls, does not accept the argument `{name}`",
        "install the version that the program was written for, or accept it: `def call(self, inputs, **kwargs)`",
        types=("TypeError",),
        also=("FIT314", "FIT902", "FIT908"),
    )),
    ("FIT302", Rule(
        re.compile(
            r"\(\) got an unexpected keyword argument '(?P<name>\w+)'|\(\) takes (?:exactly|at least|at most|from"
            r"|\d).{0,60}arguments?|\(\) missing \d+ required|got multiple values for (?:keyword )?argument"
        ),
        "a function of Keras, or one that Keras calls, does not accept these arguments",
        "compare the call with the signature of the function in the installed version",
        types=("TypeError",),
        also=("FIT314", "FIT902"),
        of_framework=True,
    )),
    ("FIT302", Rule(
        re.compile(r"Unrecognized keyword arguments passed to (?P<owner>\w+): \{'(?P<name>\w+)'"),
        "`{owner}` has no argument `{name}`",
        "remove `{name}`, or pass it where the installed version accepts it: some arguments of a layer belong to its call",
        also=("FIT902",),
    )),
    ("FIT302", Rule(
        re.compile(
            r"Invalid keyword argument\(s\)|Arguments not recognized|[Kk]eyword arguments? not understood"
            r"|Unrecognized (?:keyword )?arguments?\b|keyword arguments? (?:passed to \S+ )?aren't supported"
            r"|Unexpected keyword arguments?\b|argument\(s\) are not supported|Unknown keywords? argument"
            r"|does not take a `\w+` argument|was passed both positionally and as a keyword"
            r"|is not a valid argument, kwargs should be empty"
        ),
        "a Keras function gets an argument that it does not have",
        "check the name of the argument against the documentation of the installed version",
        also=("FIT902",),
    )),
    ("FIT305", Rule(
        re.compile(
            r"requires inputs with matching shapes|merge tensors with different batch sizes"
            r"|should be called on inputs of the same shape"
            r"|layers of same output shape can be merged|Dimension incompatibility|do batch_dot on inputs"
            r"|mode can only merge layers with"
            r"|batch_dot over axis 0|ConcatOp : (?:Dimensions|Ranks) of|merge layer should be called on a list"
            r"|`?\w+`? layer should be called on (?:a list|exactly 2)|Merge (?:should only be applied to"
            r"|must be called on|can only be called on)|\w+ merge takes exactly 2 layers"
            r"|Shapes of all inputs must match: values\[0\]|All dimensions except \d+ must match\. Input"
        ),
        "a layer merges tensors whose shapes do not match",
        "pass a list of tensors that have the same shape, except along the axis that is concatenated",
    )),
    ("FIT306", Rule(
        re.compile(
            r"Computed output size would be negative|convolution operation resulted in an empty output"
            r"|with dimension 0 at reduction axis|must be smaller than the input length|Negative dimension size"
            r"|size contains a dimension with value <= 0"
            r"|results? in a negative (?:output )?(?:dimension|size)|impossible output shape"
            r"|kernel size .{0,60}larger than (?:the )?input"
        ),
        "the input is too small for its convolutions and pooling: nothing is left of it",
        "use larger inputs, fewer pooling layers, or `padding=\"same\"`",
        also=("FIT104",),
    )),
    ("FIT308", Rule(
        re.compile(r"must call `?super\(\)\.__init__\(\)`?|call `?super\("),
        "a subclass of a Keras class does not call `super().__init__()`",
        "call `super().__init__()` first in its `__init__`",
    )),
    ("FIT308", Rule(
        re.compile(
            r"'(?!Functional|Sequential|Model\b|Tensor|Input|Dense|Conv|LSTM)(?P<name>\w+)' object has no attribute "
            r"'(?:built|_dtype_policy|_trainable_weights|_losses|_initial_weights|_lock|_tracker|_layers"
            r"|_self_setattr_tracking|_obj_reference_counts\w*|_is_graph_network|_callable_losses|_metrics)'"
        ),
        "`{name}` does not call `super().__init__()`, which sets this attribute",
        "call `super().__init__()` first in its `__init__`",
        types=("AttributeError",),
        also=("FIT903",),
    )),
    ("FIT309", Rule(
        re.compile(
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
    ("FIT310", Rule(
        re.compile(r"'NoneType' object has no attribute '_keras_\w+'"),
        "the `call` method of a layer returns nothing",
        "return the output tensor at the end of `call`",
        raised_in=("_add_inbound_node",),
    )),
    ("FIT310", Rule(
        re.compile(
            r"`call` method of layer \S+ should return a tensor|`call` method should return a Tensor or a list"
            r"|operation outputs must be tensors|returned a non-tensor"
            r"|`?output_shape`? function must return a tuple|`compute_output_shape\(\)` of layer \S+ is returning"
            r"|`get_output_shape_for` method of layer|`get_config\(\)` method of .{0,200} should return a dict"
        ),
        "a method of a layer returns nothing, or not what Keras expects",
        "return the output tensor at the end of `call`",
    )),
    ("FIT310", Rule(
        re.compile(
            r"Attempt to convert a value \(None\)|None values not supported"
            r"|Cannot convert (?:a )?None(?:Type)? (?:value )?to|Got unexpected `?None"
        ),
        "`None` reaches an operation that needs a tensor",
        "find what is `None`: a `call`, loss or metric without `return`, labels that are not passed, or an "
        "axis without a size",
        also=("FIT215", "FIT324"),
    )),
    ("FIT111", Rule(
        re.compile(
            r"Attempt to convert a value \((?!.{0,120}Dataset\b).{1,300}?\) with an unsupported type "
            r"\(<class '(?P<kind>[\w.]+)'>\)"
        ),
        "a value of type `{kind}` cannot become a tensor",
        "convert it first, for example with `numpy.array(…)` or `x.astype(\"float32\")`",
        also=("FIT107", "FIT901"),
    )),
    ("FIT309", Rule(
        re.compile(
            r"'(?P<kind>str|int|float|bool|list|tuple|dict|NoneType|DataFrame|Series|function)' object has no "
            r"attribute '_keras_\w+'"
        ),
        "a layer or model is called on an object of type `{kind}`, which is not a tensor",
        "call it on an array or on the output of another layer",
        types=("AttributeError",),
    )),
    ("FIT309", Rule(
        re.compile(
            r"'\w*Tensor\w*' object has no attribute '(?P<name>add_loss|add|compile|fit|predict|evaluate|summary|layers"
            r"|save(?:_weights)?|load_weights|(?:get|set)_weights|trainable_(?:weights|variables)|output_shape)'"
        ),
        "`{name}` belongs to a model or a layer, but this is a tensor: the output of one",
        "keep the model itself: `model = keras.Model(inputs, outputs)`, then `model.{name}`",
        types=("AttributeError",),
    )),
    ("FIT309", Rule(
        re.compile(r"'\w*Tensor\w*' object has no attribute 'get_output_\w+_at'"),
        "a tensor is passed where a layer is expected",
        "merge tensors with a function or a layer that is called on them: `add([a, b])`, `Concatenate()([a, b])`",
        types=("AttributeError",),
    )),
    ("FIT312", Rule(
        re.compile(
            r"Keras symbolic inputs/outputs do not|Output tensors? (?:to"
            r"|of) a \S+ (?:model )?must be the output of a|missing previous layer metadata"
            r"|attribute of KerasTensor is immutable|Cannot iterate over a [Tt]ensor"
            r"|not publicly exposed in the TensorFlow API"
            r"|ragged or sparse tensor outputs are currently not supported|has no attribute '_keras_(?:history"
            r"|shape|mask)'|'NoneType' object has no attribute '_?inbound_nodes'"
            r"|A KerasTensor cannot be used as input to a"
        ),
        "an operation that is not a Keras layer is applied between the layers of the model",
        "wrap it in a custom layer or a `Lambda` layer, or use `keras.ops`",
        also=("FIT903",),
    )),
    ("FIT903", Rule(
        re.compile(
            r"initialize `\w+` layer with a|(?:isn't|is not) a supported layer type"
            r"|layer need to be a .{0,40}instance|[Oo]ptimizer must have a \"?(?:lr|learning_rate)\"?"
        ),
        "a layer or optimizer is not one of the Keras that is in use",
        "pass a layer object, not its output, and import everything from either `keras` or `tf.keras`",
        also=("FIT309",),
    )),
    ("FIT327", Rule(
        re.compile(r"'(?P<kind>NoneType|list|tuple|dict|str|function)' object has no attribute 'set_(?:model|params)'"),
        "`callbacks` contains an object of type `{kind}`, which is not a callback",
        "pass instances of `keras.callbacks.Callback` in one flat list",
    )),
    ("FIT327", Rule(
        re.compile(
            r"'(?P<kind>(?!NoneType)\w+)' object has no attribute '(?P<name>layers|inputs|outputs?|optimizer|targets"
            r"|sample_weights|metrics_names|validation_data|_feed_\w+)'"
        ),
        "this callback works with a Keras model, but is used with an object of the class `{kind}`, which has no `{name}`",
        "remove the callback, or use one that was written for `{kind}`",
        types=("AttributeError",),
        place=re.compile(r"(?:^|/)callbacks(?:_v1)?\.py:\w+$"),
    )),
    ("FIT903", Rule(
        re.compile(
            r"object has no attribute '(?:on_(?:train|test|predict)_(?:batch_)?(?:begin|end)|_implements_\w+_hooks"
            r"|_chief_worker_only|_supports_tf_logs|is_eager_execution)'"
            r"|'\w*Function' object has no attribute 'fetch_callbacks'"
        ),
        "a callback is not derived from `Callback` of the Keras that trains the model",
        "derive it from `keras.callbacks.Callback`, and import everything from either `keras` or `tf.keras`",
        types=("AttributeError",),
    )),
    ("FIT903", Rule(
        re.compile(
            r"^'tuple' object has no attribute 'layer'$"
            r"|valid Keras Model instance\b.{0,200}(?:tf_keras|tensorflow\.python\.keras|keras\.engine|keras\.src)"
            r"|'KerasTensor' object has no attribute '(?:node|_id|_keras_\w+|op)'"
            r"|'(?:Model|Sequential|Functional)' object has no attribute '(?:run_eagerly|_in_multi_worker_mode"
            r"|_(?:get|compile_time)_distribution_strategy|_output_tensor_cache)'"
            r"|object has no attribute '(?:_inbound_nodes|is_keras_tensor|_outbound_nodes|_keras_history|_keras_shape"
            r"|_uses_learning_phase)'"
        ),
        "an object of one Keras or TensorFlow version is passed to another",
        "import everything from either `keras` or `tf.keras`, and install versions that belong together",
        also=("FIT901",),
    )),
    ("FIT901", Rule(
        re.compile(
            r"object has no attribute '(?:base_dtype|_datatype_enum|_variant_tensor|_in_graph_mode|_shape_tuple)'"
            r"|'(?:\w*Iterator\w*|generator)' object has no attribute '(?:ndim|shape|dtype|__len__)'"
        ),
        "the installed version does not accept such an object here",
        "install versions of Keras and TensorFlow that belong together, and use `tf.keras` for `tf.data` datasets",
        types=("AttributeError",),
        also=("FIT903",),
    )),
    ("FIT901", Rule(
        re.compile(r"'(?P<kind>\w*Dataset\w*)' object has no attribute '(?:ndim|shape|dtype|__len__)'"),
        "`{kind}` is passed to a training method of a Keras that accepts only arrays and generators",
        "install versions of Keras and TensorFlow that belong together, and use `tf.keras` for `tf.data` datasets",
        types=("AttributeError",),
        raised_in=("fit", "evaluate", "predict", "fit_generator", "train_on_batch", "standardize_input_data"),
        also=("FIT903",),
    )),
    ("FIT901", Rule(
        re.compile(r"'(?P<kind>\w*Dataset\w*)' object has no attribute 'ndim'"),
        "`{kind}` is passed to a Keras that accepts only arrays and generators",
        "install versions of Keras and TensorFlow that belong together, and use `tf.keras` for `tf.data` datasets",
        types=("AttributeError",),
        also=("FIT903",),
    )),
    ("FIT710", Rule(
        re.compile(r"'\w*Dataset\w*' object has no attribute '(?:shape|dtype|__len__)'"),
        "a dataset is passed where a tensor or an array is needed",
        "call the layer or function on the batches: `dataset.map(…)`, or `for batch in dataset: …`",
        types=("AttributeError",),
    )),
    ("FIT407", Rule(
        re.compile(r"\w+Tracer has no attribute (?P<name>\w+)"),
        "JAX is still tracing this value, which has no `{name}`",
        "use `keras.ops` or `jax.numpy` there, and no method of NumPy or pandas",
        types=("AttributeError",),
    )),
    ("FIT407", Rule(
        re.compile(
            r"KerasTensor is symbolic|Cannot get value inside|cannot convert it to an int"
            r"|len is not well defined for|numpy\(\) is only available when eager"
        ),
        "the program needs the value of a tensor that has none yet",
        "compute with tensors instead: TensorFlow operations accept them, NumPy and `float()` do not",
    )),
    ("FIT408", Rule(
        re.compile(r"(?:KerasTensor|Keras Variable) cannot be used as a boolean|use Python control flow in a layer"),
        "a Python `if` or `while` depends on a symbolic tensor",
        "use `tf.where` or `tf.cond`",
    )),
    ("FIT313", Rule(
        re.compile(
            r"can only specify one unknown dimension|total size of new array must be unchanged"
            r"|Target shape and input shape|requested shape (?:has|requires)|Cannot reshape a tensor"
            r"|must have the same (?:total )?(?:size(?! and shape)|number of elements)|Size \d+ must be non-negative, not"
            r"|split_dim \d+ \(size = \d+\)"
        ),
        "a reshape needs a different number of elements than the tensor has",
        "let one axis be computed: use -1 for it",
    )),
    ("FIT313", Rule(
        re.compile(r"shape '\[[-\d, ]*\]' is invalid for input of size (?P<size>\d+)"),
        "a reshape needs a different number of elements than the tensor has: {size}",
        "let one axis be computed: use -1 for it",
        of_framework=True,
    )),
    ("FIT314", Rule(
        re.compile(
            r"^(?:\w+\.)?__call__\(\) missing 1 required positional argument: 'inputs'"
            r"|first argument to `?Layer\.call`? must always be passed"
        ),
        "a layer or model is called without an input; mostly, a model is passed where a function that builds one is "
        "expected, such as `build_fn` of `KerasClassifier`",
        "pass the function itself, without parentheses: `build_fn=make_model`; or give the call its input",
    )),
    ("FIT314", Rule(
        re.compile(
            r"accepts an `inputs` argument|positional or keyword arguments that are not inputs to the model"
            r"|can only have `training` and the first argument"
            r"|takes an `inputs` argument to call\(\), and only|^model_fn .{0,300}(?:must include|not expected args)"
            r"|^(?:tf)?(?:__)?call(?:__)?\(\) (?:got an unexpected keyword|takes \d|missing \d)"
            r"|Only input tensors may be passed as positional|added to a Sequential model (?:should"
            r"|can only) have a single|but `call\(\)` does not have argument|which does not end in `_shape`"
        ),
        "the `call` or `build` method of a class does not accept the arguments that Keras passes",
        "declare `call(self, inputs, training=None)`, and pass everything else by name",
    )),
    ("FIT315", Rule(
        re.compile(
            r"is part of a cycle|disconnected from the outputs|is not connected, no input to return"
            r"|[Gg]raph disconnected|must not already be connected somewhere else"
            r"|could not be added due to missing dependencies|either has loops or disconnected nodes"
            r"|contains the same input multiple times|inputs are redundant|should only appear once"
            r"|must come from `(?:tf\.)?keras\.(?:layers\.)?Input`"
            r"|single output tensor\. For multi-output layers|cannot add a different Input layer"
        ),
        "the outputs of the model are not connected to its inputs by layers, or a layer is used twice",
        "build the outputs from the same `Input` objects that are passed to `Model`",
    )),
    ("FIT315", Rule(
        re.compile(r"(?i:the layer) \"?(?P<layer>[\w/]+)\"? has multiple inbound nodes"),
        "the layer `{layer}` is called more than once, so it has no single input or output",
        "keep the tensor that the call returns, or name the call: `layer.get_output_at(0)` (Keras 2)",
    )),
    ("FIT315", Rule(
        re.compile(r"share a same `BatchNormalization`|Merge layer cannot be used more than once"),
        "a layer is called more often than it can be",
        "create a new layer for every call",
    )),
    ("FIT324", Rule(
        re.compile(r"infer the shape of the Lambda's output"),
        "Keras cannot trace the function of a Lambda layer to find its output shape",
        "pass `output_shape=…` to the layer, or correct the error that its function raises",
    )),
    ("FIT324", Rule(
        re.compile(
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
            r"|dimensions) must be statically known|infer the (?:static )?shape of the(?! Lambda)"
            r"|passed either a `batch_input_shape`|has never been called and thus has no|no inbound nodes"
            r"|created without `input_shape`|We expect a static batch size|`input_shape` as argument"
            r"|not one of the valid types\. Please specify a batch input shape"
        ),
        "a layer or model does not know a size that it needs to create its weights",
        "start the model with `keras.Input(shape=…)`, with numbers for all axes that the layers need",
    )),
    ("FIT709", Rule(
        re.compile(
            r"(?:undefined|unknown) rank|statically known rank|unknown TensorShape|dimension of unknown rank"
            r"|tensor has unknown shape|Shape .{0,20}<unknown>|shape is unknown"
        ),
        "a tensor has lost its shape, usually in `tf.py_function`, `tf.numpy_function` or a generator",
        "set it again after that step: `x.set_shape(…)` or `tf.ensure_shape(x, …)`",
    )),
    ("FIT326", Rule(
        re.compile(
            r"attribute is reserved|conflicts with an existing read-only @property|^can't set attribute"
            r"|property '\w+' of '\w+' object has no setter"
        ),
        "the class sets an attribute whose name Keras reserves",
        "choose another name for the attribute",
    )),
    ("FIT328", Rule(
        re.compile(
            r"(?:metrics|weighted metrics) with the (?:same )?name|different names for the metrics"
            r"|(?:is )?used \d+ times in the model|duplicate path|variable path is found twice"
            r"|duplicated metrics object|Duplicate (?:node|output) identifier"
            r"|[Uu]nable to (?:synchronously )?create (?:link|dataset|group) \((?:object )?name already exists\)"
            r"|names? (?:of \S+ )?(?:should|must) be unique|already has a layer named"
        ),
        "two layers, metrics or weights have the same name",
        "pass a different `name=` to each",
    )),
    ("FIT327", Rule(
        re.compile(
            r"[Nn]o such layer: (?P<name>[^.\n]{1,80})|layer at index \d+ but (?:the )?model only has"
            r"|Provide (?:either a|only a) layer name"
        ),
        "the model has no layer of that name or index",
        "print `[layer.name for layer in model.layers]` and use one of these names",
    )),
    ("FIT327", Rule(
        re.compile(r"Fit the Tokenizer on some data|or fit on some text data first|You need to call `?\.?adapt\("),
        "a tokenizer or preprocessing layer is used before it has seen any data",
        "call `fit_on_texts(…)` or `adapt(…)` on the training data first",
    )),
    ("FIT327", Rule(
        re.compile(
            r"Input size must be at least \d|The input must have 3 channels|[Ii]f (?:using `weights` as|imagenet weights)"
            r"|weights` argument should be either|Default size is \d|only supports? \d+x\d+"
        ),
        "a model of `keras.applications` does not accept this input shape, these weights or this number of classes",
        "use the input shape that the message names, or `weights=None`, `include_top=False`",
        also=("FIT101",),
    )),
    ("FIT327", Rule(
        re.compile(r"\b(?:strides?|ksize|dilations?|padding|paddings|kernel_size|pool_size)\b.{0,20} should be of length"),
        "an argument of a convolution or pooling has the wrong number of values for the axes of its input",
        "give one value per axis; inside `TimeDistributed`, the input needs an axis of time steps, too",
        also=("FIT304",),
    )),
    ("FIT327", Rule(
        re.compile(r"number of samples that can be divided by the batch size"),
        "a stateful model needs a number of samples that is a multiple of the batch size",
        "drop the samples that are left over, or choose a `batch_size` that divides their number",
    )),
    # --- graphs and variables -------------------------------------------------------------------------------
    ("FIT405", Rule(
        re.compile(
            r"is not (?:from the passed-in|an element of this) graph|must be from the same graph"
            r"|not found in (?:the )?(?:current )?graph|graph is different from the session's graph"
            r"|Container localhost does not exist"
        ),
        "a tensor or model belongs to another graph or session than the one in use",
        "create and use the model in the same thread, graph and session; TensorFlow 2 needs none of them",
    )),
    ("FIT327", Rule(
        re.compile(
            r"Dimension value must be integer or None .{0,60}got (?!(?:value )?'?(?:<?tf\.Tensor|Tensor\(|<?KerasTensor))"
            r"|'(?:numpy\.)?float\d*' object has no attribute '__index__'|Dimension -\d+ must be >= 0"
        ),
        "a size, an axis or an index is negative or not an integer",
        "use integer division (`//`) or `int(…)` for a float, and pass a shape as a flat tuple of integers",
        types=("TypeError", "AttributeError", "ValueError", "InvalidArgumentError"),
    )),
    ("FIT327", Rule(
        re.compile(r"not supported between instances of 'slice' and 'int'"),
        "a generator of batches is sliced, but it accepts only the number of a batch",
        "take one batch by its number: `batches[0]`",
        types=("TypeError",),
        raised_in=("__getitem__",),
        of_framework=True,
    )),
    ("FIT327", Rule(
        re.compile(r"'(?P<kind>(?:numpy\.)?(?:float|int)\d*)' object has no attribute '(?:eval|assign|numpy|value)'"),
        "a setting of the optimizer, mostly its learning rate, was replaced by a number of type `{kind}`",
        "set its value instead: `optimizer.learning_rate.assign(…)`, or `K.set_value(optimizer.lr, …)` in Keras 2",
        types=("AttributeError",),
        of_framework=True,
    )),
    ("FIT327", Rule(
        re.compile(r"'(?P<kind>[\w.]+)' object has no attribute 'endswith'"),
        "an object of type `{kind}` is passed where Keras expects the path of a file",
        "pass the path as a string",
        types=("AttributeError",),
        of_framework=True,
    )),
    ("FIT324", Rule(
        re.compile(r"'NoneType' object cannot be interpreted as an integer"),
        "a size that is unknown until the step runs (None) is used as a number",
        "read the size from the tensor, `tf.shape(x)[0]`, and loop with `tf.range`; or fix it in the input shape",
        types=("TypeError", "ValueError"),
        of_framework=True,
    )),
    ("FIT407", Rule(
        re.compile(r"'\w*Variable' object cannot be interpreted as an integer"),
        "a variable is used where Python expects an integer",
        "pass its value: `int(variable)`",
    )),
    ("FIT407", Rule(
        re.compile(r"Dimension value must be integer or None"),
        "a tensor is used where TensorFlow needs a Python number",
        "use a number that is known before the function is traced, or `tf.reshape` and `tf.ensure_shape` "
        "with `None`",
    )),
    ("FIT406", Rule(
        re.compile(
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
    ("FIT405", Rule(
        re.compile(r"list index out of range"),
        "the stack of graphs and sessions of this process is out of order, mostly because a cell was interrupted",
        "restart the kernel, and open graphs and sessions with `with` only",
        types=("IndexError",),
        place=re.compile(r"framework/ops\.py:\w+$"),
        of_framework=True,
    )),
    ("FIT406", Rule(
        re.compile(r"(?:Tensors?|Variable) (?:is|are) unhashable"),
        "a tensor is used as a key of a dict or in a set, which only TensorFlow 1 allows",
        "use `tensor.ref()` as the key; if a package does this, use its version for TensorFlow 2, or import from `tf.keras`",
        types=("TypeError",),
        also=("FIT903",),
    )),
    ("FIT406", Rule(
        re.compile(r"Can not convert an? \w+ into a (?:Tensor|Operation)"),
        "`session.run` of TensorFlow 1 gets something that is not a tensor or an operation of its graph",
        "pass tensors and operations, or lists of them",
    )),
    ("FIT410", Rule(
        re.compile(
            r"`?add_(?:metric|loss)\(?\)?`? (?:method is deprecated|can only be called)"
            r"|callable for the loss value|provide a name for your metric|symbolic Tensor for the metric value"
            r"|when calling `add_metric`|in a control flow branch"
        ),
        "`add_loss` or `add_metric` is called where it does not work",
        "call `add_loss` in the `call` method of a layer, and pass metrics to `compile`",
    )),
    ("FIT502", Rule(
        re.compile(r"(?:create|initialize) a variable while in a stateless scope|add new elements of state"),
        "a layer creates its weights too late: while the model is called",
        "create layers in `__init__` and weights in `build`",
    )),
    ("FIT505", Rule(
        re.compile(
            r"has `?None`? for gradient|Cannot compute gradient inside while loop"
            r"|No gradient(?:s)? (?:defined|provided|exist)|ops without gradient"
            r"|element 0 of tensors does not require grad"
        ),
        "the loss does not depend on the weights through operations that have a gradient",
        "replace `argmax`, `round`, comparisons and casts to integers in the loss",
    )),
    ("FIT901", Rule(
        re.compile(r"gradient registry has no entry for: shap_(?P<operation>\w+)"),
        "this version of SHAP has no rule for the operation `{operation}` of this TensorFlow, which the model uses",
        "use a newer SHAP, `shap.GradientExplainer` or `shap.KernelExplainer`",
    )),
    ("FIT505", Rule(
        re.compile(r"gradient registry has no entry for: (?P<operation>\w+)"),
        "the operation `{operation}` has no gradient",
        "replace it in the loss and in the layers by operations that have one",
    )),
    ("FIT505", Rule(
        re.compile(r"^$"),
        "the traceback ends where the optimizer rejects gradients that are all `None`; its last line is missing",
        "check that the loss is computed from the outputs of the model, by operations that have a gradient",
        types=("",),
        place=re.compile(r":(?:apply_gradients|_?filter_(?:empty_)?grad\w*)$"),
        confidence=Confidence.POSSIBLE,
    )),
    ("FIT506", Rule(
        re.compile(r"Gradients do not exist for variables"),
        "the loss does not depend on some of the weights, so these never learn",
        "use the output of these layers in the loss, or set `trainable = False` on them",
    )),
    ("FIT508", Rule(
        re.compile(r"Tensor' object has no attribute '(?:_unique_id|_in_graph_mode|_distributed_container|constraint)'"),
        "the optimizer gets tensors where it needs variables",
        "pass `zip(gradients, model.trainable_variables)`, with the variables themselves",
        types=("AttributeError",),
    )),
    ("FIT508", Rule(
        re.compile(
            r"[Gg]radients must match trainable variables|len\(gradients\)|list of \(gradient, variable\)"
            r"|grads_and_vars"
        ),
        "the gradients and the variables passed to the optimizer do not match",
        "pass `zip(gradients, model.trainable_variables)`",
    )),
    # --- devices --------------------------------------------------------------------------------------------
    ("FIT601", Rule(
        re.compile(r"only supports? (?:the )?NHWC|(?:currently )?only supports the NHWC tensor format"),
        "a layer gets images with the channels first, which TensorFlow does not support on a CPU",
        "use `data_format=\"channels_last\"`, also in `~/.keras/keras.json`, and move the channels to the last "
        "axis",
        also=("FIT104",),
    )),
    ("FIT601", Rule(
        re.compile(
            r"Cannot assign a device for|we expect the following devices to be available"
            r"|No OpKernel was registered to support Op|unknown device|device .{0,80}(?:not found|does not exist"
            r"|is not available)|CUDA_ERROR_NO_DEVICE|no CUDA-capable device"
            r"|Could not satisfy (?:explicit )?device specification|No registered '\w+' OpKernel"
        ),
        "the program asks for a device, usually a GPU, that this machine or this TensorFlow does not have",
        "remove the device from the program, or install a TensorFlow that supports it",
        also=("FIT906",),
    )),
    ("FIT111", Rule(
        re.compile(r"Could not find (?:valid )?device for node"),
        "an operation gets a tensor of a dtype that it has no implementation for",
        "convert the tensor first, for example with `tf.cast(x, tf.float32)`",
        types=("NotFoundError",),
    )),
    ("FIT602", Rule(
        re.compile(r"access resource located in device|resource .{0,100}on (?:a )?different device"),
        "a variable is on another device than the step that reads it",
        "create the model under the same device or strategy scope that trains it",
    )),
    ("FIT604", Rule(
        re.compile(
            r"different (?:from the scope|distribution strategy scope|strategy scope|scope)"
            r"|was not created in (?:TPUStrategy|the) scope|create the model under the `?strategy\.scope"
        ),
        "model, optimizer or metrics were created outside the scope of the strategy that trains them",
        "create all of them inside `with strategy.scope():`",
    )),
    ("FIT607", Rule(
        re.compile(
            r"Failed to serialize the input pipeline|does not support serialization|[Cc]annot shard"
            r"|shard.{0,40}(?:unsupported|not supported)"
        ),
        "the dataset contains a Python generator or another step that cannot be sent to other devices or "
        "workers",
        "replace the generator with files or `tf.data` operations, or set `AutoShardPolicy.OFF`",
    )),
    ("FIT607", Rule(
        re.compile(r"is not supported for models compiled with tf\.distribute"),
        "this method of Keras does not work under a distribution strategy",
        "call `fit` with a `tf.data.Dataset` instead",
    )),
    ("FIT605", Rule(
        re.compile(
            r"must be divisible (?:the )?by (?:the )?number of replicas|Reduction\.(?:SUM"
            r"|NONE)`? .{0,80}loss reduction"
            r"|batch.?size must be divisible by the number of"
            r"|is not divisible by `?num_replicas_in_sync|not divisible by the number of (?:replicas|devices)"
        ),
        "the global batch size or the loss reduction does not suit the number of replicas",
        "use a batch size that is a multiple of the number of replicas, and reduce custom losses with `SUM` "
        "over it",
    )),
    ("FIT607", Rule(
        re.compile(r"failed to connect to all addresses"),
        "the TPU or another worker cannot read the data: it comes from Python code, which runs in this process only",
        "replace the generator by files or `tf.data` operations, or convert the data to arrays first",
        node=re.compile(r"IteratorGetNext|PyFunc|RemoteCall"),
    )),
    ("FIT606", Rule(
        re.compile(
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
    ("FIT701", Rule(
        re.compile(
            r"cannot have rank 0|Cannot unbatch an input with scalar|[Cc]annot (?:batch|iterate over) a scalar"
            r"|Expected .{0,60}batch(?:ed)? (?:dataset|dimension)"
        ),
        "the dataset yields single samples; `fit` treats their first axis as the batch axis",
        "call `.batch(…)` on the dataset",
    )),
    ("FIT710", Rule(
        re.compile(r"Unrecognized data type: [xy]=[<…]"),
        "`fit` gets an object that Keras cannot read data from",
        "pass arrays, a `tf.data.Dataset`, a `keras.utils.PyDataset` or a Python generator",
        also=("FIT107", "FIT903"),
    )),
    ("FIT710", Rule(
        re.compile(r"(?:Attempt to convert a value \(<|Failed to convert object of type <class ').{0,120}Dataset\b"),
        "a dataset is passed where a tensor is needed",
        "call the function on the batches: `dataset.map(…)`, or `for batch in dataset: …`",
    )),
    ("FIT710", Rule(
        re.compile(r"\bobject is not an iterator"),
        "Keras expects a generator, but gets something that it cannot draw batches from",
        "pass arrays as `x` and `y`, call a generator function to get its generator, and derive a class that returns "
        "batches from `keras.utils.Sequence` (`PyDataset` in Keras 3)",
        types=("TypeError",),
        also=("FIT707",),
    )),
    ("FIT703", Rule(
        re.compile(
            r"ran out of data|We cannot draw that many|End of sequence|is closed and has insufficient elements"
            r"|Asked to retrieve element [1-9]\d*, but the Sequence has length [1-9]"
        ),
        "the data has fewer batches than the epochs need",
        "reduce `steps_per_epoch`, or repeat the dataset with `.repeat()`",
    )),
    ("FIT715", Rule(
        re.compile(
            r"'(?:numpy\.)?float\d*' object cannot be interpreted as an (?:integer|index)"
            r"|integer argument expected, got float"
        ),
        "a number of steps, epochs or samples is a float",
        "use integer division: `//` instead of `/`",
        raised_in=("fit", "fit_generator", "evaluate", "evaluate_generator", "predict", "predict_generator"),
        of_framework=True,
    )),
    ("FIT703", Rule(
        re.compile(r""),
        "a generator ended while `fit` still needed batches, or an exception inside it ended it",
        "let the generator loop forever (`while True`), and call `next` on it once to see what it raises",
        types=("StopIteration",),
        raised_in=(
            "fit_generator", "evaluate_generator", "predict_generator", "fit", "evaluate", "predict", "wrapper",
        ),
        of_framework=True,
        also=("FIT705",),
    )),
    ("FIT704", Rule(
        re.compile(
            r"generator for validation data, you must|[Pp]lease specify the (?:number of steps|`?validation_steps)"
            r"|Must specify `?validation_steps|should specify (?:the )?`?(?:steps|validation_steps"
            r"|steps_per_epoch)|must specify (?:the number of steps|a value for)"
            r"|Number of steps could not be inferred|`?(?:steps_per_epoch|validation_steps"
            r"|steps)(?:=(?i:none))?[`\"]? is only valid for (?:a )?generator|infer the size of the data"
            r"|infinite (?:number of elements|dataset)|dataset must be finite"
        ),
        "the length of the data is unknown, and no number of steps is set",
        "pass `steps_per_epoch` and `validation_steps` to `fit`, or remove `.repeat()`",
    )),
    ("FIT705", Rule(
        re.compile(
            r"requires a non-null input tensor|No (?:\w+ )?(?:images|text files|audio files|files) found"
            r"|must yield at least one batch|(?:PyDataset|Sequence) has length 0|Received an empty batch"
            r"|\(Empty (?:logs|batch_outputs)\)|Found 0 (?:\w+ )?(?:images|files)|length 0\b|Attempting to (?:get"
            r"|unpack)|`?on_epoch_end`? and before `?on_epoch_begin|Dataset had (?:zero|no) elements"
        ),
        "the data yields no batches",
        "check the folder or the dataset: it has no files or samples that match",
    )),
    ("FIT707", Rule(
        re.compile(r"\bmap_fn\(\) takes from 1 to 3 positional arguments but (?P<found>\d+) were given"),
        "the dataset yields {found} values per sample, but `fit` takes inputs, labels and sample weights",
        "group the inputs: yield `((first, second), labels)`",
        types=("TypeError",),
    )),
    ("FIT707", Rule(
        re.compile(
            r"[Oo]utput of generator should be a tuple|list or tuple of 2 or 3 elements"
            r"|__getitem__\(\) must return a tuple|FeatureSpace can only be called with a dict"
            r"|Data is expected to be in format|(?:generator|[Vv]alidation_data) .{0,60}tuple of"
            r"|tuple \(x, y(?:, sample_weights?)?\)"
        ),
        "a batch does not have the structure that `fit` expects",
        "yield a tuple: (inputs, labels) or (inputs, labels, sample weights)",
    )),
    ("FIT707", Rule(
        re.compile(
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
    ("FIT708", Rule(
        re.compile(r"generator is NOT thread-safe|generator already executing|no marshalling of generators"),
        "several workers read the same Python generator",
        "use a `keras.utils.Sequence` (`PyDataset`), or set `workers=1` and `use_multiprocessing=False`",
    )),
    ("FIT711", Rule(
        re.compile(
            r"you should not specify a target|`?validation_split`? (?:argument )?is (?:not|only) supported"
            r"|cannot use `validation_split`|do not specify `steps_per_epoch`|must not be specified (?:for|when)"
        ),
        "`fit` gets arguments that do not fit the kind of data",
        "a dataset or generator contains its labels and batches: remove `y`, `batch_size` and "
        "`validation_split`",
    )),
    ("FIT712", Rule(
        re.compile(r"`?validation_data`?,? (?:argument, )?it must contain|`?validation_data`? (?:should|must) be"),
        "`validation_data` does not have the structure that `fit` expects",
        "pass `(x_val, y_val)`, a dataset or a generator",
    )),
    ("FIT712", Rule(
        re.compile(r"^assert len\(val_data\) == len\(tensors\)"),
        "the `TensorBoard` callback cannot compute histograms: the validation data does not match the inputs of the model",
        ("set `histogram_freq=0`", "pass `validation_data` as arrays, with labels for every output"),
        types=("AssertionError",),
        confidence=Confidence.POSSIBLE,
    )),
    ("FIT714", Rule(
        re.compile(
            r"samples must have same shape|Shape of sample \S+ of sequence at position|Unable to concatenate"
            r"|inner dense shapes do not|batch with incompatible shape|Cannot (?:add|batch) tensors? (?:with"
            r"|to the batch)|number of elements does not match"
            r"|padded shape .{0,80} is not compatible|Inconsistent shapes: saw|Incompatible shape for value"
        ),
        "the samples of one batch have different shapes",
        "resize or pad the samples to one shape before batching",
    )),
    ("FIT909", Rule(
        re.compile(r"Unable to open table file|not an sstable|too short to be an sstable"),
        "the checkpoint file has another format than the program expects",
        "pass the prefix of the checkpoint (`model.ckpt`, not `model.ckpt.data-00000-of-00001`), or load an "
        "HDF5 file with Keras",
    )),
    ("FIT716", Rule(
        re.compile(
            r"(?:truncated|corrupted) record|should match \(header_size"
            r"|unknown (?:image )?format|[Uu]nknown image file format|Input is empty|Invalid (?:PNG|JPEG|GIF|BMP"
            r"|WAV)|decode \w+ format using a wrong op|Unable to decode bytes|[Cc]ould not (?:decode|load) image"
            r"|cannot identify image file|(?:jpeg|png|gif)::Uncompress|incomplete or corrupted"
            r"|image file is truncated"
        ),
        "a file of the dataset cannot be decoded",
        "find the file by reading them one by one, and remove or convert it",
    )),
    ("FIT716", Rule(
        re.compile(
            r"Feature(?: list)?:? '?(?P<missing>[\w/.-]+)'?.{0,60} is required but could not be found"
            r"|(?:Key: (?P<key>[^,\s]{1,100}?)[.,] .{0,40})?(?:Data types don't match|Number of \w+ values != expected)"
            r"|parse serialized [Ee]xample"
        ),
        "a TFRecord file does not contain the features that the program declares",
        "compare the names, dtypes and shapes passed to `parse_single_example` with those that were written: "
        "`tf.train.Example.FromString(record.numpy())` shows one record",
    )),
    # --- memory and environment -----------------------------------------------------------------------------
    ("FIT802", Rule(
        re.compile(
            r"larger than 2 ?GB|larger than the limit \(2147483647|cannot be larger than 2GB|exceeds? .{0,40}2GiB"
            r"|Failed to serialize message"
        ),
        "an array of more than 2 GB becomes a constant of the graph",
        "read the data with `tf.data.Dataset.from_generator`, or pass NumPy arrays to `fit` directly",
    )),
    ("FIT806", Rule(
        re.compile(
            r"OUT_OF_MEMORY|OOM when|Resource exhausted|failed to allocate|Dst tensor is not initialized"
            r"|Blas \w+ launch failed|ALLOC_FAILED|RESOURCE_EXHAUSTED|Status: out of memory"
        ),
        "the machine or the GPU ran out of memory",
        "use a smaller batch or model, and check that no other process uses the GPU: `nvidia-smi`",
    )),
    ("FIT806", Rule(
        re.compile(r"(?i:out of memory|cannot allocate memory)"),
        "the machine or the GPU ran out of memory",
        "use a smaller batch or model, and check that no other process uses the GPU: `nvidia-smi`",
        of_framework=True,
    )),
    ("FIT904", Rule(
        re.compile(
            r"got (?:Elemwise|Subtensor|IncSubtensor|DimShuffle|InplaceDimShuffle|Reshape|AbstractConv\w+)\{"
            r"|'TensorVariable' object has no attribute '(?!get_output_)|TensorType\(|to TensorType\b"
        ),
        "the program uses TensorFlow functions, but Keras runs on Theano",
        "set the backend to TensorFlow: `KERAS_BACKEND=tensorflow`, or `~/.keras/keras.json`",
    )),
    ("FIT904", Rule(
        re.compile(r"Tensor' object has no attribute '(?:broadcastable|dimshuffle)'"),
        "the program uses Theano functions, but Keras runs on TensorFlow",
        "use the functions of `keras.backend` or `keras.ops` instead",
        types=("AttributeError",),
    )),
    ("FIT904", Rule(
        re.compile(
            r"(?:only|currently) (?:available|supported|works) (?:only )?with (?:the )?(?:TensorFlow|tensorflow"
            r"|Theano|JAX) backend|not (?:yet )?(?:available|supported) (?:in|with) (?:the )?\S+ backend"
            r"|not supported with backend|Unknown backend|Invalid backend|only be used with the TensorFlow backend"
            r"|must implement (?:the Trainer|a layer mixin)|Available backends are"
            r"|'TorchModuleWrapper' object has no attribute"
        ),
        "the program needs another Keras backend",
        "set the environment variable `KERAS_BACKEND` before Keras is imported",
    )),
    ("FIT906", Rule(
        re.compile(
            r"(?i:cudnn|cublas|cusolver|libdevice|ptxas|cufft|nvcuda|cudart)|CUDA_ERROR|failed to get convolution algorithm"
            r"|DNN library is not found|dnn implementation|CUDA driver version|CuBLAS|no kernel image is available"
            r"|convolution algorithm|JIT compilation failed|transfer manager for platform|Failed to query available memory"
        ),
        "the GPU libraries do not work with this TensorFlow",
        "install the CUDA and cuDNN versions that this TensorFlow was built with: `pip install "
        "tensorflow[and-cuda]`",
        types=(
            "InternalError", "UnknownError", "NotFoundError", "FailedPreconditionError",
            "UnimplementedError", "RuntimeError", "InvalidArgumentError", "ImportError", "SIGABRT",
        ),
    )),
    ("FIT901", Rule(
        re.compile(
            r"(?:requires?|needs?) (?:the )?`?(?P<name>h5py|PIL|SciPy|TensorFlow|tensorflow|pydot|Pillow|requests"
            r"|pandas|tensorflow_io)\b|Could not import (?:PIL|h5py)|This requires the (?P<other>\w+) module"
            r"|you need tensorflow \d|need the TensorFlow module|requires HDF5 and h5py|Op type not registered '"
            r"|NodeDef mentions attr"
            r"|Couldn't build proto file into descriptor pool"
            r"|without handle data|initial_value must be specified|h5py ?is not available(?!\))|h5pyis not"
            r"|Descriptors cannot (?:not )?be created directly|'google\.protobuf[\w.]*' object has no attribute"
            r"|Unable to convert function return value to a Python type! The signature was"
            r"|Registering two gradient with name|Tensorflow package .{0,60}not found"
        ),
        "a package that Keras needs is missing, or has another version than it expects",
        "install the packages together in a fresh environment: `pip install --upgrade tensorflow h5py pillow`",
    )),
    ("FIT901", Rule(
        re.compile(r"Object arrays cannot be loaded when allow_pickle=False"),
        "this version of Keras loads its dataset in a way that NumPy 1.16.3 and later reject",
        "install a newer Keras and TensorFlow, or NumPy 1.16.2",
        of_framework=True,
    )),
    ("FIT901", Rule(
        re.compile(r"character mapping must return integer, None or unicode"),
        "the `Tokenizer` of this version of Keras does not accept the unicode strings of Python 2",
        "install a newer Keras, or encode the texts first: `text.encode(\"utf-8\")`",
        of_framework=True,
    )),
    ("FIT901", Rule(
        re.compile(
            r"'(?P<layer>Dense|Embedding|LSTM|GRU|SimpleRNN|Bidirectional|TimeDistributed|BatchNormalization"
            r"|Conv(?:olution)?\dD\w*)' object has no attribute "
            r"'(?P<name>W|b|U|W_\w|U_\w|b_\w|output_dim|nb_filter|nb_row|nb_col|border_mode|inner_init)'"
        ),
        "the program was written for Keras 1: layers of the class `{layer}` no longer have the attribute `{name}`",
        "use today's names: `kernel`, `bias`, `recurrent_kernel`, `units`, `filters`",
        types=("AttributeError",),
    )),
    ("FIT406", Rule(
        re.compile(r"Can't instantiate abstract class Dataset with abstract"),
        "`tf.data.Dataset` is called like a function, which only TensorFlow 1 accepts",
        "remove the parentheses: `tf.data.Dataset.from_generator(…)`",
        types=("TypeError",),
    )),
    ("FIT901", Rule(
        re.compile(
            r"compiled (?:using NumPy|against API version)|numpy\.(?:dtype|ufunc) size changed|DLL load failed"
            r"|Could not find the DLL"
            r"|undefined symbol|GLIBC\w*_[\d.]+. not found|cannot open shared object"
            r"|module 'numpy' has no attribute"
        ),
        "TensorFlow was built for another version of a package or of the system",
        "install the packages together in a fresh environment: `pip install --upgrade tensorflow`",
        of_framework=True,
    )),
    ("FIT901", Rule(
        re.compile(
            r"module '(?P<package>tensorflow_(?:datasets|hub|addons|text|probability|io)|theano)(?P<part>[\w.]*)' "
            r"has no attribute '(?P<name>\w+)'"
        ),
        "the installed `{package}` has no `{package}{part}.{name}`",
        "install the version of `{package}` that the program, or the package that uses it, was written for",
        types=("AttributeError",),
    )),
    ("FIT901", Rule(
        re.compile(
            r"No module named '(?P<module>(?:tensorflow|keras|tf_keras)\.[\w.]+)'"
            r"|module '(?P<name>(?:tensorflow|keras|tf_keras)[\w.]*)' has no attribute '(?P<missing>\w+)'"
            r"|cannot import name '?(?P<part>\w+)'? from (?:partially initialized module )?'(?P<from>(?:tensorflow"
            r"|keras|tf_keras)[\w.]*)'"
        ),
        "the installed version does not have a name that the program uses",
        "install the version that the program was written for, or use the replacement of the name",
        types=("AttributeError", "ImportError", "ModuleNotFoundError"),
        also=("FIT902", "FIT907"),
    )),
    ("FIT901", Rule(
        re.compile(
            r"'(?:Functional|Sequential|Model|Network|KerasTensor|History|TensorBoard|Progbar\w*|Adam\w*|SGD"
            r"|RMSprop|Adagrad|Adadelta|Nadam|\w*Optimizer\w*"
            r"|Keras\w*)' object has no attribute '(?P<name>\w+)'"
        ),
        "the installed Keras has no attribute `{name}` here: the program, or a package it uses, was written "
        "for another version",
        "install the version that the program was written for; import everything from either `keras` or "
        "`tf.keras`",
        types=("AttributeError",),
        also=("FIT903", "FIT902"),
    )),
    ("FIT309", Rule(
        re.compile(
            r"'(?P<kind>Dense|Conv\dD\w*|LSTM|GRU|SimpleRNN|Embedding|Flatten|Dropout|Activation"
            r"|BatchNormalization|Input(?:Layer)?|\w*Pooling\dD|Concatenate|Add|Lambda|Bidirectional"
            r"|TimeDistributed|Reshape)' object has no attribute '(?:shape|dtype|ndim|get_shape|rank|_keras_\w+"
            r"|op)'"
        ),
        "the layer `{kind}` is passed where its output is needed",
        "call the layer on a tensor: `{kind}(…)(x)`",
        types=("AttributeError",),
    )),
    ("FIT901", Rule(
        re.compile(
            r"undefined symbol|cannot open shared object|GLIBC\w*_[\d.]+. not found|wrong ELF class"
            r"|image not found"
        ),
        "a library of TensorFlow, or a custom operation, does not match the installed TensorFlow",
        "install the version that it was built for, or compile it again",
        types=("NotFoundError",),
        also=("FIT906",),
    )),
    ("FIT902", Rule(
        re.compile(
            r"has been removed due to security risk|from a legacy (?:TF-)?Keras optimizer"
            r"|`?distribute`? argument in compile is not available|(?:is|are) no longer (?:supported|accepted)"
            r"|was removed in Keras 3|only supports V3|Keras 3 only supports"
        ),
        "the program uses something that this version of Keras no longer has",
        "use its replacement, which the message names",
    )),
    # --- saved models ---------------------------------------------------------------------------------------
    ("FIT909", Rule(
        re.compile(
            r"was found to correspond to layer|[Ii]ncompatible tensor with shape|\(op: 'Assign\w*'\)"
            r"|[Ww]eight count mismatch|[Rr]estoring from checkpoint failed|[Ss]hape mismatch in (?:layer|model)"
            r"|but the saved weight has shape|the saved weights have|[Ww]eights must be of equal size"
            r"|specified weight list|with a (?:\s*)weight list of length|weights file lists \d+ variables"
            r"|variables? during loading|number of weights: expected|not found in checkpoint"
            r"|Assign requires shapes of both|legacy format that does not support name"
            r"|[Ww]eight shape \S.{0,60} not compatible|(?:load|restore) .{0,60}based on topology"
            r"|not compatible with weight shape"
            r"|weight file containing \d+ layers|A total of \d+ objects could not be loaded"
            r"|`variable\.assign\(value\)` must match|Shapes of .{0,60}restor"
            r"|[Tt]ensor name .{0,120}not found in checkpoint|saved_model.{0,60}checkpoint either|(?:num"
            r"|number) of (?:saved )?(?:weights|layers) .{0,40}(?:mismatch|differ)"
            r"|Nothing except the root object matched|Unresolved object in checkpoint"
            r"|not bound to checkpointed values|not assigned a value from checkpoint"
            r"|does not appear to be object-based|Object not restored|not exist in the checkpoint"
            r"|were not restored|checkpoint does not contain serialized"
            r"|Cannot assign value to variable .{0,120}[Ss]hape mismatch"
        ),
        "the saved weights belong to a model with a different architecture",
        "build the model exactly as it was when it was saved, then load the weights",
    )),
    ("FIT908", Rule(
        re.compile(
            r"(?:Unknown|Invalid) (?:activation function|layer|object|loss function|metric function|initializer"
            r"|optimizer|regularizer|constraint)(?: name)?: |Unknown (?:layer|object)\b|Unable to restore (?:a |custom )?"
            r"(?:object|layer)|Unable to (?:create a (?:TF-)?Keras model|decode config)|Optimizer class not found"
            r"|call function was not serialized|could not be initialized|expects a dictionary, not a list"
            r"|has no attribute 'call_and_return|Unable to revive model|Could not locate (?:class|function|object)"
            r"|[Nn]o model (?:config )?found in|[Ii]mproper(?:ly)? (?:formatted|config)|[Cc]annot (?:de)?serialize (?!'_io)"
            r"|Not JSON Serializable|deserialization of a|deserializ(?:ing|ed)|Deserializing it is unsafe"
            r"|Could not deserialize|[Uu]nable to (?:reconstruct|load model|serialize)|must override `?get_config"
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
    ("FIT908", Rule(
        re.compile(r"can(?:no|')t pickle '?(?:NotImplementedType|_thread\.RLock|module|SwigPyObject|weakref)'? object"),
        "the model cannot be copied or written: a part of it cannot be serialized",
        "save it with `model.save(…)`, and keep modules, locks and tensors out of `Lambda` layers and `get_config`",
        types=("TypeError",),
    )),
    ("FIT908", Rule(
        re.compile(r"(?i:not JSON serializable)|has no argument|can(?:no|')t pickle|cannot be pickled"),
        "the model cannot be written: a part of it cannot be serialized",
        "save it with `model.save(…)`, and let `get_config` of custom classes return plain numbers and "
        "strings",
        of_framework=True,
    )),
    ("FIT908", Rule(
        re.compile(r"Unable to (?:synchronously )?open file \((?:file signature not found|truncated file)"),
        "the file is not an HDF5 file, or only a part of one",
        "check its size, and save or download it again; files in another format need another extension or function",
        of_framework=True,
    )),
    # --- TensorFlow's own Python code -----------------------------------------------------------------------
    ("FIT403", Rule(
        re.compile(
            r"is None at the end of the iteration|Loop var \S+ enters the loop with"
            r"|same nested structure after one iteration"
            r"|has dtype \w+ (?:before|after)|must be defined before the loop|must also be (?:initialized|defined)"
        ),
        "a variable of a traced loop or branch changes its type, or is set in one place only",
        "give it a tensor of the same dtype and structure before the loop and on every path",
        also=("FIT404",),
    )),
    ("FIT404", Rule(
        re.compile(
            r"is None at the end of the \w+ branch"
            r"|true_fn.{0,60}false_fn|Cannot reconcile (?:tf\.)?\S+ \S+-th outputs|branch outputs of"
            r"|must have the same number, type, and overall structure"
        ),
        "the branches of `tf.cond` return different structures or dtypes",
        "return the same number of tensors, with the same dtypes, from both branches",
    )),
    ("FIT408", Rule(
        re.compile(r"expected to be `?tf\.bool`? scalar|pred must (?:not be a Python bool|be Tensor of type bool)"),
        "the condition of a traced loop or branch is not a single boolean tensor",
        "reduce it first, for example with `tf.reduce_any` or `tf.reduce_all`",
    )),
    ("FIT407", Rule(
        re.compile(
            r"[Ss]calar tensor has no `?len|len requires a non-scalar tensor|(?:min|max)\(arg"
            r"|does not support item assignment|'tf\.Variable's is not supported"
        ),
        "a Python operation is applied to a tensor that does not support it",
        "use the TensorFlow operation instead: `tf.size`, `tf.reduce_max`, `variable.assign`",
        of_framework=True,
    )),
    ("FIT315", Rule(
        re.compile(r"is both fed and fetched"),
        "an input of the model is also requested as one of its outputs",
        "leave the input layer out of the outputs: `[layer.output for layer in model.layers[1:]]`",
    )),
    ("FIT406", Rule(
        re.compile(
            r"Cannot capture a placeholder|Type of feed value|may not be fed"
            r"|Session context managers are not re-entrant|does not have an initializer|supported in eager mode"
            r"|is (?:undefined|meaningless) when eager execution|TF 1\.x control flows|without a default session"
            r"|Cannot determine graph for Op|Graph is finalized"
            r"|refers to (?:a Tensor which does not exist|an Operation not in the graph)"
        ),
        "the program uses the graphs and sessions of TensorFlow 1",
        "call functions and models directly, as TensorFlow 2 does, or keep the installed version at 1.x",
    )),
    ("FIT327", Rule(
        re.compile(r"Expected state to be a tuple of length (?P<count>\d+), but received: \S*Tensor"),
        "an LSTM cell of TensorFlow 1 gets its state as one tensor, but needs a tuple of {count}",
        "unpack it, for every layer: `tf.nn.rnn_cell.LSTMStateTuple(state[0], state[1])`",
    )),
    ("FIT704", Rule(
        re.compile(r"The dataset is infinite|dataset length is unknown|Dataset` only supports `len`"),
        "the length of the dataset is unknown or infinite",
        "pass `steps_per_epoch`, or set the length with `tf.data.experimental.assert_cardinality`",
        types=("TypeError",),
    )),
    ("FIT707", Rule(
        re.compile(
            r"Incompatible CompositeTensor TypeSpecs"
            r"|Incompatible dataset elements|element (?:classes|types|shapes) for the new state must match"
            r"|but got dataset with output|must have the same element structure"
        ),
        "two parts of the pipeline yield elements of different structure",
        "let both yield the same number of tensors, with the same dtypes and shapes",
    )),
    ("FIT706", Rule(
        re.compile(
            r"To specify the output signature you need|is not convertible to a tensor with dtype"
            r"|which did not match Tout|Missing required argument: 'Tout'"
        ),
        "a generator or Python function returns something other than what is declared",
        "declare what it yields: `output_signature=…` or `Tout=…`",
    )),
    ("FIT608", Rule(
        re.compile(
            r"Mismatching (?:tf\.distribute\.Strategy|ReplicaContext)|Must not nest tf\.distribute"
            r"|Must not be called inside a `?tf\.distribute"
        ),
        "several distribution strategies are used in one place",
        "create one strategy, and use its scope for everything",
    )),
    ("FIT604", Rule(
        re.compile(
            r"DistributedVariable|SyncOnReadVariable|ON_READ variables"
            r"|(?:in|outside) (?:an? |the )?(?:cross-)?replica context"
        ),
        "a variable of a strategy is used outside the context that it belongs to",
        "update it inside `strategy.run(…)`, and create it inside `strategy.scope()`",
    )),
    ("FIT406", Rule(
        re.compile(r"enable_eager_execution must be called at program startup"),
        "eager execution is enabled after the program has already used TensorFlow",
        "call it right after the import, and restart the kernel of the notebook first; TensorFlow 2 needs no such call",
    )),
    ("FIT602", Rule(
        re.compile(r"No unary variant device copy function found"),
        "a dataset, or another object that exists only on the CPU, is used in a traced loop that runs on the GPU",
        "loop over the dataset in Python, outside the `tf.function`, or put the loop under `tf.device(\"/CPU:0\")`",
    )),
    ("FIT609", Rule(
        re.compile(
            r"must be (?:configured|set) at program startup|Cannot set memory growth|Virtual CPUs already set"
            r"|Memory growth cannot differ|Setting memory limit"
        ),
        "the devices are configured too late, or in two ways at once",
        "configure the devices once, before TensorFlow is used, and all GPUs in the same way",
    )),
    ("FIT507", Rule(
        re.compile(
            r"Tape is (?:still|not) recording|tape which is not recording|No trainable variables were accessed"
            r"|differentiate a function that returns None|created with persistent=True"
            r"|not tf\.Tensor or tf\.Variable"
        ),
        "`GradientTape` did not record what the gradient is computed of",
        "compute the loss inside the `with tf.GradientTape()` block, and call `gradient` after it",
    )),
    ("FIT314", Rule(
        re.compile(
            r"incompatible with input_signature|function was traced with|Could not find matching concrete function"
            r"|Arguments and signature arguments do not match"
            r"|Binding inputs to tf\.function failed|missing required arguments"
        ),
        "a traced function or a saved model is called with other arguments than it was traced with",
        "pass tensors with the shapes and dtypes of its signature: `print(f.structured_input_signature)`",
        also=("FIT101",),
    )),
    ("FIT114", Rule(
        re.compile(
            r"Cannot pack an empty list|from empty input list|shorter than minimum length"
            r"|Must pass at least one dataset|variable_list may not be empty|Length of params is currently 0"
            r"|dims of 'image\.shape' must be > 0"
        ),
        "an operation gets an empty list or an empty array",
        "check what loads or filters the data: it yields nothing",
    )),
    ("FIT310", Rule(
        re.compile(r"Python functions must return zero or more Tensors"),
        "a traced function returns something that is not a tensor",
        "return tensors, or lists and dicts of them",
    )),
    ("FIT409", Rule(
        re.compile(r"should not modify its Python input arguments"),
        "a traced function changes a list or dict that it was called with",
        "return a new list or dict instead",
    )),
    ("FIT503", Rule(
        re.compile(r"referencing variables which have been deleted"),
        "a function uses a variable that no object holds any longer",
        "store the variable in an attribute of the model",
    )),
    ("FIT324", Rule(
        re.compile(r"does not support bounded dynamic"),
        "XLA, which a TPU needs, compiles for batches of one size, but the last batch is shorter",
        "call `.batch(…, drop_remainder=True)`, on the validation data too",
        subject="batch size",
    )),
    ("FIT324", Rule(
        re.compile(
            r"partially known TensorShape|Shape .{0,60} is not fully defined"
            r"|must be accessible via shape inference|Cannot infer (?:argument `num`|num from shape)|is statically known"
            r"|Rank of convolution must be known|should have known rank|must be a compile-time constant"
            r"|XLA can't infer the output dimension|Contents: \(.{0,80}(?:None|Dimension\()"
        ),
        "an operation needs a size that is not known while the function is traced",
        "set the shape before it: `x.set_shape(…)` or `tf.ensure_shape(x, …)`",
        also=("FIT709",),
    )),
    ("FIT324", Rule(
        re.compile(r"looks like it has unbuilt state, but Keras is not able to trace"),
        "Keras cannot run `call` of a custom layer on symbolic inputs to find the shapes of its weights",
        "call the layer once on real data to see what fails in `call`, or create the weights in its `build` method",
        also=("FIT312",),
    )),
    ("FIT405", Rule(
        re.compile(r"symbolic output of a Keras layer during eager|from inside a control-flow construct"),
        "a symbolic tensor is used outside the graph that it belongs to",
        "compute it in the same function or model that uses it",
        also=("FIT312",),
    )),
    # --- what operations reject -----------------------------------------------------------------------------
    ("FIT320", Rule(
        re.compile(r"input channels does not match filter's input channels, (?P<found>\d+) != (?P<expected>\d+)"),
        "a convolution gets a tensor with {found} channels, but its kernel was built for {expected}",
        "call it on the output that it was built for, or create a new layer for this one",
        subject="convolution",
    )),
    ("FIT320", Rule(
        re.compile(r"pop index out of range"),
        "`K.dot` multiplies by a weight that has only one axis",
        "give the weight the shape (size, 1), and remove the last axis of the product with `K.squeeze(…, axis=-1)`",
        types=("IndexError",),
        place=re.compile(r"tensorflow_backend\.py:dot$"),
        subject="weight",
    )),
    ("FIT320", Rule(
        re.compile(r"of type Select must have the same size and shape"),
        "an operation chooses between tensors of different shapes: mostly, a mask reaches a layer that it does not fit",
        "return `None` from `compute_mask` of a custom layer that removes the time axis, or remove `mask_zero=True`",
    )),
    ("FIT320", Rule(
        re.compile(r"Lengths of logits, weights, and targets must be the same (?P<sizes>\d+, \d+, \d+)"),
        "logits, weights and targets of a sequence loss have different numbers of time steps: {sizes}",
        "pad or cut all three to the same number of steps",
        subject="sequence loss",
    )),
    ("FIT320", Rule(
        re.compile(r"sequence_length\(\d+\) <= (?P<steps>\d+)"),
        "the `input_length` passed to the CTC loss is larger than the {steps} time steps that the model outputs",
        "pass the number of time steps of the output for every sample, after pooling and slicing: `y_pred.shape[1]`",
        subject="input_length",
    )),
    ("FIT320", Rule(
        re.compile(r"Not enough time for target transition sequence \(required: (?P<needed>\d+), available: (?P<had>\d+)\)"),
        "a label of the CTC loss needs {needed} time steps, but the model outputs {had}",
        ("keep more time steps: use wider inputs, or less pooling along the time axis",
         "remove the samples whose labels are too long"),
        subject="label_length",
    )),
    ("FIT320", Rule(
        re.compile(r"Labels length is zero in batch (?P<row>\d+)"),
        "the CTC loss gets an empty label: sample {row} of the batch has the length 0",
        "remove samples without text, and check `label_length`",
        subject="label_length",
    )),
    ("FIT320", Rule(
        re.compile(r"squeeze_dims\[\d+\] not in \[-(?P<axes>\d+),\d+\)"),
        "an operation removes an axis that its input does not have: the input has {axes} axis or axes",
        "compare the axes of the input with what the layer expects; `TextVectorization` takes one string per sample, of "
        "shape (batch,) or (batch, 1)",
        also=("FIT304",),
    )),
    ("FIT320", Rule(
        re.compile(
            r"of type AddN must have the same size and shape"
            r"|State \S+ is incompatible with layer|expects \d+ states, but|but was passed \d+ initial states"
            r"|core dimension|is out of bounds for input shape|Dimension \d+ in both shapes must be equal"
            r"|Dimensions must be equal, but are|Shapes must be equal rank|Shape must be (?:at least "
            r"|at most )?rank|must have the same rank|Dimensions \S+ and \S+ are not compatible"
            r"|Incompatible shapes: [\[(]|required broadcastable shapes|shared dimension '|Can not squeeze dim\["
            r"|equal size tensors|Index out of range using input dim|Shapes \S.{0,80} are (?:incompatible|not compatible)"
        ),
        "an operation gets tensors whose shapes do not match",
        "print the shapes of its inputs, and compare them with what the operation expects",
        also=("FIT101", "FIT205", "FIT909"),
    )),
    ("FIT901", Rule(
        re.compile(r"is neither a type of a primitive operation nor a name of a function registered in binary"),
        "the machine that runs the graph, often a TPU worker, has another version of TensorFlow than the program",
        "install the same version of TensorFlow on both, or choose it for the TPU",
        also=("FIT606",),
    )),
    ("FIT327", Rule(
        re.compile(r"Detected unsupported operations when trying to compile graph"),
        "XLA cannot compile an operation of the model for this device",
        "replace the operation that the message names, or run it outside the compiled function; without a TPU, "
        "remove `jit_compile`",
        also=("FIT601",),
    )),
    ("FIT327", Rule(
        re.compile(r"To visualize embeddings, embeddings_data must be provided"),
        "`TensorBoard` needs `embeddings_data` if `embeddings_freq` is set",
        "pass `embeddings_data`, or set `embeddings_freq=0`",
    )),
    ("FIT407", Rule(
        re.compile(
            r"__array__\(\) (?:takes 1 positional argument but 2|got an unexpected keyword argument '(?:dtype|copy))"
        ),
        "NumPy converts a symbolic tensor, which has no values",
        "use the equivalent `keras.ops` or `tf` function, or pass arrays",
        types=("TypeError",),
        also=("FIT901",),
    )),
    # --- messages that were cut -----------------------------------------------------------------------------
    ("FIT102", Rule(
        re.compile(r"checking (?:model )?input: expected (?P<name>\S{1,80}) to have (?P<rank>\d+) ?dim"),
        "the input `{name}` needs data with {rank} axes",
        "compare the axes of the data with the input shape of the model: `print(x.shape, model.input_shape)`",
        also=("FIT107",),
    )),
    ("FIT203", Rule(
        re.compile(r"Detected at node '[^'\n]*SparseSoftmaxCrossEntropyWithLogits' defined at[^\n]{0,40}$"),
        "the loss rejects the labels: mostly, a label is not a class that the output has",
        "compare the largest label with the units of the last layer, and `y.shape` with `model.output_shape`",
        also=("FIT205",),
        confidence=Confidence.POSSIBLE,
    )),
    ("FIT205", Rule(
        re.compile(r"^(?:File \"?)?$"),
        "the loss cannot compare labels and outputs: mostly, their shapes differ",
        "compare `y.shape` with `model.output_shape`: the last layer needs one unit per class or label column",
        types=("InvalidArgumentError",),
        node=re.compile(
            r"(?:crossentropy|_error|huber|dice|iou|loss)[^/]*/(?:\w+/)?(?:softmax_cross_entropy_with_logits|mul|sub|add"
            r"|truediv|SquaredDifference)(?:_\d+)?$"
        ),
        confidence=Confidence.POSSIBLE,
    )),
    ("FIT205", Rule(
        re.compile(
            r"Detected at node '[^'\n]*(?:crossentropy|_error|huber|logistic_loss|dice|iou|loss)[^'\n]*/"
            r"(?:mul|sub|add|truediv|SquaredDifference|Mul|Sub|Equal)(?:_\d+)?' defined\b[^\n]{0,40}$"
        ),
        "the loss cannot compare labels and outputs: mostly, their shapes differ",
        "compare `y.shape` with `model.output_shape`; only the batch axis may differ",
        confidence=Confidence.POSSIBLE,
    )),
    ("FIT205", Rule(
        re.compile(r"Detected at node '[^'\n]*softmax_cross_entropy_with_logits' defined at[^\n]{0,40}$"),
        "the loss rejects the labels: their shape is not that of the output",
        "compare `y.shape` with `model.output_shape`: the last layer needs one unit per class",
        confidence=Confidence.POSSIBLE,
    )),
)  # fmt: skip
"""The message, and the cause that it shows by its words; the first that matches counts."""

_BY_TYPE: tuple[tuple[str, Rule], ...] = (
    ("FIT320", Rule(
        re.compile(
            r"(?i:broadcast(?:able)? shapes|not broadcastable|incompatible shapes"
            r"|expects a (?:vector|matrix|scalar|tensor) of (?:size|rank)"
            r"|n[o']t (?:have )?the same (?:shape|rank)|(?:shape|dimension|rank|size"
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
    ("FIT320", Rule(
        re.compile(
            r"(?i:\b(?:shape|rank|dimension)s?\b.{0,120}\b(?:must|should|expected|mismatch|match|compatible|equal"
            r"|but (?:got|is|received|saw))\b)"
        ),
        "an operation gets a tensor whose shape it does not accept",
        "print the shapes of its inputs, and compare them with what the operation expects",
        types=("ValueError",),
        of_framework=True,
        also=("FIT101", "FIT304"),
    )),
    ("FIT327", Rule(
        re.compile(
            r"(?:[Ii]nvalid|[Uu]nknown|[Uu]nsupported(?! operand)|[Uu]nrecognized|[Uu]nexpected|Inappropriate"
            r"|Received(?: an?)?(?: invalid| negative)?) (?:value |valid |mode |type "
            r"|keys? )?(?:received )?(?:for |of )?(?:the )?(?:argument |parameter "
            r"|attribute )?[`'\"]?(?P<name>\w+)|[`'\"](?P<named>\w+)(?:=\w+)?[`'\"](?: argument| parameter"
            r"| value)?.{0,40} (?:must|should|cannot|can(?:no|')t|can only|has to|needs? to|may only|only supports"
            r"|does not support)\b|(?:[Aa]rgument|[Pp]arameter) [`'\"]?(?P<also_named>\w+)[`'\"]? (?:must|should"
            r"|cannot|can only|is expected)"
            r"|Expected (?:argument )?[`'\"]?(?P<expected>\w+)[`'\"]?(?: argument)? (?:to be|>)|[Mm]ust specify \w"
            r"|(?:must|should|can only|may only) be (?:one of|in|either|an?|set|between|[<>]"
            r"|greater|less|at least|non|positive"
            r"|strictly|specified|provided|evenly divisible|higher|lower|tuple|list)\b|cannot (?:contain|be)\b"
            r"|is not a (?:valid|supported)|not understood|does not support (?:a )?\w+ [<>]=?|(?:Expected|Allowed"
            r"|Supported|Acceptable|Valid) (?:values|one of|formats|modes)|Could not interpret|(?:should"
            r"|must) have (?:an? )?(?:attribute )?`\w+`|is (?:not|only) supported|is unsupported|are not supported"
            r"|can only be used|at the same time|Only one of|[Ii]nvalid \w+ argument|not allowed"
        ),
        "Keras or TensorFlow rejects the value of an argument",
        "pass a value that the message allows; if it names none, see the documentation of the installed version",
        types=("ValueError", "TypeError", "Exception", "NotImplementedError"),
    )),
)  # fmt: skip
"""Words that mean this only because Keras or TensorFlow raised the exception."""
_RECEIVED = re.compile(r"\b(?:[Rr]eceived|Got|Found|You passed)\b:? ?[`'\"(\[<]?\w+")
"""Without a traceback, the style in which Keras quotes the rejected value."""

_CUT = ""
"""The type of an exception whose traceback was cut before it: its place is all that is known."""
_MISUSED = ("ValueError", "TypeError", "KeyError", "IndexError", "RuntimeError", "NotImplementedError")
_BY_PLACE: tuple[tuple[str, Rule], ...] = (
    ("FIT408", Rule(
        re.compile(""),
        "Python control flow is applied to a symbolic tensor",
        "use `tf.cond`, `tf.while_loop` or `tf.where`",
        types=(_CUT,),
        place=re.compile(r"framework/(?:ops|tensor)\.py:(?:__bool__|__iter__|_disallow_\w+)$"),
    )),
    ("FIT909", Rule(
        re.compile(""),
        "the saved weights belong to a model with a different architecture",
        "build the model exactly as it was when it was saved, then load the weights",
        types=("ValueError", "KeyError", "IndexError", _CUT),
        raised_in=(
            "load_weights", "load_weights_from_hdf5_group", "load_weights_from_hdf5_group_by_name",
            "preprocess_weights_for_loading", "set_weights", "load_own_variables", "batch_set_value", "restore",
        ),
        of_framework=True,
        also=("FIT908",),
    )),
    ("FIT908", Rule(
        re.compile(""),
        "the saved model cannot be written to this file, or rebuilt from it",
        "load it with the version of Keras that saved it, pass `custom_objects` for custom classes, and implement "
        "`get_config` in them",
        types=(*_MISUSED, "NameError", "AttributeError", _CUT),
        raised_in=(
            "load_model", "model_from_json", "model_from_yaml", "model_from_config", "from_config", "deserialize",
            "deserialize_keras_object", "save_model", "to_json", "get_config", "serialize_keras_object", "func_load",
            "save_model_to_hdf5", "save",
        ),
        of_framework=True,
        also=("FIT901",),
    )),
    ("FIT322", Rule(
        re.compile(""),
        "the checkpoint path uses a value that `fit` does not report",
        "use the keys of `history.history` in the path, such as `{epoch}` and `{loss}`",
        types=("KeyError",),
        place=re.compile(r"callbacks\.py:_get_file_path$"),
    )),
    ("FIT101", Rule(
        re.compile(r"^$"),
        "Keras compares the data with the inputs and outputs of the model here, and they differ",
        "compare their shapes: `print(x.shape, model.input_shape)` and `print(y.shape, model.output_shape)`",
        types=("ValueError", _CUT),
        place=re.compile(r":_?standardize_input_data$"),
        also=("FIT205",),
    )),
    ("FIT901", Rule(
        re.compile(r"^$"),
        "Keras or TensorFlow cannot be imported: mostly, the versions of two installed packages do not match",
        "install versions that belong together, in a new environment",
        place=re.compile(r"(?:^|/)(?:keras|tensorflow(?:_core)?)/(?:[\w/]+/)?\w+\.py:<module>$"),
        also=("FIT907",),
    )),
    ("FIT904", Rule(
        re.compile(""),
        "Keras runs on Theano, for which the program was not written",
        "set the backend to TensorFlow: `KERAS_BACKEND=tensorflow`, or `~/.keras/keras.json`",
        types=(*_MISUSED, "AttributeError"),
        place=re.compile(r"theano_backend\.py:"),
    )),
    ("FIT327", Rule(
        re.compile(""),
        "Keras rejects an argument of a layer, an optimizer or another object",
        "compare the arguments with the documentation of the installed version",
        types=("ValueError", "TypeError"),
        place=re.compile(
            r"keras/(?:\w+/)*(?:layers|optimizers?|losses|metrics|callbacks|initializers|regularizers|constraints"
            r"|applications|preprocessing|utils)\b[\w/]*\.py:(?:__init__|__new__|normalize_\w+|standardize_tuple)$"
        ),
    )),
)  # fmt: skip
"""What an exception means by where it was raised, whatever it says."""

_BY_TYPE_ALONE: tuple[tuple[str, Rule], ...] = tuple(
    (cause, Rule(re.compile(""), problem, remedy, types=types, also=also))
    for cause, types, problem, remedy, also in (
        ("FIT716", ("DataLossError",), "a data file is damaged or has another format than the program expects",
         "write or download the file again", ("FIT908",)),
        ("FIT703", ("OutOfRangeError",), "the data ended before the epoch did",
         "repeat the dataset with `.repeat()`, or reduce `steps_per_epoch`", ("FIT705",)),
        ("FIT606", ("UnavailableError", "DeadlineExceededError"), "another process of the cluster does not answer",
         "check `TF_CONFIG` and that every worker runs", ()),
        ("FIT327", ("UnimplementedError",), "TensorFlow has no implementation of this operation for these arguments",
         "change the value, dtype, shape or device that the message names", ("FIT601", "FIT111")),
        ("FIT906", ("CancelledError",), "a step was cancelled because another operation of it failed, mostly on the GPU",
         "read the messages before this one, and try the program with `CUDA_VISIBLE_DEVICES=-1`", ("FIT806",)),
        ("FIT906", ("InternalError",), "TensorFlow failed inside, which is mostly a matter of the GPU or its memory",
         "check the GPU with `nvidia-smi`, and try the program with `CUDA_VISIBLE_DEVICES=-1`", ("FIT806",)),
        ("FIT407", ("TracerArrayConversionError", "TracerIntegerConversionError", "ConcretizationTypeError"),
         "NumPy, or code that needs a Python number, is applied to a value that JAX is still tracing",
         "use `keras.ops` or `jax.numpy` there, and keep `predict` out of traced code", ("FIT319",)),
        ("FIT408", ("OperatorNotAllowedInGraphError", "TracerBoolConversionError"),
         "Python control flow is applied to a symbolic tensor",
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
    identity, rule, subject = row
    cause = replace(catalogue()[identity], judges=[])

    def from_words(failure: FailureFacts) -> Iterator[Finding]:
        rules = [replace(rule, subject=subject)]
        yield from findings_from_failure(cause, rules, failure, NO_FILES)

    cause.after_failure(from_words)
    return {identity: cause}


def _is_own(failure: FailureFacts) -> bool:
    """Whether Keras or TensorFlow raised it, as far as the text shows."""
    last = failure.frames[-1] if failure.frames else None
    return last is None or not last.library or is_framework(last.path)


_OF_ANOTHER_TASK = "Check the task logs for an earlier error"


def _rows(failure: FailureFacts) -> Iterator[tuple[str, Rule, str]]:
    """Yield the rows that match: id, words, and what the finding rests on."""
    if _OF_ANOTHER_TASK in failure.message:
        return  # the error of that task is the reason
    beside = is_beside_keras(failure)
    elsewhere = is_of_another_library(failure.frames) or bool(raised_by(failure))
    if elsewhere and not beside and failure.type != "SIGABRT" and not raised_by_backend(failure):
        return
    quoted = any(frame.library for frame in failure.frames) or _RECEIVED.search(failure.message)
    tables = [(KNOWN, BY_MESSAGE)]
    if not beside:
        raised = _BY_TYPE if quoted and _is_own(failure) else _BY_TYPE[:-1]
        tables += [(raised, BY_TYPE), (_BY_PLACE, BY_TYPE), (_BY_TYPE_ALONE, BY_TYPE)]
    for table, subject in tables:
        for identity, rule in table:
            merges = identity == "FIT320" and failure.layer_class in MERGES
            if not merges and match_message(failure, rule) is not None:
                yield identity, rule, subject
