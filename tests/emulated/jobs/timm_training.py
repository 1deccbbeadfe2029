"""A training loop of timm's parts: model, optimizer, schedule, mixup, averaged weights, AMP."""

import timm
import torch
from timm.data import Mixup
from timm.loss import SoftTargetCrossEntropy
from timm.optim import create_optimizer_v2
from timm.scheduler import CosineLRScheduler
from timm.utils import AverageMeter, ModelEmaV2, NativeScaler, accuracy
from torch.utils.data import DataLoader, TensorDataset


def main() -> None:
    device = torch.device("cuda")
    model = timm.create_model("vit_tiny_patch16_224", num_classes=10, img_size=64).to(device)
    averaged = ModelEmaV2(model, decay=0.99)
    optimizer = create_optimizer_v2(model, opt="adamw", lr=1e-3, weight_decay=0.05)
    scheduler = CosineLRScheduler(optimizer, t_initial=2, warmup_t=1)
    scaler = NativeScaler()
    mixup = Mixup(mixup_alpha=0.8, cutmix_alpha=1.0, num_classes=10)
    criterion = SoftTargetCrossEntropy()
    data = TensorDataset(torch.randn(128, 3, 64, 64), torch.randint(10, (128,)))
    loader = DataLoader(data, batch_size=16, num_workers=1, pin_memory=True, drop_last=True)
    losses, steps = AverageMeter(), 0
    for epoch in range(2):
        model.train()
        for images, labels in loader:
            images, targets = mixup(images.to(device, non_blocking=True), labels.to(device))
            with torch.autocast("cuda", dtype=torch.float16):
                loss = criterion(model(images), targets)
            optimizer.zero_grad()
            scaler(loss, optimizer, clip_grad=1.0, parameters=model.parameters())
            averaged.update(model)
            losses.update(loss.item(), images.size(0))
            steps += 1
        scheduler.step(epoch + 1)
    model.eval()
    with torch.no_grad():
        top1, _ = accuracy(averaged.module(images), labels.to(device), topk=(1, 5))
    print("device", next(model.parameters()).device, "top-1", float(top1))
    print("steps", steps)


if __name__ == "__main__":
    main()
