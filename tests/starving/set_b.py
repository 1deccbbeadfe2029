"""Set B of the zoo: once held out; rules may be tuned with it since set C was written."""

from __future__ import annotations

from planted import HOST, Job, Plant, one_batch

SET_B = (
    Job(
        "sensor_noise",
        (
            Plant(
                ("input_wait",),
                ("python_transform",),
                "self.generator.poisson",
                ("SensorNoise",),
                (("torch.from_numpy(self.noise(clean))", "torch.from_numpy(clean)"),),
            ),
        ),
    ),
    Job(
        "one_worker",
        (
            Plant(
                ("input_wait",),
                ("too_few_workers", "decode_cpu"),
                cure=one_batch("    for step, (images, labels) in enumerate(loader):"),
            ),
        ),
    ),
    Job(
        "video_clips",
        (
            Plant(
                ("input_wait",),
                ("collate_ipc",),
                cure=one_batch("for step, (clips, labels) in enumerate(loader, 1):"),
            ),
        ),
    ),
    Job(
        "worker_index",
        (
            Plant(
                ("input_wait",),
                ("loader_startup",),
                "dataset.index = json.loads",
                ("open_index",),
                (("num_workers=2,", "num_workers=2, persistent_workers=True,"),),
            ),
        ),
    ),
    Job(
        "web_images",
        (
            Plant(
                ("input_wait",),
                ("late_storage", "storage"),
                "self.stream.read(len(BODY))",
                cure=(("            time.sleep(0.025)\n", ""),),
            ),
        ),
    ),
    Job(
        "from_a_database",
        (
            Plant(
                ("input_wait",),
                ("python_transform", "sqlite"),
                "self.database.execute(query",
                ("sqlite",),
                (
                    (
                        "create table sample (name text, pixels",
                        "create table sample (name text primary key, pixels",
                    ),
                ),
            ),
        ),
    ),
    Job(
        "epochs_and_tests",
        (
            Plant(
                ("input_wait",),
                ("evaluation", "evaluation_loader", "loader_startup"),
                "in test_loader:",
                ("evaluation",),
                (
                    (
                        "test_loader = DataLoader(test_set,",
                        "test_loader = list(DataLoader(test_set,",
                    ),
                    ("num_workers=1)", "num_workers=1))"),
                ),
            ),
        ),
    ),
    Job(
        "compressed_lines",
        (
            Plant(
                ("input_wait",),
                ("python_transform",),
                'json.loads(line)["values"]',
                ("JsonLines",),
                one_batch("    for step, x in enumerate(loader, 1):"),
            ),
        ),
    ),
    Job(
        "own_generator",
        (
            Plant(
                (*HOST, "input_wait"),
                ("decode_cpu",),
                "Image.open(path)",
                ("batches", "read_image"),
                (
                    ("        rows = [read", "        if place == 0:\n          rows = [read"),
                    ("        place += size", "          place += size"),
                ),
            ),
        ),
    ),
    Job(
        "cleaned_reviews",
        (
            Plant(
                ("input_wait",),
                ("python_transform",),
                "letter.isalnum()",
                ("clean",),
                (("encode(clean(REVIEW[index % 80 :]))", "encode(REVIEW[index % 80 :])"),),
            ),
        ),
    ),
    Job(
        "hardest_examples",
        (
            Plant(
                ("sync",),
                (),
                "losses[number].item() >= 0",
                cure=(("if losses[number].item() >= 0]", "]"),),
            ),
        ),
    ),
    Job(
        "guarded_training",
        (
            Plant(
                ("sync",),
                (),
                "torch.isnan(parameter.grad).any()",
                cure=(("    if healthy(model):", "    if True:"),),
            ),
        ),
    ),
    Job(
        "cell_by_cell",
        (
            Plant(
                ("launch",),
                ("many_launches", "small_kernels", "launch_bound"),
                says=("cuda_graphs_or_compile",),
                cure=(
                    ("randn(150, 64, 32", "randn(150, 512, 32"),
                    ("zeros(64, 1", "zeros(512, 1"),
                    ("step += 1", "step += 8"),
                ),
            ),
        ),
    ),
    Job(
        "two_players",
        (
            Plant(
                ("launch",),
                ("many_launches", "small_kernels", "launch_bound"),
                says=("cuda_graphs_or_compile",),
                cure=(
                    ("torch.rand(64, 784", "torch.rand(512, 784"),
                    ("torch.randn(64, 64", "torch.randn(512, 64"),
                    ("torch.ones(64, 1", "torch.ones(512, 1"),
                    ("torch.zeros(64, 1", "torch.zeros(512, 1"),
                    ("step += 1", "step += 8"),
                ),
            ),
        ),
    ),
    Job(
        "masked_words",
        (
            Plant(
                HOST,
                ("host_work",),
                "if random.random() < 0.15:",
                ("mask_words",),
                (
                    ("    tokens, targets = mask_words", "    kept = kept or mask_words"),
                    ("[:BATCH])\n", "[:BATCH])\n    tokens, targets = kept\n"),
                    ("step, started = 0", "kept = None\nstep, started = 0"),
                ),
            ),
        ),
    ),
    Job(
        "full_log",
        (
            Plant(
                HOST,
                ("logging", "checkpoint"),
                "file.write(json.dumps(",
                ("write_log", "logging"),
                (("        write_log(log, step)\n", ""),),
            ),
        ),
    ),
    Job(
        "structured_rows",
        (
            Plant(
                # The host waits for each copy, which the partition calls `sync`.
                ("exposed_copy", "launch", "sync"),
                ("small_copies", "blocking_copies"),
                "values.cuda() for name, values",
                cure=(
                    ("values.cuda() for name", "values for name"),
                    ("dim=1)\n", "dim=1).cuda()\n"),
                ),
            ),
        ),
    ),
    Job(
        "pinned_blocks",
        (
            Plant(
                ("exposed_copy",),
                ("no_overlap",),
                'blocks[step % 3].to("cuda")',
                cure=(
                    ('blocks[step % 3].to("cuda")', "on_gpu"),
                    ("started, step", 'on_gpu = blocks[0].to("cuda")\nstarted, step'),
                ),
            ),
        ),
    ),
    Job(
        "wide_ranks",
        (
            Plant(
                ("exposed_communication",),
                (),
                says=("overlap_communication",),
                cure=(("    loss = model(x)", "    loss = model.module(x)"),),
            ),
        ),
        gpus=2,
    ),
    Job(
        "classify_archive",
        (
            Plant(
                ("input_wait",),
                ("decode_cpu", "loader_startup"),
                cure=(
                    (
                        "started, done = ",
                        "archive = [archive[i] for i in range(60)] * 20\nstarted, done = ",
                    ),
                ),
            ),
        ),
    ),
    Job(
        "replayed_small",
        (
            Plant(
                ("gpu_busy", "kernel_wait", "launch"),
                ("small_batch",),
                says=("larger_batch", "larger batch"),
                cure=(("randn(8, 512", "randn(64, 512"), ("step += 1", "step += 8")),
            ),
        ),
    ),
    Job(
        "graded_answers",
        (
            Plant(
                HOST,
                ("host_work",),
                'wanted.get(f"word{(i * step) % 25_000}", 0)',
                ("grade",),
                (("    grade(step)\n", ""),),
            ),
            Plant(
                ("exposed_copy",),
                ("pageable",),
                'arrays[step % 4].to("cuda")',
                cure=(
                    ('arrays[step % 4].to("cuda")', "on_gpu"),
                    ("started, step", 'on_gpu = arrays[0].to("cuda")\nstarted, step'),
                ),
            ),
        ),
    ),
    Job(
        "language_model",
        cure=(
            ("    rows = get_batch(16, 512)\n", ""),
            ("started, step", "rows = get_batch(16, 512)\nstarted, step"),
        ),
    ),
    Job("accumulated_well", cure=one_batch("    for images, labels in loader:")),
    Job(
        "batched_inference",
        cure=(
            ("randn(256,", "randn(512,"),
            ("zeros(256,", "zeros(512,"),
            ("batch += 1", "batch += 2"),
        ),
    ),
    Job(
        "one_ahead",
        cure=(
            (
                "enumerate(Prefetcher(loader), 1)",
                "enumerate([next(iter(Prefetcher(loader)))] * 100_000, 1)",
            ),
        ),
    ),
)
