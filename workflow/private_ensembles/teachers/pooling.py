"""Max pooling that does not hold up small networks on a CPU."""

import torch
from torch import nn
from torch.nn.functional import max_pool2d

SQUARE = ([2, 2], [2, 2], [0, 0], [1, 1], False)  # kernel, stride, padding, dilation, ceil_mode


class MaxPool2x2(nn.Module):
    """2x2 max pooling, an odd last row or column left out: bit for bit nn.MaxPool2d(2).

    On a CPU PyTorch walks over contiguous images value by value to find the maxima, twelve times as
    long as over channels-last ones (`device.channels_last`), which are left to it. DP-SGD needs
    contiguous ones. Among equal values, the gradient goes to the first one of each square in any
    case.
    """

    def forward(self, images):
        """(N, channels, height, width) -> (N, channels, height // 2, width // 2)."""
        if not (images.is_cuda or torch.is_grad_enabled()):
            return _rows(_corners(images))[2]  # where the maxima are does not matter here
        if images.is_cuda or not images.is_contiguous():
            return max_pool2d(images, 2)
        return _Pool.apply(images)[0]


def _corners(images):
    """The values of each 2x2 square, in reading order."""
    height, width = (side // 2 * 2 for side in images.shape[-2:])
    return [images[..., i:height:2, j:width:2] for i in (0, 1) for j in (0, 1)]


def _rows(corners):
    """The maxima of the upper rows, of the lower rows, and of the squares."""
    a, b, c, d = corners
    upper, lower = torch.maximum(a, b), torch.maximum(c, d)
    return upper, lower, torch.maximum(upper, lower)


class _Pool(torch.autograd.Function):
    """The maxima; where they are: in the right column, in the lower row of their squares."""

    generate_vmap_rule = True

    @staticmethod
    def forward(images):
        a, b, c, d = corners = _corners(images)
        upper, lower, largest = _rows(corners)
        below, right = lower > upper, b > a
        # (d > c) where the lower row wins: `where` would take ten times as long
        return largest, right ^ ((right ^ (d > c)) & below), below

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, right, below = output
        ctx.mark_non_differentiable(right, below)
        ctx.save_for_backward(inputs[0], right, below)

    @staticmethod
    def backward(ctx, gradient, *_):
        images, right, below = ctx.saved_tensors
        height, width = images.shape[-2:]
        rows, columns = (
            torch.arange(0, side // 2 * 2, 2, device=gradient.device) for side in (height, width)
        )
        # in 16 bits, because 64 take three times as long
        within = below.to(torch.int16) * width + right
        return torch.ops.aten.max_pool2d_with_indices_backward(
            gradient, images, *SQUARE, within.to(torch.int64) + (rows[:, None] * width + columns)
        )
