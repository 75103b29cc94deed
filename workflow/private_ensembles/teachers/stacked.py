"""Many models of one architecture as the rows of one matrix, and their gradients in a few passes.

Each teacher has a batch of its own, of its own size. All batches are cut into blocks of a fixed
width, each with its teacher's weights, and a pass computes many blocks at once by `torch.func`,
which turns convolutions into grouped ones and products into batched ones. So there is no largest
batch: a longer one has more blocks, and what little is padded is a blank image with weight 0.
"""

import torch
from torch.func import functional_call, grad, vmap
from torch.nn.functional import cross_entropy

from private_ensembles.teachers.device import first_line, is_out_of_memory, pass_bytes, scaled

# Records in a block of DP-SGD: half of it is wasted on average, and wider ones are no faster.
WIDTH = 4
# With fewer blocks, libraries compute some products by other kernels, which round differently.
LEAST_BLOCKS = 4
# Numbers in one tensor of a pass: libraries count them in 32 bits, on a GPU as on a CPU.
MOST_NUMBERS = 2**31 - 1
# As in Opacus' DPOptimizer.clip_and_accumulate: a gradient of 0 is not divided by 0.
SMALL = 1e-6


def stack(models, device="cpu"):
    """The parameters of K models as the rows of a matrix (K, D) on `device`.

    A row is a model's parameters one after the other, flattened, in the order of its state_dict.
    Raises ValueError for a model with state beside its parameters (batch normalisation).
    """
    if any(True for _ in models[0].buffers()):
        raise ValueError("model has buffers: its gradients would not be of one record each")
    rows = [torch.nn.utils.parameters_to_vector(model.parameters()).detach() for model in models]
    return torch.stack([row.to(device) for row in rows])


def finite_state(tensors):
    """Copies of a model's tensors by name on the CPU, as a state_dict.

    Raises ValueError naming the first tensor that holds a number that is not finite.
    """
    # own memory for each tensor: a view would be saved with the whole matrix behind it
    state = {name: tensor.detach().cpu().clone() for name, tensor in tensors.items()}
    for name, tensor in state.items():
        if not tensor.isfinite().all():
            raise ValueError(f"training diverged: {name} is not finite; lower learning_rate")
    return state


def finite_states(rows, model):
    """The rows of a matrix (K, D) as state_dicts of `model`, each by `finite_state`."""
    return [finite_state(named(row, model)) for row in rows.detach().cpu()]


def named(row, model):
    """One row (D,) as tensors by name, in the shapes of the model's parameters."""
    names, shapes = zip(*((name, p.shape) for name, p in model.named_parameters()), strict=True)
    pieces = row.split([shape.numel() for shape in shapes])
    return {n: piece.view(shape) for n, piece, shape in zip(names, pieces, shapes, strict=True)}


