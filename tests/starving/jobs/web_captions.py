"""Learns which caption belongs to a picture; the pictures are on a server."""

import argparse
import io
import multiprocessing
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import requests
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset
from torchvision.models import resnet18

PICTURES, VOCABULARY, LENGTH = 300, 5000, 16


def jpeg(number):
    coarse = np.random.default_rng(number).integers(0, 255, (8, 8, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(coarse).resize((96, 96), Image.BICUBIC).save(file, "jpeg", quality=90)
    return file.getvalue()


class Pictures(BaseHTTPRequestHandler):
    protocol_version, disable_nagle_algorithm, stored = "HTTP/1.1", True, None

    def setup(self):
        time.sleep(0.008)  # the handshake with a server in another town
        super().setup()

    def do_GET(self):
        body = self.stored[self.path]
        self.send_response_only(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def serve():
    Pictures.stored = {f"/{n}.jpg": jpeg(n) for n in range(PICTURES)}
    server = ThreadingHTTPServer(("127.0.0.1", 0), Pictures)
    multiprocessing.get_context("fork").Process(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


class Captioned(Dataset):
    def __init__(self, url):
        self.url = url
        self.captions = torch.randint(0, VOCABULARY, (PICTURES, LENGTH))

    def __len__(self):
        return 500 * PICTURES

    def __getitem__(self, i):
        i = i % PICTURES
        answer = requests.get(f"{self.url}/{i}.jpg")
        with Image.open(io.BytesIO(answer.content)) as picture:
            pixels = torch.from_numpy(np.array(picture.convert("RGB")))
        return pixels.permute(2, 0, 1), self.captions[i]


class Matcher(nn.Module):
    def __init__(self, width=512):
        super().__init__()
        self.picture, self.words = resnet18(num_classes=width), nn.Embedding(VOCABULARY, width)
        layer = nn.TransformerEncoderLayer(width, 8, 2048, 0.0, batch_first=True)
        self.caption = nn.TransformerEncoder(layer, 2)

    def forward(self, pictures, captions):
        seen = nn.functional.normalize(self.picture(pictures), dim=1)
        said = nn.functional.normalize(self.caption(self.words(captions)).mean(1), dim=1)
        return 20 * seen @ said.T


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    args = parser.parse_args()
    loader = DataLoader(Captioned(serve()), batch_size=16, shuffle=True, num_workers=2)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = Matcher().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    started = time.time()
    for step, (pictures, captions) in enumerate(loader, 1):
        scores = model(pictures.to(device).float() / 255, captions.to(device))
        loss = nn.functional.cross_entropy(scores, torch.arange(len(scores), device=device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step", step)
        if time.time() - started > args.seconds:
            break


if __name__ == "__main__":
    main()
