"""Many models of one architecture as the rows of one matrix, and their gradients in a few passes.

Each teacher has a batch of its own, of its own size. A pass takes many batches at once: layer by
layer, as `layerwise` does for one teacher, and each layer is one batched product in which every
record meets its own teacher's weights. For that, a convolution's input is unfolded into columns.
So nothing is padded but the inputs of linear layers, and there is no largest batch: a longer one is
cut into pieces.
"""

import torch
from torch import nn
from torch.nn.functional import cross_entropy, embedding_bag, fold, unfold

from private_ensembles.training.teachers.device import (
    first_line,
    is_out_of_memory,
    pass_bytes,
    scale_pixels,
    send_to_device,
)

# Records of a teacher in one product of a linear layer, which is padded to so many.
LONGEST = 64
# Records in a pass: more make a GPU no faster.
MOST_RECORDS = 1 << 13
# Numbers in one tensor of a pass: libraries count them in 32 bits, on a GPU as on a CPU.
MOST_NUMBERS = 2**31 - 1
# As in Opacus' DPOptimizer.clip_and_accumulate: a gradient of 0 is not divided by 0.
NORM_OFFSET = 1e-6


def stack_parameters(models, device="cpu"):
    """The parameters of K models as the rows of a matrix (K, D) on `device`.

    A row is a model's parameters one after the other, flattened, in the order of its state_dict.
    Raises ValueError for a model with state beside its parameters (batch normalisation).
    """
    if any(True for _ in models[0].buffers()):
        raise ValueError("model has buffers: its gradients would not be of one record each")
    rows = [torch.nn.utils.parameters_to_vector(model.parameters()).detach() for model in models]
    return torch.stack([row.cpu() for row in rows]).to(device)


def require_finite_state(tensors):
    """Copies of a model's tensors by name on the CPU, as a state_dict.

    Raises ValueError naming the first tensor that holds a number that is not finite.
    """
    # own memory for each tensor: a view would be saved with the whole matrix behind it
    state = {
        name: tensor.detach().cpu().clone(memory_format=torch.contiguous_format)
        for name, tensor in tensors.items()
    }
    for name, tensor in state.items():
        if not tensor.isfinite().all():
            raise ValueError(f"training diverged: {name} is not finite; lower learning_rate")
    return state


def require_finite_states(rows, model):
    """The rows of a matrix (K, D) as state_dicts of `model`, each by `finite_state`."""
    return [require_finite_state(unflatten_parameters(row, model)) for row in rows.detach().cpu()]


def index_rows(teachers, matrix):
    """An index of the rows of these teachers in a matrix (K, D), on its device.

    teachers: numbers in ascending order, without repetition.
    """
    if len(teachers) == len(matrix):
        return slice(None)  # as a view
    return send_to_device(torch.tensor(teachers), matrix.device)


def unflatten_parameters(rows, model):
    """Rows (..., D) as tensors by name, shaped (..., *shape) as the model's parameters."""
    names, shapes = zip(*((name, p.shape) for name, p in model.named_parameters()), strict=True)
    parts = rows.split([shape.numel() for shape in shapes], dim=-1)
    return {
        n: part.unflatten(-1, shape) for n, part, shape in zip(names, parts, shapes, strict=True)
    }


def run_backward(model, values, labels, weights, kinds):
    """The layers with parameters after a pass forwards and back, each as one of `kinds`, in order.

    model: an `nn.Sequential`. values: its input. labels: of the records, for the summed
    cross-entropy. weights: tensors in the order of its parameters. kinds: what stands for a layer
    of a type; it is made of the layer, its weights and its bias, computes the layer's output from
    its input, and is told to `finish` with the gradients at that output.
    """
    weights = iter(weights)
    used, outputs = [], []
    for layer in model:
        if type(layer) in kinds:
            used.append(kinds[type(layer)](layer, next(weights), next(weights)))
            values = used[-1](values)
            # Weights ask for no gradient, so nothing but the first output makes autograd begin.
            outputs.append(values if outputs else values.requires_grad_())
        else:
            values = layer(values)
    loss = cross_entropy(values, labels, reduction="sum")
    for layer, gradients in zip(used, torch.autograd.grad(loss, outputs), strict=True):
        layer.set_output_gradients(gradients)
    return used


