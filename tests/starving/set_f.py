"""Set F of the zoo, which was held out: whoever wrote it had read neither the rules nor the report.
It has been opened since, and is still told in counts alone."""

from __future__ import annotations

from planted import HOST, Cure, Job, Plant, one_batch

LAUNCHES = ("many_launches", "small_kernels", "launch_bound")
SLOW_STORAGE = ("late_storage", "storage", "off_cpu")


def waits(name: str, details: tuple[str, ...], line: str, cure: Cure, *says: str) -> Job:
    """A job whose DataLoader is late."""
    return Job(name, (Plant(("input_wait",), details, line, says, cure),))


def held_back(name: str, line: str, cure: Cure) -> Job:
    """A job whose host waits for a value."""
    return Job(name, (Plant(("sync",), (), line, cure=cure),))


def eightfold(name: str, *batch: tuple[str, str]) -> Job:
    """A job that waits for launches: eight times the batch takes no longer."""
    cure = (*batch, ("step += 1", "step += 8"))
    return Job(name, (Plant(("launch",), LAUNCHES, says=("cuda_graphs_or_compile",), cure=cure),))


SET_F = (
    waits(
        "stickers",
        ("decode_cpu", "python_transform", "too_few_workers"),
        "film.seek(random.randrange(film.n_frames))",
        one_batch("    for step, (frames, topics) in enumerate(loader, 1):"),
    ),
    waits(
        "room_echoes",
        ("python_transform", "too_few_workers"),
        "wet = np.convolve(dry",
        one_batch("    for done, (wet, dry) in enumerate(loader, 1):"),
        "convolve",
    ),
    waits(
        "old_english",
        ("python_transform", "too_few_workers"),
        "if score is not None and best[start][0] + score > best[end][0]:",
        one_batch("        for number, batch in enumerate(self.loader, 1):"),
        "best_cut",
        "Unigrams",
    ),
    waits(
        "retinas",
        ("python_transform", "too_few_workers"),
        "top = table[row, at, grey]",
        (("[LocalContrast(), v2", "[v2"),),
        "LocalContrast",
    ),
    waits(
        "receipts",
        ("collate_ipc", "too_few_workers"),
        "placed.append([max(0, min(999, int(1000 * side)))",
        one_batch("    for step, (words, boxes, kinds) in enumerate(loader, 1):"),
    ),
    waits(
        "cell_painting",
        (*SLOW_STORAGE, "too_few_workers"),
        "time.sleep(min(0.03, random.lognormvariate",
        one_batch("    for step, (stains, drugs) in enumerate(loader):"),
        "Bucket",
    ),
    waits(
        "galaxy_spectra",
        ("lock", *SLOW_STORAGE),
        "with self.inside:",
        one_batch("        for step, (flux, redshift) in enumerate(loader, 1):"),
    ),
    waits(
        "pet_breeds",
        ("decode_cpu", "too_few_workers"),
        "pets, batch_size, shuffle=True, num_workers=1",
        one_batch("    for step, (images, breeds) in enumerate(loader, 1):"),
    ),
    waits(
        "hand_gestures",
        ("python_transform", "too_few_workers"),
        "np.add.at(grid, (low, y, x)",
        one_batch("for step, (grids, gestures) in enumerate(loader):"),
        "voxels",
    ),
    waits(
        "old_coins",
        ("loader_startup",),
        "",
        (("num_workers=6, pin", "num_workers=6, persistent_workers=True, pin"),),
        "persistent_workers",
    ),
    Job(
        "dialects",
        (
            Plant(
                ("input_wait", *HOST),
                ("sampler",),
                "places.sort(key=lambda place: abs(self.lengths[place] - wanted))",
                ("AboutAsLong",),
                (("            places.sort(key=lambda", "            sorted([], key=lambda"),),
            ),
        ),
    ),
    held_back(
        "quick_answers",
        "if scores.amax(-1).min() > sure:",
        (("if scores.amax(-1).min() > sure:", "if left > 100:"),),
    ),
    held_back(
        "wind_turbines",
        'bar.set_postfix(loss=f"{loss:.4f}", refresh=False)',
        (('loss=f"{loss:.4f}"', "rows=len(x)"),),
    ),
    Job(
        "entities",
        (
            Plant(
                HOST,
                ("host_work",),
                "if begin is not None and (where",
                ("spans",),
                (("        found.update(scores.argmax(-1), tags[i])\n", ""),),
            ),
        ),
    ),
    Job(
        "rays_of_a_room",
        (
            Plant(
                (*HOST, "input_wait"),
                ("host_work",),
                "directions = (toward[..., None, :] * pose",
                ("Photographs",),
                (
                    ("rays = photographs.rays(count)", "rays = kept"),
                    ("    started, step", "    kept = photographs.rays(count)\n    started, step"),
                ),
            ),
        ),
    ),
    Job(
        "folk_tunes",
        (
            Plant(
                (*HOST, "sync", "exposed_copy"),
                ("checkpoint",),
                "trainer.train()",
                ("checkpoint", "Save less often"),
                (('save_strategy="steps"', 'save_strategy="no"'),),
            ),
        ),
    ),
    eightfold("spiking_retina", ("torch.rand(128, 784", "torch.rand(1024, 784")),
    eightfold("heat_in_a_plate", ("default=4096", "default=32_768")),
    Job(
        "ocean_currents",
        (
            Plant(
                ("exposed_copy", "sync"),
                ("pageable", "blocking_copies"),
                "self.hours[(hour + 1) % self.keep] = later.cpu().numpy()",
                cure=(
                    ("torch.from_numpy(self.hours[hour % self.keep]).to(self.device)", "self.now"),
                    (
                        "self.hours[(hour + 1) % self.keep] = later.cpu().numpy()",
                        "self.now = later",
                    ),
                    (
                        "self.hours = np.zeros((keep, LEVELS, HEIGHT, WIDTH), np.float32)",
                        "self.now = torch.zeros(LEVELS, HEIGHT, WIDTH, device=device)",
                    ),
                ),
            ),
        ),
    ),
    Job(
        "quiz_answers",
        (
            Plant(
                ("input_wait",),
                ("evaluation", "evaluation_loader", "python_transform"),
                "grams = [f",
                ("evaluation", "FromTheShow"),
                (('eval_strategy="steps"', 'eval_strategy="no"'),),
            ),
        ),
    ),
    Job(
        "two_languages",
        (
            Plant(
                ("input_wait", "straggler"),
                ("straggler", "python_transform", "too_few_workers"),
                "if fewest[start] is not None and word[start:end] in stems:",
                ("rank 1", "GPU 1", "compound"),
                (('default=["en", "de"]', 'default=["en", "en"]'),),
            ),
        ),
        gpus=2,
    ),
    Job("patient_bucket", cure=one_batch("    for step, (scene, crops) in enumerate(loader, 1):")),
    Job(
        "metrics_meanwhile",
        cure=(("in later.ready():", "in ():"),),
    ),
    Job(
        "essays",
        cure=(("num_workers=1", "num_workers=2"), ("logging_steps=25", "logging_steps=5000")),
    ),
    Job("weights_behind", cure=(("if step % args.keep_every == 0:", "if step < 0:"),)),
    Job("lit_beehives", cure=(("val_check_interval=100", "limit_val_batches=0"),)),
)
