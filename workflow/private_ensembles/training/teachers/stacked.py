"""Many models of one architecture as the rows of one matrix, and their gradients in a few passes.

Each teacher has a batch of its own, of its own size. A pass takes many batches at once: layer by
layer, as `layerwise` does for one teacher, and each layer is one batched product in which every
record meets its own teacher's weights. For that, a convolution's input is unfolded into columns.
So nothing is padded but the inputs of linear layers, and there is no largest batch: a longer one is
cut into pieces.
"""

from typing import NamedTuple

import torch
from torch import nn
from torch.nn.functional import cross_entropy, embedding_bag, fold, unfold

from private_ensembles.training.teachers.device import (
    first_line,
    is_out_of_memory,
    pass_bytes,
    scale_pixels,
    send_to_device,
    square_root,
)

# One product of a linear layer takes at most so many records of a teacher, and is padded to them.
LONGEST = 64
# A pass takes at most so many records: more make a GPU no faster.
MOST_RECORDS = 1 << 13
# A tensor of a pass has at most so many numbers: libraries count them in 32 bits, on a GPU as on a
# CPU.
MOST_NUMBERS = 2**31 - 1
# Opacus' DPOptimizer.clip_and_accumulate adds the same, so that nothing is divided by a norm of 0.
NORM_OFFSET = 1e-6


def stack_parameters(models, device="cpu"):
    """Return the parameters of K models as the rows of a matrix (K, D) on `device`.

    A row is a model's parameters one after the other, flattened, in the order of its state_dict.

    Raises:
        ValueError: A model has state beside its parameters (batch normalisation).
    """
    if any(True for _ in models[0].buffers()):
        raise ValueError("model has buffers: its gradients would not be of one record each")
    rows = [torch.nn.utils.parameters_to_vector(model.parameters()).detach() for model in models]
    return torch.stack([row.cpu() for row in rows]).to(device)


def require_finite_state(tensors):
    """Return copies of a model's tensors by name on the CPU, as a state_dict.

    Raises:
        ValueError: A tensor holds a number that is not finite; the message names it.
    """
    # Each tensor gets its own memory: a view would be saved with the whole matrix behind it.
    state = {
        name: tensor.detach().cpu().clone(memory_format=torch.contiguous_format)
        for name, tensor in tensors.items()
    }
    for name, tensor in state.items():
        if not tensor.isfinite().all():
            raise ValueError(f"training diverged: {name} is not finite; lower learning_rate")
    return state


def require_finite_states(rows, model):
    """Return the rows of a matrix (K, D) as state_dicts of `model`, by `require_finite_state`."""
    return [require_finite_state(unflatten_parameters(row, model)) for row in rows.detach().cpu()]


def index_rows(teachers, matrix):
    """Return an index of the rows of these teachers in a matrix, on its device.

    Args:
        teachers: Their numbers, ascending, without repetition.
        matrix: (K, D).
    """
    if len(teachers) == len(matrix):
        return slice(None)  # which makes a view, not a copy
    return send_to_device(torch.tensor(teachers), matrix.device)


def unflatten_parameters(rows, model):
    """Return rows (..., D) as tensors (..., *shape) by the names of the model's parameters."""
    shapes = {name: parameter.shape for name, parameter in model.named_parameters()}
    parts = rows.split([shape.numel() for shape in shapes.values()], dim=-1)
    return {
        name: part.unflatten(-1, shape)
        for (name, shape), part in zip(shapes.items(), parts, strict=True)
    }


def run_backward(model, values, labels, weights, kinds):
    """Run a pass forwards and back, and return the layers that have parameters, in order.

    Args:
        model: An `nn.Sequential`.
        values: Its input.
        labels: The records' labels, for the summed cross-entropy.
        weights: Tensors in the order of the model's parameters.
        kinds: The class that stands for a type of layer. It is made of the layer, its weights and
            its bias, computes the layer's output from its input, and gets the gradients at that
            output by `set_output_gradients`.

    Returns:
        A list of objects of these classes.
    """
    weights = iter(weights)
    stand_ins, outputs = [], []
    for layer in model:
        if type(layer) in kinds:
            stand_ins.append(kinds[type(layer)](layer, next(weights), next(weights)))
            values = stand_ins[-1](values)
            # Weights ask for no gradient, so nothing but the first output makes autograd begin.
            outputs.append(values if outputs else values.requires_grad_())
        else:
            values = layer(values)
    loss = cross_entropy(values, labels, reduction="sum")
    for layer, gradients in zip(stand_ins, torch.autograd.grad(loss, outputs), strict=True):
        layer.set_output_gradients(gradients)
    return stand_ins