def cut_batches(batches, longest):
    """Batches as pieces of at most `longest` records, each of one batch: nothing is padded.

    Returns whose each piece is and its length, (P,) each, and the records of all pieces, one after
    the other; all int64. batches: one int64 tensor of record indices per teacher, of any lengths,
    empty ones included.
    """
    lengths = torch.tensor([len(batch) for batch in batches], dtype=torch.int64)
    counts = -(-lengths // longest)
    owners = torch.arange(len(batches)).repeat_interleave(counts)
    pieces = torch.full_like(owners, longest)
    full = counts > 0
    pieces[counts.cumsum(0)[full] - 1] -= (counts * longest - lengths)[full]
    return owners, pieces, torch.cat(list(batches)).to(torch.int64)


class StackedGradients:
    """Sums of gradients of the cross-entropy over each teacher's batch, clipped or not.

    model: an `nn.Sequential`, as in `models`: of its layers, linear ones and convolutions without
    strides, dilations and groups have parameters, a bias each. images: uint8 tensor (N, ...) and
    labels: int64 (N,), both on the device where the work is done, with pixel_max as in `scaled`.
    max_grad_norm: each record's gradient is scaled down to this norm before the sum, exactly as
    Opacus does; None: not at all. longest: records of a teacher that are never taken apart.
    records: about how many make a pass; by default what memory allows.

    When memory runs out, a pass is halved and repeated, and later ones stay as small. How many
    records make a pass changes no bit of the result on a CPU. On a GPU nothing waits for a result.
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
        """Matrix (K, D) of sums. parameters: (K, D); batches: K int64 tensors of record indices.

        Raises ValueError when memory does not even suffice for one piece of a batch.
        """
        owners, lengths, records = cut_batches(batches, self.longest)
        ends = lengths.cumsum(0)
        total = torch.zeros_like(parameters)
        first = done = 0  # pieces, records
        while first < len(owners):
            # as many whole pieces as fit, and one at least
            last = max(first + 1, int(torch.searchsorted(ends, done + self.records, right=True)))
            end = int(ends[last - 1])
            lack = None
            try:
                mine, sums = self._pass(
                    parameters, owners[first:last], lengths[first:last], records[done:end]
                )
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
                lack = first_line(error)
            if lack is not None:
                # Not before the error is gone: it keeps alive all that the pass had allocated.
                self._halve(lack, last - first, end - done)
                continue
            # Not where memory may run out: what is added twice would be clipped to twice the norm.
            # Nobody has more than two pieces, as a rule: a sum of two is the same in either order.
            total.index_add_(0, mine, sums)
            first, done = last, end
        return total

    def _pass(self, parameters, owners, lengths, records):
        """The teachers `owners` (P,) of pieces, on the device, and the pieces' sums (P, D)."""
        starts = lengths.cumsum(0) - lengths
        piece = torch.arange(len(lengths)).repeat_interleave(lengths)
        place = torch.arange(len(records)) + (piece * self.longest - starts[piece])
        parts = owners, starts, piece, place, records
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
        """What each record's gradient is multiplied by: DP-SGD's Algorithm 1, line 'clip'."""
        if self.max_grad_norm is None:
            return values.new_ones(len(values))
        squares = sum(layer.squared_norms() for layer in layers)
        return (self.max_grad_norm / (squares.sqrt() + NORM_OFFSET)).clamp(max=1)

    def _records_per_pass(self):
        """How many records fit into a pass, by its memory and by the length of its tensors.

        A record takes less than: one and a half of its columns, its weights and its gradient at
        every convolution, and four times what lies between layers. A piece takes its weights, its
        gradient, and what is padded; a record's share is that of half a piece.
        """
        size = sum(parameter.numel() for parameter in self.model.parameters())
        kind = next(self.model.parameters()).dtype
        values = scale_pixels(self.images[:1], self.pixel_max, dtype=kind)
        numbers, longest = 4 * values.numel() + 4 * size // self.longest, size
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
        room = pass_bytes(self.images.device) // (kind.itemsize * numbers)
        return max(1, min(room, MOST_NUMBERS // longest, MOST_RECORDS))

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

    longest: most records of a piece. starts: where each piece begins among the records, (P,).
    piece: of each record, and place: of each record where every piece has `longest` places, (N,).
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
        """Rows (P, ...) for each record, (N, ...)."""
        return rows.flatten(1).index_select(0, self.piece).unflatten(1, rows.shape[1:])

    def sum_by_piece(self, rows, factors):
        """Sums over pieces (P, ...) of rows (N, ...) times their factors (N,), in order."""
        flat = rows.flatten(1)
        summed = embedding_bag(
            self.record_numbers, flat, self.starts, mode="sum", per_sample_weights=factors
        )
        return summed.unflatten(1, rows.shape[1:])

    def pad(self, rows):
        """Rows (N, n) by pieces, (P, longest, n), with zeros after the last record of each."""
        blank = rows.new_zeros(len(self.starts) * self.longest, rows.shape[1])
        return blank.index_copy(0, self.padded_position, rows).unflatten(0, (-1, self.longest))

    def unpad(self, rows):
        """What `padded` was given."""
        return rows.flatten(0, 1).index_select(0, self.padded_position)


class _Convolutions:
    """A convolution of every record with its teacher's weights (P, out, in, height, width)."""

    def __init__(self, pieces, layer, weights, bias):
        self.pieces, self.padding, self.weights, self.bias = pieces, layer.padding, weights, bias

    def __call__(self, values):
        # As channels of one image: of many images, a GPU would unfold one after the other.
        channels = values.detach().reshape(1, -1, *values.shape[2:])
        columns = unfold(channels, self.weights.shape[3:], padding=self.padding)
        self.columns = columns.view(len(values), -1, columns.shape[2])
        return _Convolve.apply(values, self)

    def set_output_gradients(self, gradients):
        """Each record's gradients of weights and bias, from those at the output."""
        flat = gradients.flatten(2)
        self.weight_gradients, self.bias_gradients = torch.bmm(flat, self.columns.mT), flat.sum(2)
        del self.columns

    def squared_norms(self):
        """Squared norm of each record's gradient, weights and bias."""
        # row by row, and not thousands of squares one after the other (training.CLIPPED_NORM)
        rows = torch.linalg.vector_norm(self.weight_gradients, dim=2)
        return rows.square().sum(1) + self.bias_gradients.square().sum(1)

    def weighted_sums(self, factors):
        """Sums of the records' gradients times their factors: of weights, of bias."""
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
        tall = values.shape[2] + 2 * layer.padding[0] - kernel[0] + 1
        return flat.unflatten(2, (tall, -1))

    @staticmethod
    def backward(ctx, gradients):
        """Row by row of the kernel: columns of whole kernels take a GPU twice as long to fold."""
        layer, (tall, wide) = ctx.layer, ctx.sides
        above, beside = layer.padding
        inputs, height, width = layer.weights.shape[2:]
        across = gradients.shape[3]
        flat = gradients.flatten(2)
        rows = flat.new_zeros(len(flat), inputs * width, (tall + 2 * above) * across)
        for top in range(height):
            weights = layer.weights[:, :, :, top].permute(0, 2, 3, 1)
            part = rows[..., top * across : top * across + flat.shape[2]]
            part.baddbmm_(layer.pieces.expand_to_records(weights).flatten(1, 2), flat)
        folded = fold(
            rows.view(1, -1, rows.shape[2]),
            (tall + 2 * above, wide),
            (1, width),
            padding=(0, beside),
        )
        return folded.view(len(flat), inputs, -1, wide)[:, :, above : above + tall], None


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
        """Squared norm of each record's gradient, weights and bias."""
        return self.gradients.square().sum(1) * (1 + self.inputs.square().sum(1))

    def weighted_sums(self, factors):
        """Sums of the records' gradients times their factors: of weights, of bias."""
        scaled_down = self.pieces.pad(self.gradients * factors[:, None])
        return torch.bmm(scaled_down.mT, self.pieces.pad(self.inputs)), scaled_down.sum(1)
