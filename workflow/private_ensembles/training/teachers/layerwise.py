"""Clipped gradients of teachers on a CPU, one teacher's batch at a time.

On a CPU a convolution with one set of weights is several times as fast as grouped ones. So a batch
goes through its teacher's network as in plain training, and the gradients at every layer's output
come back; each record's gradient of a layer follows from these and the layer's input. Compared with
Opacus' hooks, this leaves out what DP-SGD does not need: the ordinary gradient; unfolded images, in
which every value occurs once for each weight of the kernel; and each record's own gradient of a
linear layer, whose norm is a product of two.
"""

from contextlib import contextmanager

import torch
from torch import nn
from torch.nn.functional import conv2d, linear, pad

from private_ensembles.training.teachers.device import scale_pixels, square_root
from private_ensembles.training.teachers.stacked import (
    NORM_OFFSET,
    run_backward,
    unflatten_parameters,
)

# So many records are taken at a time: what lies between the layers should stay in the caches.
PIECE = 64


class LayerwiseGradients:
    """Sums of clipped gradients over each teacher's batch, as `StackedGradients` gives them.

    A teacher's sum depends on its own batch and weights only. It is computed by one thread whatever
    their number is: libraries share out sums among threads, and round by it.

    Args:
        model: An `nn.Sequential`, as in `models`: linear layers and convolutions without strides,
            dilations and groups have parameters and a bias each, its other layers have none.
        images, labels, pixel_max, max_grad_norm: As in `stacked.StackedGradients`.
    """

    def __init__(self, model, images, labels, *, pixel_max, max_grad_norm):
        self.model, self.pixel_max, self.max_grad_norm = model, pixel_max, max_grad_norm
        self.images, self.labels = images, labels

    def __call__(self, parameters, batches):
        """Return a matrix (K, D) of sums.

        Args:
            parameters: (K, D).
            batches: K int64 tensors of record indices.
        """
        total = torch.zeros_like(parameters)
        with _one_thread():
            for row, batch, teacher_sum in zip(parameters, batches, total, strict=True):
                weights = list(unflatten_parameters(row, self.model).values())
                for records in batch.split(PIECE) if len(batch) else ():
                    teacher_sum += self._clipped_sum(weights, records)
        return total

    def _clipped_sum(self, weights, records):
        """Return the sum (D,) of the records' gradients, each clipped: DP-SGD's line 'clip'."""
        values = scale_pixels(self.images[records], self.pixel_max, dtype=weights[0].dtype)
        layers = run_backward(self.model, values, self.labels[records], weights, KINDS)
        squares = sum(layer.squared_norms() for layer in layers)
        factors = (self.max_grad_norm / (square_root(squares) + NORM_OFFSET)).clamp(max=1)
        return torch.cat(
            [part.flatten() for layer in layers for part in layer.weighted_sums(factors)]
        )


@contextmanager
def _one_thread():
    before = torch.get_num_threads()
    if before == 1:  # setting it would throw away what libraries keep from step to step
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class _Product:
    """A linear layer: a record's gradient is the outer product of its output's and its input."""

    def __init__(self, layer, weights, bias):
        self.weights, self.bias = weights, bias

    def __call__(self, values):
        self.inputs = values.detach()
        return linear(values, self.weights, self.bias)

    def set_output_gradients(self, gradients):
        """Keep the gradients at the output: a record's own is the outer product with its input."""
        self.gradients = gradients

    def squared_norms(self):
        """Return the squared norm of each record's gradient, weights and bias together, (N,)."""
        return self.gradients.square().sum(1) * (1 + self.inputs.square().sum(1))

    def weighted_sums(self, factors):
        """Return the sums of the records' gradients times their factors (N,): weights, bias."""
        scaled_down = self.gradients * factors[:, None]
        return scaled_down.T @ self.inputs, scaled_down.sum(0)


class _Convolution:
    """A convolution: a record's gradient is its output's times every window of the padded input."""

    def __init__(self, layer, weights, bias):
        self.padding, self.weights, self.bias = layer.padding, weights, bias

    def __call__(self, values):
        height, width = self.padding
        self.padded = pad(values.detach(), (width, width, height, height))
        return conv2d(values, self.weights, self.bias, padding=self.padding)

    def set_output_gradients(self, gradients):
        """Compute each record's gradients of weights and bias from those at the output."""
        count, channels, padded_height, padded_width = self.padded.shape
        outputs, height, width = gradients.shape[1:]
        kernel_width = padded_width - width + 1
        # Each row is copied once for every column of the kernel; the kernel's rows are then views.
        rows = (
            self.padded.unfold(3, width, 1)
            .permute(0, 1, 3, 2, 4)
            .reshape(count, -1, padded_height * width)
        )
        flat = gradients.flatten(2)
        self.shape = (outputs, channels, kernel_width)
        self.weight_gradients = [
            torch.bmm(flat, rows[..., top * width : (top + height) * width].mT)
            for top in range(padded_height - height + 1)
        ]
        self.bias_gradients = flat.sum(2)

    def squared_norms(self):
        """Return the squared norm of each record's gradient, weights and bias together, (N,)."""
        norms = [torch.linalg.vector_norm(part.flatten(1), dim=1) for part in self.weight_gradients]
        return self.bias_gradients.square().sum(1) + sum(norm.square() for norm in norms)

    def weighted_sums(self, factors):
        """Return the sums of the records' gradients times their factors (N,): weights, bias."""
        rows = [(factors @ part.flatten(1)).view(self.shape) for part in self.weight_gradients]
        return torch.stack(rows, 2), factors @ self.bias_gradients


KINDS = {nn.Conv2d: _Convolution, nn.Linear: _Product}
