"""Published throughputs beside those of the same models on emulated GPUs.

    python bench/emulated/published.py [--only WORD] [--unstarve PROGRAM]

Each row is a job of its own under `unstarve emulate`: the real PyTorch code of the model runs on a
synthetic batch that is on the device already, and the time from step to step is taken as the
published scripts take it, by the clock on the wall. Nothing of the duration model was fitted to
these figures. The figures' sources are named in each row.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = "NVIDIA DeepLearningExamples, PyTorch/"
CONVNETS = EXAMPLES + "Classification/ConvNets/"
TIMM = "timm, results/benchmark-infer-amp-nhwc-pt240-cu124-rtx4090.csv"


@dataclass(frozen=True)
class Figure:
    """A published throughput, and the job that it is of."""

    job: str
    gpu: str
    precision: str  # "TF32", "FP32", "FP16", "BF16"; autocast for the half types
    batch: int
    published: float  # samples a second
    source: str

    @property
    def name(self) -> str:
        return f"{self.job} {self.gpu} {self.precision} {self.batch}"


FIGURES = (
    Figure("resnet50", "a100", "TF32", 256, 938, CONVNETS + "resnet50v1.5"),
    Figure("resnet50", "a100", "FP16", 256, 2470, CONVNETS + "resnet50v1.5"),
    Figure("resnet50", "v100", "FP32", 112, 356, CONVNETS + "resnet50v1.5"),
    Figure("resnet50", "v100", "FP16", 256, 1156, CONVNETS + "resnet50v1.5"),
    Figure("resnext101_32x4d", "a100", "TF32", 128, 456, CONVNETS + "resnext101-32x4d"),
    Figure("resnext101_32x4d", "a100", "FP16", 128, 1211, CONVNETS + "resnext101-32x4d"),
    Figure("resnext101_32x4d", "v100", "FP16", 128, 565, CONVNETS + "resnext101-32x4d"),
    Figure("efficientnet_b0", "a100", "TF32", 256, 1078, CONVNETS + "efficientnet"),
    Figure("efficientnet_b0", "a100", "FP16", 256, 2489, CONVNETS + "efficientnet"),
    Figure("efficientnet_b4", "a100", "FP16", 128, 331, CONVNETS + "efficientnet"),
    Figure("ssd300", "a100", "TF32", 128, 377.2, EXAMPLES + "Detection/SSD"),
    Figure("ssd300", "a100", "FP16", 128, 724.4, EXAMPLES + "Detection/SSD"),
    Figure("bert_large_128", "a100", "TF32", 128, 317, EXAMPLES + "LanguageModeling/BERT"),
    Figure("bert_large_128", "a100", "FP16", 256, 580, EXAMPLES + "LanguageModeling/BERT"),
    Figure("bert_large_512", "a100", "TF32", 16, 110, EXAMPLES + "LanguageModeling/BERT"),
    Figure("bert_large_512", "a100", "FP16", 32, 210, EXAMPLES + "LanguageModeling/BERT"),
    Figure("bert_large_128", "v100", "FP16", 64, 224, EXAMPLES + "LanguageModeling/BERT"),
    Figure("bert_large_squad", "a100", "TF32", 32, 61.5, EXAMPLES + "LanguageModeling/BERT"),
    Figure("bert_large_squad", "a100", "FP16", 32, 110.5, EXAMPLES + "LanguageModeling/BERT"),
    Figure("gpt2", "a100_40gb", "BF16", 12, 12 / 0.250, "nanoGPT, README: 250 ms, not compiled"),
    Figure("resnet50", "h100", "TF32", 400, 400 / 0.224, "MLPerf Storage, resnet50_h100.yaml"),
    Figure("resnet50 forward", "t4", "FP32", 128, 426, CONVNETS + "resnet50v1.5"),
    Figure("resnet50 forward", "t4", "FP16", 256, 1198, CONVNETS + "resnet50v1.5"),
    Figure("resnet50 forward", "v100", "FP32", 256, 1261, CONVNETS + "resnet50v1.5"),
    Figure("resnet50 forward", "v100", "FP16", 256, 3382, CONVNETS + "resnet50v1.5"),
    Figure("resnet50 forward", "rtx4090", "FP16", 512, 5088, TIMM),
    Figure("resnext101_32x4d forward", "rtx4090", "FP16", 512, 2747, TIMM),
    Figure("convnext_tiny forward", "rtx4090", "FP16", 512, 4845, TIMM),
    Figure("vit_base_patch16_224 forward", "rtx4090", "FP16", 512, 2843, TIMM),
    Figure("swin_tiny_patch4_window7_224 forward", "rtx4090", "FP16", 512, 2744, TIMM),
)
SIZES = {"efficientnet_b4": 380}


def build(figure: Figure) -> Callable[[], None]:
    """The step of a figure's job, ready to run."""
    import published_models as models
    import timm
    import torch

    half = {"FP16": torch.float16, "BF16": torch.bfloat16}.get(figure.precision)
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = figure.precision != "FP32"
    torch.backends.cudnn.allow_tf32 = figure.precision != "FP32"
    layers = {"bert_large_128", "bert_large_512", "bert_large_squad", "gpt2"}
    precision = models.Precision(half, half is not None and figure.job not in layers)
    if figure.job == "ssd300":  # by default in this layout whatever the precision
        return models.ssd(figure.batch, models.Precision(half, True))
    if figure.job.startswith("bert_large_squad"):
        return models.bert_squad(figure.batch, precision)
    if figure.job.startswith("bert_large_"):
        return models.bert_pretraining(figure.batch, int(figure.job[11:]), precision)
    if figure.job == "gpt2":
        return models.gpt2(figure.batch, precision)
    name = figure.job.removesuffix(" forward")
    network = timm.create_model(name)
    kind = models.inference if figure.job.endswith(" forward") else models.classifier
    return kind(network, figure.batch, SIZES.get(name, 224), precision)


