"""Redshifts of galaxies from their spectra, which a survey keeps in one file on its share."""

import argparse
import multiprocessing
import os
import tempfile
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

PIXELS = 3840


class SurveyFile:
    """Rows of one file. Its library may be in it once at a time, in whichever process."""

    inside = multiprocessing.Lock()

    def __init__(self, path, trip_s=0.0015):
        self.path, self.trip_s, self.file = path, trip_s, None

    def row(self, index):
        with self.inside:
            self.file = self.file or os.open(self.path, os.O_RDONLY)
            time.sleep(self.trip_s)
            return os.pread(self.file, 4 * PIXELS, 4 * PIXELS * index)


class Spectra(Dataset):
    def __init__(self, file, rows):
        self.file, self.rows = file, rows

    def __len__(self):
        return 50 * self.rows

    def __getitem__(self, index):
        flux = np.frombuffer(self.file.row(index % self.rows), np.float32)
        return torch.from_numpy((flux - flux.mean()) / flux.std())[None], np.float32(index % 9)


def network(width=160):
    layers = [nn.Conv1d(1, width, 9, padding=4)]
    for _ in range(5):
        layers += [nn.ReLU(), nn.Conv1d(width, width, 9, padding=4), nn.BatchNorm1d(width)]
        layers += [nn.MaxPool1d(2)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool1d(4), nn.Flatten(), nn.Linear(4 * width, 1))


def main(seconds):
    with tempfile.NamedTemporaryFile(suffix=".spectra") as file:
        rows = np.random.default_rng(1).normal(5, 1, (400, PIXELS)).astype(np.float32)
        file.write(rows.tobytes())
        file.flush()
        spectra = Spectra(SurveyFile(file.name), len(rows))
        loader = DataLoader(spectra, 48, num_workers=4, pin_memory=True, persistent_workers=True)
        net = network().cuda()
        optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
        end = time.time() + seconds
        for step, (flux, redshift) in enumerate(loader, 1):
            found = net(flux.cuda(non_blocking=True)).squeeze(1)
            loss = nn.functional.huber_loss(found, redshift.cuda(non_blocking=True))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            print("step", step)
            if time.time() > end:
                break


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    main(parser.parse_args().seconds)
