"""Trains on images that a server sends, each when it is needed."""

import argparse
import multiprocessing
import socket
import socketserver
import time

import torch
from torch.utils.data import DataLoader, Dataset
from torchvision import models

BODY = bytes(3 * 96 * 96)


class Store(socketserver.StreamRequestHandler):
    """Stands for a server elsewhere, some 25 ms away."""

    def handle(self):
        for _ in self.rfile:
            time.sleep(0.025)
            self.wfile.write(BODY)


class WebImages(Dataset):
    def __init__(self, address):
        self.address = address
        self.stream = None

    def __len__(self):
        return 100_000

    def __getitem__(self, index):
        if self.stream is None:
            self.stream = socket.create_connection(self.address).makefile("rwb")
        self.stream.write(b"%d\n" % index)
        self.stream.flush()
        body = self.stream.read(len(BODY))
        pixels = torch.frombuffer(bytearray(body), dtype=torch.uint8)
        return pixels.reshape(3, 96, 96), index % 10


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()
server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Store)
multiprocessing.Process(target=server.serve_forever, daemon=True).start()
loader = DataLoader(WebImages(server.server_address), 32, num_workers=4, pin_memory=True)
model = models.resnet18(num_classes=10).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
started = time.time()
for step, (images, labels) in enumerate(loader, 1):
    output = model(images.cuda(non_blocking=True).float() / 255)
    loss = torch.nn.functional.cross_entropy(output, labels.cuda(non_blocking=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step}")
    if time.time() - started > args.seconds:
        break
