"""Set C of the zoo: held out until set D was written, by somebody who had not seen the rules; rules
may be tuned with it since."""

from __future__ import annotations

from planted import HOST, Job, Plant, one_batch

LAUNCHES = ("many_launches", "small_kernels", "launch_bound")

SET_C = (
    Job(
        "lightning_portraits",
        (
            Plant(
                ("input_wait",),
                ("decode_cpu",),
                'Image.open(file).convert("RGB")',
                cure=(
                    (
                        "return DataLoader(self.portraits,",
                        "return DataLoader([self.portraits[i] for i in range(16)] * 100,",
                    ),
                ),
            ),
        ),
    ),
    Job(
        "trainer_reviews",
        (
            Plant(
                ("input_wait",),
                ("collate_ipc",),
                "% self.vocabulary)",
                ("TrigramCollator",),
                (
                    ("            for i in range(len(text) - 2):\n", "            if text:\n"),
                    (
                        "                a, b, c = map(ord, text[i : i + 3])\n"
                        "                hashes.append((a * 961 + b * 31 + c) % self.vocabulary)\n",
                        "                hashes = [7] * 400\n",
                    ),
                ),
            ),
        ),
    ),
    Job(
        "spoken_digits",
        (
            Plant(
                ("input_wait",),
                ("python_transform",),
                "np.fft.rfft(",
                ("log_mel",),
                (
                    (
                        "features = self.log_mel(samples / 32768)",
                        "features = np.zeros((198, 64), np.float32)",
                    ),
                ),
            ),
        ),
    ),
    Job(
        "shared_archive",
        (
            Plant(
                ("input_wait",),
                ("off_cpu", "lock"),
                "fcntl.flock(handle, fcntl.LOCK_EX)",
                ("lock", "flock"),
                (("        fcntl.flock(handle, fcntl.LOCK_EX)\n", ""),),
            ),
        ),
    ),
    Job(
        "pages_of_rows",
        (
            Plant(
                ("input_wait",),
                ("late_storage", "storage"),
                "urllib.request.urlopen(",
                ("urlopen",),
                (("        time.sleep(0.040)\n", ""),),
            ),
        ),
    ),
    Job(
        "tiered_storage",
        (
            Plant(
                ("input_wait",),
                ("late_storage", "storage"),
                "time.sleep(0.9)",
                ("restore",),
                (("        time.sleep(0.9)", "        pass"),),
            ),
        ),
    ),
    Job(
        "default_loader",
        (
            Plant(
                ("input_wait",),
                # By the clock, resize() takes 0.7 ms of an image and decoding 0.55.
                ("too_few_workers", "decode_cpu", "python_transform"),
                cure=one_batch("    for X, y in train_dataloader:"),
            ),
        ),
    ),
    Job(
        "server_settings",
        (
            Plant(
                ("input_wait",),
                ("too_many_workers", "decode_cpu", "python_transform"),
                cure=(
                    (
                        "    return DataLoader(\n        dataset,",
                        "    dataset = [dataset[i] for i in range(64)] * 100\n"
                        "    return DataLoader(\n        dataset,",
                    ),
                ),
            ),
        ),
    ),
    Job(
        "curriculum",
        (
            Plant(
                ("input_wait",),
                ("loader_startup",),
                "loader_for(examples, order, int(share * 2048))",
                cure=(
                    ("num_workers=3, ", "num_workers=3, persistent_workers=True, "),
                    ("share = time.time(), 0, 0.25", "share, kept = time.time(), 0, 0.25, None"),
                    ("        loader = loader_for(", "        kept = kept or loader_for("),
                    (
                        "one_round(model, optimizer, loader, step)\n",
                        "one_round(model, optimizer, kept, step)\n",
                    ),
                ),
            ),
        ),
    ),
    Job(
        "lightning_checks",
        (
            Plant(
                ("input_wait",),
                ("evaluation", "evaluation_loader"),
                says=("evaluation", "validation"),
                cure=(
                    (
                        "DataLoader(val_set, 20)",
                        "DataLoader(list(DataLoader(val_set, 20)), batch_size=None)",
                    ),
                ),
            ),
        ),
    ),
    Job(
        "futures_ahead",
        (
            Plant(
                ("input_wait", *HOST),
                ("own_queue", "queue"),
                "self.pending.popleft().result()",
                ("queue",),
                (
                    (
                        "        batch = self.pending.popleft().result()",
                        "        batch = self.kept",
                    ),
                    ("        self.submit()\n        return", "        return"),
                    (
                        "            self.submit()\n\n",
                        "            self.submit()\n"
                        "        self.kept = self.pending.popleft().result()\n\n",
                    ),
                ),
            ),
        ),
    ),
    Job(
        "pool_of_readers",
        (
            Plant(
                ("input_wait", *HOST),
                ("own_queue", "queue"),
                "arrays = pool.map(read, chunk)",
                ("queue",),
                (
                    ("            arrays = pool.map(read, chunk)", "            arrays = kept"),
                    (
                        "        finish = ",
                        "        kept = pool.map(read, paths[:48])\n        finish = ",
                    ),
                ),
            ),
        ),
    ),
    Job(
        "shared_box",
        (Plant(("input_wait", *HOST), (), says=("Other processes",)),),
        neighbours=3,
    ),
    Job(
        "watched_activations",
        (
            Plant(
                ("sync",),
                (),
                "peak = float(output.detach().abs().max())",
                cure=(("float(output.detach().abs().max())", "output.detach().abs().max()"),),
            ),
        ),
    ),
    Job(
        "kept_boxes",
        (
            Plant(
                ("sync",),
                (),
                "torch.nonzero(image_scores > threshold)",
                cure=(
                    (
                        "torch.nonzero(image_scores > threshold).squeeze(1)",
                        "(image_scores > threshold).long()",
                    ),
                ),
            ),
        ),
    ),
    Job(
        "sliding_window",
        (
            Plant(
                ("sync", "exposed_copy"),
                (),
                "classes.cpu()",
                cure=(
                    ("= classes.cpu()", "= classes"),
                    ("dtype=torch.uint8)", 'dtype=torch.uint8, device="cuda")'),
                ),
            ),
        ),
    ),
    Job(
        "deep_ensemble",
        (
            Plant(
                ("launch",),
                LAUNCHES,
                says=("cuda_graphs_or_compile",),
                cure=(("batch_size = 128", "batch_size = 8 * 128"), ("step += 1", "step += 8")),
            ),
        ),
    ),
    Job(
        "next_token",
        (
            Plant(
                ("launch",),
                LAUNCHES,
                says=("cuda_graphs_or_compile",),
                cure=(("torch.full((1, 12)", "torch.full((8, 12)"), ("step += 1", "step += 8")),
            ),
        ),
    ),
    Job(
        "drawn_curves",
        (
            Plant(
                HOST,
                ("host_work", "logging"),
                "figure.savefig(path)",
                ("draw", "matplotlib"),
                (("            draw(rates, curve)\n", ""),),
            ),
        ),
    ),
    Job(
        "tidy_trainer",
        (
            Plant(
                HOST,
                ("garbage_collection",),
                "gc.collect()",
                ("garbage", "Collect garbage"),
                (("        gc.collect()\n", ""),),
            ),
        ),
    ),
    Job(
        "byte_pairs",
        (
            Plant(
                HOST,
                ("host_work",),
                "ids = tokenizer.encode(TEXT[place : place + 8000])",
                ("encode", "merge"),
                (
                    ("        ids = tokenizer.encode(TEXT[place : place + 8000])\n", ""),
                    (
                        "    start, step = ",
                        "    ids = tokenizer.encode(TEXT[:8000])\n    start, step = ",
                    ),
                ),
            ),
        ),
    ),
    Job(
        "resumable",
        (
            Plant(
                (*HOST, "sync", "exposed_copy"),
                ("checkpoint",),
                "accelerator.save_state(output_dir)",
                ("checkpoint", "Save less often"),
                (("accelerator.save_state(output_dir)", "pass"),),
            ),
        ),
    ),
    Job(
        "offloaded_experts",
        (
            Plant(
                ("exposed_copy",),
                ("pageable",),
                "weight.to(x.device)",
                cure=(
                    (
                        "(weight.to(x.device) for weight in (self.up, self.down))",
                        "(self.up, self.down)",
                    ),
                    (
                        "HIDDEN, WIDTH, dtype=torch.bfloat16)",
                        'HIDDEN, WIDTH, dtype=torch.bfloat16, device="cuda")',
                    ),
                    (
                        "WIDTH, HIDDEN, dtype=torch.bfloat16)",
                        'WIDTH, HIDDEN, dtype=torch.bfloat16, device="cuda")',
                    ),
                ),
            ),
        ),
    ),
    Job(
        "nearest_neighbours",
        (
            Plant(
                ("exposed_copy",),
                ("no_overlap",),
                "chunk.to(queries.device, non_blocking=True)",
                cure=((".half().pin_memory() for", ".half().cuda() for"),),
            ),
        ),
    ),
    Job(
        "box_targets",
        (
            Plant(
                ("exposed_copy", "launch", "sync"),
                ("small_copies",),
                "{k: v.to(DEVICE) for k, v in t.items()}",
                cure=(
                    (
                        "[{k: v.to(DEVICE) for k, v in t.items()} for t in targets]",
                        "targets",
                    ),
                    ('[t["boxes"] for t in targets])', '[t["boxes"] for t in targets]).to(DEVICE)'),
                    (
                        '[t["labels"] for t in targets])',
                        '[t["labels"] for t in targets]).to(DEVICE)',
                    ),
                ),
            ),
        ),
    ),
    Job(
        "averaged_gradients",
        (
            Plant(
                ("exposed_communication",),
                (),
                "dist.all_reduce(param.grad.data, op=dist.ReduceOp.SUM)",
                ("overlap_communication",),
                (("        dist.all_reduce(param.grad.data, op=dist.ReduceOp.SUM)\n", ""),),
            ),
        ),
        gpus=2,
    ),
    Job(
        "uneven_pages",
        (
            Plant(
                ("straggler", "exposed_communication"),
                ("straggler",),
                says=("rank 1", "GPU 1"),
                cure=(("0: 128, 1: 640", "0: 384, 1: 384"),),
            ),
        ),
        gpus=2,
    ),
    Job(
        "rank_zero_reports",
        (
            Plant(
                ("straggler", *HOST),
                ("straggler", "host_work", "logging"),
                'Image.fromarray(self.canvas).save(io.BytesIO(), "png")',
                ("rank 0", "GPU 0"),
                (("            reporter.sheet(step)\n", ""),),
            ),
        ),
        gpus=2,
    ),
    Job(
        "graphed_policy",
        (
            Plant(
                ("gpu_busy", "kernel_wait", "launch"),
                ("small_batch",),
                says=("larger_batch", "larger batch"),
                cure=(("= 16, 96, 12", "= 128, 96, 12"), ("step += 8", "step += 64")),
            ),
        ),
    ),
    Job(
        "depth_maps",
        (
            Plant(
                ("input_wait",),
                ("python_transform", "too_few_workers"),
                "self.transform(self.maps[index % 32])",
                ("SurfaceNormals",),
                (
                    (
                        "torch.from_numpy(self.transform(self.maps[index % 32])).float()",
                        "torch.from_numpy(self.maps[:5])",
                    ),
                ),
            ),
            Plant(
                (*HOST, "sync", "exposed_copy"),
                ("checkpoint", "host_work"),
                "pickle.dump(weights, file)",
                ("checkpoint", "Save less often"),
                (("        if step % 5 == 0:", "        if step < 0:"),),
            ),
        ),
    ),
    Job(
        "forecasts",
        (
            Plant(
                ("input_wait",),
                ("loader_startup",),
                cure=(("num_workers=3)", "num_workers=3, persistent_workers=True)"),),
            ),
            Plant(
                HOST,
                ("host_work",),
                "above[i] += sum(",
                ("rank_of",),
                (("        rank_of(series[:240])\n", ""),),
            ),
        ),
    ),
    Job(
        "gpt_from_scratch",
        cure=((" norm {norm.item():.2f}", ""),),
    ),
    Job(
        "lightning_steady",
        cure=(
            (
                "    trainer.fit(",
                "    loader = DataLoader([next(iter(loader))] * 10_000, batch_size=None)\n"
                "    trainer.fit(",
            ),
        ),
    ),
    Job("tagged_photos", cure=one_batch("    for step, batch in enumerate(loader, 1):")),
    Job(
        "latent_diffusion",
        cure=(
            ("randn(128, 4", "randn(256, 4"),
            ("step += 1", "step += 2"),
        ),
    ),
    Job("ranks_in_step", gpus=2, cure=(("model(x), y.to", "model.module(x), y.to"),)),
    Job(
        "scored_stream",
        cure=(("            self.device[turn].copy_(self.host[turn], non_blocking=True)\n", ""),),
    ),
)
