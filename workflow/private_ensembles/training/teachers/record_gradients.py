"""Refuse models for which gradients of single records would be wrong without an error.

DP-SGD clips each record's gradient. If a gradient is not that of one record, the noise does not
cover what the record adds, and the accounted epsilon is not what was spent.
"""

import contextlib
import copy
import warnings

import torch
from torch import nn
from torch.nn.functional import cross_entropy

# Gradients of so many made-up records are compared.
RECORDS = 3
# They may differ by this, relative to the largest number; wrong ones differ by a tenth and more.
CLOSE = 1e-3
DROPOUT = (
    nn.Dropout,
    nn.Dropout1d,
    nn.Dropout2d,
    nn.Dropout3d,
    nn.AlphaDropout,
    nn.FeatureAlphaDropout,
)


def find_wrong_setting(layer):
    """Return the setting with which Opacus 1.6 gets a layer's gradients wrong, as text, or None.

    It unfolds a convolution's input as if it were padded with zeros, and takes no notice of what an
    embedding does to its own gradient.
    """
    mode = getattr(layer, "padding_mode", "zeros")
    if mode != "zeros":
        return f"padding_mode = {mode!r}"
    if isinstance(layer, nn.Embedding) and layer.scale_grad_by_freq:
        return "scale_grad_by_freq = True"
    if isinstance(layer, nn.Embedding) and layer.padding_idx is not None:
        return f"padding_idx = {layer.padding_idx}"
    return None


def require_opacus_gradients(model, image_shape, device="cpu"):
    """Raise ValueError, with the layer's name, if Opacus gets gradients of single records wrong.

    Beside the settings of `find_wrong_setting`, Opacus says nothing if a layer sees something else
    than records in its first dimension, if its input is not contiguous, or if its weights are also
    used outside of it. So gradients of a few made-up records are compared with those of each record
    by itself. Nothing is drawn from the global generator, and the model stays as it is.

    Args:
        model: What is to be trained, in training mode.
        image_shape: That of one record, without the first dimension.
        device: Where the model is.
    """
    for name, layer in model.named_modules():
        if setting := find_wrong_setting(layer):
            raise ValueError(
                f"model: {_describe(name, layer)}: Opacus gets the gradients of single records "
                f"wrong with {setting}, and says nothing: leave that setting out"
            )
    model = copy.deepcopy(model)
    for layer in model.modules():
        if isinstance(layer, DROPOUT):
            layer.eval()  # what it leaves out is drawn anew in every pass
    generator = torch.Generator().manual_seed(0)
    images = torch.rand((RECORDS, *image_shape), generator=generator).to(device)
    with torch.no_grad():
        classes = model(images).shape[1]
    labels = torch.randint(0, classes, (RECORDS,), generator=generator).to(device)
    expected = [_gradients(model, images[i : i + 1], labels[i : i + 1]) for i in range(RECORDS)]
    found = _opacus_gradients(model, images, labels)
    largest = max(float(part.abs().max()) for record in expected for part in record.values())
    for name, parts in found.items():
        single = torch.stack([record[name] for record in expected])
        if parts.shape == single.shape and (parts - single).abs().max() <= CLOSE * largest:
            continue
        layer = model.get_submodule(name.rpartition(".")[0])
        raise ValueError(
            f"model: {_describe(name.rpartition('.')[0], layer)}: Opacus' gradients of "
            f"{name.rpartition('.')[2]} are not those of single records: records must be its "
            "input's first dimension, contiguous, and apart, and nothing else may use its weights"
        )


def trained_parameters(model):
    """Return the parameters that are not frozen, with their names; ValueError if all are."""
    trained = [(name, one) for name, one in model.named_parameters() if one.requires_grad]
    if not trained:
        raise ValueError("model: must have parameters that are trained; all are frozen")
    return trained


@contextlib.contextmanager
def quiet_hooks():
    """Let Opacus' hooks warn of nothing: the first layer's input, images, needs no gradient."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Full backward hook is firing")
        yield


def _gradients(model, images, labels):
    """Return the gradients of the summed cross-entropy by the parameters' names."""
    loss = cross_entropy(model(images), labels, reduction="sum")
    parameters = dict(trained_parameters(model))
    parts = torch.autograd.grad(loss, list(parameters.values()), materialize_grads=True)
    return dict(zip(parameters, parts, strict=True))


def _opacus_gradients(model, images, labels):
    """Return Opacus' gradients of each record, (records, ...), by the parameters' names."""
    from opacus.grad_sample import GradSampleModule  # late: it takes a second

    wrapped = GradSampleModule(model, loss_reduction="sum")
    with quiet_hooks():
        cross_entropy(wrapped(images), labels, reduction="sum").backward()
    found = {}
    for name, parameter in trained_parameters(model):
        if parameter.grad_sample is None:
            raise ValueError(f"model: {name}: Opacus finds no gradients of single records for it")
        found[name] = parameter.grad_sample
    wrapped.to_standard_module()
    return found


def require_plain_layers(model):
    """Raise ValueError, with the layer's name, unless `layerwise` and `stacked` know all layers.

    Args:
        model: An `nn.Sequential`.
    """
    for name, layer in model.named_children():
        if not any(True for _ in layer.parameters()):
            continue
        usual = {"stride": (1, 1), "dilation": (1, 1), "groups": 1, "padding_mode": "zeros"}
        if type(layer) is nn.Linear:
            usual = {}
        elif type(layer) is not nn.Conv2d:
            raise ValueError(
                f"model: {_describe(name, layer)}: of layers with weights, Linear and Conv2d alone "
                "can be trained together; use backend: opacus"
            )
        elif isinstance(layer.padding, str):
            raise ValueError(f"model: {_describe(name, layer)}: padding must be two numbers")
        if layer.bias is None:
            raise ValueError(f"model: {_describe(name, layer)}: must have a bias")
        for setting, value in usual.items():
            if getattr(layer, setting) != value:
                raise ValueError(
                    f"model: {_describe(name, layer)}: {setting} = {getattr(layer, setting)!r}: "
                    f"must be {value!r} where teachers are trained together"
                )


def _describe(name, layer):
    return f"layer {name} ({type(layer).__name__})" if name else type(layer).__name__
