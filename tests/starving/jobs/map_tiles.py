"""Finds roads on map tiles, which come from the tile server of the institute."""

import argparse
import multiprocessing
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import urlopen

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision.models.segmentation import lraspp_mobilenet_v3_large

SIDE = 128


class TileServer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    def do_GET(self):
        number = int(self.path.rsplit("/", 1)[1])
        time.sleep(0.012 + 0.001 * (number % 9))
        body = np.full((SIDE, SIDE, 3), number % 256, np.uint8).tobytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def serve(ports):
    server = ThreadingHTTPServer(("127.0.0.1", 0), TileServer)
    ports.put(server.server_port)
    server.serve_forever()


class Tiles(Dataset):
    def __init__(self, url, count=50_000):
        self.url, self.count = url, count

    def __len__(self):
        return self.count

    def __getitem__(self, number):
        with urlopen(f"{self.url}/{number}", timeout=10) as answer:
            tile = np.frombuffer(answer.read(), np.uint8).reshape(SIDE, SIDE, 3)
        return torch.from_numpy(tile.copy()).permute(2, 0, 1), torch.zeros(SIDE, SIDE).long()


def train(url, seconds):
    loader = DataLoader(Tiles(url), batch_size=16, num_workers=3, pin_memory=True)
    net = lraspp_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=2).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    start = time.monotonic()
    for step, (tiles, roads) in enumerate(loader, 1):
        scores = net(tiles.cuda(non_blocking=True) / 255)["out"]
        loss = nn.functional.cross_entropy(scores, roads.cuda(non_blocking=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step}")
        if time.monotonic() - start > seconds:
            return


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    options = parser.parse_args()
    told = multiprocessing.Queue()
    server = multiprocessing.Process(target=serve, args=(told,), daemon=True)
    server.start()
    train(f"http://127.0.0.1:{told.get()}/tiles", options.seconds)
    server.terminate()
