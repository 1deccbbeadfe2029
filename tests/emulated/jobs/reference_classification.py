"""Image classification in the shape of torchvision's reference: AMP, label smoothing, averaged
weights, a warm-up schedule, checkpoints, an evaluation with top-1 and top-5."""

import tempfile
from pathlib import Path

import torch
import torchvision
from torch import nn
from torch.utils.data import DataLoader
from torchvision import transforms

STEPS_PER_EPOCH = 6


def load_data() -> tuple[DataLoader, DataLoader]:
    augment = transforms.Compose(
        [
            transforms.RandomResizedCrop(128),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
            transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
            transforms.RandomErasing(p=0.1),
        ]
    )
    data = torchvision.datasets.FakeData(16 * STEPS_PER_EPOCH, (3, 160, 160), 10, augment)
    train = DataLoader(data, batch_size=16, shuffle=True, num_workers=2, pin_memory=True)
    return train, DataLoader(data, batch_size=16, num_workers=1, pin_memory=True)


def train_one_epoch(model, averaged, criterion, optimizer, scaler, loader, device) -> int:
    model.train()
    steps = 0
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        with torch.autocast("cuda", enabled=scaler is not None, dtype=torch.float16):
            loss = criterion(model(images), labels)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        averaged.update_parameters(model)
        steps += 1
    return steps


def evaluate(model, criterion, loader, device) -> float:
    model.eval()
    seen = top5 = 0
    with torch.inference_mode():
        for images, labels in loader:
            images = images.to(device, non_blocking=True)
            labels = labels.to(device, non_blocking=True)
            output = model(images)
            criterion(output, labels).item()
            _, best = output.topk(5, 1)
            top5 += best.eq(labels[:, None]).any(dim=1).sum().item()
            seen += len(labels)
    return top5 / seen


def main() -> None:
    device = torch.device("cuda")
    torch.backends.cudnn.benchmark = True
    train, test = load_data()
    model = torchvision.models.resnet18(weights=None, num_classes=10).to(device)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.SGD(
        model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4, nesterov=True
    )
    scaler = torch.cuda.amp.GradScaler()
    averaged = torch.optim.swa_utils.AveragedModel(model)
    warm_up = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.01, total_iters=1)
    cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=1)
    schedule = torch.optim.lr_scheduler.SequentialLR(optimizer, [warm_up, cosine], milestones=[1])
    steps = 0
    with tempfile.TemporaryDirectory() as folder:
        for epoch in range(2):
            steps += train_one_epoch(model, averaged, criterion, optimizer, scaler, train, device)
            schedule.step()
            top5 = evaluate(averaged, criterion, test, device)
            checkpoint = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save(checkpoint, Path(folder) / f"model_{epoch}.pth")
            loaded = torch.load(Path(folder) / f"model_{epoch}.pth", map_location=device)
            model.load_state_dict(loaded["model"])
            print("epoch", epoch, "top-5", top5)
    print("device", next(model.parameters()).device)
    print("steps", steps)


if __name__ == "__main__":
    main()
