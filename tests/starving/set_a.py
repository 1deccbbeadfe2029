"""Set A of the zoo: rules may be tuned with it."""

from __future__ import annotations

from planted import HOST, Job, Plant, in_memory, one_batch

SET_A = (
    Job(
        "fine_tune_photos",
        (Plant(("input_wait",), ("decode_cpu",), cure=in_memory("loader = DataLoader(dataset")),),
    ),
    Job(
        "strong_augmentation",
        (
            Plant(
                ("input_wait",),
                ("python_transform",),
                "transforms.RandAugment(",
                ("RandAugment",),
                (("                transforms.RandAugment(num_ops=6, magnitude=12),\n", ""),),
            ),
        ),
    ),
    Job(
        "first_script",
        (
            Plant(
                ("input_wait",),
                ("too_few_workers", "decode_cpu"),
                cure=(("shuffle=True)", "shuffle=True, num_workers=2)"),),
            ),
        ),
    ),
    Job(
        "many_workers",
        (
            Plant(
                ("input_wait",),
                ("too_many_workers", "decode_cpu", "python_transform"),
                cure=in_memory("        self.loader = DataLoader("),
            ),
        ),
    ),
    Job(
        "padded_sentences",
        (
            Plant(
                ("input_wait",),
                ("collate_ipc",),
                "tokens[row, column] = word",
                ("pad_batch",),
                (
                    ("        for column, word in enumerate(words):\n", ""),
                    ("            tokens[row, column] = word\n", "        tokens[row] = row\n"),
                ),
            ),
        ),
    ),
    Job(
        "few_shot",
        (
            Plant(
                ("input_wait",),
                ("loader_startup",),
                cure=(("num_workers=2,", "num_workers=2, persistent_workers=True,"),),
            ),
        ),
    ),
    Job(
        "object_store",
        (
            Plant(
                ("input_wait",),
                ("late_storage", "storage"),
                "time.sleep(0.020)",
                cure=(("        time.sleep(0.020)\n", ""),),
            ),
        ),
    ),
    Job(
        "one_reader",
        (
            Plant(
                ("input_wait",),
                ("off_cpu", "lock"),
                "with self.lock:",
                ("lock",),
                (
                    (
                        "        with self.lock:\n            time.sleep(0.004)\n",
                        "        if True:\n",
                    ),
                ),
            ),
        ),
    ),
    Job(
        "validate_often",
        (
            Plant(
                ("input_wait",),
                ("evaluation", "evaluation_loader"),
                "in val_loader:",
                ("evaluation",),
                (
                    (
                        "val_loader = DataLoader(val_data, 32)",
                        "val_loader = list(DataLoader(val_data, 32))",
                    ),
                ),
            ),
        ),
    ),
    Job(
        "stream_of_text",
        (
            Plant(
                ("input_wait",),
                ("python_transform", "too_few_workers"),
                cure=one_batch("for step, tokens in enumerate(loader, 1):"),
            ),
        ),
    ),
    Job(
        "own_prefetcher",
        (
            Plant(
                ("input_wait", *HOST),
                ("own_queue", "queue"),
                "images = batches.get()",
                ("queue",),
                (
                    ("    started, step", "    kept = batches.get()\n    started, step"),
                    ("        images = batches.get()\n", "        images = kept\n"),
                    ("    while True:\n        chosen", "    for _ in range(1):\n        chosen"),
                ),
            ),
        ),
    ),
    Job(
        "many_metrics",
        (
            Plant(
                ("sync",),
                (),
                "parameter.grad.norm().item()",
                cure=((".norm().item()", ".norm()"),),
            ),
        ),
    ),
    Job(
        "timed_layers",
        (
            Plant(
                ("sync",),
                (),
                "    torch.cuda.synchronize()",
                cure=(("    torch.cuda.synchronize()\n", ""),),
            ),
        ),
    ),
    Job(
        "printed_losses",
        (
            Plant(
                ("sync",),
                (),
                'print("head:", loss)',
                cure=(('print("head:", loss)', 'print("head")'),),
            ),
        ),
    ),
    Job(
        "deep_and_narrow",
        (
            Plant(
                ("launch",),
                ("many_launches", "small_kernels", "launch_bound"),
                says=("cuda_graphs_or_compile",),
                cure=(
                    (
                        "(model(rows[first : first + 256]) - targets[first : first + 256])",
                        "(model(rows[: 8 * 256]) - targets[: 8 * 256])",
                    ),
                    ("step += 1", "step += 8"),
                ),
            ),
        ),
    ),
    Job(
        "from_scratch",
        (
            Plant(
                ("launch",),
                ("many_launches", "small_kernels", "launch_bound"),
                says=("cuda_graphs_or_compile",),
                cure=(
                    (
                        "forward(digits[first : first + 64]), labels[first : first + 64]",
                        "forward(digits[: 8 * 64]), labels[: 8 * 64]",
                    ),
                    ("step += 1", "step += 8"),
                ),
            ),
        ),
    ),
    Job(
        "histogram_each_step",
        (
            Plant(
                HOST,
                ("host_work",),
                "seen[key] = seen.get(key, 0) + 1",
                ("count_words",),
                (("    count_words(step)\n", ""),),
            ),
        ),
    ),
    Job(
        "careful_with_memory",
        (
            Plant(
                HOST,
                ("garbage_collection",),
                "gc.collect()",
                ("garbage", "Collect garbage"),
                (("    gc.collect()\n", ""),),
            ),
        ),
    ),
    Job(
        "safe_checkpoints",
        (
            Plant(
                (*HOST, "sync"),
                ("checkpoint",),
                "torch.save(",
                ("checkpoint", "Save less often"),
                (('            torch.save(state, Path(folder, "last.pt"))\n', ""),),
            ),
        ),
    ),
    Job(
        "volumes",
        (
            Plant(
                ("exposed_copy",),
                ("pageable",),
                "volume = volumes[step % 8].cuda()",
                cure=(
                    ("volumes = torch.rand(8, ", "volumes = torch.rand(2, "),
                    ("volumes[step % 8].cuda()", "on_gpu[0]"),
                    ("masks[step % 8].cuda()", "on_gpu[1]"),
                    (
                        "started, step = ",
                        "on_gpu = volumes[0].cuda(), masks[0].cuda()\nstarted, step = ",
                    ),
                ),
            ),
        ),
    ),
    Job(
        "two_ranks",
        (
            Plant(
                ("input_wait", "straggler"),
                ("late_storage", "storage", "straggler"),
                "time.sleep(0.008)",
                ("rank 1", "GPU 1"),
                (("            time.sleep(0.008)\n", "            pass\n"),),
            ),
        ),
        gpus=2,
    ),
    Job(
        "accumulated_gradients",
        (
            Plant(
                ("input_wait",),
                ("python_transform",),
                "noise.roll(1, 1)",
                ("FilmGrain",),
                (("range(12)", "range(0)"),),
            ),
        ),
    ),
    Job(
        "shared_machine",
        (
            Plant(
                ("input_wait",),
                (),
                says=("Other processes",),
            ),
        ),
        neighbours=2,
    ),
    Job(
        "extract_features",
        (
            Plant(
                ("exposed_copy", "sync"),
                ("pageable",),
                "features.cpu()",
                cure=(("features.cpu()", "features"),),
            ),
        ),
    ),
    Job(
        "photos_and_scores",
        (
            Plant(
                ("input_wait",),
                ("decode_cpu", "too_few_workers"),
                cure=in_memory("loader = DataLoader(dataset"),
            ),
            Plant(
                HOST,
                ("host_work",),
                "total += label ^ (repeat & 1)",
                ("score",),
                (("        score(labels.tolist())\n", ""),),
            ),
        ),
    ),
    Job(
        "on_the_gpu",
        cure=(
            ("randn(8, 64,", "randn(8, 128,"),
            ("zeros(64,", "zeros(128,"),
            ("step += 1", "step += 2"),
        ),
    ),
    Job("full_queue", cure=one_batch("    for images, labels in loader:")),
    Job("balanced", cure=one_batch("    for images, labels in loader:")),
    Job(
        "rare_checkpoints",
        cure=(("    running += loss.detach()\n", ""), ("running.item() / 20", "0")),
    ),
)
