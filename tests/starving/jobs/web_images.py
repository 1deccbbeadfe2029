"""Trains on images that are fetched over HTTP, each when it is needed."""

import argparse
import http.client
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import torch
from torch.utils.data import DataLoader, Dataset
from torchvision import models

BODY = bytes(3 * 96 * 96)


class Store(BaseHTTPRequestHandler):
    """Stands for a server elsewhere, some 25 ms away."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        time.sleep(0.025)
        self.send_response(200)
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *words):
        pass


class WebImages(Dataset):
    def __init__(self, port):
        self.port = port
        self.connection = None

    def __len__(self):
        return 100_000

    def __getitem__(self, index):
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port)
        self.connection.request("GET", f"/{index}.bin")
        body = self.connection.getresponse().read()
        pixels = torch.frombuffer(bytearray(body), dtype=torch.uint8)
        return pixels.reshape(3, 96, 96), index % 10


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()
server = ThreadingHTTPServer(("127.0.0.1", 0), Store)
threading.Thread(target=server.serve_forever, daemon=True).start()
loader = DataLoader(WebImages(server.server_port), 32, num_workers=4, pin_memory=True)
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
server.shutdown()
