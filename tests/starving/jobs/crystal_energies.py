"""Learns the energies of crystals from how far their atoms are apart; all is on the device."""

import argparse
import time

import torch
from torch import nn

ATOMS, ELEMENTS, WAVES = 48, 80, 32


class Interaction(nn.Module):
    """Atoms hear from all others, through filters that depend on the distance."""

    def __init__(self, width):
        super().__init__()
        self.filter = nn.Sequential(nn.Linear(WAVES, width), nn.SiLU(), nn.Linear(width, width))
        self.send, self.hear = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x, waves):
        heard = torch.einsum("bijw,bjw->biw", self.filter(waves), self.send(x))
        return x + self.hear(nn.functional.silu(heard))


class Energy(nn.Module):
    def __init__(self, width=192, depth=3):
        super().__init__()
        self.element = nn.Embedding(ELEMENTS, width)
        self.register_buffer("centres", torch.linspace(0, 8, WAVES))
        self.layers = nn.ModuleList(Interaction(width) for _ in range(depth))
        self.energy = nn.Sequential(nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 1))

    def forward(self, elements, places):
        apart = (places[:, :, None] - places[:, None]).square().sum(-1).add(1e-6).sqrt()
        waves = torch.exp(-4 * (apart[..., None] - self.centres).square())
        x = self.element(elements)
        for layer in self.layers:
            x = layer(x, waves)
        return self.energy(x).sum((1, 2))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--crystals", type=int, default=5000)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    batch = 96 if device == "cuda" else 4
    elements = torch.randint(0, ELEMENTS, (args.crystals, ATOMS), device=device)
    places = 8 * torch.rand(args.crystals, ATOMS, 3, device=device)
    energies = torch.randn(args.crystals, device=device)
    model = Energy().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, fused=True)
    error, step, started = torch.zeros((), device=device), 0, time.monotonic()
    while time.monotonic() - started < args.seconds:
        chosen = torch.randint(0, args.crystals, (batch,), device=device)
        loss = nn.functional.l1_loss(model(elements[chosen], places[chosen]), energies[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        error.lerp_(loss.detach(), 0.02)
        step += 1
        print("step", step)
        if step % 100 == 0:
            print(f"mean error {error.item():.3f}")


if __name__ == "__main__":
    main()
