"""Training steps and inferences of models whose throughput others have published.

Real PyTorch code on synthetic batches, as the published scripts compute it: the same layers, batch,
precision, memory layout and optimiser.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional

Step = Callable[[], None]


@dataclass(frozen=True)
class Precision:
    """How a job computes: plain floats (TF32 where the GPU has it), or autocast to a half type."""

    half: torch.dtype | None = None
    channels_last: bool = False

    def autocast(self) -> torch.autocast:
        return torch.autocast(
            "cuda", dtype=self.half or torch.float16, enabled=self.half is not None
        )

    def place(self, module: nn.Module) -> nn.Module:
        module = module.cuda()
        return module.to(memory_format=torch.channels_last) if self.channels_last else module

    def images(self, batch: int, size: int) -> torch.Tensor:
        images = torch.zeros(batch, 3, size, size, device="cuda")
        return images.to(memory_format=torch.channels_last) if self.channels_last else images


def training(
    precision: Precision,
    parameters: list[nn.Parameter],
    optimizer: torch.optim.Optimizer | None,
    loss: Callable[[], torch.Tensor],
) -> Step:
    """Forward, backward and, if there is an optimiser, its step; a half type's gradients scaled."""
    scaler = torch.amp.GradScaler("cuda", enabled=precision.half is torch.float16)

    def step() -> None:
        with precision.autocast():
            value = loss()
        scaler.scale(value).backward()
        if optimizer is None:  # gradients are accumulated over many steps
            return
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)

    return step


def classifier(model: nn.Module, batch: int, size: int, precision: Precision) -> Step:
    """An ImageNet classifier's training step: SGD with momentum, smoothed labels."""
    model = precision.place(model).train()
    images = precision.images(batch, size)
    labels = torch.zeros(batch, dtype=torch.long, device="cuda")
    parameters = list(model.parameters())
    optimizer = torch.optim.SGD(parameters, lr=0.1, momentum=0.875, weight_decay=5e-5)

    def loss() -> torch.Tensor:
        return functional.cross_entropy(model(images), labels, label_smoothing=0.1)

    return training(precision, parameters, optimizer, loss)


def inference(model: nn.Module, batch: int, size: int, precision: Precision) -> Step:
    """A classifier's forward pass."""
    model = precision.place(model).eval()
    images = precision.images(batch, size)

    def step() -> None:
        with torch.inference_mode(), precision.autocast():
            model(images)

    return step