class BatchPieces(NamedTuple):
    """Batches cut into P pieces.

    Attributes:
        owners: The number of the teacher whose each piece is, int64 (P,).
        lengths: How many records each piece has, int64 (P,).
        records: The indices of the records of all pieces, one after the other, int64.
    """

    owners: torch.Tensor
    lengths: torch.Tensor
    records: torch.Tensor


def cut_batches(batches, longest):
    """Cut batches into pieces of at most `longest` records, each of one batch, without padding.

    Args:
        batches: One int64 tensor of record indices per teacher, of any length, 0 included.
        longest: The most records of a piece.
    """
    lengths = torch.tensor([len(batch) for batch in batches], dtype=torch.int64)
    counts = -(-lengths // longest)
    owners = torch.arange(len(batches)).repeat_interleave(counts)
    pieces = torch.full_like(owners, longest)
    full = counts > 0
    pieces[counts.cumsum(0)[full] - 1] -= (counts * longest - lengths)[full]
    return BatchPieces(owners, pieces, torch.cat(list(batches)).to(torch.int64))


class StackedGradients:
    """Sums of gradients of the cross-entropy over each teacher's batch, clipped or not.

    When memory runs out, a pass is halved and repeated, and later ones stay as small. How many
    records make a pass changes no bit of the result on a CPU. On a GPU nothing waits for a result.

    Args:
        model: An `nn.Sequential`, as in `models`: linear layers and convolutions without strides,
            dilations and groups have parameters and a bias each, its other layers have none.
        images: A uint8 tensor (N, ...) on the device where the work is done.
        labels: An int64 tensor (N,) on that device.
        pixel_max: As in `scale_pixels`.
        max_grad_norm: Each record's gradient is scaled down to this norm before the sum, exactly as
            Opacus does; None: not at all.
        longest: Up to so many records of a teacher are never taken apart.
        records: About how many records make a pass; by default what memory allows.
    """

    def __init__(
        self,
        model,
        images,
        labels,
        *,
        pixel_max,
        max_grad_norm: float | None = None,
        longest=LONGEST,
        records: int | None = None,
    ):
        self.model = model.to(images.device)
        self.images, self.labels, self.pixel_max = images, labels, pixel_max
        self.max_grad_norm, self.longest = max_grad_norm, longest
        self.records = self._records_per_pass() if records is None else records

    def __call__(self, parameters, batches):
        """Return a matrix (K, D) of sums.

        Args:
            parameters: (K, D).
            batches: K int64 tensors of record indices.

        Raises:
            ValueError: Memory does not even suffice for one piece of a batch.
        """
        owners, lengths, records = cut_batches(batches, self.longest)
        ends = lengths.cumsum(0)
        total = torch.zeros_like(parameters)
        first = done = 0  # pieces and records that are done
        while first < len(owners):
            # A pass takes as many whole pieces as fit, and one at least.
            last = max(first + 1, int(torch.searchsorted(ends, done + self.records, right=True)))
            end = int(ends[last - 1])
            lack = None
            try:
                teachers, sums = self._pass(
                    parameters, owners[first:last], lengths[first:last], records[done:end]
                )
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
                lack = first_line(error)
            if lack is not None:
                # The error is gone by now; it kept alive all that the pass had allocated.
                self._halve(lack, last - first, end - done)
                continue
            # Memory cannot run out here: what is added twice would be clipped to twice the norm.
            # Nobody has more than two pieces, as a rule: a sum of two is the same in either order.
            total.index_add_(0, teachers, sums)
            first, done = last, end
        return total

    def _pass(self, parameters, owners, lengths, records):
        """Return the teachers `owners` (P,) of pieces, on the device, and the sums (P, D)."""
        starts = lengths.cumsum(0) - lengths
        piece = torch.arange(len(lengths)).repeat_interleave(lengths)
        padded_position = torch.arange(len(records)) + (piece * self.longest - starts[piece])
        parts = owners, starts, piece, padded_position, records
        sent = send_to_device(torch.cat(parts), parameters.device).split(
            [len(part) for part in parts]
        )
        owners, pieces, records = sent[0], _Pieces(self.longest, *sent[1:4]), sent[4]
        values = scale_pixels(self.images[records], self.pixel_max, dtype=parameters.dtype)
        layers = run_backward(
            self.model,
            values,
            self.labels[records],
            unflatten_parameters(parameters[owners], self.model).values(),
            {nn.Conv2d: pieces.convolution, nn.Linear: pieces.product},
        )
        factors = self._clipping_factors(layers, values)
        sums = [part.flatten(1) for layer in layers for part in layer.weighted_sums(factors)]
        return owners, torch.cat(sums, 1)

    def _clipping_factors(self, layers, values):
        """Return the factor of each record's gradient, (N,): DP-SGD's Algorithm 1, line 'clip'."""
        if self.max_grad_norm is None:
            return values.new_ones(len(values))
        squares = sum(layer.squared_norms() for layer in layers)
        return (self.max_grad_norm / (square_root(squares) + NORM_OFFSET)).clamp(max=1)

    def _records_per_pass(self):
        """Return how many records fit into a pass, by its memory and its tensors' length.

        A record takes less than: one and a half of its columns, its weights and its gradient at
        every convolution, and four times what lies between layers. A piece takes its weights, its
        gradient, and what is padded; a record's share is that of half a piece.
        """
        n_weights = sum(parameter.numel() for parameter in self.model.parameters())
        dtype = next(self.model.parameters()).dtype
        values = scale_pixels(self.images[:1], self.pixel_max, dtype=dtype)
        numbers, longest = 4 * values.numel() + 4 * n_weights // self.longest, n_weights
        with torch.no_grad():
            for layer in self.model:
                longest = max(longest, values.numel())
                if type(layer) is nn.Linear:
                    numbers += 4 * values.numel()
                    longest = max(longest, self.longest * values.numel())
                values = layer(values)
                numbers += 4 * values.numel()
                longest = max(longest, values.numel())
                if type(layer) is nn.Conv2d:
                    columns = layer.weight[0].numel() * values[0, 0].numel()
                    numbers += 3 * columns // 2 + 2 * layer.weight.numel()
                    longest = max(longest, columns)
        records = pass_bytes(self.images.device) // (dtype.itemsize * numbers)
        return max(1, min(records, MOST_NUMBERS // longest, MOST_RECORDS))

    def _halve(self, lack, pieces, records):
        if pieces == 1:
            raise ValueError(
                f"out of memory on {self.images.device} with {records} records of one teacher: "
                f"use device: cpu or a smaller model ({lack})"
            )
        self.records = records // 2
        torch.cuda.empty_cache()  # does nothing if no GPU is in use


class _Pieces:
    """Which records are whose in a pass.

    Args:
        longest: The most records of a piece.
        starts: Where each piece begins among the records, (P,).
        piece: The piece of each record, (N,).
        padded_position: Where each record would be if every piece had `longest` records, (N,).
    """

    def __init__(self, longest, starts, piece, padded_position):
        self.longest, self.starts, self.piece, self.padded_position = (
            longest,
            starts,
            piece,
            padded_position,
        )
        self.record_numbers = torch.arange(len(piece), device=piece.device)

    def convolution(self, *layer):
        return _Convolutions(self, *layer)

    def product(self, *layer):
        return _Products(self, *layer)

    def expand_to_records(self, rows):
        """Return each record's row (N, ...) of the pieces' rows (P, ...)."""
        return rows.flatten(1).index_select(0, self.piece).unflatten(1, rows.shape[1:])

    def sum_by_piece(self, rows, factors):
        """Return the sums (P, ...) over pieces of rows (N, ...) times their factors (N,)."""
        flat = rows.flatten(1)
        summed = embedding_bag(
            self.record_numbers, flat, self.starts, mode="sum", per_sample_weights=factors
        )
        return summed.unflatten(1, rows.shape[1:])

    def pad(self, rows):
        """Return rows (N, n) by pieces, (P, longest, n), with zeros after each piece's last."""
        blank = rows.new_zeros(len(self.starts) * self.longest, rows.shape[1])
        return blank.index_copy(0, self.padded_position, rows).unflatten(0, (-1, self.longest))

    def unpad(self, rows):
        """Return the rows that `pad` was given."""
        return rows.flatten(0, 1).index_select(0, self.padded_position)


class _Convolutions:
    """A convolution of every record with its teacher's weights (P, out, in, height, width)."""

    def __init__(self, pieces, layer, weights, bias):
        self.pieces, self.padding, self.weights, self.bias = pieces, layer.padding, weights, bias

    def __call__(self, values):
        # Images are unfolded as channels of one image: a GPU would unfold many one by one.
        channels = values.detach().reshape(1, -1, *values.shape[2:])
        columns = unfold(channels, self.weights.shape[3:], padding=self.padding)
        self.columns = columns.view(len(values), -1, columns.shape[2])
        return _Convolve.apply(values, self)

    def set_output_gradients(self, gradients):
        """Compute each record's gradients of weights and bias from those at the output."""
        flat = gradients.flatten(2)
        self.weight_gradients, self.bias_gradients = torch.bmm(flat, self.columns.mT), flat.sum(2)
        del self.columns

    def squared_norms(self):
        """Return the squared norm of each record's gradient, weights and bias together, (N,)."""
        # Squares are summed by rows first: thousands at a time would round more (CLIPPED_NORM).
        rows = torch.linalg.vector_norm(self.weight_gradients, dim=2)
        return rows.square().sum(1) + self.bias_gradients.square().sum(1)

    def weighted_sums(self, factors):
        """Return the sums of the records' gradients times their factors (N,): weights, bias."""
        return [
            self.pieces.sum_by_piece(part, factors)
            for part in (self.weight_gradients, self.bias_gradients)
        ]


class _Convolve(torch.autograd.Function):
    """The output of `_Convolutions` from its columns, and the gradient at its input."""

    @staticmethod
    def forward(ctx, values, layer):
        ctx.layer, ctx.sides = layer, values.shape[2:]
        weights, bias = (
            layer.pieces.expand_to_records(rows) for rows in (layer.weights, layer.bias)
        )
        flat = torch.baddbmm(bias[..., None], weights.flatten(2), layer.columns)
        kernel = layer.weights.shape[3:]
        output_height = values.shape[2] + 2 * layer.padding[0] - kernel[0] + 1
        return flat.unflatten(2, (output_height, -1))

    @staticmethod
    def backward(ctx, gradients):
        """Return the gradient at the input, computed for one row of the kernel after the other.

        A GPU would take twice as long to fold columns of whole kernels.
        """
        layer, (input_height, input_width) = ctx.layer, ctx.sides
        row_padding, column_padding = layer.padding
        inputs, height, width = layer.weights.shape[2:]
        output_width = gradients.shape[3]
        flat = gradients.flatten(2)
        padded_height = input_height + 2 * row_padding
        rows = flat.new_zeros(len(flat), inputs * width, padded_height * output_width)
        for top in range(height):
            weights = layer.weights[:, :, :, top].permute(0, 2, 3, 1)
            part = rows[..., top * output_width : top * output_width + flat.shape[2]]
            part.baddbmm_(layer.pieces.expand_to_records(weights).flatten(1, 2), flat)
        folded = fold(
            rows.view(1, -1, rows.shape[2]),
            (padded_height, input_width),
            (1, width),
            padding=(0, column_padding),
        )
        images = folded.view(len(flat), inputs, -1, input_width)
        return images[:, :, row_padding : row_padding + input_height], None


class _Products:
    """A linear layer of every record with its teacher's weights (P, out, in)."""

    def __init__(self, pieces, layer, weights, bias):
        self.pieces, self.weights, self.bias = pieces, weights, bias

    def __call__(self, values):
        self.inputs = values.detach()
        padded = self.pieces.pad(values)
        return self.pieces.unpad(torch.baddbmm(self.bias[:, None], padded, self.weights.mT))

    def set_output_gradients(self, gradients):
        """Keep the gradients at the output: a record's own is the outer product with its input."""
        self.gradients = gradients

    def squared_norms(self):
        """Return the squared norm of each record's gradient, weights and bias together, (N,)."""
        return self.gradients.square().sum(1) * (1 + self.inputs.square().sum(1))

    def weighted_sums(self, factors):
        """Return the sums of the records' gradients times their factors (N,): weights, bias."""
        scaled_down = self.pieces.pad(self.gradients * factors[:, None])
        return torch.bmm(scaled_down.mT, self.pieces.pad(self.inputs)), scaled_down.sum(1)
