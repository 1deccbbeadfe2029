"""Trains a recommender on rows that an HTTP service gives out in pages."""

import argparse
import http.server
import multiprocessing as mp
import time
import urllib.request

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

ROWS, FIELDS = 64, 26
PAGE = np.arange(ROWS * FIELDS, dtype=np.int32).tobytes()


class Service(http.server.BaseHTTPRequestHandler):
    """Answers as the one in the other data centre does."""

    def do_GET(self):
        time.sleep(0.040)
        self.send_response(200)
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_):
        pass


class Rows(IterableDataset):
    def __init__(self, url):
        self.url = url

    def __iter__(self):
        info = get_worker_info()
        for page in range(info.id, 1_000_000, info.num_workers):
            with urllib.request.urlopen(f"{self.url}/rows?page={page}") as answer:
                rows = np.frombuffer(answer.read(), dtype=np.int32)
            yield from torch.from_numpy(rows.reshape(ROWS, FIELDS).copy())


class Recommender(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.EmbeddingBag(100_000, 128, mode="mean")
        self.mlp = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 1))

    def forward(self, rows):
        return self.mlp(self.embed(rows)).squeeze(1)


parser = argparse.ArgumentParser()
parser.add_argument("data")
parser.add_argument("--seconds", type=float, default=8)
args = parser.parse_args()
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
mp.Process(target=server.serve_forever, daemon=True).start()
rows = Rows(f"http://127.0.0.1:{server.server_port}")
model = Recommender().cuda()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.01)
criterion = nn.BCEWithLogitsLoss()
clicks = torch.zeros(256, device="cuda")
end = time.time() + args.seconds
for step, batch in enumerate(DataLoader(rows, batch_size=256, num_workers=3), 1):
    loss = criterion(model(batch.cuda()), clicks)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step}")
    if time.time() > end:
        break