def run_here(figure: Figure) -> None:
    """Runs the job in this process and says what a step took."""
    import torch

    step = build(figure)
    for _ in range(2):
        step()
    torch.cuda.synchronize()
    steps = 0
    start = time.perf_counter()
    while steps < 3 or (time.perf_counter() - start < 2 and steps < 100):
        step()
        steps += 1
    torch.cuda.synchronize()
    seconds = (time.perf_counter() - start) / steps
    print(json.dumps({"device": torch.cuda.get_device_name(), "seconds": seconds}))


def run_emulated(figure: Figure, unstarve: str) -> float:
    """Samples a second of the job on its emulated GPU."""
    command = [unstarve, "emulate", figure.gpu, "--", sys.executable, __file__]
    done = subprocess.run(
        [*command, "--run", figure.name], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr)
        raise SystemExit(f"{figure.name}: exit {done.returncode}")
    shown = json.loads(done.stdout.splitlines()[-1])
    if "Emulated" not in shown["device"]:
        raise SystemExit(f"{figure.name} ran on {shown['device']}, which is no emulated GPU")
    return figure.batch / float(shown["seconds"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose name holds this word")
    parser.add_argument("--unstarve", default=str(ROOT / "build/release/src/cli/unstarve"))
    parser.add_argument("--run", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        run_here(next(figure for figure in FIGURES if figure.name == options.run))
        return
    print("| job | GPU | precision | batch | published /s | emulated /s | error | source |")
    print("|---|---|---|---:|---:|---:|---:|---|")
    errors = []
    for figure in FIGURES:
        if options.only not in figure.name:
            continue
        rate = run_emulated(figure, options.unstarve)
        error = rate / figure.published - 1
        errors.append(abs(error))
        print(
            f"| {figure.job} | {figure.gpu} | {figure.precision} | {figure.batch} "
            f"| {figure.published:,.0f} | {rate:,.0f} | {error:+.0%} | {figure.source} |",
            flush=True,
        )
    print(f"\n{len(errors)} figures; median error {statistics.median(errors):.0%}.")


if __name__ == "__main__":
    main()
