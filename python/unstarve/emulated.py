"""An emulated GPU with a face like PyTorch's, for machines that have none.

It computes nothing and takes the time that a real one would: its step times are MLPerf Storage's.
Everything it shows says "Emulated". Example of a training loop:

    device = unstarve.emulated.Gpu("a100")          # or "h100"
    model = device.resnet50()
    optimizer = device.optimizer(model)
    for images, labels in loader:
        images = device.upload(images, non_blocking=True)
        loss = criterion(model(images), device.upload(labels, non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()                                  # waits for the device, as in PyTorch

`criterion` may be torch.nn.CrossEntropyLoss() or CrossEntropyLoss() from here. Values are not
computed: `item()` returns nan.
"""

from __future__ import annotations

from unstarve.device.emulated_gpu import (
    CrossEntropyLoss,
    DeviceTensor,
    Gpu,
    HostTensor,
    Loss,
    Model,
    Optimizer,
    _step_listeners,  # where the hook of `unstarve run` puts its own
    is_pinned,
    pin_memory,
)

__all__ = [
    "CrossEntropyLoss",
    "DeviceTensor",
    "Gpu",
    "HostTensor",
    "Loss",
    "Model",
    "Optimizer",
    "_step_listeners",
    "is_pinned",
    "pin_memory",
]