def cut(batches, width):
    """Blocks of `width` records: (owners (G,), records (G, width)), int64, records -1 in padding.

    batches: one int64 tensor of record indices per teacher, of any lengths, empty ones included.
    """
    counts = torch.tensor([-(-len(batch) // width) for batch in batches], dtype=torch.int64)
    lengths = torch.tensor([len(batch) for batch in batches], dtype=torch.int64)
    records = torch.full((int(counts.sum()) * width,), -1, dtype=torch.int64)
    # where each batch begins among the blocks, less where it begins among the records
    shift = (counts * width - lengths).cumsum(0) - (counts * width - lengths)
    places = torch.arange(int(lengths.sum())) + shift.repeat_interleave(lengths)
    records[places] = torch.cat(list(batches)).to(torch.int64)
    return torch.arange(len(batches)).repeat_interleave(counts), records.view(-1, width)


class Gradients:
    """Sums of gradients of the cross-entropy over each teacher's batch, clipped or not.

    model: the architecture. images: uint8 tensor (N, ...) and labels: int64 (N,), both on the
    device where the work is done, with pixel_max as in `scaled`. max_grad_norm: each record's
    gradient is scaled down to this norm before the sum, exactly as Opacus does; None: not at all.
    width: records of a block. blocks: most blocks in a pass; by default what memory allows.

    When memory runs out, a pass is halved and repeated, and later ones stay as small. How many
    blocks make a pass changes no bit of the result on a CPU.
    """

    def __init__(
        self,
        model,
        images,
        labels,
        *,
        pixel_max,
        max_grad_norm: float | None = None,
        width=WIDTH,
        blocks: int | None = None,
    ):
        self.model = model.to(images.device)
        self.images, self.labels, self.pixel_max = images, labels, pixel_max
        self.width = width
        fitting = self._fitting(max_grad_norm) if blocks is None else blocks
        self.blocks = max(LEAST_BLOCKS, int(fitting))
        # owners' parameters (G, D), images, labels and weights of their blocks -> sums (G, D)
        clipped = max_grad_norm is not None
        self._sums = vmap(self._clipped(max_grad_norm) if clipped else self._whole)

    def __call__(self, parameters, batches):
        """Matrix (K, D) of sums. parameters: (K, D); batches: K int64 tensors of record indices.

        Raises ValueError when memory does not even suffice for LEAST_BLOCKS blocks.
        """
        owners, records = cut(batches, self.width)
        total = torch.zeros_like(parameters)
        start = 0
        while start < len(owners):
            part = slice(start, start + self.blocks)
            mine = owners[part].to(total.device)
            lack = None
            try:
                sums = self._pass(parameters, mine, records[part])
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
                lack = first_line(error)
            if lack is not None:
                # Not before the error is gone: it keeps alive all that the pass had allocated.
                self._halve(lack)
                continue
            # on a CPU one block after the other, in order, so that all passes round alike
            total.index_add_(0, mine, sums)
            start = part.stop
        return total

    def _pass(self, parameters, owners, records):
        """Sums (G, D) of the blocks `records` (G, width) of the teachers `owners` (G,)."""
        count = len(records)
        if (missing := LEAST_BLOCKS - count) > 0:
            owners = torch.cat([owners, owners.new_zeros(missing)])
            records = torch.cat([records, records.new_full((missing, self.width), -1)])
        records = records.to(self.images.device)
        present = records >= 0
        # Blank if there is no record: index 0 is somebody's record and must not be seen.
        rows = records.clamp(min=0).flatten()
        labels = self.labels[rows].view_as(records) * present
        inputs = scaled(self.images[rows], self.pixel_max, dtype=parameters.dtype)
        inputs = inputs.unflatten(0, records.shape)
        inputs = inputs.masked_fill(~present[(..., *[None] * (inputs.ndim - 2))], 0)
        weights = present.to(parameters.dtype)
        return self._sums(parameters[owners], inputs, labels, weights)[:count]

    def _clipped(self, max_grad_norm):
        """The gradient of one block, each record's clipped: DP-SGD's Algorithm 1, line 'clip'."""

        def loss_of_one(weights, image, label):
            return self._loss(weights, image[None], label[None], 1)

        each = vmap(grad(loss_of_one), (None, 0, 0))

        def block(row, images, labels, present):
            gradients = each(named(row, self.model), images, labels)
            rows = torch.cat([g.flatten(1) for g in gradients.values()], 1)
            # Not vector_norm, which adds up all the squares one by one (training.CLIPPED_NORM).
            norms = rows.square().sum(1).sqrt()
            return ((max_grad_norm / (norms + SMALL)).clamp(max=1) * present) @ rows

        return block

    def _whole(self, row, images, labels, present):
        """The gradient of one block's summed loss."""
        gradients = grad(self._loss)(named(row, self.model), images, labels, present)
        return torch.cat([g.flatten() for g in gradients.values()])

    def _loss(self, weights, images, labels, present):
        logits = functional_call(self.model, weights, (images,))
        return (cross_entropy(logits, labels, reduction="none") * present).sum()

    def _fitting(self, max_grad_norm: float | None):
        """How many blocks fit into a pass, by its memory and by the length of its tensors.

        A block takes about: weights, gradients, and twice what lies between layers.
        """
        kind = next(self.model.parameters()).dtype
        inputs = scaled(self.images[:1], self.pixel_max, dtype=kind)
        between = [inputs.numel()]
        with torch.no_grad():
            for layer in self.model:
                inputs = layer(inputs)
                between.append(inputs.numel())
        size = sum(parameter.numel() for parameter in self.model.parameters())
        gradients = size if max_grad_norm is None else self.width * size
        numbers = size + 2 * gradients + 2 * self.width * sum(between)
        longest = max(gradients, self.width * max(between))
        room = pass_bytes(self.images.device) // (kind.itemsize * numbers)
        return min(room, MOST_NUMBERS // longest)

    def _halve(self, lack):
        if self.blocks <= LEAST_BLOCKS:
            raise ValueError(
                f"out of memory on {self.images.device} with {self.blocks} blocks of {self.width} "
                f"records: use device: cpu or a smaller model ({lack})"
            )
        self.blocks = max(LEAST_BLOCKS, self.blocks // 2)
        torch.cuda.empty_cache()  # does nothing if no GPU is in use
