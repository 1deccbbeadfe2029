"""Published throughputs beside those of the same models on emulated GPUs.

    python bench/emulated/published.py [--only WORD] [--step-time] [--unstarve PROGRAM]

Each row is a job of its own under `unstarve emulate`: the real PyTorch code of the model runs on a
synthetic batch that is on the device already, in real time. Two throughputs are shown: by the clock
on the wall, as the published scripts measure, and by the time that the emulated GPU itself was at
work, which the error is of. They differ where this machine's Python does not keep up. Nothing of
the duration model was fitted to these figures. The figures' sources are named in each row. With
--step-time each job is told what its step takes as published, and finds its factor.

Left out of what the same sources publish: BERT's pre-training on 512 tokens, whose batches are of
shorter sequences by bins; DLRM, whose interaction is a CUDA kernel of its own; what was measured on
several GPUs alone.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import struct
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
    step: Callable[[], None]
    import published_models as models
    import timm
    import torch

    half = {"FP16": torch.float16, "BF16": torch.bfloat16}.get(figure.precision)
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = figure.precision != "FP32"
    torch.backends.cudnn.allow_tf32 = figure.precision != "FP32"
    layers = {"bert_large_128", "bert_large_squad", "gpt2"}
    precision = models.Precision(half, half is not None and figure.job not in layers)
    if figure.job == "ssd300":  # by default in this layout whatever the precision
        step = models.ssd(figure.batch, models.Precision(half, True))
    elif figure.job == "bert_large_squad":
        step = models.bert_squad(figure.batch, precision)
    elif figure.job == "bert_large_128":
        step = models.bert_pretraining(figure.batch, 128, precision)
    elif figure.job == "gpt2":
        step = models.gpt2(figure.batch, precision)
    else:
        name = figure.job.removesuffix(" forward")
        kind = models.inference if figure.job.endswith(" forward") else models.classifier
        step = kind(timm.create_model(name), figure.batch, SIZES.get(name, 224), precision)
    return step


def kernel_seconds() -> float:
    """Modelled time of all kernels so far, from what the emulated GPU shares with the command line
    (process/shared_state.h).
    """
    settings = json.loads(Path(os.environ["UNSTARVE_EMULATED_GPU"]).read_text())
    shared = Path(settings["state"], "gpu-0").read_bytes()
    return float(struct.unpack_from("<q", shared, 32)[0]) / 1e9


def run_here(figure: Figure) -> None:
    """Runs the job in this process and says what a step took."""
    import torch

    step = build(figure)
    settings = json.loads(Path(os.environ["UNSTARVE_EMULATED_GPU"]).read_text())
    for _ in range(12 if settings["step_time_s"] else 2):
        step()
    torch.cuda.synchronize()
    steps = 0
    busy = -kernel_seconds()
    start = time.perf_counter()
    while steps < 3 or (time.perf_counter() - start < 2 and steps < 100):
        step()
        steps += 1
    torch.cuda.synchronize()
    seconds = (time.perf_counter() - start) / steps
    gpu_seconds = (busy + kernel_seconds()) / steps
    device = torch.cuda.get_device_name()
    print(json.dumps({"device": device, "seconds": seconds, "gpu_seconds": gpu_seconds}))


def run_emulated(figure: Figure, unstarve: str, step_time: bool) -> tuple[float, float]:
    """Samples a second of the job on its emulated GPU: by the wall's clock, and the GPU's own."""
    known = ["--step-time", f"{figure.batch / figure.published:.6f}"] if step_time else []
    command = [unstarve, "emulate", figure.gpu, *known, "--", sys.executable, __file__]
    done = subprocess.run(
        [*command, "--run", figure.name], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr)
        raise SystemExit(f"{figure.name}: exit {done.returncode}")
    shown = json.loads(done.stdout.splitlines()[-1])
    if "Emulated" not in shown["device"]:
        raise SystemExit(f"{figure.name} ran on {shown['device']}, which is no emulated GPU")
    return figure.batch / shown["seconds"], figure.batch / shown["gpu_seconds"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="rows whose name holds this word")
    parser.add_argument("--unstarve", default=str(ROOT / "build/release/src/cli/unstarve"))
    parser.add_argument("--step-time", action="store_true", help="tell the jobs their step times")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        run_here(next(figure for figure in FIGURES if figure.name == options.run))
        return
    print(
        "| job | GPU | precision | batch | published /s | emulated /s | error | wall /s | source |"
    )
    print("|---|---|---|---:|---:|---:|---:|---:|---|")
    errors = []
    for figure in FIGURES:
        if options.only not in figure.name:
            continue
        wall, rate = run_emulated(figure, options.unstarve, options.step_time)
        error = rate / figure.published - 1
        errors.append(error)
        cells = (figure.job, figure.gpu, figure.precision, figure.batch, f"{figure.published:,.0f}")
        found = (f"{rate:,.0f}", f"{error:+.0%}", f"{wall:,.0f}", figure.source)
        print("|", " | ".join(str(cell) for cell in (*cells, *found)), "|", flush=True)
    median = statistics.median(abs(error) for error in errors)
    print(f"\n{len(errors)} figures; median error {median:.0%}.")
    if len(errors) < 4:
        return
    real = [1 + error for error in errors]
    low, _, high = statistics.quantiles(real, n=4)
    print(
        f"Real time over modelled time: {low:.2f} to {high:.2f} for half of them, "
        f"{min(real):.2f} to {max(real):.2f} for all."
    )


if __name__ == "__main__":
    main()
