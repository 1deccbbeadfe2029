"""Set D of the zoo, which was held out: whoever wrote it had read neither the rules nor the report.
It has been opened since, and is still told in counts alone."""

from __future__ import annotations

from planted import HOST, Cure, Job, Plant, one_batch

LAUNCHES = ("many_launches", "small_kernels", "launch_bound")


def waits(name: str, details: tuple[str, ...], line: str, cure: Cure, *says: str) -> Job:
    """A job whose DataLoader is late."""
    return Job(name, (Plant(("input_wait",), details, line, says, cure),))


def eightfold(name: str, *batch: tuple[str, str], step: str = "step += 1") -> Job:
    """A job that waits for launches: eight times the batch takes no longer."""
    cure = (*batch, (step, step.replace("1", "8")))
    return Job(name, (Plant(("launch",), LAUNCHES, says=("cuda_graphs_or_compile",), cure=cure),))


SET_D = (
    waits(
        "street_scenes",
        ("python_transform",),
        "np.apply_along_axis(np.convolve, axis",
        (
            (
                "image, mask = self.warp(image, (image[..., 1] > 128).astype(np.int64))",
                "mask = (image[..., 1] > 128).astype(np.int64)",
            ),
        ),
        "ElasticWarp",
    ),
    waits(
        "tar_shards",
        ("decode_cpu",),
        "Image.open(io.BytesIO(data))",
        one_batch("        for step, (x, y) in enumerate(loader, 1):"),
    ),
    waits(
        "weather_grids",
        ("decode_cpu", "python_transform", "too_few_workers"),
        "return np.stack([fields[name] for name in FIELDS])",
        (
            ("        with np.load(self.files[hour % len(self.files)]) as fields:\n", ""),
            (
                "            return np.stack([fields[name] for name in FIELDS])",
                "        return np.zeros((len(FIELDS), 96, 144), np.float32)",
            ),
        ),
    ),
    waits(
        "click_log",
        ("python_transform", "too_few_workers"),
        "sparse = torch.tensor([hash((c, row[c]))",
        one_batch("for step, (dense, sparse, click) in enumerate(loader):"),
        "DictReader",
    ),
    waits(
        "same_or_not",
        ("decode_cpu",),
        "self.transform(Image.open(member)",
        one_batch("        for step, (a, b, same) in enumerate(loader, 1):"),
    ),
    waits(
        "two_views",
        ("too_many_workers", "python_transform", "decode_cpu"),
        "self.augment(photo), self.augment(photo)",
        (
            (
                "        return DataLoader(\n            photos,",
                "        photos = [photos[i] for i in range(48)] * 100\n"
                "        return DataLoader(\n            photos,",
            ),
        ),
        "TwoViews",
    ),
    waits(
        "translate",
        ("collate_ipc",),
        "rows.append([word == other and word != PAD",
        one_batch("    for batch in loader:"),
        "PairBatcher",
    ),
    waits(
        "citations",
        ("python_transform",),
        "rng.sample(self.graph[node], fanout)",
        one_batch("    for step, ids in enumerate(loader):"),
    ),
    waits(
        "bird_calls",
        ("python_transform", "too_few_workers"),
        "np.convolve(signal, self.room",
        (("self.augment(signal)[: RATE * 2]", "signal[: RATE * 2]"),),
        "Reverb",
    ),
    waits(
        "lit_digits",
        ("loader_startup",),
        "",
        (("num_workers=h.num_workers)", "num_workers=h.num_workers, persistent_workers=True)"),),
    ),
    waits(
        "range_requests",
        ("late_storage", "storage"),
        "time.sleep(random.lognormvariate(",
        (("        time.sleep(random.lognormvariate(-4.3, 0.4))\n", ""),),
    ),
    waits(
        "polite_client",
        ("off_cpu", "lock"),
        "with self.turn:",
        (("        with self.turn:\n            time.sleep(self.pause)\n", "        pass\n"),),
        "lock",
    ),
    Job(
        "frames_ahead",
        (
            Plant(
                ("input_wait", *HOST),
                ("own_queue", "queue"),
                "torch.from_numpy(self.ready.get())",
                ("queue",),
                (
                    (
                        "        return torch.from_numpy(self.ready.get()).cuda()",
                        "        if not self.stopped.is_set():\n"
                        "            self.stopped.set()\n"
                        "            self.kept = self.ready.get()\n"
                        "        return torch.from_numpy(self.kept).cuda()",
                    ),
                ),
            ),
        ),
    ),
    waits(
        "scored_often",
        ("evaluation", "evaluation_loader", "loader_startup"),
        "in photographs:",
        (
            ("photographs = DataLoader(", "photographs = list(DataLoader("),
            ("16, num_workers=2)", "16, num_workers=2))"),
        ),
        "evaluation",
    ),
    waits(
        "point_clouds",
        ("collate_ipc",),
        "return [entry for scan in scans",
        (
            (
                "return [entry for scan in scans for entry in scan]",
                "return to_tensor([entry for scan in scans for entry in scan])",
            ),
            ("points = to_tensor(objects).cuda()", "points = objects.cuda()"),
        ),
        "keep_lists",
    ),
    waits(
        "vit_trainer",
        ("decode_cpu",),
        'image = Image.open(file).convert("RGB")',
        (
            (
                "    with tempfile",
                '    files = ImageFiles(arguments.data + "/train")\n'
                "    files = [files[i] for i in range(48)] * 500\n"
                "    with tempfile",
            ),
            ('train_dataset=ImageFiles(arguments.data + "/train")', "train_dataset=files"),
        ),
    ),
    waits(
        "inpainting",
        ("decode_cpu", "too_few_workers"),
        'Image.open(self.paths[index]).convert("RGB")',
        one_batch("    for step, photos in enumerate(loader, 1):"),
    ),
    Job(
        "answers_on_file",
        (
            Plant(
                ("input_wait",),
                ("python_transform", "too_few_workers"),
                "return [sum(map(ord, text[i : i + 4]))",
                ("shingles",),
                (("ids = self.shingles(text)[: self.length]", "ids = [7] * self.length"),),
            ),
            Plant(
                HOST,
                ("logging", "host_work"),
                "os.fsync(self.file.fileno())",
                cure=(("        reviewers.write(batch, scores.tolist())\n", ""),),
            ),
        ),
    ),
    Job(
        "maze_runner",
        (
            Plant(
                ("sync",),
                (),
                "[row.argmax().item() for row in logits]",
                cure=(("[row.argmax().item() for row in logits]", "[0] * len(seen)"),),
            ),
        ),
    ),
    Job(
        "pyramid_anchors",
        (
            Plant(
                ("sync",),
                (),
                "if positive.sum() > 0:",
                cure=(("if positive.sum() > 0:", "if positive is None:"),),
            ),
        ),
    ),
    Job(
        "phase_meter",
        (
            Plant(
                ("sync",),
                (),
                "torch.cuda.synchronize()",
                cure=(("        torch.cuda.synchronize()\n", ""),),
            ),
        ),
    ),
    eightfold("word_by_word", ("batch = 32", "batch = 8 * 32")),
    eightfold("lamb_from_paper", ("torch.randn(8, 3", "torch.randn(64, 3")),
    eightfold(
        "denoise_a_sketch", ("draw(4, count_step)", "draw(32, count_step)"), step="done += 1"
    ),
    Job(
        "heard_and_meant",
        (
            Plant(
                HOST,
                ("host_work",),
                "before, row[j] = row[j], min(",
                ("distance", "LetterErrors"),
                (("        errors.update(guesses)\n", ""),),
            ),
        ),
    ),
    Job(
        "lit_recommender",
        (
            Plant(
                (*HOST, "sync", "exposed_copy"),
                ("checkpoint",),
                "trainer.fit(Factors()",
                ("checkpoint", "Save less often"),
                (("callbacks=[keep]", "enable_checkpointing=False"),),
            ),
        ),
    ),
    Job(
        "student_and_teacher",
        (
            Plant(
                HOST,
                ("garbage_collection",),
                "gc.collect()",
                ("garbage", "Collect garbage"),
                (("        gc.collect()\n", "        pass\n"),),
            ),
        ),
    ),
    Job(
        "cached_teacher",
        (
            Plant(
                ("exposed_copy",),
                ("pageable",),
                'cache[step].to("cuda")',
                cure=(
                    ('cache[step].to("cuda")', "kept"),
                    ("    step = 0\n", '    step, kept = 0, cache[0].to("cuda")\n'),
                ),
            ),
        ),
    ),
    Job(
        "long_sequences",
        (
            Plant(
                ("exposed_copy", "sync"),
                ("pageable", "blocking_copies"),
                "with save_on_cpu():",
                ("save_on_cpu",),
                (("with save_on_cpu():", "if True:"),),
            ),
        ),
    ),
    Job(
        "raw_frames",
        (
            Plant(
                ("exposed_copy",),
                ("no_overlap",),
                'ring.take().to("cuda", non_blocking=True)',
                cure=(
                    ('ring.take().to("cuda", non_blocking=True)', "kept"),
                    ("    start, step, ", '    kept = ring.take().to("cuda")\n    start, step, '),
                ),
            ),
        ),
    ),
    Job(
        "pictures_and_captions",
        (
            Plant(
                ("exposed_communication",),
                (),
                "dist.all_reduce(flat)",
                ("overlap_communication",),
                (("    dist.all_reduce(flat)\n", ""),),
            ),
        ),
        gpus=2,
    ),
    Job(
        "two_cameras",
        (
            Plant(
                ("input_wait", "straggler"),
                ("decode_cpu", "straggler", "too_few_workers"),
                "decode_jpeg(read_file(self.shots[index])",
                ("rank 1", "GPU 1"),
                (('("val", "large")', '("val", "val")'),),
            ),
        ),
        gpus=2,
    ),
    Job(
        "bert_trainer",
        cure=(("train_dataset=Tokens(),", "train_dataset=[Tokens()[0]] * 4096,"),),
    ),
    Job(
        "embed_documents",
        cure=(
            (
                "enumerate(Ahead(loader), 1)",
                "enumerate([next(iter(Ahead(loader)))] * 100_000, 1)",
            ),
        ),
    ),
    Job(
        "lit_organs",
        cure=(
            (
                "    trainer.fit(",
                "    loader = DataLoader([next(iter(loader))] * 10_000, batch_size=None)\n"
                "    trainer.fit(",
            ),
        ),
    ),
    Job(
        "faces_from_noise",
        cure=(('            print("losses", (sums / step).tolist())\n', "            pass\n"),),
    ),
    Job(
        "rows_at_night",
        cure=(("        self.rows.copy_(rows, non_blocking=True)\n", ""),),
    ),
    Job("sentences_in_chunks", cure=one_batch("    for step, ids in enumerate(loader, 1):")),
)