class BertPretraining(nn.Module):
    """BERT whose decoder sees the masked tokens alone, as NVIDIA's pre-training script has it."""

    def __init__(self, positions: int) -> None:
        super().__init__()
        from transformers import BertConfig, BertForPreTraining

        config = BertConfig(
            hidden_size=1024,
            num_hidden_layers=24,
            num_attention_heads=16,
            intermediate_size=4096,
            vocab_size=30528,
            max_position_embeddings=max(512, positions),
            attn_implementation="eager",
        )
        self.model = BertForPreTraining(config)

    def forward(
        self, tokens: torch.Tensor, mask: torch.Tensor, masked: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        hidden, pooled = self.model.bert(tokens, attention_mask=mask, return_dict=False)[:2]
        chosen = torch.index_select(hidden.view(-1, hidden.shape[-1]), 0, masked)
        scores: tuple[torch.Tensor, torch.Tensor] = self.model.cls(chosen, pooled)
        return scores


def bert_pretraining(batch: int, length: int, precision: Precision) -> Step:
    """One of the many accumulated steps of BERT-large's pre-training: no optimiser. Of a half type
    are the weights themselves, and no autocast is needed.
    """
    model = precision.place(BertPretraining(length)).train()
    if precision.half:
        model, precision = model.to(precision.half), Precision()
    tokens = torch.zeros(batch, length, dtype=torch.long, device="cuda")
    mask = torch.ones(batch, length, dtype=torch.long, device="cuda")
    predicted = batch * (20 if length == 128 else 80)
    masked = torch.zeros(predicted, dtype=torch.long, device="cuda")
    labels = torch.zeros(predicted, dtype=torch.long, device="cuda")
    nexts = torch.zeros(batch, dtype=torch.long, device="cuda")

    def loss() -> torch.Tensor:
        scores, relation = model(tokens, mask, masked)
        return functional.cross_entropy(scores.float(), labels) + functional.cross_entropy(
            relation.float(), nexts
        )

    return training(precision, list(model.parameters()), None, loss)


def bert_squad(batch: int, precision: Precision) -> Step:
    """BERT-large's fine-tuning on questions of 384 tokens, with Adam."""
    from transformers import BertConfig, BertForQuestionAnswering

    config = BertConfig(
        hidden_size=1024,
        num_hidden_layers=24,
        num_attention_heads=16,
        intermediate_size=4096,
        vocab_size=30528,
        attn_implementation="eager",
    )
    model = precision.place(BertForQuestionAnswering(config)).train()
    tokens = torch.zeros(batch, 384, dtype=torch.long, device="cuda")
    mask = torch.ones(batch, 384, dtype=torch.long, device="cuda")
    places = torch.zeros(batch, dtype=torch.long, device="cuda")
    parameters = list(model.parameters())
    optimizer = torch.optim.Adam(parameters, lr=1e-5, fused=True)

    def loss() -> torch.Tensor:
        result: torch.Tensor = model(
            input_ids=tokens, attention_mask=mask, start_positions=places, end_positions=places
        ).loss
        return result

    return training(precision, parameters, optimizer, loss)


class Ssd300(nn.Module):
    """SSD with ResNet-50 up to its third stage, whose maps keep 38 x 38, and six heads."""

    CHANNELS = (1024, 512, 512, 256, 256, 256)
    BOXES = (4, 6, 6, 6, 4, 4)
    LABELS = 81

    def __init__(self) -> None:
        super().__init__()
        from torchvision.models import resnet50

        self.backbone = nn.Sequential(*list(resnet50().children())[:7])
        first = self.backbone[-1][0]
        first.conv1.stride = first.conv2.stride = first.downsample[0].stride = (1, 1)
        inner = (256, 256, 128, 128, 128)
        self.more = nn.ModuleList(
            nn.Sequential(
                nn.Conv2d(before, middle, 1, bias=False),
                nn.BatchNorm2d(middle),
                nn.ReLU(inplace=True),
                nn.Conv2d(middle, after, 3, **self.reach(place), bias=False),
                nn.BatchNorm2d(after),
                nn.ReLU(inplace=True),
            )
            for place, (before, after, middle) in enumerate(
                zip(self.CHANNELS[:-1], self.CHANNELS[1:], inner, strict=True)
            )
        )
        heads = list(zip(self.CHANNELS, self.BOXES, strict=True))
        self.places = nn.ModuleList(nn.Conv2d(c, 4 * n, 3, padding=1) for c, n in heads)
        self.kinds = nn.ModuleList(nn.Conv2d(c, self.LABELS * n, 3, padding=1) for c, n in heads)

    @staticmethod
    def reach(place: int) -> dict[str, int]:
        return {"padding": 1, "stride": 2} if place < 3 else {}

    def forward(self, images: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        maps = [self.backbone(images)]
        for block in self.more:
            maps.append(block(maps[-1]))
        places, kinds = [], []
        for feature, place, kind in zip(maps, self.places, self.kinds, strict=True):
            places.append(place(feature).reshape(len(feature), 4, -1))
            kinds.append(kind(feature).reshape(len(feature), self.LABELS, -1))
        return torch.cat(places, 2).contiguous(), torch.cat(kinds, 2).contiguous()


def ssd(batch: int, precision: Precision) -> Step:
    """SSD300's training step: both losses over all 8,732 boxes, hard negatives by sorting."""
    model = precision.place(Ssd300()).train()
    images = precision.images(batch, 300)
    boxes = torch.zeros(batch, 4, 8732, device="cuda")
    labels = torch.zeros(batch, 8732, dtype=torch.long, device="cuda")
    parameters = list(model.parameters())
    optimizer = torch.optim.SGD(parameters, lr=0.1, momentum=0.9, weight_decay=5e-4)

    def loss() -> torch.Tensor:
        places, kinds = model(images)
        positive = labels > 0
        shift = functional.smooth_l1_loss(places.float(), boxes, reduction="none").sum(1)
        doubt = functional.cross_entropy(kinds.float(), labels, reduction="none")
        rank = (
            doubt.detach().clone().masked_fill(positive, 0).sort(1, descending=True)[1].sort(1)[1]
        )
        hard = rank < 3 * positive.sum(1, keepdim=True)
        chosen = (doubt * (positive.float() + hard.float())).sum(1)
        return ((shift * positive.float()).sum(1) + chosen).mean()

    return training(precision, parameters, optimizer, loss)


class GptBlock(nn.Module):
    """A block of GPT-2 whose attention is written out, as nanoGPT had it before PyTorch 2."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before = nn.LayerNorm(width)
        self.attend = nn.Linear(width, 3 * width)
        self.project = nn.Linear(width, width)
        self.between = nn.LayerNorm(width)
        self.widen = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        parts = self.attend(self.before(x)).split(width, dim=2)
        q, k, v = (p.view(batch, length, self.heads, -1).transpose(1, 2) for p in parts)
        scores = (q @ k.transpose(-2, -1)) * (q.shape[-1] ** -0.5)
        weights = functional.softmax(scores.masked_fill(hidden, float("-inf")), dim=-1)
        mixed = (weights @ v).transpose(1, 2).contiguous().view(batch, length, width)
        x = x + self.project(mixed)
        y = self.widen(self.between(x))
        # GPT-2's approximation by tanh, an operation at a time.
        y = 0.5 * y * (1.0 + torch.tanh(0.7978845608 * (y + 0.044715 * torch.pow(y, 3.0))))
        return x + self.narrow(y)


class Gpt2(nn.Module):
    """GPT-2 of 124 million parameters."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(50304, 768)
        self.positions = nn.Embedding(1024, 768)
        self.blocks = nn.ModuleList(GptBlock(768, 12) for _ in range(12))
        self.norm = nn.LayerNorm(768)
        self.head = nn.Linear(768, 50304, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        length = tokens.shape[1]
        x = self.tokens(tokens) + self.positions(torch.arange(length, device=tokens.device))
        hidden = torch.ones(length, length, dtype=torch.bool, device=tokens.device).triu(1)
        for block in self.blocks:
            x = block(x, hidden)
        logits: torch.Tensor = self.head(self.norm(x))
        return logits


def gpt2(batch: int, precision: Precision) -> Step:
    """GPT-2's training step on 1,024 tokens, with AdamW."""
    model = precision.place(Gpt2()).train()
    tokens = torch.zeros(batch, 1024, dtype=torch.long, device="cuda")
    parameters = list(model.parameters())
    optimizer = torch.optim.AdamW(parameters, lr=6e-4)

    def loss() -> torch.Tensor:
        return functional.cross_entropy(model(tokens).view(-1, 50304), tokens.view(-1))

    return training(precision, parameters, optimizer, loss)
