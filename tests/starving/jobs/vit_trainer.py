"""Fine-tunes a ViT with transformers' Trainer on a folder of photographs."""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch.utils.data import Dataset
from transformers import Trainer, TrainerCallback, TrainingArguments, ViTConfig
from transformers import ViTForImageClassification as ViT


class ImageFiles(Dataset):
    mean, std = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])

    def __init__(self, folder):
        self.files = [(f, f.parent.name == "dog") for f in Path(folder).glob("*/*.jpg")] * 50

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        file, kind = self.files[i]
        image = Image.open(file).convert("RGB").resize((160, 160), Image.Resampling.BICUBIC)
        pixels = (np.asarray(image, dtype=np.float32) / 255 - self.mean) / self.std
        return {"pixel_values": torch.from_numpy(pixels.transpose(2, 0, 1)), "labels": int(kind)}


class StopAndTell(TrainerCallback):
    def __init__(self, seconds):
        self.seconds = seconds

    def on_train_begin(self, *args, **kwargs):
        self.began = time.time()

    def on_step_end(self, args, state, control, **kwargs):
        print("step", state.global_step, flush=True)
        if time.time() - self.began > self.seconds:
            control.should_training_stop = True


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seconds", type=float, default=8)
    arguments = parser.parse_args()
    config = ViTConfig(image_size=160, hidden_size=384, num_hidden_layers=12, num_attention_heads=6)
    config.intermediate_size = 1536
    with tempfile.TemporaryDirectory() as output:
        Trainer(
            model=ViT(config),
            args=TrainingArguments(
                output,
                per_device_train_batch_size=32,
                dataloader_num_workers=2,
                max_steps=10_000,
                bf16=True,
                save_strategy="no",
                report_to="none",
                disable_tqdm=True,
            ),
            train_dataset=ImageFiles(arguments.data + "/train"),
            callbacks=[StopAndTell(arguments.seconds)],
        ).train()
